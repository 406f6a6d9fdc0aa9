"""Expectations of l(s) = log sigmoid(s), l'(s) and l''(s) under N(m, v), a few microseconds each.

Moderate v: the trapezoid rule, whose error is exp(d^2/(2v) - 2 pi d/h) for any d < pi: l is analytic in |Im s| < pi.

Large v: l(s) = min(s, 0) - log1p(exp(-|s|)). The first part has closed expectations, the rest decays like exp(-|s|) and
takes a few Gauss-Legendre panels on each side of zero, over which the Gaussian is smooth.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

__all__ = ["averages"]

_LARGE = 30.0  # variance from which on the second way is the shorter one
_ACCURACY = 37.0  # nats
_STRIP = 0.9 * math.pi
_REACH = 9.0  # standard deviations


def _one_sided_rule() -> tuple[np.ndarray, np.ndarray]:
    """Gauss-Legendre panels on [0, 40], growing with the distance from zero."""
    x, w = np.polynomial.legendre.leggauss(14)
    edges = np.array([0.0, 1.2, 3.0, 6.0, 11.0, 20.0, 40.0])
    half_width = 0.5 * np.diff(edges)[:, None]
    return (edges[:-1, None] + half_width * (1 + x)).ravel(), (half_width * w).ravel()


_NODES, _WEIGHTS = _one_sided_rule()


@njit(cache=True)
def _by_trapezoid(m: float, v: float) -> tuple[float, float, float]:
    depth = min(_STRIP, math.sqrt(2.0 * v * _ACCURACY))
    h = 2.0 * math.pi * depth / (_ACCURACY + 0.5 * depth * depth / v)
    count = int(_REACH * math.sqrt(v) / h) + 1
    total, zero, one, two = 0.0, 0.0, 0.0, 0.0
    for k in range(-count, count + 1):
        x = k * h
        w = math.exp(-0.5 * x * x / v)
        s = m + x
        decay = math.exp(-abs(s))
        minority = decay / (1.0 + decay)
        total += w
        zero += w * (min(s, 0.0) - math.log1p(decay))
        one += w * (minority if s > 0 else 1.0 - minority)
        two -= w * minority * (1.0 - minority)
    return zero / total, one / total, two / total


@njit(cache=True)
def _by_halves(m: float, v: float, nodes: np.ndarray, weights: np.ndarray) -> tuple[float, float, float]:
    sd = math.sqrt(v)
    below = 0.5 * math.erfc(m / sd / math.sqrt(2.0))  # P(s < 0)
    peak = math.exp(-0.5 * m * m / v) / math.sqrt(2.0 * math.pi)
    zero, one, two = m * below - sd * peak, below, 0.0
    for k in range(len(nodes)):
        decay = math.exp(-nodes[k])
        minority = decay / (1.0 + decay)
        for side in (-1.0, 1.0):
            gap = side * nodes[k] - m
            w = weights[k] * math.exp(-0.5 * gap * gap / v) / (sd * math.sqrt(2.0 * math.pi))
            zero -= w * math.log1p(decay)
            one += side * w * minority
            two -= w * minority * (1.0 - minority)
    return zero, one, two


@njit(cache=True)
def _many(m: np.ndarray, v: np.ndarray, nodes: np.ndarray, weights: np.ndarray, out: np.ndarray) -> None:
    for i in range(len(m)):
        if v[i] <= 0.0:
            decay = math.exp(-abs(m[i]))
            minority = decay / (1.0 + decay)
            out[0, i] = min(m[i], 0.0) - math.log1p(decay)
            out[1, i] = minority if m[i] > 0 else 1.0 - minority
            out[2, i] = -minority * (1.0 - minority)
        elif v[i] < _LARGE:
            out[0, i], out[1, i], out[2, i] = _by_trapezoid(m[i], v[i])
        else:
            out[0, i], out[1, i], out[2, i] = _by_halves(m[i], v[i], nodes, weights)


def averages(mean: np.ndarray, variance: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return E l(s), E l'(s) and E l''(s), l = log sigmoid, s ~ N(mean, variance), arrays of one shape.

    Examples
    --------
    >>> value, first, second = averages(np.array([0.0]), np.array([4.0]))
    >>> float(first[0].round(12))
    0.5
    """
    out = np.empty((3, mean.size))
    _many(np.array(mean, dtype=float).ravel(), np.array(variance, dtype=float).ravel(), _NODES, _WEIGHTS, out)
    value, first, second = out.reshape(3, *mean.shape)
    return value, first, second
