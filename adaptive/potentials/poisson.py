"""Poisson counts with rate exp(s), max(0, s) or log(1 + exp(s)) over an exposure e:

    T(s) = (e rate)^y exp(-e rate) / y!,      log T = e [(y/e) log rate - rate] + y log e - log y!

so that derivatives with an exposure are e times those of the count y / e. What the exposure does to a Gaussian of s is
closed for two rates: exp(s) e = exp(s + log e), and max(0, s) e = max(0, e s).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import gammaincc, gammaln, ndtr, xlogy

from adaptive import checks
from adaptive.potentials import poisson_outcomes, quadrature, rectified_poisson
from adaptive.potentials.likelihood import Likelihood
from adaptive.potentials.poisson_rates import RATES
from adaptive.potentials.truncated_gaussian import two_slopes

if TYPE_CHECKING:
    from adaptive.types import ArrayLike, Number

__all__ = ["Poisson"]

LARGEST_COUNT = 1e9  # the recurrence of the rectified rate takes as many steps


class Poisson(Likelihood):
    """T(s) = (exposure rate(s))^y exp(-exposure rate(s)) / y!.

    Parameters
    ----------
    y : array (q,) of counts, or None
        Outcomes; None for the likelihood family.
    rate : "exp", "rectified" or "softplus"
        exp(s), max(0, s) or log(1 + exp(s)).
    exposure : float or array (q,), default 1.0
        Positive: for how long, or over how large an area, was counted.

    Raises
    ------
    ValueError
        If ``rate`` is unknown, an exposure is not positive, or an outcome no count.

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
    exposure: Number

    def __init__(self, y: ArrayLike | None = None, rate: str = "exp", exposure: ArrayLike = 1.0):
        self.rate = checks.choice("rate", rate, RATES)
        super().__init__(y)
        self._set(exposure=checks.positive("exposure", exposure))

    @classmethod
    def of_weights(cls, y: ArrayLike, rate: str = "exp", exposure: ArrayLike = 1.0) -> Poisson:
        """Return the same factors for real y >= 0, with Gamma(y + 1) for y!; not for the rectified rate.

        They are no probabilities then, but what generalised linear models maximise.
        """
        potential = cls(None, rate, exposure)
        if potential._rate.cut:
            raise ValueError('rate="rectified" needs counts (integers >= 0); use "exp" or "softplus" for real y.')
        return potential._with(y=checks.positive("y", y, or_zero=True))

    def _checked(self, y: ArrayLike) -> np.ndarray:
        counts = checks.finite("y", y)
        if (counts < 0).any() or (counts != np.round(counts)).any():
            bad = float(counts[(counts < 0) | (counts != np.round(counts))].flat[0])
            raise ValueError(f"y must hold counts (integers >= 0), got {bad:g}.")
        if (counts > LARGEST_COUNT).any():
            raise ValueError(f"y must hold counts up to {LARGEST_COUNT:g}, got {float(counts.max()):g}.")
        return counts

    def _options(self) -> dict[str, str]:
        return {"rate": self.rate}

    def __repr__(self) -> str:
        return super().__repr__().replace("exposure=1, ", "")  # the usual one goes without saying

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

    @property
    def highest_projection(self) -> Number:
        """The projection about which drawn counts are half the largest that can be told."""
        share = 0.5 * LARGEST_COUNT / np.asarray(self.exposure)
        return np.log(share) if self.rate == "exp" else share

    def mean_rate(self, s: ArrayLike) -> np.ndarray:
        """Return the rate at the projections s, per unit of exposure."""
        return self._rate.rate(np.asarray(s, dtype=float))

    @staticmethod
    def at_most(k: np.ndarray, mean: np.ndarray) -> np.ndarray:
        """Return P(y <= k) of counts with these means: Q(k + 1, mean), the upper incomplete gamma."""
        return gammaincc(k + 1.0, mean)

    @staticmethod
    def deviation(mean: np.ndarray) -> np.ndarray:
        """Return the standard deviation of counts with these means."""
        return np.sqrt(mean)

    def _share(self, y: Number) -> np.ndarray:
        """y / exposure, the count whose derivatives are those with exposure 1."""
        return np.asarray(y / self.exposure)

    def _unit(self, mean: np.ndarray, variance: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Moments of the projection whose rate has the exposure in it (not for softplus)."""
        e = self.exposure
        return (mean + np.log(e), variance) if self.rate == "exp" else (e * mean, e * e * variance)

    def log_density(self, s: ArrayLike, y: ArrayLike | None = None) -> np.ndarray:
        y, e = self._outcome(y), self.exposure
        return e * self._rate.log_term(np.asarray(s, dtype=float), self._share(y)) + xlogy(y, e) - gammaln(y + 1.0)

    def derivatives(self, s: ArrayLike, y: ArrayLike | None = None) -> tuple[np.ndarray, np.ndarray]:
        first, second, _ = self._rate.derivatives(np.asarray(s, dtype=float), self._share(self._outcome(y)))
        return self.exposure * first, self.exposure * second

    def third_derivative(self, s: ArrayLike, y: ArrayLike | None = None) -> np.ndarray:
        return self.exposure * self._rate.derivatives(np.asarray(s, dtype=float), self._share(self._outcome(y)))[2]

    def log_ratio(self, s: ArrayLike, step: ArrayLike) -> np.ndarray:
        share = self._share(self._outcome(None))
        return self.exposure * self._rate.log_ratio(np.asarray(s, dtype=float), np.asarray(step, dtype=float), share)

    def expected_rate(self, mean: ArrayLike, variance: ArrayLike) -> np.ndarray:
        """Return E exposure rate(s), s ~ N(mean, variance): the mean count."""
        mean, variance = self._moments(mean, variance)
        if self.rate == "exp":
            with np.errstate(over="ignore"):
                return self.exposure * np.exp(mean + 0.5 * variance)
        if self.rate == "rectified":
            return self.exposure * rectified_mean(mean, variance)
        link = self._rate
        return self.exposure * quadrature.gaussian_average(lambda s, owner: link.rate(s), mean, variance)

    def expected_square(self, mean: ArrayLike, variance: ArrayLike) -> np.ndarray:
        """Return E (exposure rate(s))^2, s ~ N(mean, variance)."""
        mean, variance = self._moments(mean, variance)
        square = self.exposure * self.exposure
        if self.rate == "exp":
            with np.errstate(over="ignore"):
                return square * np.exp(2.0 * mean + 2.0 * variance)
        link = self._rate
        return square * quadrature.gaussian_average(lambda s, owner: link.rate(s) ** 2, mean, variance, link.kinks)

    def _expectation(self, mean: np.ndarray, variance: np.ndarray) -> np.ndarray:
        y, e = self._outcome(None), self.exposure
        if self.rate == "exp":
            with np.errstate(over="ignore"):
                return y * mean - e * np.exp(mean + 0.5 * variance) + xlogy(y, e) - gammaln(np.add(y, 1.0))
        if self.rate == "rectified":
            value = np.where(np.asarray(y) > 0, -np.inf, -e * rectified_mean(mean, variance))
            return np.where(variance == 0, self.log_density(mean), value)
        return super()._expectation(mean, variance)

    def _expectation_derivatives(
        self, mean: np.ndarray, variance: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        if self.rate != "exp":
            return super()._expectation_derivatives(mean, variance)
        y = self._outcome(None)
        with np.errstate(over="ignore"):
            rate = self.exposure * np.exp(mean + 0.5 * variance)
        return y * mean - rate + xlogy(y, self.exposure) - gammaln(np.add(y, 1.0)), y - rate, -0.5 * rate

    def _tilted_moments(
        self, mean: np.ndarray, variance: np.ndarray, fraction: float
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        y = np.broadcast_to(self._outcome(None), mean.shape)
        if self.rate != "rectified":
            return super()._tilted_moments(mean, variance, fraction)
        e = np.broadcast_to(self.exposure, mean.shape)
        mean, variance = self._unit(mean, variance)
        if fraction == 1.0:
            result = rectified_poisson.moments(y, mean, variance)
        else:
            result = two_slopes(mean, variance, -fraction, 0.0)  # right where the count is zero
            positive = y > 0
            if positive.any():
                rest = Poisson(y[positive], "rectified")._by_quadrature(mean[positive], variance[positive], fraction)
                for whole, part in zip(result, rest, strict=True):
                    whole[positive] = part
        return result[0], result[1] / e, result[2] / e / e

    def _by_quadrature(
        self, mean: np.ndarray, variance: np.ndarray, fraction: float
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        return super()._tilted_moments(mean, variance, fraction)

    # ---------------------------------------------------------------------------------------------- likelihood family
    def _moments(self, mean: ArrayLike, variance: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
        """Moments of candidates, one for each exposure where there are several."""
        mean, variance = super()._moments(mean, variance)
        shape = np.broadcast_shapes(mean.shape, np.shape(self.exposure))
        return np.broadcast_to(mean, shape), np.broadcast_to(variance, shape)

    def _arguments(self, mean: ArrayLike, variance: ArrayLike) -> tuple[str, np.ndarray, np.ndarray, np.ndarray]:
        """Rate, moments and what is left of the exposure, for the tables and entropies of counts."""
        mean, variance = self._moments(mean, variance)
        if self.rate == "softplus":
            return self.rate, mean, variance, np.broadcast_to(self.exposure, mean.shape)
        return self.rate, *self._unit(mean, variance), np.ones(mean.shape)

    def _draw(self, s: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        rate = self.exposure * self.mean_rate(s)
        if not (rate < 1e15).all():
            raise ValueError(f"s gives the Poisson rate {float(np.max(rate)):g}, too large to draw counts from.")
        return rng.poisson(rate).astype(float)

    def outcome_probabilities(self, mean: ArrayLike, variance: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
        """Return the counts 0, 1, ... (c,) and their probabilities (m, c); the tail left out is below 1e-10.

        Where a row's own tail is left out its probabilities are 0, however many counts other rows need.
        """
        return poisson_outcomes.probabilities(*self._arguments(mean, variance))

    def outcome_entropy(self, mean: ArrayLike, variance: ArrayLike) -> np.ndarray:
        return poisson_outcomes.outcome_entropy(*self._arguments(mean, variance))

    def expected_outcome_entropy(self, mean: ArrayLike, variance: ArrayLike) -> np.ndarray:
        return poisson_outcomes.expected_entropy(*self._arguments(mean, variance))


def rectified_mean(mean: np.ndarray, variance: np.ndarray) -> np.ndarray:
    """Return E max(0, s), s ~ N(mean, variance)."""
    sd = np.sqrt(variance)
    z = mean / np.where(sd > 0, sd, 1.0)
    above = mean * ndtr(z) + sd * np.exp(-0.5 * z * z) / np.sqrt(2 * np.pi)
    return np.where(sd > 0, np.maximum(above, 0.0), np.maximum(mean, 0.0))
