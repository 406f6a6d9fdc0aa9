"""log E Poisson(y; exp(s)), s ~ N(mean, variance), of many counts and Gaussians at once, by the trapezoidal rule about
the mode of the log-concave integrand, far enough to the left that the Gaussian alone has decayed."""

from __future__ import annotations

import math

import numpy as np
from numba import njit

__all__ = ["log_masses"]

_STEP, _RIGHT, _LEFT, _MOST = 0.35, 26, 9.0, 2000


@njit(cache=True, nogil=True)
def _one(y: float, mean: float, variance: float) -> float:
    if variance < 1e-14:
        return y * mean - math.exp(min(mean, 700.0)) - math.lgamma(y + 1.0)
    s = min(mean, math.log(y + 1.0)) if y == 0.0 else math.log(y)
    low, high = min(s, mean) - variance * 1.0 - 1.0, max(s, mean)
    for _ in range(100):
        rate = math.exp(s)
        gradient = y - rate - (s - mean) / variance
        if gradient > 0.0:
            low = max(low, s)
        else:
            high = min(high, s)
        step = gradient / (rate + 1.0 / variance)
        s += step
        if not low <= s <= high:
            s = 0.5 * (low + high)
        if abs(step) < 1e-9 * (1.0 + abs(s)):
            break
    width = 1.0 / math.sqrt(math.exp(s) + 1.0 / variance)
    top = y * s - math.exp(s) - 0.5 * (s - mean) ** 2 / variance
    total = 0.0
    left = min(int(_LEFT * math.sqrt(variance) / (_STEP * width)) + 1, _MOST)
    for k in range(-left, _RIGHT):
        at = s + _STEP * width * k
        total += math.exp(y * at - math.exp(at) - 0.5 * (at - mean) ** 2 / variance - top)
    return top + math.log(_STEP * width * total) - 0.5 * math.log(2.0 * math.pi * variance) - math.lgamma(y + 1.0)


@njit(cache=True, nogil=True)
def log_masses(y: float, mean: np.ndarray, variance: np.ndarray) -> np.ndarray:
    """Return (d,) log masses of one count under as many Gaussians of the log rate."""
    out = np.empty(len(mean))
    for k in range(len(mean)):
        out[k] = _one(y, mean[k], variance[k])
    return out
