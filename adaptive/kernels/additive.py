"""Sums over subsets of the inputs, by degree:  k = sum_d variance_d e_d(z_1, ..., z_D),

e_d the sum over all sets of d inputs of the product of their kernels z_i = exp(-(x_i - x_i')^2 / (2 l_i^2)): degree 1
is an additive model, degree D a product kernel. All e_d follow from the recursion e_d <- e_d + z_i e_(d-1).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from sklearn.gaussian_process.kernels import Hyperparameter, Kernel, StationaryKernelMixin

if TYPE_CHECKING:
    from adaptive.types import ArrayLike, Number

__all__ = ["Additive"]


class Additive(StationaryKernelMixin, Kernel):
    """Additive kernel of squared exponentials, all subsets of up to ``degree`` inputs.

    Parameters
    ----------
    length_scale : float or (D,) array, default 1.0
        One for all inputs, or one each.
    variance : (degree,) array, default [1.0]
        Of each degree; their number is the degree.
    length_scale_bounds, variance_bounds : pair of float or "fixed", default (1e-5, 1e5)

    References
    ----------
    Duvenaud, Nickisch and Rasmussen (2011), Additive Gaussian processes.

    Examples
    --------
    >>> X = np.array([[0.0, 0.0], [1.0, 2.0]])
    >>> Additive(1.0, [1.0, 1.0])(X).round(4)
    array([[3.   , 0.824],
           [0.824, 3.   ]])
    """

    def __init__(
        self,
        length_scale: Number = 1.0,
        variance: ArrayLike = (1.0,),
        length_scale_bounds: tuple[float, float] | str = (1e-5, 1e5),
        variance_bounds: tuple[float, float] | str = (1e-5, 1e5),
    ) -> None:
        self.length_scale = length_scale
        self.variance = variance
        self.length_scale_bounds = length_scale_bounds
        self.variance_bounds = variance_bounds

    @property
    def hyperparameter_length_scale(self) -> Hyperparameter:
        size = np.size(self.length_scale)
        return Hyperparameter(
            "length_scale", "numeric", self.length_scale_bounds, size if np.ndim(self.length_scale) else 1
        )

    @property
    def hyperparameter_variance(self) -> Hyperparameter:
        return Hyperparameter("variance", "numeric", self.variance_bounds, len(np.atleast_1d(self.variance)))

    def __call__(
        self, X: ArrayLike, Y: ArrayLike | None = None, eval_gradient: bool = False
    ) -> np.ndarray | tuple[np.ndarray, np.ndarray]:
        X = np.atleast_2d(X)
        Z = X if Y is None else np.atleast_2d(Y)
        if Y is not None and eval_gradient:
            raise ValueError("Gradient can only be evaluated when Y is None.")
        D = X.shape[1]
        variance, scale = np.atleast_1d(self.variance).astype(float), np.broadcast_to(self.length_scale, (D,))
        degree = len(variance)
        if degree > D:
            raise ValueError(f"variance has {degree} degrees, but the inputs have {D} columns.")
        squares = [((X[:, i, None] - Z[None, :, i]) / scale[i]) ** 2 for i in range(D)]
        base = [np.exp(-0.5 * square) for square in squares]
        e = _elementary(base, degree)
        K = np.tensordot(variance, e[1:], 1)
        if not eval_gradient:
            return K
        parts = []
        if not self.hyperparameter_length_scale.fixed:
            slopes = []
            for i in range(D):  # d e_d / d z_i = e_(d-1) of the others
                others = _elementary(base[:i] + base[i + 1 :], degree - 1)
                slopes.append(np.tensordot(variance, others[:degree], 1) * base[i] * squares[i])
            parts += slopes if np.ndim(self.length_scale) else [np.sum(slopes, axis=0)]
        if not self.hyperparameter_variance.fixed:
            parts += [variance[d] * e[d + 1] for d in range(degree)]
        return K, np.stack(parts, axis=-1) if parts else np.empty((*K.shape, 0))

    def diag(self, X: ArrayLike) -> np.ndarray:
        X = np.atleast_2d(X)
        variance = np.atleast_1d(self.variance).astype(float)
        e = _elementary([np.ones(1)] * X.shape[1], len(variance))
        return np.full(len(X), float(variance @ e[1:, 0]))

    def __repr__(self) -> str:
        scales = ", ".join(f"{x:.3g}" for x in np.atleast_1d(self.length_scale))
        variances = ", ".join(f"{x:.3g}" for x in np.atleast_1d(self.variance))
        return f"Additive(length_scale=[{scales}], variance=[{variances}])"


def _elementary(base: list[np.ndarray], degree: int) -> np.ndarray:
    """e_0, ..., e_degree of the entries of ``base``; all terms are positive, so nothing cancels."""
    shape = base[0].shape if base else (1,)
    e = np.zeros((degree + 1, *shape))
    e[0] = 1.0
    for z in base:
        for d in range(degree, 0, -1):
            e[d] += z * e[d - 1]
    return e
