"""Bernoulli outcomes y in {-1, +1}: T(s) = 1/(1 + exp(-y s)) (logit) and T(s) = Phi(y s) (probit)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

import numpy as np
from scipy.special import erfcx, expit, log_ndtr

from adaptive.potentials import bernoulli_entropy, bernoulli_expectation, logit_moments, logit_table, tilted
from adaptive.potentials.bounds import coefficients, inverse_x_coth_x
from adaptive.potentials.likelihood import Likelihood
from adaptive.potentials.logistic import height_derivatives_of_cosh
from adaptive.potentials.truncated_gaussian import half_moments

if TYPE_CHECKING:
    from adaptive.types import ArrayLike, Number

__all__ = ["BernoulliLogit", "BernoulliProbit"]


class _Bernoulli(Likelihood):
    """T(s) = sigmoid(y s); everything is written for y = +1 and reflected."""

    outcomes = np.array([-1.0, 1.0])
    _probit = False

    def _tilted_moments(
        self, mean: np.ndarray, variance: np.ndarray, fraction: float
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        y = self._outcome(None)
        log_normaliser, centre, spread = self._positive_moments(mean * y, variance, fraction)
        return log_normaliser, centre * y, spread

    def _positive_moments(
        self, mean: np.ndarray, variance: np.ndarray, fraction: float
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        return tilted.moments(type(self)(1.0), mean, variance, fraction)

    def _expectation(self, mean: np.ndarray, variance: np.ndarray) -> np.ndarray:
        return bernoulli_expectation.averages(self._probit, mean * self._outcome(None), variance)[0]

    def _expectation_derivatives(
        self, mean: np.ndarray, variance: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        y = self._outcome(None)
        value, first, second = bernoulli_expectation.averages(self._probit, mean * y, variance)
        return value, first * y, 0.5 * second

    def entropies(self, mean: ArrayLike, variance: ArrayLike) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return p(y = +1), H(y) and E_s H(y | s) for s ~ N(mean, variance), in one pass.

        Parameters
        ----------
        mean, variance : array-like (m,)
            Moments of the projection; variance >= 0.

        Returns
        -------
        probability, outcome_entropy, expected_entropy : ndarray (m,)
            Absolute error below 1e-8; entropies in nats.
        """
        mean, variance = self._moments(mean, variance)
        return bernoulli_entropy.entropies(self._probit, mean, variance)

    def outcome_averages(self, mean: ArrayLike, variance: ArrayLike) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the same as ``entropies`` does, for the scores of many candidates: errors below 1e-6, by a table."""
        mean, variance = self._moments(mean, variance)
        if self._probit:
            return bernoulli_entropy.entropies(True, mean, variance)
        return logit_table.averages(mean, variance)

    def outcome_probabilities(self, mean: ArrayLike, variance: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
        probability = self.entropies(mean, variance)[0]
        return np.array(self.outcomes), np.stack([1 - probability, probability], axis=-1)

    def outcome_entropy(self, mean: ArrayLike, variance: ArrayLike) -> np.ndarray:
        return self.entropies(mean, variance)[1]

    def expected_outcome_entropy(self, mean: ArrayLike, variance: ArrayLike) -> np.ndarray:
        return self.entropies(mean, variance)[2]


class BernoulliLogit(_Bernoulli):
    """T(s) = 1 / (1 + exp(-y s)): logistic regression's likelihood, of slope 1.

    Parameters
    ----------
    y : array (q,) of -1 and +1, or None
        Outcomes; None for the likelihood family.

    References
    ----------
    Nickisch (2010), table 3.1 (cumulative logistic, tilt y/2); Jaakkola and Jordan (2000) for the bound.

    Examples
    --------
    >>> from adaptive.potentials import BernoulliLogit
    >>> float(np.exp(BernoulliLogit().log_density(0.0, y=1)))
    0.5
    >>> log_normaliser, mean, variance = BernoulliLogit([1]).tilted_moments([0.0], [1.0])
    >>> float(np.exp(log_normaliser[0]).round(12))
    0.5
    """

    super_gaussian = True

    @property
    def tilt(self) -> Number:  # type: ignore[override]
        return 0.5 * self._outcome(None)

    def _positive_moments(
        self, mean: np.ndarray, variance: np.ndarray, fraction: float
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        return logit_moments.moments(mean, variance, fraction)

    def log_density(self, s: ArrayLike, y: ArrayLike | None = None) -> np.ndarray:
        t = np.asarray(s, dtype=float) * self._outcome(y)
        return np.minimum(t, 0.0) - np.log1p(np.exp(-np.abs(t)))

    def derivatives(self, s: ArrayLike, y: ArrayLike | None = None) -> tuple[np.ndarray, np.ndarray]:
        y = self._outcome(y)
        t = np.asarray(s, dtype=float) * y
        return y * expit(-t), -expit(t) * expit(-t)

    def third_derivative(self, s: ArrayLike, y: ArrayLike | None = None) -> np.ndarray:
        y = self._outcome(y)
        t = np.asarray(s, dtype=float) * y
        return y * expit(t) * expit(-t) * np.tanh(0.5 * t)

    def log_ratio(self, s: ArrayLike, step: ArrayLike) -> np.ndarray:
        y = self._outcome(None)
        t, step = np.asarray(s, dtype=float) * y, np.asarray(step, dtype=float) * y
        moved = t + step
        linear = np.where((t < 0) & (moved < 0), step, np.minimum(moved, 0.0) - np.minimum(t, 0.0))
        return linear - np.log1p(np.exp(-np.abs(moved))) + np.log1p(np.exp(-np.abs(t)))

    # T = exp(tilt s) / (2 cosh(s/2)): the height of cosh^-1 at half the argument
    def tight_width(self, s: ArrayLike) -> np.ndarray:
        z = 0.5 * np.asarray(s, dtype=float)
        safe = np.where(np.abs(z) < 1e-8, 1e-8, z)
        width = 4 * safe / np.tanh(safe)
        return np.broadcast_to(width, np.broadcast_shapes(width.shape, self.shape)).copy()

    def height(self, width: ArrayLike) -> np.ndarray:
        r = inverse_x_coth_x(np.asarray(width, dtype=float) / 4)
        log_cosh = r + np.log1p(np.exp(-2 * r)) - np.log(2.0)
        height = 2 * np.log(2.0) + 2 * log_cosh - r * np.tanh(r)
        return np.broadcast_to(height, np.broadcast_shapes(height.shape, self.shape)).copy()

    def height_derivatives(self, width: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
        width = np.asarray(width, dtype=float)
        width = np.broadcast_to(width, np.broadcast_shapes(width.shape, self.shape))
        return height_derivatives_of_cosh(width, 4.0, 1.0)


class BernoulliProbit(_Bernoulli):
    """T(s) = Phi(y s).

    Its Gaussian bound has fixed width 1 and a free contact point (``bound == "contact"``): curvature never exceeds 1.

    Parameters
    ----------
    y : array (q,) of -1 and +1, or None
        Outcomes; None for the likelihood family.

    References
    ----------
    Nickisch (2010), sections 4.1, 4.6 (the bound at a contact point).

    Examples
    --------
    >>> from adaptive.potentials import BernoulliProbit
    >>> log_normaliser, mean, variance = BernoulliProbit([1]).tilted_moments([1.0], [3.0])
    >>> float(np.exp(log_normaliser[0]).round(6))  # Phi(1/2)
    0.691462
    """

    _probit = True

    @property
    def bound(self) -> str:
        return "contact"

    def log_density(self, s: ArrayLike, y: ArrayLike | None = None) -> np.ndarray:
        return log_ndtr(np.asarray(s, dtype=float) * self._outcome(y))

    def derivatives(self, s: ArrayLike, y: ArrayLike | None = None) -> tuple[np.ndarray, np.ndarray]:
        y = self._outcome(y)
        ratio, curvature, _ = _mills_terms(np.asarray(s, dtype=float) * y)
        return y * ratio, curvature

    def third_derivative(self, s: ArrayLike, y: ArrayLike | None = None) -> np.ndarray:
        y = self._outcome(y)
        t = np.asarray(s, dtype=float) * y
        ratio, curvature, delta = _mills_terms(t)
        # r' = -r (t + r) = curvature; third = -(curvature (t + r) + r (1 + curvature))
        return -y * (curvature * delta + ratio * (1 + curvature))

    def log_ratio(self, s: ArrayLike, step: ArrayLike) -> np.ndarray:
        y = self._outcome(None)
        t, step = np.asarray(s, dtype=float) * y, np.asarray(step, dtype=float) * y
        moved = t + step
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            # log Phi(t) = -t^2/2 + log(erfcx(-t/sqrt 2)/2) on the left half
            left = -step * (t + 0.5 * step) + np.log(erfcx(-moved / np.sqrt(2)) / erfcx(-t / np.sqrt(2)))
        return np.where((t < 0) & (moved < 0), left, log_ndtr(moved) - log_ndtr(t))

    def _positive_moments(
        self, mean: np.ndarray, variance: np.ndarray, fraction: float
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        if fraction != 1.0:
            return super()._positive_moments(mean, variance, fraction)
        # s + noise > 0: the sum is a Gaussian cut at zero, and s given the sum is Gaussian (Rasmussen and Williams 3.9)
        total = 1.0 + variance
        log_mass, centre, spread = half_moments(mean / np.sqrt(total))
        return log_mass, mean / total + variance * (centre / np.sqrt(total)), variance * (1 + variance * spread) / total

    # ------------------------------------------------------------------------------------ bound by a contact point
    def _bounded(self) -> Self:
        raise ValueError(
            f"{self.name} is not super-Gaussian: its bound has fixed width 1 and a contact point instead of a height; "
            "`inner` works, the height does not exist."
        )

    def tight_width(self, s: ArrayLike) -> np.ndarray:
        return np.ones(np.broadcast_shapes(np.shape(s), self.shape))

    def inner(
        self, s: ArrayLike, z1: ArrayLike = 0.0, z2: ArrayLike = 0.0, z3: ArrayLike = 0.0
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """The inner function at width 1 with the contact point at s: -log T(s) + (z1 + z2)/2."""
        z1, z2, _ = coefficients(z1, z2, z3)
        first, second = self.derivatives(s)
        value = -self.log_density(s) + 0.5 * (z1 + z2)
        return value, -first, -second, np.ones(value.shape)


def _mills_terms(t: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """r = N(t)/Phi(t), its derivative -r (t + r), and t + r, all without cancellation in the left tail."""
    _, delta, relative = half_moments(t)
    right = np.maximum(t, 0.0)
    ratio = np.where(t < 0, delta - t, np.exp(-0.5 * right * right - log_ndtr(right)) / np.sqrt(2 * np.pi))
    return ratio, relative - 1.0, delta
