"""Multiple kernel learning:  k = sum_j weight_j k_j,  the k_j fixed, their weights fitted."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from sklearn.gaussian_process.kernels import Hyperparameter, Kernel

if TYPE_CHECKING:
    from adaptive.types import ArrayLike

__all__ = ["WeightedSum"]


class WeightedSum(Kernel):
    """Positive combination of fixed kernels.

    Parameters
    ----------
    kernels : sequence of Kernel
        Their own hyper-parameters are not fitted.
    weight : (k,) array, optional
        Default ones.
    weight_bounds : pair of float or "fixed", default (1e-5, 1e5)

    References
    ----------
    Lanckriet et al. (2004), Learning the kernel matrix with semidefinite programming; Nickisch (2010), section 4.12.

    Examples
    --------
    >>> from sklearn.gaussian_process.kernels import RBF, DotProduct
    >>> kernel = WeightedSum([RBF(1.0), RBF(10.0)], [1.0, 0.5])
    >>> kernel(np.zeros((1, 1)))
    array([[1.5]])
    """

    def __init__(
        self,
        kernels: Sequence[Kernel],
        weight: ArrayLike | None = None,
        weight_bounds: tuple[float, float] | str = (1e-5, 1e5),
    ) -> None:
        self.kernels = kernels
        self.weight = weight
        self.weight_bounds = weight_bounds

    @property
    def _weights(self) -> np.ndarray:
        return (
            np.ones(len(self.kernels)) if self.weight is None else np.atleast_1d(np.asarray(self.weight, dtype=float))
        )

    @property
    def hyperparameter_weight(self) -> Hyperparameter:
        return Hyperparameter("weight", "numeric", self.weight_bounds, len(self.kernels))

    @property
    def theta(self) -> np.ndarray:
        return np.empty(0) if self.hyperparameter_weight.fixed else np.log(self._weights)

    @theta.setter
    def theta(self, theta: np.ndarray) -> None:
        if not self.hyperparameter_weight.fixed:
            self.weight = np.exp(theta)

    def __call__(
        self, X: ArrayLike, Y: ArrayLike | None = None, eval_gradient: bool = False
    ) -> np.ndarray | tuple[np.ndarray, np.ndarray]:
        if Y is not None and eval_gradient:
            raise ValueError("Gradient can only be evaluated when Y is None.")
        parts = [w * kernel(X, Y) for w, kernel in zip(self._weights, self.kernels, strict=True)]
        K = np.sum(parts, axis=0)
        if not eval_gradient:
            return K
        return K, np.empty((*K.shape, 0)) if self.hyperparameter_weight.fixed else np.stack(parts, axis=-1)

    def diag(self, X: ArrayLike) -> np.ndarray:
        return np.sum([w * kernel.diag(X) for w, kernel in zip(self._weights, self.kernels, strict=True)], axis=0)

    def is_stationary(self) -> bool:
        return all(kernel.is_stationary() for kernel in self.kernels)

    def __repr__(self) -> str:
        return " + ".join(f"{w:.3g} * {kernel!r}" for w, kernel in zip(self._weights, self.kernels, strict=True))
