"""Moments of Gaussians cut at zero, stable at any distance from the cut.

N(s | m, v) restricted to s > 0 has, with z = m / sqrt(v) and r = N(z)/Phi(z),

    log mass = log Phi(z),   mean = sqrt(v) (z + r),   variance = v (1 - r (z + r)).

For z <= -4 both cancel; there x = -z and the continued fraction c = 2/(x + 3/(x + 4/(x + ...))) give
z + r = 1/(x + c) and 1 - r (z + r) = (z + r)(c - (z + r)) without cancellation.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from numba import njit

if TYPE_CHECKING:
    from adaptive.types import ArrayLike

__all__ = ["half", "half_moments", "positive_part", "truncated_moments", "two_halves", "two_slopes"]

_LOG_SQRT_2PI = 0.5 * math.log(2 * math.pi)
_ROOT_HALF = math.sqrt(0.5)


@njit(cache=True)
def positive_part(z: float) -> tuple[float, float, float]:
    """Return (log Phi(z) + [z < 0] z^2/2, mean, variance) of N(s | z, 1) restricted to s > 0.

    The added z^2/2 keeps the far tail exact: the caller subtracts it where it does not cancel.
    """
    if z > -4.0:
        tail = 0.5 * math.erfc(-z * _ROOT_HALF)
        log_mass = math.log(tail) if z < 1.0 else math.log1p(-0.5 * math.erfc(z * _ROOT_HALF))
        ratio = math.exp(-0.5 * z * z - _LOG_SQRT_2PI) / tail
        delta = z + ratio
        if z < 0.0:
            log_mass += 0.5 * z * z
        return log_mass, delta, 1.0 - ratio * delta
    x = -z
    t = x
    for j in range(12 + int(500.0 / (x * x)), 2, -1):  # enough for the last digit, for any x >= 4
        t = x + j / t
    c = 2.0 / t
    delta = 1.0 / (x + c)
    return -math.log(x + delta) - _LOG_SQRT_2PI, delta, delta * (c - delta)


@njit(cache=True)
def half(c: float, v: float, slope: float, sign: float) -> tuple[float, float, float, float]:
    """Moments of exp(slope s) N(s | c, v) on sign s > 0.

    Returns the log mass, the log mass without the factor exp(-c^2/(2v)), the mean (measured along sign), the variance.
    Two halves are weighed against each other by the second: far from zero the first one has lost its last digits.
    """
    sd = math.sqrt(v)
    z = sign * (c + slope * v) / sd
    scaled, delta, relative = positive_part(z)
    if z < 0.0:
        log_mass = scaled - 0.5 * c * (c / v)
    else:
        log_mass = scaled + slope * (c + 0.5 * slope * v)
        scaled += 0.5 * z * z
    return log_mass, scaled, sd * delta, v * relative


@njit(cache=True)
def two_halves(c: float, v: float, right: float, left: float) -> tuple[float, float, float, float]:
    """Moments of N(s | c, v) exp(right s [s > 0] + left s [s <= 0]), right <= left; log masses as in `half`."""
    log_p, scaled_p, mean_p, var_p = half(c, v, right, 1.0)
    log_n, scaled_n, mean_n, var_n = half(c, v, left, -1.0)
    extra = math.log1p(math.exp(-abs(scaled_p - scaled_n)))
    log_z = (log_p if scaled_p > scaled_n else log_n) + extra
    scaled = max(scaled_p, scaled_n) + extra
    p, n = math.exp(scaled_p - scaled), math.exp(scaled_n - scaled)
    return log_z, scaled, p * mean_p - n * mean_n, p * var_p + n * var_n + p * n * (mean_p + mean_n) ** 2


@njit(cache=True)
def _two_slopes(c: np.ndarray, v: np.ndarray, right: np.ndarray, left: np.ndarray, out: np.ndarray) -> None:
    for i in range(len(c)):
        out[0, i], _, out[1, i], out[2, i] = two_halves(c[i], v[i], right[i], left[i])


@njit(cache=True)
def _truncated(c: np.ndarray, v: np.ndarray, out: np.ndarray) -> None:
    for i in range(len(c)):
        out[0, i], _, out[1, i], out[2, i] = half(c[i], v[i], 0.0, 1.0)


def _broadcast(*arrays: ArrayLike) -> tuple[tuple[int, ...], list[np.ndarray]]:
    full = np.broadcast_arrays(*(np.asarray(a, dtype=float) for a in arrays))
    return full[0].shape, [np.array(a).ravel() for a in full]


def two_slopes(
    mean: ArrayLike, variance: ArrayLike, right: ArrayLike, left: ArrayLike
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return log normaliser, mean and variance of N(s | mean, variance) exp(right s [s > 0] + left s [s <= 0]).

    Parameters
    ----------
    mean, variance : array-like (n,)
        Moments of the Gaussian.
    right, left : array-like (n,)
        Slopes of the exponent on either side, right <= left (a log-concave factor).

    References
    ----------
    Nickisch (2010), chapter 5 (Laplace tilted moments), in the stable form of the module docstring.

    Examples
    --------
    >>> log_normaliser, _, variance = two_slopes(0.0, 1.0, -1.0, 1.0)
    >>> round(float(log_normaliser) , 12), round(float(variance), 12)
    (-0.647874464449, 0.474864723839)
    """
    shape, flat = _broadcast(mean, variance, right, left)
    out = np.empty((3, len(flat[0])))
    _two_slopes(*flat, out)
    return out[0].reshape(shape), out[1].reshape(shape), out[2].reshape(shape)


def truncated_moments(mean: ArrayLike, variance: ArrayLike) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return log mass, mean and variance of N(mean, variance) restricted to s > 0.

    Parameters
    ----------
    mean, variance : array-like (n,)
        Of the Gaussian; they broadcast against each other.

    Returns
    -------
    log_mass, mean, variance : arrays (n,)

    References
    ----------
    Johnson, Kotz and Balakrishnan (1994), Continuous univariate distributions, volume 1; in the stable form of this
    module's first lines.

    Examples
    --------
    >>> log_mass, mean, variance = truncated_moments(-100.0, 1.0)
    >>> float(mean.round(8)), float(variance.round(8))
    (0.009998, 9.994e-05)
    """
    shape, flat = _broadcast(mean, variance)
    out = np.empty((3, len(flat[0])))
    _truncated(*flat, out)
    return out[0].reshape(shape), out[1].reshape(shape), out[2].reshape(shape)


def half_moments(z: ArrayLike) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return log Phi(z), mean and variance of N(z, 1) restricted to s > 0."""
    return truncated_moments(z, 1.0)
