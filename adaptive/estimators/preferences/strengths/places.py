"""Predictive of comparisons of which the first k places are to be learnt:  1/k sum_r I(y; who holds place r).

It is the information about who holds a place that is drawn at random, and named. With k = 1 it is about the best. The
order of the first k as one value would have more values than draws: each draw would be its own, as if all were asked.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from adaptive.predictive import WeightedDraws
from adaptive.predictive.derivations import Way

__all__ = ["OfPlaces", "Screened"]

FEWER = 4  # times fewer draws say which candidates are looked at by all


class Screened(WeightedDraws):
    """Weighted draws, some of which rank candidates where these are very many.

    Parameters
    ----------
    weights, probabilities, outcomes, **fields
        As of `WeightedDraws`.
    again : callable(draws, candidates) -> Screened, optional
        The same by some of the draws (a slice), or of some candidates (positions). Default: all are looked at by all.
    """

    def __init__(
        self, weights: Any, probabilities: Any, outcomes: Any, *, again: Callable[[slice, Any], Screened] | None = None,
        **fields: Any,
    ) -> None:  # fmt: skip
        super().__init__(weights, probabilities, outcomes, **fields)
        self._again = again
        self._few: Screened | None = None

    def _provides(self, name: str) -> bool:
        return name != "refined" and super()._provides(name)

    def coarse(self) -> Screened | None:
        """The same by a fourth of the draws; None where all count."""
        if self._few is None and self._again is not None:
            self._few = self._again(slice(None, None, FEWER), slice(None))
        return self._few

    def refined(self, positions: np.ndarray) -> Screened:
        """The candidates at ``positions`` alone, by all draws."""
        assert self._again is not None
        return self._again(slice(None), positions)

    def reweighted(self, weights: np.ndarray) -> WeightedDraws:
        """The same draws with other weights, all of which count."""
        after = super().reweighted(weights)
        assert isinstance(after, Screened)
        after._again = after._few = None
        return after


class OfPlaces(Screened):
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
