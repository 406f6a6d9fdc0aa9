"""Entropies of Bernoulli outcomes averaged over a Gaussian projection: p, H(p) and E H(sigmoid(s)), s ~ N(m, v).

The trapezoid rule is exponentially exact for functions analytic in a strip, here |Im s| < pi (logit) or about 2.7
(probit). Its lattice is fixed, so that the functions come from a table and the Gaussian weights from a two-term
recurrence: a few multiplications per node. For the logit, sigmoid(s) - Phi(s/k) decays on both sides and Phi(s/k) has a
closed form, which keeps the window short whatever the variance. Narrow Gaussians take eight Gauss-Hermite points.
"""

from __future__ import annotations

import math
from functools import cache

import numpy as np
from numba import njit
from scipy.special import entr, expit, ndtr

__all__ = ["entropies"]

_NARROW = 0.3  # standard deviation below which Gauss-Hermite is used
_FINE = 0.7  # below this the fine lattice, above it the coarse one
_STEPS = (0.25, 0.5)
_WINDOWS = (27.0, 8.0)  # logit, probit: the tabulated functions are below 1e-10 beyond
_REACH = 6.6  # standard deviations of the Gaussian that count
_MATCH = 1.7  # k in Phi(s/k)
_GAUSS_NODES, _GAUSS_WEIGHTS = np.polynomial.hermite_e.hermegauss(8)
_GAUSS_WEIGHTS = _GAUSS_WEIGHTS / np.sqrt(2 * np.pi)


@cache
def _tables(probit: bool) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """For both lattices: entropy of the outcome and sigmoid(s) - Phi(s/k) at every lattice point of the window."""
    columns = []
    for step in _STEPS:
        s = step * np.arange(-round(_WINDOWS[probit] / step), round(_WINDOWS[probit] / step) + 1)
        p = ndtr(-np.abs(s)) if probit else expit(-np.abs(s))
        rest = np.zeros_like(s) if probit else expit(s) - ndtr(s / _MATCH)
        columns += [entr(p) + entr(1 - p) + np.where(p < 1e-8, p - entr(1 - p), 0.0), rest]
    return columns[0], columns[1], columns[2], columns[3]


@njit(cache=True)
def _binary_entropy(p: float) -> float:
    if p <= 0.0:
        return 0.0
    return -p * math.log(p) - (1.0 - p) * math.log1p(-p)


@njit(cache=True)
def _average(
    mean: np.ndarray,
    variance: np.ndarray,
    probit: bool,
    steps: tuple[float, float],
    fine_entropy: np.ndarray,
    fine_rest: np.ndarray,
    coarse_entropy: np.ndarray,
    coarse_rest: np.ndarray,
    match: float,
    nodes: np.ndarray,
    weights: np.ndarray,
    out: np.ndarray,
) -> None:
    for i in range(len(mean)):
        c, v = abs(mean[i]), variance[i]
        sd = math.sqrt(v)
        rare, expected = 0.0, 0.0  # probability of the outcome against the sign of the mean
        if sd < _NARROW:
            for k in range(len(nodes)):
                s = c + sd * nodes[k]
                if probit:
                    p = 0.5 * math.erfc(s * math.sqrt(0.5))
                    few = min(p, 0.5 * math.erfc(-s * math.sqrt(0.5)))
                    entropy = _binary_entropy(few)
                else:
                    decay = math.exp(-abs(s))
                    few = decay / (1.0 + decay)
                    p = few if s > 0 else 1.0 - few
                    entropy = math.log1p(decay) + abs(s) * few
                rare += weights[k] * p
                expected += weights[k] * entropy
        else:
            if sd < _FINE:
                h, table, rest = steps[0], fine_entropy, fine_rest
            else:
                h, table, rest = steps[1], coarse_entropy, coarse_rest
            size = (len(table) - 1) // 2
            first = max(-size, math.ceil((c - _REACH * sd) / h))
            last = min(size, math.floor((c + _REACH * sd) / h))
            if first <= last:
                middle = min(max(round(c / h), first), last)
                q = math.exp(-h * h / v)
                d = middle * h - c
                start = math.exp(-0.5 * d * d / v) * h / (sd * math.sqrt(2.0 * math.pi))
                total_h = start * table[middle + size]
                total_r = start * rest[middle + size]
                w, r = start, math.exp(-h * (d + 0.5 * h) / v)
                for j in range(middle + 1, last + 1):
                    w *= r
                    r *= q
                    total_h += w * table[j + size]
                    total_r += w * rest[j + size]
                w, r = start, math.exp(h * (d - 0.5 * h) / v)
                for j in range(middle - 1, first - 1, -1):
                    w *= r
                    r *= q
                    total_h += w * table[j + size]
                    total_r += w * rest[j + size]
                expected = total_h
                rare = -total_r
            width = math.sqrt((1.0 if probit else match * match) + v)
            rare += 0.5 * math.erfc(c / width * math.sqrt(0.5))
        rare = min(max(rare, 0.0), 1.0)
        entropy = _binary_entropy(min(rare, 1.0 - rare))
        out[0, i] = 1.0 - rare if mean[i] >= 0 else rare
        out[1, i] = entropy
        out[2, i] = min(max(expected, 0.0), entropy)


def entropies(probit: bool, mean: np.ndarray, variance: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return p(y = +1), H(y) and E H(y | s) for the logit or the probit; absolute errors below 1e-8.

    Parameters
    ----------
    probit : bool
        Else the logit.
    mean, variance : ndarray of one shape
    """
    out = np.empty((3, mean.size))
    flat_mean, flat_variance = (np.array(a, dtype=float).ravel() for a in (mean, variance))
    _average(flat_mean, flat_variance, probit, _STEPS, *_tables(probit), _MATCH, _GAUSS_NODES, _GAUSS_WEIGHTS, out)
    probability, outcome, expected = out.reshape(3, *mean.shape)
    return probability, outcome, expected
