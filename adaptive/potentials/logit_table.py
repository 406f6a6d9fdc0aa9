"""Averages of the logistic function and of its entropy over a Gaussian, s ~ N(m, v), from one table.

    p(y = +1) = E sigmoid(s),        E H(sigmoid(s))

are smooth in  x = |m| / sqrt(3 + v)  and  y = log(1 + v):  the first is nearly the normal probability of x, the second
falls as 1 / sqrt(3 + v).  Their logarithms are tabulated over both (the second's times sqrt(3 + v)) and interpolated by
four by four points, with errors below 1e-6 and the right sign of every slope; the lattice of
:mod:`adaptive.potentials.bernoulli_entropy` makes the table.  Narrow Gaussians, whose information is itself of that
order, stay with the lattice's rule.
"""

from __future__ import annotations

import math
from functools import cache

import numpy as np
from numba import njit
from scipy.special import expit, log_ndtr, ndtr

from adaptive.potentials import bernoulli_entropy

__all__ = ["averages"]

NARROW = 0.09  # variance below which the rule of narrow Gaussians is asked
WIDE = 1e6  # variance beyond which the closed form of wide ones is as good
_FAR = 16.0  # x beyond which nothing is uncertain
_STEP_X, _STEP_Y = 0.06, 0.08
_SMALL = 1e-8
_STEP, _ENDS = 0.25, 100.0  # of the lattice for what is smaller
_AREA = np.pi**2 / 3.0  # the integral of the entropy of sigmoid(s)
_FIRST = math.log1p(NARROW)


@cache
def _table() -> np.ndarray:
    """Logarithms (x, y, 2) of the rarer outcome's probability and of the scaled entropy; a point more on each side."""
    x = _STEP_X * (np.arange(int(_FAR / _STEP_X) + 4) - 1.0)
    y = _FIRST + _STEP_Y * (np.arange(int((math.log1p(WIDE) - _FIRST) / _STEP_Y) + 4) - 1.0)
    variance = np.broadcast_to(np.expm1(y), (len(x), len(y)))
    scale = np.sqrt(3.0 + variance)
    probability, _, expected = bernoulli_entropy.entropies(False, -x[:, None] * scale, variance)
    with np.errstate(divide="ignore"):
        logs = np.stack([np.log(probability), np.log(expected * scale)], axis=-1)
    # the lattice has few digits of what is small, and none beyond its window
    m, v = np.broadcast_to(-x[:, None] * scale, scale.shape), variance
    log_p, log_e = _log_integrands()
    small = probability < _SMALL
    beyond = log_ndtr((m[small] - _ENDS - 0.5 * _STEP) / np.sqrt(v[small]))
    logs[small, 0] = np.logaddexp(_log_averages(log_p, m[small], v[small]), beyond)
    small = expected < _SMALL
    logs[small, 1] = _log_averages(log_e, m[small], v[small]) + np.log(scale[small])
    return np.ascontiguousarray(np.maximum(logs, -700.0))


def _log_integrands() -> tuple[np.ndarray, np.ndarray]:
    """Return log sigmoid(s) and log H(sigmoid(s)) on a lattice that is wide enough for all that is small."""
    s = _STEP * np.arange(-round(_ENDS / _STEP), round(_ENDS / _STEP) + 1)
    few = np.log1p(np.exp(-np.abs(s)))
    return np.minimum(s, 0.0) - few, np.log(few + np.abs(s) * expit(-np.abs(s)))


@njit(cache=True)
def _log_averages(logs: np.ndarray, mean: np.ndarray, variance: np.ndarray) -> np.ndarray:
    """Return the logarithms of averages over Gaussians of what has these logarithms on the lattice."""
    found = np.empty(len(mean))
    size = (len(logs) - 1) // 2
    terms = np.empty(len(logs))
    for i in range(len(mean)):
        for k in range(len(logs)):
            apart = _STEP * (k - size) - mean[i]
            terms[k] = logs[k] - 0.5 * apart * apart / variance[i]
        peak, total = terms.max(), 0.0
        for k in range(len(logs)):
            if terms[k] > peak - 40.0:
                total += math.exp(terms[k] - peak)
        found[i] = peak + math.log(total * _STEP) - 0.5 * math.log(2.0 * math.pi * variance[i])
    return found


