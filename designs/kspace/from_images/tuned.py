"""Designs by the rule, centre and exponent that simulated scans of an image find best.

    design = argmin over the portfolio of  mean ln error + sd(loss to the best),    scans: own noise and own phase each

Every design reads the phase from its own centre. On the slice that is scanned the choice was never more than half a
percent behind the best simple rule; from other heads it may be 4 to 13% behind at an eighth of the lines.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.stats import t as student

from adaptive.checks import choice, generator, integer, positive
from adaptive.images import simulate_scan
from designs.kspace.from_images.exchanges import Exchanged, exchanged
from designs.kspace.from_images.given import Images, checked_images, entropy_of
from designs.kspace.from_images.halving import halved, scores
from designs.kspace.from_images.portfolio import Candidate, between, given_designs, lines_to_try, points_to_try
from designs.kspace.from_images.simulated import TrialScan

if TYPE_CHECKING:
    from adaptive.types import ArrayLike, RandomState

__all__ = ["Tuned", "expected_error", "trial_scans", "tuned_lines", "tuned_points"]

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
        Errors on a rough look at the first scan.
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
        Lines that take part, such as those of `reference_lines`; they are tried on all scans.
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
    given = checked_images("images", images, phase=phase, coils=coils)
    n = given.magnitudes[0].shape[axis]
    _require_sizes("n_lines", n_lines, n_central, n, "the number of lines that there are")
    seed = entropy_of(random_state)
    own = given_designs(extra, (n,), n_lines, n_central)
    tried = lines_to_try(n, n_lines, n_central, coils is not None, seed)
    trials = trial_scans(given, axis, snr, n_scans, seed, prescan, reader)
    found = _tuned(tried, own, (n,), trials, len(given.magnitudes), False, n_jobs)
    if integer("exchanges", exchanges, minimum=0):
        fresh = trial_scans(given, axis, snr, n_scans, seed + 1, prescan, reader)
        found = _with_exchanges(found, exchanged(trials, fresh, found.lines, found.n_central, exchanges, seed, n_jobs))
    return found._replace(lines=np.sort(found.lines)) if sort else found


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
    given = checked_images("images", images, phase=phase, coils=coils)
    height, width = given.magnitudes[0].shape
    _require_sizes("n_points", n_points, n_central, height * width, "all that there are")
    seed = entropy_of(random_state)
    own = given_designs(extra, (height, width), n_points, n_central)
    tried = points_to_try((height, width), n_points, n_central, coils is not None, seed)
    trials = trial_scans(given, None, snr, n_scans, seed, prescan, reader)
    return _tuned(tried, own, (height, width), trials, len(given.magnitudes), sort, n_jobs)


def trial_scans(
    images: Images, axis: int | None, snr: float, n_scans: int, entropy: int, prescan: bool = False,
    reader: str = "smooth",
) -> list[TrialScan]:  # fmt: skip
    """Scans of every image, image after image and then again, each with a noise and, where none is given, a phase."""
    choice("reader", reader, READERS)
    snr, n_scans = float(positive("snr", snr)), integer("n_scans", n_scans, minimum=2)
    wholes = [
        one if phase is None else one * np.exp(1j * phase)
        for one, phase in zip(images.magnitudes, images.phases, strict=True)
    ]
    return [
        TrialScan(
            simulate_scan(whole, snr=snr, coils=images.coils, random_state=generator([entropy, 5, again, k])),
            axis,
            bool(prescan),
            reader=reader,
        )
        for again in range(n_scans)
        for k, whole in enumerate(wholes)
    ]


def _tuned(
    tried: Mapping[str, Candidate],
    own: Mapping[str, Candidate],
    shape: tuple[int, ...],
    trials: Sequence[TrialScan],
    n_images: int,
    sort: bool,
    n_jobs: int | None,
) -> Tuned:
    masks = {name: _mask(one.design, shape) for name, one in tried.items()}
    rules = {mask.tobytes(): name for name, mask in masks.items()}
    every, kept = dict(tried), []
    for name, one in own.items():  # one that is a rule's stays under that name
        mask = _mask(one.design, shape)
        kept.append(rules.setdefault(mask.tobytes(), name))
        if kept[-1] == name:
            every[name], masks[name] = one, mask
    apart = {name: others for name, others in between(tried).items() if name not in kept}
    found = halved(trials, masks, kept=kept, between=apart, n_images=n_images, n_jobs=n_jobs)
    rule = next(iter(found.scores))
    design, n_central = every[rule]
    if sort:
        design = np.sort(design) if design.ndim == 1 else np.argwhere(masks[rule])
    designs = {name: every[name].design for name in found.looked}
    return Tuned(design, n_central, rule, found.errors, found.looked, found.scores, designs)


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


def _mask(design: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    mask = np.zeros(shape, bool)
    mask[tuple(design.T) if design.ndim == 2 else design] = True
    return mask


def _require_sizes(name: str, n: int, n_central: int | None, there: int, said: str) -> None:
    least = 4 if n_central is None else integer("n_central", n_central, minimum=1)
    if integer(name, n) < least:
        centre = "without which nothing is estimated" if n_central is None else "the central ones, which it counts too"
        raise ValueError(f"{name} must be at least {least}, {centre}, got {n}.")
    if n > there:
        raise ValueError(f"{name} must be at most {there}, {said}, got {n}.")
