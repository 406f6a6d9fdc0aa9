"""Ends of bands: of mixtures of Gaussians, and of predictive counts, P(y <= k) = E P(y <= k | e rate(s)).

Beside them the probabilities of counts,  ln E p(y | e rate(s)).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import logsumexp

from adaptive.checks import finite, shape, share
from adaptive.potentials import quadrature
from adaptive.predictive import Mixture, StatedPredictive

if TYPE_CHECKING:
    from adaptive.potentials import Poisson, Potential
    from adaptive.potentials.negative_binomial import NegativeBinomial
    from adaptive.types import ArrayLike

__all__ = ["count_interval", "log_probabilities", "mixture_interval"]

_REACH = 8.0  # standard deviations of the projection


def log_probabilities(
    observe: Callable[[np.ndarray], Potential],
    mean: np.ndarray,
    variance: np.ndarray,
    y: ArrayLike,
    weights: np.ndarray | None = None,
) -> np.ndarray:
    """Return ln p(y) (m,) of counts, of projections with these moments (m,); ``observe`` makes potentials of counts.

    With ``weights`` (k,) the moments (k, m) are those of a mixture's parts.
    """
    counts = finite("y", y)
    shape("y", counts, mean.shape[-1:])
    observed = observe(counts)
    if weights is None:
        return observed.tilted_moments(mean, np.maximum(variance, 1e-300))[0]
    parts = [observed.tilted_moments(*moments)[0] for moments in zip(mean, np.maximum(variance, 1e-300), strict=True)]
    return logsumexp(np.array(parts), axis=0, b=weights[:, None])


def mixture_interval(
    mean: np.ndarray, variance: np.ndarray, level: float, weights: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the ends (m,) between which mixtures of Gaussians lie with the probability ``level``, as much beyond each.

    Parameters
    ----------
    mean, variance : (k, m) arrays
        Of the parts.
    level : float
        In (0, 1).
    weights : (k,) array
        Of the parts.
    """
    share("level", level)
    parts = [StatedPredictive(mean=m, variance=v) for m, v in zip(mean, variance, strict=True)]
    low, high = Mixture(weights, parts).quantiles([0.5 * (1.0 - level), 0.5 * (1.0 + level)])
    return low, high


def count_interval(
    family: Poisson | NegativeBinomial,
    mean: np.ndarray,
    variance: np.ndarray,
    level: float,
    weights: np.ndarray | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Return the counts (m,) below and above which less than (1 - level) / 2 of the probability lies.

    Parameters
    ----------
    family : Poisson or NegativeBinomial
        With one exposure, or one per projection.
    mean, variance : (m,) arrays, or (k, m)
        Of the projections; of the parts of a mixture.
    level : float
        In (0, 1).
    weights : (k,) array, optional
        Of the parts.
    """
    share("level", level)
    mean, variance = np.atleast_2d(mean), np.atleast_2d(variance)
    parts = np.ones(1) if weights is None else weights
    exposure = np.broadcast_to(family.exposure, mean.shape).ravel()

    def below(k: np.ndarray) -> np.ndarray:
        counts = np.tile(k, len(parts))

        def chance(s: np.ndarray, owner: np.ndarray) -> np.ndarray:
            return family.at_most(counts[owner], np.minimum(exposure[owner] * family.mean_rate(s), 1e15))

        return parts @ quadrature.gaussian_average(chance, mean, variance, family.kinks)

    with np.errstate(over="ignore"):
        most = np.minimum(exposure * family.mean_rate(mean + _REACH * np.sqrt(variance)).ravel(), 1e15)
    most = most.reshape(mean.shape).max(axis=0)
    ends = []
    for probability in (0.5 * (1.0 - level), 0.5 * (1.0 + level)):
        low, high = np.full(most.shape, -1.0), np.floor(most + 60.0 * family.deviation(most) + 30.0)
        while np.any(high - low > 1.0):  # P(y <= low) < probability <= P(y <= high)
            middle = np.floor(0.5 * (low + high))
            reached = below(middle) >= probability
            low, high = np.where(reached, low, middle), np.where(reached, middle, high)
        ends.append(high)
    return ends[0], ends[1]
