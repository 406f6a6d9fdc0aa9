"""The orthonormal filter bank: low_k = sum_t h_t x_(2k + t - T/2 + 1), high_k = sum_t g_t x_(2k + t - T/2 + 1).

Indices are taken modulo the length, T is the (even) number of taps, and the adjoint of this map is its inverse. All
arrays are real and contiguous; complex numbers are pairs (width 2), a last axis that is never transformed.
Every image is transformed completely, all levels, while it is in the cache; a batch is a loop over images. The inner
loops run over neighbouring numbers with two inputs and two outputs at a time, which compilers vectorise.
"""

from __future__ import annotations

import numpy as np
from numba import njit

__all__ = ["analyse", "normal", "synthesise"]

_options = {"cache": True, "nogil": True, "fastmath": {"contract", "nsz"}, "error_model": "numpy"}
WIDE = 8  # from so many numbers between neighbours along an axis on, they are the inner loop


@njit(**_options)
def _split_wide(x, out, low, high):
    """One axis, x and out (outer, n, inner): out[:, :n/2] the low band, out[:, n/2:] the high band."""
    outer, n, inner = x.shape
    half, back = n // 2, low.size // 2 - 1
    for o in range(outer):
        for k in range(half):
            lo, hi = out[o, k], out[o, half + k]
            for t in range(0, low.size, 2):
                p, q = x[o, (2 * k - back + t) % n], x[o, (2 * k - back + t + 1) % n]
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
def _merge_wide(x, out, low, high):
    """The adjoint of ``_split_wide``, which is its inverse."""
    outer, n, inner = x.shape
    half, back = n // 2, low.size // 2 - 1
    for o in range(outer):
        for m in range(half):
            p, q = out[o, (2 * m - back) % n], out[o, (2 * m + 1 - back) % n]
            for t in range(0, low.size, 2):
                k = (m - t // 2) % half
                lo, hi = x[o, k], x[o, half + k]
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
def _split_narrow(x, out, low, high, inner):
    """As ``_split_wide`` for small ``inner``, x and out (outer, n * inner): rows are first dealt into even and odd."""
    outer, size = x.shape
    width, pairs = size // 2, low.size // 2
    even, odd = np.empty(width + pairs * inner, x.dtype), np.empty(width + pairs * inner, x.dtype)
    for o in range(outer):
        _deal(x[o], even, odd, pairs - 1, inner)
        lo, hi = out[o, :width], out[o, width:]
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
def _merge_narrow(x, out, low, high, inner):
    """The adjoint of ``_split_narrow``."""
    outer, size = x.shape
    width, pairs = size // 2, low.size // 2
    pad = (pairs - 1) * inner
    lo, hi = np.empty(width + pad, x.dtype), np.empty(width + pad, x.dtype)
    even, odd = np.empty(width, x.dtype), np.empty(width, x.dtype)
    for o in range(outer):
        first, second = x[o, :width], x[o, width:]
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
        _collect(even, odd, out[o], pairs - 1, inner)


@njit(**_options)
def _deal(row, even, odd, back, inner):
    """even_m = row_(2m - back), odd_m = row_(2m + 1 - back), modulo their number; each of ``inner`` numbers."""
    n = row.size // inner
    start, stop = (back + 1) // 2, (n + back) // 2  # between them nothing wraps
    wrapped = start + even.size // inner - stop
    for i in range(wrapped):
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


@njit(**_options)
def _copy_corner(packed, block, shape, dims, width, inwards):
    """Copy the corner of shape ``dims`` of ``packed`` (an array of shape ``shape``, flat) into ``block``, or back."""
    run = dims[-1] * width
    for row in range(block.size // run):
        rest, offset, stride = row, 0, shape[-1] * width
        for axis in range(dims.size - 2, -1, -1):
            offset += (rest % dims[axis]) * stride
            rest //= dims[axis]
            stride *= shape[axis]
        if inwards:
            block[row * run : (row + 1) * run] = packed[offset : offset + run]
        else:
            packed[offset : offset + run] = block[row * run : (row + 1) * run]


@njit(**_options)
def _pass(source, target, dims, axis, width, low, high, splitting):
    """Transform one axis of a contiguous block of shape ``dims``."""
    inner = width
    for later in range(axis + 1, dims.size):
        inner *= dims[later]
    n = dims[axis]
    outer = source.size // (n * inner)
    if inner >= WIDE:
        x, out = source.reshape(outer, n, inner), target.reshape(outer, n, inner)
        if splitting:
            _split_wide(x, out, low, high)
        else:
            _merge_wide(x, out, low, high)
    else:
        rows, into = source.reshape(outer, n * inner), target.reshape(outer, n * inner)
        if splitting:
            _split_narrow(rows, into, low, high, inner)
        else:
            _merge_narrow(rows, into, low, high, inner)


@njit(**_options)
def _analyse_image(x, out, shape, width, level, low, high, here, there):
    dims = shape.copy()
    for depth in range(level):
        size = np.prod(dims) * width
        for axis in range(dims.size):
            source = x if depth == 0 and axis == 0 else here[:size]
            target = out if depth == 0 and axis == dims.size - 1 else there[:size]
            _pass(source, target, dims, axis, width, low, high, True)
            here, there = there, here
        if depth > 0:
            _copy_corner(out, here[:size], shape, dims, width, False)
        dims //= 2
        if depth + 1 < level:
            _copy_corner(out, here[: np.prod(dims) * width], shape, dims, width, True)


@njit(**_options)
def _synthesise_image(x, out, shape, width, level, low, high, here, there):
    for depth in range(level - 1, -1, -1):
        dims = shape // 2**depth
        size = np.prod(dims) * width
        if depth + 1 < level:  # what the coarser levels gave takes the place of their coefficients
            _copy_corner(x, there[:size], shape, dims, width, True)
            _copy_corner(there[:size], here[: size // 2**dims.size], dims, dims // 2, width, False)
            here, there = there, here
        else:
            _copy_corner(x, here[:size], shape, dims, width, True)
        for axis in range(dims.size - 1, -1, -1):
            target = out if depth == 0 and axis == 0 else there[:size]
            _pass(here[:size], target, dims, axis, width, low, high, False)
            here, there = there, here


@njit(**_options)
def analyse(x, out, shape, width, level, low, high):
    """Images x (batch, n) to packed coefficients out (batch, n); n = prod(shape) * width."""
    here, there = np.empty_like(x[0]), np.empty_like(x[0])
    for image in range(x.shape[0]):
        _analyse_image(x[image], out[image], shape, width, level, low, high, here, there)


@njit(**_options)
def synthesise(x, out, shape, width, level, low, high):
    """Packed coefficients to images: the adjoint and inverse of ``analyse``."""
    here, there = np.empty_like(x[0]), np.empty_like(x[0])
    for image in range(x.shape[0]):
        _synthesise_image(x[image], out[image], shape, width, level, low, high, here, there)


@njit(**_options)
def normal(x, weights, out, shape, width, level, low, high):
    """Analyse, multiply by weights (n / width,), synthesise: one image after the other, in the cache."""
    here, there, bands = np.empty_like(x[0]), np.empty_like(x[0]), np.empty_like(x[0])
    for image in range(x.shape[0]):
        _analyse_image(x[image], bands, shape, width, level, low, high, here, there)
        if width == 1:
            for i in range(weights.size):
                bands[i] *= weights[i]
        else:
            for i in range(weights.size):
                bands[2 * i] *= weights[i]
                bands[2 * i + 1] *= weights[i]
        _synthesise_image(bands, out[image], shape, width, level, low, high, here, there)
