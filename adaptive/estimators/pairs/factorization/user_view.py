"""One user of a factorisation as a thing to learn about: candidates are items, and that user's row alone learns."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Self

import numpy as np

from adaptive.checks import refuse_masked, share, short
from adaptive.estimators.base import DesignMixin
from adaptive.estimators.pairs.columns import checked_counts, columns_of, labels_of
from adaptive.estimators.pairs.factorization import forecasts
from adaptive.estimators.pairs.factorization.predictive import PairPredictive
from adaptive.estimators.pairs.inference.expectations import log_rates
from adaptive.estimators.pairs.inference.rounds import Entries, Factors, Kind, solved

if TYPE_CHECKING:
    from adaptive.estimators.scatter import Scatter
    from adaptive.types import ArrayLike, Id, Pool, RandomState, State

__all__ = ["FactorizationUser"]

STEPS = 30


class FactorizationUser(DesignMixin):
    """A user's row, fitted with the items of a fit as they are; `PoissonFactorization.user` makes it.

    Parameters
    ----------
    factors : Factors
        With the one user.
    entries : Entries
        What is known of that user.
    positions : dict
        Item id -> row.
    kind : Kind
    scatter : Scatter, optional
        Of counts about what the factors say.
    """

    def __init__(
        self,
        factors: Factors,
        entries: Entries,
        positions: dict[Id, int],
        kind: Kind,
        scatter: Scatter | None = None,
    ) -> None:
        self.factors, self.entries, self.positions, self.kind = factors, entries, positions, kind
        self.scatter = scatter

    def _located(self, items: Pool) -> tuple[Factors, np.ndarray]:
        """The factors and rows of items; those never seen are at the prior."""
        known = self._ids(items)
        if not known:
            return self.factors, np.zeros(0, dtype=np.int64)
        new: dict[Id, int] = {}
        first = len(self.factors.sides[1].mean)
        rows = [self.positions[x] if x in self.positions else new.setdefault(x, first + len(new)) for x in known]
        if not new:
            return self.factors, np.array(rows, dtype=np.int64)
        user, other = self.factors.sides
        sides = (user, other.with_rows(first + len(new), self.kind.points[1]))
        return replace(self.factors, sides=sides), np.array(rows, dtype=np.int64)

    @staticmethod
    def _ids(items: Pool) -> list[Id]:
        """The ids that a list or an array holds."""
        refuse_masked("items", items)
        try:
            labels = labels_of(items)
        except TypeError:
            raise ValueError(f"items must be a list of ids, whole numbers or text, got {short(items)}.") from None
        return columns_of([(0, label) for label in labels])[1].tolist() if labels else []

    def partial_fit(self, X: Pool, y: ArrayLike) -> Self:
        """Learn how often items (their ids) were counted; what is refused changes nothing."""
        labels = self._ids(X)
        counts = checked_counts(y, len(labels))
        unknown = [label for label in labels if label not in self.positions]
        if unknown:
            raise ValueError(f"item {unknown[0]!r} was not in the fit: partial_fit the factorisation with it first.")
        rows = np.array([self.positions[label] for label in labels], dtype=np.int64)
        old = self.entries
        both = np.concatenate([old.rows[1], rows])
        entries = Entries(
            (np.zeros(len(both), dtype=np.int64), both),
            np.concatenate([old.y, counts]),
            np.concatenate([old.exposure, np.ones(len(rows))]),
            old.lengths,
            old.dispersion,
        )
        own, _ = solved(entries, self.factors, 0, self.kind, rows=[0], steps=STEPS)
        self.factors, self.entries = replace(self.factors, sides=(own, self.factors.sides[1])), entries
        return self

    def fit(self, X: Pool, y: ArrayLike) -> Self:
        """The same as ``partial_fit``: what is known of the user stays."""
        return self.partial_fit(X, y)

    def predict(self, X: Pool) -> np.ndarray:
        """Return the mean counts (m,) of items, infinite where the posterior's is."""
        factors, rows = self._located(X)
        user, other = factors.sides
        zeros = np.zeros(len(rows), dtype=np.int64)
        logs = log_rates(zeros, rows, user.mean, user.spread, other.mean, other.spread, 1.0)
        with np.errstate(over="ignore"):
            return np.exp(factors.offset + logs)

    def log_predictive(self, X: Pool, y: ArrayLike) -> np.ndarray:
        """Return the (m,) natural-log predictive probabilities of items' counts, as the factorisation does."""
        factors, rows = self._located(X)
        zeros = np.zeros(len(rows), dtype=np.int64)
        return forecasts.log_probabilities(factors, zeros, rows, checked_counts(y, len(rows)), self.scatter)

    def interval(self, X: Pool, level: float = 0.9) -> tuple[np.ndarray, np.ndarray]:
        """Return the counts (m,) between which each item's lies with about the probability ``level``, by draws.

        As wide as the factorisation's, whose nominal .90 covers .86 to .88 (``ours-bands-factorization``).
        """
        share("level", level)
        factors, rows = self._located(X)
        extra = 0.0 if self.scatter is None else self.scatter.variance
        return forecasts.intervals(factors, np.zeros(len(rows), dtype=np.int64), rows, level, extra)

    def predictive(self, candidates: Pool, *, target: None = None, random_state: RandomState = None) -> PairPredictive:
        """Predictive of items, of which the user's row alone learns."""
        if target is not None:
            raise ValueError("target must be None: what is to be learnt is the user's row.")
        factors, rows = self._located(candidates)
        zeros = np.zeros(len(rows), dtype=np.int64)
        return PairPredictive(factors, self.entries, zeros, rows, self.kind, learns=(0,), random_state=random_state)

    def state(self) -> State:
        """Plain data: the user's row and what is known; the items are those of the fit."""
        user = self.factors.sides[0]
        return {"mean": user.mean, "spread": user.spread, "items": self.entries.rows[1], "y": self.entries.y,
                "exposure": self.entries.exposure}  # fmt: skip

    def restore(self, state: State) -> Self:
        """Take over what ``state`` returned, beside the same items."""
        user, other = self.factors.sides
        user = replace(user, mean=np.asarray(state["mean"]), spread=np.asarray(state["spread"]))
        items = np.asarray(state["items"])
        rows = (np.zeros(len(items), dtype=np.int64), items)
        exposure = np.asarray(state["exposure"])
        self.entries = Entries(rows, np.asarray(state["y"]), exposure, self.entries.lengths, self.entries.dispersion)
        self.factors = replace(self.factors, sides=(user, other))
        return self
