"""Compiled loops: inner products and updates of conjugate gradients, circulant products, means of squares."""

from __future__ import annotations

import numba
import numpy as np

__all__ = ["controlled", "dots", "multiply", "multiply_pairs", "plain", "single_times", "step", "turn"]

BLOCK = 512


@numba.njit(cache=True, fastmath={"reassoc", "contract"}, nogil=True)
def dots(a, b):
    """Inner products of rows, summed in double precision."""
    result = np.empty(a.shape[0])
    for c in range(a.shape[0]):
        total = 0.0
        for j in range(a.shape[1]):
            total += np.float64(a[c, j]) * np.float64(b[c, j])
        result[c] = total
    return result


@numba.njit(cache=True, fastmath={"reassoc", "contract"}, nogil=True)
def single_times(rows, directions, result):
    """result[i, k] = rows[i] . directions[k], rows in single precision, sums in double.

    Three rows at a time are cast, in cache, and a row's digits do not depend on where it stands.
    """
    m, d = rows.shape
    cast = np.empty((3, d))
    for i in range(0, m, 3):
        second, third = min(i + 1, m - 1), min(i + 2, m - 1)
        for j in range(d):
            cast[0, j], cast[1, j], cast[2, j] = rows[i, j], rows[second, j], rows[third, j]
        for k in range(directions.shape[0]):
            a, b, c = 0.0, 0.0, 0.0
            for j in range(d):
                along = directions[k, j]
                a += cast[0, j] * along
                b += cast[1, j] * along
                c += cast[2, j] * along
            result[third, k], result[second, k], result[i, k] = c, b, a


@numba.njit(cache=True, fastmath={"reassoc", "contract"}, nogil=True)
def turn(p, z, ratio):
    """p = z + ratio p, in place."""
    for c in range(p.shape[0]):
        factor = p.dtype.type(ratio[c])
        for j in range(p.shape[1]):
            p[c, j] = z[c, j] + factor * p[c, j]


@numba.njit(cache=True, fastmath={"reassoc", "contract"}, nogil=True)
def step(x, rows, p, r, product, length):
    """x[rows] += length p and r -= length product, in place; returns |r|^2 of each column."""
    result = np.empty(p.shape[0])
    for c in range(p.shape[0]):
        factor = p.dtype.type(length[c])
        row = rows[c]
        total = 0.0
        for j in range(p.shape[1]):
            x[row, j] += factor * p[c, j]
            value = r[c, j] - factor * product[c, j]
            r[c, j] = value
            total += np.float64(value) * np.float64(value)
        result[c] = total
    return result


@numba.njit(cache=True, nogil=True)
def multiply(u, symbol):
    """u[b, k] *= symbol[k], in place."""
    for b in range(u.shape[0]):
        for k in range(u.shape[1]):
            u[b, k] *= symbol[k]


@numba.njit(cache=True, nogil=True)
def multiply_pairs(u, a, d, c):
    """[[a, i c], [-i c, d]] times every pair of frequencies, in place."""
    for b in range(u.shape[0]):
        for k in range(u.shape[2]):
            first, second = u[b, 0, k], u[b, 1, k]
            u[b, 0, k] = complex(a[k] * first.real - c[k] * second.imag, a[k] * first.imag + c[k] * second.real)
            u[b, 1, k] = complex(d[k] * second.real + c[k] * first.imag, d[k] * second.imag - c[k] * first.real)


@numba.njit(cache=True, nogil=True)
def plain(s):
    """Mean of |s|^2 over the first axis, and its standard error, for s of shape (N, real parts, q)."""
    N, parts, q = s.shape
    first, second, value = np.zeros(q), np.zeros(q), np.empty(q)
    for i in range(N):
        value[:] = 0.0
        for part in range(parts):
            for j in range(q):
                value[j] += np.float64(s[i, part, j]) ** 2
        for j in range(q):
            first[j] += value[j]
            second[j] += value[j] * value[j]
    return _moments(first, second, N)


@numba.njit(cache=True, nogil=True, error_model="numpy")  # IEEE division: the loops vectorise
def controlled(s, t, known, trusted):
    """Mean of |s|^2 - c (Re(s conj t) - known), where c of each sample comes from the others; plain where trusted is 0.

    c = 2 z m / (z v + m^2), with z, v and m the sums of |s|^2, |t|^2 and Re(s conj t) over the others: written in
    v / z and m / z, it does not depend on units.
    """
    N, parts, q = s.shape
    first, second = np.zeros(q), np.zeros(q)
    zero, one, two, tiny = s.dtype.type(0), s.dtype.type(1), s.dtype.type(2), s.dtype.type(1e-30)
    square, cross, other = np.empty(BLOCK, s.dtype), np.empty(BLOCK, s.dtype), np.empty(BLOCK, s.dtype)
    squares, crosses, others = np.empty(BLOCK, s.dtype), np.empty(BLOCK, s.dtype), np.empty(BLOCK, s.dtype)
    for start in range(0, q, BLOCK):  # a block of projections stays in the cache for both passes
        n = min(BLOCK, q - start)
        block = slice(start, start + n)
        m, weight, total, total_square = known[block], trusted[block], first[block], second[block]
        squares[:], crosses[:], others[:] = zero, zero, zero
        for i in range(N):
            for part in range(parts):
                x, y = s[i, part, block], t[i, part, block]
                for j in range(n):
                    squares[j] += x[j] * x[j]
                    crosses[j] += x[j] * y[j]
                    others[j] += y[j] * y[j]
        for i in range(N):
            square[:], cross[:], other[:] = zero, zero, zero
            for part in range(parts):
                x, y = s[i, part, block], t[i, part, block]
                for j in range(n):
                    square[j] += x[j] * x[j]
                    cross[j] += x[j] * y[j]
                    other[j] += y[j] * y[j]
            for j in range(n):
                inverse = one / (squares[j] - square[j] + tiny)
                ratio = max((crosses[j] - cross[j]) * inverse, zero)
                c = weight[j] * two * ratio / ((others[j] - other[j]) * inverse + ratio * ratio + tiny)
                value = np.float64(square[j] - c * (cross[j] - m[j]))
                total[j] += value
                total_square[j] += value * value
    return _moments(first, second, N)


@numba.njit(nogil=True)
def _moments(first, second, N):
    error = np.empty_like(first)
    for j in range(len(first)):
        first[j] /= N
        error[j] = np.sqrt(max(second[j] / N - first[j] * first[j], 0.0) / (N - 1))
    return first, error
