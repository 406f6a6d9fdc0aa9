"""Predictive counts: probabilities  ln E p(y | e rate(s)),  and quantiles  P(y <= k) = E P(y <= k | e rate(s))."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from adaptive.checks import finite, shape
from adaptive.potentials import quadrature

if TYPE_CHECKING:
    from adaptive.potentials import Poisson, Potential
    from adaptive.potentials.negative_binomial import NegativeBinomial
    from adaptive.types import ArrayLike

__all__ = ["count_interval", "log_probabilities"]

_REACH = 8.0  # standard deviations of the projection


def log_probabilities(
    observe: Callable[[np.ndarray], Potential], mean: np.ndarray, variance: np.ndarray, y: ArrayLike
) -> np.ndarray:
    """Return ln p(y) (m,) of counts, of projections with these moments (m,); ``observe`` makes potentials of counts."""
    counts = finite("y", y)
    shape("y", counts, (len(mean),))
    return observe(counts).tilted_moments(mean, np.maximum(variance, 1e-300))[0]


def count_interval(
    family: Poisson | NegativeBinomial, mean: np.ndarray, variance: np.ndarray, level: float
) -> tuple[np.ndarray, np.ndarray]:
    """Return the counts (m,) below and above which less than (1 - level) / 2 of the probability lies.

    Parameters
    ----------
    family : Poisson or NegativeBinomial
        With one exposure, or one per projection.
    mean, variance : (m,) arrays
        Of the projections.
    level : float
        In (0, 1).
    """
    if not 0.0 < level < 1.0:
        raise ValueError(f"level must lie between 0 and 1, got {level!r}.")
    exposure = np.broadcast_to(family.exposure, mean.shape)

    def below(k: np.ndarray) -> np.ndarray:
        def share(s: np.ndarray, owner: np.ndarray) -> np.ndarray:
            return family.at_most(k[owner], np.minimum(exposure[owner] * family.mean_rate(s), 1e15))

        return quadrature.gaussian_average(share, mean, variance, family.kinks)

    with np.errstate(over="ignore"):
        most = np.minimum(exposure * family.mean_rate(mean + _REACH * np.sqrt(variance)), 1e15)
    ends = []
    for probability in (0.5 * (1.0 - level), 0.5 * (1.0 + level)):
        low, high = np.full(mean.shape, -1.0), np.floor(most + 60.0 * family.deviation(most) + 30.0)
        while np.any(high - low > 1.0):  # P(y <= low) < probability <= P(y <= high)
            middle = np.floor(0.5 * (low + high))
            reached = below(middle) >= probability
            low, high = np.where(reached, low, middle), np.where(reached, middle, high)
        ends.append(high)
    return ends[0], ends[1]
