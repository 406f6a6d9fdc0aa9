"""The Gaussian with sites where most rows look at one unknown each, as sparse priors of weights do.

With D the diagonal precision of prior and unit rows and A the k other rows times the roots of their precisions,

    precision = D + A'A,    M = I + A D^-1 A' = L L',    ln|precision| = ln|D| + ln|M|,
    V = D^-1 - D^-1 A' M^-1 A D^-1,

O(n k^2) where the factor of the whole precision takes O(n^3); that one is made when something asks for it. Where D is
not positive, or so small that differences would lose their figures, everything is as in the precision form.

References
----------
Woodbury (1950); Seeger (2008), Bayesian inference and optimal design for the sparse linear model, section 3.1.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import scipy.sparse
from scipy.linalg.blas import dtrsm
from scipy.linalg.lapack import dpotrf, dpotri

from adaptive.gaussians.precision_form import PrecisionForm
from adaptive.linalg.matrices import dense, is_sparse, stacked

if TYPE_CHECKING:
    from adaptive.types import Matrix

__all__ = ["UnitRowsForm"]

SHARE = 0.25  # of the unknowns: with as many other rows at most the form pays
_LEFT = 1e-4  # of a variance without the other rows: where less is left, figures are lost
_STRONG = 1e-2  # precision times variance from which a row's variance comes from the inverse of M


class UnitRowsForm(PrecisionForm):
    """Gaussian with sites on sparse rows, few of which have more than one entry; the rest is as in `PrecisionForm`."""

    kind = "unit_rows"
    _factor: np.ndarray | None = None
    _variances: np.ndarray | None = None

    @staticmethod
    def pays(rows: Matrix, data_rows: Matrix | None) -> bool:
        """Return whether few enough of the rows have more than one entry."""
        if not is_sparse(rows) or not (data_rows is None or is_sparse(data_rows)):
            return False
        wide = _wide_rows(rows)
        if data_rows is not None:
            wide += _wide_rows(data_rows)
        return wide <= SHARE * rows.shape[1]

    # ------------------------------------------------------------------ fit
    @cached_property
    def _parts(self) -> tuple[Any, ...]:
        """Which rows are wide, these as one matrix, and of the others the unknown each sees and the square it has."""
        data = self.data_rows
        every: Any = self.rows if data is None else stacked([data, self.rows])
        every = scipy.sparse.csr_array(every)
        wide = np.diff(every.indptr) != 1
        unit = every[~wide].tocsr()
        return wide, every[wide].tocsr(), unit.indices, np.square(unit.data)

    def refit(self, pi: np.ndarray, nu: np.ndarray) -> Self:
        """Set all sites; raises ``numpy.linalg.LinAlgError`` where the result is not a Gaussian."""
        self.pi, self.nu = np.array(pi, dtype=float), np.array(nu, dtype=float)
        self._whole, self._variances = True, None
        precision = self.pi
        if self.data_rows is not None:
            precision = np.concatenate([1.0 / self.data_variance, precision])
        wide, rows, columns, squares = self._parts
        diagonal: np.ndarray = np.bincount(columns, precision[~wide] * squares, minlength=self.size)
        if self.prior_precision is not None:
            diagonal = diagonal + self.prior_precision
        weights = precision[wide]
        if not (diagonal > 0).all() or (weights < 0).any():
            return super().refit(pi, nu)
        spread = rows.multiply(1.0 / diagonal[None, :]).tocsr()
        cross = dense(spread @ rows.T)  # W D^-1 W'
        scale = np.sqrt(weights)
        matrix = scale[:, None] * cross * scale
        matrix[np.diag_indices(len(matrix))] += 1.0
        middle = dpotrf(np.asfortranarray(matrix), lower=1, clean=1)[0] if len(matrix) else matrix
        half = dtrsm(1.0, middle, np.asfortranarray(np.diag(scale)), lower=1) if len(matrix) else matrix
        reduction = np.asarray((spread.T @ half.T).T)  # L^-1 A D^-1
        variances = 1.0 / diagonal - np.einsum("ij,ij->j", reduction, reduction)
        if (variances * diagonal).min(initial=1.0) < _LEFT:
            return super().refit(pi, nu)
        linear = self._base_linear + self.rows.T @ (self.nu - self.pi * self.offset)
        mean = linear / diagonal - reduction.T @ (reduction @ linear)
        left = linear - diagonal * mean - rows.T @ (weights * (rows @ mean))  # rounding, taken back once
        mean = mean + left / diagonal - reduction.T @ (reduction @ left)
        self._half_log_determinant = 0.5 * float(np.log(diagonal).sum()) + float(np.log(middle.diagonal()).sum())
        self.coefficients, self.projections = mean, self.project(mean)
        self._whole, self._factor, self._inverse = False, None, None
        self._variances = self._of_rows(precision, variances, cross, scale, middle)
        self._unknowns = variances
        return self

    def _of_rows(
        self, precision: np.ndarray, variances: np.ndarray, cross: np.ndarray, scale: np.ndarray, middle: np.ndarray
    ) -> np.ndarray:
        """Variances of all rows with sites."""
        wide, _, columns, squares = self._parts
        found = np.empty(len(precision))
        found[~wide] = squares * variances[columns]
        if wide.any():
            prior = cross.diagonal()
            strong = np.square(scale) * prior > _STRONG
            inverse = dpotri(middle, lower=1)[0].diagonal()
            of_wide = np.divide(1.0 - inverse, np.square(scale), out=np.empty(len(scale)), where=strong)
            scaled = dtrsm(1.0, middle, np.asfortranarray((scale[:, None] * cross)[:, ~strong]), lower=1)
            of_wide[~strong] = prior[~strong] - np.einsum("ij,ij->j", scaled, scaled)
            found[wide] = of_wide
        return found[len(found) - len(self.pi) :]

    @property
    def factor(self) -> np.ndarray:  # type: ignore[override]
        """The Cholesky factor of the precision, made when it is asked for."""
        if self._factor is None:
            projections, coefficients, half = self.projections, self.coefficients, self._half_log_determinant
            PrecisionForm.refit(self, self.pi, self.nu)
            self.projections, self.coefficients, self._half_log_determinant = projections, coefficients, half
        assert self._factor is not None
        return self._factor

    @factor.setter
    def factor(self, value: np.ndarray) -> None:
        self._factor = value

    @property
    def determined(self) -> bool:
        """Return whether data and prior determine u without sites."""
        if self.prior_precision is not None:
            return True
        return False if self.data_rows is None or self.data_rows.shape[0] < self.size else super().determined

    # ------------------------------------------------------------------ marginals
    def marginals(self) -> tuple[np.ndarray, np.ndarray]:
        """Means and variances of the q projections."""
        if self._whole or self._variances is None:
            return super().marginals()
        return self.projections, self._variances

    def project_variance(self, rows: Matrix | None) -> np.ndarray:
        """diag(M V M')."""
        if rows is None and not self._whole:
            return self._unknowns.copy()
        return super().project_variance(rows)


def _wide_rows(rows: Matrix) -> int:
    return int(np.count_nonzero(np.diff(rows.tocsr().indptr) != 1))  # type: ignore[union-attr]
