"""Size of the centre: what it costs in further lines against what the phase needs.

    size = argmin over sizes of  mean over images of ln error(MAP from that centre and half-plane quantiles)

The phase is read from the centre itself, as in the scan that is planned, or known from a prescan; the other lines are
placed by the best of a few densities at each size. With the phase known few central lines are enough; read from few
lines it is bent by what these do not resolve.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from adaptive.checks import choice, integer, positive
from adaptive.parallel import in_parallel
from designs.kspace.comparison import half_plane_quantiles
from designs.kspace.from_images.given import checked_images, entropy_of
from designs.kspace.from_images.simulated import TrialScan, scan_of

if TYPE_CHECKING:
    from adaptive.types import ArrayLike, RandomState

__all__ = ["AUTO", "central_lines", "central_points", "centre_size"]

AUTO = "auto"
SHARES = (1 / 32, 1 / 16, 3 / 32, 1 / 8, 3 / 16, 1 / 4)  # of all lines, that are tried
EXPONENTS = (2.0, 4.0)  # of the density of the other lines
LEAST = 4  # central lines without which nothing is estimated


def centre_size(
    images: ArrayLike | Sequence[ArrayLike],
    n_lines: int,
    *,
    sizes: Sequence[int] | None = None,
    axis: int = 0,
    phase: ArrayLike | str | None = None,
    coils: ArrayLike | None = None,
    prescan: bool = False,
    snr: float = 100.0,
    random_state: RandomState = 0,
    n_jobs: int | None = None,
) -> int:
    """Number of central lines with the least mean error on fully sampled images.

    Parameters
    ----------
    images : array (n0, n1), or list of them
        Complex, or magnitudes.
    n_lines : int
        Lines of the designs, the central ones included.
    sizes : sequence of int, optional
        What is tried; default 1/32 to 1/4 of all lines, at least four and at most ``n_lines``.
    axis : int, default 0
        Of the phase encodes.
    phase : array (n0, n1), "reference" or None, default None
        Radians of the scans, as of `reference_lines`.
    coils : array (coils, n0, n1), optional
    prescan : bool, default False
        Whether the phase will be known before; else it is read from the centre.
    snr : float, default 100
        Of the scans that are simulated.
    random_state : None, int or NumPy generator, default 0
    n_jobs : int, optional
        The size is the same for any number.

    Returns
    -------
    int

    Raises
    ------
    ValueError
        In one sentence: images as of `reference_lines`, sizes that are no numbers of lines.

    Examples
    --------
    >>> head = np.pad(np.outer(np.hanning(24), np.hanning(24)) + 0.3, 4)
    >>> centre_size(head, 12, sizes=[4, 8]) in (4, 8)
    True
    """
    choice("axis", str(axis), ("0", "1"))
    given = checked_images("images", images, phase=phase, coils=coils)
    n, snr = given.magnitudes[0].shape[axis], float(positive("snr", snr))
    if not LEAST <= integer("n_lines", n_lines) <= n:
        raise ValueError(f"n_lines must be between {LEAST} and {n}, the number of lines that there are, got {n_lines}.")
    tried = _sizes(n, n_lines, sizes)
    entropy, trials = entropy_of(random_state), []
    for k, (image, own) in enumerate(zip(given.magnitudes, given.phases, strict=True)):
        trials.append(TrialScan(partial(scan_of, image, own, snr, given.coils, (entropy, 1, k)), axis, bool(prescan)))
    designs = [
        np.isin(np.arange(n), half_plane_quantiles(n, n_lines, size, exponent=exponent))
        for size in tried
        for exponent in EXPONENTS
    ]
    errors = in_parallel(_log_error, [(trial, one) for one in designs for trial in trials], n_jobs)
    means = np.reshape(errors, (len(tried), len(EXPONENTS), len(trials))).mean(axis=2).min(axis=1)
    return tried[int(np.argmin(means))]


def central_lines(
    given: int | str | None, images: ArrayLike | Sequence[ArrayLike], n: int, n_lines: int, **told: Any
) -> int:
    """Number of central lines out of ``n``: as given, an eighth where left open, "auto" by `centre_size`."""
    if isinstance(given, str):
        choice("n_central", given, (AUTO,))
        return centre_size(images, n_lines, **told)
    return max(LEAST, n // 8) if given is None else integer("n_central", given)


def central_points(shape: Sequence[int], given: int | Sequence[int] | None) -> int | Sequence[int]:
    """The sides of the central block, an eighth of each where they were left open."""
    return [max(LEAST, side // 8) for side in shape] if given is None else given


def _sizes(n: int, n_lines: int, given: Sequence[int] | None) -> list[int]:
    if given is None:
        shares = sorted({max(LEAST, 2 * round(n * share / 2)) for share in SHARES})
        return [size for size in shares if size <= n_lines]
    sizes = sorted({integer("sizes", size, minimum=1) for size in given})
    if not sizes or sizes[-1] > n_lines:
        raise ValueError(f"sizes must be numbers of lines of at most n_lines = {n_lines}, got {list(given)}.")
    return sizes


def _log_error(trial: TrialScan, chosen: np.ndarray) -> float:
    return float(np.log(max(trial.error(chosen), 1e-300)))
