"""One of several predictives is right, and it is not known which: hyper-parameters integrated over nodes.

    p(y_i) = sum_k w_k p_k(y_i),        w_k | y_i  =  w_k p_k(y_i) / p(y_i),

after which every component is its own ``given``. Which component is right counts among the unknowns, so that an
information is  H(sum_k w_k p_k) - sum_k w_k E_k H(y | target):  what an outcome says about the weights of the
components, and within each about its target. The target's moments are those of the mixture: the mean covariance of the
components, and how their means differ; what an outcome does to them is in :mod:`adaptive.predictive.expected_updates`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import ndtr

from adaptive import checks
from adaptive.predictive import target_information as about_target
from adaptive.predictive.base import Predictive
from adaptive.predictive.conditional_variance import is_gaussian, noise_variance
from adaptive.predictive.derivations import Way, entropy
from adaptive.predictive.expected_updates import expected_variance, target_shifts

if TYPE_CHECKING:
    from adaptive.types import ArrayLike, Index, RandomState

__all__ = ["Mixture"]

N_DRAWS = 1024  # joint draws of all components together, where their number is not given
_REACH = 8.0  # standard deviations to which densities are integrated
_PER_DEVIATION = 4  # grid points per standard deviation of the narrowest component
_MOST_POINTS = 4096


class Mixture(Predictive):
    """Predictive of m candidates by weighted components, each a predictive of the same candidates.

    The moments are those of the mixture; it has no ``likelihood`` of its own, for its projections are not Gaussian.

    Parameters
    ----------
    weights : (k,) array of float
        Probabilities of the components, up to a factor.
    predictives : sequence of k Predictives
        With the same outcomes.
    random_state : None, int, Generator or RandomState
        Seed of draws.

    Raises
    ------
    ValueError
        If there is no component, weights are not as many, negative or all zero, or the components speak about
        different numbers of candidates (or, once they are asked for, of different outcomes).

    Examples
    --------
    A coin that is fair or two-headed, as a mixture of two beliefs that are sure.

    >>> fair = Predictive(1, outcomes=["tail", "head"], probabilities=[[0.5, 0.5]], expected_entropy=[np.log(2)])
    >>> heads = Predictive(1, outcomes=["tail", "head"], probabilities=[[0.0, 1.0]], expected_entropy=[0.0])
    >>> either = Mixture([0.5, 0.5], [fair, heads])
    >>> either.probabilities, (either.outcome_entropy - either.expected_entropy).round(3)
    (array([[0.25, 0.75]]), array([0.216]))
    """

    def __init__(
        self, weights: ArrayLike, predictives: Sequence[Predictive], *, random_state: RandomState = None
    ) -> None:
        self.weights = checks.finite("weights", weights)
        self.predictives = tuple(predictives)
        if self.weights.shape != (len(self.predictives),) or not self.predictives:
            raise ValueError(
                f"weights must be one for each of the predictives, at least one: got shape {self.weights.shape} for "
                f"{len(self.predictives)}."
            )
        total = self.weights.sum()
        if total <= 0 or self.weights.min() < 0:
            raise ValueError(f"weights must be >= 0 and not all 0, got {self.weights.tolist()}.")
        self.weights = self.weights / total
        lengths = {len(predictive) for predictive in self.predictives}
        if len(lengths) > 1:
            raise ValueError(f"predictives must speak about the same candidates, got {sorted(lengths)} of them.")
        super().__init__(lengths.pop(), random_state=random_state)

    @property
    def components(self) -> list[tuple[float, Predictive]]:
        """[(weight, predictive)]: those that one of which is right."""
        return [(float(w), p) for w, p in zip(self.weights, self.predictives, strict=True)]

    @property
    def only_draws(self) -> bool:
        """Return whether its components have nothing else."""
        return all(predictive.only_draws for predictive in self.predictives)

    def _provides(self, name: str) -> bool:
        if name in ("given", "draws", "covariance"):
            return all(predictive.provides(name) for predictive in self.predictives)
        return super()._provides(name)

    def average(self, function: Callable[[Predictive], Any]) -> Any:
        """Return sum_k w_k function(component k)."""
        total: Any = 0.0
        for weight, predictive in self.components:
            total = total + weight * function(predictive)
        return total

    def covariance(self, i: ArrayLike, j: ArrayLike) -> np.ndarray:
        """Return the covariance (len i, len j) of the projections, which includes how the components' means differ."""
        i, j = np.atleast_1d(i), np.atleast_1d(j)
        mean = self.mean

        def second(predictive: Predictive) -> np.ndarray:
            apart = predictive.mean - mean
            return predictive.covariance(i, j) + np.multiply.outer(apart[i], apart[j])

        return self.average(second)

    def target_block(self, i: Index) -> np.ndarray:
        """Return the covariance of the projections of candidates ``i`` with every target component."""

        def second(predictive: Predictive) -> np.ndarray:
            apart = (predictive.mean - self.mean)[i], predictive.target_mean - self.target_mean
            return predictive.target_block(i) + np.multiply.outer(*apart)

        return self.average(second)

    def target_shifts(self, i: Index) -> np.ndarray:
        return target_shifts(self, i)

    def draws(self, n: int | None = None) -> tuple[np.ndarray, np.ndarray]:
        """Return weights (k,) and p(outcome | draw) (k, m, c); some draws of each component, with its weight.

        ``n`` is how many about (None: 1024, or all there are where the components' draws are a list).
        """
        each = n
        if len(self.predictives) > 1 and (n is not None or self.predictives[0].provides("likelihood")):
            each = max(2, -(-(N_DRAWS if n is None else n) // len(self.predictives)))
        drawn = [(weight, *predictive.draws(each)) for weight, predictive in self.components]
        weights = np.concatenate([weight * of_draws for weight, of_draws, _ in drawn])
        return weights, np.concatenate([_padded(table, len(self.outcomes)) for _, _, table in drawn])

    def quantiles(self, probabilities: ArrayLike) -> np.ndarray:
        """Return quantiles (len probabilities, m) of the projections, to 1e-10 of their scale.

        Parameters
        ----------
        probabilities : (q,) array of numbers in (0, 1)

        Examples
        --------
        >>> one, other = (Predictive(1, mean=[m], variance=[1e-12]) for m in (0.0, 1.0))
        >>> Mixture([0.7, 0.3], [one, other]).quantiles([0.5, 0.9]).round(5).ravel() + 0.0
        array([0., 1.])
        """
        levels = np.atleast_1d(np.asarray(probabilities, dtype=float))[:, None]
        if not np.all((levels > 0) & (levels < 1)):
            raise ValueError("probabilities must lie between 0 and 1.")
        means = np.stack([predictive.mean for predictive in self.predictives])
        deviations = np.sqrt(np.maximum(np.stack([predictive.variance for predictive in self.predictives]), 1e-300))
        low = np.repeat((means - 40 * deviations).min(axis=0)[None], len(levels), axis=0)
        high = np.repeat((means + 40 * deviations).max(axis=0)[None], len(levels), axis=0)
        for _ in range(48):  # halves
            middle = 0.5 * (low + high)
            below = sum(w * ndtr((middle - m) / s) for w, m, s in zip(self.weights, means, deviations, strict=True))
            low, high = np.where(below < levels, middle, low), np.where(below < levels, high, middle)
        return 0.5 * (low + high)

    def outcome_probability(self, i: int, outcome: Any) -> float:
        """Return the probability (density) of ``outcome`` at candidate ``i``."""
        return float(self.average(lambda predictive: predictive.outcome_probability(i, outcome)))

    def likely_outcomes(self, i: int) -> list[tuple[Any, float]] | None:
        """Return [(outcome, probability)] of candidate ``i``: those of the components, or None where none matters.

        Whether scores were asked for before makes no difference: theirs come from a table.
        """
        parts = [(weight, predictive.likely_outcomes(i)) for weight, predictive in self.components]
        if any(outcomes is None for _, outcomes in parts):
            return None
        total: dict[Any, float] = {}
        for weight, outcomes in parts:
            for outcome, p in outcomes or ():
                total[outcome] = total.get(outcome, 0.0) + weight * p
        return list(total.items())

    def given(self, i: int, outcome: Any = None) -> Predictive:
        """Return the mixture had candidate ``i`` been measured: components weighted anew, each with its what-if.

        A Gaussian outcome that is not known yet leaves the weights as they are, which is their mean.
        """
        i = range(len(self))[i]
        if outcome is None:
            if self.provides("probabilities"):
                raise self._unknown(i)
            return self._with(self.weights, [predictive.given(i) for predictive in self.predictives])
        likely = np.array([predictive.outcome_probability(i, outcome) for predictive in self.predictives])
        weights = self.weights * likely
        if not weights.sum() > 0:
            raise ValueError(f"outcome {outcome!r} of candidate {i} has probability 0 under every component.")
        possible = np.flatnonzero(weights)
        return self._with(weights[possible], [self.predictives[k].given(i, outcome) for k in possible])

    def _with(self, weights: np.ndarray, predictives: Sequence[Predictive]) -> Mixture:
        after = Mixture(weights, predictives, random_state=self.seed)
        after.asked = self.asked
        return after


def _has(name: str) -> Callable[[Mixture], bool]:
    return lambda mixture: all(predictive.provides(name) for predictive in mixture.predictives)


def _is_one(mixture: Mixture) -> bool:
    return len(mixture.predictives) == 1


def _first(name: str) -> Callable[[Mixture], Any]:
    return lambda mixture: getattr(mixture.predictives[0], name)


def _padded(table: np.ndarray, n_outcomes: int) -> np.ndarray:
    """Counts may be cut off at different lengths."""
    return np.pad(table, [(0, 0)] * (table.ndim - 1) + [(0, n_outcomes - table.shape[-1])])


def _outcomes(mixture: Mixture) -> np.ndarray:
    """Those of the components, of counts the longest list; the others have to begin it."""
    lists = [predictive.outcomes for predictive in mixture.predictives]
    longest = max(lists, key=len)
    for one in lists:
        if not np.array_equal(one, longest[: len(one)]):
            raise ValueError(f"predictives must have the same outcomes, got {list(one)} and {list(longest)}.")
    return longest


def _probabilities(mixture: Mixture) -> np.ndarray:
    n_outcomes = len(mixture.outcomes)
    return mixture.average(lambda predictive: _padded(predictive.probabilities, n_outcomes))


def _mean(mixture: Mixture) -> np.ndarray:
    return mixture.average(lambda predictive: predictive.mean)


def _variance(mixture: Mixture) -> np.ndarray:
    mean = mixture.mean
    return mixture.average(lambda predictive: predictive.variance + np.square(predictive.mean - mean))


def _target_variance(mixture: Mixture) -> np.ndarray:
    mean = mixture.target_mean

    def second(predictive: Predictive) -> np.ndarray:
        apart = predictive.target_mean - mean
        return predictive.target_variance + np.multiply.outer(apart, apart)

    return mixture.average(second)


def _explained_variance(mixture: Mixture) -> np.ndarray:
    """All of the variance where the target decides the projections; else what is linear in it."""
    if all(np.array_equal(p.explained_variance, p.variance) for p in mixture.predictives):
        return mixture.variance
    return about_target.explained_variance(mixture)


def _target(mixture: Mixture) -> Mixture:
    return Mixture(mixture.weights, [p.target for p in mixture.predictives], random_state=mixture.seed)


def _are_gaussian(mixture: Mixture) -> bool:
    return all(p.provides("likelihood") and is_gaussian(p.likelihood) for p in mixture.predictives)


def _entropy_of_densities(mixture: Mixture) -> np.ndarray:
    """H of  sum_k w_k N(y | m_k, v_k + noise)  by the trapezoidal rule, fine enough for the narrowest component."""
    if len(mixture.predictives) == 1:
        return mixture.predictives[0].outcome_entropy
    means = np.stack([p.mean for p in mixture.predictives])
    deviations = np.sqrt(np.stack([p.variance + noise_variance(p.likelihood) for p in mixture.predictives]))
    low, high = (means - _REACH * deviations).min(axis=0), (means + _REACH * deviations).max(axis=0)
    needed = _PER_DEVIATION * float(np.max((high - low) / deviations.min(axis=0), initial=0.0))
    shares = np.linspace(0.0, 1.0, int(min(needed, _MOST_POINTS)) + 2)
    total, nothing = np.zeros(len(mixture)), np.finfo(float).tiny
    for share in shares:  # a point of every candidate's grid at a time, for memory
        z = (low + share * (high - low) - means) / deviations
        density = mixture.weights @ (np.exp(-0.5 * np.square(z)) / (np.sqrt(2 * np.pi) * deviations))
        total -= density * np.log(np.maximum(density, nothing))
    return total * (high - low) * (shares[1] - shares[0])


def _are_located(mixture: Mixture) -> bool:
    families = [p.likelihood for p in mixture.predictives if p.provides("likelihood")]
    return len(families) == len(mixture.predictives) and all(
        hasattr(one, "outcome_log_density") and one.size is None and "scale" in one.parameters for one in families
    )


def _entropy_of_located(mixture: Mixture) -> np.ndarray:
    """H of  sum_k w_k p_k(y)  by the trapezoidal rule, y sinh-spaced about the mean: noise may have heavy tails."""
    families: list[Any] = [p.likelihood for p in mixture.predictives]
    means, variances = (np.stack([getattr(p, name) for p in mixture.predictives]) for name in ("mean", "variance"))
    scales = np.array([float(one.spread) for one in families])
    units = np.sqrt(variances + scales[:, None] ** 2)
    centre, least, most = mixture.weights @ means, units.min(axis=0), units.max(axis=0)
    apart = np.max(np.abs(means - centre), axis=0)
    end = np.arcsinh((apart + most * np.sinh(min(max(one.tail for one in families), 40.0))) / least)  # (m,)
    needed = _PER_DEVIATION * 2.0 * float(np.max(end * (1.0 + apart / least), initial=0.0))
    shares = np.linspace(-1.0, 1.0, int(np.clip(needed, 128, _MOST_POINTS)) + 1)
    total, nothing = np.zeros(len(mixture)), np.finfo(float).tiny
    for share in shares:  # a point of every candidate's grid at a time, for memory
        y = centre + least * np.sinh(share * end)
        logs = [one.outcome_log_density(y, m, v) for one, m, v in zip(families, means, variances, strict=True)]
        density = mixture.weights @ np.exp(logs)
        total -= density * np.log(np.maximum(density, nothing)) * least * np.cosh(share * end)
    return total * end * (shares[1] - shares[0])


Mixture.ways = {
    "outcomes": (Way((), _outcomes, _has("outcomes")),),
    "probabilities": (Way((), _probabilities, _has("probabilities")),),
    "mean": (Way((), _mean, _has("mean")),),
    "variance": (Way(("mean",), _variance, _has("variance")),),
    "outcome_entropy": (
        Way((), _first("outcome_entropy"), _is_one),
        Way(("probabilities",), lambda mixture: entropy(mixture.probabilities)),
        Way(("mean", "variance"), _entropy_of_densities, _are_gaussian),
        Way(("mean", "variance"), _entropy_of_located, _are_located),
    ),
    "expected_entropy": (
        Way((), lambda mixture: mixture.average(lambda p: p.expected_entropy), _has("expected_entropy")),
    ),
    "log_determinant": (
        Way((), lambda m: m.predictives[0].log_determinant(), lambda m: _is_one(m) and _has("log_determinant")(m)),
    ),
    "expected_variance": (
        Way((), expected_variance, lambda m: _has("likelihood")(m) and _has("expected_variance")(m)),
    ),
    "explained_variance": (Way((), _explained_variance, _has("explained_variance")),),
    "target": (Way((), _target, _has("target")),),
    "target_mean": (Way((), lambda mixture: mixture.average(lambda p: p.target_mean), _has("target_mean")),),
    "target_covariance": (
        Way(
            ("mean",),
            lambda m: m.target_block(slice(None)),
            lambda m: _has("target_covariance")(m) and _has("target_mean")(m),
        ),
    ),
    "target_variance": (Way(("target_mean",), _target_variance, _has("target_variance")),),
    "target_deviation": Predictive.ways["target_deviation"],
    "features": (Way((), _first("features"), _has("features")),),
    "measured": (Way((), _first("measured"), _has("measured")),),
}
