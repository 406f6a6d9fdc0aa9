"""Rows of one side of a censored stream of pairs, where the bound is largest, the other side held.

A pair (i, j) is kept with the odds sigmoid(a), a = x_i . y_j, and is else censored; biases are columns beside ones. For
every pair on the graph  sigmoid(+-a) >= sigmoid(xi) exp(-lambda(xi) (a^2 - xi^2) +- a/2 - xi/2)  with its best xi, for
all others with one xi* that they share. With w_ij = D' s_i t_j censored trials, E and the half sums over the graph G,

    P_i = 2 D' s_i lambda* sum_j t_j E[y y'] + sum_G [2 n_ij lambda + 2 w_ij (lambda - lambda*)] E[y y']
    h_i = -1/2 D' s_i sum_j t_j E[y]         + sum_G 1/2 (kept - refused) E[y]

and the best Gaussian with independent entries has the mean P^-1 h and the precisions diag P (prior precisions in P,
entries that are known moved to the other side). Users and biases are solved together, which the source does in turn.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from adaptive.estimators.pairs.inference.expectations import cholesky, cholesky_solve

__all__ = ["curvature", "log_sigmoid", "solve_censored_rows", "survey_rows"]


@njit(cache=True, nogil=True)
def curvature(x: float) -> float:
    """lambda(x) = tanh(x / 2) / (4 x), x >= 0."""
    return 0.125 - x * x / 96.0 if x < 1e-4 else math.tanh(0.5 * x) / (4.0 * x)


@njit(cache=True, nogil=True)
def log_sigmoid(x: float) -> float:
    """log 1 / (1 + exp(-x)), x >= 0."""
    return -math.log1p(math.exp(-x))


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract"})
def _moments(m: np.ndarray, v: np.ndarray, mu: np.ndarray, s: np.ndarray) -> tuple[float, float]:
    """Mean and mean square of the product of two rows with independent entries."""
    mean, variance = 0.0, 0.0
    for d in range(len(m)):
        mean += m[d] * mu[d]
        variance += (m[d] * m[d] + v[d]) * s[d] + mu[d] * mu[d] * v[d]
    return mean, mean * mean + variance


@njit(cache=True, nogil=True)
def _add(P: np.ndarray, h: np.ndarray, weight: float, half: float, mu: np.ndarray, s: np.ndarray) -> None:
    """weight E[y y'] onto the lower half of P, half E[y] onto h."""
    for a in range(len(mu)):
        scaled = weight * mu[a]
        for b in range(a + 1):
            P[a, b] += scaled * mu[b]
        P[a, a] += weight * s[a]
        h[a] += half * mu[a]


@njit(cache=True, nogil=True)
def _settle(P: np.ndarray, h: np.ndarray, free: np.ndarray, L: np.ndarray, m: np.ndarray, v: np.ndarray) -> None:
    """Set the free entries to P_ff^-1 (h_f - P_fc m_c) and 1 / diag P; a singular P (the prior is in it) stays."""
    count, known = len(free), np.ones(len(m), dtype=np.bool_)
    known[free] = False
    x = np.empty(count)
    for i in range(count):
        x[i] = h[free[i]]
        for d in range(len(m)):
            if known[d]:
                x[i] -= P[max(free[i], d), min(free[i], d)] * m[d]
        for k in range(i + 1):
            L[i, k] = P[free[i], free[k]]
    if not cholesky(L, count):
        return
    cholesky_solve(L, x)
    for i in range(count):
        m[free[i]] = x[i]
        v[free[i]] = 1.0 / P[free[i], free[i]]


@njit(cache=True, nogil=True)
def solve_censored_rows(
    rows: np.ndarray,
    indptr: np.ndarray,
    index: np.ndarray,
    half: np.ndarray,
    trials: np.ndarray,
    own: np.ndarray,
    own_spread: np.ndarray,
    mean: np.ndarray,
    spread: np.ndarray,
    variance: np.ndarray,
    censored: np.ndarray,
    weights: np.ndarray,
    background: np.ndarray,
    drift: np.ndarray,
    shared: float,
) -> None:
    """Solve ``rows`` in place.

    Parameters
    ----------
    rows : (r,) array of int
    indptr, index, half, trials : the graph by rows of this side
        Other side's rows; half of kept less refused; kept and refused, stream pairs and those shown.
    own, own_spread : (n, d) arrays
        Means and variances of this side, written.
    mean, spread : (k, d) arrays
        Of the other side.
    variance : (d,) array
        Prior variances; 0 of what is known.
    censored : (n,) array
        D' s_i.
    weights : (k,) array
        t_j.
    background, drift : (d, d) and (d,) arrays
        sum_j t_j E[y y'] and sum_j t_j E[y].
    shared : float
        xi*.
    """
    size, far = len(variance), curvature(shared)
    free = np.flatnonzero(variance > 0.0)
    P, h, L = np.empty((size, size)), np.empty(size), np.empty((len(free), len(free)))
    for row in rows:
        weight = censored[row]
        for a in range(size):
            h[a] = -0.5 * weight * drift[a]
            for b in range(a + 1):
                P[a, b] = 2.0 * weight * far * background[a, b]
        m, v = own[row], own_spread[row]
        for e in range(indptr[row], indptr[row + 1]):
            j = index[e]
            square = _moments(m, v, mean[j], spread[j])[1]
            near = curvature(math.sqrt(square))
            _add(P, h, 2.0 * (trials[e] * near + weight * weights[j] * (near - far)), half[e], mean[j], spread[j])
        for d in free:
            P[d, d] += 1.0 / variance[d]
        _settle(P, h, free, L, m, v)


@njit(cache=True, nogil=True)
def survey_rows(
    rows: np.ndarray,
    indptr: np.ndarray,
    index: np.ndarray,
    half: np.ndarray,
    trials: np.ndarray,
    own: np.ndarray,
    own_spread: np.ndarray,
    mean: np.ndarray,
    spread: np.ndarray,
    weights: np.ndarray,
    background: np.ndarray,
    drift: np.ndarray,
    shared: float,
    out: np.ndarray,
) -> None:
    """Write of every row into ``out`` (n, 4) what is needed of it: the arguments are those of `solve_censored_rows`.

    ``out[i]`` is O_i, the expected log odds of being censored, sum_j t_j Omega_ij; sum_G t_j E a^2; sum_G t_j; and the
    fit  sum_G n_ij B_ij + half_ij E a.
    """
    size, far, base = len(drift), curvature(shared), log_sigmoid(shared) - 0.5 * shared
    for row in rows:
        m, v = own[row], own_spread[row]
        square, mean_there = 0.0, 0.0
        for a in range(size):
            mean_there += m[a] * drift[a]
            square += v[a] * background[a, a]
            for b in range(size):
                square += m[a] * background[a, b] * m[b]
        energy = base - far * (square - shared * shared) - 0.5 * mean_there
        squares, mass, fit = 0.0, 0.0, 0.0
        for e in range(indptr[row], indptr[row + 1]):
            j = index[e]
            a_mean, a_square = _moments(m, v, mean[j], spread[j])
            xi = math.sqrt(a_square)
            near = log_sigmoid(xi) - 0.5 * xi
            energy += weights[j] * (near - base + far * (a_square - shared * shared))
            squares += weights[j] * a_square
            mass += weights[j]
            fit += trials[e] * near + half[e] * a_mean
        out[row, 0], out[row, 1], out[row, 2], out[row, 3] = energy, squares, mass, fit
