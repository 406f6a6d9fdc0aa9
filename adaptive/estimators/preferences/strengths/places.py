"""Predictive of comparisons of which the first k places are to be learnt:  1/k sum_r I(y; who holds place r).

It is the information about who holds a place that is drawn at random, and named. With k = 1 it is about the best. The
order of the first k as one value would have more values than draws: each draw would be its own, as if all were asked.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from adaptive.predictive import WeightedDraws
from adaptive.predictive.derivations import Way

__all__ = ["OfPlaces"]


class OfPlaces(WeightedDraws):
    """Weighted draws with what each says of several targets, of which the mean information counts.

    Parameters
    ----------
    holders : (draws, k) array of int
        The item that each draw has at each place.
    weights, probabilities, outcomes, **fields
        As of `WeightedDraws`.
    """

    def __init__(self, holders: np.ndarray, weights: Any, probabilities: Any, outcomes: Any, **fields: Any) -> None:
        super().__init__(weights, probabilities, outcomes, **fields)
        self._holders = holders

    def reweighted(self, weights: np.ndarray) -> OfPlaces:
        """The same draws with other weights."""
        after = super().reweighted(weights)
        assert isinstance(after, OfPlaces)
        after._holders = self._holders
        return after

    def place(self, r: int) -> WeightedDraws:
        """The same, about who holds place r."""
        weights, table = self.draws()
        return WeightedDraws(
            weights, table, self.outcomes, target=self._holders[:, r], n_candidates=len(self), random_state=self.seed
        )  # fmt: skip

    def _mean(self, field: str) -> Any:
        return np.mean([getattr(self.place(r), field) for r in range(self._holders.shape[1])], axis=0)


OfPlaces.ways = WeightedDraws.ways | {
    "expected_entropy": (Way((), lambda p: p._mean("expected_entropy")),),
    "target_entropy": (Way((), lambda p: float(p._mean("target_entropy"))),),
}
