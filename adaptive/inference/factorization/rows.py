"""One row of a factor where the bound is largest, the other factor held: for means, variances or covariances alike.

With q(z) = N(m, V) of the row and q(w) = N(mu, S) of another's, E exp(z.w) = exp(log R), finite iff the largest
eigenvalue of SV is below one (the sign of a determinant does not tell), and with S = L L', C = I - L' V L:

    St = L C^-1 L',   h = m + V mu,   wt = mu + St h         moments of w under the tilted law
    log R = -1/2 log|C| + m.mu + 1/2 mu' V mu + 1/2 h' St h
    d R / dm = R wt,    d R / dV = R (St + wt wt') / 2,    d^2 R / dm^2 = R (St + wt wt')

The row's bound is concave in (m, V); it is climbed by  m + t H^-1 g  and  V + t (V' - V),  where V' = H^-1 (variances:
1 / diag H) is the fixed point and H the curvature in m, and t is halved until the bound does not fall. Diagonal V and S
are the same formulas entry by entry; zero variances give a point.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from adaptive.inference.factorization.expectations import LANES, cholesky, expected

__all__ = ["solve_rows"]

_LARGEST = 500.0  # of log R: beyond it the point counts as infeasible


@njit(cache=True, nogil=True)
def _log_determinant(V: np.ndarray, variance: np.ndarray) -> float:
    """Of the part that is free; minus infinity where it has none."""
    total = 0.0
    if V.ndim == 1:
        for d in range(len(V)):
            if variance[d] > 0.0:
                total += math.log(V[d]) if V[d] > 0.0 else -math.inf
        return total
    L = V.copy()
    if not cholesky(L, len(V)):
        return -math.inf
    for d in range(len(V)):
        if variance[d] > 0.0:
            total += 2.0 * math.log(L[d, d]) if L[d, d] > 0.0 else -math.inf
    return total


@njit(cache=True, nogil=True)
def _variance_of(V: np.ndarray, d: int) -> float:
    if V.ndim == 1:
        return V[d]
    return V[d, d]


@njit(cache=True, nogil=True)
def _set_prior(V: np.ndarray, variance: np.ndarray) -> None:
    V[:] = 0.0
    for d in range(len(variance)):
        if V.ndim == 1:
            V[d] = variance[d]
        else:
            V[d, d] = variance[d]


@njit(cache=True, nogil=True)
def _set_aim(V: np.ndarray, H: np.ndarray, inverse: np.ndarray, free: np.ndarray, count: int) -> None:
    """The fixed point: the inverse of H, of variances that of its diagonal."""
    for i in range(count):
        if V.ndim == 1:
            V[free[i]] = 1.0 / H[free[i], free[i]]
        else:
            for k in range(count):
                V[free[i], free[k]] = inverse[i, k]


@njit(cache=True, nogil=True)
def _divergence(m: np.ndarray, V: np.ndarray, prior: np.ndarray, variance: np.ndarray, point: bool) -> float:
    """Minus KL(q || prior) over what is free; of a point the log prior density."""
    total = 0.0 if point else 0.5 * _log_determinant(V, variance)
    for d in range(len(m)):
        if variance[d] > 0.0:
            total -= 0.5 * ((m[d] - prior[d]) ** 2 / variance[d] + math.log(variance[d]))
            if point:
                total -= 0.5 * math.log(2.0 * math.pi)
            else:
                total += 0.5 * (1.0 - _variance_of(V, d) / variance[d])
    return total


@LANES
def _bound(
    m: np.ndarray,
    V: np.ndarray,
    a: int,
    b: int,
    index: np.ndarray,
    y: np.ndarray,
    e: np.ndarray,
    offset: float,
    mean: np.ndarray,
    spread: np.ndarray,
    prior: np.ndarray,
    variance: np.ndarray,
    point: bool,
    wt: np.ndarray,
    St: np.ndarray,
    g: np.ndarray,
    H: np.ndarray,
    constant: float,
    slopes: bool,
) -> float:
    """The row's part of the bound, ``constant`` in it; with ``slopes`` also the gradient g and the curvature H in m."""
    n = len(m)
    total = constant + _divergence(m, V, prior, variance, point)
    if slopes:
        H[:] = 0.0
        for d in range(n):
            g[d] = 0.0
            if variance[d] > 0.0:
                g[d] = (prior[d] - m[d]) / variance[d]
                H[d, d] = 1.0 / variance[d]
    for k in range(a, b):
        j = index[k]
        log_rate = expected(m, V, mean[j], spread[j], wt, St) + offset
        if not log_rate < _LARGEST:
            return -math.inf
        inner = offset
        for d in range(n):
            inner += mean[j, d] * m[d]
        rate = e[k] * math.exp(log_rate)
        total += y[k] * inner - rate
        if slopes:
            for i in range(n):
                g[i] += y[k] * mean[j, i] - rate * wt[i]
                scaled = rate * wt[i]
                for d in range(n):
                    H[i, d] += scaled * wt[d]
            if V.ndim == 1:
                for i in range(n):
                    H[i, i] += rate * St[0, i]
            else:
                for i in range(n):
                    for d in range(i + 1):
                        H[i, d] += rate * St[i, d]
    return total


