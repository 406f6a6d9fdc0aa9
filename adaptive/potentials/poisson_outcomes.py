"""Predictive counts: P(y) = E Poisson(y; e rate(s)), H(y), and E H(y | s), for s ~ N(mean, variance) and exposure e.

All counts of one projection come out of a single pass: the rectified rate by its recurrence, the smooth rates by
Gauss-Legendre panels no longer than a few widths of the narrower of the Gaussian and the Poisson likelihood.
Entropies take the first counts from there, and the others from :mod:`adaptive.potentials.large_counts`.
"""

from __future__ import annotations

import math
from functools import cache

import numpy as np
from numba import njit
from scipy.special import gammaln, ndtri, xlogy

from adaptive.potentials import quadrature
from adaptive.potentials.large_counts import FIRST, large_entropy, rate_and_slope
from adaptive.potentials.poisson_rates import RATES
from adaptive.potentials.rectified_poisson import _masses

__all__ = ["expected_entropy", "outcome_entropy", "poisson_entropy", "probabilities"]

_TAIL = 1e-10
_MOST = 200_000  # counts beyond which a table is not sensible
_SERIES_FROM = 60.0
_LARGEST_LOG_RATE = 690.0
_BENDS = {"exp": (-5.0, 5.0), "softplus": (-5.0, 5.0), "rectified": (0.0, 5.0)}  # where the entropy turns
_KINDS = {"exp": 0, "softplus": 1, "rectified": 2}
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(16)


@njit(cache=True)
def _mixture(
    kind: int, mean: float, variance: float, e: float, nodes: np.ndarray, weights: np.ndarray, p: np.ndarray
) -> None:
    """Fill p[y] with P(y), y = 0 .. len(p) - 1."""
    p[:] = 0.0
    sd = math.sqrt(variance)
    if kind == 2 and sd > 0:
        _masses(mean, variance, p)
        for y in range(len(p)):
            p[y] = math.exp(p[y])
        return
    left, end = mean - 7.5 * sd, mean + 7.5 * sd
    lowest = -40.0 - max(math.log(e), 0.0)
    if left < lowest:  # no counts there
        p[0] += 0.5 * math.erfc((mean - lowest) / max(sd, 1e-300) * math.sqrt(0.5))
        left = lowest
    beyond = len(p) + 12.0 * math.sqrt(len(p)) + 100.0  # rates that leave nothing to the counts of the table
    while left < end or sd == 0.0:
        if sd > 0.0 and rate_and_slope(kind, left, e)[0] > beyond:
            break
        length = min(3.0 * sd, 2.0)
        for _ in range(3):  # shrink to three widths of the Poisson factor, judged at the far end
            rate, slope = rate_and_slope(kind, left + length, e)
            if rate > 1.0:
                length = min(length, 3.0 * math.sqrt(rate) / slope)
        length = min(length, end - left)
        for k in range(len(nodes) if sd > 0 else 1):
            if sd > 0:
                s = left + 0.5 * length * (1.0 + nodes[k])
                z = (s - mean) / sd
                w = 0.5 * length * weights[k] * math.exp(-0.5 * z * z) / (sd * math.sqrt(2 * math.pi))
                rate, _ = rate_and_slope(kind, s, e)
            else:
                w = 1.0
                rate = rate_and_slope(kind, mean, e)[0]
            peak = min(int(rate), len(p) - 1)
            top = w * math.exp(peak * math.log(rate) - rate - math.lgamma(peak + 1.0)) if rate > 0 else w
            term = top
            for y in range(peak, len(p)):
                p[y] += term
                term *= rate / (y + 1.0)
                if term < 1e-18 * w:
                    break
            term = top
            for y in range(peak, 0, -1):
                term *= y / rate
                p[y - 1] += term
                if term < 1e-18 * w:
                    break
        if sd == 0.0:
            break
        left += length


@njit(cache=True)
def _tables(
    kind: int,
    mean: np.ndarray,
    variance: np.ndarray,
    exposure: np.ndarray,
    nodes: np.ndarray,
    weights: np.ndarray,
    p: np.ndarray,
) -> None:
    for i in range(len(mean)):
        _mixture(kind, mean[i], variance[i], exposure[i], nodes, weights, p[i])


@njit(cache=True)
def _entropies(
    kind: int,
    mean: np.ndarray,
    variance: np.ndarray,
    exposure: np.ndarray,
    count: np.ndarray,
    nodes: np.ndarray,
    weights: np.ndarray,
    out: np.ndarray,
) -> None:
    for i in range(len(mean)):
        p = np.empty(min(count[i], FIRST))
        _mixture(kind, mean[i], variance[i], exposure[i], nodes, weights, p)
        total = 0.0
        for y in range(len(p)):
            if p[y] > 0:
                total -= p[y] * math.log(p[y])
        if count[i] > FIRST:
            total += large_entropy(kind, mean[i], variance[i], exposure[i], nodes, weights)
        out[i] = total


