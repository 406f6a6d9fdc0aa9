"""Operators on top of each other: A u = [A_1 u; A_2 u; ...], flat, one after the other."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from adaptive.operators.base import Operator, require_dense
from adaptive.operators.matrix import as_operator

if TYPE_CHECKING:
    from adaptive.types import ArrayLike, OperatorLike

__all__ = ["Stacked"]


class Stacked(Operator):
    """Several operators of one input: their outputs, flattened in C order, in one vector.

    Parameters
    ----------
    operators : list of Operator or matrix
        All with the same input shape.

    Attributes
    ----------
    slices : list of slice
        Where the output of each operator stands.

    Raises
    ------
    ValueError
        If there is no operator, or they take arrays of several shapes.

    Examples
    --------
    >>> B = Stacked([[[1.0, 1.0]], [[1.0, -1.0], [0.0, 5.0]]])
    >>> B.forward([3.0, 2.0])
    array([ 5.,  1., 10.])
    >>> B.slices
    [slice(0, 1, None), slice(1, 3, None)]
    """

    def __init__(self, operators: Iterable[OperatorLike]):
        if isinstance(operators, (Operator, np.ndarray)) or not isinstance(operators, Iterable):
            raise ValueError(f"operators must be a list of operators, got {type(operators).__name__}.")
        self.operators = [as_operator(operator, f"operators[{i}]") for i, operator in enumerate(operators)]
        if not self.operators:
            raise ValueError("operators must hold at least one operator, got an empty list.")
        shape = self.operators[0].input_shape
        for i, operator in enumerate(self.operators):
            if operator.input_shape != shape:
                raise ValueError(f"operators[{i}] must take arrays of shape {shape} as the first, got {operator!r}.")
        ends = np.cumsum([0] + [operator.shape[0] for operator in self.operators]).tolist()
        self.slices = [slice(start, stop) for start, stop in pairwise(ends)]
        super().__init__(shape, (ends[-1],), np.result_type(*[operator.dtype for operator in self.operators]))

    def _forward(self, u: np.ndarray) -> np.ndarray:
        return np.concatenate(
            [operator._forward(u).reshape(len(u), operator.shape[0]) for operator in self.operators], 1
        )

    def _adjoint(self, v: np.ndarray) -> np.ndarray:
        return _sum(operator._adjoint(self._part(v, where, operator)) for operator, where in self._parts())

    def _normal(self, u: np.ndarray, weights: np.ndarray | None) -> np.ndarray:
        def one(operator: Operator, where: slice) -> np.ndarray:
            part = None if weights is None else weights[where].reshape(operator.output_shape)
            result = operator._normal(u, part)
            return result if u.dtype.kind == "c" else result.real  # a real unknown: the real part is what counts

        return _sum(one(operator, where) for operator, where in self._parts())

    def bands(self) -> list[tuple[Any, np.ndarray]] | None:
        result = []
        for operator, where in self._parts():
            bands = operator.bands()
            if bands is None:
                return None
            positions = np.arange(where.start, where.stop).reshape(operator.output_shape)
            result += [(positions[index].ravel(), power) for index, power in bands]
        return result

    def normal_spectrum(self, weights: ArrayLike | None = None) -> np.ndarray | None:
        return self._sum_of_spectra(weights, self.input_shape, lambda operator, part: operator.normal_spectrum(part))

    def _spectrum_before(self, second: Operator, weights: ArrayLike | None) -> np.ndarray | None:
        def one(operator: Operator, part: np.ndarray) -> np.ndarray | None:
            return operator._spectrum_before(second, part)

        return self._sum_of_spectra(weights, second.input_shape, one)

    def _sum_of_spectra(
        self,
        weights: ArrayLike | None,
        shape: tuple[int, ...],
        spectrum_of: Callable[[Operator, np.ndarray], np.ndarray | None],
    ) -> np.ndarray | None:
        weights = self._weights(1.0 if weights is None else weights, float)
        total = np.zeros(shape)
        for operator, where in self._parts():
            spectrum = spectrum_of(operator, weights[where].reshape(operator.output_shape))
            if spectrum is None:
                return None
            total += spectrum
        return total

    def to_dense(self) -> np.ndarray:
        require_dense(self)
        return np.concatenate([operator.to_dense() for operator in self.operators])

    def _parts(self) -> Iterable[tuple[Operator, slice]]:
        return zip(self.operators, self.slices, strict=True)

    def _part(self, v: np.ndarray, where: slice, operator: Operator) -> np.ndarray:
        return v[:, where].reshape(len(v), *operator.output_shape)


def _sum(parts: Iterable[np.ndarray]) -> np.ndarray:
    """The sum, added up in place where the types allow; parts may be views of what the caller must keep."""
    total: Any = None
    for part in parts:
        if total is None:
            total = part
        elif total.flags.owndata and total.flags.writeable and np.result_type(total, part) == total.dtype:
            total += part
        else:
            total = total + part
    return total
