"""Matrices: A u for a dense or sparse A, or for whatever SciPy calls a linear operator."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse
from scipy.sparse.linalg import LinearOperator

from adaptive.checks import finite
from adaptive.operators.base import Operator, require_dense

if TYPE_CHECKING:
    from adaptive.types import ArrayLike, OperatorLike

__all__ = ["Dense", "FromSciPy", "Sparse", "as_operator"]


class Dense(Operator):
    """A dense matrix.

    Parameters
    ----------
    matrix : array-like (m, n)
        Finite numbers, real or complex; single precision is kept.

    Raises
    ------
    ValueError
        If the matrix has not two axes.

    Examples
    --------
    >>> A = Dense([[1.0, 2.0], [0.0, 1.0], [1.0, 0.0]])
    >>> A.forward([1.0, 1.0])
    array([3., 1., 1.])
    >>> A.adjoint([1.0, 1.0, 1.0])
    array([2., 3.])
    """

    def __init__(self, matrix: ArrayLike):
        matrix = _numbers(finite("matrix", matrix, dtype=None))
        if matrix.ndim != 2:
            raise ValueError(f"matrix must have two axes (m, n), got shape {matrix.shape}.")
        super().__init__((matrix.shape[1],), (matrix.shape[0],), matrix.dtype)
        self.matrix = matrix

    def _forward(self, u: np.ndarray) -> np.ndarray:
        return u @ self.matrix.T

    def _adjoint(self, v: np.ndarray) -> np.ndarray:
        return v @ self.matrix.conj()

    def to_dense(self) -> np.ndarray:
        return self.matrix.copy()


class Sparse(Operator):
    """A sparse matrix, kept in compressed rows.

    Parameters
    ----------
    matrix : SciPy sparse matrix or array (m, n)
        Any format; the entries must be finite.

    Raises
    ------
    ValueError
        If the matrix is not sparse, or has not two axes.

    Examples
    --------
    >>> Sparse(scipy.sparse.eye_array(3, 4)).forward([1.0, 2.0, 3.0, 4.0])
    array([1., 2., 3.])
    """

    def __init__(self, matrix: scipy.sparse.sparray | scipy.sparse.spmatrix):
        if not scipy.sparse.issparse(matrix):
            raise ValueError(
                f"matrix must be a SciPy sparse matrix, got {type(matrix).__name__}; use Dense for arrays."
            )
        rows: Any = matrix
        if len(rows.shape) != 2:
            raise ValueError(f"matrix must have two axes (m, n), got shape {rows.shape}.")
        rows = rows.tocsr()
        dtype = _numbers(finite("the entries of matrix", rows.data, dtype=None)).dtype
        rows = rows.astype(dtype, copy=False)
        super().__init__((rows.shape[1],), (rows.shape[0],), dtype)
        self.matrix = rows
        self._transposed = rows.conj().T if dtype.kind == "c" else rows.T

    def _forward(self, u: np.ndarray) -> np.ndarray:
        return np.asarray(self.matrix @ u.T).T

    def _adjoint(self, v: np.ndarray) -> np.ndarray:
        return np.asarray(self._transposed @ v.T).T

    def to_dense(self) -> np.ndarray:
        require_dense(self)
        return self.matrix.toarray()


class FromSciPy(Operator):
    """A ``scipy.sparse.linalg.LinearOperator`` (of SciPy, PyLops, ...) on flat vectors.

    Parameters
    ----------
    operator : LinearOperator (m, n)
        Must know its adjoint.

    Raises
    ------
    ValueError
        If it is no SciPy LinearOperator.

    Examples
    --------
    >>> from scipy.sparse.linalg import aslinearoperator
    >>> FromSciPy(aslinearoperator(np.diag([1.0, 2.0]))).forward([1.0, 1.0])
    array([1., 2.])
    """

    def __init__(self, operator: LinearOperator):
        if not isinstance(operator, LinearOperator):
            raise ValueError(f"operator must be a scipy.sparse.linalg.LinearOperator, got {type(operator).__name__}.")
        dtype = np.dtype(operator.dtype or float)
        super().__init__((operator.shape[1],), (operator.shape[0],), dtype if dtype.char in "fdFD" else float)
        self.operator = operator

    def _forward(self, u: np.ndarray) -> np.ndarray:
        return np.asarray(self.operator.matmat(u.T)).T

    def _adjoint(self, v: np.ndarray) -> np.ndarray:
        try:
            return np.asarray(self.operator.rmatmat(v.T)).T
        except (NotImplementedError, TypeError):  # SciPy's ways of saying that rmatvec was never given
            raise ValueError(f"operator must know its adjoint (rmatvec), {self.operator!r} does not.") from None


def as_operator(A: OperatorLike, name: str = "A") -> Operator:
    """Return ``A`` as an Operator: arrays become Dense, sparse matrices Sparse, SciPy's linear operators FromSciPy.

    Parameters
    ----------
    A : array-like (m, n), sparse matrix, LinearOperator or Operator
        An Operator is returned as it is.
    name : str, default "A"
        What messages call it.

    Raises
    ------
    ValueError
        If ``A`` is nothing of the kind.

    Examples
    --------
    >>> as_operator([[1.0, 2.0]])
    Dense((2,) -> (1,))
    """
    if isinstance(A, Operator):
        return A
    if scipy.sparse.issparse(A):
        return Sparse(A)
    if isinstance(A, LinearOperator):
        return FromSciPy(A)
    array = finite(name, A, dtype=None)
    if array.ndim != 2 or array.dtype.kind not in "biufc":
        raise ValueError(
            f"{name} must be a two-dimensional array of numbers, a sparse matrix, a SciPy LinearOperator or an "
            f"Operator, got {type(A).__name__} of shape {array.shape}."
        )
    return Dense(array)


def _numbers(array: np.ndarray) -> np.ndarray:
    """Single and double precision stay; integers, booleans and other precisions become double."""
    if array.dtype.kind not in "biufc":
        raise ValueError(f"matrix must hold numbers, got dtype {array.dtype}.")
    return array if array.dtype.char in "fdFD" else array.astype(complex if array.dtype.kind == "c" else float)
