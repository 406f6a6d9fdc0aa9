"""Compiled loops over the lower triangle of a symmetric matrix in column order: products with few columns,
and with sparse rows.

BLAS reads the triangle again for every vector (``dsymv``) or copies all of the matrix first (``dsymm``, six passes at
n = 4096), and knows no sparse rows.
"""

from __future__ import annotations

import numba

__all__ = ["add_gram", "block_times", "quadratic_forms", "sparse_times"]


@numba.njit(cache=True, nogil=True)
def sparse_times(lower, indices, values, out):
    """out = V b for the sparse vector b (ascending indices), from the columns (and their mirrored rows) it touches."""
    n, count = lower.shape[0], len(indices)
    out[:] = 0.0
    for k in range(count):
        j, b = indices[k], values[k]
        for r in range(j, n):
            out[r] += b * lower[r, j]
    first = 0
    for c in range(indices[count - 1] if count else 0):  # entries left of the diagonal lie in the rows
        while indices[first] <= c:
            first += 1
        total = 0.0
        for k in range(first, count):
            total += values[k] * lower[indices[k], c]
        out[c] += total


@numba.njit(cache=True, nogil=True, fastmath=True)
def block_times(lower, columns, out):
    """out = V M for M (n, k) in column order: one pass over the triangle."""
    n, k = columns.shape
    out[:] = 0.0
    for c in range(n):
        below = lower[c + 1 :, c]
        for t in range(k):
            x, image, factor = columns[c + 1 :, t], out[c + 1 :, t], columns[c, t]
            total = lower[c, c] * factor
            for r in range(len(below)):
                total += below[r] * x[r]
            for r in range(len(below)):
                image[r] += below[r] * factor
            out[c, t] += total


@numba.njit(cache=True, nogil=True)
def quadratic_forms(lower, starts, indices, values, out):
    """out_i = b_i' V b_i for the rows b_i of a sparse matrix with ascending indices."""
    for i in range(len(starts) - 1):
        total = 0.0
        for k in range(starts[i], starts[i + 1]):
            row, inner = indices[k], 0.0
            for j in range(starts[i], k):
                inner += values[j] * lower[row, indices[j]]
            total += values[k] * (2.0 * inner + values[k] * lower[row, row])
        out[i] = total


@numba.njit(cache=True, nogil=True)
def add_gram(lower, starts, indices, values, weights):
    """V += sum_i weights_i b_i b_i', lower triangle."""
    for i in range(len(starts) - 1):
        for j in range(starts[i], starts[i + 1]):
            factor, column = weights[i] * values[j], indices[j]
            for k in range(j, starts[i + 1]):
                lower[indices[k], column] += factor * values[k]
