"""Helpers for matrices that may be dense or sparse, and for covariances given as a number, a diagonal or in full."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeGuard

import numpy as np
import scipy.linalg
import scipy.sparse

if TYPE_CHECKING:
    from adaptive.linalg.low_rank_covariance import LowRankCovariance
    from adaptive.types import ArrayLike, Covariance, Matrix

__all__ = [
    "covariance_root",
    "covariance_times",
    "dense",
    "densified",
    "is_identity",
    "is_sparse",
    "quadratic_diagonal",
    "row_blocks",
    "stacked",
    "triangular_root",
]


def is_sparse(matrix: object) -> TypeGuard[scipy.sparse.csr_array]:
    """Return whether the matrix is one of SciPy's sparse ones."""
    return bool(scipy.sparse.issparse(matrix))


def dense(matrix: Matrix | ArrayLike) -> np.ndarray:
    """The matrix as an array."""
    return matrix.toarray() if is_sparse(matrix) else np.asarray(matrix)


def is_identity(matrix: Matrix) -> bool:
    """Return whether a sparse matrix is the identity; a dense one is not looked at."""
    if not is_sparse(matrix) or matrix.shape[0] != matrix.shape[1] or matrix.nnz != matrix.shape[0]:
        return False
    return bool(np.all(matrix.diagonal() == 1.0))


def stacked(parts: Sequence[Matrix]) -> Any:
    """The matrices one above the other: sparse if all of them are, else dense."""
    if len(parts) == 1:
        return parts[0]
    if all(is_sparse(part) for part in parts):
        return scipy.sparse.vstack(parts, format="csr")
    return np.vstack([dense(part) for part in parts])


def densified(matrix: Matrix | ArrayLike) -> Any:
    """A C-ordered array if the matrix is dense, small or well filled; else compressed rows."""
    if not is_sparse(matrix):
        return np.ascontiguousarray(matrix, dtype=float)
    q, n = matrix.shape
    if q * n <= 50_000 or matrix.nnz > 0.25 * q * n:
        return matrix.toarray().astype(float, copy=False)
    return scipy.sparse.csr_array(matrix).astype(float, copy=False)


def covariance_times(covariance: Covariance | LowRankCovariance, matrix: Matrix) -> Any:
    """S M for a covariance S that is a number, a diagonal (n,) or (n, n)."""
    if np.ndim(covariance) == 0:
        return covariance * matrix
    if np.ndim(covariance) == 2:
        return np.asarray(covariance @ matrix)
    if is_sparse(matrix):
        return scipy.sparse.csr_array(scipy.sparse.diags_array(covariance) @ matrix)
    return covariance[:, None] * matrix if np.ndim(matrix) == 2 else covariance * matrix  # type: ignore[index]


def covariance_root(covariance: np.ndarray) -> np.ndarray:
    """R (n, r) with R R' = S: Cholesky, or by eigenvalues where S is singular to rounding (r may be below n).

    Examples
    --------
    >>> R = covariance_root(np.ones((2, 2)))
    >>> R.shape, bool(np.allclose(R @ R.T, 1.0))
    ((2, 1), True)
    """
    try:
        return np.linalg.cholesky(covariance)
    except np.linalg.LinAlgError:
        values, vectors = scipy.linalg.eigh(covariance)
        keep = values > max(values[-1], 0.0) * len(values) * np.finfo(float).eps
        return vectors[:, keep] * np.sqrt(values[keep])


def triangular_root(parts: Sequence[np.ndarray]) -> np.ndarray:
    """Lower triangular L with L L' = the sum of P' P over the parts P, by QR.

    The sum is never formed, so that L has digits where the sum is singular to rounding; ``numpy.linalg.LinAlgError``
    where even L would have none.

    Examples
    --------
    >>> L = triangular_root([1e-9 * np.eye(2), np.ones((1, 2))])
    >>> bool(np.isclose(np.linalg.det(L), np.sqrt(2) * 1e-9))
    True
    """
    upper: Any = np.linalg.qr(np.vstack(parts), mode="r")
    lower = np.asfortranarray((upper * np.sign(np.where(upper.diagonal() == 0, 1.0, upper.diagonal()))[:, None]).T)
    if not np.all(lower.diagonal() > 1e-14 * np.linalg.norm(lower, axis=1)):
        raise np.linalg.LinAlgError("the matrix is singular to working precision")
    return lower


def row_blocks(rows: Matrix, entries: int = 2**22) -> list[slice]:
    """Slices of the rows such that a dense block of each has about ``entries`` entries (at least one slice)."""
    step = max(1, entries // max(rows.shape[1], 1))
    return [slice(start, start + step) for start in range(0, max(rows.shape[0], 1), step)]


def quadratic_diagonal(rows: Matrix, covariance: Covariance | LowRankCovariance) -> np.ndarray:
    """diag(M S M') for rows M (m, n)."""
    if is_sparse(rows):
        if np.ndim(covariance) == 2:  # in blocks: rows @ S is dense
            blocks = [rows[part] for part in row_blocks(rows)]
            return np.concatenate([np.asarray(b.multiply(b @ covariance).sum(axis=1)).ravel() for b in blocks])
        squares = rows.multiply(rows)
        return np.asarray(squares @ np.broadcast_to(covariance, (rows.shape[1],)))
    if np.ndim(covariance) == 2:
        return np.einsum("ij,ij->i", rows @ covariance, rows)
    if np.ndim(covariance) == 1:
        return np.einsum("ij,j,ij->i", rows, covariance, rows)
    return float(covariance) * np.einsum("ij,ij->i", rows, rows)  # type: ignore[arg-type]
