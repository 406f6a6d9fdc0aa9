"""Exchanges that improve a set: each member against every other candidate, until no exchange gains.

The greedy keeps what it took first; where a set has fewer rows than there are unknowns it loses 2 to 3% by that.  Given
the others, member k is worth 1/2 log|I + G_k|, and so is every candidate:

    G_i given all but k   =   G_i + C_ik (I - G_k)^-1 C_ik'         G, C: (co)variances given the whole set

Only products with the members' rows are formed, however many unknowns there are.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from adaptive.linalg.relaxations import Budget, frank_wolfe  # house: bounds are matrices and vectors
from adaptive.selection.bounds.greedy import Conditional, information, log_volumes
from adaptive.selection.ranking import best_positions

__all__ = ["exchanged", "improved", "in_order", "rounded"]

ROUNDS = 3
LEAST = 1e-9  # nats that an exchange must gain
N_ITER = 10  # of the relaxation whose rounding is a second start
MOST_UNKNOWNS = 128  # of that relaxation: it is for batches that are chosen in no time
MOST_PRODUCTS = 1e9  # of a round of exchanges


def exchanged(rows: np.ndarray, chosen: Sequence[int], cost: np.ndarray | None = None) -> list[int]:
    """Return a set of as many candidates that tells at least as much, and costs no more.

    Parameters
    ----------
    rows : (m, b, d) array
        In units of the noise.
    chosen : sequence of int
        Different positions.
    cost : (m,) array, optional
        A member is only exchanged for what costs no more.

    Examples
    --------
    The greedy takes the sum of two unknowns first, and cannot do without one of them.

    >>> rows = np.array([[1.0, 1.0], [1.3, 0.0], [0.0, 1.3]])[:, None]
    >>> exchanged(rows, [0, 1])
    [2, 1]
    """
    m, b, d = rows.shape
    flat, members = rows.reshape(m * b, d), list(chosen)
    prior = np.einsum("id,id->i", flat, flat)[:, None, None] if b == 1 else rows @ rows.transpose(0, 2, 1)
    columns = flat @ rows[members].reshape(-1, d).T  # covariances with the members' rows
    for _ in range(ROUNDS):
        moved = False
        inverse = _inverse(columns, members, b)
        given = prior - _squared((columns @ np.linalg.cholesky(inverse)).reshape(m, b, -1))
        for k, member in enumerate(members):
            mine = slice(k * b, (k + 1) * b)
            cross = (columns @ inverse[:, mine]).reshape(m, b, b)
            lost = np.linalg.inv(np.eye(b) - given[member])
            without = given + _squared(cross, lost)
            worth = 0.5 * log_volumes(without[:, 0, 0] if b == 1 else without)
            now = worth[member]
            worth[members] = -np.inf
            if cost is not None:
                worth[cost > cost[member]] = -np.inf
            best = int(best_positions(worth, 1)[0])
            if worth[best] <= now + LEAST:
                continue
            moved, members[k] = True, best
            columns[:, mine] = flat @ rows[best].T
            inverse = _inverse(columns, members, b)
            cross = (columns @ inverse[:, mine]).reshape(m, b, b)
            given = without - _squared(cross, np.eye(b) + without[best])
        if not moved:
            break
    return members


def _inverse(columns: np.ndarray, members: list[int], b: int) -> np.ndarray:
    """Return (I + covariance of the members' rows)^-1."""
    own = (np.asarray(members)[:, None] * b + np.arange(b)).ravel()
    return np.linalg.inv(np.eye(len(own)) + columns[own])


def _squared(blocks: np.ndarray, weight: np.ndarray | None = None) -> np.ndarray:
    """Return X W X' of each block X (b, c)."""
    left = blocks if weight is None else blocks @ weight
    return np.einsum("iac,ibc->iab", left, blocks) if blocks.shape[1] == 1 else left @ blocks.transpose(0, 2, 1)


def rounded(rows: np.ndarray, chosen: Sequence[int]) -> list[int]:
    """Return as many candidates, those that weigh most in the relaxation that starts from ``chosen``."""
    m, b, _ = rows.shape
    start = np.zeros(m)
    start[list(chosen)] = 1.0
    n = len(chosen)
    relaxed = frank_wolfe(rows, Budget(np.ones(m), float(n)), start, r=n * b, n_iter=N_ITER)
    return best_positions(relaxed.weights, n).tolist()


def in_order(
    rows: np.ndarray, members: Sequence[int] | np.ndarray, cost: np.ndarray | None = None, n: int | None = None
) -> tuple[list[int], np.ndarray]:
    """Return n members (None: all), the best first and each given those before it, and what each then adds, in nats."""
    listed = np.sort(np.asarray(members))
    known, order, gains = Conditional(rows[listed]), [], []
    free = np.ones(len(listed), dtype=bool)
    for _ in range(len(listed) if n is None else n):
        worth = known.gains()
        value = worth if cost is None else worth / cost[listed]
        best = int(best_positions(np.where(free, value, -np.inf), 1)[0])
        known.take(best)
        order.append(int(listed[best]))
        gains.append(float(worth[best]))
        free[best] = False
    return order, np.array(gains)


def improved(rows: np.ndarray, chosen: Sequence[int], cost: np.ndarray | None = None) -> list[int]:
    """Return the better of what exchanges make of ``chosen`` and, where all cost the same, of the rounded relaxation.

    Large problems are left as they are.
    """
    m, b, d = rows.shape
    n = len(chosen) * b
    if m * b * float(n) ** 2 > MOST_PRODUCTS or n == 0 or d == 0:
        return list(chosen)
    found = exchanged(rows, chosen, cost)
    if cost is not None or n >= d or d > MOST_UNKNOWNS:
        return found
    other = exchanged(rows, rounded(rows, chosen))
    return other if information(rows[other]) > information(rows[found]) + LEAST else found
