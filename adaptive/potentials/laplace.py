"""Laplace density T(s) = exp(-|s - location| / scale) / (2 scale)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.special import ndtr

from adaptive import checks
from adaptive.potentials.bounds import coefficients
from adaptive.potentials.location_family import LocationDensity
from adaptive.potentials.truncated_gaussian import two_slopes

if TYPE_CHECKING:
    from adaptive.types import ArrayLike, Number

__all__ = ["Laplace"]


class Laplace(LocationDensity):
    """T(s) = exp(-|s - location| / scale) / (2 scale), the prior of sparse projections.

    Parameters
    ----------
    scale : float or array (q,)
        Scale, > 0; the standard deviation is sqrt(2) scale.
    location : float or array (q,), default 0
        Centre; as a likelihood, the outcome.

    Raises
    ------
    ValueError
        If ``scale`` is not positive, or ``location`` not finite.

    References
    ----------
    Nickisch (2010), sections 3.1 (height), 5 and appendix (tilted moments); Park and Casella (2008).

    Examples
    --------
    >>> from adaptive.potentials import Laplace
    >>> float(Laplace(1.0).tilted_moments(0.0, 1.0)[2].round(12))
    0.474864723839
    """

    scale: Number
    super_gaussian = True
    smooth = False
    kinks = (0.0,)
    tail = 8.0

    def __init__(self, scale: ArrayLike, location: ArrayLike = 0.0):
        self._set(scale=checks.positive("scale", scale), location=checks.finite("location", location))

    @property
    def spread(self) -> Number:
        return self.scale

    def _log_density(self, x: np.ndarray) -> np.ndarray:
        return -np.abs(x) / self.scale - np.log(2 * self.scale)

    def _derivatives(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        first = -np.sign(x) / self.scale
        return first, np.where((x == 0) & (first == 0), -np.inf, 0.0)

    def _third_derivative(self, x: np.ndarray) -> np.ndarray:
        return np.zeros(np.broadcast_shapes(x.shape, np.shape(self.scale)))

    def _log_ratio(self, x: np.ndarray, step: np.ndarray) -> np.ndarray:
        same = np.where(x >= 0, -step, step)
        return np.where((x >= 0) == (x + step >= 0), same, np.abs(x) - np.abs(x + step)) / self.scale

    def _expectation(self, mean: np.ndarray, variance: np.ndarray) -> np.ndarray:
        x, sd = mean - self.location, np.sqrt(variance)
        z = np.abs(x) / np.where(sd > 0, sd, 1.0)
        folded = np.abs(x) * (1 - 2 * ndtr(-z)) + 2 * sd * np.exp(-0.5 * z * z) / np.sqrt(2 * np.pi)
        return -np.where(sd > 0, folded, np.abs(x)) / self.scale - np.log(2 * self.scale)

    def _expectation_derivatives(
        self, mean: np.ndarray, variance: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        x, sd = mean - self.location, np.sqrt(variance)
        with np.errstate(divide="ignore", invalid="ignore"):
            z = np.abs(x) / sd
            peak = np.exp(-0.5 * z * z) / (np.sqrt(2 * np.pi) * sd)
        value = self._expectation(mean, variance)
        first = -np.sign(x) * np.where(sd > 0, 1 - 2 * ndtr(-z), 1.0) / self.scale
        return value, first, np.where((sd > 0) | (x == 0), -peak, 0.0) / self.scale

    def _tilted_moments(
        self, mean: np.ndarray, variance: np.ndarray, fraction: float
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        rate = fraction / self.scale
        log_normaliser, centre, spread = two_slopes(mean - self.location, variance, -rate, rate)
        return log_normaliser - fraction * np.log(2 * self.scale), centre + self.location, spread

    def entropy(self) -> Number:
        return 1.0 + np.log(2 * self.scale)

    def _draw(self, rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
        return self.scale * rng.laplace(size=shape)

    def tight_width(self, s: ArrayLike) -> np.ndarray:
        return np.abs(np.asarray(s, dtype=float) - self.location) * self.scale

    def height(self, width: ArrayLike) -> np.ndarray:
        return np.asarray(width, dtype=float) / self.scale**2 + 2 * np.log(2 * self.scale)

    def height_derivatives(self, width: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
        shape = np.broadcast_shapes(np.shape(width), np.shape(self.scale))
        return np.broadcast_to(1 / np.square(self.scale), shape).copy(), np.zeros(shape)

    def inner_minimum(
        self, s: ArrayLike, z1: ArrayLike = 0.0, z2: ArrayLike = 0.0, z3: ArrayLike = 0.0
    ) -> tuple[np.ndarray, np.ndarray]:
        if np.ndim(z1) or np.ndim(z3) or z1 or z3:
            return super().inner_minimum(s, z1, z2, z3)
        x, (_, z2, _) = np.asarray(s, dtype=float) - self.location, coefficients(0.0, z2, 0.0)
        t = np.asarray(x * x + z2)
        np.sqrt(t, out=t)
        value = np.asarray(t / self.scale)
        value += np.log(2 * self.scale)
        return value, t * self.scale

    def inner(
        self, s: ArrayLike, z1: ArrayLike = 0.0, z2: ArrayLike = 0.0, z3: ArrayLike = 0.0
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        x, (z1, z2, z3) = np.asarray(s, dtype=float) - self.location, coefficients(z1, z2, z3)
        # stationary point of g (1/scale^2 + z1) + (x^2 + z2)/g - z3 log g: the positive root of a quadratic
        rate = 1 / np.square(self.scale) + z1
        weight = x * x + z2
        root = np.sqrt(z3 * z3 + 4 * rate * weight)
        width = 0.5 * (z3 + root) / rate
        safe = np.where(width > 0, width, 1.0)
        value = 0.5 * (rate * width + np.where(width > 0, weight / safe - z3 * np.log(safe), 0.0))
        kappa = z2 / safe + 0.5 * z3
        with np.errstate(divide="ignore", invalid="ignore"):
            second = np.where(width > 0, kappa / (x * x + safe * kappa), np.inf)
        second = np.where((width > 0) & (kappa == 0), 0.0, second)
        first = np.where(width > 0, x / safe, 0.0)
        shape = np.broadcast_shapes(value.shape, np.shape(self.scale))
        return value + np.log(2 * self.scale), first, np.broadcast_to(second, shape), width
