"""Batches of predictives that have nothing but draws: members of an ensemble, a sample.

The outcomes of five candidates tell a thousand draws apart, and leave one; what a sixth candidate teaches cannot be
read off it.  So draws keep their weights, and a candidate that says the same as those chosen counts less:

    score(i)  x  the share of the variance of the votes at i that a regression on the votes at the chosen ones leaves,

where a vote is the most probable outcome of a draw (its probabilities where all draws vote alike), and the noise of the
regression that of an outcome given the draw.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import numpy as np
from sklearn.utils import gen_batches

from adaptive.selection.evaluation import evaluate

if TYPE_CHECKING:
    from adaptive.predictive.base import Predictive
    from adaptive.types import ArrayLike

__all__ = ["Votes"]

TOGETHER = 2**22  # votes in double precision at once
_NOISE = 1e-3  # of a vote whose outcome is certain given the draw


class Votes:
    """A predictive and what its chosen candidates leave of the votes at each of the others.

    Parameters
    ----------
    predictive : Predictive
        With ``draws``.

    Examples
    --------
    Two equal candidates, and one that is independent of them.

    >>> from adaptive.predictive import WeightedDraws
    >>> same, other = [0.1, 0.1, 0.9, 0.9], [0.1, 0.9, 0.1, 0.9]
    >>> ones = np.transpose([same, same, other])
    >>> votes = Votes(WeightedDraws(np.ones(4), np.stack([1 - ones, ones], axis=-1), [0, 1], ensemble=True))
    >>> votes.after(0).left.round(2)
    array([0.27, 0.27, 1.  ])
    """

    def __init__(self, predictive: Predictive) -> None:
        self.weighted = [(1.0, predictive)]
        self._predictive = predictive
        self._draws: tuple[np.ndarray, np.ndarray, np.ndarray] | None = None  # shared by all that follow
        self._basis: list[np.ndarray] = []
        self.left = np.ones(len(predictive))

    @staticmethod
    def coarse() -> None:
        """None: votes cost little."""

    def provides(self, name: str) -> bool:
        """Return whether the predictive has the field ``name``; none is refined."""
        return name != "refined" and self._predictive.provides(name)

    def _deviations(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return weights (k,), p(outcome | draw) (k, m, c), and the votes less their mean (k, m, c)."""
        if self._draws is None:
            weights, table = self._predictive.draws()
            winners = table.argmax(axis=2)
            votes = np.empty(table.shape, dtype=np.float32)
            for part in _parts(table):
                chosen = (winners[:, part, None] == np.arange(table.shape[2])).astype(float)
                alike = np.all(winners[:, part] == winners[:1, part], axis=0)  # such votes say nothing of each other
                chosen[:, alike] = table[:, part][:, alike]
                votes[:, part] = np.sqrt(weights)[:, None, None] * (chosen - np.tensordot(weights, chosen, axes=1))
            self._draws = weights, table, votes
        return self._draws

    def after(self, i: int) -> Votes:
        """Return the same once candidate ``i`` was chosen."""
        weights, table, votes = self._deviations()
        outcomes = table[:, i].astype(float)
        noise = np.diag(weights @ outcomes) - (outcomes.T * weights) @ outcomes
        mine = votes[:, i].astype(float)
        basis = np.concatenate(self._basis) if self._basis else np.zeros((0, len(weights)))
        apart = mine - basis.T @ (basis @ mine)
        inner = noise + mine.T @ apart + _NOISE * np.eye(len(noise))
        root = np.linalg.cholesky(0.5 * (inner + inner.T))
        rows = np.linalg.solve(root, apart.T)  # what is known now of any combination of draws
        after = Votes(self._predictive)
        after._draws, after._basis, after.left = self._draws, [*self._basis, rows], self.left.copy()
        for part in _parts(table):  # in double precision: in single, bits depend on what else is in the chunk
            some = votes[:, part].astype(float)
            explained = np.square(np.tensordot(rows, some, axes=1)).sum(axis=(0, 2))
            total = np.square(some).sum(axis=(0, 2))
            after.left[part] = np.maximum(after.left[part] - explained / np.maximum(total, 1e-12), 0.0)
        return after

    def score(self, scorer: Callable[..., ArrayLike], seed: int, start: int = 0) -> np.ndarray:
        """Return the scores of the candidates times the shares that are ``left``."""
        return self.left * evaluate(scorer, self._predictive, seed, start)


def _parts(table: np.ndarray) -> Iterator[slice]:
    """Yield so many candidates at a time as are cheap to hold in double precision."""
    k, m, c = table.shape
    yield from gen_batches(m, max(1, TOGETHER // (k * c)))
