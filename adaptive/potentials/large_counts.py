"""The part of the entropy of a predictive count that lies beyond its first counts, without a table of these.

    - sum_{y >= a} p(y) log p(y)  =  - integral from a - 1/2 of p log p  - (p log p)'(a - 1/2) / 24  + ...

since p, continued to real y, varies on the scale of sqrt(y) at least (Euler and Maclaurin); the integral is taken over
panels of a few such scales, and p(y) = E Poisson(y; e rate(s)) at each point by the trapezoidal rule about the mode of
its integrand, which converges exponentially. Logarithms of masses are those of deviances, so that large counts lose no
digits.

Of the rate exp(s) counts may lie beyond what a float can hold. From 1e9 on (1e10 / variance if that is more) the noise
of the count is nothing beside the spread of log y, which is then normal:  p(y) = N(log y; mean, v) / y,  v = variance +
1/y,  so that with z the lower end in deviations

    - integral p log p  =  Q(z) (log(2 pi e v) / 2 + mean) + phi(z) (z / 2 + sqrt(v)).
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

__all__ = ["FIRST", "large_entropy", "rate_and_slope"]

FIRST = 512  # counts that are listed one by one
_REACH = 7.5  # standard deviations of the projection
_LARGEST_LOG = 690.0
_LOG_NORMAL_FROM = 1e9


@njit(cache=True)
def rate_and_slope(kind: int, s: float, e: float) -> tuple[float, float]:
    """e rate(s) and its derivative; kind 0, 1, 2: exp, softplus, rectified."""
    if kind == 0:
        rate = e * math.exp(min(s, _LARGEST_LOG))
        return rate, rate
    if kind == 2:
        return e * max(s, 0.0), e if s > 0 else 0.0
    decay = math.exp(-abs(s))
    return e * (max(s, 0.0) + math.log1p(decay)), e * (1.0 if s > 0 else decay) / (1.0 + decay)


@njit(cache=True)
def _inverse(kind: int, y: float, e: float) -> float:
    """The projection with e rate(s) = y."""
    rate = y / e
    if kind == 0:
        return math.log(rate)
    if kind == 2 or rate > 40.0:
        return rate
    return math.log(math.expm1(rate))


@njit(cache=True)
def _log_poisson(y: float, log_ratio: float) -> float:
    """log of the Poisson mass of a large y at the rate y exp(log_ratio)."""
    x = log_ratio
    if abs(x) < 1e-2:
        deviance = -x * x * (0.5 + x * (1 / 6 + x * (1 / 24 + x * (1 / 120 + x * (1 / 720 + x / 5040)))))
    else:
        deviance = x - math.expm1(min(x, _LARGEST_LOG))
    return y * deviance - 0.5 * math.log(2.0 * math.pi * y) - 1.0 / (12.0 * y) + 1.0 / (360.0 * y * y * y)


@njit(cache=True)
def _log_ratio(kind: int, s: float, e: float, y: float) -> float:
    if kind == 0:
        return s + math.log(e) - math.log(y)
    rate = rate_and_slope(kind, s, e)[0]
    return math.log(rate / y) if rate > 0.0 else -math.inf


@njit(cache=True)
def _curvature(kind: int, s: float, e: float, y: float) -> float:
    """Minus the second derivative of y log rate - rate."""
    rate, slope = rate_and_slope(kind, s, e)
    if kind == 0:
        return rate
    bend = 0.0 if kind == 2 else slope * (1.0 - slope / e)
    return y * (slope / rate) ** 2 - (y / rate - 1.0) * bend


@njit(cache=True)
def _log_mass(kind: int, mean: float, variance: float, e: float, y: float) -> float:
    """log p(y) of a large real y."""
    peak = _inverse(kind, y, e)
    low, high = min(peak, mean), max(peak, mean)  # the mode lies between those of the two factors
    if kind == 2:
        low = max(low, 1e-3 * peak)
    s = peak
    for _ in range(60):
        rate, slope = rate_and_slope(kind, s, e)
        gradient = (y / rate - 1.0) * slope - (s - mean) / variance
        if gradient > 0:
            low = s
        else:
            high = s
        step = gradient / (_curvature(kind, s, e, y) + 1.0 / variance)
        s += step
        if not low <= s <= high:
            s = 0.5 * (low + high)
        if abs(step) < 1e-6 / math.sqrt(_curvature(kind, s, e, y) + 1.0 / variance):
            break
    width = 1.0 / math.sqrt(_curvature(kind, s, e, y) + 1.0 / variance)
    top = _log_poisson(y, _log_ratio(kind, s, e, y)) - 0.5 * (s - mean) ** 2 / variance
    total = 0.0
    for k in range(-24, 25):
        at = s + 0.35 * k * width
        ratio = _log_ratio(kind, at, e, y)
        if ratio > -math.inf:
            total += math.exp(_log_poisson(y, ratio) - 0.5 * (at - mean) ** 2 / variance - top)
    return top + math.log(0.35 * width * total) - 0.5 * math.log(2.0 * math.pi * variance)


@njit(cache=True)
def _term(kind: int, mean: float, variance: float, e: float, y: float) -> float:
    log_mass = _log_mass(kind, mean, variance, e, y)
    return -log_mass * math.exp(log_mass) if log_mass > -700.0 else 0.0


@njit(cache=True)
def _log_normal_from(variance: float) -> float:
    """The count from which log y is normal: 1/y is below 1e-10 of a broad variance, and added to a narrow one."""
    return max(_LOG_NORMAL_FROM, 1e10 / variance) if variance > 1e-6 else _LOG_NORMAL_FROM


@njit(cache=True)
def _log_normal_entropy(mean: float, variance: float, log_from: float) -> float:
    """- integral of p log p over y >= exp(log_from), where log y is normal."""
    sd = math.sqrt(variance)
    z = (log_from - mean) / sd
    above = 0.5 * math.erfc(z * math.sqrt(0.5))
    at = math.exp(-0.5 * z * z) / math.sqrt(2.0 * math.pi)
    return above * (0.5 * math.log(2.0 * math.pi * math.e * variance) + mean) + at * (0.5 * z + sd)


@njit(cache=True)
def large_entropy(kind: int, mean: float, variance: float, e: float, nodes: np.ndarray, weights: np.ndarray) -> float:
    """- sum of p(y) log p(y) over the counts y >= FIRST, for variance > 0.

    Parameters
    ----------
    kind : int
        0, 1, 2: exp, softplus, rectified.
    mean, variance : float
        Of the projection.
    e : float
        Exposure.
    nodes, weights : arrays
        Of a Gauss-Legendre rule on [-1, 1].
    """
    sd = math.sqrt(variance)
    low = rate_and_slope(kind, mean - _REACH * sd, e)[0]
    high = rate_and_slope(kind, mean + _REACH * sd, e)[0]
    high += 9.0 * math.sqrt(high) + 30.0
    left = max(FIRST - 0.5, low - 9.0 * math.sqrt(low) - 30.0)
    total = beyond = 0.0
    if kind == 0:
        log_from, log_e = math.log(_log_normal_from(variance)), math.log(e)
        if mean + log_e + _REACH * sd > log_from:
            broadened = variance + math.exp(-max(mean + log_e, log_from))
            beyond = _log_normal_entropy(mean + log_e, broadened, max(log_from, math.log(left)))
            high = min(high, math.exp(log_from))
    if left == FIRST - 0.5:
        slope = _term(kind, mean, variance, e, float(FIRST)) - _term(kind, mean, variance, e, FIRST - 1.0)
        total += slope / 24.0
    while left < high:
        slope = rate_and_slope(kind, _inverse(kind, left, e), e)[1]
        scale = math.sqrt(left + min(slope * slope * variance, 0.25 * left * left))
        length = min(2.0 * scale, high - left)
        for k in range(len(nodes)):
            y = left + 0.5 * length * (1.0 + nodes[k])
            total += 0.5 * length * weights[k] * _term(kind, mean, variance, e, y)
        left += length
    return total + beyond
