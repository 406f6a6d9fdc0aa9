"""Sums, products and powers of mean functions, with the chain rule."""

from __future__ import annotations

from typing import Any

import numpy as np

from adaptive import checks
from adaptive.means.base import Mean

__all__ = ["Power", "Product", "Sum"]


class _Pair(Mean):
    """Two mean functions, their parameters one after the other."""

    def __init__(self, first: Mean, second: Mean) -> None:
        self.first = first
        self.second = second

    def prepared(self, X: np.ndarray) -> Any:
        return type(self)(self.first.prepared(X), self.second.prepared(X))

    @property
    def theta(self) -> np.ndarray:
        return np.concatenate([self.first.theta, self.second.theta])

    def with_theta(self, theta: np.ndarray) -> Any:
        cut = len(self.first.theta)
        return type(self)(self.first.with_theta(theta[:cut]), self.second.with_theta(theta[cut:]))


class Sum(_Pair):
    """m(x) = first(x) + second(x)."""

    def gradient(self, X: np.ndarray) -> np.ndarray:
        return np.concatenate([self.first.gradient(X), self.second.gradient(X)], axis=1)

    def __call__(self, X: np.ndarray) -> np.ndarray:
        return self.first(X) + self.second(X)


class Product(_Pair):
    """m(x) = first(x) second(x)."""

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
