"""Predictions of a particle estimator about outcomes: means, intervals, log probabilities, draws."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from scipy.special import logsumexp

from adaptive import checks
from adaptive.estimators.particles.count_noise import CountNoise
from adaptive.estimators.particles.discrete import DiscreteParticles, listed, outcome_table
from adaptive.estimators.particles.inference.cloud import Cloud
from adaptive.estimators.particles.likelihood import joined, row_blocks

if TYPE_CHECKING:
    from adaptive.estimators.particles.belief import ParticleBelief
    from adaptive.estimators.particles.settings import CloudSettings

    Belief: TypeAlias = ParticleBelief[CloudSettings]

__all__ = ["drawn", "interval", "log_predictive", "means", "probabilities"]


def means(belief: Belief, X: np.ndarray, return_std: bool) -> np.ndarray | tuple[np.ndarray, np.ndarray]:
    """Return mean outcomes at settings X, with ``return_std`` also the standard deviations of the means."""
    settings, cloud = belief.settings, belief.posterior
    if settings.model is not None:
        parts = [_moments(belief, X[part]) for part in row_blocks(len(cloud), len(X))]
        mean, deviation = (np.concatenate(found) for found in zip(*parts, strict=True))
        if _is_complex(settings, cloud.values, X):
            mean, deviation = joined(mean), joined(deviation)
        if mean.shape[1] == 1:
            mean, deviation = mean[:, 0], deviation[:, 0]
        return (mean, deviation) if return_std else mean
    predictive = belief.predictive(X)
    if settings.interval is not None:
        return (predictive.mean, np.sqrt(predictive.variance)) if return_std else predictive.mean
    outcomes = predictive.outcomes
    if outcomes.dtype.kind not in "biuf":
        if return_std:
            raise ValueError("return_std must be False where outcomes are labels, which have no deviation.")
        return outcomes[predictive.probabilities.argmax(axis=1)]
    assert isinstance(predictive, DiscreteParticles)
    each = predictive.blockwise(lambda draws: (draws.draws()[1] @ outcomes.astype(float)).T)  # (m, k)
    mean = each @ cloud.weights
    if not return_std:
        return mean
    return mean, np.sqrt(np.square(each - mean[:, None]) @ cloud.weights)


def _moments(belief: Belief, X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    cloud = belief.posterior
    each = belief.settings.likelihood.moments(cloud.values, X)[0]
    mean = np.tensordot(cloud.weights, each, axes=1)
    return mean, np.sqrt(np.tensordot(cloud.weights, np.square(each - mean), axes=1))


def _is_complex(settings: CloudSettings, values: np.ndarray, X: np.ndarray) -> bool:
    return bool(len(X)) and settings.likelihood.channels(values[:1], X[:1])[1]


def probabilities(belief: Belief, X: np.ndarray) -> np.ndarray:
    """Return p(outcome) (m, c) of the outcomes listed."""
    if belief.settings.known_outcomes is None:
        raise ValueError("predict_proba needs outcomes, the list of values that a discrete outcome may take.")
    return belief.predictive(X).probabilities


def interval(belief: Belief, X: np.ndarray, level: float) -> tuple[np.ndarray, np.ndarray]:
    """Return low and high (m,) between which the outcome lies with at least this probability."""
    checks.share("level", level)
    predictive: Any = belief.predictive(X)  # of numbers they have quantiles
    tails = np.array([0.5 - 0.5 * level, 0.5 + 0.5 * level])
    if belief.settings.known_outcomes is None:
        if getattr(predictive, "channels", 1) > 1:
            kind = "complex numbers" if predictive.complex else f"{predictive.channels} channels"
            raise ValueError(f"interval is for one channel of real numbers, but model returns {kind}.")
        low, high = predictive.quantiles(tails)
        return low, high
    outcomes = predictive.outcomes
    if outcomes.dtype.kind not in "biuf":
        raise ValueError("interval needs outcomes that are numbers; for labels use predict_proba.")
    order = np.argsort(outcomes)
    below = np.cumsum(predictive.probabilities[:, order], axis=1)
    at_low = (below <= tails[0] * (1 - 1e-12)).sum(axis=1)
    at_high = np.minimum((below < tails[1] * (1 - 1e-12)).sum(axis=1), len(order) - 1)
    return outcomes[order[at_low]], outcomes[order[at_high]]


def log_predictive(belief: Belief, X: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return log p(y_j) (m,) of each outcome by itself."""
    if len(X) != len(y):
        raise ValueError(f"y must hold one outcome per setting, got {len(y)} for {len(X)} rows of X.")
    cloud = belief.posterior
    found = [
        logsumexp(belief.settings.likelihood.of_rows(cloud.values, X[part], y[part]), b=cloud.weights[:, None], axis=0)
        for part in row_blocks(len(cloud), len(X))
    ]
    return np.concatenate(found)


def drawn(settings: CloudSettings, values: np.ndarray, X: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return outcomes (n, m), or (n, m, c), of parameters (n, d) at settings X (m, f).

    Parameters
    ----------
    settings : CloudSettings
        With a model and its noise, or outcomes that are listed or lie in an interval.
    """
    if isinstance(settings.likelihood, CountNoise):
        return settings.likelihood.sample(values, X, rng)
    if settings.model is not None:
        means, deviations = settings.likelihood.moments(values, X)
        found = means + deviations * rng.standard_normal(means.shape)
        found = joined(found) if _is_complex(settings, values, X) else found
        return found[:, :, 0] if found.shape[2] == 1 else found
    cloud = Cloud(settings.stated_prior.names, values, np.full(len(values), -np.log(len(values))))
    outcomes, width = listed(settings)
    below = np.cumsum(outcome_table(settings, cloud, X), axis=2)
    chosen = (below < rng.random((len(values), len(X), 1)) * below[:, :, -1:]).sum(axis=2)
    found = outcomes[chosen]
    if settings.interval is not None:
        found = found + width * (rng.random(found.shape) - 0.5)
    return found
