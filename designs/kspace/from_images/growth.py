"""Growth of a design from residuals: batch after batch where residuals are largest, never two neighbours at once.

    score(k) = energy(k) + energy(-k) / 2,        batch = a share of what is measured already

What is nearly real says the same at k and -k: measuring one takes most of the residual at the other. Which of the two,
the phase decides: read from the centre it has errors, which one side of k-space alone shows as a phase of the image,
two sides as errors of its magnitudes (`OneSide`, as where lines are chosen by information). Two neighbours share their
residual, too, since an image that does not fill its field of view correlates them. Batches depend on how
much is measured, not on how much is asked for: a longer design begins with the shorter one.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from adaptive.estimators.imaging.scores.grid_scores import OneSide

__all__ = ["batch_size", "behind", "best_apart", "grown", "mirrored", "scores"]

_LINES, _POINTS = 16, 8  # one more for so many that are measured
_MIRROR = 0.5


def batch_size(measured: int, ndim: int) -> int:
    """Number that is chosen together when so many are measured, of lines (one axis) or of points (two).

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


def scores(energy: np.ndarray, measured: np.ndarray | None = None) -> np.ndarray:
    """The residual that a measurement takes away, about; ``measured``: where one side of k-space is to be preferred.

    Examples
    --------
    >>> scores(np.array([0.0, 0, 0, 4]), np.array([False, False, True, False])).round(3)  # -1 comes first
    array([0., 2., 0., 0.])
    """
    both = energy + _MIRROR * mirrored(energy)
    return both if measured is None else np.where(behind(measured), 0.0, both)


def behind(measured: np.ndarray) -> np.ndarray:
    """Mask of frequencies that are free as their mirrors are, and on the emptier side of k-space."""
    return OneSide(measured).behind.reshape(measured.shape)


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


def grown(
    centre: np.ndarray, n: int, energy: Callable[[np.ndarray, int], np.ndarray], one_side: bool = False
) -> list[int]:
    """Positions (flat) of a design in the order chosen, after the ``centre``.

    Parameters
    ----------
    centre : array of bool, lines (n,) or points (n0, n1)
    n : int
        In all.
    energy : callable (mask, round) -> array
        Residual energies where a mask was measured.
    one_side : bool, default False
        Whether the phase has errors that no further coil shows.
    """
    chosen, order, step = centre.copy(), [], 0
    while chosen.sum() < n:
        score = scores(energy(chosen, step), chosen if one_side else None)
        batch = best_apart(score, chosen, batch_size(int(chosen.sum()), centre.ndim))
        order += batch
        chosen.flat[batch] = True
        step += 1
    return order[: n - int(centre.sum())]
