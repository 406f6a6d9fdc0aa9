"""Conditional determinants along a chain, node after node: what `chain_rule` asks, compiled, in memory of one block.

    products    x_j x_(j-d)^H of the scaled samples, once for d = 0, ..., memory
    pooled      sums of them over a window that runs along the chain: a product comes in, another goes out
    determinant the last pivots of a Cholesky factorisation of I + pooled, the oldest node first

A node of c channels costs (memory + 1) n_samples c^2 complex products, (memory + 1)(memory + 2) c^2 sums and
((memory + 1) c)^3 / 6 products, of which with eight channels the last are most.
"""

from __future__ import annotations

import numpy as np
from numba import njit

__all__ = ["chain_terms"]

_options = {"cache": True, "nogil": True, "fastmath": {"contract", "nsz", "reassoc"}, "error_model": "numpy"}


@njit(**_options)
def chain_terms(samples: np.ndarray, spread: np.ndarray, memory: int, size: int, terms: np.ndarray) -> None:
    """log|I + C_(j | before)| of every node j.

    Parameters
    ----------
    samples : complex array (n_samples, blocks, channels, nodes)
    spread : array (blocks, channels, nodes)
        Standard deviations over that of the noise.
    memory, size : int
        Nodes that each is conditioned on; nodes that correlations are pooled over, at the ends those that there are,
        the last one as often as it takes.
    terms : array (blocks, nodes)
        Filled.
    """
    n_samples, blocks, channels, nodes = samples.shape
    width = (memory + 1) * channels
    real = np.empty((nodes, n_samples, channels))
    imag = np.empty((nodes, n_samples, channels))
    product = np.empty((memory + 1, nodes, 2, channels, channels))  # [d, j]: of nodes j and j - d
    pooled = np.empty((memory + 1, memory + 1, 2, channels, channels))  # of nodes j - a and j - b, a <= b
    root, upper_real, upper_imag = np.empty(width), np.empty((width, width)), np.empty((width, width))
    for block in range(blocks):
        _scaled(samples, block, real, imag)
        for d in range(memory + 1):
            for j in range(d, nodes):
                _outer(real[j], imag[j], real[j - d], imag[j - d], product[d, j])
        pooled[:] = 0.0
        for w in range(size):
            _add(product, pooled, min(max(w - size // 2, 0), nodes - 1), memory, 1.0)
        for j in range(nodes):
            if j:
                _add(product, pooled, min(j + size - 1 - size // 2, nodes - 1), memory, 1.0)
                _add(product, pooled, max(j - 1 - size // 2, 0), memory, -1.0)
            _matrix(pooled, spread[block], j, memory, root, upper_real, upper_imag)
            terms[block, j] = _last_pivots(upper_real, upper_imag, channels)


@njit(**_options)
def _scaled(samples: np.ndarray, block: int, real: np.ndarray, imag: np.ndarray) -> None:
    """The samples of a block, each node and channel at a mean square of one: correlations, not what is large."""
    n_samples, _, channels, nodes = samples.shape
    for c in range(channels):
        for j in range(nodes):
            total = 0.0
            for s in range(n_samples):
                one = samples[s, block, c, j]
                total += np.float64(one.real) ** 2 + np.float64(one.imag) ** 2
            scale = np.sqrt(n_samples / total) if total > 0 else 1.0
            for s in range(n_samples):
                one = samples[s, block, c, j]
                real[j, s, c] = one.real * scale
                imag[j, s, c] = one.imag * scale


@njit(**_options)
def _outer(real: np.ndarray, imag: np.ndarray, other_real: np.ndarray, other_imag: np.ndarray, out: np.ndarray) -> None:
    """sum_s x_s y_s^H, real and imaginary part."""
    n_samples, channels = real.shape
    for c in range(channels):
        row_real, row_imag = out[0, c], out[1, c]
        row_real[:] = 0.0
        row_imag[:] = 0.0
        for s in range(n_samples):
            a, b = real[s, c], imag[s, c]
            for d in range(channels):
                row_real[d] += a * other_real[s, d] + b * other_imag[s, d]
                row_imag[d] += b * other_real[s, d] - a * other_imag[s, d]


@njit(**_options)
def _add(product: np.ndarray, pooled: np.ndarray, j: int, memory: int, sign: float) -> None:
    """Node j into the window, or out of it."""
    for a in range(memory + 1):
        for b in range(a, memory + 1):
            if j >= b:
                into, what = pooled[a, b].reshape(-1), product[b - a, j - a].reshape(-1)
                for k in range(len(into)):
                    into[k] += sign * what[k]


@njit(**_options)
def _matrix(
    pooled: np.ndarray,
    spread: np.ndarray,
    j: int,
    memory: int,
    root: np.ndarray,
    upper_real: np.ndarray,
    upper_imag: np.ndarray,
) -> None:
    """I + the pooled correlations times the standard deviations, the upper triangle; the oldest node first."""
    channels = spread.shape[0]
    for a in range(memory + 1):
        for c in range(channels):
            power = pooled[a, a, 0, c, c]
            deviation = spread[c, j - a] if j >= a else 0.0
            root[(memory - a) * channels + c] = deviation / np.sqrt(power if power > 0 else 1.0)
    for b in range(memory + 1):
        for a in range(b + 1):
            for c in range(channels):  # row: of the older node b; column: of a
                row, first = (memory - b) * channels + c, (memory - a) * channels
                for d in range(c if a == b else 0, channels):
                    weight = root[row] * root[first + d]
                    upper_real[row, first + d] = weight * pooled[a, b, 0, d, c]
                    upper_imag[row, first + d] = -weight * pooled[a, b, 1, d, c]
                if a == b:
                    upper_real[row, row] += 1.0


@njit(**_options)
def _last_pivots(upper_real: np.ndarray, upper_imag: np.ndarray, last: int) -> float:
    """Sum of the logarithms of the last pivots; the triangle is overwritten."""
    n, total = len(upper_real), 0.0
    for k in range(n):
        top_real, top_imag = upper_real[k], upper_imag[k]
        pivot = top_real[k]
        if k >= n - last:
            total += np.log(pivot)
        for i in range(k + 1, n):
            a, b = top_real[i] / pivot, top_imag[i] / pivot
            row_real, row_imag = upper_real[i], upper_imag[i]
            for j in range(i, n):
                row_real[j] -= a * top_real[j] + b * top_imag[j]
                row_imag[j] -= a * top_imag[j] - b * top_real[j]
    return total
