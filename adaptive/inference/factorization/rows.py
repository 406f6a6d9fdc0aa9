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

__all__ = ["log_rates", "solve_rows"]

_LARGEST = 500.0  # of log R: beyond it the point counts as infeasible
_CLOSEST = 1e-10  # to the boundary of feasibility


@njit(cache=True, nogil=True)
def _diagonal(m: np.ndarray, v: np.ndarray, mu: np.ndarray, s: np.ndarray, wt: np.ndarray, St: np.ndarray) -> float:
    least, product = 1.0, 1.0
    for d in range(len(m)):
        gap = 1.0 - s[d] * v[d]
        least = min(least, gap)
        product *= gap
    if least < _CLOSEST:
        return math.inf
    total = -0.5 * math.log(product)  # one logarithm for all entries
    for d in range(len(m)):
        share = 1.0 / (1.0 - s[d] * v[d])
        wt[d] = (mu[d] + s[d] * m[d]) * share
        St[d, d] = s[d] * share
        total += (0.5 * (s[d] * m[d] * m[d] + v[d] * mu[d] * mu[d]) + m[d] * mu[d]) * share
    return total


@njit(cache=True, nogil=True)
def _cholesky(A: np.ndarray, n: int) -> bool:
    """Lower factor of the leading n by n part in place, a zero row where there is no variance; False if indefinite."""
    for i in range(n):
        for j in range(i + 1):
            total = A[i, j]
            for k in range(j):
                total -= A[i, k] * A[j, k]
            if i == j:
                if total < -1e-9:
                    return False
                A[i, i] = math.sqrt(total) if total > 0.0 else 0.0
            else:
                A[i, j] = total / A[j, j] if A[j, j] > 0.0 else 0.0
    return True


@njit(cache=True, nogil=True)
def _full(m: np.ndarray, V: np.ndarray, mu: np.ndarray, S: np.ndarray, wt: np.ndarray, St: np.ndarray) -> float:
    n = len(m)
    L = S.copy()
    if not _cholesky(L, n):
        return math.inf
    VL = np.zeros((n, n))
    for i in range(n):
        for j in range(n):
            for k in range(j, n):
                VL[i, j] += V[i, k] * L[k, j]
    C = np.zeros((n, n))
    for i in range(n):
        for j in range(i + 1):
            total = 1.0 if i == j else 0.0
            for k in range(i, n):
                total -= L[k, i] * VL[k, j]
            C[i, j] = total
    log_root = 0.0
    for i in range(n):  # Cholesky of C: positive definite or infeasible
        for j in range(i + 1):
            total = C[i, j]
            for k in range(j):
                total -= C[i, k] * C[j, k]
            if i == j:
                if total < _CLOSEST:
                    return math.inf
                C[i, i] = math.sqrt(total)
                log_root += math.log(C[i, i])
            else:
                C[i, j] = total / C[j, j]
    B = np.zeros((n, n))  # C^-1/2 L'
    for j in range(n):
        for i in range(n):
            total = L[j, i] if i <= j else 0.0
            for k in range(i):
                total -= C[i, k] * B[k, j]
            B[i, j] = total / C[i, i]
    total = -log_root
    h = np.empty(n)
    for i in range(n):
        h[i] = m[i]
        for k in range(n):
            h[i] += V[i, k] * mu[k]
        total += 0.5 * mu[i] * (m[i] + h[i])
    for i in range(n):
        for j in range(n):
            St[i, j] = 0.0
            for k in range(n):
                St[i, j] += B[k, i] * B[k, j]
    for i in range(n):
        wt[i] = mu[i]
        for k in range(n):
            wt[i] += St[i, k] * h[k]
        total += 0.5 * h[i] * (wt[i] - mu[i])
    return total


@njit(cache=True, nogil=True)
def _expected(m: np.ndarray, V: np.ndarray, mu: np.ndarray, S: np.ndarray, wt: np.ndarray, St: np.ndarray) -> float:
    """log R without the offset, infinite where infeasible."""
    if V.ndim == 1:
        return _diagonal(m, V, mu, S, wt, St)
    return _full(m, V, mu, S, wt, St)


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
    if not _cholesky(L, len(V)):
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


@njit(cache=True, nogil=True)
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
        log_rate = _expected(m, V, mean[j], spread[j], wt, St) + offset
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
                H[i, i] += rate * St[i, i]
                for d in range(i + 1):
                    H[i, d] += scaled * wt[d]
            if V.ndim == 2:
                for i in range(n):
                    for d in range(i):
                        H[i, d] += rate * St[i, d]
    return total


@njit(cache=True, nogil=True)
def _inverse_of_free(H: np.ndarray, free: np.ndarray, count: int, inverse: np.ndarray) -> bool:
    """Inverse of the free part of the symmetric H (lower half), in place of ``inverse``; False if not definite."""
    A = np.empty((count, count))
    for i in range(count):
        for j in range(i + 1):
            A[i, j] = H[free[i], free[j]]
    if not _cholesky(A, count):
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


@njit(cache=True, nogil=True)
def log_rates(
    users: np.ndarray,
    items: np.ndarray,
    own: np.ndarray,
    own_spread: np.ndarray,
    mean: np.ndarray,
    spread: np.ndarray,
    scale: float,
) -> np.ndarray:
    """Return log E exp(scale z.w) (n,) of pairs of rows, infinite where it is infinite; scale 1 or 2."""
    out = np.empty(len(users))
    n = own.shape[1]
    wt, St = np.empty(n), np.zeros((n, n))
    for k in range(len(users)):
        u = users[k]
        out[k] = _expected(scale * own[u], scale * scale * own_spread[u], mean[items[k]], spread[items[k]], wt, St)
    return out
