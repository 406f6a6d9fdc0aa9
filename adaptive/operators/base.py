"""A linear map A with its adjoint: <A u, v> = <u, A^H v>, batch axes first.

A new operator says what it maps from and to, and writes ``_forward`` and ``_adjoint`` for one leading batch axis; shape
checks, further batch axes, the normal operator, the SciPy view and the dense matrix are here, once.

Real and complex. An operator is linear over the complex numbers and ``adjoint`` is its conjugate transpose, so that
the adjoint of a Fourier operator is complex whatever it is given. A *real array* given to ``normal`` means a *real
unknown*: there the matrix is Re(A^H W A), as if the rows Re A and Im A had been measured separately. ``RealStacked``
is that real operator itself, for code that knows nothing about complex numbers.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse.linalg import LinearOperator

from adaptive.memory import keep_freed_memory

if TYPE_CHECKING:
    from adaptive.types import ArrayLike, DType, RandomState

__all__ = ["Operator", "adjoint_error"]

LARGEST_DENSE = 2**27  # entries of to_dense(): one GB in float64
_PRECISIONS = {np.dtype(code) for code in "fdFD"}


class Operator:
    """Base class of the linear operators.

    Parameters
    ----------
    input_shape, output_shape : tuple of int
        Shapes of one input and one output, without batch axes.
    dtype : dtype, default float
        Type of the output for a real (float64) input: float or complex.

    Attributes
    ----------
    shape : tuple of int
        (size of one output, size of one input), as of a matrix.

    Notes
    -----
    Single precision in gives single precision out, except where an operator's own numbers are in double precision.

    Examples
    --------
    >>> class Mirror(Operator):
    ...     def _forward(self, u):
    ...         return u[:, ::-1]
    ...     _adjoint = _forward
    >>> mirror = Mirror((3,), (3,))
    >>> mirror.forward([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    array([[3., 2., 1.],
           [6., 5., 4.]])
    >>> adjoint_error(mirror) < 1e-15
    True
    """

    def __init__(self, input_shape: tuple[int, ...], output_shape: tuple[int, ...], dtype: DType = float):
        keep_freed_memory()  # every model holds an operator, and large arrays come after it
        self.input_shape = tuple(int(k) for k in input_shape)
        self.output_shape = tuple(int(k) for k in output_shape)
        self.dtype = np.dtype(dtype)

    @property
    def shape(self) -> tuple[int, int]:
        return math.prod(self.output_shape), math.prod(self.input_shape)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.input_shape} -> {self.output_shape})"

    # What a new operator writes; arrays come with exactly one batch axis, in single or double precision.
    def _forward(self, u: np.ndarray) -> np.ndarray:
        raise TypeError(f"{type(self).__name__} must define _forward(u) for u of shape (batch, *input_shape).")

    def _adjoint(self, v: np.ndarray) -> np.ndarray:
        raise TypeError(f"{type(self).__name__} must define _adjoint(v) for v of shape (batch, *output_shape).")

    # What a new operator may replace by something faster. The real part for a real unknown is taken by the caller.
    def _normal(self, u: np.ndarray, weights: np.ndarray | None) -> np.ndarray:
        v = self._forward(u)
        return self._adjoint(v if weights is None else v * weights)

    def forward(self, u: ArrayLike) -> np.ndarray:
        """A u for ``u`` of shape (..., *input_shape); returns (..., *output_shape)."""
        u, batch = self._batched("forward", u, self.input_shape)
        return (self._forward(u) if u.size else self._nothing(u)).reshape(batch + self.output_shape)

    def adjoint(self, v: ArrayLike) -> np.ndarray:
        """A^H v for ``v`` of shape (..., *output_shape); returns (..., *input_shape)."""
        v, batch = self._batched("adjoint", v, self.output_shape)
        return (self._adjoint(v) if v.size else self._nothing(v)).reshape(batch + self.input_shape)

    def normal(self, u: ArrayLike, weights: ArrayLike | None = None) -> np.ndarray:
        """A^H diag(weights) A u; its real part where ``u`` is real.

        Parameters
        ----------
        u : array (..., *input_shape)
            A real array means a real unknown: the result is Re(A^H diag(weights) A u).
        weights : real array, optional
            Broadcasts to ``output_shape``; default all ones.

        Returns
        -------
        array (..., *input_shape)
            Real for real ``u``, else complex.
        """
        u, batch = self._batched("normal", u, self.input_shape)
        weights = None if weights is None else self._weights(weights, u.real.dtype)
        result = self._normal(u, weights) if u.size else self._nothing(u)
        if result.dtype.kind == "c" and u.dtype.kind != "c":
            result = np.ascontiguousarray(result.real)
        return result.reshape(batch + self.input_shape)

    def bands(self) -> list[tuple[Any, np.ndarray]] | None:
        """Rows that are circular shifts of one real filter, band by band; None where the rows are nothing of the kind.

        Returns
        -------
        list of (index, power) or None
            ``index`` picks the band's rows out of an output; ``power`` is |F row|^2, F the orthonormal Fourier
            transform over ``input_shape`` in the order of ``numpy.fft``. Every row is in one band.
        """
        return None

    def _bands_at(self, indices: list[Any]) -> list[tuple[Any, np.ndarray]]:
        """The bands that stand at these indices of an output, from the first row of each."""
        powers = np.empty((len(indices), *self.input_shape))
        for power, index in zip(powers, indices, strict=True):  # one by one: all at once take several times as much
            row = np.zeros(self.output_shape)
            row[index].flat[0] = 1.0  # basic indices: a view
            power[...] = np.abs(np.fft.fftn(self.adjoint(row), norm="ortho")) ** 2
        return list(zip(indices, powers, strict=True))

    def normal_spectrum(self, weights: ArrayLike | None = None) -> np.ndarray | None:
        """diag(F A^H diag(weights) A F^H): eigenvalues of the circulant matrix closest to the normal operator.

        Parameters
        ----------
        weights : real array, optional
            Broadcasts to ``output_shape``; default all ones.

        Returns
        -------
        array (*input_shape) or None
            In the order of ``numpy.fft``; None where the operator does not know. It is what circulant preconditioners
            are made of.
        """
        bands = self.bands()
        if bands is None:
            return None
        weights = self._weights(1.0 if weights is None else weights, float)
        return np.asarray(sum(weights[index].sum() * power for index, power in bands))

    def _pulled_back(self, spectrum: np.ndarray) -> np.ndarray | None:
        """diag(F A^H C A F^H) for the circulant C with this spectrum; None where the operator does not know."""
        return None

    def _embedding(self, weights: ArrayLike | None) -> np.ndarray | None:
        """`normal_spectrum`, or of twice the length along every axis where the normal operator is Toeplitz."""
        return self.normal_spectrum(weights)

    # Products first A: one of the two may know better than one after the other.
    def _forward_behind(self, first: Operator, u: np.ndarray) -> np.ndarray:
        return first._forward(self._forward(u))

    def _adjoint_behind(self, first: Operator, v: np.ndarray) -> np.ndarray:
        return self._adjoint(first._adjoint(v))

    def _normal_behind(self, first: Operator, u: np.ndarray, weights: np.ndarray | None) -> np.ndarray:
        return self._adjoint(first._normal(self._forward(u), weights))

    def _spectrum_behind(self, first: Operator, weights: ArrayLike | None) -> np.ndarray | None:
        spectrum = first.normal_spectrum(weights)
        return None if spectrum is None else self._pulled_back(spectrum)

    def _spectrum_before(self, second: Operator, weights: ArrayLike | None) -> np.ndarray | None:
        return second._spectrum_behind(self, weights)

    def to_scipy(self) -> LinearOperator:
        """The same map on flat vectors, as a ``scipy.sparse.linalg.LinearOperator``."""

        def columns(function: Callable[[np.ndarray], np.ndarray], shape: tuple[int, ...]) -> Callable[..., np.ndarray]:
            return lambda block: function(block.T.reshape(block.shape[1], *shape)).reshape(block.shape[1], -1).T

        forward, adjoint = columns(self.forward, self.input_shape), columns(self.adjoint, self.output_shape)
        return LinearOperator(
            shape=self.shape,
            dtype=self.dtype,
            matvec=lambda x: forward(np.reshape(x, (-1, 1)))[:, 0],
            rmatvec=lambda x: adjoint(np.reshape(x, (-1, 1)))[:, 0],
            matmat=forward,
            rmatmat=adjoint,
        )

    def to_dense(self) -> np.ndarray:
        """The matrix (size of an output, size of an input); refused above 2^27 entries."""
        require_dense(self)
        rows, columns = self.shape
        dtype = np.result_type(self.dtype, np.float32)
        matrix = np.empty((rows, columns), dtype)
        step = max(1, min(columns, 2**22 // max(rows, columns)))
        for start in range(0, columns, step):
            stop = min(start + step, columns)
            unit = np.zeros((stop - start, columns), dtype.type(0).real.dtype)
            unit[np.arange(stop - start), np.arange(start, stop)] = 1
            matrix[:, start:stop] = self.forward(unit.reshape(-1, *self.input_shape)).reshape(stop - start, rows).T
        return matrix

    def _batched(self, method: str, array: ArrayLike, shape: tuple[int, ...]) -> tuple[np.ndarray, tuple[int, ...]]:
        keep_freed_memory()  # again here: in a worker the operator was unpickled, not made
        array = np.asarray(array)
        if array.dtype not in _PRECISIONS:
            if array.dtype.kind not in "biufc":
                raise ValueError(f"{type(self).__name__}.{method} needs an array of numbers, got dtype {array.dtype}.")
            array = array.astype(complex if array.dtype.kind == "c" else float)
        batch = array.shape[: max(array.ndim - len(shape), 0)]
        if array.shape[len(batch) :] != shape:
            wanted = ", ".join(["...", *map(str, shape)])
            raise ValueError(f"{type(self).__name__}.{method} needs an array of shape ({wanted}), got {array.shape}.")
        return array.reshape(math.prod(batch), *shape), batch

    def _nothing(self, array: np.ndarray) -> np.ndarray:
        """Return the result for a batch of no arrays, so that no operator need think of it."""
        return np.empty(0, np.result_type(array, np.complex64 if self.dtype.kind == "c" else np.float32))

    def _weights(self, weights: ArrayLike, dtype: DType) -> np.ndarray:
        weights = np.asarray(weights)
        if weights.dtype == dtype and weights.shape == self.output_shape:
            return weights
        if weights.dtype.kind not in "biuf":
            raise ValueError(f"weights must be real numbers, got dtype {weights.dtype}.")
        try:
            return np.broadcast_to(weights.astype(dtype, copy=False), self.output_shape)
        except ValueError:
            raise ValueError(
                f"weights must broadcast to the output shape {self.output_shape}, got {weights.shape}."
            ) from None


def require_dense(operator: Operator) -> None:
    """Refuse, in one sentence, operators whose matrix would be too large."""
    rows, columns = operator.shape
    if rows * columns > LARGEST_DENSE:
        raise ValueError(
            f"to_dense of {operator!r} would need {rows} x {columns} entries; at most {LARGEST_DENSE} are allowed."
        )


def adjoint_error(operator: Operator, random_state: RandomState = 0, dtype: DType | None = None) -> float:
    """|<A u, v> - <u, A^H v>| / (|A u| |v| + |u| |A^H v|) for random u, v: rounding only, where the adjoint is exact.

    Parameters
    ----------
    operator : Operator
        What is tested.
    random_state : int or Generator, default 0
        Draws u and v.
    dtype : dtype, optional
        Of u and v; default double precision, complex where the operator is.

    Returns
    -------
    float
        Relative; about 1e-16 where the adjoint is exact.

    Examples
    --------
    >>> from adaptive.operators import FiniteDifference
    >>> adjoint_error(FiniteDifference((5, 4))) < 1e-12
    True
    """
    dtype = np.dtype(operator.dtype if dtype is None else dtype)
    rng = np.random.default_rng(random_state)

    def draw(shape: tuple[int, ...], kind: np.dtype) -> np.ndarray:
        real = rng.standard_normal(shape)
        return (real + 1j * rng.standard_normal(shape) if kind.kind == "c" else real).astype(kind)

    u = draw(operator.input_shape, dtype)
    image = operator.forward(u)
    v = draw(operator.output_shape, image.dtype)
    back = operator.adjoint(v)
    left, right = np.vdot(v, image), np.vdot(back, u)
    if dtype.kind != "c":  # a real unknown under a complex operator: the inner product is Re <., .>
        left, right = left.real, right.real
    scale = np.linalg.norm(image) * np.linalg.norm(v) + np.linalg.norm(u) * np.linalg.norm(back)
    return float(abs(left - right) / scale) if scale > 0 else 0.0