@njit(cache=True, nogil=True)
def _inverse_of_free(H: np.ndarray, free: np.ndarray, count: int, inverse: np.ndarray) -> bool:
    """Inverse of the free part of the symmetric H (lower half), in place of ``inverse``; False if not definite."""
    A = np.empty((count, count))
    for i in range(count):
        for j in range(i + 1):
            A[i, j] = H[free[i], free[j]]
    if not cholesky(A, count):
        return False
    for i in range(count):
        if A[i, i] <= 0.0:
            return False
    for column in range(count):
        for i in range(count):
            total = 1.0 if i == column else 0.0
            for k in range(i):
                total -= A[i, k] * inverse[k, column]
            inverse[i, column] = total / A[i, i]
        for i in range(count - 1, -1, -1):
            total = inverse[i, column]
            for k in range(i + 1, count):
                total -= A[k, i] * inverse[k, column]
            inverse[i, column] = total / A[i, i]
    return True


@njit(cache=True, nogil=True)
def solve_rows(
    first: int,
    last: int,
    indptr: np.ndarray,
    index: np.ndarray,
    y: np.ndarray,
    e: np.ndarray,
    offset: float,
    own: np.ndarray,
    own_spread: np.ndarray,
    mean: np.ndarray,
    spread: np.ndarray,
    prior: np.ndarray,
    variance: np.ndarray,
    point: bool,
    steps: int,
    tol: float,
    values: np.ndarray,
) -> None:
    """Maximise the bound of rows first .. last - 1 over their means and spreads, and write it to ``values``.

    Parameters
    ----------
    first, last : int
    indptr, index, y, e : arrays
        Entries of the rows: the other factor's row, the count, the exposure.
    offset : float
    own, own_spread : (n, k) and (n, k) or (n, k, k) arrays
        Of this factor, changed in place. The spread is variances or covariances.
    mean, spread : the same of the other factor
    prior, variance : (k,) arrays
        Prior mean and variance; an entry of variance 0 stays at its mean.
    point : bool
        No spread.
    steps : int
        At most so many; 0 evaluates only.
    tol : float
        Ends a row that gains less than this.
    values : (n,) array
    """
    n = len(prior)
    free = np.empty(n, dtype=np.int64)
    count = 0
    for d in range(n):
        if variance[d] > 0.0:
            free[count] = d
            count += 1
    wt, St, g, H = np.empty(n), np.zeros((n, n)), np.empty(n), np.empty((n, n))
    inverse = np.empty((count, count))
    for row in range(first, last):
        a, b = indptr[row], indptr[row + 1]
        m, V = own[row].copy(), own_spread[row].copy()
        if a == b and steps > 0:  # the prior, to the bit
            m[:] = prior
            _set_prior(V, np.zeros(n) if point else variance)
            own[row], own_spread[row], values[row] = m, V, _divergence(m, V, prior, variance, point)
            continue
        constant = 0.0
        for k in range(a, b):
            constant -= math.lgamma(y[k] + 1.0)
            if y[k] > 0.0 and e[k] != 1.0:
                constant += y[k] * math.log(e[k])
        value = _bound(
            m, V, a, b, index, y, e, offset, mean, spread, prior, variance, point, wt, St, g, H, constant, steps > 0
        )
        for step in range(steps):
            if not _inverse_of_free(H, free, count, inverse):
                break
            direction = np.zeros(n)
            for i in range(count):
                for k in range(count):
                    direction[free[i]] += inverse[i, k] * g[free[k]]
            aim = np.zeros_like(V)
            if not point:
                _set_aim(aim, H, inverse, free, count)
            t, gain = 1.0, -1.0
            for _half in range(40):
                m_next, V_next = m + t * direction, V + t * (aim - V)
                ahead = _bound(
                    m_next, V_next, a, b, index, y, e, offset, mean, spread, prior, variance, point, wt, St, g, H,
                    constant, False,
                )  # fmt: skip
                if ahead >= value:
                    gain = ahead - value
                    m, V, value = m_next, V_next, ahead
                    break
                t *= 0.5
            if gain < tol or step == steps - 1:
                break
            value = _bound(
                m, V, a, b, index, y, e, offset, mean, spread, prior, variance, point, wt, St, g, H, constant, True
            )
        own[row], own_spread[row], values[row] = m, V, value
