"""Densities T(s) = p(s - location): priors on projections, and the noise of the likelihood p(y | s) = p(y - s)."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Self

import numpy as np

from adaptive import checks
from adaptive.potentials.base import Potential
from adaptive.potentials.continuous_entropy import convolution_entropy
from adaptive.potentials.convolved_density import convolved_log_density
from adaptive.potentials.quadrature import gaussian_arguments

if TYPE_CHECKING:
    from adaptive.types import ArrayLike, Number, RandomState

__all__ = ["LocationDensity"]


class LocationDensity(Potential):
    """A density that is symmetric about its location; a subclass writes it at location 0.

    A subclass defines `_log_density(x)`, `_derivatives(x)`, `entropy()` and `_draw(rng, shape)` for x = s - location.
    It has a `spread` and a `tail`, by which the entropy (nats) of outcomes is integrated, or an `_outcome_entropy`.

    Attributes
    ----------
    tail : float
        arsinh of the distance, in spreads, beyond which the density does not count.

    Examples
    --------
    >>> from adaptive.potentials import Laplace
    >>> density = Laplace(1.0, location=2.0)
    >>> isinstance(density, LocationDensity), round(float(density.entropy()), 4)  # nats: 1 + ln 2
    (True, 1.6931)
    """

    tail: float

    def log_density(self, s: ArrayLike, y: ArrayLike | None = None) -> np.ndarray:
        return self._log_density(self._offset(s, y))

    def derivatives(self, s: ArrayLike, y: ArrayLike | None = None) -> tuple[np.ndarray, np.ndarray]:
        return self._derivatives(self._offset(s, y))

    def third_derivative(self, s: ArrayLike, y: ArrayLike | None = None) -> np.ndarray:
        return self._third_derivative(self._offset(s, y))

    def log_ratio(self, s: ArrayLike, step: ArrayLike) -> np.ndarray:
        return self._log_ratio(np.asarray(s, dtype=float) - self.location, np.asarray(step, dtype=float))

    def _offset(self, s: ArrayLike, y: ArrayLike | None) -> np.ndarray:
        return np.asarray(s, dtype=float) - (self.location if y is None else np.asarray(y, dtype=float))

    @abstractmethod
    def _log_density(self, x: np.ndarray) -> np.ndarray: ...

    @abstractmethod
    def _derivatives(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]: ...

    def _third_derivative(self, x: np.ndarray) -> np.ndarray:
        step = 1e-5 * (1.0 + np.abs(x))
        return (self._derivatives(x + step)[1] - self._derivatives(x - step)[1]) / (2 * step)

    def _log_ratio(self, x: np.ndarray, step: np.ndarray) -> np.ndarray:
        return self._log_density(x + step) - self._log_density(x)

    @property
    def spread(self) -> Number:
        """A scale of the density."""
        raise AttributeError(f"{self.name} states no spread, by which entropies of its outcomes are integrated.")

    @abstractmethod
    def entropy(self) -> Number:
        """Return the entropy of the density in nats."""

    @abstractmethod
    def _draw(self, rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray: ...

    def observe(self, y: ArrayLike) -> Self:
        """Return the potential of the outcome y: the density moved to location y (as a function of s)."""
        return self._with(location=checks.finite("y", y))

    def sample(
        self, s: ArrayLike | None = None, random_state: RandomState = None, *, size: int | tuple[int, ...] | None = None
    ) -> np.ndarray:
        """Draw outcomes y = s + noise, or without s draw ``size`` values of the density itself.

        Parameters
        ----------
        s : array-like, optional
            Projections; the outcomes have their shape (broadcast against the parameters).
        random_state : None, int, SeedSequence, Generator or RandomState
        size : int or tuple, optional
            Shape of the draws from the density at its location (default: one per potential).
        """
        rng = checks.generator(random_state)
        own = () if self.size is None else (self.size,)
        if s is not None:
            s = checks.finite("s", s)
            return s + self._draw(rng, np.broadcast_shapes(s.shape, own))
        shape = own if size is None else tuple(np.atleast_1d(size).astype(int))
        return self.location + self._draw(rng, shape)

    def outcome_entropy(self, mean: ArrayLike, variance: ArrayLike) -> np.ndarray:
        """Return H(y) in nats of y = s + noise, s ~ N(mean, variance)."""
        mean, variance = gaussian_arguments(self, mean, variance, allow_zero=True)
        return self._outcome_entropy(variance)

    def outcome_log_density(self, y: ArrayLike, mean: ArrayLike, variance: ArrayLike) -> np.ndarray:
        """Return log p(y) in nats of y = s + noise, s ~ N(mean, variance), to 1e-3 where it has mass."""
        mean, variance = gaussian_arguments(None, mean, variance, allow_zero=True)
        return convolved_log_density(self._at_origin(), np.asarray(y, dtype=float) - mean, variance)

    def _outcome_entropy(self, variance: np.ndarray) -> np.ndarray:
        return convolution_entropy(self._at_origin(), variance)

    def expected_outcome_entropy(self, mean: ArrayLike, variance: ArrayLike) -> np.ndarray:
        """Return E_s H(y | s) in nats, here a constant: the entropy of the noise."""
        mean, variance = gaussian_arguments(self, mean, variance, allow_zero=True)
        return np.broadcast_to(self.entropy(), mean.shape).copy()
