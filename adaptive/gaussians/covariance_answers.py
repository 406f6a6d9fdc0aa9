"""What a covariance that is kept answers about projections M u: M V M', its diagonal, draws."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse

from adaptive.gaussians.projection_rows import ProjectionRows
from adaptive.linalg.matrices import covariance_root, dense, is_sparse, row_blocks
from adaptive.operators import Operator

__all__ = ["CovarianceAnswers"]


class CovarianceAnswers:
    """Mixin of a Gaussian with ``covariance``, ``mean``, and ``row_variances`` of its own ``rows``."""

    n: int
    rows: ProjectionRows
    row_variances: np.ndarray
    mean: np.ndarray
    covariance: Any

    def covariance_times(self, matrix: np.ndarray) -> np.ndarray:
        """V M for M (n,) or (n, k)."""
        return self.covariance.times(np.asarray(matrix, dtype=float))

    def operator_variance(self, operator: Operator) -> np.ndarray:
        """Variances of the rows of an operator, known already where it is one of B's groups."""
        group = self.rows.group_of(operator)
        return self.project_variance(ProjectionRows([operator])._matrix) if group is None else self.row_variances[group]

    def project_variance(self, rows: Any) -> np.ndarray:
        """diag(M V M'), M None for the unknowns."""
        if rows is None:
            rows = scipy.sparse.eye_array(self.n, format="csr")
        if is_sparse(rows):
            return self.covariance.sparse_variances(rows)
        parts = [rows[block] for block in row_blocks(rows)]
        return np.concatenate([np.einsum("ij,ji->i", p, self.covariance_times(np.asarray(p).T)) for p in parts])

    def project_covariance(self, first: Any, second: Any) -> np.ndarray:
        """M1 V M2'."""
        if first is None and second is None:
            return self.covariance.full()
        right = self.covariance.full() if second is None else self.covariance_times(dense(second).T)
        return right if first is None else np.asarray(first @ right)

    def root_times(self, rows: Any) -> None:
        """Not cheap in this form: None."""
        return

    def sample(self, size: int, rng: np.random.Generator) -> np.ndarray:
        """Draws of u, (size, n)."""
        root = covariance_root(self.covariance.full())
        return self.mean + rng.standard_normal((size, root.shape[1])) @ root.T
