"""Real noiselets: an orthonormal basis that is spread evenly over pixels and over Haar wavelets alike.

complex, of length 2k:  W_2k[2r] = [a W_k[r], b W_k[r]],  W_2k[2r + 1] = [b W_k[r], a W_k[r]],  a = (1 - i)/2 = b*
real:                   R = Re W + Im W,  symmetric and orthonormal: R R = I
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from adaptive.checks import generator
from adaptive.operators import Operator
from adaptive.operators.shapes import image_shape
from designs.filters.normalised import number_of
from designs.filters.transform_rows import TransformRows

if TYPE_CHECKING:
    from adaptive.types import RandomState

__all__ = ["NoiseletTransform", "noiselets", "require_dyadic"]


def noiselets(
    shape: int | Sequence[int], n_filters: int | None = None, *, product: bool = True, random_state: RandomState = None
) -> TransformRows:
    """Different rows of the real noiselet transform, drawn at random.

    Parameters
    ----------
    shape : int or tuple of int
        Of the image; all sides powers of two.
    n_filters : int, optional
        How many; default all, in random order.
    product : bool, default True
        Transform along every axis, R kron R; False: one long transform of the flattened image.
    random_state : None, int or Generator

    Returns
    -------
    TransformRows
        A pool of ``n_filters`` rows (pixels,).

    References
    ----------
    Coifman, Geshwind and Meyer (2001), Noiselets.

    Examples
    --------
    >>> filters = noiselets((8, 8), 5, random_state=0)
    >>> filters, bool(np.allclose(filters[:] @ filters[:].T, np.eye(5)))
    (TransformRows(5 candidates), True)
    """
    transform = NoiseletTransform(shape, product=product)
    n = number_of(n_filters, transform.input_shape, "noiselets")
    return TransformRows(transform, generator(random_state).permutation(transform.shape[0])[:n])


class NoiseletTransform(Operator):
    """The real noiselet transform, symmetric and its own inverse, in n log n steps.

    Parameters
    ----------
    shape : int or tuple of int
        All sides powers of two.
    product : bool, default True
        Transform along every axis; False: one transform of the flattened image.

    References
    ----------
    Coifman, Geshwind and Meyer (2001), Noiselets.

    Examples
    --------
    >>> NoiseletTransform(4).forward([1.0, 0.0, 0.0, 0.0])
    array([-0.5,  0.5,  0.5,  0.5])
    """

    def __init__(self, shape: int | Sequence[int], product: bool = True):
        sides = image_shape("shape", shape)
        require_dyadic(sides, "noiselets")
        super().__init__(sides, sides)
        self.product = bool(product)

    def _forward(self, u: np.ndarray) -> np.ndarray:
        if u.dtype.kind == "c":
            return self._forward(u.real) + 1j * self._forward(u.imag)
        if not self.product:
            return _real(u.reshape(len(u), -1)).reshape(u.shape)
        for axis in range(1, u.ndim):
            u = np.moveaxis(_real(np.moveaxis(u, axis, -1)), -1, axis)
        return np.ascontiguousarray(u)

    def _adjoint(self, v: np.ndarray) -> np.ndarray:
        return self._forward(v)


def require_dyadic(sides: tuple[int, ...], what: str) -> None:
    """Say so where a side is no power of two."""
    for axis, side in enumerate(sides):
        if side & (side - 1):
            raise ValueError(f"shape must have sides that are powers of two for {what}, got {side} on axis {axis}.")


def _real(x: np.ndarray) -> np.ndarray:
    z = _complex(x)
    return z.real + z.imag


def _complex(x: np.ndarray) -> np.ndarray:
    """The complex transform along the last axis: both halves, then the butterflies."""
    n = x.shape[-1]
    if n == 1:
        return x.astype(np.result_type(x, np.complex64))
    halves = _complex(x.reshape(*x.shape[:-1], 2, n // 2))
    first, second = halves[..., 0, :], halves[..., 1, :]
    together, apart = (first + second) / 2, 0.5j * (first - second)
    return np.stack([together - apart, together + apart], axis=-1).reshape(x.shape)
