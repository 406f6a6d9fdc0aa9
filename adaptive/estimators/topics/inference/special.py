"""Digamma, its derivative and its inverse, for compiled loops: recurrence to x >= 10, then the asymptotic series."""

from __future__ import annotations

import math

import numba

__all__ = ["digamma", "inverse_digamma", "trigamma"]


@numba.njit(cache=True)
def digamma(x: float) -> float:
    """The derivative of log Gamma at x > 0."""
    total = 0.0
    while x < 10.0:
        total -= 1.0 / x
        x += 1.0
    square = 1.0 / (x * x)
    series = square * (1 / 12 - square * (1 / 120 - square * (1 / 252 - square * (1 / 240 - square / 132))))
    return total + math.log(x) - 0.5 / x - series


@numba.njit(cache=True)
def trigamma(x: float) -> float:
    """The second derivative of log Gamma at x > 0."""
    total = 0.0
    while x < 10.0:
        total += 1.0 / (x * x)
        x += 1.0
    square = 1.0 / (x * x)
    series = 1 / 6 - square * (1 / 30 - square * (1 / 42 - square * (1 / 30 - square * 5 / 66)))
    return total + (1.0 + 0.5 / x + square * series) / x


@numba.njit(cache=True)
def inverse_digamma(value: float) -> float:
    """The x > 0 whose digamma is ``value``: Newton's method, which converges from below of this start (Minka 2000)."""
    x = math.exp(min(value, 100.0)) + 0.5 if value >= -2.22 else -1.0 / (value + 0.5772156649015329)
    for _ in range(8):
        x = max(x - (digamma(x) - value) / trigamma(x), 0.1 * x)
    return x
