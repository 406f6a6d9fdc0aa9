"""A multiple of an operator: (f A) u = f (A u)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from adaptive.checks import finite
from adaptive.operators.base import Operator
from adaptive.operators.matrix import as_operator

if TYPE_CHECKING:
    from adaptive.types import ArrayLike, OperatorLike

__all__ = ["Scaled"]


class Scaled(Operator):
    """An operator times a number.

    Parameters
    ----------
    factor : float or complex
        The number.
    operator : Operator or matrix
        What is multiplied.

    Raises
    ------
    ValueError
        If ``factor`` is not one number.

    Examples
    --------
    >>> Scaled(3.0, [[1.0, 1.0]]).forward([1.0, 2.0])
    array([9.])
    """

    def __init__(self, factor: complex, operator: OperatorLike):
        number = finite("factor", factor, dtype=None)
        if number.ndim or number.dtype.kind not in "biufc":
            raise ValueError(f"factor must be one number, got {factor!r}; use Diagonal for an array.")
        self.factor = number.item()
        self.operator = as_operator(operator, "operator")
        kind = complex if number.dtype.kind == "c" else float
        dtype = np.result_type(self.operator.dtype, np.complex64 if kind is complex else np.float32)
        super().__init__(self.operator.input_shape, self.operator.output_shape, dtype)

    def _forward(self, u: np.ndarray) -> np.ndarray:
        return self.operator._forward(u) * self.factor

    def _adjoint(self, v: np.ndarray) -> np.ndarray:
        return self.operator._adjoint(v) * np.conj(self.factor).item()

    def _normal(self, u: np.ndarray, weights: np.ndarray | None) -> np.ndarray:
        return self.operator._normal(u, weights) * abs(self.factor) ** 2

    def bands(self) -> list[tuple[Any, np.ndarray]] | None:
        bands = self.operator.bands()
        return None if bands is None else [(index, abs(self.factor) ** 2 * power) for index, power in bands]

    def normal_spectrum(self, weights: ArrayLike | None = None) -> np.ndarray | None:
        spectrum = self.operator.normal_spectrum(weights)
        return None if spectrum is None else abs(self.factor) ** 2 * spectrum

    def _embedding(self, weights: ArrayLike | None) -> np.ndarray | None:
        spectrum = self.operator._embedding(weights)
        return None if spectrum is None else abs(self.factor) ** 2 * spectrum

    def _pulled_back(self, spectrum: np.ndarray) -> np.ndarray | None:
        return self.operator._pulled_back(abs(self.factor) ** 2 * spectrum)
