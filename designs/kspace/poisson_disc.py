"""Poisson discs: random points that keep a distance from one another, which may grow outwards.

    a point is kept if no point kept before is nearer than r (1 + slope |k|),       |k| = 1 at the largest frequency

Candidates come in random order until none is left; r is found by bisection such that as many are kept as are wanted.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numba import njit

from adaptive.checks import generator

if TYPE_CHECKING:
    from adaptive.types import RandomState

__all__ = ["poisson_disc"]

_HALVINGS = 20  # of the interval of r: after them the number of points no longer changes


def poisson_disc(
    fixed: np.ndarray, candidates: np.ndarray, n: int, growth: np.ndarray, random_state: RandomState
) -> np.ndarray:
    """``n`` of the candidates, points of a grid, at Poisson distances from the fixed points and from each other.

    Parameters
    ----------
    fixed : array (c, 2) of int
        Points that are there from the beginning; they keep no distance from one another.
    candidates : array (m, 2) of int
    n : int
    growth : array of the grid's shape
        Distance to keep from a point, in units of the r that is found.
    random_state : None, int or NumPy generator

    Returns
    -------
    array (n, 2) of int
        In no order.
    """
    rng = generator(random_state)
    taken = np.zeros(growth.shape, np.bool_)
    taken[fixed[:, 0], fixed[:, 1]] = True
    order = rng.permutation(candidates)
    low, high = 0.0, 2 * float(np.sqrt(len(order) / max(n, 1))) / growth.min()  # discs of r/2 would not fit
    best = order  # at r = 0 everything is kept
    for _ in range(_HALVINGS):
        r = (low + high) / 2
        kept = order[_kept(order, taken, growth * r)]
        if len(kept) >= n:
            low, best = r, kept
        else:
            high = r
        if len(best) == n:
            break
    # A few too many at best: which ones are left out is random, as `order` is.
    return best[rng.permutation(len(best))[:n]]


@njit(cache=True)
def _kept(order: np.ndarray, taken: np.ndarray, distance: np.ndarray) -> np.ndarray:
    """Points, in their order, that are far enough from what is there."""
    rows, columns = taken.shape
    there = taken.copy()
    kept = np.zeros(len(order), np.bool_)
    for k in range(len(order)):
        i, j = order[k, 0], order[k, 1]
        r = distance[i, j]
        reach = int(r)
        free = True
        for a in range(max(0, i - reach), min(rows, i + reach + 1)):
            for b in range(max(0, j - reach), min(columns, j + reach + 1)):
                if there[a, b] and (a - i) ** 2 + (b - j) ** 2 < r * r:
                    free = False
                    break
            if not free:
                break
        if free:
            there[i, j] = True
            kept[k] = True
    return kept
