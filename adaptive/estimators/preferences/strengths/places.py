"""Predictive of comparisons of which the first k places are to be learnt:  1/k sum_r I(y; who holds place r).

It is the information about who holds a place that is drawn at random, and named. With k = 1 it is about the best. The
order of the first k as one value would have more values than draws: each draw would be its own, as if all were asked.
For the same reason the set of the best k is learnt item by item:  1/n sum_i I(y; i is among the best k),  over the n
items of which draws disagree.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from scipy.special import entr

from adaptive.predictive import WeightedDraws
from adaptive.predictive.derivations import Way, entropy

__all__ = ["OfPlaces", "Screened", "TopSet", "holders_of"]

FEWER = 4  # times fewer draws say which candidates are looked at by all


class TopSet(NamedTuple):
    """Target of who the best k are, whatever their order."""

    k: int


def holders_of(strengths: np.ndarray, target: int | TopSet) -> np.ndarray:
    """Return what draws (k, n) of strengths say of a target, a column for each part of it that is learnt.

    Of the first places (0: of all) the item that holds each; of a set, 1 for its members among the items in doubt.

    Examples
    --------
    >>> drawn = np.array([[2.0, 1.0, 0.0], [2.0, 0.0, 1.0]])
    >>> holders_of(drawn, 2).tolist(), holders_of(drawn, TopSet(2)).tolist()
    ([[0, 1], [0, 2]], [[1, 0], [0, 1]])
    """
    ranked, last = np.argsort(-strengths, axis=1, kind="stable"), strengths.shape[1] - 1
    if not isinstance(target, TopSet):
        return ranked[:, : min(target or last, last)]  # who is left is last
    members = np.zeros(strengths.shape, dtype=int)
    np.put_along_axis(members, ranked[:, : target.k], 1, axis=1)
    doubt = np.ptp(members, axis=0) > 0
    return members[:, doubt] if doubt.any() else members[:, :1]


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
        What each draw says of each target, as of `holders_of`.
    weights, probabilities, outcomes, **fields
        As of `WeightedDraws`.
    """

    def __init__(self, holders: np.ndarray, weights: Any, probabilities: Any, outcomes: Any, **fields: Any) -> None:
        super().__init__(weights, probabilities, outcomes, **fields)
        self._agree, self._n_targets = _agreeing(holders), holders.shape[1]

    def reweighted(self, weights: np.ndarray) -> OfPlaces:
        """The same draws with other weights."""
        after = super().reweighted(weights)
        assert isinstance(after, OfPlaces)
        after._agree, after._n_targets = self._agree, self._n_targets
        return after

    def _shares(self) -> tuple[sparse.csr_array, np.ndarray]:
        """Weights (values, draws) of the draws that have a value, and the probabilities (values,) of all values."""
        agree = self._agree
        own = sparse.csr_array((self.weights[agree.indices], agree.indices, agree.indptr), shape=agree.shape)
        return own, np.asarray(own.sum(axis=1)).ravel()


def _agreeing(holders: np.ndarray) -> sparse.csr_array:
    """One row (draws,) for each value of each target: 1 where a draw has it."""
    n, t = holders.shape
    codes = holders + np.arange(t) * (holders.max() + 1)
    _, value = np.unique(codes.ravel(), return_inverse=True)
    ends = np.concatenate([[0], np.cumsum(np.bincount(value))])
    draws = np.repeat(np.arange(n), t)[np.argsort(value, kind="stable")]
    return sparse.csr_array((np.ones(n * t), draws, ends), shape=(len(ends) - 1, n))


def _expected_entropy(predictive: OfPlaces) -> np.ndarray:
    """Return the mean over targets of E H(y | target)."""
    own, shares = predictive._shares()
    each = np.where(shares > 0, shares, 1.0)[:, None]
    given = np.stack([(own @ plane) / each for plane in np.moveaxis(predictive.draws()[1], 2, 0)], axis=-1)
    return np.asarray(shares @ entropy(given)) / predictive._n_targets


def _target_entropy(predictive: OfPlaces) -> float:
    return float(entr(predictive._shares()[1]).sum()) / predictive._n_targets


OfPlaces.ways = WeightedDraws.ways | {
    "expected_entropy": (Way((), _expected_entropy),),
    "target_entropy": (Way((), _target_entropy),),
}
