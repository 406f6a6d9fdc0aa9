"""One axis of the orthonormal filter bank: low_k = sum_t h_t x_(2k + t - T/2 + 1), high_k with g_t, modulo the length.

T is the (even) number of taps; the adjoint of this map is its inverse. Arrays are real, flat and contiguous: blocks of
n entries along the axis, ``inner`` numbers between neighbours (complex numbers count as two), any number of such
blocks. The low band comes in front, the high band behind. The inner loops run over neighbouring numbers with two inputs
and two outputs at a time, which compilers vectorise.
"""

from __future__ import annotations

import numpy as np
from numba import njit

__all__ = ["merge", "split"]

WIDE = 8  # from so many numbers between neighbours along an axis on, they are the inner loop
_options = {"cache": True, "nogil": True, "fastmath": {"contract", "nsz"}, "error_model": "numpy"}


def split(x: np.ndarray, out: np.ndarray, n: int, inner: int, low: np.ndarray, high: np.ndarray) -> None:
    """Fill ``out`` with both bands of ``x``."""
    (_split_wide if inner >= WIDE else _split_narrow)(x, out, n, inner, low, high)


def merge(x: np.ndarray, out: np.ndarray, n: int, inner: int, low: np.ndarray, high: np.ndarray) -> None:
    """Fill ``out`` with what has the bands ``x``: the adjoint and inverse of ``split``."""
    (_merge_wide if inner >= WIDE else _merge_narrow)(x, out, n, inner, low, high)


@njit(**_options)
def _split_wide(x, out, n, inner, low, high):
    """The neighbours of an axis are far apart: whole rows of ``inner`` numbers are added up."""
    half, back = n // 2, low.size // 2 - 1
    for block in range(0, x.size, n * inner):
        for k in range(half):
            first, second = block + k * inner, block + (half + k) * inner
            lo, hi = out[first : first + inner], out[second : second + inner]
            for t in range(0, low.size, 2):
                first = block + (2 * k - back + t) % n * inner
                second = block + (2 * k - back + t + 1) % n * inner
                p, q = x[first : first + inner], x[second : second + inner]
                a, b, c, d = low[t], low[t + 1], high[t], high[t + 1]
                if t == 0:
                    for j in range(inner):
                        lo[j] = a * p[j] + b * q[j]
                        hi[j] = c * p[j] + d * q[j]
                else:
                    for j in range(inner):
                        lo[j] += a * p[j] + b * q[j]
                        hi[j] += c * p[j] + d * q[j]


