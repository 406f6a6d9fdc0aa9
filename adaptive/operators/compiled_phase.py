"""A complex diagonal between real and imaginary parts, in one pass each way.

    turned      z = d (Re u + i Im u)                 back      (Re, Im) of conj(d) z

Parts are joined, turned, turned back and parted in every product with a model of complex images.
"""

from __future__ import annotations

from numba import njit

__all__ = ["back", "turned"]

_options = {"cache": True, "nogil": True, "fastmath": {"contract", "nsz"}, "error_model": "numpy"}


@njit(**_options)
def turned(parts, pairs, out):
    """out (b, 2 n), complex numbers as pairs, from parts (b, 2, n) and the diagonal (2 n,), pairs as well."""
    n = parts.shape[2]
    for c in range(parts.shape[0]):
        real, imag, z = parts[c, 0], parts[c, 1], out[c]
        for j in range(n):
            a, b = pairs[2 * j], pairs[2 * j + 1]
            z[2 * j] = a * real[j] - b * imag[j]
            z[2 * j + 1] = a * imag[j] + b * real[j]


@njit(**_options)
def back(z, pairs, out):
    """out (b, 2, n), parts, from columns (b, 2 n) of pairs and the diagonal (2 n,)."""
    n = out.shape[2]
    for c in range(z.shape[0]):
        real, imag, pair = out[c, 0], out[c, 1], z[c]
        for j in range(n):
            a, b = pairs[2 * j], pairs[2 * j + 1]
            real[j] = a * pair[2 * j] + b * pair[2 * j + 1]
            imag[j] = a * pair[2 * j + 1] - b * pair[2 * j]
