"""The covariance over the rows of X, for an orthonormal square B: with P = diag(pi) and Z = X B',

    B V B' = P^-1 - P^-1 Z' C Z P^-1,    C = (R + Z P^-1 Z')^-1,    R the variances of the data:

C is m x m, and a site changes it by one rank: O(m^2 + m n) an update, where V itself would ask for O(n^2).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.linalg.blas import dsymm, dsymv, dsyr
from scipy.linalg.lapack import dpotrf, dpotri

from adaptive.gaussians.projection_rows import ProjectionRows
from adaptive.gaussians.updated_covariance import packed, unpacked
from adaptive.linalg.matrices import dense

if TYPE_CHECKING:
    from adaptive.types import Matrix

__all__ = ["MeasurementCovariance"]

_TINY = 1e-300


class MeasurementCovariance:
    """The covariance V (n, n) of a Gaussian with few data rows and a diagonal precision over B u.

    Parameters
    ----------
    rows : ProjectionRows
        B, orthonormal and square.
    prior_precision : None or array (n,) of one value
        Of the Gaussian prior.

    Attributes
    ----------
    n_passes : int
        Times that a change was taken into the matrix.
    """

    def __init__(self, rows: ProjectionRows, prior_precision: np.ndarray | None):
        self.rows, self.n_passes = rows, 0
        self.prior = 0.0 if prior_precision is None else float(prior_precision[0])

    def factorise(
        self, pi: np.ndarray, data_rows: Matrix | None, data_precision: np.ndarray, linear: np.ndarray
    ) -> tuple[np.ndarray, float]:
        """Set P and X; returns V linear and log|V|."""
        self.inverse = 1.0 / np.maximum(pi + self.prior, _TINY)
        self._data = np.zeros((0, self.rows.shape[1]))
        self._lower = np.zeros((0, 0), order="F")
        log_determinant = float(np.log(self.inverse).sum())
        if data_rows is not None and data_rows.shape[0]:
            self._data = np.ascontiguousarray(self.rows.forward(dense(data_rows).T).T)
            precision = np.diag(1.0 / data_precision) + (self._data * self.inverse) @ self._data.T
            lower, info = dpotrf(np.asfortranarray(precision), lower=1, clean=1)
            if info:
                raise np.linalg.LinAlgError("the covariance of the data is not positive definite")
            log_determinant -= 2.0 * float(np.log(lower.diagonal()).sum()) + float(np.log(data_precision).sum())
            self._lower, _ = dpotri(lower, lower=1)
        return self.times(linear), log_determinant

    # ------------------------------------------------------------------ products
    def times(self, matrix: np.ndarray) -> np.ndarray:
        """V M for M (n,) or (n, k)."""
        inverse = self.inverse if matrix.ndim == 1 else self.inverse[:, None]
        inner = inverse * self.rows.forward(matrix)
        if len(self._data):
            seen = self._data @ inner
            solved = dsymv(1.0, self._lower, seen, lower=1) if seen.ndim == 1 else self._solve(seen)
            inner -= inverse * (self._data.T @ solved)
        return self._back(inner)

    def _solve(self, matrix: np.ndarray) -> np.ndarray:
        return dsymm(1.0, self._lower, np.asfortranarray(matrix), lower=1)

    def _back(self, coefficients: np.ndarray) -> np.ndarray:
        if coefficients.ndim == 1:
            return self.rows.adjoint(coefficients)
        return np.stack([self.rows.adjoint(column) for column in coefficients.T], axis=1)

    def times_row(self, i: int) -> np.ndarray:
        """V b_i."""
        column = np.zeros(len(self.inverse))
        if len(self._data):
            solved = dsymv(1.0, self._lower, self._data[:, i].copy(), lower=1)
            column -= self.inverse[i] * self.inverse * (self._data.T @ solved)
        column[i] += self.inverse[i]
        return self.rows.adjoint(column)

    def row_variances(self) -> np.ndarray:
        """diag(B V B')."""
        variance = self.inverse.copy()
        if len(self._data):
            reduction = np.einsum("ij,ij->j", self._data, self._solve(self._data))
            variance -= np.square(self.inverse) * reduction
        return variance

    def sparse_variances(self, rows: Matrix) -> np.ndarray:
        """diag(M V M') for sparse M."""
        rows = dense(rows)
        return np.einsum("ij,ji->i", rows, self.times(rows.T))

    # ------------------------------------------------------------------ changes
    def change_site(self, i: int, d_pi: float, direction: np.ndarray, variance: float) -> None:
        """The site on row i became more precise by d_pi; direction = V b_i, variance = b_i' V b_i."""
        new = 1.0 / (1.0 / self.inverse[i] + d_pi)
        moved, self.inverse[i] = new - self.inverse[i], new
        if not len(self._data):
            return
        column = self._data[:, i].copy()
        solved = dsymv(1.0, self._lower, column, lower=1)
        scale = 1.0 + moved * float(column @ solved)
        self._lower = dsyr(-moved / scale, solved, lower=1, a=self._lower, overwrite_a=1)
        self.n_passes += 1

    def absorb(self, rows: np.ndarray, data_variance: np.ndarray, root: np.ndarray) -> None:
        """Data rows were measured: C grows by as many rows and columns."""
        new = np.ascontiguousarray(self.rows.forward(dense(rows).T).T)
        m, d = len(self._data), len(new)
        corner = np.diag(data_variance) + (new * self.inverse) @ new.T
        grown = np.empty((m + d, m + d), order="F")
        if m:
            cross = (self._data * self.inverse) @ new.T
            solved = self._solve(cross)
            schur = np.linalg.inv(corner - cross.T @ solved)
            grown[:m, :m] = self._lower + solved @ schur @ solved.T
            grown[m:, :m] = -schur @ solved.T
        else:
            schur = np.linalg.inv(corner)
        grown[m:, m:] = schur
        self._lower, self._data = grown, np.vstack([self._data, new])
        self.n_passes += 1

    def flush(self) -> None:
        """Nothing waits in this form."""

    def full(self) -> np.ndarray:
        """V as a matrix of its own."""
        V = self.times(np.eye(len(self.inverse)))
        return (V + V.T) / 2

    # ------------------------------------------------------------------ as plain data
    def state(self) -> dict[str, Any]:
        """P^-1, Z and the lower triangle of C."""
        return {"lower": packed(self._lower), "data": self._data, "inverse": self.inverse}

    @classmethod
    def from_state(
        cls, state: dict[str, Any], rows: ProjectionRows, prior_precision: np.ndarray | None
    ) -> MeasurementCovariance:
        """The covariance that ``state`` described."""
        covariance = cls(rows, prior_precision)
        covariance._lower = unpacked(state["lower"])
        covariance._data, covariance.inverse = np.array(state["data"]), np.array(state["inverse"])
        return covariance
