"""A posterior as weighted draws: samples, members of an ensemble, a grid.  Measuring is reweighting, and exact.

    p(y_i) = sum_k w_k p_k(y_i),        w_k | y_i  =  w_k p_k(y_i) / p(y_i)

Draw k is the same latent in all candidates, so that their outcomes are independent given the draw and dependent
without.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from adaptive.predictive.base import Predictive
from adaptive.predictive.derivations import Way, entropy, likely

if TYPE_CHECKING:
    from adaptive.types import ArrayLike, RandomState

__all__ = ["WeightedDraws"]


class WeightedDraws(Predictive):
    """Predictive of a discrete outcome by k weighted joint draws.

    Parameters
    ----------
    weights : (k,) array of float
        Probabilities of the draws, k >= 2.
    probabilities : (k, m, c) array of float, or a function without arguments that returns it
        p(outcome | draw), for every candidate.
    outcomes : (c,) array
        The values the outcome may take.
    target : WeightedDraws, (k,) array or (k, t) array, optional
        Either the predictive at given inputs (by the same draws), or what each draw says about the target: equal rows
        are one value of the target, and whatever else differs between those draws is integrated out. Default: the
        draw itself is the target.
    n_candidates : int, optional
        Needed if ``probabilities`` is a function.
    ensemble : bool, default False
        The draws are a few of many that could have been: outcomes of a batch soon leave one of them, so that
        :mod:`adaptive.selection` does not weigh them anew for each.
    random_state : None, int, Generator or RandomState
        Seed of draws that are resampled.
    **fields
        Others that are stated, such as ``features`` and ``measured``.

    Raises
    ------
    ValueError
        If the shapes disagree, there are fewer than two draws, or probabilities are negative or do not add up to 1.

    Examples
    --------
    A coin that is either fair or two-headed, and one that is fair for sure: only the first throw teaches which.

    >>> belief = WeightedDraws([0.5, 0.5], [[[0.5, 0.5], [0.5, 0.5]], [[0.0, 1.0], [0.5, 0.5]]], ["tail", "head"])
    >>> (belief.outcome_entropy - belief.expected_entropy).round(3)
    array([0.216, 0.   ])
    >>> belief.given(0, "tail").weights
    array([1., 0.])
    """

    def __init__(
        self,
        weights: ArrayLike,
        probabilities: Any,
        outcomes: np.ndarray | Sequence[Any],
        *,
        target: Predictive | ArrayLike | None = None,
        n_candidates: int | None = None,
        ensemble: bool = False,
        random_state: RandomState = None,
        **fields: Any,
    ) -> None:
        self.weights = np.asarray(weights, dtype=float)
        if self.weights.ndim != 1 or len(self.weights) < 2:
            raise ValueError(f"weights must be (k,) with k >= 2 draws, got shape {self.weights.shape}.")
        total = self.weights.sum()
        if not np.isfinite(total) or total <= 0 or self.weights.min() < 0:
            raise ValueError("weights must be finite, >= 0 and not all 0.")
        self.weights = self.weights / total
        self._table = _Table(probabilities, len(self.weights), n_candidates, len(outcomes))
        fields["outcomes"] = outcomes
        self._ensemble = ensemble
        self._groups: tuple[np.ndarray, np.ndarray] | None = None
        self._values: np.ndarray | None = None  # of a target that is numbers
        if isinstance(target, Predictive):
            fields["target"] = target
        elif target is not None:
            values = np.asarray(target)
            if len(values) != len(self.weights):
                raise ValueError(f"target must have one row per draw ({len(self.weights)}), got shape {values.shape}.")
            self._groups = _groups(values.reshape(len(values), -1))
            if values.dtype.kind in "biuf":
                self._values = values.reshape(len(values), -1).astype(float)
        super().__init__(self._table.n_candidates, random_state=random_state, **fields)

    @property
    def only_draws(self) -> bool:
        """Return whether they are an ``ensemble``."""
        return self._ensemble

    def draws(self, n: int | None = None) -> tuple[np.ndarray, np.ndarray]:
        """Return weights (k,) and p(outcome | draw) (k, m, c); ``n`` of equal weight, resampled, where it is given."""
        if n is None:
            return self.weights, self._table.values
        chosen = np.random.default_rng(self.seed).choice(len(self.weights), size=n, p=self.weights)
        return np.full(n, 1.0 / n), self._table.values[chosen]

    def given(self, i: int, outcome: Any = None) -> Predictive:
        """Return the draws reweighted by what they say of ``outcome`` at candidate ``i``."""
        if outcome is None:
            raise self._unknown(i)
        column = [c for c, known in enumerate(self.outcomes) if known == outcome]
        if not column:
            raise ValueError(f"outcome must be one of {np.asarray(self.outcomes).tolist()}, got {outcome!r}.")
        weights = self.weights * self._table.values[:, i, column[0]]
        if not weights.sum() > 0:
            raise ValueError(f"outcome {outcome!r} of candidate {i} has probability 0 under every draw.")
        return self._reweighted(weights)

    def likely_outcomes(self, i: int) -> list[tuple[Any, float]] | None:
        """Return [(outcome, probability)] of candidate ``i``."""
        return likely(self.outcomes, self.weights @ self._table.values[:, i])

    def _reweighted(self, weights: np.ndarray) -> WeightedDraws:
        after = object.__new__(type(self))
        after.weights = weights / weights.sum()
        after._table, after._groups, after._values = self._table, self._groups, self._values
        after._ensemble = self._ensemble
        fields = dict(self._fields)
        if "target" in fields:
            fields["target"] = fields["target"]._reweighted(weights)
        Predictive.__init__(after, len(self), random_state=self.seed, **fields)
        after.asked = self.asked
        return after


class _Table:
    """The draws' probabilities and entropies, shared by a predictive and all its what-ifs."""

    def __init__(self, probabilities: ArrayLike | Callable[[], ArrayLike], k: int, m: int | None, c: int) -> None:
        self._stated: ArrayLike | Callable[[], ArrayLike] | None = probabilities
        self._k, self._c = k, c
        self._values: np.ndarray | None = None
        self._entropies: np.ndarray | None = None
        if callable(probabilities):
            if m is None:
                raise ValueError("n_candidates is needed where probabilities is a function.")
            self.n_candidates = int(m)
        else:
            self.n_candidates = np.shape(probabilities)[1] if np.ndim(probabilities) == 3 else -1
            _ = self.values  # a wrong table is refused where it is stated

    @property
    def values(self) -> np.ndarray:
        if self._values is None:
            table: np.ndarray = np.asarray(self._stated() if callable(self._stated) else self._stated, dtype=float)
            expected = (self._k, self.n_candidates, self._c)
            if table.shape != expected:
                wanted = f"({self._k} draws, m candidates, {self._c} outcomes)"
                raise ValueError(f"probabilities must have shape {wanted}, got {table.shape}.")
            if table.size and not (table.min() >= -1e-9 and abs(np.einsum("kmc->km", table) - 1).max() < 1e-6):
                raise ValueError(
                    "probabilities must be >= 0 and add up to 1 over the outcomes, for every draw and candidate."
                )
            self._values, self._stated = table, None
        return self._values

    def replaced(self, columns: np.ndarray, values: np.ndarray) -> _Table:
        """The same table but for some candidates, of whom the draws say something else."""
        other = object.__new__(_Table)
        other._stated, other._k, other._c, other.n_candidates = None, self._k, self._c, self.n_candidates
        other._values, other._entropies = self.values.copy(), self.entropies.copy()
        other._values[:, columns], other._entropies[:, columns] = values, entropy(values)
        return other

    @property
    def entropies(self) -> np.ndarray:
        """(k, m) entropy of the outcome given the draw."""
        if self._entropies is None:
            self._entropies = entropy(self.values)
        return self._entropies


