"""Surprise of an outcome: the probability, under a predictive, of one at least as far out.

    discrete      P{ y' : p(y') <= p(y) }
    Gaussian      2 min(F(y), 1 - F(y)),   F the distribution of the mixture over the predictive's components

If the model is right the second is uniform on (0, 1), answer after answer (Dawid 1984, "prequential" forecasts); the
first is at least as large, for a discrete outcome cannot be spread evenly.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.special import ndtr

from adaptive.predictive.conditional_variance import is_gaussian, noise_variance

if TYPE_CHECKING:
    from adaptive.predictive.base import Predictive

__all__ = ["tail_of_mixture", "tail_probability"]


def tail_probability(predictive: Predictive, i: int, outcome: object) -> float | None:
    """Return the probability of an outcome at least as surprising at candidate ``i``; None where it is not known.

    Parameters
    ----------
    predictive : Predictive
        With ``probabilities``, or with components whose outcome is a projection plus Gaussian noise.
    i : int
    outcome : one of ``predictive.outcomes``, or a number
    """
    if predictive.provides("probabilities"):
        p = predictive.probabilities[i]
        happened = np.array([bool(known == outcome) for known in predictive.outcomes])
        own = float(p[happened].sum())
        return float(min(1.0, p[p <= own * (1 + 1e-9)].sum())) if own > 0 else 0.0
    parts = predictive.components
    needed = ("mean", "variance", "likelihood")
    if np.asarray(outcome).ndim or not all(part.provides(name) for _, part in parts for name in needed):
        return None
    if not all(is_gaussian(part.likelihood) for _, part in parts):
        return None
    weights = np.array([weight for weight, _ in parts])
    means = np.array([part.mean[i] for _, part in parts])
    noise = [np.broadcast_to(noise_variance(part.likelihood), (len(predictive),))[i] for _, part in parts]
    variances = np.array([part.variance[i] for _, part in parts]) + noise
    return tail_of_mixture(weights, means, np.sqrt(variances), float(np.asarray(outcome)))


def tail_of_mixture(weights: np.ndarray, means: np.ndarray, deviations: np.ndarray, outcome: float) -> float:
    """Return 2 min(F(y), 1 - F(y)) of  F = sum_k w_k N(m_k, d_k^2), weights adding up to 1.

    Examples
    --------
    >>> round(tail_of_mixture(np.ones(1), np.zeros(1), np.ones(1), 1.96), 3)
    0.05
    """
    z = (outcome - means) / deviations
    return float(min(1.0, 2.0 * min(weights @ ndtr(z), weights @ ndtr(-z))))
