"""Derivations of fields of a predictive from other fields.

    probabilities     = E p(y | s)            by the likelihood family, else the weighted mean of the draws
    outcome_entropy   = H(y)                  by the likelihood family, else  - sum_c p_c log p_c
    expected_entropy  = E H(y | target)       by the likelihood family, else the weighted mean entropy of the draws
    expected_target_entropy (i)               = sum_y p(y_i) H(target | y_i), one ``given`` each: for short lists

The table at the end lists for each field the ways to it, in the order in which they are tried.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from adaptive.predictive.conditional_variance import is_gaussian, noise_variance, variances_after

if TYPE_CHECKING:
    from adaptive.predictive.base import Predictive

__all__ = ["WAYS", "Way", "entropy", "family_entropies", "likely"]


class Way(NamedTuple):
    """One way to derive a field: the fields it needs, the function of the predictive, and when it applies.

    A field that is a function has its arguments behind the predictive.
    """

    needs: tuple[str, ...]
    compute: Callable[..., Any]
    when: Callable[[Any], bool] = lambda predictive: True


def entropy(probabilities: np.ndarray) -> np.ndarray:
    """Return - sum_c p_c log p_c over the last axis, nats.

    NumPy's logarithm takes several numbers at once, and a contraction sums along an axis of two four times as fast as a
    sum does.
    """
    probabilities = np.asarray(probabilities, dtype=float)
    logs = np.maximum(probabilities, np.finfo(float).tiny)
    np.log(logs, out=logs)
    return 0.0 - np.einsum("...c,...c->...", probabilities, logs)


def _is_discrete(predictive: Predictive) -> bool:
    return bool(predictive.likelihood.discrete)


def family_entropies(predictive: Predictive, which: int) -> np.ndarray:
    """Return H(y) or E H(y | s) by the likelihood family, both from one pass where the family computes them so."""
    family = predictive.likelihood
    if hasattr(family, "outcome_averages"):
        return _outcome_averages(predictive)[1 + which]
    if not hasattr(family, "entropies"):
        method = family.expected_outcome_entropy if which else family.outcome_entropy
        return method(predictive.mean, predictive.variance)
    both = predictive.kept("_entropies", lambda: family.entropies(predictive.mean, predictive.variance)[1:])
    return both[which]


def _outcome_averages(predictive: Predictive) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the probability of the second of two outcomes and both entropies, from one pass and kept together."""
    family: Any = predictive.likelihood
    return predictive.kept("_averages", lambda: family.outcome_averages(predictive.mean, predictive.variance))


def _outcome_table(predictive: Predictive) -> tuple[np.ndarray, np.ndarray]:
    """Return outcomes and probabilities by quadrature, computed together and kept together."""
    if hasattr(predictive.likelihood, "outcome_averages"):
        probability = _outcome_averages(predictive)[0]
        return np.array(predictive.likelihood.outcomes), np.stack([1.0 - probability, probability], axis=-1)
    return predictive.kept(
        "_outcome_table", lambda: predictive.likelihood.outcome_probabilities(predictive.mean, predictive.variance)
    )


def _drawn(predictive: Predictive) -> tuple[np.ndarray, np.ndarray]:
    """Return the default draws, made once."""
    return predictive.kept("_default_draws", predictive.draws)


def _mean_over_draws(predictive: Predictive, function: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
    weights, probabilities = _drawn(predictive)
    return np.tensordot(weights, function(probabilities), axes=1)


def _default_outcomes(predictive: Predictive) -> np.ndarray:
    return np.arange(predictive.probabilities.shape[1])


def _gaussian_log_determinant(predictive: Predictive) -> tuple[np.ndarray, np.ndarray]:
    values = np.log1p(predictive.variance / noise_variance(predictive.likelihood))
    return values, np.zeros_like(values)


def _expected_variance(predictive: Predictive) -> np.ndarray:
    probabilities, variances = variances_after(predictive)
    return np.einsum("ij,ij->i", probabilities, variances)


def _given_by_draws(predictive: Predictive, i: int, outcome: Any = None) -> Predictive:
    return predictive.kept("_as_draws", lambda: _as_draws(predictive)).given(i, outcome)


def _as_draws(predictive: Predictive) -> Predictive:
    from adaptive.predictive.weighted_draws import WeightedDraws  # house: a what-if is itself a predictive

    target = predictive.target if predictive.provides("target") else None
    if target is not None:
        target = WeightedDraws(*_drawn(target), target.outcomes)
    return WeightedDraws(*_drawn(predictive), predictive.outcomes, target=target, random_state=predictive.seed)


def likely(outcomes: Iterable[Any], probabilities: np.ndarray) -> list[tuple[Any, float]]:
    """Return the outcomes that have a probability, and these, normalised."""
    probabilities = probabilities / probabilities.sum()
    return [(y, float(p)) for y, p in zip(outcomes, probabilities, strict=True) if p > 1e-12]


def _expected_target_entropy(predictive: Predictive) -> np.ndarray:
    values = np.empty(len(predictive))
    for i in range(len(predictive)):
        outcomes: Any = predictive.likely_outcomes(i)
        values[i] = sum(p * predictive.given(i, y).target_entropy for y, p in outcomes)
    return values


WAYS: dict[str, tuple[Way, ...]] = {
    "outcomes": (
        Way(("mean", "variance", "likelihood"), lambda p: _outcome_table(p)[0], _is_discrete),
        Way(("probabilities",), _default_outcomes),
    ),
    "probabilities": (
        Way(("mean", "variance", "likelihood"), lambda p: _outcome_table(p)[1], _is_discrete),
        Way(("draws",), lambda p: _mean_over_draws(p, lambda table: table)),
    ),
    "outcome_entropy": (
        Way(("mean", "variance", "likelihood"), lambda p: family_entropies(p, 0)),
        Way(("probabilities",), lambda p: entropy(p.probabilities)),
    ),
    "expected_entropy": (
        Way(("mean", "variance", "likelihood"), lambda p: family_entropies(p, 1)),
        Way(("draws",), lambda p: _mean_over_draws(p, entropy)),
    ),
    "expected_variance": (Way(("mean", "variance", "likelihood"), _expected_variance),),
    "explained_variance": (Way(("variance",), lambda p: p.variance),),
    "log_determinant": (
        Way(("variance", "likelihood"), _gaussian_log_determinant, lambda p: is_gaussian(p.likelihood)),
    ),
    "given": (Way(("draws",), _given_by_draws),),
    "target_deviation": (Way(("target_variance",), lambda p: np.sqrt(np.diagonal(p.target_variance))),),
    "expected_target_entropy": (Way(("given", "probabilities", "target_entropy"), _expected_target_entropy),),
}
