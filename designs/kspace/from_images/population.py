"""Designs for heads that nobody has seen: by the true error of converged reconstructions of other heads.

    lines     of a few candidates take the one with the least mean error,  then exchange lines of the same stage
    points    of a few candidate batches take the one with the least mean error

Candidates are stochastic: some where residuals are largest, some drawn in proportion to them. They are lazy: one that
loses on the first images by more than it could make good on the others is given up. Of a frequency and its mirror,
both free, the one on the emptier side is none (`growth.behind`): a phase that is read from the centre has errors.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from adaptive.checks import choice, integer, positive
from adaptive.parallel import in_parallel
from designs.kspace.from_images.centre import central_lines, central_points
from designs.kspace.from_images.given import centre_mask, checked_images, entropy_of
from designs.kspace.from_images.growth import batch_size, behind, best_apart, scores
from designs.kspace.from_images.simulated import TrialScan, scan_of

if TYPE_CHECKING:
    from adaptive.types import ArrayLike, RandomState

__all__ = ["learnt_lines", "learnt_points"]

STAGE = 4  # lines that are exchanged for others before they are left as they are
MADE_GOOD = 0.02  # of an error's logarithm that a candidate may make good on the images left
SPREAD = 0.5  # standard deviation of the logarithm by which candidate batches of points differ


def learnt_lines(
    images: ArrayLike | Sequence[ArrayLike],
    n_lines: int,
    n_central: int | str | None = None,
    *,
    axis: int = 0,
    phase: ArrayLike | str | None = None,
    coils: ArrayLike | None = None,
    snr: float = 100.0,
    n_candidates: int = 8,
    n_swaps: int = 4,
    random_state: RandomState = 0,
    n_jobs: int | None = None,
) -> np.ndarray:
    """Lines with the least mean error on fully sampled images, to be used on heads that are not among them.

    Parameters
    ----------
    images : array (n0, n1), or list of them
        Of several heads and slices; complex, or magnitudes.
    n_lines : int
        In all, the central ones included.
    n_central : int, "auto" or None, default None
        "auto": `centre_size` of the images; None: an eighth of all lines.
    axis : int, default 0
        Of the phase encodes.
    phase : array (n0, n1), "reference" or None, default None
        Radians of the scans: known, those of complex images, or a smooth one for each image.
    coils : array (coils, n0, n1), optional
    snr : float, default 100
        Of the scans that are simulated.
    n_candidates : int, default 8
        Lines tried for every place.
    n_swaps : int, default 4
        Exchanges tried at the end of every stage of four lines, among the lines of that stage.
    random_state : None, int or NumPy generator, default 0
    n_jobs : int, optional
        The design is the same for any number.

    Returns
    -------
    array (n_lines,) of int
        The central lines, then the others in the order chosen. Stages do not depend on how many lines are asked for:
        every longer design begins with a shorter one.

    References
    ----------
    Gözcü et al. (2018), Learning-based compressive MRI (greedy by the true error).

    Examples
    --------
    >>> heads = [np.pad(np.outer(np.hanning(12), np.hanning(12) ** k) + 0.3, 2) for k in (1, 2)]
    >>> learnt_lines(heads, 6, 4, n_candidates=2, n_swaps=1)[:4]
    array([6, 7, 8, 9])
    """
    choice("axis", str(axis), ("0", "1"))
    trials, entropy, shape = _trials(images, axis, phase, coils, snr, random_state)
    n = shape[axis]
    inner = central_lines(
        n_central, images, n, n_lines, axis=axis, phase=phase, coils=coils, snr=snr, random_state=entropy, n_jobs=n_jobs
    )
    centre = centre_mask([n], inner, n_lines, "n_lines")
    tried, swaps = integer("n_candidates", n_candidates, minimum=1), integer("n_swaps", n_swaps, minimum=0)
    order: list[int] = []
    chosen, stage = centre.copy(), 0
    while len(order) < n_lines - centre.sum():
        rng = np.random.default_rng([entropy, 2, stage])
        added: list[int] = []
        for _ in range(min(STAGE, int((~chosen).sum()))):
            barred = chosen | behind(chosen) if coils is None else chosen
            others = _candidates(scores(_residual(trials, chosen, n_jobs)), barred, tried, rng)
            added.append(others[_best(trials, [_with(chosen, [one]) for one in others], n_jobs)])
            chosen[added[-1]] = True
        added = _exchanged(trials, chosen, added, swaps, rng, n_jobs)
        order += added
        stage += 1
    return np.concatenate([np.flatnonzero(centre), np.array(order[: n_lines - int(centre.sum())], int)])


def learnt_points(
    images: ArrayLike | Sequence[ArrayLike],
    n_points: int,
    centre: int | Sequence[int] | None = None,
    *,
    phase: ArrayLike | str | None = None,
    coils: ArrayLike | None = None,
    snr: float = 100.0,
    n_candidates: int = 3,
    random_state: RandomState = 0,
    n_jobs: int | None = None,
) -> np.ndarray:
    """Points of two phase-encode directions with small errors on fully sampled images, for heads not among them.

    Parameters
    ----------
    images, phase, coils, snr, random_state, n_jobs
        As of `learnt_lines`; two dozen planes of several heads are not too many: six are memorised.
    n_points : int
        In all, the centre included.
    centre : int or pair of int, optional
        Sides of the block around DC that is measured in any case; default an eighth of each.
    n_candidates : int, default 3
        Batches tried in every round: the points of largest mean residual, and some that differ from them at random.

    Returns
    -------
    array (n_points, 2) of int
        The centre, then the others in the order chosen: every longer design begins with a shorter one.

    Examples
    --------
    >>> heads = [np.pad(np.outer(np.hanning(12), np.hanning(12) ** k) + 0.3, 2) for k in (1, 2)]
    >>> learnt_points(heads, 20, 4, n_candidates=1).shape
    (20, 2)
    """
    trials, entropy, shape = _trials(images, None, phase, coils, snr, random_state)
    start = centre_mask(shape, central_points(shape, centre), n_points, "n_points")
    tried = integer("n_candidates", n_candidates, minimum=1)
    order: list[int] = []
    chosen, step = start.copy(), 0
    while chosen.sum() < n_points:
        rng = np.random.default_rng([entropy, 2, step])
        energy = _residual(trials, chosen, n_jobs)
        size = batch_size(int(chosen.sum()), 2)
        factors = [np.ones(shape), *np.exp(SPREAD * rng.standard_normal((tried - 1, *shape)))]
        sided = chosen if coils is None else None
        batches = [best_apart(scores(energy * factor, sided), chosen, size) for factor in factors]
        some = [trials[k] for k in rng.permutation(len(trials))[: max(1, len(trials) // 4)]]  # errors differ little
        best = batches[_best(some, [_with(chosen, batch) for batch in batches], n_jobs)]
        order += best
        chosen.flat[best] = True
        step += 1
    kept = np.array(order[: n_points - int(start.sum())], int)
    return np.concatenate([np.argwhere(start), np.stack(np.unravel_index(kept, shape), axis=1)])


def _trials(
    images: ArrayLike | Sequence[ArrayLike],
    axis: int | None,
    phase: ArrayLike | str | None,
    coils: ArrayLike | None,
    snr: float,
    random_state: RandomState,
) -> tuple[list[TrialScan], int, tuple[int, int]]:
    """The scans to try designs on, what all is seeded from, and the shape of the images."""
    given, snr = checked_images("images", images, phase=phase, coils=coils), float(positive("snr", snr))
    entropy, trials = entropy_of(random_state), []
    for k, (image, own) in enumerate(zip(given.magnitudes, given.phases, strict=True)):
        trials.append(TrialScan(partial(scan_of, image, own, snr, given.coils, (entropy, 1, k)), axis))
    return trials, entropy, image.shape


def _with(chosen: np.ndarray, positions: list[int]) -> np.ndarray:
    after = chosen.copy()
    after.flat[positions] = True
    return after


def _candidates(energy: np.ndarray, barred: np.ndarray, n: int, rng: np.random.Generator) -> list[int]:
    """Half of them those of largest score, the others drawn in proportion to it."""
    free = np.flatnonzero(~barred)
    ranked = free[np.argsort(-energy[free], kind="stable")]
    first, rest = ranked[: (n + 1) // 2], ranked[(n + 1) // 2 :]
    k = min(n - len(first), len(rest))
    weights = energy[rest] + 1e-12
    drawn = rng.choice(rest, k, replace=False, p=weights / weights.sum()) if k > 0 else rest[:0]
    return [int(one) for one in (*first, *drawn)]


def _best(trials: list[TrialScan], masks: list[np.ndarray], n_jobs: int | None) -> int:
    """Mask of the least mean logarithm of the error; the first of equals.

    Image after image; masks that have fallen behind by more than could be made good are given up.
    """
    totals, left = np.zeros(len(masks)), np.arange(len(masks))
    for trial in trials:
        if len(left) == 1:
            break
        found = in_parallel(_log_error, [(trial, masks[k]) for k in left], n_jobs)
        totals[left] += found
        behind = (totals[left] - totals[left].min()) / len(trials)
        left = left[behind <= MADE_GOOD]
    return int(left[np.argmin(totals[left])])


def _exchanged(
    trials: list[TrialScan], chosen: np.ndarray, added: list[int], n: int, rng: np.random.Generator, n_jobs: int | None
) -> list[int]:
    """``added``, some of them exchanged for lines near them where that lowers the error; ``chosen`` follows."""
    after = list(added)
    for _ in range(n):
        place = int(rng.integers(len(after)))
        free = np.flatnonzero(~chosen)
        if not len(free):
            break
        near = free[np.argsort(np.abs(free - after[place]), kind="stable")[:6]]
        into = int(near[rng.integers(len(near))])
        other = chosen.copy()
        other[after[place]], other[into] = False, True
        if _best(trials, [chosen, other], n_jobs):
            chosen[:] = other
            after[place] = into
    return after


def _residual(trials: list[TrialScan], chosen: np.ndarray, n_jobs: int | None) -> np.ndarray:
    """The mean over the images."""
    return np.mean(in_parallel(_residual_of, [(trial, chosen) for trial in trials], n_jobs), axis=0)


def _residual_of(trial: TrialScan, chosen: np.ndarray) -> np.ndarray:
    return trial.residual(chosen)


def _log_error(trial: TrialScan, chosen: np.ndarray) -> float:
    return float(np.log(max(trial.error(chosen), 1e-300)))
