"""A larger image: (A u) repeats the last entry of every axis until the axis is long enough."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from adaptive.operators.base import Operator
from adaptive.operators.shapes import image_shape

__all__ = ["Padded"]


class Padded(Operator):
    """The image, continued beyond its far borders by its last row, its last column, and so on.

    Parameters
    ----------
    shape, larger : tuple of int
        Of the image, and of what it becomes; no axis is longer before than after.

    Raises
    ------
    ValueError
        If ``larger`` has another number of axes, or is shorter along one.

    Examples
    --------
    >>> Padded((1, 2), (2, 4)).forward([[1.0, 2.0]])
    array([[1., 2., 2., 2.],
           [1., 2., 2., 2.]])
    """

    def __init__(self, shape: int | Sequence[int], larger: int | Sequence[int]):
        shape, larger = image_shape("shape", shape), image_shape("larger", larger)
        if len(shape) != len(larger) or any(n > m for n, m in zip(shape, larger, strict=True)):
            raise ValueError(f"larger must have as many axes as shape {shape}, none shorter, got {larger}.")
        super().__init__(shape, larger)
        self._widths = [(0, 0), *[(0, m - n) for n, m in zip(shape, larger, strict=True)]]

    def _forward(self, u: np.ndarray) -> np.ndarray:
        return np.pad(u, self._widths, mode="edge")

    def _adjoint(self, v: np.ndarray) -> np.ndarray:
        for axis, n in enumerate(self.input_shape, start=1):
            if v.shape[axis] > n:
                inside, last = np.split(v, [n - 1], axis=axis)
                v = np.concatenate([inside, last.sum(axis=axis, keepdims=True)], axis=axis)
        return v.copy() if v.shape[1:] == self.output_shape else v
