"""The Gaussian with sites by its precision, factorised in single precision: half of the time of a refit and a sweep.

What is derived from the factor is in double precision; variances have six digits less the logarithm of the precision's
condition. Where pivots would lose more than that a refit is a double one.
"""

from __future__ import annotations

from typing import Self

import numpy as np
from scipy.linalg.blas import ssyrk, strsm
from scipy.linalg.lapack import dpotrs, spotrf

from adaptive.gaussians.precision_form import PrecisionForm
from adaptive.linalg.matrices import is_sparse

__all__ = ["SinglePrecisionForm"]

_LOST = 1e-4  # a pivot this much smaller than its diagonal entry has three digits


class SinglePrecisionForm(PrecisionForm):
    """As `PrecisionForm`, of dense rows.

    Examples
    --------
    >>> rows = np.array([[1.0, 0.0], [1.0, 1.0]])
    >>> form = SinglePrecisionForm(rows, prior_covariance=1.0).refit(np.array([1.0, 0.0]), np.array([2.0, 0.0]))
    >>> form.mean.round(5), form.marginals()[1].round(5), form.factor.dtype
    (array([1., 0.]), array([0.5, 1.5]), dtype('float32'))
    """

    kind = "single_precision"

    def refit(self, pi: np.ndarray, nu: np.ndarray) -> Self:
        """As `PrecisionForm.refit`."""
        if is_sparse(self.rows) or (np.size(pi) and np.min(pi) < 0):
            return super().refit(pi, nu)
        scaled = (self.rows * np.sqrt(pi)[:, None]).astype(np.float32)
        precision = ssyrk(1.0, scaled.T, beta=1.0, c=self._base, lower=1)
        diagonal = precision.diagonal().copy()
        factor, info = spotrf(precision, lower=1, clean=0, overwrite_a=1)
        if info or (factor.diagonal() ** 2 < _LOST * diagonal).any():
            return super().refit(pi, nu)
        self.factor, self._inverse = factor, None
        self.pi, self.nu = np.array(pi, dtype=float), np.array(nu, dtype=float)
        self._half_log_determinant = float(np.log(factor.diagonal().astype(float)).sum())
        linear = self._base_linear + self.rows.T @ (self.nu - self.pi * self.offset)
        self.coefficients = dpotrs(factor, linear, lower=1)[0]
        self.projections = self.project(self.coefficients)
        return self

    def marginals(self) -> tuple[np.ndarray, np.ndarray]:
        """Means and variances of the q projections."""
        if self.factor.dtype != np.float32:
            return super().marginals()
        half = strsm(1.0, self.factor, self.rows.T, lower=1)
        return self.projections, np.einsum("ij,ij->j", half, half, dtype=float)
