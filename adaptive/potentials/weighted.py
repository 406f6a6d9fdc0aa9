"""Potentials to a power, one per row:  T_j(s)^w_j, which counts the row w_j times.

A Gaussian bound of T^w is w times one of T in the exponent: its width is that of T over w, its height w h(w g).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from adaptive.checks import positive
from adaptive.potentials.base import Potential

__all__ = ["Weighted"]


class Weighted(Potential):
    """Log-concave potentials with weights.

    Parameters
    ----------
    potential : Potential
        Of q rows, or a scalar one.
    weights : array (q,), > 0

    Examples
    --------
    >>> from adaptive.potentials import BernoulliLogit
    >>> twice = Weighted(BernoulliLogit([1.0, -1.0]), [2.0, 0.5])
    >>> bool(np.allclose(twice.log_density([0.0, 0.0]), np.log([0.25, 0.5**0.5])))
    True
    """

    def __init__(self, potential: Any, weights: Any) -> None:
        weights = positive("weights", np.atleast_1d(weights))
        if not np.all(potential.log_concave):
            raise ValueError(f"weights go with log-concave potentials, got {potential.name}.")
        self.potential, self.weights = potential.expand(len(weights)), weights
        self.size = len(weights)

    log_concave = property(lambda self: self.potential.log_concave)  # type: ignore[assignment]
    super_gaussian = property(lambda self: self.potential.super_gaussian)  # type: ignore[assignment]
    smooth = property(lambda self: self.potential.smooth)  # type: ignore[assignment]
    discrete = property(lambda self: self.potential.discrete)  # type: ignore[assignment]
    support = property(lambda self: self.potential.support)  # type: ignore[assignment]
    location = property(lambda self: self.potential.location)  # type: ignore[assignment]
    bound = property(lambda self: self.potential.bound)  # type: ignore[assignment]
    name = property(lambda self: f"weighted {self.potential.name}")  # type: ignore[assignment]
    parameters = property(lambda self: self.potential.parameters | {"weights": self.weights})  # type: ignore[assignment]
    tilt = property(lambda self: self.weights * self.potential.tilt)  # type: ignore[assignment]

    def __getitem__(self, rows: Any) -> Weighted:
        return Weighted(self.potential[rows], self.weights[rows])

    def log_density(self, s: Any, y: Any = None) -> np.ndarray:
        return self.weights * self.potential.log_density(s, y)

    def derivatives(self, s: Any, y: Any = None) -> tuple[np.ndarray, np.ndarray]:
        first, second = self.potential.derivatives(s, y)
        return self.weights * first, self.weights * second

    def third_derivative(self, s: Any, y: Any = None) -> np.ndarray:
        return self.weights * self.potential.third_derivative(s, y)

    def log_ratio(self, s: Any, step: Any) -> np.ndarray:
        return self.weights * self.potential.log_ratio(s, step)

    def expectation(self, mean: Any, variance: Any) -> np.ndarray:
        return self.weights * self.potential.expectation(mean, variance)

    def expectation_derivatives(self, mean: Any, variance: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        value, first, second = self.potential.expectation_derivatives(mean, variance)
        return self.weights * value, self.weights * first, self.weights * second

    def tilted_moments(
        self, mean: Any, variance: Any, fraction: Any = 1.0
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the moments of T_j(s)^(fraction w_j) N(s | mean, variance); ``fraction`` may differ between rows."""
        q = len(self.weights)
        powers = np.broadcast_to(np.round(np.multiply(fraction, self.weights), 12), (q,))
        mean, variance = (np.broadcast_to(np.asarray(a, dtype=float), (q,)) for a in (mean, variance))
        found = np.empty((3, q))
        for power in np.unique(powers):
            rows = np.flatnonzero(powers == power)
            found[:, rows] = self.potential[rows]._tilted_moments(mean[rows], variance[rows], float(power))
        return found[0], found[1], found[2]

    # ----------------------------------------------------------------------------------------------- the Gaussian bound
    def tight_width(self, s: Any) -> np.ndarray:
        return self.potential.tight_width(s) / self.weights

    def height(self, width: Any) -> np.ndarray:
        return self.weights * self.potential.height(self.weights * width)

    def height_derivatives(self, width: Any) -> tuple[np.ndarray, np.ndarray]:
        first, second = self.potential.height_derivatives(self.weights * width)
        return self.weights**2 * first, self.weights**3 * second

    def inner(
        self, s: Any, z1: Any = 0.0, z2: Any = 0.0, z3: Any = 0.0
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        w = self.weights
        value, first, second, width = self.potential.inner(s, z1 / w**2, z2, z3 / w)  # in G = w g
        return w * value + 0.5 * z3 * np.log(w), w * first, w * second, width / w
