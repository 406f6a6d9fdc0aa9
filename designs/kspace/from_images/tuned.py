"""Designs by the rule, centre and exponent that simulated scans of an image find best.

    design = argmin over the portfolio of  mean ln error + sd(loss to the best),    scans: own noise and own phase each

Every design reads the phase from its own centre. On the slice that is scanned the choice was ahead of the best simple
rule by hindsight, or within 2% of it, in 83 of 90 cases; 2 to 8% behind in seven, six of these with an eighth of the
lines, where four scans did not show a phase that a small centre bends (``ours-tuned-lines``). From three
other heads it is more than 2% behind in half of the cases: by up to 13% at a quarter and three eighths of the lines,
18% at an eighth and SNR 200, 45% on a slice of another contrast (``ours-tuned-lines-transfer``).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.stats import t as student

from adaptive.checks import choice, integer, positive
from designs.kspace.from_images.exchanges import Exchanged, exchanged
from designs.kspace.from_images.given import Images, checked_images, entropy_of
from designs.kspace.from_images.halving import halved, scores
from designs.kspace.from_images.portfolio import (
    Candidate,
    between,
    given_designs,
    lines_to_try,
    points_to_try,
    with_other_sides,
)
from designs.kspace.from_images.simulated import TrialScan, scan_of

if TYPE_CHECKING:
    from adaptive.types import ArrayLike, RandomState

__all__ = ["Tuned", "designs_to_try", "expected_error", "mask_of", "trial_scans", "tuned_lines", "tuned_points"]

LEVEL = 0.9  # of the range of errors
READERS = ("smooth", "estimate")


class Tuned(NamedTuple):
    """Result of `tuned_lines` and `tuned_points`.

    Attributes
    ----------
    lines : array (m,) or (m, 2) of int
        Of points: pairs. The central ones, then the others outwards, or as a design of one's own had them.
    n_central : int
        So many are around DC.
    rule : str
        As in "half_plane_quantiles, exponent 2, 12 central": the key of the winner.
    errors : dict of str to array (scans,)
        Errors of the magnitudes, as shares of the image's length, on the scans that a design was tried on; designs
        that fell behind were tried on the first ones only.
    looked : dict of str to float
        Errors on a rough look at the first scan of every image, their geometric mean.
    scores : dict of str to float
        Of those tried on all scans, least first: mean log error and one standard deviation of the loss to the best.
    designs : dict of str to array (m,) or (m, 2)
        Everything that was looked at.
    fresh : array (scans,) or None
        Errors of the winner on scans that decided nothing, where it is a design of exchanges.

    Examples
    --------
    >>> from designs.kspace import tuned_lines
    >>> head = np.pad(np.outer(np.hanning(24), np.hanning(24)) + 0.3, 4)
    >>> found = tuned_lines(head, 12, n_scans=2)
    >>> found.rule == min(found.scores, key=found.scores.get)
    True
    >>> low, high = found.expected[1:]
    >>> bool(low < found.expected[0] < high)
    True
    """

    lines: np.ndarray
    n_central: int
    rule: str
    errors: dict[str, np.ndarray]
    looked: dict[str, float]
    scores: dict[str, float]
    designs: dict[str, np.ndarray]
    fresh: np.ndarray | None = None

    @property
    def expected(self) -> tuple[float, float, float]:
        """Error to expect of the design, and the range that a further scan falls into in nine of ten."""
        return expected_error(self.errors[self.rule] if self.fresh is None else self.fresh)


def expected_error(errors: ArrayLike) -> tuple[float, float, float]:
    """Geometric mean of errors of independent scans, and the 90% range of one more, by Student's t of their logarithms.

    Examples
    --------
    >>> [round(one, 3) for one in expected_error([0.09, 0.1, 0.11])]
    [0.1, 0.071, 0.14]
    """
    logs = np.log(np.asarray(errors, dtype=float))
    n = len(logs)
    half = student.ppf((1 + LEVEL) / 2, n - 1) * logs.std(ddof=1) * np.sqrt(1 + 1 / n)
    mean = logs.mean()
    return float(np.exp(mean)), float(np.exp(mean - half)), float(np.exp(mean + half))


def tuned_lines(
    images: ArrayLike | Sequence[ArrayLike],
    n_lines: int,
    *,
    axis: int = 0,
    snr: float = 100.0,
    phase: ArrayLike | str | None = None,
    n_scans: int = 4,
    n_central: int | None = None,
    extra: Mapping[str, ArrayLike] | Sequence[ArrayLike] = (),
    exchanges: int = 0,
    coils: ArrayLike | None = None,
    prescan: bool = False,
    reader: str = "smooth",
    sort: bool = False,
    random_state: RandomState = 0,
    n_jobs: int | None = None,
) -> Tuned:
    """Lines by the rule, the number of central lines and the exponent with the least error in simulated scans.

    Parameters
    ----------
    images : array (n0, n1), or list of them
        Fully sampled: of the same head, best, or of others; complex, or magnitudes.
    n_lines : int
        In all, the central ones included.
    axis : int, default 0
        Of the phase encodes.
    snr : float, default 100
        Of the scans that are simulated, the largest magnitude over the noise of each part.
    phase : array (n0, n1), "reference" or None, default None
        Radians of the scans, as of `reference_lines`; None: every scan has a smooth one of its own.
    n_scans : int, default 4
        Of every image, at least two.
    n_central : int, optional
        Default: chosen among 8, 12, 16, 24 and an eighth of all lines, up to three quarters of ``n_lines``.
    extra : sequence or mapping of str to designs, optional
        Lines that take part, such as those of `reference_lines`; they are tried on all scans. Those that
        `ImageReconstructor.select` chooses are worth it with half of the lines and little noise: 2% less error there
        at 128 x 128, 6% at 64 x 64, none elsewhere (``ours-tuned-lines-information-128``, ``-information``).
    exchanges : int, default 0
        So many single lines of the winner are exchanged on trial, and what less errors confirm is kept. Only where the
        images are of the head that will be scanned: those of others mislead.
    coils : array (coils, n0, n1), optional
        Sensitivities.
    prescan : bool, default False
        Whether the phase will be known before; else every design reads it from its own centre.
    reader : {"smooth", "estimate"}, default "smooth"
        How it is read there, as of `ImageReconstructor`: a smooth phase, or the bare angle, which suits other designs.
    sort : bool, default False
        Sorted lines; else the central ones first, then the others outwards.
    random_state : None, int or NumPy generator, default 0
    n_jobs : int, optional
        The design is the same for any number.

    Returns
    -------
    Tuned

    Raises
    ------
    ValueError
        In one sentence: images as of `reference_lines`, fewer lines than central ones, extra designs of another size
        or without their centre.

    Examples
    --------
    >>> head = np.pad(np.outer(np.hanning(24), np.hanning(24)) + 0.3, 4)
    >>> found = tuned_lines(head, 12, n_central=4, n_scans=2)
    >>> found.lines[:4], len(found.lines)
    (array([14, 15, 16, 17]), 12)
    """
    choice("axis", str(axis), ("0", "1"))
    return _tuned(
        "n_lines", images, n_lines, axis, n_central, extra, integer("exchanges", exchanges, minimum=0), sort, n_jobs,
        random_state, phase=phase, coils=coils, snr=snr, n_scans=n_scans, prescan=prescan, reader=reader,
    )  # fmt: skip


def tuned_points(
    images: ArrayLike | Sequence[ArrayLike],
    n_points: int,
    *,
    snr: float = 100.0,
    phase: ArrayLike | str | None = None,
    n_scans: int = 4,
    n_central: int | None = None,
    extra: Mapping[str, ArrayLike] | Sequence[ArrayLike] = (),
    coils: ArrayLike | None = None,
    prescan: bool = False,
    reader: str = "smooth",
    sort: bool = False,
    random_state: RandomState = 0,
    n_jobs: int | None = None,
) -> Tuned:
    """Points of two phase-encode directions: Poisson discs and variable densities, tuned as `tuned_lines`.

    Parameters
    ----------
    images, snr, phase, n_scans, coils, prescan, reader, sort, random_state, n_jobs
        As of `tuned_lines`; the images are planes across the read-out.
    n_points : int
        In all, the central ones included.
    n_central : int, optional
        Points nearest to DC. Default: chosen among 8, 12, 16, 24 and an eighth of a side, squared, up to a quarter of
        ``n_points``.
    extra : sequence or mapping of str to designs (m, 2), optional
        Such as those of `reference_points`.

    Returns
    -------
    Tuned

    Examples
    --------
    >>> head = np.pad(np.outer(np.hanning(24), np.hanning(24)) + 0.3, 4)
    >>> tuned_points(head, 256, n_scans=2).lines.shape
    (256, 2)
    """
    return _tuned(
        "n_points", images, n_points, None, n_central, extra, 0, sort, n_jobs, random_state,
        phase=phase, coils=coils, snr=snr, n_scans=n_scans, prescan=prescan, reader=reader,
    )  # fmt: skip


def trial_scans(
    images: Images, axis: int | None, snr: float, n_scans: int, entropy: int, prescan: bool = False,
    reader: str = "smooth",
) -> list[TrialScan]:  # fmt: skip
    """Scans of every image, image after image and then again, each with a noise and, where none is given, a phase."""
    choice("reader", reader, READERS)
    snr, n_scans = float(positive("snr", snr)), integer("n_scans", n_scans, minimum=2)
    return [
        TrialScan(
            partial(scan_of, one, known, snr, images.coils, (entropy, 5, again, k)), axis, bool(prescan), reader=reader
        )
        for again in range(n_scans)
        for k, (one, known) in enumerate(zip(images.magnitudes, images.phases, strict=True))
    ]


def designs_to_try(
    shape: tuple[int, ...], axis: int | None, n: int, n_central: int | None, several_coils: bool, seed: int,
    both_sides: bool = False,
) -> dict[str, Candidate]:  # fmt: skip
    """Rules for lines of an image, or, without an ``axis``, for points; those of half of k-space on ``both_sides``."""
    if axis is None:
        found, whole = points_to_try((shape[0], shape[1]), n, n_central, several_coils, seed), shape
    else:
        found, whole = lines_to_try(shape[axis], n, n_central, several_coils, seed), (shape[axis],)
    return with_other_sides(found, whole) if both_sides else found


def mask_of(design: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """Mask of lines (n,) or of points (n0, n1)."""
    mask = np.zeros(shape, bool)
    mask[tuple(design.T) if design.ndim == 2 else design] = True
    return mask


def _tuned(
    name: str,
    images: ArrayLike | Sequence[ArrayLike],
    n: int,
    axis: int | None,
    n_central: int | None,
    extra: Mapping[str, ArrayLike] | Sequence[ArrayLike],
    exchanges: int,
    sort: bool,
    n_jobs: int | None,
    random_state: RandomState,
    *,
    phase: ArrayLike | str | None,
    coils: ArrayLike | None,
    **scanned: Any,
) -> Tuned:
    """Lines along an ``axis``, or points; ``name`` of the argument ``n``; ``scanned``: of `trial_scans`."""
    given = checked_images("images", images, phase=phase, coils=coils)
    whole = given.magnitudes[0].shape
    shape = whole if axis is None else (whole[axis],)
    there = "all that there are" if axis is None else "the number of lines that there are"
    _require_sizes(name, n, n_central, int(np.prod(shape)), there)
    seed = entropy_of(random_state)
    own = given_designs(extra, shape, n, n_central)
    tried = designs_to_try(whole, axis, n, n_central, coils is not None, seed, given.sided)
    masks = {key: mask_of(one.design, shape) for key, one in tried.items()}
    rules = {mask.tobytes(): key for key, mask in masks.items()}
    every, kept = dict(tried), []
    for key, one in own.items():  # one that is a rule's stays under that name
        mask = mask_of(one.design, shape)
        kept.append(rules.setdefault(mask.tobytes(), key))
        if kept[-1] == key:
            every[key], masks[key] = one, mask
    trials = trial_scans(given, axis, entropy=seed, **scanned)
    apart = {key: others for key, others in between(tried).items() if key not in kept}
    centres = {key: one.n_central for key, one in tried.items()}
    halves = halved(
        trials, masks, kept=kept, between=apart, centres=centres, n_images=len(given.magnitudes), n_jobs=n_jobs
    )
    rule = next(iter(halves.scores))
    designs = {key: every[key].design for key in halves.looked}
    found = Tuned(*every[rule], rule, halves.errors, halves.looked, halves.scores, designs)
    if exchanges:
        fresh = trial_scans(given, axis, entropy=seed + 1, **scanned)
        found = _with_exchanges(
            found, exchanged(trials, fresh, shape[0], found.lines, found.n_central, exchanges, seed, n_jobs)
        )
    if sort:
        found = found._replace(lines=np.argwhere(mask_of(found.lines, shape)).reshape(found.lines.shape))
    return found


def _with_exchanges(found: Tuned, other: Exchanged) -> Tuned:
    """The design of exchanges in the place of the winner, where they were confirmed."""
    if not other.accepted:
        return found
    rule = f"{found.rule}, {other.accepted} exchanged"
    every = found.errors | {rule: other.errors}
    ranked = scores({name: every[name] for name in (*found.scores, rule)})
    if next(iter(ranked)) != rule:
        return found
    return found._replace(
        lines=other.lines, rule=rule, errors=every, designs=found.designs | {rule: other.lines}, fresh=other.fresh,
        scores=ranked,
    )  # fmt: skip


def _require_sizes(name: str, n: int, n_central: int | None, there: int, said: str) -> None:
    least = 4 if n_central is None else integer("n_central", n_central, minimum=1)
    if integer(name, n) < least:
        centre = "without which nothing is estimated" if n_central is None else "the central ones, which it counts too"
        raise ValueError(f"{name} must be at least {least}, {centre}, got {n}.")
    if n > there:
        raise ValueError(f"{name} must be at most {there}, {said}, got {n}.")
