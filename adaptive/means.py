"""Mean functions of Gaussian processes: zero, constant, linear, and their sums, products and powers.

Every one has values at inputs, parameters as one vector, and the derivatives of values in them. A new one is one class:
parameters by name, and ``__call__`` with the derivatives.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Self

import numpy as np
from sklearn.base import BaseEstimator

from adaptive import checks

if TYPE_CHECKING:
    from adaptive.types import ArrayLike

__all__ = ["Constant", "Linear", "Mean", "Power", "Product", "Sum", "Zero"]


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

    def __add__(self, other: Mean | float) -> Mean:
        return Sum(self, as_mean(other))

    __radd__ = __add__

    def __mul__(self, other: Mean | float) -> Mean:
        return Product(self, as_mean(other))

    __rmul__ = __mul__

    def __pow__(self, power: int) -> Mean:
        return Power(self, power)


def as_mean(value: Mean | float | None) -> Mean:
    """A mean function; a number is a constant, None is zero."""
    if isinstance(value, Mean):
        return value
    if value is None:
        return Zero()
    if np.ndim(value) == 0 and np.isreal(value):
        return Constant(float(value))
    raise ValueError(f"mean must be a mean function of adaptive.means, a number or None, got {type(value).__name__}.")


class Zero(Mean):
    """m(x) = 0.

    Examples
    --------
    >>> Zero()(np.ones((2, 1)))
    array([0., 0.])
    """

    theta = np.empty(0)  # type: ignore[assignment]

    def prepared(self, X: np.ndarray) -> Zero:
        return self

    def with_theta(self, theta: np.ndarray) -> Zero:
        return self

    def gradient(self, X: np.ndarray) -> np.ndarray:
        return np.empty((len(X), 0))

    def __call__(self, X: np.ndarray) -> np.ndarray:
        return np.zeros(len(X))


class Constant(Mean):
    """m(x) = value.

    Parameters
    ----------
    value : float, default 0.0

    Examples
    --------
    >>> Constant(2.0)(np.zeros((3, 1)))
    array([2., 2., 2.])
    """

    def __init__(self, value: float = 0.0) -> None:
        self.value = value

    def prepared(self, X: np.ndarray) -> Constant:
        return self

    @property
    def theta(self) -> np.ndarray:
        return np.array([float(self.value)])

    def with_theta(self, theta: np.ndarray) -> Constant:
        return Constant(float(theta[0]))

    def gradient(self, X: np.ndarray) -> np.ndarray:
        return np.ones((len(X), 1))

    def __call__(self, X: np.ndarray) -> np.ndarray:
        return np.full(len(X), float(self.value))


class Linear(Mean):
    """m(x) = coefficients . x.

    Parameters
    ----------
    coefficients : (D,) array or float, default 0.0
        A float: the same for every column, to begin with.

    Examples
    --------
    >>> Linear([1.0, -1.0])(np.array([[3.0, 1.0]]))
    array([2.])
    """

    def __init__(self, coefficients: ArrayLike = 0.0) -> None:
        self.coefficients = coefficients

    def prepared(self, X: np.ndarray) -> Linear:
        given = np.asarray(self.coefficients, dtype=float)
        if given.ndim and given.shape != (X.shape[1],):
            raise ValueError(f"Linear has {given.size} coefficients, but the inputs have {X.shape[1]} columns.")
        return Linear(np.broadcast_to(given, (X.shape[1],)).copy())

    @property
    def theta(self) -> np.ndarray:
        return np.atleast_1d(np.asarray(self.coefficients, dtype=float))

    def with_theta(self, theta: np.ndarray) -> Linear:
        return Linear(np.array(theta))

    def gradient(self, X: np.ndarray) -> np.ndarray:
        X = np.asarray(X, dtype=float)
        return X if np.ndim(self.coefficients) else X.sum(axis=1, keepdims=True)

    def __call__(self, X: np.ndarray) -> np.ndarray:
        return np.asarray(X, dtype=float) @ np.broadcast_to(self.coefficients, (np.shape(X)[1],))


class _Pair(Mean):
    """Two mean functions, their parameters one after the other."""

    def __init__(self, first: Mean, second: Mean) -> None:
        self.first = first
        self.second = second

    def prepared(self, X: np.ndarray) -> Self:
        return type(self)(self.first.prepared(X), self.second.prepared(X))

    @property
    def theta(self) -> np.ndarray:
        return np.concatenate([self.first.theta, self.second.theta])

    def with_theta(self, theta: np.ndarray) -> Self:
        cut = len(self.first.theta)
        return type(self)(self.first.with_theta(theta[:cut]), self.second.with_theta(theta[cut:]))


class Sum(_Pair):
    """m(x) = first(x) + second(x).

    Parameters
    ----------
    first, second : Mean

    Examples
    --------
    >>> Sum(Constant(2.0), Linear([3.0]))(np.array([[1.0]]))
    array([5.])
    """

    def gradient(self, X: np.ndarray) -> np.ndarray:
        return np.concatenate([self.first.gradient(X), self.second.gradient(X)], axis=1)

    def __call__(self, X: np.ndarray) -> np.ndarray:
        return self.first(X) + self.second(X)


class Product(_Pair):
    """m(x) = first(x) second(x).

    Parameters
    ----------
    first, second : Mean

    Examples
    --------
    >>> Product(Constant(2.0), Linear([3.0]))(np.array([[1.0]]))
    array([6.])
    """

    def gradient(self, X: np.ndarray) -> np.ndarray:
        a, b = self.first(X)[:, None], self.second(X)[:, None]
        return np.concatenate([self.first.gradient(X) * b, self.second.gradient(X) * a], axis=1)

    def __call__(self, X: np.ndarray) -> np.ndarray:
        return self.first(X) * self.second(X)


class Power(Mean):
    """m(x) = base(x)^power.

    Parameters
    ----------
    base : Mean
    power : int >= 1

    Raises
    ------
    ValueError
        If ``power`` is no integer of at least 1.

    Examples
    --------
    >>> Power(Linear([2.0]), 2)(np.array([[3.0]]))
    array([36.])
    """

    def __init__(self, base: Mean, power: int) -> None:
        self.base = base
        self.power = checks.integer("power", power, minimum=1)

    def prepared(self, X: np.ndarray) -> Power:
        return Power(self.base.prepared(X), self.power)

    @property
    def theta(self) -> np.ndarray:
        return self.base.theta

    def with_theta(self, theta: np.ndarray) -> Power:
        return Power(self.base.with_theta(theta), self.power)

    def gradient(self, X: np.ndarray) -> np.ndarray:
        return self.power * self.base(X)[:, None] ** (self.power - 1) * self.base.gradient(X)

    def __call__(self, X: np.ndarray) -> np.ndarray:
        return self.base(X) ** self.power
