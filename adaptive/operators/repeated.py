"""The same operator on each of n stacked arrays: (A u)_c = A u_c, what every coil of a receiver measures."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from adaptive.checks import integer
from adaptive.operators.base import Operator
from adaptive.operators.matrix import as_operator

if TYPE_CHECKING:
    from adaptive.types import ArrayLike, OperatorLike

__all__ = ["Repeated"]


class Repeated(Operator):
    """One operator, applied to every array of a stack.

    Parameters
    ----------
    operator : Operator or matrix
        Maps arrays of shape ``operator.input_shape``.
    n : int
        How many arrays are stacked along the new first axis of inputs and outputs.

    Examples
    --------
    >>> Repeated([[1.0, 1.0]], 3).forward([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    array([[ 3.],
           [ 7.],
           [11.]])
    """

    def __init__(self, operator: OperatorLike, n: int):
        self.operator, self.n = as_operator(operator, "operator"), integer("n", n, minimum=1)
        shapes = self.operator.input_shape, self.operator.output_shape
        super().__init__((self.n, *shapes[0]), (self.n, *shapes[1]), self.operator.dtype)

    def _forward(self, u: np.ndarray) -> np.ndarray:
        return self._as_one_batch(self.operator._forward, u)

    def _adjoint(self, v: np.ndarray) -> np.ndarray:
        return self._as_one_batch(self.operator._adjoint, v)

    def _normal(self, u: np.ndarray, weights: np.ndarray | None) -> np.ndarray:
        if weights is None or alike(weights):
            shared = None if weights is None else weights[0]
            return self._as_one_batch(lambda stack: self.operator._normal(stack, shared), u)
        parts = [self.operator._normal(np.ascontiguousarray(u[:, c]), weights[c]) for c in range(self.n)]
        return np.stack(parts, 1)

    def _as_one_batch(self, function: Callable[[np.ndarray], np.ndarray], u: np.ndarray) -> np.ndarray:
        result = function(u.reshape(-1, *u.shape[2:]))
        return result.reshape(len(u), self.n, *result.shape[1:])

    def spectra(self, weights: ArrayLike | None = None) -> np.ndarray | None:
        """One `normal_spectrum` per array, (n, ...); of twice the length where the normal operator is Toeplitz."""
        weights = None if weights is None else self._weights(weights, float)
        if weights is None or alike(weights):
            one = self.operator._embedding(None if weights is None else weights[0])
            return None if one is None else np.broadcast_to(one, (self.n, *one.shape))
        each = [spectrum for part in weights if (spectrum := self.operator._embedding(part)) is not None]
        return np.stack(each) if each else None

    def normal_spectrum(self, weights: ArrayLike | None = None) -> np.ndarray | None:
        if weights is None:
            mean = None
        else:
            mean = self._weights(weights, float)
            mean = mean[0] if alike(mean) else mean.mean(axis=0)
        spectrum = self.operator.normal_spectrum(mean)
        return None if spectrum is None else np.broadcast_to(spectrum, self.input_shape).copy()


def alike(weights: np.ndarray) -> bool:
    """Return whether all arrays of the stack have the same weights."""
    return weights.strides[0] == 0 or len(weights) == 1 or bool((weights[1:] == weights[:1]).all())
