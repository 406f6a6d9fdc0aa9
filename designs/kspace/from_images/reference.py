"""Your next scan of the same head: lines or points that follow the speckle of its k-space, seen in a reference scan.

    chosen  <-  chosen + where the residuals of converged reconstructions are largest,
                averaged over how the head may have changed since

Of one coil only the emptier side of k-space is looked at, since a phase read from the centre has errors; not where head
and contrast are the same again, as in a series: there both sides gave .57 of the error.

Whole lines average the speckle away; single points of two phase-encode directions follow it, so that points gain most.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from adaptive.checks import choice, integer
from adaptive.parallel import in_parallel
from designs.kspace.from_images.centre import central_lines, central_points
from designs.kspace.from_images.given import Images, centre_mask, checked_images, entropy_of
from designs.kspace.from_images.growth import grown
from designs.kspace.from_images.simulated import TrialScan, scan_of
from designs.kspace.from_images.variants import Change, variant

if TYPE_CHECKING:
    from adaptive.types import ArrayLike, RandomState

__all__ = ["reference_lines", "reference_points"]

SHARE = 0.25  # of a population, where there is one


def reference_lines(
    references: ArrayLike | Sequence[ArrayLike],
    n_lines: int,
    n_central: int | str | None = None,
    *,
    axis: int = 0,
    phase: ArrayLike | str | None = None,
    coils: ArrayLike | None = None,
    voxel_sizes: Sequence[Any] | None = None,
    population: ArrayLike | Sequence[ArrayLike] | None = None,
    motion: tuple[float, float] = (0.3, 0.3),
    contrasts: bool = True,
    snr: float = 100.0,
    n_variants: int = 4,
    random_state: RandomState = 0,
    n_jobs: int | None = None,
) -> np.ndarray:
    """Lines for the next scan of a head of which there are fully sampled images.

    Parameters
    ----------
    references : array (n0, n1), or list of them
        Of the same head, fully or well sampled; complex, or magnitudes.
    n_lines : int
        In all, the central ones included.
    n_central : int, "auto" or None, default None
        Central lines, from which the phase is read. "auto": `centre_size` of the references; None: an eighth.
    axis : int, default 0
        Of the phase encodes.
    phase : array (n0, n1), "reference" or None, default None
        Radians that the next scan will have: known, those of the (complex) references, or None: nobody knows, and every
        variant has a smooth one of its own.
    coils : array (coils, n0, n1), optional
        Sensitivities of the coils of the next scan.
    voxel_sizes : sequence, optional
        Of each reference, and perhaps, as one more, of the next scan: to be refused where they differ.
    population : array (n0, n1), or list of them, optional
        Images of other heads, whose residuals are mixed in with a share of a quarter.
    motion : pair of float, default (0.3, 0.3)
        How far the head may have moved: pixels along each axis, and degrees.
    contrasts : bool, default True
        Whether the next scan may have another contrast: every second variant is inverted inside the head, the others
        have monotone ones.
    snr : float, default 100
        Of the scans that are simulated, the largest magnitude over the noise of each part.
    n_variants : int, default 4
        Scans that are reconstructed in every round; the references take turns.
    random_state : None, int or NumPy generator, default 0
    n_jobs : int, optional
        The design is the same for any number.

    Returns
    -------
    array (n_lines,) of int
        The central lines, then the others in the order chosen: every longer design begins with a shorter one, if that
        has the same centre.

    Raises
    ------
    ValueError
        In one sentence: images that are not finite, of another shape, orientation or voxel size, without the phase that
        was asked for, coils of another shape, fewer lines than central ones.

    Examples
    --------
    >>> head = np.pad(np.outer(np.hanning(12), np.hanning(12)) + 0.3, 2)
    >>> reference_lines(head, 8, 4, n_variants=1)[:4]
    array([6, 7, 8, 9])
    """
    choice("axis", str(axis), ("0", "1"))
    images = checked_images("references", references, phase=phase, coils=coils, voxel_sizes=voxel_sizes)
    n, seed = images.magnitudes[0].shape[axis], entropy_of(random_state)
    inner = central_lines(
        n_central,
        references,
        n,
        n_lines,
        axis=axis,
        phase=phase,
        coils=coils,
        snr=snr,
        random_state=seed,
        n_jobs=n_jobs,
    )
    centre = centre_mask([n], inner, n_lines, "n_lines")
    change = Change.checked(motion, contrasts, snr)
    trials = _trials(images, axis, change, population, n_variants, seed)
    one_side = coils is None and change.possible
    order = grown(centre, n_lines, lambda chosen, step: trials.residual(chosen, step, n_jobs), one_side)
    return np.concatenate([np.flatnonzero(centre), np.array(order, int)])


def reference_points(
    references: ArrayLike | Sequence[ArrayLike],
    n_points: int,
    centre: int | Sequence[int] | None = None,
    *,
    phase: ArrayLike | str | None = None,
    coils: ArrayLike | None = None,
    voxel_sizes: Sequence[Any] | None = None,
    population: ArrayLike | Sequence[ArrayLike] | None = None,
    motion: tuple[float, float] = (0.3, 0.3),
    contrasts: bool = True,
    snr: float = 100.0,
    n_variants: int = 4,
    random_state: RandomState = 0,
    n_jobs: int | None = None,
) -> np.ndarray:
    """Points of two phase-encode directions for the next scan of a head of which there are fully sampled images.

    Parameters
    ----------
    references : array (n0, n1), or list of them
        Planes across the read-out, through the same head; complex, or magnitudes.
    n_points : int
        In all, the centre included.
    centre : int or pair of int, optional
        Sides of the block around DC that is measured in any case; default an eighth of each.
    phase, coils, voxel_sizes, population, motion, contrasts, snr, n_variants, random_state, n_jobs
        As of `reference_lines`.

    Returns
    -------
    array (n_points, 2) of int
        The centre, then the others in the order chosen: every longer design begins with a shorter one.

    Examples
    --------
    >>> head = np.pad(np.outer(np.hanning(12), np.hanning(12)) + 0.3, 2)
    >>> reference_points(head, 20, 4, n_variants=1).shape
    (20, 2)
    """
    images = checked_images("references", references, phase=phase, coils=coils, voxel_sizes=voxel_sizes)
    shape = images.magnitudes[0].shape
    start = centre_mask(shape, central_points(shape, centre), n_points, "n_points")
    seed = entropy_of(random_state)
    change = Change.checked(motion, contrasts, snr)
    trials = _trials(images, None, change, population, n_variants, seed)
    one_side = coils is None and change.possible
    order = grown(start, n_points, lambda chosen, step: trials.residual(chosen, step, n_jobs), one_side)
    return np.concatenate([np.argwhere(start), np.stack(np.unravel_index(np.array(order, int), shape), axis=1)])


class _Trials(NamedTuple):
    """Scans of the same head as it may be next time, and of other heads."""

    own: list[TrialScan]
    foreign: list[TrialScan]

    def residual(self, chosen: np.ndarray, step: int, n_jobs: int | None) -> np.ndarray:
        """The mean over the former, and a share of one of the latter, which take turns."""
        others = self.foreign[step % len(self.foreign) :][:1] if self.foreign else []
        found = in_parallel(_residual, [(trial, chosen) for trial in self.own + others], n_jobs)
        mean = np.mean(found[: len(self.own)], axis=0)
        return (1 - SHARE) * mean + SHARE * found[-1] if others else mean


def _trials(
    images: Images,
    axis: int | None,
    change: Change,
    population: ArrayLike | Sequence[ArrayLike] | None,
    n_variants: int,
    entropy: int,
) -> _Trials:
    own = []
    for k in range(integer("n_variants", n_variants, minimum=1)):
        which = k % len(images.magnitudes)
        known = (images.magnitudes[which], images.phases[which], k, change, images.coils, entropy)
        own.append(TrialScan(partial(variant, *known), axis))
    others = []
    if population is not None:
        shape = images.magnitudes[0].shape
        others = checked_images("population", population, coils=images.coils, shape=shape).magnitudes
    foreign = [
        TrialScan(partial(scan_of, one, None, change.snr, images.coils, (entropy, 1, k)), axis)
        for k, one in enumerate(others)
    ]
    return _Trials(own, foreign)


def _residual(trial: TrialScan, chosen: np.ndarray) -> np.ndarray:
    return trial.residual(chosen)
