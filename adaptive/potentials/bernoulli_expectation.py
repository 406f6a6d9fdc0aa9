"""Expectations of l(s), l'(s) and l''(s) under N(m, v), l = log sigmoid or log Phi, a few microseconds each.

Moderate v: the trapezoid rule, whose error is exp(d^2/(2v) - 2 pi d/h) for any d below the distance of the nearest
singularity of l from the real line (pi for the logit, 2.81 for the probit, a zero of Phi).

Large v: Gauss-Legendre panels that grow with the distance from zero, where l bends, up to a share of the Gaussian's
width.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from adaptive.potentials.truncated_gaussian import positive_part

__all__ = ["averages"]

_LARGE = 30.0  # variance from which on the second way is the shorter one
_ACCURACY = 37.0  # nats
_REACH = 9.0  # standard deviations
_STRIPS = (0.9 * math.pi, 2.5)  # logit, probit
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(16)
_GROWTH = 1.6  # of the panels with the distance from zero
_WIDEST = 1.25  # panel, in standard deviations
_GONE_PROBIT, _GONE_LOGIT = 9.5, 42.0  # from there on l, l' and l'' are below 1e-18


@njit(cache=True)
def _log_sigmoid(probit: bool, s: float) -> tuple[float, float, float]:
    """l, l' and l'' at s."""
    if probit:
        log_mass, delta, _ = positive_part(s)
        if s < 0.0:
            log_mass -= 0.5 * s * s
            slope = delta - s
        else:
            slope = math.exp(-0.5 * s * s - log_mass) / math.sqrt(2.0 * math.pi)
        return log_mass, slope, -slope * delta
    decay = math.exp(-abs(s))
    minority = decay / (1.0 + decay)
    slope = minority if s > 0.0 else 1.0 - minority
    return min(s, 0.0) - math.log1p(decay), slope, -minority * (1.0 - minority)


@njit(cache=True)
def _by_trapezoid(probit: bool, strip: float, m: float, v: float) -> tuple[float, float, float]:
    depth = min(strip, math.sqrt(2.0 * v * _ACCURACY))
    h = 2.0 * math.pi * depth / (_ACCURACY + 0.5 * depth * depth / v)
    count = int(_REACH * math.sqrt(v) / h) + 1
    total, zero, one, two = 0.0, 0.0, 0.0, 0.0
    for k in range(-count, count + 1):
        x = k * h
        w = math.exp(-0.5 * x * x / v)
        value, slope, bend = _log_sigmoid(probit, m + x)
        total += w
        zero += w * value
        one += w * slope
        two += w * bend
    return zero / total, one / total, two / total


@njit(cache=True)
def _by_panels(probit: bool, m: float, v: float, nodes: np.ndarray, weights: np.ndarray) -> tuple[float, float, float]:
    sd = math.sqrt(v)
    zero, one, two = 0.0, 0.0, 0.0
    for side in (-1.0, 1.0):
        centre = side * m
        start, end = max(0.0, centre - _REACH * sd), centre + _REACH * sd
        if side > 0.0:
            end = min(end, _GONE_PROBIT if probit else _GONE_LOGIT)
        while start < end:
            width = min(1.0 + (_GROWTH - 1.0) * start, _WIDEST * sd, end - start)
            for k in range(len(nodes)):
                x = start + 0.5 * width * (1.0 + nodes[k])
                gap = x - centre
                w = 0.5 * width * weights[k] * math.exp(-0.5 * gap * gap / v) / (sd * math.sqrt(2.0 * math.pi))
                value, slope, bend = _log_sigmoid(probit, side * x)
                zero += w * value
                one += w * slope
                two += w * bend
            start += width
    return zero, one, two


@njit(cache=True)
def _many(
    probit: bool, strip: float, m: np.ndarray, v: np.ndarray, nodes: np.ndarray, weights: np.ndarray, out: np.ndarray
) -> None:
    for i in range(len(m)):
        if v[i] <= 0.0:
            out[0, i], out[1, i], out[2, i] = _log_sigmoid(probit, m[i])
        elif v[i] < _LARGE:
            out[0, i], out[1, i], out[2, i] = _by_trapezoid(probit, strip, m[i], v[i])
        else:
            out[0, i], out[1, i], out[2, i] = _by_panels(probit, m[i], v[i], nodes, weights)


def averages(probit: bool, mean: np.ndarray, variance: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return E l(s), E l'(s) and E l''(s) for s ~ N(mean, variance), arrays of one shape.

    Parameters
    ----------
    probit : bool
        Else the logit.
    mean, variance : arrays of one shape

    Examples
    --------
    >>> value, first, second = averages(False, np.array([0.0]), np.array([4.0]))
    >>> float(first[0].round(12))
    0.5
    """
    out = np.empty((3, mean.size))
    flat = [np.array(a, dtype=float).ravel() for a in (mean, variance)]
    _many(probit, _STRIPS[probit], *flat, _NODES, _WEIGHTS, out)
    value, first, second = out.reshape(3, *mean.shape)
    return value, first, second
