"""The covariance of an infinitely wide network of error functions (the arcsine kernel).

    k(x, z) = arcsin( S / sqrt((1 + S_xx)(1 + S_zz)) ),    S = (1 + x.z) / length_scale^2.

Not stationary: functions level off far from the origin. Multiply by a ConstantKernel for another height.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from sklearn.gaussian_process.kernels import Hyperparameter, Kernel

if TYPE_CHECKING:
    from adaptive.types import ArrayLike

__all__ = ["NeuralNetwork"]


class NeuralNetwork(Kernel):
    """Arcsine kernel: (pi/2) E[erf(w.(1, x)) erf(w.(1, z))] with w ~ N(0, I / (2 length_scale^2)).

    Parameters
    ----------
    length_scale : float, default 1.0
        Small: steep units.
    length_scale_bounds : pair of float or "fixed", default (1e-5, 1e5)

    References
    ----------
    Williams (1998), Computation with infinite neural networks; Rasmussen and Williams (2006), equation 4.29.

    Examples
    --------
    >>> K = NeuralNetwork(1.0)(np.array([[0.0], [1.0]]))
    >>> K.round(4)
    array([[0.5236, 0.4205],
           [0.4205, 0.7297]])
    """

    def __init__(self, length_scale: float = 1.0, length_scale_bounds: tuple[float, float] | str = (1e-5, 1e5)) -> None:
        self.length_scale = length_scale
        self.length_scale_bounds = length_scale_bounds

    @property
    def hyperparameter_length_scale(self) -> Hyperparameter:
        return Hyperparameter("length_scale", "numeric", self.length_scale_bounds)

    def __call__(
        self, X: ArrayLike, Y: ArrayLike | None = None, eval_gradient: bool = False
    ) -> np.ndarray | tuple[np.ndarray, np.ndarray]:
        X = np.atleast_2d(X)
        Z = X if Y is None else np.atleast_2d(Y)
        if Y is not None and eval_gradient:
            raise ValueError("Gradient can only be evaluated when Y is None.")
        scale = self.length_scale**2
        S = (1.0 + X @ Z.T) / scale
        a = 1.0 + (1.0 + np.einsum("ij,ij->i", X, X)) / scale
        b = a if Y is None else 1.0 + (1.0 + np.einsum("ij,ij->i", Z, Z)) / scale
        root = np.sqrt(a[:, None] * b)
        cosine = np.clip(S / root, -1.0, 1.0)
        K = np.arcsin(cosine)
        if not eval_gradient:
            return K
        if self.hyperparameter_length_scale.fixed:
            return K, np.empty((*K.shape, 0))
        # d cosine / d ln l = -(2 S - S (a - 1)/a - S (b - 1)/b) / root
        shrink = S * (2.0 - ((a - 1.0) / a)[:, None] - (b - 1.0) / b) / root
        return K, (-shrink / np.sqrt(np.maximum(1.0 - cosine**2, 1e-300)))[:, :, None]

    def diag(self, X: ArrayLike) -> np.ndarray:
        X = np.atleast_2d(X)
        inner = (1.0 + np.einsum("ij,ij->i", X, X)) / self.length_scale**2
        return np.arcsin(inner / (1.0 + inner))

    def is_stationary(self) -> bool:
        return False

    def __repr__(self) -> str:
        return f"NeuralNetwork(length_scale={self.length_scale:.3g})"
