"""Finite differences: D u holds u_(i+1) - u_i along every axis, not periodic, one axis after the other."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np

from adaptive.operators.base import Operator
from adaptive.operators.shapes import image_shape, plain

__all__ = ["FiniteDifference"]


class FiniteDifference(Operator):
    """Differences of neighbours in any number of dimensions; none across the border.

    Parameters
    ----------
    shape : int or tuple of int
        Shape of an image, with at least one axis of length two or more.

    Attributes
    ----------
    axis_slices : list of slice
        For each axis, where its differences stand in the output; there they have the image's shape with this axis one
        shorter, in C order.

    Raises
    ------
    ValueError
        If no axis is of length 2 or more.

    Examples
    --------
    >>> D = FiniteDifference((2, 3))
    >>> u = np.array([[1.0, 2.0, 4.0], [1.0, 3.0, 9.0]])
    >>> d = D.forward(u)
    >>> d
    array([0., 1., 5., 1., 2., 2., 6.])
    >>> d[D.axis_slices[1]].reshape(2, 2)
    array([[1., 2.],
           [2., 6.]])
    """

    def __init__(self, shape: int | Sequence[int]):
        shape = image_shape("shape", shape)
        if max(shape) < 2:
            raise ValueError(f"shape must have an axis of length 2 or more to take differences along, got {shape}.")
        n = int(np.prod(shape))
        ends = np.cumsum([0] + [n // length * (length - 1) for length in shape]).tolist()
        self._sides = np.array(shape)
        self.axis_slices = [slice(start, stop) for start, stop in pairwise(ends)]
        super().__init__(shape, (ends[-1],))

    def _forward(self, u: np.ndarray) -> np.ndarray:
        from adaptive.operators.compiled_differences import forward

        return self._run(forward, u, self.output_shape)

    def _adjoint(self, v: np.ndarray) -> np.ndarray:
        from adaptive.operators.compiled_differences import adjoint

        return self._run(adjoint, v, self.input_shape)

    def _normal(self, u: np.ndarray, weights: np.ndarray | None) -> np.ndarray:
        from adaptive.operators.compiled_differences import normal

        if weights is None:
            weights = np.ones(self.output_shape, u.real.dtype)
        return self._run(normal, u, self.input_shape, plain(weights))

    def bands(self) -> list[tuple[Any, np.ndarray]]:
        return self._bands

    @cached_property
    def _bands(self) -> list[tuple[Any, np.ndarray]]:
        return self._bands_at([rows for rows in self.axis_slices if rows.stop > rows.start])

    def _run(
        self, loop: Callable[..., None], array: np.ndarray, shape: tuple[int, ...], *weights: np.ndarray
    ) -> np.ndarray:
        array = plain(array)
        result = np.empty((len(array), *shape), array.dtype)
        width = 2 if array.dtype.kind == "c" else 1  # numbers per entry: complex ones are pairs
        numbers, out = (a.view(array.real.dtype).reshape(len(array), -1) for a in (array, result))
        loop(numbers, *weights, out, self._sides, width)
        return result