def _probabilities(predictive: WeightedDraws) -> np.ndarray:
    return np.tensordot(predictive.weights, predictive._table.values, axes=1)


def _expected_entropy(predictive: WeightedDraws) -> np.ndarray:
    """Return E H(y | target): of each draw, or of the mixture of all draws that agree on the target."""
    if predictive._groups is None:
        return predictive.weights @ predictive._table.entropies
    shares, mixtures = _by_target(predictive)
    return shares @ entropy(mixtures)


def _groups(values: np.ndarray) -> tuple[np.ndarray, np.ndarray] | None:
    """Return the order that brings draws of equal target together, and where each value starts; None if all differ."""
    _, inverse = np.unique(values, axis=0, return_inverse=True)
    order = np.argsort(inverse.ravel(), kind="stable")
    starts = np.flatnonzero(np.diff(inverse.ravel()[order], prepend=-1))
    return None if len(starts) == len(values) else (order, starts)


def _shares(predictive: WeightedDraws) -> np.ndarray:
    """Return the probabilities of the target's values."""
    if predictive._groups is None:
        return predictive.weights
    order, starts = predictive._groups
    return np.add.reduceat(predictive.weights[order], starts)


def _by_target(predictive: WeightedDraws) -> tuple[np.ndarray, np.ndarray]:
    """Return the probabilities of the target's values (g,) and p(outcome | value) (g, m, c)."""
    shares, tables = _shares(predictive), predictive._table.values
    if predictive._groups is None:
        return shares, tables
    order, starts = predictive._groups
    joint = np.add.reduceat((predictive.weights[:, None, None] * tables)[order], starts, axis=0)
    return shares, joint / np.where(shares > 0, shares, 1.0)[:, None, None]


def _target_entropy(predictive: WeightedDraws) -> float:
    return float(entropy(_shares(predictive)))


def _expected_target_entropy(predictive: WeightedDraws) -> np.ndarray:
    """Return sum_y p(y) H(target | y), from one product of draws: the entropies of p(target, y) and of p(y)."""
    shares, tables = _by_target(predictive)
    joint = np.zeros(len(predictive))
    for share, table in zip(shares, tables, strict=True):  # one draw at a time, for memory
        joint += entropy(share * table)
    return joint - entropy(predictive.probabilities)


def _target_deviation(predictive: Any) -> np.ndarray:
    mean = predictive.weights @ predictive._values
    return np.sqrt(predictive.weights @ (predictive._values - mean) ** 2)


WeightedDraws.ways = Predictive.ways | {
    "probabilities": (Way((), _probabilities),),
    "expected_entropy": (Way((), _expected_entropy),),
    "target_entropy": (Way((), _target_entropy),),
    "expected_target_entropy": (Way((), _expected_target_entropy),),
    "target_deviation": (Way((), _target_deviation, lambda p: p._values is not None),),
}
