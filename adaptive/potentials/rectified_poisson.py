"""Moments of s^y exp(-s) 1{s > 0} N(s | mu, v) / y! for counts y, and the predictive masses of all counts.

With m = mu - v, I_k = int_0^inf s^k N(s | m, v) ds obeys I_{k+1} = m I_k + v k I_{k-1}. The ratios M_k = I_{k+1}/I_k:

    forward   M_k = m + v k / M_{k-1}        stable for m >= 0
    backward  M_{k-1} = v k / (M_k - m)      stable for m < 0, where the wanted solution is the minimal one

M_y is the tilted mean. The backward pass starts far enough above y that its start is forgotten (Miller's algorithm).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from numba import njit

from adaptive.potentials.truncated_gaussian import positive_part, two_halves

if TYPE_CHECKING:
    from adaptive.types import ArrayLike

__all__ = ["masses", "moments"]

_FEW = 1e-100, 1e100  # between which a product of ratios may grow before its logarithm is taken


@njit(cache=True)
def _start_order(last: int, kappa: float) -> int:
    """Order at which a backward recurrence may start with any value, for full accuracy at ``last`` and below."""
    order, accuracy = last + 1, 0.0
    while accuracy < 40.0:
        accuracy += 2.0 * math.asinh(kappa / (2.0 * math.sqrt(order)))
        order += 1
    return order


@njit(cache=True)
def _start_value(order: int, m: float, v: float) -> float:
    return 2.0 * v * (order + 1) / (math.sqrt(m * m + 4.0 * v * (order + 1)) - m)


@njit(cache=True)
def _one(y: int, mu: float, v: float) -> tuple[float, float, float]:
    """log normaliser, mean and variance of the part s > 0."""
    m = mu - v
    sd = math.sqrt(v)
    kappa = -m / sd
    log_mass, delta, relative = positive_part(-kappa)
    if kappa > 0:
        base = log_mass - 0.5 * mu * (mu / v)
    else:
        base = log_mass + 0.5 * v - mu
    if y == 0:
        return base, sd * delta, v * relative
    logs, product = 0.0, 1.0  # of all M_k / (k + 1), k < y: a sum of as many logarithms would lose four digits
    if kappa <= 0 or kappa * math.sqrt(y + 1.0) < 2.0:
        below, mean = 0.0, sd * delta
        for k in range(1, y + 1):
            product *= mean / k
            if not _FEW[0] < product < _FEW[1]:
                logs += math.log(product)
                product = 1.0
            below, mean = mean, m + v * k / mean
        above = m + v * (y + 1) / mean
    else:
        order = _start_order(y + 1, kappa)
        x = _start_value(order, m, v)
        below, mean, above = 0.0, 0.0, 0.0
        for k in range(order, 0, -1):
            x = v * k / (x - m)
            if k - 1 == y + 1:
                above = x
            elif k - 1 == y:
                mean = x
            elif k - 1 < y:
                product *= x / k
                if not _FEW[0] < product < _FEW[1]:
                    logs += math.log(product)
                    product = 1.0
                if k == y:
                    below = x
    if kappa > 0:
        variance = mean * (above - mean)
    else:
        variance = v * (1.0 - (mean - m) / v * (mean - below))
    return base + (logs + math.log(product)), mean, variance


@njit(cache=True)
def _many(y: np.ndarray, mean: np.ndarray, variance: np.ndarray, out: np.ndarray) -> None:
    for i in range(len(y)):
        mu, v = mean[i], variance[i]
        if y[i] == 0:  # the mass on s <= 0 counts too
            out[0, i], _, out[1, i], out[2, i] = two_halves(mu, v, -1.0, 0.0)
        else:
            out[0, i], out[1, i], out[2, i] = _one(y[i], mu, v)


@njit(cache=True)
def _masses(mu: float, v: float, log_mass: np.ndarray) -> None:
    """log P(y), y = 0 .. len - 1, in one pass over the ratios."""
    last = len(log_mass) - 1
    m = mu - v
    sd = math.sqrt(v)
    kappa = -m / sd
    log_zero, delta, _ = positive_part(-kappa)
    base = log_zero - 0.5 * mu * (mu / v) if kappa > 0 else log_zero + 0.5 * v - mu
    ratio = np.empty(last + 1)
    if kappa <= 0 or kappa * math.sqrt(last + 1.0) < 2.0:
        ratio[0] = sd * delta
        for k in range(1, last + 1):
            ratio[k] = m + v * k / ratio[k - 1]
    else:
        order = _start_order(last + 1, kappa)
        x = _start_value(order, m, v)
        for k in range(order, 0, -1):
            x = v * k / (x - m)
            if k - 1 <= last:
                ratio[k - 1] = x
    log_mass[0] = base
    for k in range(1, last + 1):
        log_mass[k] = log_mass[k - 1] + math.log(ratio[k - 1]) - math.log(float(k))
    log_mass[0] = two_halves(mu, v, -1.0, 0.0)[0]  # with the mass on s <= 0


def moments(y: ArrayLike, mean: ArrayLike, variance: ArrayLike) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return log normaliser, mean and variance of Poisson(y; max(0, s)) N(s | mean, variance), 1e-9 or better.

    References
    ----------
    Ko (2017), section 2.1; Gautschi (1967) for three-term recurrences and Miller's algorithm.

    Examples
    --------
    >>> log_normaliser, mean, variance = moments(0, -1e4, 1.0)
    >>> float(log_normaliser), float(mean)
    (0.0, -10000.0)
    """
    y, mean, variance = np.broadcast_arrays(
        np.asarray(y, dtype=np.int64), np.asarray(mean, float), np.asarray(variance, float)
    )
    out = np.empty((3, y.size))
    _many(*(np.array(a).ravel() for a in (y, mean, variance)), out)
    log_normaliser, centre, spread = out.reshape(3, *y.shape)
    return log_normaliser, centre, spread


def masses(mean: float, variance: float, count: int) -> np.ndarray:
    """Return the predictive log probabilities of the counts 0 .. count - 1 in one pass.

    Examples
    --------
    >>> bool(np.isclose(np.exp(masses(3.0, 0.5, 60)).sum(), 1.0))
    True
    """
    log_mass = np.empty(count)
    _masses(float(mean), float(variance), log_mass)
    return log_mass
