"""Rates of Poisson likelihoods as functions of the projection: exp(s), max(0, s), log(1 + exp(s)).

Each gives y log rate - rate with three derivatives, and its difference between s and s + step without cancellation.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import expit, xlogy

__all__ = ["RATES", "Exponential", "Rectified", "Softplus"]


class Exponential:
    """rate = exp(s)."""

    smooth, kinks, cut = True, (), False

    @staticmethod
    def rate(s: np.ndarray) -> np.ndarray:
        with np.errstate(over="ignore"):
            return np.exp(s)

    @classmethod
    def log_term(cls, s: np.ndarray, y: np.ndarray) -> np.ndarray:
        return y * s - cls.rate(s)

    @classmethod
    def derivatives(cls, s: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        rate = cls.rate(s)
        second = -rate + 0.0 * y
        return y - rate, second, second

    @classmethod
    def log_ratio(cls, s: np.ndarray, step: np.ndarray, y: np.ndarray) -> np.ndarray:
        with np.errstate(over="ignore", invalid="ignore"):
            change = np.where(
                step < 1.0, cls.rate(s) * np.expm1(np.minimum(step, 1.0)), cls.rate(s + step) - cls.rate(s)
            )
        return y * step - change


class Rectified:
    """rate = max(0, s): an outcome 0 is certain for s <= 0, a positive count impossible."""

    smooth, kinks, cut = False, (0.0,), True

    @staticmethod
    def rate(s: np.ndarray) -> np.ndarray:
        return np.maximum(s, 0.0)

    @classmethod
    def log_term(cls, s: np.ndarray, y: np.ndarray) -> np.ndarray:
        return xlogy(y, cls.rate(s)) - cls.rate(s)

    @staticmethod
    def derivatives(s: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        positive = s > 0
        safe = np.where(positive, s, 1.0)
        with np.errstate(over="ignore"):
            first = np.where(positive, y / safe - 1, np.where(y > 0, np.inf, 0.0))
            second = np.where(positive, -y / safe / safe, np.where(y > 0, -np.inf, 0.0))
            third = np.where(positive, 2 * y / safe / safe / safe, 0.0)
        return first, second, third

    @classmethod
    def log_ratio(cls, s: np.ndarray, step: np.ndarray, y: np.ndarray) -> np.ndarray:
        moved = s + step
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            close = np.log1p(np.maximum(step / np.where(s > 0, s, 1.0), -1.0))
            growth = np.where(np.abs(step) < 0.5 * s, close, np.log(moved) - np.log(s))
            power = np.where(y > 0, np.where(moved > 0, y * growth, -np.inf), 0.0)
        return power - np.where((s > 0) & (moved > 0), step, cls.rate(moved) - cls.rate(s))


class Softplus:
    """rate = log(1 + exp(s)): exponential on the left, linear on the right."""

    smooth, kinks, cut = True, (), False

    @staticmethod
    def rate(s: np.ndarray) -> np.ndarray:
        return np.maximum(s, 0.0) + np.log1p(np.exp(-np.abs(s)))

    @classmethod
    def log_rate(cls, s: np.ndarray) -> np.ndarray:
        # far left, rate = exp(s)(1 - exp(s)/2 + ...) underflows before its logarithm does
        return np.where(s < -36, s, np.log(cls.rate(np.maximum(s, -37.0))))

    @classmethod
    def log_term(cls, s: np.ndarray, y: np.ndarray) -> np.ndarray:
        return y * cls.log_rate(s) - cls.rate(s)

    @classmethod
    def derivatives(cls, s: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        slope, rest = expit(s), expit(-s)
        pull = np.where(s < -36, 1.0, slope / cls.rate(np.maximum(s, -37.0)))  # d log rate / ds
        decay = cls._decay(s)  # d log pull / ds
        first = y * pull - slope
        second = y * pull * decay - slope * rest
        third = y * pull * (decay * decay - slope * rest - pull * decay) - slope * rest * (rest - slope)
        return first, second, third

    @classmethod
    def _decay(cls, s: np.ndarray) -> np.ndarray:
        """sigmoid(-s) - sigmoid(s)/rate = (log(1 + u) - u) / ((1 + u) log(1 + u)), u = exp(s)."""
        u = np.exp(np.minimum(s, -1.5))
        series = np.zeros_like(u)
        for k in range(24, 0, -1):  # log(1 + u) - u = -u^2 (1/2 - u/3 + ...), log(1 + u) = u (1 - u/2 + ...)
            series = 1.0 / (k + 1) - u * series
        ratio = -u * series / (1 - u * series) / (1 + u)
        return np.where(s < -1.5, ratio, expit(-s) - expit(s) / cls.rate(np.maximum(s, -37.0)))

    @classmethod
    def log_ratio(cls, s: np.ndarray, step: np.ndarray, y: np.ndarray) -> np.ndarray:
        moved = s + step
        rise = np.where((s > 0) & (moved > 0), step, np.maximum(moved, 0.0) - np.maximum(s, 0.0))
        rise = rise + np.log1p(np.exp(-np.abs(moved))) - np.log1p(np.exp(-np.abs(s)))
        left = (s < -36) & (moved < -36)
        small = np.abs(rise) < 0.5 * cls.rate(s)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            growth = np.where(small, np.log1p(np.where(small, rise / cls.rate(np.maximum(s, -700.0)), 0.0)),
                              cls.log_rate(moved) - cls.log_rate(s))  # fmt: skip
        return y * np.where(left, step, growth) - rise


RATES: dict[str, Any] = {"exp": Exponential, "rectified": Rectified, "softplus": Softplus}
