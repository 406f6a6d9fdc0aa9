"""The sigmoid and the entropy of its outcome, smoothed by a Gaussian,

    G(u) = E sigmoid(u + sigma z),    B(u) = E H(sigmoid(u + sigma z)),    z ~ N(0, 1),

for one sigma and many u: both are tabulated on a lattice and interpolated, to about 1e-7.  The trapezoid rule is
exponentially exact for functions analytic in a strip, here |Im u| < pi; its nodes are lattice points, so that the
functions come from a table; sigmoid(u) - Phi(u / k) is nearly of compact support and Phi has a closed form.  Narrow
Gaussians take the Taylor series in sigma^2.
"""

from __future__ import annotations

import math
from functools import cache

import numpy as np
from numba import njit
from scipy.special import entr, expit, ndtr

__all__ = ["HALF_WINDOW", "REACH", "STEP", "interpolated", "pieces", "spacing", "stride_for", "tables", "tabulate"]

_ACCURACY = 17.0  # nats: the trapezoid rule errs by exp(-17) of the integrand's size
_STRIP = 0.95 * math.pi  # |Im u| up to which softmax is analytic, nearly
REACH = math.sqrt(2.0 * _ACCURACY)  # standard deviations that count
STEP = 1.0 / 6.0  # lattice of the tabulated functions
HALF_WINDOW = 27.0  # the functions below are under 1e-10 beyond
_MATCH = 1.7  # k in Phi(u / k)
_SERIES_BELOW = 0.16  # standard deviation below which the series is used


@cache
def tables() -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return at the lattice points: sigmoid - Phi(u/k), entropy, and derivatives 0, 2, 4, 6, 8 of sigmoid and entropy.

    With p = sigmoid(u), derivatives are polynomials in p, P_{n+1} = P_n' p (1 - p); the entropy has the slope -u p'.
    """
    u = STEP * np.arange(-round(HALF_WINDOW / STEP), round(HALF_WINDOW / STEP) + 1)
    few = expit(-np.abs(u))
    p = expit(u)
    rest = p - ndtr(u / _MATCH)
    entropy = entr(few) - (1 - few) * np.log1p(-few)
    logistic = np.polynomial.Polynomial([0.0, 1.0, -1.0])
    powers = [np.polynomial.Polynomial([0.0, 1.0])]
    for _ in range(9):
        powers.append(powers[-1].deriv() * logistic)
    slopes = [polynomial(p) for polynomial in powers]
    sigmoids = [slopes[n] for n in (0, 2, 4, 6, 8)]
    entropies = [entropy] + [-(u * slopes[n] + (n - 1) * slopes[n - 1]) for n in (2, 4, 6, 8)]
    return rest, entropy, np.array(sigmoids), np.array(entropies)


@njit(cache=True)
def spacing(spread: float, accuracy: float = _ACCURACY) -> float:
    """Step of the trapezoid rule for z ~ N(0, 1), of a function analytic for |Im z| < pi / spread."""
    depth = _STRIP / max(spread, 1e-300)
    depth = min(depth, math.sqrt(2.0 * accuracy))
    return 2.0 * math.pi * depth / (accuracy + 0.5 * depth * depth)


@njit(cache=True)
def stride_for(sigma: float) -> int:
    """Lattice steps between tabulated points: G and B of a wide Gaussian are smooth."""
    return max(1, math.floor(math.sqrt(1.0 + (sigma / _MATCH) ** 2)))


@njit(cache=True)
def tabulate(
    sigma: float,
    first: int,
    stride: int,
    count: int,
    rest: np.ndarray,
    entropy: np.ndarray,
    sigmoids: np.ndarray,
    entropies: np.ndarray,
    weights: np.ndarray,
    out: np.ndarray,
) -> None:
    """Write G and B at the lattice points first, first + stride, ..."""
    size = (len(rest) - 1) // 2
    if sigma < _SERIES_BELOW:
        half = 0.5 * sigma * sigma
        for n in range(count):
            i = first + n * stride
            if i < -size or i > size:
                out[0, n], out[1, n] = (1.0 if i > 0 else 0.0), 0.0
                continue
            term, g, b = 1.0, 0.0, 0.0
            for j in range(5):
                g += term * sigmoids[j, i + size]
                b += term * entropies[j, i + size]
                term *= half / (j + 1)
            out[0, n], out[1, n] = g, b
        return
    apart = max(1, math.floor(sigma * spacing(sigma) / STEP))
    h = apart * STEP
    reach = min(len(weights) - 1, math.ceil(REACH * sigma / h))
    total = 0.0
    for j in range(reach + 1):
        weights[j] = math.exp(-0.5 * (j * h / sigma) ** 2)
        total += weights[j] if j == 0 else 2.0 * weights[j]
    width = 1.0 / math.sqrt(2.0 * (_MATCH * _MATCH + sigma * sigma))
    for n in range(count):
        i = first + n * stride
        low = max(-reach, -((size + i) // apart))
        high = min(reach, (size - i) // apart)
        g, b = 0.0, 0.0
        for j in range(low, high + 1):
            w = weights[abs(j)]
            g += w * rest[i + j * apart + size]
            b += w * entropy[i + j * apart + size]
        out[0, n] = g / total + 0.5 * math.erfc(-i * STEP * width)
        out[1, n] = b / total


@njit(cache=True)
def pieces(table: np.ndarray, count: int, out: np.ndarray) -> None:
    """Write the polynomials (count, 12) through six neighbours, of both rows of the table, for 2 <= i < count - 3."""
    for i in range(2, count - 3):
        for row in range(2):
            a, b, c = table[row, i - 2], table[row, i - 1], table[row, i]
            d, e, f = table[row, i + 1], table[row, i + 2], table[row, i + 3]
            k = 6 * row
            out[i, k] = c
            out[i, k + 1] = (6.0 * a - 60.0 * b - 40.0 * c + 120.0 * d - 30.0 * e + 4.0 * f) / 120.0
            out[i, k + 2] = (-5.0 * a + 80.0 * b - 150.0 * c + 80.0 * d - 5.0 * e) / 120.0
            out[i, k + 3] = (-5.0 * a - 5.0 * b + 50.0 * c - 70.0 * d + 35.0 * e - 5.0 * f) / 120.0
            out[i, k + 4] = (5.0 * a - 20.0 * b + 30.0 * c - 20.0 * d + 5.0 * e) / 120.0
            out[i, k + 5] = (-a + 5.0 * b - 10.0 * c + 10.0 * d - 5.0 * e + f) / 120.0


@njit(cache=True)
def interpolated(pieces: np.ndarray, count: int, x: float) -> tuple[float, float]:
    """Return both rows of the table at x >= 0, in units of its spacing."""
    i = min(max(int(x), 2), count - 4)
    t, p = x - i, pieces[i]
    g = ((((p[5] * t + p[4]) * t + p[3]) * t + p[2]) * t + p[1]) * t + p[0]
    h = ((((p[11] * t + p[10]) * t + p[9]) * t + p[8]) * t + p[7]) * t + p[6]
    return min(max(g, 0.0), 1.0), max(h, 0.0)
