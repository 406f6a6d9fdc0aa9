"""A posterior as weighted draws: samples, members of an ensemble, a grid.  Measuring is reweighting, and exact.

    p(y_i) = sum_k w_k p_k(y_i),        w_k | y_i  =  w_k p_k(y_i) / p(y_i)

Draw k is the same latent in all candidates, so that their outcomes are independent given the draw and dependent
without.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from adaptive.predictive.base import Predictive
from adaptive.predictive.derivations import Way, entropy, likely

if TYPE_CHECKING:
    from adaptive.types import ArrayLike, RandomState

__all__ = ["WeightedDraws"]

IN_CACHE = 2**16  # numbers


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
        weights = self.weights * self._table.values[:, i, self._code(outcome)]
        if not weights.sum() > 0:
            raise ValueError(f"outcome {outcome!r} of candidate {i} has probability 0 under every draw.")
        return self.reweighted(weights)

    def _code(self, outcome: Any) -> int:
        """Place of an outcome among all."""
        places = [c for c, known in enumerate(self.outcomes) if known == outcome]
        if not places:
            raise ValueError(f"outcome must be one of {np.asarray(self.outcomes).tolist()}, got {outcome!r}.")
        return places[0]

    def likely_outcomes(self, i: int) -> list[tuple[Any, float]] | None:
        """Return [(outcome, probability)] of candidate ``i``."""
        return likely(self.outcomes, self._table.planes[:, :, i] @ self.weights)

    def reweighted(self, weights: np.ndarray) -> WeightedDraws:
        """Return the same draws with other weights (k,), up to a factor; the table and its entropies are shared."""
        after = object.__new__(type(self))
        after.weights = weights / weights.sum()
        after._table, after._groups, after._values = self._table, self._groups, self._values
        after._ensemble = self._ensemble
        fields = dict(self._fields)
        if "target" in fields:
            fields["target"] = fields["target"].reweighted(weights)
        Predictive.__init__(after, len(self), random_state=self.seed, **fields)
        after.asked = self.asked
        return after


class _Table:
    """The draws' probabilities and entropies, shared by a predictive and all its what-ifs.

    Outcomes come first in memory: logarithms and sums then run along the long axes.
    """

    def __init__(self, probabilities: ArrayLike | Callable[[], ArrayLike], k: int, m: int | None, c: int) -> None:
        self._stated: ArrayLike | Callable[[], ArrayLike] | None = probabilities
        self._k, self._c = k, c
        self._planes: np.ndarray | None = None
        self._entropies: np.ndarray | None = None
        if callable(probabilities):
            if m is None:
                raise ValueError("n_candidates is needed where probabilities is a function.")
            self.n_candidates = int(m)
        else:
            self.n_candidates = np.shape(probabilities)[1] if np.ndim(probabilities) == 3 else -1
            _ = self.planes  # a wrong table is refused where it is stated

    @property
    def planes(self) -> np.ndarray:
        """(c, k, m) probabilities."""
        if self._planes is None:
            table: np.ndarray = np.asarray(self._stated() if callable(self._stated) else self._stated, dtype=float)
            expected = (self._k, self.n_candidates, self._c)
            if table.shape != expected:
                wanted = f"({self._k} draws, m candidates, {self._c} outcomes)"
                raise ValueError(f"probabilities must have shape {wanted}, got {table.shape}.")
            planes = np.moveaxis(table, 2, 0)
            if not planes.flags.c_contiguous:
                planes = np.empty(planes.shape)
                for part in _parts(planes):
                    planes[:, part] = np.moveaxis(table[part], 2, 0)
            if planes.size and not (planes.min() >= -1e-9 and all(_add_up(planes[:, part]) for part in _parts(planes))):
                raise ValueError(
                    "probabilities must be >= 0 and add up to 1 over the outcomes, for every draw and candidate."
                )
            self._planes, self._stated = planes, None
        return self._planes

    @property
    def values(self) -> np.ndarray:
        """(k, m, c) probabilities."""
        return np.moveaxis(self.planes, 0, 2)

    def replaced(self, columns: np.ndarray, values: np.ndarray) -> _Table:
        """The same table but for some candidates, of whom the draws say something else."""
        other = object.__new__(_Table)
        other._stated, other._k, other._c, other.n_candidates = None, self._k, self._c, self.n_candidates
        other._planes, other._entropies = self.planes.copy(), self.entropies.copy()
        other._planes[:, :, columns], other._entropies[:, columns] = np.moveaxis(values, 2, 0), entropy(values)
        return other

    @property
    def entropies(self) -> np.ndarray:
        """(k, m) entropy of the outcome given the draw."""
        if self._entropies is None:
            self._entropies = _entropies(self.planes)
        return self._entropies


def _parts(planes: np.ndarray) -> Iterator[slice]:
    """Yield slices of draws of which a plane stays in cache."""
    size = max(1, IN_CACHE // max(planes.shape[2], 1))
    yield from (slice(start, start + size) for start in range(0, planes.shape[1], size))


def _add_up(planes: np.ndarray) -> bool:
    total = planes[0] - 1.0
    for plane in planes[1:]:
        total += plane
    return bool(total.max() < 1e-6 and total.min() > -1e-6)


def _entropies(planes: np.ndarray) -> np.ndarray:
    """Return - sum_c p_c log p_c (k, m) of planes (c, k, m)."""
    found = np.zeros(planes.shape[1:])
    for part in _parts(planes):
        for plane in planes[:, part]:
            logs = np.maximum(plane, np.finfo(float).tiny)
            np.log(logs, out=logs)
            logs *= plane
            found[part] -= logs
    return found


def _probabilities(predictive: WeightedDraws) -> np.ndarray:
    return np.stack([predictive.weights @ plane for plane in predictive._table.planes], axis=-1)


def _expected_entropy(predictive: WeightedDraws) -> np.ndarray:
    """Return E H(y | target): of each draw, or of the mixture of all draws that agree on the target."""
    if predictive._groups is None:
        return predictive.weights @ predictive._table.entropies
    return _shares(predictive) @ _entropies(_mixtures(predictive))


def _groups(values: np.ndarray) -> tuple[np.ndarray, np.ndarray] | None:
    """Return the order that brings draws of equal target together, and where each value starts; None if all differ."""
    if values.shape[1] == 1 and values.dtype.kind in "biu":  # numbers of cells, mostly
        codes = values[:, 0]
    else:
        codes = np.unique(values, axis=0, return_inverse=True)[1].ravel()
    order = np.argsort(codes, kind="stable")
    first = np.ones(len(codes), dtype=bool)
    first[1:] = codes[order[1:]] != codes[order[:-1]]
    starts = np.flatnonzero(first)
    return None if len(starts) == len(values) else (order, starts)


def _shares(predictive: WeightedDraws) -> np.ndarray:
    """Return the probabilities of the target's values."""
    if predictive._groups is None:
        return predictive.weights
    order, starts = predictive._groups
    return np.add.reduceat(predictive.weights[order], starts)


def _mixtures(predictive: WeightedDraws) -> np.ndarray:
    """Return p(outcome | value of the target), (c, g, m)."""
    assert predictive._groups is not None
    order, starts = predictive._groups
    shares = _shares(predictive)
    within = predictive.weights[order] / np.repeat(
        np.where(shares > 0, shares, 1.0), np.diff(starts, append=len(order))
    )
    of_values = sparse.csr_array((within, order, np.append(starts, len(order))), shape=(len(starts), len(order)))
    return np.stack([of_values @ plane for plane in predictive._table.planes])


def _target_entropy(predictive: WeightedDraws) -> float:
    return float(entropy(_shares(predictive)))


def _expected_target_entropy(predictive: WeightedDraws) -> np.ndarray:
    """Return sum_y p(y) H(target | y) = H(target) + E H(y | target) - H(y)."""
    joint = predictive.target_entropy + predictive.expected_entropy
    return np.maximum(joint - entropy(predictive.probabilities), 0.0)


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
