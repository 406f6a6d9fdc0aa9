"""The greedy on rows, with the bounds that it gives on its way.

    f(B) = 1/2 log|I + A_B A_B'|        A_i (b, d): the rows of candidate i, in units of the noise

f is monotone and submodular, so that for every set S

    max_B f(B)  <=  f(S) + max_v sum_i v_i (f(S + i) - f(S))          over all v that the budget allows,

the first time S grows (Leskovec et al. 2007).  At the end the tangent of the D-optimal relaxation is there as well.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from adaptive.linalg.relaxations import Budget  # house: bounds are matrices and vectors
from adaptive.selection.ranking import best_positions

__all__ = ["Conditional", "Greedy", "greedy", "information"]

ROUNDING = 1e-9  # relative, of a budget


class Conditional:
    """Covariances of every candidate's rows, given those that were taken; in units of the noise.

    Parameters
    ----------
    rows : (m, b, d) array

    Attributes
    ----------
    blocks : (m, b, b) array
        I + blocks are the covariances of what would be measured; of single rows (m,).
    """

    def __init__(self, rows: np.ndarray) -> None:
        self.rows = rows
        m, b, d = rows.shape
        self._flat = rows.reshape(m * b, d)
        self._basis = np.zeros((0, d))
        single = b == 1
        self.blocks = np.einsum("id,id->i", self._flat, self._flat) if single else rows @ rows.transpose(0, 2, 1)

    def gains(self) -> np.ndarray:
        """Return by how much each candidate would add to the information (m,)."""
        return 0.5 * log_volumes(self.blocks)

    def slopes(self) -> np.ndarray:
        """Return the slopes of the D-optimal relaxation at what was taken (m,)."""
        return 0.5 * (self.blocks if self.blocks.ndim == 1 else np.trace(self.blocks, axis1=1, axis2=2))

    def take(self, i: int) -> None:
        """Condition on candidate ``i``."""
        own = self.rows[i]
        apart = own - (own @ self._basis.T) @ self._basis
        root = np.linalg.cholesky(np.eye(len(own)) + apart @ own.T)
        basis = np.linalg.solve(root, apart)
        self._basis = np.concatenate([self._basis, basis])
        columns = self._flat @ basis.T
        if self.blocks.ndim == 1:
            self.blocks = np.maximum(self.blocks - columns[:, 0] ** 2, 0.0)
        else:
            columns = columns.reshape(self.rows.shape[0], len(own), -1)
            self.blocks = self.blocks - columns @ columns.transpose(0, 2, 1)


def log_volumes(blocks: np.ndarray) -> np.ndarray:
    """Return log|I + block| of each, none negative."""
    if blocks.ndim == 1:
        return np.log1p(np.maximum(blocks, 0.0))
    return np.maximum(np.linalg.slogdet(np.eye(blocks.shape[1]) + blocks)[1], 0.0)


def information(rows: np.ndarray) -> float:
    """Return f of all these (n, b, d) rows together, in nats."""
    flat = rows.reshape(-1, rows.shape[2])
    gram = flat @ flat.T if len(flat) <= flat.shape[1] else flat.T @ flat
    return 0.5 * float(np.linalg.slogdet(np.eye(len(gram)) + gram)[1])


@dataclass(frozen=True)
class Greedy:
    """Choice of the greedy, and the bounds that it showed.

    Attributes
    ----------
    chosen : list of int
    information : float
    prefixes, tangent : float
        Upper bounds of the information of every set that the budget allows: the least of all prefixes, and the tangent
        of the D-optimal relaxation at the last.
    """

    chosen: list[int]
    information: float
    prefixes: float
    tangent: float


def greedy(rows: np.ndarray, budget: Budget, enough: float | None = None) -> Greedy:
    """Return what the greedy chooses of a budget, by gain per cost, and the bounds on its way.

    Parameters
    ----------
    rows : (m, b, d) array
    budget : Budget
    enough : float, optional
        Stop as soon as the bound is at most so many nats, or what was chosen tells more than that.

    Examples
    --------
    >>> greedy(np.eye(3)[:, None], Budget(np.ones(3), 2.0)).chosen
    [0, 1]
    """
    known, chosen, told, spent = Conditional(rows), [], 0.0, 0.0
    free, least = np.ones(len(rows), dtype=bool), np.inf
    while True:
        gains = known.gains()
        least = min(least, told + budget.most(np.where(free, gains, 0.0)))
        if enough is not None and (least <= enough or told > enough):
            break
        affordable = free & (spent + budget.cost <= budget.total * (1 + ROUNDING))
        if not affordable.any():
            break
        best = int(best_positions(np.where(affordable, gains / budget.cost, -np.inf), 1)[0])
        known.take(best)
        chosen.append(best)
        told, spent = told + float(gains[best]), spent + float(budget.cost[best])
        free[best] = budget.repeat
    slopes = known.slopes()
    return Greedy(chosen, told, least, told + budget.most(slopes) - float(slopes[chosen].sum()))
