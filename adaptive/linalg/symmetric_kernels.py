"""Compiled loops over the lower triangle of a symmetric matrix in column order: what rows with few entries
ask of it, which BLAS does not know.
"""

from __future__ import annotations

import numba

__all__ = ["add_gram", "quadratic_forms", "sparse_times"]


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