def _counts_needed(rate: str, mean: np.ndarray, variance: np.ndarray, exposure: np.ndarray) -> np.ndarray:
    """Number of counts per projection after which less than 1e-10 of the mass is left."""
    with np.errstate(over="ignore"):
        high = exposure * RATES[rate].rate(mean - ndtri(0.1 * _TAIL) * np.sqrt(variance))
        return high + 7.0 * np.sqrt(high) + 30.0


def _flat(*arrays: np.ndarray) -> list[np.ndarray]:
    return [np.array(array).ravel() for array in arrays]


def probabilities(
    rate: str, mean: np.ndarray, variance: np.ndarray, exposure: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the counts (c,) and P(y) (..., c), each row cut where its tail is below 1e-10 and 0 from there on."""
    flat = _flat(mean, variance, exposure)
    needed = _counts_needed(rate, *flat)
    if not (needed <= _MOST).all():
        worst = int(np.argmax(np.where(np.isfinite(needed), needed, np.inf)))
        raise ValueError(
            f"Poisson outcomes at mean {float(flat[0][worst]):g} and variance {float(flat[1][worst]):g} reach "
            f"beyond {_MOST} counts; a table of their probabilities is not sensible; use draws."
        )
    p = np.empty((len(flat[0]), int(needed.max(initial=1.0))))
    _tables(_KINDS[rate], *flat, _NODES, _WEIGHTS, p)
    kept = np.cumsum(p[:, ::-1], axis=1)[:, ::-1] > 0.5 * _TAIL
    p = (p * kept)[:, : max(int(kept.any(axis=0).sum()), 1)]
    return np.arange(p.shape[1], dtype=float), p.reshape(*mean.shape, p.shape[1])


def outcome_entropy(rate: str, mean: np.ndarray, variance: np.ndarray, exposure: np.ndarray) -> np.ndarray:
    """Return H(y) in nats, to 1e-8."""
    flat = _flat(mean, variance, exposure)
    out = _entropy_at(rate, flat[0], flat[2])  # right where the projection is known
    spread = flat[1] > 0
    flat = [array[spread] for array in flat]
    found = np.empty(len(flat[0]))
    counts = np.minimum(_counts_needed(rate, *flat), 1.0 + FIRST).astype(np.int64)
    _entropies(_KINDS[rate], *flat, counts, _NODES, _WEIGHTS, found)
    out[spread] = found
    return out.reshape(mean.shape)


def expected_entropy(rate: str, mean: np.ndarray, variance: np.ndarray, exposure: np.ndarray) -> np.ndarray:
    """Return E H(Poisson(e rate(s))) in nats."""
    e = np.array(exposure).ravel()

    def entropy(s: np.ndarray, owner: np.ndarray) -> np.ndarray:
        return _entropy_at(rate, s, e[owner])

    return quadrature.gaussian_average(entropy, mean, variance, _BENDS[rate])


def _entropy_at(rate: str, s: np.ndarray, exposure: np.ndarray) -> np.ndarray:
    """Return H(Poisson(e rate(s))), of the rate exp(s) also where that is more than a float can hold."""
    if rate != "exp":
        return poisson_entropy(exposure * RATES[rate].rate(s))
    log_rate = s + np.log(exposure)
    excess = np.maximum(log_rate - _LARGEST_LOG_RATE, 0.0)
    return poisson_entropy(np.exp(log_rate - excess)) + 0.5 * excess


@cache
def _mean_log_factorial() -> np.polynomial.Chebyshev:
    """Interpolant of E log y!, an entire function of the rate, on [0, 60]."""
    k = np.arange(260.0)

    def exact(rate: np.ndarray) -> np.ndarray:
        pmf = np.exp(xlogy(k, rate[:, None]) - rate[:, None] - gammaln(k + 1))
        return pmf @ gammaln(k + 1)

    return np.polynomial.Chebyshev.interpolate(lambda r: exact(np.atleast_1d(r)), 80, domain=[0.0, _SERIES_FROM])


def poisson_entropy(rate: np.ndarray) -> np.ndarray:
    """Return the entropy of a Poisson distribution in nats, to 1e-10.

    Below 60: rate (1 - log rate) + E log y!; above: 1/2 log(2 pi e rate) - 1/(12 rate) - 1/(24 rate^2) - ...

    Examples
    --------
    >>> float(poisson_entropy(np.array(1.0)).round(10))
    1.3048422423
    """
    rate = np.asarray(rate, dtype=float)
    low, high = np.minimum(rate, _SERIES_FROM), np.maximum(rate, _SERIES_FROM)
    below = low - xlogy(low, low) + _mean_log_factorial()(low)
    t = 1 / high
    above = 0.5 * np.log(2 * np.pi * np.e * high) - t * (
        1 / 12 + t * (1 / 24 + t * (19 / 360 + t * (9 / 80 + t * 863 / 2520)))
    )
    return np.where(rate < _SERIES_FROM, below, above)
