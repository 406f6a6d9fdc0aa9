"""Counts whose rate differs from one to the next:  T(s) = E_e Poisson(y | exposure rate(s + e)),  e ~ N(0, noise).

Every integral over a Gaussian of s is one of the Poisson potential over a wider one: with g ~ N(m, v) and f = g + e,

    log Z = log Z_Poisson(m, v + noise),    c = v / (v + noise),
    E(g | y) = m + c (E(f | y) - m),    Var(g | y) = v - c^2 (v + noise - Var(f | y))
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from adaptive import checks
from adaptive.potentials.likelihood import Likelihood
from adaptive.potentials.poisson import Poisson

if TYPE_CHECKING:
    from collections.abc import Callable

    from adaptive.types import ArrayLike, Number

__all__ = ["OverdispersedPoisson"]

_NODES, _WEIGHTS = np.polynomial.hermite_e.hermegauss(24)
_WEIGHTS = _WEIGHTS / _WEIGHTS.sum()


class OverdispersedPoisson(Likelihood):
    """T(s) = E Poisson(y | exposure rate(s + e)), e ~ N(0, noise): more variance than mean.

    Parameters
    ----------
    y : array (q,) of counts, or None
        Outcomes; None for the likelihood family.
    rate : "exp", "rectified" or "softplus"
    exposure : float or array (q,), default 1.0
    noise : float, default 1.0
        Variance of e, positive.

    Examples
    --------
    >>> family = OverdispersedPoisson(rate="exp", noise=0.5)
    >>> counts, p = family.outcome_probabilities([1.0], [0.2])
    >>> mean = float(p[0] @ counts)
    >>> float(p[0] @ (counts - mean) ** 2) > 2.0 * mean
    True
    """

    rate: str
    exposure: Number
    noise: float

    def __init__(
        self, y: ArrayLike | None = None, rate: str = "exp", exposure: ArrayLike = 1.0, noise: float = 1.0
    ) -> None:
        self.rate, self.noise = rate, float(checks.positive("noise", noise))
        self._set(exposure=Poisson(rate=rate, exposure=exposure).exposure)
        super().__init__(y)

    def _checked(self, y: ArrayLike) -> np.ndarray:
        return Poisson(rate=self.rate)._checked(y)

    def _options(self) -> dict[str, str]:
        return {"rate": self.rate, "noise": f"{self.noise:g}"}

    def plain(self, y: ArrayLike | None = None) -> Poisson:
        """Return the counts of one rate, f = s + e, with the outcome given or held."""
        y = self.y if y is None else np.asarray(y, dtype=float)
        return Poisson(rate=self.rate, exposure=self.exposure)._with(y=y)

    def log_density(self, s: ArrayLike, y: ArrayLike | None = None) -> np.ndarray:
        return self.plain(self._outcome(y)).tilted_moments(s, self.noise)[0]

    def derivatives(self, s: ArrayLike, y: ArrayLike | None = None) -> tuple[np.ndarray, np.ndarray]:
        _, mean, variance = self.plain(self._outcome(y)).tilted_moments(s, self.noise)
        return (mean - np.asarray(s, dtype=float)) / self.noise, (variance - self.noise) / self.noise**2

    def _tilted_moments(
        self, mean: np.ndarray, variance: np.ndarray, fraction: float
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        if fraction != 1.0:
            return super()._tilted_moments(mean, variance, fraction)
        wider = variance + self.noise
        log_normaliser, centre, spread = self.plain().tilted_moments(mean, wider)
        share = variance / wider
        return log_normaliser, mean + share * (centre - mean), variance - share**2 * (wider - spread)

    # -- rates ---------------------------------------------------------------------------------------------------------

    def mean_rate(self, s: ArrayLike) -> np.ndarray:
        """Return E_e rate(s + e) at the projections s, per unit of exposure."""
        s = np.asarray(s, dtype=float)
        return Poisson(rate=self.rate).expected_rate(s, np.full(s.shape, self.noise))

    def expected_rate(self, mean: ArrayLike, variance: ArrayLike) -> np.ndarray:
        """Return the mean count, s ~ N(mean, variance)."""
        return self.plain().expected_rate(mean, np.add(variance, self.noise))

    def expected_square(self, mean: ArrayLike, variance: ArrayLike) -> np.ndarray:
        """Return E (exposure mean_rate(s))^2, s ~ N(mean, variance)."""
        mean, variance = self._moments(mean, variance)
        return self.exposure * self.exposure * self._average(lambda s: self.mean_rate(s) ** 2, mean, variance)

    def _draw(self, s: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        return self.plain().sample(s + np.sqrt(self.noise) * rng.standard_normal(s.shape), rng)

    # -- likelihood family ---------------------------------------------------------------------------------------------

    def _moments(self, mean: ArrayLike, variance: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
        """Moments of candidates, one for each exposure where there are several."""
        return Poisson(rate=self.rate, exposure=self.exposure)._moments(mean, variance)

    @property
    def highest_projection(self) -> Number:
        """The projection about which drawn counts are half the largest that can be told."""
        return self.plain().highest_projection

    def outcome_probabilities(self, mean: ArrayLike, variance: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
        return self.plain().outcome_probabilities(mean, np.add(variance, self.noise))

    def outcome_entropy(self, mean: ArrayLike, variance: ArrayLike) -> np.ndarray:
        return self.plain().outcome_entropy(mean, np.add(variance, self.noise))

    def expected_outcome_entropy(self, mean: ArrayLike, variance: ArrayLike) -> np.ndarray:
        """Return E_s H(y | s) in nats: what e and counting leave unknown where s is known."""
        mean, variance = self._moments(mean, variance)
        return self._average(lambda s: self.outcome_entropy(s, np.zeros(s.shape)), mean, variance)

    @staticmethod
    def _average(function: Callable[[np.ndarray], np.ndarray], mean: np.ndarray, variance: np.ndarray) -> np.ndarray:
        """E function(s), s ~ N(mean, variance), of one that the noise has smoothed: by Gauss and Hermite's rule."""
        deviation = np.sqrt(variance)
        values = np.array([function(mean + x * deviation) for x in _NODES])
        return np.asarray(np.tensordot(_WEIGHTS, values, 1))
