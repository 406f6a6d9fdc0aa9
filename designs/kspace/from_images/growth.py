"""How a design from residuals grows: batch after batch where residuals are largest, never two neighbours at once.

    score(k) = energy(k) + energy(-k) / 2,        batch = a share of what is measured already

What is nearly real says the same at k and -k: measuring one takes most of the residual at the other. Two neighbours
share their residual, too, since an image that does not fill its field of view correlates them. Batches depend on how
much is measured, not on how much is asked for: a longer design begins with the shorter one.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

__all__ = ["batch_size", "best_apart", "grown", "mirrored", "scores"]

_LINES, _POINTS = 16, 8  # one more for so many that are measured
_MIRROR = 0.5


def batch_size(measured: int, ndim: int) -> int:
    """How many are chosen together when so many are measured, of lines (one axis) or of points (two).

    Examples
    --------
    >>> batch_size(16, 1), batch_size(40, 1), batch_size(256, 2)
    (1, 2, 32)
    """
    return max(1, measured // (_LINES if ndim == 1 else _POINTS))


def mirrored(grid: np.ndarray) -> np.ndarray:
    """The values at opposite frequencies, DC at n // 2.

    Examples
    --------
    >>> mirrored(np.arange(4)), mirrored(np.arange(5))
    (array([0, 3, 2, 1]), array([4, 3, 2, 1, 0]))
    """
    odd = tuple(int(n % 2 == 0) for n in grid.shape)
    return np.roll(np.flip(grid), odd, tuple(range(grid.ndim)))


def scores(energy: np.ndarray) -> np.ndarray:
    """The residual that a measurement takes away, about."""
    return energy + _MIRROR * mirrored(energy)


def best_apart(score: np.ndarray, chosen: np.ndarray, n: int) -> list[int]:
    """Positions in the flat grid of the ``n`` best that are free, no two of them neighbours or mirrors.

    Fewer where there are not so many apart, one at least; ties go to the lowest.
    """
    barred, picked = chosen.copy(), []
    for position in np.argsort(-score, axis=None, kind="stable"):
        where = np.unravel_index(int(position), score.shape)
        if barred[where]:
            continue
        picked.append(int(position))
        if len(picked) == n:
            break
        barred[tuple(slice(max(k - 1, 0), k + 2) for k in where)] = True
        barred[tuple((2 * (side // 2) - k) % side for k, side in zip(where, score.shape, strict=True))] = True
    return picked


def grown(centre: np.ndarray, n: int, energy: Callable[[np.ndarray, int], np.ndarray]) -> list[int]:
    """Positions (flat) of a design in the order chosen, after the ``centre``.

    Parameters
    ----------
    centre : array of bool, lines (n,) or points (n0, n1)
    n : int
        In all.
    energy : callable (mask, round) -> array
        Residual energies where a mask was measured.
    """
    chosen, order, step = centre.copy(), [], 0
    while chosen.sum() < n:
        batch = best_apart(scores(energy(chosen, step)), chosen, batch_size(int(chosen.sum()), centre.ndim))
        order += batch
        chosen.flat[batch] = True
        step += 1
    return order[: n - int(centre.sum())]
