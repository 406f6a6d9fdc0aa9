"""A covariance matrix that changes by one vector at a time: V = V_0 - sum_k c_k g_k g_k', the sum kept beside V_0.

V_0 is a lower triangle in column order. A change costs a copy of g; once 48 of them with the same sign have gathered
they enter V_0 together (``syrk``), a fifth of the time or less that as many ``syr`` take. Products see both. In single
precision, where the factorisation leaves the digits for it, memory and time are half.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.linalg import blas, get_lapack_funcs

from adaptive.gaussians.projection_rows import ProjectionRows
from adaptive.linalg.compiled_symmetric import block_times, quadratic_forms, sparse_times
from adaptive.linalg.matrices import dense, is_sparse

if TYPE_CHECKING:
    from adaptive.types import DType, Matrix

__all__ = ["UpdatedCovariance", "packed", "unpacked"]

DEFERRED = 48  # changes of one sign that wait
_MANY_COLUMNS = 24  # from here symm, which copies the matrix, is the faster one
_LOST = {"d": 1e-13, "f": 1e-4}  # a pivot this much smaller than its diagonal entry is mostly rounding


class UpdatedCovariance:
    """The covariance V (n, n) of a Gaussian whose precision is a sum of rows, kept through changes of single rows.

    Parameters
    ----------
    rows : ProjectionRows
        B, whose rows carry sites.
    prior_precision : array (n,) or (n, n) or None
        Of the Gaussian prior.
    deferred : int, default 48
        Changes that wait until they enter the matrix; 1 for none.
    dtype : {float32, float64}, default float64
        Of the matrix; a precision whose pivots would lose single precision makes it double, from then on.

    Attributes
    ----------
    dtype : numpy dtype
        The present one.
    n_passes : int
        Times that changes were taken into the matrix.
    """

    def __init__(
        self,
        rows: ProjectionRows,
        prior_precision: np.ndarray | None,
        deferred: int = DEFERRED,
        dtype: DType = float,
    ):
        self.rows, self.prior_precision, self.deferred = rows, prior_precision, deferred
        self.n_passes = 0
        self._begin(dtype)

    def _begin(self, dtype: DType) -> None:
        n = self.rows.shape[1]
        self.dtype = np.dtype(dtype)
        self._lower = np.zeros((n, n), dtype, order="F")
        self._waiting = [np.empty((n, self.deferred), dtype, order="F") for _ in range(2)]  # c > 0, c < 0
        self._count = [0, 0]

    def _blas(self, name: str) -> Any:
        """The routine of the present precision."""
        return getattr(blas, ("s" if self.dtype.char == "f" else "d") + name)

    # ------------------------------------------------------------------ from the precision
    def factorise(
        self, pi: np.ndarray, data_rows: Matrix | None, data_precision: np.ndarray, linear: np.ndarray
    ) -> tuple[np.ndarray, float]:
        """V = (prior + X' diag(data_precision) X + B' diag(pi) B)^-1 in place; returns V linear and log|V|."""
        lower, n = self._lower, len(self._lower)
        self._count = [0, 0]
        lower[:] = 0.0
        if self.prior_precision is not None:
            if self.prior_precision.ndim == 2:
                lower += self.prior_precision
            else:
                lower[np.diag_indices(n)] = self.prior_precision
        if data_rows is not None and data_rows.shape[0]:
            scale = np.sqrt(data_precision)[:, None]
            if is_sparse(data_rows):
                lower += dense(data_rows.T @ data_rows.multiply(scale**2))  # type: ignore[union-attr]
            else:
                scaled = (data_rows * scale).astype(self.dtype, copy=False)
                lower = self._blas("syrk")(1.0, scaled.T, beta=1.0, c=lower, lower=1, overwrite_c=1)
        lower = self.rows.add_gram(lower, pi)
        diagonal = lower.diagonal().copy()
        potrf, potrs, potri = get_lapack_funcs(("potrf", "potrs", "potri"), dtype=self.dtype)
        lower, info = potrf(lower, lower=1, clean=0, overwrite_a=1)
        self._lower = lower
        if info or not np.all(np.square(lower.diagonal()) > _LOST[self.dtype.char] * diagonal):
            if self.dtype.char == "f":
                self._begin(float)
                return self.factorise(pi, data_rows, data_precision, linear)
            raise np.linalg.LinAlgError("the precision matrix is not positive definite")
        log_determinant = -2.0 * float(np.log(lower.diagonal().astype(float)).sum())
        solution = potrs(lower, linear, lower=1)[0].astype(float, copy=False)
        self._lower, info = potri(lower, lower=1, overwrite_c=1)
        return solution, log_determinant

    # ------------------------------------------------------------------ products
    def times(self, matrix: np.ndarray) -> np.ndarray:
        """V M for M (n,) or (n, k)."""
        if matrix.ndim == 1:
            product = self._blas("symv")(1.0, self._lower, matrix, lower=1).astype(float, copy=False)
        elif matrix.shape[1] < _MANY_COLUMNS:
            product = np.empty(matrix.shape, order="F")
            block_times(self._lower, np.asfortranarray(matrix), product)
        else:
            product = self._blas("symm")(1.0, self._lower, np.asfortranarray(matrix), lower=1).astype(float, copy=False)
        return self._corrected(product, matrix)

    def times_row(self, i: int) -> np.ndarray:
        """V b_i."""
        if self.rows.is_long(i):
            return self.times(self.rows.long_row(i))
        indices, values = self.rows.row(i)
        product = np.empty(len(self._lower))
        sparse_times(self._lower, indices, values, product)
        for k, sign in self._signs():
            waiting = self._waiting[k][:, : self._count[k]]
            product -= sign * (waiting @ (values.astype(self.dtype, copy=False) @ waiting[indices]))
        return product

    def _corrected(self, product: np.ndarray, matrix: np.ndarray) -> np.ndarray:
        for k, sign in self._signs():
            waiting = self._waiting[k][:, : self._count[k]]
            product -= sign * (waiting @ (waiting.T @ matrix.astype(self.dtype, copy=False)))
        return product

    def _signs(self) -> list[tuple[int, float]]:
        return [(k, sign) for k, sign in ((0, 1.0), (1, -1.0)) if self._count[k]]

    def row_variances(self) -> np.ndarray:
        """diag(B V B')."""
        self.flush()
        variance = np.empty(self.rows.shape[0])
        short = np.empty(len(self.rows.short))
        quadratic_forms(self._lower, *self.rows.short_rows(), short)
        variance[self.rows.short] = short
        if len(self.rows.long):
            for start in range(0, len(self.rows.long), 512):
                part = self.rows.long_rows[start : start + 512]
                products = self.times(part.T)
                variance[self.rows.long[start : start + 512]] = np.einsum("ij,ji->i", part, products)
        return variance

    def sparse_variances(self, rows: Matrix) -> np.ndarray:
        """diag(M V M') for sparse M."""
        rows = rows.tocsr()  # type: ignore[union-attr]
        rows.sort_indices()
        variance = np.empty(rows.shape[0])
        quadratic_forms(self._lower, rows.indptr, rows.indices, rows.data.astype(float), variance)
        for k, sign in self._signs():
            half = rows @ self._waiting[k][:, : self._count[k]]
            variance -= sign * np.einsum("ij,ij->i", half, half)
        return variance

    # ------------------------------------------------------------------ changes
    def change(self, direction: np.ndarray, c: float) -> None:
        """V -= c g g'."""
        k = 0 if c > 0 else 1
        self._waiting[k][:, self._count[k]] = np.sqrt(abs(c)) * direction
        self._count[k] += 1
        if self._count[k] == self.deferred:
            self._take_in(k)

    def change_site(self, i: int, d_pi: float, direction: np.ndarray, variance: float) -> None:
        """The site on row i became more precise by d_pi; direction = V b_i, variance = b_i' V b_i."""
        self.change(direction, d_pi / (1.0 + d_pi * variance))

    def absorb(self, rows: np.ndarray, data_variance: np.ndarray, root: np.ndarray) -> None:
        """Data rows were measured; V -= root root'."""
        for k in range(root.shape[1]):
            self.change(root[:, k], 1.0)

    def flush(self) -> None:
        """Take in what waits."""
        for k, _ in self._signs():
            self._take_in(k)

    def _take_in(self, k: int) -> None:
        waiting = self._waiting[k][:, : self._count[k]]
        sign = 1.0 if k else -1.0
        if waiting.shape[1] == 1:
            self._lower = self._blas("syr")(sign, waiting[:, 0], lower=1, a=self._lower, overwrite_a=1)
        else:
            self._lower = self._blas("syrk")(sign, waiting, beta=1.0, c=self._lower, lower=1, overwrite_c=1)
        self._count[k] = 0
        self.n_passes += 1

    def full(self) -> np.ndarray:
        """V as a matrix of its own."""
        lower = self._lower.copy(order="F")
        for k, sign in self._signs():
            lower = self._blas("syrk")(
                -sign, self._waiting[k][:, : self._count[k]], beta=1.0, c=lower, lower=1, overwrite_c=1
            )
        lower = np.tril(lower.astype(float, copy=False))
        return lower + np.tril(lower, -1).T

    # ------------------------------------------------------------------ as plain data
    def state(self) -> dict[str, Any]:
        """The lower triangle, and the changes (n, k) of either sign that wait."""
        waiting = [columns[:, :count].copy() for columns, count in zip(self._waiting, self._count, strict=True)]
        return {"lower": packed(self._lower), "waiting": waiting}

    @classmethod
    def from_state(
        cls, state: dict[str, Any], rows: ProjectionRows, prior_precision: np.ndarray | None
    ) -> UpdatedCovariance:
        """The covariance that ``state`` described."""
        covariance = cls(rows, prior_precision, dtype=np.asarray(state["lower"]).dtype)
        covariance._lower = unpacked(state["lower"])
        for k, columns in enumerate(state["waiting"]):
            covariance._count[k] = columns.shape[1]
            covariance._waiting[k][:, : columns.shape[1]] = columns
        return covariance


def packed(lower: np.ndarray) -> np.ndarray:
    """The n (n + 1) / 2 entries of a lower triangle."""
    return get_lapack_funcs("trttp", (lower,))(lower, uplo="L")[0] if len(lower) else np.empty(0)


def unpacked(entries: np.ndarray) -> np.ndarray:
    """The lower triangle of which these are the entries; above it zero, in column order."""
    n = int(np.sqrt(2 * len(entries)))
    tpttr = get_lapack_funcs("tpttr", dtype=np.asarray(entries).dtype)
    return np.asfortranarray(tpttr(n, entries, uplo="L")[0]) if n else np.zeros((0, 0), order="F")
