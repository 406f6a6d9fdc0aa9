"""The Gaussian with sites by its precision: A = P_0 + F' diag(pi) F = L L', one Cholesky factor of n x n.

The unknown is u = prior mean + R w. A dense prior covariance S = R R' is absorbed by its root, so that it is never
inverted (then P_0 = I + data, F = B R); for a number or a diagonal, R = I and P_0 holds its inverse.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Self

import numpy as np
from scipy.linalg.blas import dsymv, dsyr, dsyrk, dtrsm
from scipy.linalg.lapack import dpotrf, dpotri, dpotrs, dtrtrs

from adaptive.gaussians.factorised_form import FactorisedForm
from adaptive.gaussians.gaussian_part import LOG_2PI
from adaptive.linalg.matrices import (
    covariance_root,
    covariance_times,
    dense,
    densified,
    is_sparse,
    quadratic_diagonal,
    row_blocks,
    triangular_root,
)
from adaptive.linalg.triangular_inverse import triangular_inverse

if TYPE_CHECKING:
    from adaptive.types import Covariance, Matrix, Number

__all__ = ["PrecisionForm"]

_LOST = 1e-13  # a pivot this much smaller than its diagonal entry is mostly rounding


class PrecisionForm(FactorisedForm):
    """Gaussian with sites, represented by the Cholesky factor of its precision matrix.

    Attributes and methods are those of :class:`~adaptive.gaussians.factorised_form.FactorisedForm`; the
    coefficients are w (r,). Without a prior covariance, data and sites together must determine u.

    Parameters
    ----------
    rows, data_rows, data, data_variance, prior_mean, prior_covariance
        As of :class:`~adaptive.gaussians.gaussian_part.GaussianPart`.

    Examples
    --------
    >>> form = PrecisionForm(np.eye(2), prior_covariance=np.eye(2)).refit(np.array([1.0, 0.0]), np.array([2.0, 0.0]))
    >>> form.mean, form.marginals()[1]
    (array([1., 0.]), array([0.5, 1. ]))
    """

    kind = "precision"

    def __init__(
        self,
        rows: Matrix,
        data_rows: Matrix | None = None,
        data: np.ndarray | None = None,
        data_variance: np.ndarray | None = None,
        prior_mean: np.ndarray | None = None,
        prior_covariance: Covariance | None = None,
    ):
        q, n = rows.shape
        self.n = n
        self.shift = None if prior_mean is None or not np.any(prior_mean) else np.asarray(prior_mean, dtype=float)
        full = prior_covariance is not None and np.ndim(prior_covariance) == 2
        self.root = covariance_root(np.asarray(prior_covariance)) if full else None
        self.rows = densified(rows)
        self.offset = np.zeros(q) if self.shift is None else np.asarray(self.rows @ self.shift)
        if self.root is not None:
            self.rows = np.ascontiguousarray(self.rows @ self.root)
        size = n if self.root is None else self.root.shape[1]
        self.size = size

        # log of the normalisers of the base, less those that the volume's (2 pi)^(size/2) cancels
        self._log_constant = 0.0
        if prior_covariance is None:
            self.prior_precision: Number | None = None
            self._log_constant += 0.5 * size * LOG_2PI
        elif self.root is not None:
            self.prior_precision = 1.0
        else:
            self.prior_precision = 1.0 / np.asarray(prior_covariance, dtype=float)
            self._log_constant += 0.5 * float(np.sum(np.log(np.broadcast_to(self.prior_precision, (n,)))))

        self._base = np.zeros((size, size), order="F")
        if self.prior_precision is not None:
            self._base[np.diag_indices(size)] = self.prior_precision
        self._base_linear = np.zeros(size)
        self.data_rows: Matrix | None = None
        if data_rows is not None and data_rows.shape[0]:
            self._absorb(densified(data_rows), np.asarray(data, dtype=float), np.asarray(data_variance, dtype=float))
        self._inverse: np.ndarray | None = None

    def _absorb(self, rows: Matrix, data: np.ndarray, variance: np.ndarray) -> None:
        residual = data if self.shift is None else data - rows @ self.shift
        if self.root is not None:
            rows = np.ascontiguousarray(rows @ self.root)
        variance = np.broadcast_to(variance, residual.shape)
        self.data_rows, self.data, self.data_variance = rows, residual, variance
        self._log_constant -= 0.5 * float(np.sum(LOG_2PI + np.log(variance)))
        self._base = _add_gram(self._base, rows, 1.0 / variance)
        self._base_linear = self._base_linear + rows.T @ (residual / variance)

    # ------------------------------------------------------------------ fit
    def refit(self, pi: np.ndarray, nu: np.ndarray) -> Self:
        """Set all sites and factorise; raises ``numpy.linalg.LinAlgError`` where the result is not a Gaussian."""
        precision = _add_gram(self._base, self.rows, pi)
        diagonal = precision.diagonal().copy()
        self.factor, info = dpotrf(precision, lower=1, clean=0, overwrite_a=1)
        if info or (self.factor.diagonal() ** 2 < _LOST * diagonal).any():
            self.factor = self._factor_without_squaring(np.asarray(pi, dtype=float))
        self.pi, self.nu = np.array(pi, dtype=float), np.array(nu, dtype=float)
        self._half_log_determinant = float(np.log(self.factor.diagonal()).sum())
        self._inverse = None
        linear = self._base_linear + self.rows.T @ (self.nu - self.pi * self.offset)
        self.coefficients = dpotrs(self.factor, linear, lower=1)[0]
        self.projections = self.project(self.coefficients)
        return self

    def _factor_without_squaring(self, pi: np.ndarray) -> np.ndarray:
        """L from square roots of all parts, where their sum is singular to rounding."""
        if pi.size and not pi.min() >= 0:
            raise np.linalg.LinAlgError("the precision matrix is not positive definite")
        parts = [np.sqrt(pi)[:, None] * dense(self.rows)]
        if self.prior_precision is not None:
            parts.append(np.diag(np.sqrt(np.broadcast_to(self.prior_precision, (self.size,)))))
        if self.data_rows is not None:
            parts.append(dense(self.data_rows) / np.sqrt(self.data_variance)[:, None])
        return triangular_root(parts)

    @property
    def determined(self) -> bool:
        """Return whether data and prior determine u without sites, with room for rounding."""
        if self.prior_precision is not None:
            return True
        factor, info = dpotrf(self._base, lower=1)
        return info == 0 and bool(np.all(np.square(factor.diagonal()) > 1e-10 * self._base.diagonal()))

    def project(self, coefficients: np.ndarray) -> np.ndarray:
        """s = B u at the coefficients."""
        return self.offset + self.rows @ coefficients

    def energy(self, coefficients: np.ndarray) -> float:
        """-log base(u) up to a constant: |t - G u|^2 / (2 r) + (u - mu)' S^-1 (u - mu) / 2."""
        total = 0.0
        if self.prior_precision is not None:
            total += float((self.prior_precision * coefficients) @ coefficients)
        if self.data_rows is not None:
            residual = self.data - self.data_rows @ coefficients
            total += float((residual / self.data_variance) @ residual)
        return 0.5 * total

    @property
    def log_determinant(self) -> float:
        """log|V|, the covariance of u (of w where the prior covariance is singular)."""
        log_root = 0.0
        if self.root is not None and self.root.shape[0] == self.root.shape[1]:
            log_root = float(np.linalg.slogdet(self.root)[1])
        return 2.0 * (log_root - self._half_log_determinant)

    def latent(self, coefficients: np.ndarray) -> np.ndarray:
        """u at the coefficients."""
        u = coefficients if self.root is None else self.root @ coefficients
        return u.copy() if self.shift is None else u + self.shift

    # ------------------------------------------------------------------ marginals of the sites
    def marginals(self) -> tuple[np.ndarray, np.ndarray]:
        """Means and variances of the q projections."""
        if is_sparse(self.rows):
            every = self._own_variances() if self._alone else self._full_inverse()
            return self.projections, quadratic_diagonal(self.rows, every)
        half = dtrsm(1.0, self.factor, self.rows.T, lower=1)
        return self.projections, np.einsum("ij,ij->j", half, half)

    @cached_property
    def _alone(self) -> bool:
        """Return whether every row looks at one unknown at most."""
        return bool(np.all(np.diff(self.rows.tocsr().indptr) <= 1))  # type: ignore[union-attr]

    def _own_variances(self) -> np.ndarray:
        """diag(V) by L^-1, at two thirds of the whole inverse."""
        half = triangular_inverse(self.factor)
        return np.einsum("ij,ij->j", half, half)

    def start_updates(self) -> None:
        """Prepare ``marginal`` and ``rank_one``: the covariance matrix is formed once, lower triangle."""
        self._inverse = np.asfortranarray(dpotri(self.factor, lower=1)[0])

    def marginal(self, j: int) -> tuple[float, float]:
        """Mean and variance of projection j, valid after any ``rank_one``."""
        row = self.rows[[j]].toarray()[0] if is_sparse(self.rows) else self.rows[j]
        self._column = dsymv(1.0, self._inverse, row, lower=1)
        return float(self.offset[j] + row @ self.coefficients), float(row @ self._column)

    def rank_one(self, j: int, d_pi: float, d_nu: float) -> None:
        """Change site j; the covariance and the mean follow in O(n^2). ``refit`` once in a while against drift."""
        mean, variance = self.marginal(j)
        scale = 1.0 + d_pi * variance
        if not scale > 1e-8:
            raise np.linalg.LinAlgError("the update would make the precision matrix singular")
        self._inverse = dsyr(-d_pi / scale, self._column, lower=1, a=self._inverse, overwrite_a=1)
        self.coefficients = self.coefficients + ((d_nu - d_pi * mean) / scale) * self._column
        self.pi[j] += d_pi
        self.nu[j] += d_nu

    # ------------------------------------------------------------------ the posterior of u
    def root_times(self, rows: Matrix | None) -> np.ndarray:
        """R (m, r) with R R' = M V M' for rows M (m, n), None for all unknowns."""
        if rows is None:
            rows = np.eye(self.n) if self.root is None else self.root
        elif self.root is not None:
            rows = rows @ self.root
        rows = np.ascontiguousarray(dense(rows), dtype=float)
        return dtrsm(1.0, self.factor, rows.T, lower=1).T

    def project_covariance(self, first: Matrix | None, second: Matrix | None) -> np.ndarray:
        """M1 V M2'."""
        left = self.root_times(first)
        return left @ (left if second is first else self.root_times(second)).T

    def project_variance(self, rows: Matrix | None) -> np.ndarray:
        """diag(M V M')."""
        halves = [self.root_times(rows)] if rows is None else [self.root_times(rows[b]) for b in row_blocks(rows)]
        return np.concatenate([np.einsum("ij,ij->i", half, half) for half in halves])

    def covariance_times(self, matrix: np.ndarray) -> np.ndarray:
        """V M for M (n,) or (n, k)."""
        half = matrix if self.root is None else self.root.T @ matrix
        half = dpotrs(self.factor, half, lower=1)[0]
        return half if self.root is None else self.root @ half

    def sample(self, size: int, rng: np.random.Generator) -> np.ndarray:
        """Draws of u, (size, n)."""
        noise = rng.standard_normal((self.size, size))
        draws = (dtrtrs(self.factor, noise, lower=1, trans=1)[0] + self.coefficients[:, None]).T
        draws = draws if self.root is None else draws @ self.root.T
        return draws if self.shift is None else draws + self.shift

    # ------------------------------------------------------------------ sensitivity to the prior covariance
    def prior_sensitivity(self, change: Covariance | None = None) -> float:
        """Derivative of the log normaliser when S moves by ``change`` at fixed sites: (a' dS a - tr(E dS)) / 2.

        a = S^-1 (mean - mu), E = S^-1 - S^-1 V S^-1. ``change`` is a number, (n,) or (n, n); None stands for 2 S, the
        derivative with respect to the log of a common standard deviation.
        """
        w = self.coefficients
        if self.root is None:
            p = np.broadcast_to(np.asarray(self.prior_precision), (self.size,))
            variance = self._full_inverse().diagonal()
            if change is None or np.ndim(change) < 2:
                change = 2.0 / p if change is None else change
                return 0.5 * float(np.sum(change * (np.square(p * w) - p + np.square(p) * variance)))
            scaled = p[:, None] * change * p
            excess = np.diag(1.0 / p) - self._full_inverse()
        else:
            scaled = 2.0 * np.eye(self.size) if change is None else self._whitened(change)
            excess = np.eye(self.size) - self._full_inverse()
        return 0.5 * float(w @ scaled @ w - np.sum(excess * scaled))

    def prior_response(self, change: Covariance | None = None) -> np.ndarray:
        """V S^-1 dS a: how the mode of u follows S at fixed curvature of the potentials."""
        w = self.coefficients
        if self.root is None:
            p = np.broadcast_to(np.asarray(self.prior_precision), (self.size,))
            force = 2.0 * w if change is None else covariance_times(change, p * w)
            return self.covariance_times(p * force)
        force = 2.0 * w if change is None else self._whitened(change) @ w
        return self.root @ dpotrs(self.factor, force, lower=1)[0]

    def _whitened(self, change: Covariance) -> np.ndarray:
        """R^-1 dS R^-T."""
        assert self.root is not None
        full = np.asarray(change) if np.ndim(change) == 2 else np.diag(np.broadcast_to(change, (self.n,)))
        left = np.linalg.lstsq(self.root, full, rcond=None)[0]
        return np.linalg.lstsq(self.root, left.T, rcond=None)[0].T

    def _full_inverse(self) -> np.ndarray:
        lower = np.tril(dpotri(self.factor, lower=1)[0])
        return lower + np.tril(lower, -1).T


def _add_gram(base: np.ndarray, rows: Matrix, weights: np.ndarray) -> np.ndarray:
    """base + F' diag(weights) F in column order; only the lower triangle is meant."""
    if is_sparse(rows):
        if rows.format == "csr" and rows.nnz == rows.shape[0] and (np.diff(rows.indptr) == 1).all():  # type: ignore[union-attr]
            found = np.array(base, order="F")  # of rows with one entry each F' diag(weights) F is diagonal
            sums = np.bincount(rows.indices, weights * np.square(rows.data), minlength=len(base))  # type: ignore[union-attr]
            found[np.diag_indices(len(base))] += sums
            return found
        gram = rows.T @ rows.multiply(weights[:, None])  # type: ignore[union-attr]
        return np.asfortranarray(base + gram.toarray())
    if weights.size and weights.min() < 0:
        return np.asfortranarray(base + (rows.T * weights) @ rows)
    scaled = rows * np.sqrt(weights)[:, None]
    return dsyrk(1.0, scaled.T, beta=1.0, c=base, lower=1)
