"""The real operator behind a complex one: u -> [Re A u; Im A u], and with complex unknowns from [Re u; Im u].

Its adjoint belongs to the ordinary real inner product, Re <., .> of the complex one: Re(A^H v) for a real unknown. This
is how complex measurements enter models of real numbers: twice as many rows, the noise variance per real component.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from adaptive.checks import choice
from adaptive.operators.base import Operator
from adaptive.operators.diagonal import Diagonal
from adaptive.operators.matrix import as_operator
from adaptive.operators.product import Product
from adaptive.operators.shapes import plain

if TYPE_CHECKING:
    from adaptive.types import ArrayLike, OperatorLike

__all__ = ["RealStacked"]


class RealStacked(Operator):
    """A complex operator as a real one.

    Parameters
    ----------
    operator : Operator or matrix
        With complex outputs, or with complex unknowns.
    unknown : {"real", "complex"}, default "real"
        Whether the input is a real array, or the real and imaginary parts of a complex one along a new first axis.

    Raises
    ------
    ValueError
        If the operator is real already.

    Notes
    -----
    The output has a new first axis of length 2: real and imaginary parts.

    Examples
    --------
    >>> A = RealStacked([[1.0 + 2.0j, 3.0j]])
    >>> A.forward([1.0, 1.0])
    array([[1.],
           [5.]])
    >>> A.adjoint([[1.0], [0.0]])
    array([1., 0.])
    """

    def __init__(self, operator: OperatorLike, unknown: str = "real"):
        self.operator = as_operator(operator, "operator")
        self.unknown = choice("unknown", unknown, ("real", "complex"))
        if unknown == "real" and self.operator.dtype.kind != "c":
            raise ValueError(
                f"operator must be complex where the unknown is real, got {self.operator!r}: use it as it is."
            )
        shape = self.operator.input_shape
        real = self.operator.dtype.type(0).real.dtype
        super().__init__(shape if unknown == "real" else (2, *shape), (2, *self.operator.output_shape), real)

    def _forward(self, u: np.ndarray) -> np.ndarray:
        u = self._real("forward", u)
        if self._separate:
            return self._both(self.operator._forward, u)
        return _parts(self.operator._forward(u if self.unknown == "real" else _joined(u)))

    def _adjoint(self, v: np.ndarray) -> np.ndarray:
        if self._separate:
            return self._both(self.operator._adjoint, self._real("adjoint", v))
        back = self.operator._adjoint(_joined(self._real("adjoint", v)))
        return np.ascontiguousarray(back.real) if self.unknown == "real" else _parts(back)

    def _normal(self, u: np.ndarray, weights: np.ndarray | None) -> np.ndarray:
        u = self._real("normal", u)
        if self._separate:
            if weights is None:
                return self._both(lambda parts: self.operator._normal(parts, None), u)
            real, imaginary = (self.operator._normal(plain(u[:, part]), weights[part]) for part in (0, 1))
            return _paired(real, imaginary)
        if weights is not None and not np.array_equal(weights[0], weights[1]):
            return super()._normal(u, weights)
        shared = None if weights is None else weights[0]
        if self.unknown == "real":
            return self.operator._normal(u, shared).real
        if self._turns(u):
            return self._normal_turned(u, shared)
        return _parts(self.operator._normal(_joined(u), shared))

    def _turns(self, u: np.ndarray) -> bool:
        """Return whether a complex diagonal of the same precision comes first, as a phase does."""
        second = self.operator.second if isinstance(self.operator, Product) else None
        if not isinstance(second, Diagonal) or second.entries.dtype.kind != "c":
            return False
        return np.result_type(u, np.complex64) == second.entries.dtype

    def _normal_turned(self, u: np.ndarray, weights: np.ndarray | None) -> np.ndarray:
        """The diagonal and the parts in one pass before what comes behind it, and one after."""
        from adaptive.operators import compiled_phase  # imported where used, with numba

        product: Any = self.operator
        entries = product.second.entries
        pairs, parts = np.ascontiguousarray(entries).reshape(-1).view(u.dtype), np.empty(u.shape, u.dtype)
        whole = np.empty((len(u), *product.input_shape), entries.dtype)
        compiled_phase.turned(plain(u).reshape(len(u), 2, -1), pairs, _pairs(whole))
        behind = product.first._normal(whole, weights)
        compiled_phase.back(_pairs(plain(behind)), pairs, parts.reshape(len(u), 2, -1))
        return parts

    @property
    def _separate(self) -> bool:
        """A real operator acts on the two parts of a complex unknown one by one."""
        return self.unknown == "complex" and self.operator.dtype.kind != "c"

    def _both(self, function: Callable[[np.ndarray], np.ndarray], parts: np.ndarray) -> np.ndarray:
        result = function(parts.reshape(2 * len(parts), *parts.shape[2:]))
        return result.reshape(len(parts), 2, *result.shape[1:])

    def normal_spectrum(self, weights: ArrayLike | None = None) -> np.ndarray | None:
        """For a real unknown, as of any operator; None for a complex one, whose spectrum is a matrix per frequency."""
        if self.unknown == "complex":
            return None
        shared = None if weights is None else self._weights(weights, float).mean(axis=0)
        return self.operator.normal_spectrum(shared)

    def _real(self, method: str, array: np.ndarray) -> np.ndarray:
        if array.dtype.kind == "c":
            raise ValueError(f"RealStacked.{method} needs a real array, got dtype {array.dtype}.")
        return array


def _joined(parts: np.ndarray) -> np.ndarray:
    """(batch, 2, ...) real to (batch, ...) complex."""
    whole = np.empty((len(parts), *parts.shape[2:]), np.result_type(parts, np.complex64))
    whole.real, whole.imag = parts[:, 0], parts[:, 1]
    return whole


def _parts(whole: np.ndarray) -> np.ndarray:
    """The inverse of ``_joined``."""
    return _paired(whole.real, whole.imag)


def _paired(real: np.ndarray, imaginary: np.ndarray) -> np.ndarray:
    """Two parts (batch, ...) as (batch, 2, ...)."""
    parts = np.empty((len(real), 2, *real.shape[1:]), real.dtype)
    parts[:, 0], parts[:, 1] = real, imaginary
    return parts


def _pairs(whole: np.ndarray) -> np.ndarray:
    """Complex columns (b, ...) as (b, 2 n) real numbers."""
    return whole.reshape(len(whole), -1).view(whole.real.dtype)
