"""Poisson counts with rate exp(s), max(0, s) or log(1 + exp(s)): T(s) = rate^y exp(-rate) / y!."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import gammaln, ndtr

from adaptive import checks
from adaptive.potentials import poisson_outcomes, rectified_poisson
from adaptive.potentials.likelihood import Likelihood
from adaptive.potentials.poisson_rates import RATES
from adaptive.potentials.truncated_gaussian import two_slopes

if TYPE_CHECKING:
    from adaptive.types import ArrayLike, Number

__all__ = ["Poisson"]


class Poisson(Likelihood):
    """T(s) = rate(s)^y exp(-rate(s)) / y!.

    Parameters
    ----------
    y : array (q,) of counts, or None
        Outcomes; None for the likelihood family.
    rate : "exp", "rectified" or "softplus"
        exp(s), max(0, s) or log(1 + exp(s)).

    References
    ----------
    Ko (2017), section 2.1 (rectified rate: recurrences for the tilted moments).

    Examples
    --------
    >>> from adaptive.potentials import Poisson
    >>> float(Poisson(rate="rectified").log_density(-1.0, y=0))
    0.0
    """

    rate: str

    def __init__(self, y: ArrayLike | None = None, rate: str = "exp"):
        self.rate = checks.choice("rate", rate, RATES)
        super().__init__(y)

    def _checked(self, y: ArrayLike) -> np.ndarray:
        counts = checks.finite("y", y)
        if (counts < 0).any() or (counts != np.round(counts)).any():
            bad = float(counts[(counts < 0) | (counts != np.round(counts))].flat[0])
            raise ValueError(f"y must hold counts (integers >= 0), got {bad:g}.")
        return counts

    def _options(self) -> dict[str, str]:
        return {"rate": self.rate}

    @property
    def _rate(self) -> Any:
        return RATES[self.rate]

    @property
    def smooth(self) -> bool:  # type: ignore[override]
        return self._rate.smooth

    @property
    def kinks(self) -> tuple[float, ...]:  # type: ignore[override]
        return self._rate.kinks

    @property
    def support(self) -> tuple[Number, Number]:  # type: ignore[override]
        if not self._rate.cut or self.y is None:
            return -np.inf, np.inf
        return np.where(np.asarray(self.y) > 0, 0.0, -np.inf)[()], np.inf

    @property
    def singular(self) -> bool:  # type: ignore[override]
        return self._rate.cut

    def mean_rate(self, s: ArrayLike) -> np.ndarray:
        """Return the rate at the projections s."""
        return self._rate.rate(np.asarray(s, dtype=float))

    def log_density(self, s: ArrayLike, y: ArrayLike | None = None) -> np.ndarray:
        y = self._outcome(y)
        return self._rate.log_term(np.asarray(s, dtype=float), y) - gammaln(np.add(y, 1.0))

    def derivatives(self, s: ArrayLike, y: ArrayLike | None = None) -> tuple[np.ndarray, np.ndarray]:
        first, second, _ = self._rate.derivatives(np.asarray(s, dtype=float), np.asarray(self._outcome(y)))
        return first, second

    def third_derivative(self, s: ArrayLike, y: ArrayLike | None = None) -> np.ndarray:
        return self._rate.derivatives(np.asarray(s, dtype=float), np.asarray(self._outcome(y)))[2]

    def log_ratio(self, s: ArrayLike, step: ArrayLike) -> np.ndarray:
        return self._rate.log_ratio(
            np.asarray(s, dtype=float), np.asarray(step, dtype=float), np.asarray(self._outcome(None))
        )

    def _expectation(self, mean: np.ndarray, variance: np.ndarray) -> np.ndarray:
        y = self._outcome(None)
        if self.rate == "exp":
            with np.errstate(over="ignore"):
                return y * mean - np.exp(mean + 0.5 * variance) - gammaln(np.add(y, 1.0))
        if self.rate == "rectified":
            sd = np.sqrt(variance)
            z = mean / np.where(sd > 0, sd, 1.0)
            rate = np.where(
                sd > 0, mean * ndtr(z) + sd * np.exp(-0.5 * z * z) / np.sqrt(2 * np.pi), np.maximum(mean, 0.0)
            )
            value = np.where(np.asarray(y) > 0, -np.inf, -rate)
            return np.where(variance == 0, self.log_density(mean), value)
        return super()._expectation(mean, variance)

    def _expectation_derivatives(
        self, mean: np.ndarray, variance: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        if self.rate != "exp":
            return super()._expectation_derivatives(mean, variance)
        y = self._outcome(None)
        with np.errstate(over="ignore"):
            rate = np.exp(mean + 0.5 * variance)
        return y * mean - rate - gammaln(np.add(y, 1.0)), y - rate, -0.5 * rate

    def _tilted_moments(
        self, mean: np.ndarray, variance: np.ndarray, fraction: float
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        y = np.broadcast_to(self._outcome(None), mean.shape)
        if self.rate != "rectified":
            return super()._tilted_moments(mean, variance, fraction)
        if fraction == 1.0:
            return rectified_poisson.moments(y, mean, variance)
        result = two_slopes(mean, variance, -fraction, 0.0)  # right where the count is zero
        positive = y > 0
        if positive.any():
            rest = Poisson(y[positive], "rectified")._by_quadrature(mean[positive], variance[positive], fraction)
            for whole, part in zip(result, rest, strict=True):
                whole[positive] = part
        return result

    def _by_quadrature(
        self, mean: np.ndarray, variance: np.ndarray, fraction: float
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        return super()._tilted_moments(mean, variance, fraction)

    # ---------------------------------------------------------------------------------------------- likelihood family
    def _draw(self, s: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        rate = self.mean_rate(s)
        if not (rate < 1e15).all():
            raise ValueError(f"s gives the Poisson rate {float(np.max(rate)):g}, too large to draw counts from.")
        return rng.poisson(rate).astype(float)

    def outcome_probabilities(self, mean: ArrayLike, variance: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
        """Return the counts 0, 1, ... (c,) and their probabilities (m, c); the tail left out is below 1e-10."""
        mean, variance = self._moments(mean, variance)
        return poisson_outcomes.probabilities(self.rate, mean, variance)

    def outcome_entropy(self, mean: ArrayLike, variance: ArrayLike) -> np.ndarray:
        mean, variance = self._moments(mean, variance)
        return poisson_outcomes.outcome_entropy(self.rate, mean, variance)

    def expected_outcome_entropy(self, mean: ArrayLike, variance: ArrayLike) -> np.ndarray:
        mean, variance = self._moments(mean, variance)
        return poisson_outcomes.expected_entropy(self.rate, mean, variance)
