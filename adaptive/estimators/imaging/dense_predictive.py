"""Exact predictive of blocks of several measurements by a dense posterior: log|I + X Cov X' / noise|.

    K = covariance of the rows of all blocks;  after block i:  K - K_i (K_ii + noise I)^-1 K_i'

Blocks of one row each are `GaussianProjections`, which know more.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
import scipy.linalg

from adaptive.inference import Posterior
from adaptive.operators import Operator, RealStacked
from adaptive.potentials import Gaussian
from adaptive.predictive import Predictive, StatedPredictive
from adaptive.predictive.joint_gaussian import pivoted_root

if TYPE_CHECKING:
    from adaptive.types import ArrayLike

__all__ = ["DenseBlockPredictive", "real_rows"]


def real_rows(operator: Operator) -> np.ndarray:
    """The matrix of an operator on a real latent; complex rows as Re above Im."""
    real = RealStacked(operator) if operator.dtype.kind == "c" else operator
    m, n = real.shape
    if m >= n:
        return real.to_dense()
    return real.adjoint(np.eye(m).reshape(m, *real.output_shape)).reshape(m, n)


class DenseBlockPredictive(Predictive):
    """Predictive of m candidate blocks, jointly Gaussian, by their exact covariance.

    Parameters
    ----------
    posterior : Posterior
        Over the image.
    operators : list of Operator
        The blocks, on the latent of the posterior.
    noise_variance : float
        Per real component.
    covariance : array, optional
        Of the rows of all blocks; default that of the posterior.
    """

    def __init__(
        self,
        posterior: Posterior,
        operators: Sequence[Operator],
        noise_variance: float,
        covariance: np.ndarray | None = None,
    ):
        self.posterior, self.operators, self.noise_variance = posterior, list(operators), noise_variance
        self.likelihood = Gaussian(noise_variance)
        sizes = [block.shape[0] * (2 if block.dtype.kind == "c" else 1) for block in self.operators]
        self._slices = [slice(a, b) for a, b in pairwise(np.cumsum([0, *sizes]))]
        if covariance is not None:
            self.__dict__["_joint"] = covariance
        super().__init__(len(self.operators))

    @cached_property
    def _joint(self) -> np.ndarray:
        rows = np.concatenate([real_rows(block) for block in self.operators])
        return self.posterior.projection_covariance(rows)

    def _own(self, i: int) -> np.ndarray:
        """Covariance of the rows of block i alone."""
        if "_joint" in self.__dict__:
            return self._joint[self._slices[i], self._slices[i]]
        return self.posterior.projection_covariance(real_rows(self.operators[i]))

    def log_determinant(self) -> tuple[np.ndarray, np.ndarray]:
        """log|I + Cov / noise| of every candidate, and standard errors: zeros."""
        return self._scores, np.zeros(len(self))

    @cached_property
    def _scores(self) -> np.ndarray:
        blocks = (self._own(i) / self.noise_variance for i in range(len(self)))
        return np.array([np.linalg.slogdet(np.eye(len(block)) + block)[1] for block in blocks])

    def refined(self, positions: ArrayLike) -> StatedPredictive:
        """The candidates at ``positions``: as they are, exact already."""
        values = self._scores[np.asarray(positions)]
        return StatedPredictive(len(values), log_determinant=lambda: (values, np.zeros_like(values)))

    def covariance(self, i: ArrayLike, j: ArrayLike) -> np.ndarray:
        """Covariance of the samples of blocks ``i`` and ``j``, stacked; real parts of a block, then imaginary ones."""
        first, second = (np.concatenate([self._rows(k) for k in np.atleast_1d(one)]) for one in (i, j))
        return self._joint[np.ix_(first, second)]

    def whitened(self) -> np.ndarray:
        root = pivoted_root(self._joint / self.noise_variance)
        longest = max(where.stop - where.start for where in self._slices)
        rows = np.zeros((len(self), longest, root.shape[1]))
        for i, where in enumerate(self._slices):
            rows[i, : where.stop - where.start] = root[where]
        return rows

    def _rows(self, i: int) -> np.ndarray:
        where = self._slices[i]
        return np.arange(where.start, where.stop)

    def given(self, i: int, outcome: object = None) -> DenseBlockPredictive:
        """The belief had block ``i`` been measured; what came back does not matter to a Gaussian."""
        columns = self._joint[:, self._slices[i]]
        own = self._joint[self._slices[i], self._slices[i]] + self.noise_variance * np.eye(columns.shape[1])
        root = scipy.linalg.solve_triangular(np.linalg.cholesky(own), columns.T, lower=True)
        return DenseBlockPredictive(self.posterior, self.operators, self.noise_variance, self._joint - root.T @ root)
