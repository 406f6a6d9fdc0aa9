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

from adaptive.estimators.pairs.inference.expectations import LANES, cholesky, cholesky_solve, definite_solve, expected
from adaptive.estimators.pairs.inference.lanes import SHORT, bound_of_variances, room

__all__ = ["solve_rows"]

_LARGEST = 500.0  # of log R: beyond it the point counts as infeasible
_FEW = 1e-150, 1e150  # between which a product may grow before its logarithm is taken


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
def _divergence(m: np.ndarray, V: np.ndarray, prior: np.ndarray, precision: np.ndarray, point: bool) -> float:
    """Minus KL(q || prior) over what is free (precision above 0); of a point the log prior density."""
    L = V
    if V.ndim == 2 and not point:
        L = V.copy()
        if not cholesky(L, len(m)):
            return -math.inf
    total, product = 0.0, 1.0
    for d in range(len(m)):
        if precision[d] > 0.0:
            total -= 0.5 * (m[d] - prior[d]) ** 2 * precision[d]
            if point:
                product *= precision[d] / (2.0 * math.pi)
            else:
                share = _variance_of(V, d) * precision[d]
                total += 0.5 * (1.0 - share)
                product *= _variance_of(L, d) ** 2 * precision[d] if V.ndim == 2 else share
            if not _FEW[0] < product < _FEW[1]:  # one logarithm for many components
                if not product > 0.0:
                    return -math.inf
                total += 0.5 * math.log(product)
                product = 1.0
    return total + 0.5 * math.log(product)


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
    precision: np.ndarray,
    point: bool,
    wt: np.ndarray,
    St: np.ndarray,
    work: np.ndarray,
    lanes: np.ndarray,
    sums: np.ndarray,
    g: np.ndarray,
    H: np.ndarray,
    constant: float,
    slopes: bool,
    again: bool,
) -> float:
    """The row's part of the bound, ``constant`` in it; with ``slopes`` also its gradient g in m, and the lower half of
    the curvature H; ``again``: the row is that of the call before."""
    n = len(m)
    total = constant + _divergence(m, V, prior, precision, point)
    if slopes:
        for d in range(n):
            for i in range(d):
                H[d, i] = 0.0
            g[d] = (prior[d] - m[d]) * precision[d]
            H[d, d] = precision[d]
    if V.ndim == 1 and b - a >= SHORT:
        return total + bound_of_variances(
            m, V, a, b, index, y, e, offset, mean, spread, work, lanes, sums, g, H, slopes, again
        )
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
                for d in range(i + 1):
                    H[i, d] += scaled * wt[d]
                if V.ndim == 1:
                    H[i, i] += rate * St[0, i]
                else:
                    for d in range(i + 1):
                        H[i, d] += rate * St[i, d]
    return total


@njit(cache=True, nogil=True)
def _step(
    g: np.ndarray,
    H: np.ndarray,
    V: np.ndarray,
    free: np.ndarray,
    point: bool,
    direction: np.ndarray,
    change: np.ndarray,
    A: np.ndarray,
    x: np.ndarray,
    w: np.ndarray,
) -> bool:
    """H^-1 g over what is free into ``direction``, what the spread V (not of points) lacks of its fixed point into
    ``change``; A (c, c) and x, w (c,) are room to work in. False if H is not definite."""
    count = len(free)
    for i in range(count):
        x[i] = g[free[i]]
        for j in range(i + 1):
            A[i, j] = H[free[i], free[j]]
    if V.ndim == 1:
        if not definite_solve(A, x, w):
            return False
    else:
        if not cholesky(A, count):
            return False
        for i in range(count):
            if A[i, i] <= 0.0:
                return False
        cholesky_solve(A, x)
    for i in range(count):
        direction[free[i]] = x[i]
    if point:
        return True
    for i in range(count):
        if V.ndim == 1:
            change[free[i]] = 1.0 / H[free[i], free[i]] - V[free[i]]
        else:
            x[:] = 0.0
            x[i] = 1.0
            cholesky_solve(A, x)
            for k in range(count):
                change[free[k], free[i]] = x[k] - V[free[k], free[i]]
    return True


@njit(cache=True, nogil=True)
def _ahead(to: np.ndarray, a: np.ndarray, t: float, direction: np.ndarray) -> None:
    """a + t direction into ``to``, entry by entry: rows are short, and assigning slices asks more than it copies."""
    for d in range(len(to)):
        if to.ndim == 1:
            to[d] = a[d] + t * direction[d]
        else:
            for i in range(len(to)):
                to[d, i] = a[d, i] + t * direction[d, i]


@njit(cache=True, nogil=True)
def solve_rows(
    first: int,
    last: int,
    indptr: np.ndarray,
    index: np.ndarray,
    y: np.ndarray,
    e: np.ndarray,
    constants: np.ndarray,
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
    index, y, e : arrays
        Entries of the rows: the other factor's row, the count, the exposure.
    constants : (n,) array
        Of every row the sum of y log e - log y!.
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
    free = np.flatnonzero(variance > 0.0)
    g, H, direction = np.empty(n), np.empty((n, n)), np.zeros(n)
    A, x, w = np.empty((len(free), len(free))), np.empty(len(free)), np.empty(len(free))
    precision = np.zeros(n)
    precision[free] = 1.0 / variance[free]
    wt, St = np.empty(n), np.zeros((n, n))
    work, lanes, sums = room(n if own_spread.ndim == 2 else 0)
    m_next, V_next, change = np.empty(n), np.zeros(own_spread.shape[1:]), np.zeros(own_spread.shape[1:])
    for row in range(first, last):
        a, b = indptr[row], indptr[row + 1]
        if a == b and steps > 0:  # the prior, to the bit
            own[row] = prior
            _set_prior(own_spread[row], np.zeros(n) if point else variance)
            values[row] = _divergence(own[row], own_spread[row], prior, precision, point)
            continue
        m, V, constant = own[row], own_spread[row], constants[row]
        yes, no = a >= 0, a < 0  # asked, not stated: for every constant `_bound` would be compiled once more
        value = _bound(
            m, V, a, b, index, y, e, offset, mean, spread, prior, precision, point, wt, St, work, lanes, sums, g, H,
            constant, steps > 0, no,
        )  # fmt: skip
        for step in range(steps):
            if not _step(g, H, V, free, point, direction, change, A, x, w):
                break
            t, gain = 1.0, -1.0
            for _half in range(40):
                _ahead(m_next, m, t, direction)
                _ahead(V_next, V, t, change)
                ahead = _bound(
                    m_next, V_next, a, b, index, y, e, offset, mean, spread, prior, precision, point, wt, St, work,
                    lanes, sums, g, H, constant, no, yes,
                )  # fmt: skip
                if ahead >= value:
                    gain = ahead - value
                    value = ahead
                    _ahead(m, m_next, 0.0, m_next)
                    _ahead(V, V_next, 0.0, V_next)
                    break
                t *= 0.5
            if gain < tol or step == steps - 1:
                break
            value = _bound(
                m, V, a, b, index, y, e, offset, mean, spread, prior, precision, point, wt, St, work, lanes, sums, g, H,
                constant, yes, yes,
            )  # fmt: skip
        values[row] = value
