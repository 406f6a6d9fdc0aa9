"""E exp(z.w) of two Gaussian vectors, finite iff the largest eigenvalue of SV is below one, and the law it tilts to.

    log R = -1/2 log|C| + m.mu + 1/2 mu' V mu + 1/2 h' St h,     C = I - L' V L,   S = L L',   h = m + V mu
    wt = mu + St h,   St = L C^-1 L'                             moments of w under the tilted law

Diagonal V and S are the same formulas entry by entry; zero variances give a point.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

__all__ = ["CLOSEST", "LANES", "cholesky", "cholesky_solve", "definite_solve", "expected", "log_rates"]

CLOSEST = 1e-10  # to the boundary of feasibility


# Sums over components in lanes: the arrays are never one another, so that the order is the same wherever they lie.
LANES = njit(cache=True, nogil=True, error_model="numpy", fastmath={"reassoc", "contract", "nsz"})


@LANES
def _diagonal(m: np.ndarray, v: np.ndarray, mu: np.ndarray, s: np.ndarray, wt: np.ndarray, st: np.ndarray) -> float:
    least, product, total = 1.0, 1.0, 0.0
    for d in range(len(m)):
        gap = 1.0 - s[d] * v[d]
        least = min(least, gap)
        product *= gap
        share = 1.0 / gap
        wt[d] = (mu[d] + s[d] * m[d]) * share
        st[d] = s[d] * share
        total += (0.5 * (s[d] * m[d] * m[d] + v[d] * mu[d] * mu[d]) + m[d] * mu[d]) * share
    return math.inf if least < CLOSEST else total - 0.5 * math.log(product)  # one logarithm for all entries


@njit(cache=True, nogil=True)
def cholesky(A: np.ndarray, n: int) -> bool:
    """Lower factor of the leading n by n part in place, a zero row where there is no variance; False if indefinite."""
    for j in range(n):
        total = A[j, j]
        for k in range(j):
            total -= A[j, k] * A[j, k]
        if total < -1e-9:
            return False
        A[j, j] = math.sqrt(total) if total > 0.0 else 0.0
        share = 1.0 / A[j, j] if total > 0.0 else 0.0  # one division a column
        for i in range(j + 1, n):
            total = A[i, j]
            for k in range(j):
                total -= A[i, k] * A[j, k]
            A[i, j] = total * share
    return True


@njit(cache=True, nogil=True)
def cholesky_solve(A: np.ndarray, x: np.ndarray) -> None:
    """x (n,) becomes (A A')^-1 x, A the factor in the leading n by n part that `cholesky` leaves."""
    count = len(x)
    for i in range(count):
        for k in range(i):
            x[i] -= A[i, k] * x[k]
        x[i] /= A[i, i]
    for i in range(count - 1, -1, -1):
        for k in range(i + 1, count):
            x[i] -= A[k, i] * x[k]
        x[i] /= A[i, i]


@njit(cache=True, nogil=True, error_model="numpy", fastmath={"contract"})
def definite_solve(A: np.ndarray, x: np.ndarray, room: np.ndarray) -> bool:
    """x (n,) becomes A^-1 x, ``room`` (n,) to work in; False, and x in between, unless A is positive definite.

    By A = L D L', of which LD takes the place of A's lower half and 1 / D of its diagonal: no roots, and one division a
    column, for which a row of little data waits longer than for its entries.
    """
    n = len(x)
    for j in range(n):
        pivot, ahead = A[j, j], x[j]
        for k in range(j):
            room[k] = A[j, k] * A[k, k]
            pivot -= A[j, k] * room[k]
            ahead -= x[k] * room[k]
        if not pivot > 0.0:
            return False
        A[j, j], x[j] = 1.0 / pivot, ahead
        for i in range(j + 1, n):
            total = A[i, j]
            for k in range(j):
                total -= A[i, k] * room[k]
            A[i, j] = total
    for j in range(n):
        x[j] *= A[j, j]
    for j in range(n - 1, 0, -1):
        for i in range(j):
            x[i] -= A[j, i] * A[i, i] * x[j]
    return True


@njit(cache=True, nogil=True)
def _full(m: np.ndarray, V: np.ndarray, mu: np.ndarray, S: np.ndarray, wt: np.ndarray, St: np.ndarray) -> float:
    n = len(m)
    L = S.copy()
    if not cholesky(L, n):
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
                if total < CLOSEST:
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
def _is_point(V: np.ndarray) -> bool:
    """Test whether a covariance is zero: its trace is."""
    return np.trace(V) == 0.0


@njit(cache=True, nogil=True)
def _of_a_point(m: np.ndarray, V: np.ndarray, mu: np.ndarray, S: np.ndarray, wt: np.ndarray, St: np.ndarray) -> float:
    """`_full` where V or S is zero, k^2 in place of k^3: St = S, wt = mu + S m."""
    total = 0.0
    for i in range(len(m)):
        wt[i] = mu[i]
        for k in range(len(m)):
            St[i, k] = S[i, k]
            wt[i] += S[i, k] * m[k]
            total += 0.5 * mu[i] * V[i, k] * mu[k]
        total += 0.5 * m[i] * (mu[i] + wt[i])
    return total


@njit(cache=True, nogil=True)
def expected(m: np.ndarray, V: np.ndarray, mu: np.ndarray, S: np.ndarray, wt: np.ndarray, St: np.ndarray) -> float:
    """log R without the offset, infinite where infeasible; fills ``wt`` (k,) and ``St`` (k, k): of variances its first
    row."""
    if V.ndim == 1:
        return _diagonal(m, V, mu, S, wt, St[0])
    if _is_point(V) or _is_point(S):
        return _of_a_point(m, V, mu, S, wt, St)
    return _full(m, V, mu, S, wt, St)


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
        out[k] = expected(scale * own[u], scale * scale * own_spread[u], mean[items[k]], spread[items[k]], wt, St)
    return out
