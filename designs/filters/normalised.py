"""A user's own filters: rows of unit norm, so that the noise means the same for all of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from adaptive.checks import finite, integer
from adaptive.operators.shapes import image_shape

if TYPE_CHECKING:
    from adaptive.types import ArrayLike, LazyPool

__all__ = ["as_filters", "number_of"]


def as_filters(rows: ArrayLike | LazyPool, shape: int | Sequence[int] | None = None) -> np.ndarray:
    """Any matrix as filters: checked, and every row of norm one.

    Parameters
    ----------
    rows : array (m, pixels) or (m, *shape), or a pool of filters
        One filter per entry.
    shape : int or tuple of int, optional
        Of the image; says how many pixels there must be.

    Returns
    -------
    array (m, pixels)

    Raises
    ------
    ValueError
        For numbers that are not finite, complex numbers, a row of zeros, or rows of the wrong length.

    Examples
    --------
    >>> as_filters([[3.0, 4.0], [0.0, -2.0]])
    array([[ 0.6,  0.8],
           [ 0. , -1. ]])
    """
    matrix = finite("rows", rows, dtype=None)
    if matrix.dtype.kind not in "biuf" or matrix.ndim < 2:
        raise ValueError(f"rows must be real filters (m, pixels), got {matrix.dtype} of shape {matrix.shape}.")
    matrix = matrix.reshape(len(matrix), int(np.prod(matrix.shape[1:]))).astype(float)
    if shape is not None and matrix.shape[1] != (pixels := int(np.prod(image_shape("shape", shape)))):
        raise ValueError(f"rows must have one entry per pixel, {pixels}, got {matrix.shape[1]}.")
    largest = np.abs(matrix).max(axis=1, keepdims=True, initial=0.0)
    if not largest.all():
        raise ValueError(f"rows must not be zero, but row {int(np.argmin(largest))} measures nothing: leave it out.")
    matrix /= largest  # so that no square overflows or vanishes
    return matrix / np.linalg.norm(matrix, axis=1, keepdims=True)


def number_of(n_filters: int | None, shape: tuple[int, ...], ensemble: str) -> int:
    """Return ``n_filters`` (None: all) of an orthonormal ensemble, which has as many as there are pixels."""
    pixels = int(np.prod(shape))
    n = pixels if n_filters is None else integer("n_filters", n_filters, minimum=0)
    if n > pixels:
        raise ValueError(f"n_filters must be at most {pixels}, all {ensemble} of images of shape {shape}, got {n}.")
    return n
