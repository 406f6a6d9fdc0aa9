"""Belief about a process and a constant that is added to it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from adaptive.estimators.gaussian_process.latent_process import (  # house: a Cox process is one
    LatentProcess,
)

if TYPE_CHECKING:
    from adaptive.types import Inputs

__all__ = ["UncertainMean"]


@dataclass(frozen=True)
class UncertainMean(LatentProcess):
    """The belief about a process f and a constant  b ~ N(0, s^2)  that is added to it and was learnt,

        r(x) = 1 - k(x, X) C 1,    v = 1 / (1 / s^2 + 1' C 1),    C and alpha those of f's sites
        E (f + b)(x) = E f(x) + r(x) v 1' alpha,    Cov((f + b)(x), (f + b)(z)) = Cov(f(x), f(z)) + v r(x) r(z)

    Where the evidence is largest in the mean 1' alpha is 0, and only the variance is more. Without it a rate that
    hardly changes, whose kernel comes out flat, would seem to be known exactly.

    Attributes
    ----------
    without : LatentProcess
        The function, after inference.
    variance : float
        s^2, of the constant before.

    References
    ----------
    Rasmussen and Williams (2006), section 2.7, at the sites of an approximate posterior.
    """

    without: Any = None
    variance: float = 1.0

    @classmethod
    def of(cls, process: LatentProcess, variance: float) -> UncertainMean:
        """Beside a process that was learnt."""
        return cls(process.kernel, process.mean, process.X, process.posterior, process.noise, process, variance)

    @cached_property
    def _constant(self) -> tuple[np.ndarray, float, float]:
        """C 1 (n,), mean and variance of b."""
        slope, weights = self.without.of_constant()
        variance = 1.0 / (1.0 / self.variance + float(np.sum(weights)))
        return weights, variance * float(np.sum(slope)), variance

    def _left(self, X: Inputs) -> np.ndarray:
        """r(x) (m,): how far the function does not make up for a change of the constant."""
        return 1.0 - self.without.along(X, self._constant[0])

    def moments(self, X: Inputs) -> tuple[np.ndarray, np.ndarray]:
        mean, variance = self.without.moments(X)
        left, (_, shift, added) = self._left(X), self._constant
        return mean + shift * left, variance + added * left**2

    def covariance(self, X: Inputs, Z: Inputs) -> np.ndarray:
        left = self._left(X)
        right = left if Z is X else self._left(Z)
        return self.without.covariance(X, Z) + self._constant[2] * np.outer(left, right)
