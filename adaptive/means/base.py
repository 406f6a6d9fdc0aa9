"""What every mean function is: values at inputs, parameters as one vector, and the derivatives of values in them."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

__all__ = ["Mean"]


class Mean(BaseEstimator):
    """Base of mean functions; they add, multiply and take integer powers.

    Examples
    --------
    >>> from adaptive.means import Constant, Linear
    >>> mean = Constant(2.0) + Linear([1.0, -1.0])
    >>> mean(np.array([[3.0, 1.0]])), mean.theta
    (array([4.]), array([ 2.,  1., -1.]))
    """

    @abstractmethod
    def prepared(self, X: np.ndarray) -> Mean:
        """A copy with a parameter for every column of the inputs."""

    @property
    @abstractmethod
    def theta(self) -> np.ndarray:
        """(p,) parameters, as they are (not logarithms)."""

    @abstractmethod
    def with_theta(self, theta: np.ndarray) -> Mean:
        """A copy with other parameters."""

    @abstractmethod
    def gradient(self, X: np.ndarray) -> np.ndarray:
        """(m, p) derivatives of the values."""

    @abstractmethod
    def __call__(self, X: np.ndarray) -> np.ndarray:
        """(m,) values."""

    def __add__(self, other: Any) -> Mean:
        from adaptive.means.composite import Sum

        return Sum(self, as_mean(other))

    __radd__ = __add__

    def __mul__(self, other: Any) -> Mean:
        from adaptive.means.composite import Product

        return Product(self, as_mean(other))

    __rmul__ = __mul__

    def __pow__(self, power: int) -> Mean:
        from adaptive.means.composite import Power

        return Power(self, power)


def as_mean(value: Any) -> Mean:
    """A mean function; a number is a constant, None is zero."""
    if isinstance(value, Mean):
        return value
    from adaptive.means.simple import Constant, Zero

    if value is None:
        return Zero()
    if np.ndim(value) == 0 and np.isreal(value):
        return Constant(float(value))
    raise ValueError(f"mean must be a mean function of adaptive.means, a number or None, got {type(value).__name__}.")
