"""Moments of sigmoid(s)^f N(s | c, v), a few microseconds each.

Moderate v: the trapezoid rule about the mode. The integrand is analytic in the strip |Im s| < pi, so that a step h errs
by exp(d^2/(2v) - 2 pi d/h) for any d < pi; h is chosen for exp(-accuracy), 1e-16 unless a caller can do with less: the
number of points grows with accuracy^1.5 sqrt(v).

Large v: sigmoid(s) = min(1, e^s)/(1 + e^-|s|). The first factor has closed moments (two halves of Gaussians); the rest,
min(1, e^s)^f ((1 + e^-|s|)^-f - 1), decays like e^-|s| and takes a few Gauss-Legendre panels on each side of zero.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from adaptive.potentials.truncated_gaussian import two_halves

__all__ = ["ACCURACY", "FEW", "NODES", "WEIGHTS", "accuracy_for", "many", "moments", "roughly"]

_LARGE = 30.0  # cavity variance from which on the second way is the shorter one, at full accuracy
ACCURACY = 37.0  # nats
_STRIP = 0.9 * math.pi
_SPARE = 8.0  # nats by which moments are better than what a tolerance asks, to the power 3/2
_WIDE = 10.0  # cavity variance from which on few nodes on each side of zero err by 2e-9 at most, and are quicker


def _one_sided_rule() -> tuple[np.ndarray, np.ndarray]:
    """Gauss-Legendre panels on [0, 40], growing with the distance from zero."""
    x, w = np.polynomial.legendre.leggauss(14)
    edges = np.array([0.0, 1.2, 3.0, 6.0, 11.0, 20.0, 40.0])
    half_width = 0.5 * np.diff(edges)[:, None]
    return (edges[:-1, None] + half_width * (1 + x)).ravel(), (half_width * w).ravel()


NODES, WEIGHTS = _one_sided_rule()


def _few() -> np.ndarray:
    """A shorter rule on [0, 20], (2, 30): nodes a, and weights times -sigmoid(-a), what `two_halves` leaves to add."""
    x, w = np.polynomial.legendre.leggauss(10)
    half_width = 0.5 * np.diff([0.0, 2.0, 6.0, 20.0])[:, None]
    a = (np.array([[0.0], [2.0], [6.0]]) + half_width * (1 + x)).ravel()
    return np.stack([a, -(half_width * w).ravel() / (1.0 + np.exp(a))])


FEW = _few()


def accuracy_for(tol: float) -> float:
    """Return nats to which moments are good enough for sites that settle to ``tol``.

    Examples
    --------
    >>> accuracy_for(1e-3) < accuracy_for(1e-6) < ACCURACY
    True
    """
    return float(min(ACCURACY, _SPARE - 1.5 * math.log(max(tol, 1e-12))))


@njit(cache=True)
def _mode(c: float, v: float, f: float) -> float:
    """Root of f sigmoid(-s) = (s - c)/v, to a hundredth of the tilted standard deviation."""
    low, high = c, c + v * f
    s = min(max(0.0, low), high)
    for _ in range(100):
        decay = math.exp(-abs(s))
        minority = decay / (1.0 + decay)
        down = minority if s > 0 else 1.0 - minority  # sigmoid(-s)
        slope = f * down - (s - c) / v
        bend = f * minority * (1.0 - minority) + 1.0 / v
        if slope > 0:
            low = s
        else:
            high = s
        if slope * slope < 1e-4 * bend:
            break
        s += slope / bend
        if not low < s < high:
            s = 0.5 * (low + high)
    return s


@njit(cache=True)
def _by_trapezoid(c: float, v: float, f: float, accuracy: float) -> tuple[float, float, float]:
    start = _mode(c, v, f)
    slope = (start - c) / v
    depth = min(_STRIP, math.sqrt(2.0 * v * accuracy))
    smallest = 1e-17 if accuracy >= ACCURACY else math.exp(-accuracy - 2.0)
    h = 2.0 * math.pi * depth / (accuracy + 0.5 * depth * depth / v)
    at_start = math.log1p(math.exp(-abs(start)))
    zero, one, two = 1.0, 0.0, 0.0
    for side in (-1.0, 1.0):
        for k in range(1, 100000):
            x = side * h * k
            s = start + x
            rise = x if s < 0 and start < 0 else min(s, 0.0) - min(start, 0.0)
            rise += at_start - math.log1p(math.exp(-abs(s)))
            w = math.exp(f * rise - x * (0.5 * x / v + slope))
            zero += w
            one += w * x
            two += w * x * x
            if w < smallest * zero:
                break
    one /= zero
    log_peak = f * (min(start, 0.0) - at_start) - 0.5 * (start - c) * slope
    return log_peak + math.log(zero * h / math.sqrt(2.0 * math.pi * v)), start + one, two / zero - one * one


@njit(cache=True)
def _by_halves(c: float, v: float, f: float, nodes: np.ndarray, weights: np.ndarray) -> tuple[float, float, float]:
    log_z, scaled, mean, var = two_halves(c, v, 0.0, f)
    scaled += 0.5 * math.log(2.0 * math.pi * v)  # both N and its normaliser without their common exp(-c^2/(2v))
    zero, one, two = 0.0, 0.0, 0.0
    for k in range(len(nodes)):
        a = nodes[k]
        rest = math.expm1(-f * math.log1p(math.exp(-a))) * weights[k]
        for side in (-1.0, 1.0):
            s = side * a
            w = rest * math.exp((f * s if s < 0 else 0.0) + s * (c - 0.5 * s) / v - scaled)
            zero += w
            one += w * (s - mean)
            two += w * (s - mean) ** 2
    shift = one / (1.0 + zero)
    return log_z + math.log1p(zero), mean + shift, (var + two) / (1.0 + zero) - shift * shift


@njit(cache=True)
def many(
    c: np.ndarray,
    v: np.ndarray,
    f: float,
    nodes: np.ndarray,
    weights: np.ndarray,
    out: np.ndarray,
    accuracy: float = ACCURACY,
) -> None:
    """Moments of every row into ``out``, (3, m), to exp(-accuracy)."""
    large = _LARGE * (ACCURACY / accuracy) ** 3
    for i in range(len(c)):
        if v[i] < large:
            out[0, i], out[1, i], out[2, i] = _by_trapezoid(c[i], v[i], f, accuracy)
        else:
            out[0, i], out[1, i], out[2, i] = _by_halves(c[i], v[i], f, nodes, weights)


@njit(cache=True)
def _by_few(c: float, v: float, few: np.ndarray) -> tuple[float, float, float]:
    log_z, scaled, mean, var = two_halves(c, v, 0.0, 1.0)
    scaled += 0.5 * math.log(2.0 * math.pi * v)
    zero, one, two = 0.0, 0.0, 0.0
    for k in range(few.shape[1]):
        a, rest = few[0, k], few[1, k]
        right = rest * math.exp(a * (c - 0.5 * a) / v - scaled)
        left = rest * math.exp(-a - a * (c + 0.5 * a) / v - scaled)
        zero += right + left
        one += right * (a - mean) - left * (a + mean)
        two += right * (a - mean) ** 2 + left * (a + mean) ** 2
    shift = one / (1.0 + zero)
    return log_z + math.log1p(zero), mean + shift, (var + two) / (1.0 + zero) - shift * shift


@njit(cache=True)
def roughly(c: np.ndarray, v: np.ndarray, few: np.ndarray, out: np.ndarray, accuracy: float) -> None:
    """Moments of every row's sigmoid(s) N(s | c, v) into ``out``, (3, m), to exp(-accuracy) or 2e-9; few: `FEW`."""
    for i in range(len(c)):
        if v[i] < _WIDE:
            out[0, i], out[1, i], out[2, i] = _by_trapezoid(c[i], v[i], 1.0, accuracy)
        else:
            out[0, i], out[1, i], out[2, i] = _by_few(c[i], v[i], few)


def moments(mean: np.ndarray, variance: np.ndarray, fraction: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return log normaliser, mean and variance of sigmoid(s)^fraction N(s | mean, variance).

    Examples
    --------
    >>> log_normaliser, mean, variance = moments(np.array([0.0]), np.array([1e8]), 1.0)
    >>> float(np.exp(log_normaliser[0]).round(12))
    0.5
    """
    out = np.empty((3, mean.size))
    many(np.array(mean, dtype=float).ravel(), np.array(variance, dtype=float).ravel(), fraction, NODES, WEIGHTS, out)
    log_normaliser, centre, spread = out.reshape(3, *mean.shape)
    return log_normaliser, centre, spread
