"""Counts whose variance is mean + a mean^2, of a mean count exposure exp(s): negative binomial, with r = 1 / a,

    T(s) = C(y + r - 1, y) sigmoid(x)^y sigmoid(-x)^r,        x = s + log(a exposure)

a Poisson count whose rate is multiplied by Gamma(r, 1 / r). It is log-concave in s, which it is not under other rates.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.special import betainc, betaln, expit, log_expit, xlogy
from scipy.stats import nbinom

from adaptive import checks
from adaptive.potentials.likelihood import Likelihood
from adaptive.potentials.poisson import Poisson

if TYPE_CHECKING:
    from adaptive.types import ArrayLike, Number

__all__ = ["NegativeBinomial"]

_REACH = 7.5  # standard deviations of the projection
_TAIL = 1e-11  # probability of counts beyond the last
_FIRST = 64  # counts that are summed one by one; smooth sums stand for those beyond
_PANEL, _NODES = 1.0, 8  # length of panels in widths of the distributions, nodes of each
_MOST = 200_000  # counts beyond which a table is not sensible
_BLOCK = 2**22  # numbers that are held at once
_X, _W = np.polynomial.legendre.leggauss(_NODES)


class NegativeBinomial(Likelihood):
    """T(s) of a count with mean m = exposure exp(s) and variance m + overdispersion m^2.

    Parameters
    ----------
    y : array (q,) of counts, or None
        Outcomes; None for the likelihood family.
    overdispersion : float, default 0.1
        Positive.
    exposure : float or array (q,), default 1.0
        For how long, or over how large an area, was counted.

    Examples
    --------
    >>> family = NegativeBinomial(overdispersion=0.5)
    >>> counts, p = family.outcome_probabilities([1.0], [0.0])
    >>> mean = float(p[0] @ counts)
    >>> round(mean, 4), round(float(p[0] @ (counts - mean) ** 2), 4)  # e, and e + e^2 / 2
    (2.7183, 6.4128)
    """

    rate = "exp"
    overdispersion: float
    exposure: Number

    def __init__(self, y: ArrayLike | None = None, overdispersion: float = 0.1, exposure: ArrayLike = 1.0) -> None:
        self.overdispersion = float(checks.positive("overdispersion", overdispersion))
        self._set(exposure=Poisson(exposure=exposure).exposure)
        super().__init__(y)

    def _checked(self, y: ArrayLike) -> np.ndarray:
        return Poisson()._checked(y)

    def _options(self) -> dict[str, str]:
        return {"overdispersion": f"{self.overdispersion:g}"}

    @property
    def shape_parameter(self) -> float:
        """r, of the rate's Gamma distribution."""
        return 1.0 / self.overdispersion

    def plain(self) -> Poisson:
        """Return the counts of one rate each: means are the same."""
        return Poisson(exposure=self.exposure)

    def _log_odds(self, s: ArrayLike) -> np.ndarray:
        return np.asarray(s, dtype=float) + np.log(self.overdispersion * self.exposure)

    def log_density(self, s: ArrayLike, y: ArrayLike | None = None) -> np.ndarray:
        return _log_mass(np.asarray(self._outcome(y)), self._log_odds(s), self.shape_parameter)

    def derivatives(self, s: ArrayLike, y: ArrayLike | None = None) -> tuple[np.ndarray, np.ndarray]:
        share, total = expit(self._log_odds(s)), self._outcome(y) + self.shape_parameter
        return self._outcome(y) - total * share, -total * share * (1.0 - share)

    def third_derivative(self, s: ArrayLike, y: ArrayLike | None = None) -> np.ndarray:
        share = expit(self._log_odds(s))
        return -(self._outcome(y) + self.shape_parameter) * share * (1.0 - share) * (1.0 - 2.0 * share)

    # -- rates ---------------------------------------------------------------------------------------------------------

    @property
    def highest_projection(self) -> Number:
        """The projection about which drawn counts are half the largest that can be told."""
        return self.plain().highest_projection

    def mean_rate(self, s: ArrayLike) -> np.ndarray:
        """Return the rate at the projections s, per unit of exposure."""
        return self.plain().mean_rate(s)

    def at_most(self, k: np.ndarray, mean: np.ndarray) -> np.ndarray:
        """Return P(y <= k) of counts with these means: I(r, k + 1), the incomplete beta at 1 / (1 + a mean)."""
        return betainc(self.shape_parameter, k + 1.0, 1.0 / (1.0 + self.overdispersion * mean))

    def deviation(self, mean: np.ndarray) -> np.ndarray:
        """Return the standard deviation of counts with these means."""
        return np.sqrt(mean + self.overdispersion * np.square(mean))

    def expected_rate(self, mean: ArrayLike, variance: ArrayLike) -> np.ndarray:
        """Return the mean count, s ~ N(mean, variance)."""
        return self.plain().expected_rate(mean, variance)

    def expected_square(self, mean: ArrayLike, variance: ArrayLike) -> np.ndarray:
        """Return E (exposure mean_rate(s))^2, s ~ N(mean, variance)."""
        return self.plain().expected_square(mean, variance)

    def _draw(self, s: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        rate = self.exposure * self.mean_rate(s)
        return rng.poisson(rate * rng.gamma(self.shape_parameter, self.overdispersion, np.shape(rate))).astype(float)

    # -- likelihood family ---------------------------------------------------------------------------------------------

    def _moments(self, mean: ArrayLike, variance: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
        """Moments of candidates, one for each exposure where there are several."""
        return self.plain()._moments(mean, variance)

    def outcome_probabilities(self, mean: ArrayLike, variance: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
        """Return the counts 0, 1, ... (c,) and their probabilities (m, c); the tail left out is below 1e-10."""
        shape, (mean, deviation) = self._moments(mean, variance)[0].shape, self._spread(mean, variance)
        last = self._last_counts(mean, deviation)
        if len(last) and last.max() > _MOST:
            raise ValueError(f"counts up to {last.max():.3g} are too many for a table; the limit is {_MOST:,}.")
        counts = np.arange(int(last.max(initial=0.0)) + 1.0)
        table = np.zeros((len(mean), len(counts)))
        for i in range(len(mean)):
            x, weights = self._nodes(mean[i], deviation[i])
            step = max(1, _BLOCK // len(x))
            for first in range(0, int(last[i]) + 1, step):
                part = slice(first, min(first + step, int(last[i]) + 1))
                table[i, part] = weights @ np.exp(_log_mass(counts[part], x[:, None], self.shape_parameter))
        return counts, table.reshape(*shape, len(counts))

    def outcome_entropy(self, mean: ArrayLike, variance: ArrayLike) -> np.ndarray:
        """Return H(y) in nats for s ~ N(mean, variance)."""
        return self._entropies(mean, variance)[0]

    def expected_outcome_entropy(self, mean: ArrayLike, variance: ArrayLike) -> np.ndarray:
        """Return E_s H(y | s) in nats for s ~ N(mean, variance)."""
        return self._entropies(mean, variance)[1]

    def _spread(self, mean: ArrayLike, variance: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
        """Mean and deviation (m,) of the log odds x."""
        mean, variance = self._moments(mean, variance)
        return np.ravel(self._log_odds(mean)), np.sqrt(np.ravel(variance))

    def _entropies(self, mean: ArrayLike, variance: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
        """H(y) and E H(y | s), in the shape of the moments."""
        shape = self._moments(mean, variance)[0].shape
        mean, deviation = self._spread(mean, variance)
        last, found = self._last_counts(mean, deviation), np.empty((2, len(mean)))
        for i in range(len(mean)):
            x, weights = self._nodes(mean[i], deviation[i])
            counts, sizes = self._places(last[i])
            log_p = _log_mass(counts, x[:, None], self.shape_parameter)
            p = np.exp(log_p)
            both = weights @ p
            found[:, i] = -sizes @ xlogy(both, both), -weights @ ((p * log_p) @ sizes)
        return found[0].reshape(shape), found[1].reshape(shape)

    def _width(self, x: np.ndarray) -> np.ndarray:
        """The scale in which counts are one wide, everywhere: (2 / sqrt a) asinh sqrt(a m), of a m = exp(x)."""
        return 2.0 * np.sqrt(self.shape_parameter) * np.arcsinh(np.exp(0.5 * x))

    def _nodes(self, mean: float, deviation: float) -> tuple[np.ndarray, np.ndarray]:
        """Log odds and weights (k,) of N(mean, deviation^2), close enough for every count."""
        if deviation == 0.0:
            return np.array([mean]), np.ones(1)
        low, high = mean - _REACH * deviation, mean + _REACH * deviation
        first, last = self._width(np.array([low, high]))
        own = np.linspace(first, last, int((last - first) / _PANEL) + 2)[1:-1]
        by_counts = 2.0 * np.log(np.sinh(0.5 * own[own > 1.0] / np.sqrt(self.shape_parameter)))
        ends = np.unique(np.concatenate([np.linspace(low, high, 11), by_counts]))
        half = 0.5 * np.diff(ends)[:, None]
        x = (0.5 * (ends[1:] + ends[:-1])[:, None] + half * _X).ravel()
        weights = (half * _W).ravel() * np.exp(-0.5 * ((x - mean) / deviation) ** 2)
        return x, weights / weights.sum()

    def _last_counts(self, mean: np.ndarray, deviation: np.ndarray) -> np.ndarray:
        """Counts (m,) beyond which hardly one lies."""
        high = np.minimum(mean + 6.7 * deviation, 690.0)
        return nbinom.isf(_TAIL, self.shape_parameter, expit(-high)) + 2.0

    def _places(self, last: float) -> tuple[np.ndarray, np.ndarray]:
        """Counts and how many each stands for: the first one by one, the others by Gauss and Legendre's rule.

        Between them stands the first term of Euler and Maclaurin's: a sum less an integral is a 24th of the slope.
        """
        if last <= _FIRST:
            return np.arange(last + 1.0), np.ones(int(last) + 1)
        counts, sizes = np.arange(_FIRST + 1.0), np.ones(_FIRST + 1)
        sizes[-2:] = 1.0 - 1.0 / 24.0, 1.0 / 24.0
        scale = np.sqrt(self.overdispersion)
        first, final = np.arcsinh(scale * np.sqrt([_FIRST - 0.5, last + 0.5]))
        ends = np.linspace(first, final, int(2.0 / scale * (final - first) / _PANEL) + 2)
        half = 0.5 * np.diff(ends)[:, None]
        at = (0.5 * (ends[1:] + ends[:-1])[:, None] + half * _X).ravel()
        smooth, slope = (np.sinh(at) / scale) ** 2, np.sinh(2.0 * at) / self.overdispersion
        return np.concatenate([counts, smooth]), np.concatenate([sizes, (half * _W).ravel() * slope])


def _log_mass(y: np.ndarray, x: np.ndarray, r: float) -> np.ndarray:
    """log C(y + r - 1, y) + y log sigmoid(x) + r log sigmoid(-x)."""
    return -betaln(y + 1.0, r) - np.log(y + r) + y * log_expit(x) + r * log_expit(-x)
