"""Gaussian density T(s) = N(s | location, variance): everything in closed form."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from adaptive import checks
from adaptive.potentials import bounds
from adaptive.potentials.location_family import LocationDensity

if TYPE_CHECKING:
    from adaptive.types import ArrayLike, Number

__all__ = ["Gaussian"]


class Gaussian(LocationDensity):
    """T(s) = exp(-(s - location)^2 / (2 variance)) / sqrt(2 pi variance).

    Parameters
    ----------
    variance : float or array (q,)
        Variance, > 0.
    location : float or array (q,), default 0
        Mean; as a likelihood, the outcome.

    Raises
    ------
    ValueError
        If ``variance`` is not positive, or ``location`` not finite.

    References
    ----------
    Nickisch (2010), for its place among the potentials; moments are closed.

    Examples
    --------
    >>> from adaptive.potentials import Gaussian
    >>> log_normaliser, mean, variance = Gaussian(1.0, location=2.0).tilted_moments(0.0, 1.0)
    >>> float(mean), float(variance)
    (1.0, 0.5)
    """

    variance: Number
    super_gaussian = True

    def __init__(self, variance: ArrayLike, location: ArrayLike = 0.0):
        self._set(variance=checks.positive("variance", variance), location=checks.finite("location", location))

    @property
    def _log_volume(self) -> Number:
        return np.log(2 * np.pi * self.variance)

    def gaussian_moments(self) -> tuple[Number, Number]:
        return self.location, self.variance

    def _log_density(self, x: np.ndarray) -> np.ndarray:
        return -0.5 * (x * x / self.variance + self._log_volume)

    def _derivatives(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return -x / self.variance, np.broadcast_to(
            -1.0 / self.variance, np.broadcast_shapes(x.shape, np.shape(self.variance))
        ).copy()

    def _third_derivative(self, x: np.ndarray) -> np.ndarray:
        return np.zeros(np.broadcast_shapes(x.shape, np.shape(self.variance)))

    def _log_ratio(self, x: np.ndarray, step: np.ndarray) -> np.ndarray:
        return -step * (x + 0.5 * step) / self.variance

    def _expectation(self, mean: np.ndarray, variance: np.ndarray) -> np.ndarray:
        return self._log_density(mean - self.location) - 0.5 * variance / self.variance

    def _expectation_derivatives(
        self, mean: np.ndarray, variance: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        first, second = self._derivatives(mean - self.location)
        return self._expectation(mean, variance), first, 0.5 * second

    def _tilted_moments(
        self, mean: np.ndarray, variance: np.ndarray, fraction: float
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        own = self.variance / fraction
        x = mean - self.location
        total = own + variance
        # N(x | 0, own)^(fraction) = N(x | 0, variance/fraction) times a constant
        log_normaliser = -0.5 * (x * x / total + np.log1p(variance / own) + fraction * self._log_volume)
        return log_normaliser, self.location + x * (own / total), variance * (own / total)

    def entropy(self) -> Number:
        return 0.5 * np.log(2 * np.pi * np.e * self.variance)

    def _outcome_entropy(self, variance: np.ndarray) -> np.ndarray:
        return 0.5 * np.log(2 * np.pi * np.e * (self.variance + variance))

    def _draw(self, rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
        return np.sqrt(self.variance) * rng.standard_normal(shape)

    # The bound is the Gaussian itself: its height is constant up to the variance and infinite beyond.
    def tight_width(self, s: ArrayLike) -> np.ndarray:
        return np.broadcast_to(self.variance, np.broadcast_shapes(np.shape(s), np.shape(self.variance))).astype(float)

    def height(self, width: ArrayLike) -> np.ndarray:
        return np.where(np.asarray(width) <= self.variance * (1 + 1e-15), self._log_volume, np.inf)

    def height_derivatives(self, width: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
        beyond = np.where(np.asarray(width) <= self.variance * (1 + 1e-15), 0.0, np.inf)
        return beyond, beyond.copy()

    def inner(
        self, s: ArrayLike, z1: ArrayLike = 0.0, z2: ArrayLike = 0.0, z3: ArrayLike = 0.0
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        x = np.asarray(s, dtype=float) - self.location
        return bounds.inner_of_capped_width(x, z1, z2, z3, self.variance, self._log_volume)
