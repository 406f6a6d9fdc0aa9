"""Predictive of users' next items, by weighted members or draws:  p(y) = sum_k w_k softmax(W_k h_k).

    outcome entropy   = H(sum_k w_k p_k),       expected entropy  = sum_k w_k H(p_k)

Both in one pass over items, a few users at a time: tables of (members, users, items) are made for short lists only.
What is measured reweights: members of an ensemble for everybody, draws of a user's own matrix for this user alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import entr

from adaptive.memory import require_memory
from adaptive.predictive.base import Predictive
from adaptive.predictive.derivations import likely

if TYPE_CHECKING:
    from adaptive.types import RandomState

__all__ = ["NextItems"]

BLOCK = 2**20  # entries of a block of (members, users, items)


class NextItems(Predictive):
    """Predictive of users' next items.

    Parameters
    ----------
    outputs : (k or 1, I, D) array
        Rows of items.
    heads : (k, m, D) array
        States from which the next items follow.
    weights : (k, m) array
        Of members or draws, per candidate.
    outcomes : (I,) array of ids
    who : (m,) array or None
        Whose draws a column holds, where what is not known is each user's own; None: members are the same for all.
    target : NextItems, optional
        About given users, by the same members or draws.
    random_state : None, int, Generator or RandomState
    """

    def __init__(
        self, outputs: np.ndarray, heads: np.ndarray, weights: np.ndarray, outcomes: np.ndarray, *,
        who: np.ndarray | None = None, target: NextItems | None = None, random_state: RandomState = None,
        kept: dict[str, Any] | None = None,
    ) -> None:  # fmt: skip
        self.outputs, self.heads, self.weights, self.who = outputs, heads, weights, who
        self._kept: dict[str, Any] = {} if kept is None else kept  # what does not depend on weights
        fields: dict[str, Any] = {"outcomes": outcomes, "target": target}
        fields |= {"probabilities": self._probabilities, "outcome_entropy": lambda: self._entropies()[0]}
        if len(heads) == 1:
            self.remedy = "one net is sure of itself; n_members=2 or more, or uncertainty='laplace', are not"
        if len(heads) > 1:
            fields["expected_entropy"] = lambda: self._entropies()[1]
            if who is None and target is None:
                fields["target_entropy"] = lambda: float(entr(self.weights[:, 0]).sum())
                fields["expected_target_entropy"] = lambda: (
                    self.target_entropy + self.expected_entropy - self.outcome_entropy
                )
        super().__init__(heads.shape[1], random_state=random_state, **fields)

    def _provides(self, name: str) -> bool:
        """Absence of draws for a single net: nothing is uncertain, and measuring teaches nothing."""
        return super()._provides(name) and (len(self.heads) > 1 or name not in ("draws", "given"))

    # -- probabilities -------------------------------------------------------------------------------------------------

    def _table(self, columns: slice | np.ndarray) -> np.ndarray:
        """p(item | member) (k, m', I) of some candidates."""
        z = np.matmul(self.heads[:, columns], self.outputs.swapaxes(1, 2))
        z -= z.max(axis=2, keepdims=True)
        np.exp(z, out=z)
        z /= z.sum(axis=2, keepdims=True)
        return z

    def _blocks(self) -> Iterator[slice]:
        step = max(1, BLOCK // (len(self.heads) * self.outputs.shape[1]))
        for begin in range(0, len(self), step):
            yield slice(begin, begin + step)

    def _probabilities(self) -> np.ndarray:
        require_memory("probabilities", (len(self), self.outputs.shape[1]), float, 1)
        found = np.empty((len(self), self.outputs.shape[1]))
        for rows in self._blocks():
            found[rows] = np.einsum("km,kmi->mi", self.weights[:, rows], self._table(rows))
        return found

    def _entropies(self) -> tuple[np.ndarray, np.ndarray]:
        """Both entropies (m,): of the mixture, and the mean of those of members, which are kept."""
        found = self.__dict__.get("_both")
        if found is None:
            mixture = np.empty(len(self))
            members = self._kept.get("entropies")
            single = np.empty(self.heads.shape[:2]) if members is None else members
            for rows in self._blocks():
                table = self._table(rows)
                mixture[rows] = entr(np.einsum("km,kmi->mi", self.weights[:, rows], table)).sum(axis=1)
                if members is None:
                    single[:, rows] = entr(table, out=table).sum(axis=2)
            self._kept["entropies"] = single
            found = self.__dict__["_both"] = mixture, np.einsum("km,km->m", self.weights, single)
        return found

    # -- what-ifs ------------------------------------------------------------------------------------------------------

    def draws(self, n: int | None = None) -> tuple[np.ndarray, np.ndarray]:
        """Return weights (k,) and p(item | draw) (k, m, I), for short lists; ``n`` of equal weight where it is given.

        Users' own draws are independent of each other, and after a measurement resampled to equal weights.
        """
        k, m = self.weights.shape
        require_memory("draws", (n or k, m, self.outputs.shape[1]), float, 1)
        table = self._table(slice(None))
        if self.who is None:
            if n is None:
                return self.weights[:, 0], table
            chosen = np.random.default_rng(self.seed).choice(k, size=n, p=self.weights[:, 0])
            return np.full(n, 1.0 / n), table[chosen]
        size = n or k
        if n is None and (self.weights == self.weights[0]).all():
            return np.full(k, 1.0 / k), table
        places = np.empty((size, m), dtype=np.int64)
        for column, user in enumerate(self.who.tolist()):
            rng = np.random.default_rng([self.seed, user + 1])
            steps = (np.arange(size) + rng.random()) / size
            found = np.searchsorted(np.cumsum(self.weights[:, column]), steps, side="right")
            places[:, column] = rng.permutation(np.minimum(found, k - 1))
        return np.full(size, 1.0 / size), np.take_along_axis(table, places[:, :, None], axis=0)

    def given(self, i: int, outcome: object = None) -> Predictive:
        """Return the same with members, or this user's draws, reweighted by what they say of ``outcome``."""
        if outcome is None:
            raise self._unknown(i)
        place = np.flatnonzero(self.outcomes == outcome)
        if not len(place):
            raise ValueError(f"outcome must be one of the {len(self.outcomes)} items, got {outcome!r}.")
        likelihood = np.maximum(self._column(i)[:, place[0]], np.finfo(float).tiny)  # what all exclude reweights none
        return self._reweighted(likelihood, None if self.who is None else int(self.who[i]))

    def _column(self, i: int) -> np.ndarray:
        """p(item | member) (k, I) of one candidate, the last of which is kept: many outcomes are looked at in turn."""
        last = self._kept.get("column")
        if last is None or last[0] != i:
            last = self._kept["column"] = (i, self._table(np.array([i]))[:, 0])
        return last[1]

    def _reweighted(self, likelihood: np.ndarray, user: int | None) -> NextItems:
        factor = np.where(True if user is None or self.who is None else self.who == user, likelihood[:, None], 1.0)
        weights = self.weights * factor
        target = None if "target" not in self._fields else self._fields["target"]._reweighted(likelihood, user)
        after = NextItems(
            self.outputs, self.heads, weights / weights.sum(axis=0), self.outcomes, who=self.who, target=target,
            random_state=self.seed, kept=self._kept,
        )  # fmt: skip
        after.asked = self.asked
        return after

    def likely_outcomes(self, i: int) -> list[tuple[object, float]] | None:
        """Return [(item, probability)] of candidate ``i``."""
        return likely(self.outcomes.tolist(), self.weights[:, i] @ self._column(i))
