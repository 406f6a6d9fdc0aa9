"""What an outcome will leave of the variance of the projection that decides it.

    v'(y) = Var(s | y)  under  p(y | s) N(s | m, v),        expected variance = sum_y p(y) v'(y)

For Gaussian noise of variance n it is  v n / (v + n)  whatever the outcome; discrete outcomes are enumerated; for other
noise 64 outcomes stand for all, at the same places within the belief and with the same noise for every candidate.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import ndtri

__all__ = ["is_gaussian", "noise_variance", "variances_after"]

_OUTCOMES = 64


def is_gaussian(likelihood: Any) -> bool:
    """Return whether the outcome is the projection plus Gaussian noise."""
    return type(likelihood).__name__ == "Gaussian"


def noise_variance(likelihood: Any) -> Any:
    """Return the noise variance of a Gaussian likelihood, a scalar or one per candidate."""
    return likelihood.parameters["variance"]


def variances_after(predictive: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return probabilities (m, c) and variances (m, c) of the projections after each outcome, computed once.

    Parameters
    ----------
    predictive : Predictive
        With mean, variance and likelihood.
    """
    kept = predictive.__dict__.get("_variances_after")
    if kept is None:
        family, mean, variance = predictive.likelihood, predictive.mean, predictive.variance
        unknown = variance > 0  # where nothing is unknown nothing changes
        if is_gaussian(family):
            noise = noise_variance(family)
            kept = np.ones((len(mean), 1)), (variance * noise / (variance + noise))[:, None]
        elif family.discrete:
            after = [_tilted(family, np.full(len(mean), y), mean, variance, unknown) for y in predictive.outcomes]
            kept = predictive.probabilities, np.stack(after, axis=1)
        else:
            after = [
                _tilted(family, y, mean, variance, unknown) for y in _outcomes(family, mean, variance, predictive.seed)
            ]
            kept = np.full((len(mean), _OUTCOMES), 1.0 / _OUTCOMES), np.stack(after, axis=1)
        predictive.__dict__["_variances_after"] = kept
    return kept


def _tilted(family: Any, y: np.ndarray, mean: np.ndarray, variance: np.ndarray, unknown: np.ndarray) -> np.ndarray:
    if unknown.all():
        return family.observe(y).tilted_moments(mean, variance)[2]
    after = np.zeros(len(mean))
    if unknown.any():
        rows = np.flatnonzero(unknown)
        after[rows] = family[rows].observe(y[rows]).tilted_moments(mean[rows], variance[rows])[2]
    return after


def _outcomes(family: Any, mean: np.ndarray, variance: np.ndarray, seed: int) -> np.ndarray:
    """Return (64, m) outcomes of a location family."""
    generator = np.random.default_rng(seed)
    positions = ndtri(generator.permutation((np.arange(_OUTCOMES) + 0.5) / _OUTCOMES))
    if family.size is None:
        noise = family.sample(np.zeros(_OUTCOMES), random_state=generator)[:, None]
    else:  # one noise law per candidate, each from the same seed, so that no candidate depends on its neighbours
        laws = (family[i : i + 1] for i in range(len(mean)))
        noise = np.stack([law.sample(np.zeros(_OUTCOMES), random_state=seed) for law in laws], axis=1)
    return mean + np.sqrt(variance) * positions[:, None] + noise