@njit(**_options)
def _merge_wide(x, out, n, inner, low, high):
    """The adjoint of ``_split_wide``."""
    half, back = n // 2, low.size // 2 - 1
    for block in range(0, x.size, n * inner):
        for m in range(half):
            first = block + (2 * m - back) % n * inner
            second = block + (2 * m + 1 - back) % n * inner
            p, q = out[first : first + inner], out[second : second + inner]
            for t in range(0, low.size, 2):
                first = block + (m - t // 2) % half * inner
                second = first + half * inner
                lo, hi = x[first : first + inner], x[second : second + inner]
                a, b, c, d = low[t], low[t + 1], high[t], high[t + 1]
                if t == 0:
                    for j in range(inner):
                        p[j] = a * lo[j] + c * hi[j]
                        q[j] = b * lo[j] + d * hi[j]
                else:
                    for j in range(inner):
                        p[j] += a * lo[j] + c * hi[j]
                        q[j] += b * lo[j] + d * hi[j]


@njit(**_options)
def _split_narrow(x, out, n, inner, low, high):
    """The neighbours are close: every block is first dealt into its even and its odd samples."""
    width, pairs = n // 2 * inner, low.size // 2
    even, odd = np.empty(width + pairs * inner, x.dtype), np.empty(width + pairs * inner, x.dtype)
    for row in range(0, x.size, 2 * width):
        _deal(x[row : row + 2 * width], even, odd, pairs - 1, inner)
        lo, hi = out[row : row + width], out[row + width : row + 2 * width]
        for s in range(pairs):
            p, q = even[s * inner :], odd[s * inner :]
            a, b, c, d = low[2 * s], low[2 * s + 1], high[2 * s], high[2 * s + 1]
            if s == 0:
                for j in range(width):
                    lo[j] = a * p[j] + b * q[j]
                    hi[j] = c * p[j] + d * q[j]
            else:
                for j in range(width):
                    lo[j] += a * p[j] + b * q[j]
                    hi[j] += c * p[j] + d * q[j]


@njit(**_options)
def _merge_narrow(x, out, n, inner, low, high):
    """The adjoint of ``_split_narrow``."""
    width, pairs = n // 2 * inner, low.size // 2
    pad = (pairs - 1) * inner
    lo, hi = np.empty(width + pad, x.dtype), np.empty(width + pad, x.dtype)
    even, odd = np.empty(width, x.dtype), np.empty(width, x.dtype)
    for row in range(0, x.size, 2 * width):
        first, second = x[row : row + width], x[row + width : row + 2 * width]
        for i in range(pad):
            lo[i] = first[(i - pad) % width]
            hi[i] = second[(i - pad) % width]
        p, q = lo[pad:], hi[pad:]
        for i in range(width):
            p[i] = first[i]
            q[i] = second[i]
        for s in range(pairs):
            p, q = lo[pad - s * inner :], hi[pad - s * inner :]
            a, b, c, d = low[2 * s], low[2 * s + 1], high[2 * s], high[2 * s + 1]
            if s == 0:
                for j in range(width):
                    even[j] = a * p[j] + c * q[j]
                    odd[j] = b * p[j] + d * q[j]
            else:
                for j in range(width):
                    even[j] += a * p[j] + c * q[j]
                    odd[j] += b * p[j] + d * q[j]
        _collect(even, odd, out[row : row + 2 * width], pairs - 1, inner)


@njit(**_options)
def _deal(row, even, odd, back, inner):
    """even_m = row_(2m - back), odd_m = row_(2m + 1 - back), modulo their number; each of ``inner`` numbers."""
    n = row.size // inner
    start, stop = (back + 1) // 2, (n + back) // 2  # between them nothing wraps
    for i in range(start + even.size // inner - stop):
        m = i if i < start else i - start + stop
        for j in range(inner):
            even[m * inner + j] = row[(2 * m - back) % n * inner + j]
            odd[m * inner + j] = row[(2 * m + 1 - back) % n * inner + j]
    inside = row[(2 * start - back) * inner :]
    p, q = even[start * inner :], odd[start * inner :]
    if inner == 1:
        for m in range(stop - start):
            p[m] = inside[2 * m]
            q[m] = inside[2 * m + 1]
    elif inner == 2:
        for m in range(stop - start):
            p[2 * m] = inside[4 * m]
            p[2 * m + 1] = inside[4 * m + 1]
            q[2 * m] = inside[4 * m + 2]
            q[2 * m + 1] = inside[4 * m + 3]
    else:
        for m in range(stop - start):
            for j in range(inner):
                p[m * inner + j] = inside[2 * m * inner + j]
                q[m * inner + j] = inside[(2 * m + 1) * inner + j]


@njit(**_options)
def _collect(even, odd, row, back, inner):
    """The adjoint of ``_deal``."""
    n = row.size // inner
    start = min((back + 1) // 2, n // 2)
    for m in range(start):
        for j in range(inner):
            row[(2 * m - back) % n * inner + j] = even[m * inner + j]
            row[(2 * m + 1 - back) % n * inner + j] = odd[m * inner + j]
    inside = row[(2 * start - back) * inner :]
    p, q = even[start * inner :], odd[start * inner :]
    if inner == 1:
        for m in range(n // 2 - start):
            inside[2 * m] = p[m]
            inside[2 * m + 1] = q[m]
    elif inner == 2:
        for m in range(n // 2 - start):
            inside[4 * m] = p[2 * m]
            inside[4 * m + 1] = p[2 * m + 1]
            inside[4 * m + 2] = q[2 * m]
            inside[4 * m + 3] = q[2 * m + 1]
    else:
        for m in range(n // 2 - start):
            for j in range(inner):
                inside[2 * m * inner + j] = p[m * inner + j]
                inside[(2 * m + 1) * inner + j] = q[m * inner + j]