@njit(cache=True, error_model="numpy")
def _interpolated(places: np.ndarray, table: np.ndarray, logs: np.ndarray) -> None:
    """Fill logs (2, m) by four by four points about the places (2, m) in the table."""
    for i in range(places.shape[1]):
        a, b = int(places[0, i]), int(places[1, i])
        t, u = places[0, i] - a, places[1, i] - b
        a0, a1 = -t * (t - 1.0) * (t - 2.0) / 6.0, (t + 1.0) * (t - 1.0) * (t - 2.0) / 2.0
        a2, a3 = -(t + 1.0) * t * (t - 2.0) / 2.0, (t + 1.0) * t * (t - 1.0) / 6.0
        b0, b1 = -u * (u - 1.0) * (u - 2.0) / 6.0, (u + 1.0) * (u - 1.0) * (u - 2.0) / 2.0
        b2, b3 = -(u + 1.0) * u * (u - 2.0) / 2.0, (u + 1.0) * u * (u - 1.0) / 6.0
        for c in range(2):
            total = a0 * (b0 * table[a - 1, b - 1, c] + b1 * table[a - 1, b, c])
            total += a0 * (b2 * table[a - 1, b + 1, c] + b3 * table[a - 1, b + 2, c])
            total += a1 * (b0 * table[a, b - 1, c] + b1 * table[a, b, c])
            total += a1 * (b2 * table[a, b + 1, c] + b3 * table[a, b + 2, c])
            total += a2 * (b0 * table[a + 1, b - 1, c] + b1 * table[a + 1, b, c])
            total += a2 * (b2 * table[a + 1, b + 1, c] + b3 * table[a + 1, b + 2, c])
            total += a3 * (b0 * table[a + 2, b - 1, c] + b1 * table[a + 2, b, c])
            total += a3 * (b2 * table[a + 2, b + 1, c] + b3 * table[a + 2, b + 2, c])
            logs[c, i] = total


def averages(mean: np.ndarray, variance: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return p(y = +1), H(y) and E H(y | s) of the logit; absolute errors below 1e-6.

    Parameters
    ----------
    mean, variance : ndarray of one shape

    Examples
    --------
    >>> p, outcome, expected = averages(np.array([0.0, 2.0]), np.array([1.0, 4.0]))
    >>> p.round(5), (outcome - expected).round(5)
    (array([0.5   , 0.7752]), array([0.09371, 0.1766 ]))
    """
    m, v = (np.asarray(a, dtype=float).ravel() for a in (mean, variance))
    scale = np.sqrt(3.0 + v)
    x = np.minimum(np.abs(m) / scale, _FAR)
    places = np.stack([x / _STEP_X, (np.log1p(np.clip(v, NARROW, WIDE)) - _FIRST) / _STEP_Y]) + 1.0
    logs = np.empty_like(places)
    _interpolated(places, _table(), logs)
    np.exp(logs, out=logs)
    rare, expected = np.minimum(logs[0], 0.5), logs[1] / scale
    wide = np.flatnonzero(v > WIDE)
    if len(wide):
        rare[wide] = ndtr(-x[wide])
        expected[wide] = _AREA * np.exp(-0.5 * np.square(x[wide])) / (np.sqrt(2.0 * np.pi) * scale[wide])
    nothing = x >= _FAR
    rare[nothing], expected[nothing] = 0.0, 0.0
    with np.errstate(divide="ignore", invalid="ignore"):
        outcome = -(rare * np.log(rare) + (1.0 - rare) * np.log1p(-rare))
    outcome[nothing] = 0.0
    out = np.stack([np.where(m >= 0, 1.0 - rare, rare), outcome, np.minimum(expected, outcome)])
    narrow = np.flatnonzero(~(v >= NARROW))
    if len(narrow):
        out[:, narrow] = bernoulli_entropy.entropies(False, m[narrow], v[narrow])
    probability, outcome, expected = out.reshape(3, *np.shape(mean))
    return probability, outcome, expected
