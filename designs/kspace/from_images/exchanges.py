"""Exchanges of single lines of a design for others, accepted by simulated scans of the head that will be scanned.

    accepted    mean over scans of ln(new / old) < - its standard error,     and less error on the first scan
    confirmed   all exchanges together, by scans that accepted nothing: mean < -1/2 percent and < - its standard error

From other heads they do not transfer: up to 1.1 of the error. Within the same head the phase of the next scan is
another one, so that every scan has a phase of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from adaptive.checks import generator, integer
from designs.kspace.from_images.halving import errors_of
from designs.kspace.from_images.simulated import TrialScan
from designs.kspace.swaps import improve_by_swaps

__all__ = ["Exchanged", "exchanged"]

LEAST = 0.005  # of ln error, that all exchanges have to gain on fresh scans


class Exchanged(NamedTuple):
    """Lines after the exchanges.

    Attributes
    ----------
    lines : array (m,)
        Central ones first, then the others outwards; those of the start where nothing was confirmed.
    accepted : int
        Exchanges that were kept; 0 where they were not confirmed.
    errors : array (scans,)
        On the scans that accepted.
    fresh : array (fresh scans,)
        On those that confirmed: what to expect.
    """

    lines: np.ndarray
    accepted: int
    errors: np.ndarray
    fresh: np.ndarray


def exchanged(
    trials: Sequence[TrialScan],
    fresh: Sequence[TrialScan],
    n: int,
    lines: np.ndarray,
    n_central: int,
    n_trials: int,
    entropy: int,
    n_jobs: int | None = None,
) -> Exchanged:
    """Try exchanges of lines outside the centre.

    Parameters
    ----------
    trials, fresh : sequence of TrialScan
        Of the same head, at least two each, with noises and phases of their own.
    n : int
        Lines that there are.
    lines : array (m,)
        The central ones first.
    n_central, n_trials, entropy : int
    n_jobs : int, optional
        The result is the same for any number.
    """
    centre = lines[:n_central]
    found: list[np.ndarray] = []  # errors of the lines as they are, after every exchange that was accepted

    def errors(chosen: np.ndarray, which: Sequence[TrialScan]) -> np.ndarray:
        return errors_of(which, {"lines": np.isin(np.arange(n), chosen)}, n_jobs)["lines"]

    def cost(chosen: np.ndarray, limit: float) -> float:
        if not found:
            found.append(errors(chosen, trials))
            return float(np.log(found[-1]).mean())
        first = errors(chosen, trials[:1])
        if first[0] >= found[-1][0]:
            return np.inf
        every = np.append(first, errors(chosen, trials[1:]))
        if not _less(every, found[-1]):
            return np.inf
        found.append(every)
        return float(np.log(every).mean())

    n_trials, rng = integer("n_trials", n_trials, minimum=0), generator([entropy, 6])
    swapped = improve_by_swaps(n, lines, cost, fixed=centre, n_trials=n_trials, random_state=rng)
    accepted, before = len(swapped.costs) - 1, errors(lines, fresh)
    if accepted:
        after = errors(swapped.lines, fresh)
        if _less(after, before, LEAST):
            others = np.setdiff1d(swapped.lines, centre)
            outwards = others[np.argsort(np.abs(others - n // 2), kind="stable")]
            return Exchanged(np.concatenate([centre, outwards]), accepted, found[-1], after)
    return Exchanged(lines, 0, found[0], before)


def _less(new: np.ndarray, old: np.ndarray, least: float = 0.0) -> bool:
    """True where the mean of ln(new / old) is below minus its standard error, and by ``least``."""
    ratios = np.log(new / old)
    return bool(ratios.mean() < -max(least, float(ratios.std(ddof=1)) / np.sqrt(len(ratios))))
