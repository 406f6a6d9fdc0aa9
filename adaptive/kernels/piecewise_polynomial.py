"""Kernels of finite support (Wendland's): exactly zero beyond the length scale, so that covariances may be sparse.

    k(r) = max(0, 1 - r)^(j + q) p_q(r),    r = |x - z| / length_scale,    j = floor(D / 2) + q + 1,

positive definite in up to D dimensions and 2 q times differentiable.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse
from scipy.spatial import cKDTree
from scipy.spatial.distance import cdist
from sklearn.gaussian_process.kernels import Hyperparameter, Kernel, NormalizedKernelMixin, StationaryKernelMixin

from adaptive import checks

if TYPE_CHECKING:
    from adaptive.types import ArrayLike

__all__ = ["PiecewisePolynomial"]


class PiecewisePolynomial(StationaryKernelMixin, NormalizedKernelMixin, Kernel):
    """Wendland's piecewise polynomial with finite support.

    Parameters
    ----------
    length_scale : float, default 1.0
        Distance at which the covariance becomes zero.
    smoothness : {0, 1, 2, 3}, default 2
        q: functions have q derivatives in mean square.
    length_scale_bounds : pair of float or "fixed", default (1e-5, 1e5)

    References
    ----------
    Wendland (2005), Scattered data approximation; Rasmussen and Williams (2006), equation 4.21.

    Examples
    --------
    >>> kernel = PiecewisePolynomial(1.0, smoothness=1)
    >>> kernel(np.array([[0.0]]), np.array([[0.5], [1.0]])).round(4)
    array([[0.3125, 0.    ]])
    >>> kernel.sparse(np.arange(5.0)[:, None] / 2).nnz
    13
    """

    def __init__(
        self,
        length_scale: float = 1.0,
        smoothness: int = 2,
        length_scale_bounds: tuple[float, float] | str = (1e-5, 1e5),
    ) -> None:
        self.length_scale = length_scale
        self.smoothness = smoothness
        self.length_scale_bounds = length_scale_bounds

    @property
    def hyperparameter_length_scale(self) -> Hyperparameter:
        return Hyperparameter("length_scale", "numeric", self.length_scale_bounds)

    def __call__(
        self, X: ArrayLike, Y: ArrayLike | None = None, eval_gradient: bool = False
    ) -> np.ndarray | tuple[np.ndarray, np.ndarray]:
        X = np.atleast_2d(X)
        if Y is not None and eval_gradient:
            raise ValueError("Gradient can only be evaluated when Y is None.")
        r = cdist(X, X if Y is None else np.atleast_2d(Y)) / self.length_scale
        value, slope = self._radial(r, X.shape[1])
        if not eval_gradient:
            return value
        if self.hyperparameter_length_scale.fixed:
            return value, np.empty((*value.shape, 0))
        return value, (-r * slope)[:, :, None]

    def sparse(self, X: ArrayLike, Y: ArrayLike | None = None) -> sparse.csr_array:
        """The covariance as a sparse matrix, without looking at pairs farther apart than the length scale."""
        X = np.atleast_2d(X)
        Y = X if Y is None else np.atleast_2d(Y)
        found = cKDTree(X).sparse_distance_matrix(cKDTree(Y), self.length_scale, output_type="coo_matrix")
        value, _ = self._radial(found.data / self.length_scale, X.shape[1])
        matrix = sparse.csr_array((value, (found.row, found.col)), shape=found.shape)
        matrix.eliminate_zeros()
        return matrix

    def _radial(self, r: np.ndarray, dimensions: int) -> tuple[np.ndarray, np.ndarray]:
        """The kernel as a function of the scaled distance, and its derivative."""
        q = checks.integer("smoothness", self.smoothness, minimum=0)
        if q > 3:
            raise ValueError(f"smoothness must be 0, 1, 2 or 3, got {q}.")
        j = dimensions // 2 + q + 1
        polynomial = [
            [1.0],
            [1.0, j + 1.0],
            [1.0, j + 2.0, (j**2 + 4 * j + 3) / 3.0],
            [1.0, j + 3.0, (6 * j**2 + 36 * j + 45) / 15.0, (j**3 + 9 * j**2 + 23 * j + 15) / 15.0],
        ][q]
        p = np.polynomial.Polynomial(polynomial)
        left = np.maximum(1.0 - r, 0.0)
        value = left ** (j + q) * p(r)
        slope = left ** (j + q) * p.deriv()(r) - (j + q) * left ** (j + q - 1) * p(r)
        return value, np.where(left > 0, slope, 0.0)

    def __repr__(self) -> str:
        return f"PiecewisePolynomial(length_scale={self.length_scale:.3g}, smoothness={self.smoothness})"
