"""Averages of an item's answers over a Gaussian about its projection, compiled: Gauss and Hermite's rule.

    E p_r(s),   E p_r'(s),   E H(p(s)),        p_r(s) ~ exp(r s + b_r),   s ~ N(mean, variance)

Of two answers the right one may have asymptotes, p_1 = c + (d - c) / (1 + exp(-s - b_1)). The wider the Gaussian is,
the more nodes: of two answers their probabilities err by less than 1e-4 up to a variance of 15, and by 1e-3 at 60.
"""

from __future__ import annotations

import math

import numba
import numpy as np

__all__ = ["answer_averages", "posterior_moments", "without_asymptotes"]

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
    mean: np.ndarray, variance: np.ndarray, steps: np.ndarray, asymptotes: np.ndarray, open_: np.ndarray,
    entropies: bool, widest: np.ndarray, counts: np.ndarray, nodes: np.ndarray, weights: np.ndarray, p: np.ndarray,
    slope: np.ndarray, expected: np.ndarray,
) -> None:  # fmt: skip
    n_people, n_items = mean.shape
    n = steps.shape[1]
    q = np.empty(n)
    for u in range(n_people):
        for i in range(n_items):
            if not open_[u, i]:
                p[u, i, 0] = 1.0
                continue
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
    mean: np.ndarray, variance: np.ndarray, steps: np.ndarray, asymptotes: np.ndarray, open_: np.ndarray,
    entropies: bool, widest: np.ndarray, counts: np.ndarray, nodes: np.ndarray, weights: np.ndarray, p: np.ndarray,
    slope: np.ndarray, expected: np.ndarray,
) -> None:  # fmt: skip
    """The same of two answers: one exponential a node."""
    n_people, n_items = mean.shape
    for u in range(n_people):
        for i in range(n_items):
            if not open_[u, i]:
                p[u, i, 0] = 1.0
                continue
            low, rise = asymptotes[i, 0], asymptotes[i, 1] - asymptotes[i, 0]
            plain = low == 0.0 and rise == 1.0
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
                if entropies and plain:
                    inner += w * (math.log1p(e) + few * abs(s))
                elif entropies:
                    yes = low + rise * (1.0 - few if s > 0 else few)
                    for share in (yes, 1.0 - yes):
                        inner -= w * share * math.log(share) if share > 0.0 else 0.0
            right, steep = low + rise * right, rise * steep
            p[u, i, 1], p[u, i, 0] = right, 1.0 - right
            slope[u, i, 1], slope[u, i, 0] = steep, -steep
            expected[u, i] = inner


@numba.njit(**_options)
def _moments(
    mean: np.ndarray, variance: np.ndarray, steps: np.ndarray, rank: np.ndarray, asymptotes: np.ndarray,
    nodes: np.ndarray, weights: np.ndarray, found: np.ndarray,
) -> None:  # fmt: skip
    n, size = steps.shape[1], len(nodes)
    s, log_p = np.empty(size), np.empty(size)
    for u in range(len(mean)):
        deviation, y = math.sqrt(variance[u]), rank[u]
        low, rise = asymptotes[u, 0], asymptotes[u, 1] - asymptotes[u, 0]
        below = min(int(y), n - 2)
        own = steps[u, below] + (y - below) * (steps[u, below + 1] - steps[u, below])
        most = -np.inf
        for k in range(size):
            s[k] = mean[u] + deviation * nodes[k]
            top = steps[u, 0]
            for r in range(1, n):
                top = max(top, r * s[k] + steps[u, r])
            total = 0.0
            for r in range(n):
                total += math.exp(r * s[k] + steps[u, r] - top)
            log_p[k] = y * s[k] + own - top - math.log(total)
            if low > 0.0 or low + rise < 1.0:  # of two answers
                p = math.exp(log_p[k])
                p = low + rise * p if y == 1.0 else 1.0 - low - rise + rise * p
                log_p[k] = math.log(max(p, 1e-300))
            most = max(most, log_p[k])
        evidence, first = 0.0, 0.0
        for k in range(size):
            log_p[k] = weights[k] * math.exp(log_p[k] - most)
            evidence += log_p[k]
            first += log_p[k] * s[k]
        first /= evidence
        second = 0.0
        for k in range(size):
            second += log_p[k] * (s[k] - first) ** 2
        found[0, u], found[1, u], found[2, u] = first, second / evidence, most + math.log(evidence)


def without_asymptotes(n: int) -> np.ndarray:
    """(n, 2) of items that are answered rightly by nobody far below, and by all far above."""
    return np.tile([0.0, 1.0], (n, 1))


def answer_averages(
    mean: np.ndarray, variance: np.ndarray, steps: np.ndarray, asymptotes: np.ndarray | None = None,
    entropies: bool = False, open_: np.ndarray | None = None,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:  # fmt: skip
    """Probabilities of answers, their slopes, and the mean entropy of an answer whose projection is known.

    Parameters
    ----------
    mean, variance : (people, items) arrays
    steps : (items, R) array
        b_r of each answer.
    asymptotes : (items, 2) array, optional
        The lower and the upper one of items of two answers; default 0 and 1.
    entropies : bool
        Whether the mean entropies are wanted, else they are 0.
    open_ : (people, items) array of bool, optional
        Those that are looked at; of the others the first answer is certain.

    Returns
    -------
    p, slope : (people, items, R) arrays
    expected : (people, items) array
    """
    n = steps.shape[1]
    p, slope, expected = np.zeros((*mean.shape, n)), np.zeros((*mean.shape, n)), np.zeros(mean.shape)
    kernel = _two if n == 2 else _averages
    kernel(
        np.ascontiguousarray(mean), np.ascontiguousarray(variance), np.ascontiguousarray(steps),
        without_asymptotes(len(steps)) if asymptotes is None else np.ascontiguousarray(asymptotes),
        np.ones(mean.shape, dtype=bool) if open_ is None else np.ascontiguousarray(open_), entropies, _WIDEST,
        _COUNTS, _NODES, _WEIGHTS, p, slope, expected,
    )  # fmt: skip
    return p, slope, expected


def posterior_moments(
    mean: np.ndarray, variance: np.ndarray, steps: np.ndarray, rank: np.ndarray, asymptotes: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Mean and variance (people,) of a projection after one answer, and the log probability that this answer had.

    By the finest rule; ``steps`` (people, R), ``asymptotes`` (people, 2). A rank between two answers (of a score that
    is no grade) has the density exp(r s + b_r) of b between those of its neighbours.
    """
    found = np.empty((3, len(mean)))
    _moments(
        np.ascontiguousarray(mean, float), np.ascontiguousarray(variance, float), np.ascontiguousarray(steps, float),
        np.asarray(rank, dtype=float), without_asymptotes(len(mean)) if asymptotes is None else asymptotes, _NODES[-1],
        _WEIGHTS[-1], found,
    )  # fmt: skip
    return found[0], found[1], found[2]
