"""Increments that optimal play adds to the score of a node whose tree nobody has seen, by moves left:

    Delta(0) = 0,    Delta(l) = ext over b children of  Delta(l - 1) + drift + xi,    xi ~ N(0, 1) independent,

ext the maximum or the minimum, by who moves. A table of l rows stands for a tree of b^l ends.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
from numba import njit

from adaptive.potentials.gaussian_maximum import larger

if TYPE_CHECKING:
    from adaptive.types import ArrayLike

__all__ = ["optimal_increments"]


@njit(cache=True)
def _increments(branching: np.ndarray, drift: np.ndarray, following: np.ndarray, table: np.ndarray) -> None:
    for left in range(1, table.shape[1]):
        for mover in range(2):
            sign = 1.0 if mover == 0 else -1.0
            after = table[following[mover], left - 1]
            mean, variance = sign * (after[0] + drift[mover]), after[1] + 1.0
            top, spread = mean, variance
            for _ in range(1, branching[mover, left]):
                top, spread, _first = larger(top, spread, mean, variance, 0.0)
            table[mover, left, 0], table[mover, left, 1] = sign * top, spread


def optimal_increments(
    branching: int | Callable[[int, int], int], depth: int, *, alternate: bool = True, drift: ArrayLike = (0.0, 0.0)
) -> np.ndarray:
    """Return mean and variance of Delta for either player to move and 0 to ``depth`` moves left.

    Parameters
    ----------
    branching : int or callable (moves left, player) -> int
        Children of a node; the player who moves there is +1 (maximises) or -1.
    depth : int
    alternate : bool, default True
        Players take turns; else who moves once moves always.
    drift : (2,) array-like
        Mean change of the score by a move of the maximising and of the minimising player.

    Returns
    -------
    (2, depth + 1, 2) array
        Player (the maximising one first), moves left, (mean, variance).

    References
    ----------
    P. Hennig (2010), equations 3.8 and 3.9, figure 3.9.

    Examples
    --------
    Five children, six and five moves left, the minimising player moves last:

    >>> table = optimal_increments(5, 6)
    >>> table[0, 6].round(4), table[1, 5].round(4)
    (array([0.2625, 0.7194]), array([-1.2617,  0.7139]))
    """
    if callable(branching):
        counts = np.array([[1] + [branching(left, player) for left in range(1, depth + 1)] for player in (1, -1)])
    else:
        counts = np.full((2, depth + 1), branching)
    table = np.zeros((2, depth + 1, 2))
    following = np.array([1, 0] if alternate else [0, 1])
    _increments(counts.astype(np.int64), np.asarray(drift, dtype=float), following, table)
    return table
