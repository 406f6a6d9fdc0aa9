"""A kernel that sees some of the inputs only:  k(x, z) = inner(x_I, z_I)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.gaussian_process.kernels import Kernel

if TYPE_CHECKING:
    from adaptive.types import ArrayLike

__all__ = ["Masked"]


class Masked(Kernel):
    """A kernel on chosen columns of the inputs.

    Parameters
    ----------
    kernel : Kernel
        An anisotropic one has as many length scales as there are columns.
    columns : sequence of int or of bool
        I.

    References
    ----------
    Rasmussen and Nickisch (2010), Gaussian processes for machine learning (GPML) toolbox.

    Examples
    --------
    >>> from sklearn.gaussian_process.kernels import RBF
    >>> X = np.array([[0.0, 5.0], [0.0, 9.0]])
    >>> Masked(RBF(), [0])(X)
    array([[1., 1.],
           [1., 1.]])
    """

    def __init__(self, kernel: Kernel, columns: Sequence[int] | Sequence[bool]) -> None:
        self.kernel = kernel
        self.columns = columns

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        params = {"kernel": self.kernel, "columns": self.columns}
        if deep:
            params |= {f"kernel__{name}": value for name, value in self.kernel.get_params().items()}
        return params

    @property
    def hyperparameters(self) -> list:
        return [type(h)(f"kernel__{h.name}", *h[1:]) for h in self.kernel.hyperparameters]

    @property
    def theta(self) -> np.ndarray:
        return self.kernel.theta

    @theta.setter
    def theta(self, theta: np.ndarray) -> None:
        self.kernel.theta = theta

    @property
    def bounds(self) -> np.ndarray:
        return self.kernel.bounds

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self.kernel == other.kernel and list(self.columns) == list(other.columns)

    def _seen(self, X: ArrayLike | None) -> np.ndarray | None:
        return None if X is None else np.atleast_2d(X)[:, np.asarray(self.columns)]

    def __call__(
        self, X: ArrayLike, Y: ArrayLike | None = None, eval_gradient: bool = False
    ) -> np.ndarray | tuple[np.ndarray, np.ndarray]:
        return self.kernel(self._seen(X), self._seen(Y), eval_gradient=eval_gradient)

    def diag(self, X: ArrayLike) -> np.ndarray:
        return self.kernel.diag(self._seen(X))

    def is_stationary(self) -> bool:
        return self.kernel.is_stationary()

    def __repr__(self) -> str:
        return f"Masked({self.kernel!r}, {list(self.columns)})"
