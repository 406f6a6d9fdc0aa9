"""An operator on arrays of another shape with as many entries: (A u) = A vec(u), rows of a matrix as maps on images."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from adaptive.operators.base import Operator
from adaptive.operators.matrix import as_operator
from adaptive.operators.shapes import image_shape

if TYPE_CHECKING:
    from adaptive.types import OperatorLike

__all__ = ["Reshaped"]


class Reshaped(Operator):
    """One operator, its inputs in another shape (their entries in C order).

    Parameters
    ----------
    operator : Operator or matrix
        Maps arrays of shape ``operator.input_shape``.
    shape : tuple of int
        Of the inputs.

    Raises
    ------
    ValueError
        If the shapes have different numbers of entries.

    Examples
    --------
    >>> Reshaped([[1.0, 1.0, 0.0, 0.0]], (2, 2)).forward([[1.0, 2.0], [3.0, 4.0]])
    array([3.])
    """

    def __init__(self, operator: OperatorLike, shape: Sequence[int]):
        self.operator = as_operator(operator, "operator")
        sides = image_shape("shape", shape)
        n = self.operator.shape[1]
        if int(np.prod(sides)) != n:
            raise ValueError(f"shape must have {n} entries, as many as inputs of {self.operator!r}, got {sides}.")
        super().__init__(sides, self.operator.output_shape, self.operator.dtype)

    def _forward(self, u: np.ndarray) -> np.ndarray:
        return self.operator._forward(u.reshape(len(u), *self.operator.input_shape))

    def _adjoint(self, v: np.ndarray) -> np.ndarray:
        return self.operator._adjoint(v).reshape(len(v), *self.input_shape)

    def to_dense(self) -> np.ndarray:
        return self.operator.to_dense()
