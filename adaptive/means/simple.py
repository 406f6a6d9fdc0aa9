"""m(x) = 0,  m(x) = constant,  m(x) = coefficients . x."""

from __future__ import annotations

from typing import Any

import numpy as np

from adaptive.means.base import Mean

__all__ = ["Constant", "Linear", "Zero"]


class Zero(Mean):
    """m(x) = 0."""

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
    """

    def __init__(self, coefficients: Any = 0.0) -> None:
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
