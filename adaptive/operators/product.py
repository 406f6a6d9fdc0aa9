"""One operator after the other: (A B) u = A (B u)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from adaptive.operators.base import Operator
from adaptive.operators.matrix import as_operator

if TYPE_CHECKING:
    from adaptive.types import ArrayLike, OperatorLike

__all__ = ["Product"]


class Product(Operator):
    """The product of two operators; the second is applied first, as in a product of matrices.

    Parameters
    ----------
    first, second : Operator or matrix
        The output shape of ``second`` is the input shape of ``first``.

    Raises
    ------
    ValueError
        If the first does not take what the second gives.

    Examples
    --------
    >>> Product([[1.0, 1.0]], [[1.0, 0.0], [0.0, 2.0]]).forward([3.0, 4.0])
    array([11.])
    """

    def __init__(self, first: OperatorLike, second: OperatorLike):
        self.first, self.second = as_operator(first, "first"), as_operator(second, "second")
        if self.first.input_shape != self.second.output_shape:
            raise ValueError(
                f"first must take what second gives, an array of shape {self.second.output_shape}, "
                f"got an operator on arrays of shape {self.first.input_shape}."
            )
        dtype = np.result_type(self.first.dtype, self.second.dtype)
        super().__init__(self.second.input_shape, self.first.output_shape, dtype)

    def _forward(self, u: np.ndarray) -> np.ndarray:
        return self.second._forward_behind(self.first, u)

    def _adjoint(self, v: np.ndarray) -> np.ndarray:
        return self.second._adjoint_behind(self.first, v)

    def _normal(self, u: np.ndarray, weights: np.ndarray | None) -> np.ndarray:
        return self.second._normal_behind(self.first, u, weights)

    def normal_spectrum(self, weights: ArrayLike | None = None) -> np.ndarray | None:
        return self.first._spectrum_before(self.second, weights)

    def _pulled_back(self, spectrum: np.ndarray) -> np.ndarray | None:
        first = self.first._pulled_back(spectrum)
        return None if first is None else self.second._pulled_back(first)
