"""Patterns of +1 and -1, for detectors that can show nothing else: Hadamard rows, and the signs of any filter.

All have norm one here: their entries are +-1 / sqrt(pixels), and a measurement with +-1 is that much larger.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from adaptive.checks import choice, generator
from adaptive.operators import Operator
from adaptive.operators.shapes import image_shape
from designs.filters.noiselets import require_dyadic
from designs.filters.normalised import as_filters, number_of
from designs.filters.transform_rows import TransformRows

if TYPE_CHECKING:
    from adaptive.types import ArrayLike, RandomState

__all__ = ["HadamardTransform", "hadamard", "signs"]


def hadamard(
    shape: int | Sequence[int],
    n_filters: int | None = None,
    *,
    order: str = "sequency",
    random_state: RandomState = None,
) -> TransformRows:
    """Rows of the Hadamard transform of images: products of +-1 patterns along the axes.

    Parameters
    ----------
    shape : int or tuple of int
        Of the image; all sides powers of two.
    n_filters : int, optional
        How many; default all.
    order : {"sequency", "random"}, default "sequency"
        From few changes of sign (added over the axes) to many; or drawn at random, all different.
    random_state : None, int or Generator
        For the random order.

    Returns
    -------
    TransformRows
        A pool of ``n_filters`` rows (pixels,) of entries +-1 / sqrt(pixels).

    References
    ----------
    Hedayat and Wallis (1978), Hadamard matrices and their applications.

    Examples
    --------
    >>> (hadamard((2, 2)) [:] * 2).astype(int)
    array([[ 1,  1,  1,  1],
           [ 1, -1,  1, -1],
           [ 1,  1, -1, -1],
           [ 1, -1, -1,  1]])
    """
    transform = HadamardTransform(shape)
    n = number_of(n_filters, transform.input_shape, "Hadamard patterns")
    if choice("order", order, ("sequency", "random")) == "random":
        return TransformRows(transform, generator(random_state).permutation(transform.shape[0])[:n])
    changes = sum(np.meshgrid(*[_sequencies(side) for side in transform.input_shape], indexing="ij"))
    return TransformRows(transform, np.argsort(changes, axis=None, kind="stable")[:n])


def signs(rows: ArrayLike) -> np.ndarray:
    """The signs of filters, as filters of norm one; zeros count as positive.

    Parameters
    ----------
    rows : array (m, pixels)

    Returns
    -------
    ndarray (m, pixels)

    References
    ----------
    Duarte et al. (2008), Single-pixel imaging via compressive sampling, for detectors that show +1 and -1.

    Examples
    --------
    >>> signs([[0.1, -2.0, 0.0, 5.0]])
    array([[ 0.5, -0.5,  0.5,  0.5]])
    """
    filters = as_filters(rows)
    return np.where(filters < 0, -1.0, 1.0) / np.sqrt(filters.shape[1])


class HadamardTransform(Operator):
    """The Hadamard transform along every axis (Sylvester's order), orthonormal, symmetric and its own inverse.

    Parameters
    ----------
    shape : int or tuple of int
        All sides powers of two.

    References
    ----------
    Hedayat and Wallis (1978), Hadamard matrices and their applications.

    Examples
    --------
    >>> HadamardTransform(4).forward([0.0, 1.0, 0.0, 0.0])
    array([ 0.5, -0.5,  0.5, -0.5])
    """

    def __init__(self, shape: int | Sequence[int]):
        sides = image_shape("shape", shape)
        require_dyadic(sides, "Hadamard patterns")
        super().__init__(sides, sides)

    def _forward(self, u: np.ndarray) -> np.ndarray:
        for axis in range(1, u.ndim):
            u = np.moveaxis(_sylvester(np.moveaxis(u, axis, -1)), -1, axis)
        return u / u.dtype.type(np.sqrt(self.shape[1]))

    def _adjoint(self, v: np.ndarray) -> np.ndarray:
        return self._forward(v)


def _sylvester(x: np.ndarray) -> np.ndarray:
    n = x.shape[-1]
    if n == 1:
        return x
    halves = _sylvester(x.reshape(*x.shape[:-1], 2, n // 2))
    first, second = halves[..., 0, :], halves[..., 1, :]
    return np.concatenate([first + second, first - second], axis=-1)


def _sequencies(side: int) -> np.ndarray:
    """Changes of sign in each row of Sylvester's matrix: its index, bits reversed, read as a Gray code."""
    bits = side.bit_length() - 1
    index = np.arange(side)
    reverse = np.zeros(side, dtype=int)
    for k in range(bits):
        reverse |= ((index >> k) & 1) << (bits - 1 - k)
    changes = reverse.copy()
    for k in range(1, bits):
        changes ^= reverse >> k
    return changes
