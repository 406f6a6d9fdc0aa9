"""Averages of an item's answers over a Gaussian about its projection, compiled: Gauss and Hermite's rule.

    E p_r(s),   E p_r'(s),   E H(p(s)),        p_r(s) ~ exp(r s + b_r),   s ~ N(mean, variance)

The wider the Gaussian is, the more nodes: of two answers their probabilities err by less
than 1e-4 up to a variance of 15, and by 1e-3 at 60.
"""

from __future__ import annotations

import math

import numba
import numpy as np

__all__ = ["answer_averages", "posterior_moments"]

_options = {"cache": True, "nogil": True, "error_model": "numpy"}
_WIDEST = np.array([0.3, 3.0, 15.0])  # variances up to which a rule serves
_SIZES = (7, 15, 31, 61)


def _rules() -> tuple[np.ndarray, np.ndarray]:
    nodes, weights = np.zeros((len(_SIZES), max(_SIZES))), np.zeros((len(_SIZES), max(_SIZES)))
    for k, n in enumerate(_SIZES):
        x, w = np.polynomial.hermite_e.hermegauss(n)
        nodes[k, :n], weights[k, :n] = x, w / w.sum()
    return nodes, weights


_NODES, _WEIGHTS = _rules()
_COUNTS = np.array(_SIZES)


@numba.njit(**_options)
def _averages(
    mean: np.ndarray, variance: np.ndarray, steps: np.ndarray, entropies: bool, widest: np.ndarray, counts: np.ndarray,
    nodes: np.ndarray, weights: np.ndarray, p: np.ndarray, slope: np.ndarray, expected: np.ndarray,
) -> None:  # fmt: skip
    n_people, n_items = mean.shape
    n = steps.shape[1]
    q = np.empty(n)
    for u in range(n_people):
        for i in range(n_items):
            deviation = math.sqrt(max(variance[u, i], 0.0))
            rule = 0
            while rule < len(widest) and variance[u, i] > widest[rule]:
                rule += 1
            for k in range(counts[rule]):
                s, w = mean[u, i] + deviation * nodes[rule, k], weights[rule, k]
                top = steps[i, 0]
                for r in range(1, n):
                    top = max(top, r * s + steps[i, r])
                total, first = 0.0, 0.0
                for r in range(n):
                    q[r] = math.exp(r * s + steps[i, r] - top)
                    total += q[r]
                    first += r * q[r]
                first /= total
                inner = 0.0
                for r in range(n):
                    share = q[r] / total
                    p[u, i, r] += w * share
                    slope[u, i, r] += w * share * (r - first)
                    if entropies:
                        inner += share * (r * s + steps[i, r])
                if entropies:
                    expected[u, i] += w * (top + math.log(total) - inner)


@numba.njit(**_options)
def _two(
    mean: np.ndarray, variance: np.ndarray, steps: np.ndarray, entropies: bool, widest: np.ndarray, counts: np.ndarray,
    nodes: np.ndarray, weights: np.ndarray, p: np.ndarray, slope: np.ndarray, expected: np.ndarray,
) -> None:  # fmt: skip
    """The same of two answers: one exponential a node."""
    n_people, n_items = mean.shape
    for u in range(n_people):
        for i in range(n_items):
            deviation = math.sqrt(max(variance[u, i], 0.0))
            rule = 0
            while rule < len(widest) and variance[u, i] > widest[rule]:
                rule += 1
            right, steep, inner = 0.0, 0.0, 0.0
            centre = mean[u, i] + steps[i, 1] - steps[i, 0]
            for k in range(counts[rule]):
                s, w = centre + deviation * nodes[rule, k], weights[rule, k]
                e = math.exp(-abs(s))
                few = e / (1.0 + e)
                right += w * (1.0 - few if s > 0 else few)
                steep += w * few * (1.0 - few)
                if entropies:
                    inner += w * (math.log1p(e) + few * abs(s))
            p[u, i, 1], p[u, i, 0] = right, 1.0 - right
            slope[u, i, 1], slope[u, i, 0] = steep, -steep
            expected[u, i] = inner


def answer_averages(
    mean: np.ndarray, variance: np.ndarray, steps: np.ndarray, entropies: bool = False
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Probabilities of answers, their slopes, and the mean entropy of an answer whose projection is known.

    Parameters
    ----------
    mean, variance : (people, items) arrays
    steps : (items, R) array
        b_r of each answer.
    entropies : bool
        Whether the mean entropies are wanted, else they are 0.

    Returns
    -------
    p, slope : (people, items, R) arrays
    expected : (people, items) array
    """
    n = steps.shape[1]
    p, slope, expected = np.zeros((*mean.shape, n)), np.zeros((*mean.shape, n)), np.zeros(mean.shape)
    kernel = _two if n == 2 else _averages
    kernel(
        np.ascontiguousarray(mean), np.ascontiguousarray(variance), np.ascontiguousarray(steps), entropies, _WIDEST,
        _COUNTS, _NODES, _WEIGHTS, p, slope, expected,
    )  # fmt: skip
    return p, slope, expected


def posterior_moments(
    mean: np.ndarray, variance: np.ndarray, steps: np.ndarray, rank: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Mean and variance (people,) of a projection after one answer, and the log probability that this answer had.

    By the finest rule; ``steps`` (people, R).
    """
    x, w = _NODES[-1], _WEIGHTS[-1]
    s = mean[:, None] + np.sqrt(variance)[:, None] * x
    energy = s[..., None] * np.arange(steps.shape[1]) + steps[:, None, :]
    top = energy.max(axis=-1)
    log_p = np.take_along_axis(energy, rank[:, None, None], axis=2)[..., 0] - top
    log_p -= np.log(np.sum(np.exp(energy - top[..., None]), axis=-1))
    most = log_p.max(axis=1, keepdims=True)
    share = w * np.exp(log_p - most)
    evidence = share.sum(axis=1, keepdims=True)
    share /= evidence
    first = np.sum(share * s, axis=1)
    return first, np.sum(share * (s - first[:, None]) ** 2, axis=1), (most + np.log(evidence))[:, 0]
