"""Successive halving of designs by the errors of simulated scans: many on a rough look, few on all scans.

    look       all on the first scan of every image, reconstructed to a hundredth, those between two others only where
               one of these is among the best; ten go on, of several images six
    rounds     scan after scan in full; fewer and fewer go on, by the mean log error so far, once all images were
               scanned as often; of several images after two scans of each none that may gain less than half a percent
               on the best, within two standard errors; the best of three centres among them, of two at last
    score      mean log error + one standard deviation of what is lost to the best of those left

A scan has a noise and a phase of its own: the phase matters more than the noise, and a design that loses much by one
phase is a worse bet than its mean says. What a small centre loses by a rare phase the first scans do not show: so other
centres stay, too.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from adaptive.parallel import in_parallel
from designs.kspace.from_images.simulated import TrialScan

if TYPE_CHECKING:
    from designs.kspace.trajectory import TrajectoryPool

__all__ = ["Halved", "errors_of", "halved", "scores"]

ROUGH = 1e-2  # of steps, on the first look: the order of designs is nearly that of converged images
LEFT = (10, 6, 4)  # designs after the look, the first scan and the second; of several images one less often
CENTRES = 3  # numbers of central lines of which the best design stays, one less at last
LAST = 3  # after two scans of every image, and at least four in all
GAIN = 0.005  # of ln error, that a design has to promise to be tried on


class Halved(NamedTuple):
    """Errors by name: of all on the rough look, in full of those that went on; scores of those left, least first."""

    looked: dict[str, float]
    errors: dict[str, np.ndarray]
    scores: dict[str, float]


def halved(
    trials: Sequence[TrialScan],
    masks: Mapping[str, np.ndarray],
    *,
    kept: Sequence[str] = (),
    between: Mapping[str, Sequence[str]] | None = None,
    centres: Mapping[str, int] | None = None,
    n_images: int = 1,
    n_jobs: int | None = None,
) -> Halved:
    """Try designs on scans.

    Parameters
    ----------
    trials : sequence of TrialScan
        At least two; image after image, then again.
    masks : mapping of str to mask
    kept : sequence of str
        Names that stay to the end.
    between : mapping of str to names, optional
        Designs between others, looked at where one of those is among the best.
    centres : mapping of str to int, optional
        Number of central lines; without a design's own, it is of no centre.
    n_images : int, default 1
    n_jobs : int, optional
    """
    rough = [replace(trial, tol=ROUGH) for trial in trials[:n_images]]  # one image would choose what suits it alone
    first = [name for name in masks if name not in (between or {})]
    looked = _looked(rough, masks, first, n_jobs)
    good = _best(looked, LEFT[-1], ())
    second = [name for name, others in (between or {}).items() if set(others) & set(good)]
    looked |= _looked(rough, masks, second, n_jobs)
    apart, own = CENTRES, centres or {}
    start = min(n_images - 1, 1)
    left = _best(looked, LEFT[start], kept, own, apart)
    errors: dict[str, list[float]] = {name: [] for name in left}
    last = max(4, 2 * n_images)
    for done, trial in enumerate(trials, 1):
        for name, error in zip(left, in_parallel(_error, [(trial, masks[one]) for one in left], n_jobs), strict=True):
            errors[name].append(error)
        if done < len(trials):
            means = {name: float(np.mean(np.log(errors[name]))) for name in left}
            n, apart = (LAST, CENTRES - 1) if done >= last else (LEFT[min(start + done // n_images, 2)], CENTRES)
            left = _best(means, n, kept, own, apart)
            if done >= last and n_images > 1:  # of one image a rare phase is what further scans are for
                left = [name for name in left if name in kept or _may_win(errors, left, name, n_images)]
    return Halved(looked, {name: np.array(one) for name, one in errors.items()}, scores({k: errors[k] for k in left}))


def scores(errors: Mapping[str, Sequence[float] | np.ndarray]) -> dict[str, float]:
    """Mean log error plus the standard deviation of what is lost to the best on each scan, by name; least first.

    Examples
    --------
    >>> {name: round(one, 2) for name, one in scores({"behind": [0.2, 0.2], "ahead": [0.1, 0.1]}).items()}
    {'ahead': -2.3, 'behind': -1.61}
    """
    logs = np.log([np.asarray(one, dtype=float) for one in errors.values()])
    lost = logs - logs.min(axis=0)
    found = dict(zip(errors, (logs.mean(axis=1) + lost.std(axis=1, ddof=1)).tolist(), strict=True))
    return {name: found[name] for name in sorted(found, key=found.__getitem__)}


def errors_of(
    trials: Sequence[TrialScan],
    masks: Mapping[str, np.ndarray | TrajectoryPool | list[np.ndarray]],
    n_jobs: int | None = None,
) -> dict[str, np.ndarray]:
    """Errors of every design, a mask or shots, on every scan; of a list of masks, draws, scans take turns."""
    tasks = [
        (trial, mask[k % len(mask)] if isinstance(mask, list) else mask)
        for mask in masks.values()
        for k, trial in enumerate(trials)
    ]
    return dict(zip(masks, np.reshape(in_parallel(_error, tasks, n_jobs), (len(masks), -1)), strict=True))


def _looked(
    rough: Sequence[TrialScan], masks: Mapping[str, np.ndarray], names: Sequence[str], n_jobs: int | None
) -> dict[str, float]:
    tasks = [(trial, masks[name]) for name in names for trial in rough]
    errors = np.reshape(in_parallel(_error, tasks, n_jobs), (len(names), len(rough)))
    means = errors[:, 0] if len(rough) == 1 else np.exp(np.log(errors).mean(axis=1))
    return dict(zip(names, means.tolist(), strict=True))


def _best(
    values: Mapping[str, float], n: int, kept: Sequence[str], centres: Mapping[str, int] | None = None, apart: int = 0
) -> list[str]:
    """The first ``n`` by value, and what is kept in any case, in the order of the mapping.

    Among the ``n`` are the best of so many centres as are to stay ``apart``.
    """
    ranked = sorted(values, key=values.__getitem__)
    firsts: dict[int, str] = {}
    for name in ranked:
        if centres and name in centres:
            firsts.setdefault(centres[name], name)
    chosen = list(firsts.values())[: min(apart, n)]
    names = set([*chosen, *(name for name in ranked if name not in chosen)][:n]) | set(kept)
    return [name for name in values if name in names]


def _may_win(errors: Mapping[str, Sequence[float]], left: Sequence[str], name: str, n_images: int) -> bool:
    """False where the best of those left is ahead, but for two standard errors and what is not worth a scan.

    Images differ for good: the standard error is by how a loss differs between scans of one image.
    """
    logs = {one: np.log(errors[one]) for one in left}
    loss = logs[name] - logs[min(left, key=lambda one: float(logs[one].mean()))]
    apart = np.concatenate([loss[k::n_images] - loss[k::n_images].mean() for k in range(n_images)])
    error = np.sqrt(np.sum(apart**2) / max(1, len(loss) - n_images) / len(loss))
    return not loss.any() or bool(loss.mean() <= 2 * error - GAIN)


def _error(trial: TrialScan, mask: np.ndarray | TrajectoryPool) -> float:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # a last step a little larger changes no order
        return max(trial.error(mask), 1e-300)
