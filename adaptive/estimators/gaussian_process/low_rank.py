"""A kernel matrix by a few of its rows, the pivots P, with its diagonal kept exact:

    K ~ V V' + diag(k(x, x) - |v(x)|^2),    v(x) = L^-1 k(P, x),    L L' = k(P, P).

That is the Nystroem approximation on the pivots; incomplete Cholesky decomposition is the same matrix, pivots chosen
one after the other, each where the diagonal that remains is largest. An input costs r kernel values.

References
----------
Fine and Scheinberg (2001), Efficient SVM training using low-rank kernel representations; Williams and Seeger (2001),
Using the Nystroem method to speed up kernel machines; Snelson and Ghahramani (2006), for the diagonal.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.linalg

from adaptive.estimators.gaussian_process.latent_process import LatentProcess
from adaptive.linalg import LowRankCovariance

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from sklearn.gaussian_process.kernels import Kernel

    from adaptive.types import Inputs, Number

__all__ = ["Basis", "LowRank", "LowRankProcess", "kernel_gradient"]

_LEFT = 1e-10  # of the mean prior variance: pivoting stops where no more than this remains anywhere
_JITTERS = (1e-10, 1e-8, 1e-6)  # of the same, on the diagonal of k(P, P); a larger one where a smaller does not do
_STEP = 1e-4  # in the logarithms of kernel parameters, of central differences


@dataclass(frozen=True)
class LowRank:
    """A way to find pivots.

    Attributes
    ----------
    rank : int
        At most that many.
    method : "incomplete_cholesky" or "nystroem"
        By pivoting, or uniformly at random.
    seed : int
        Of the random ones.
    """

    rank: int
    method: str
    seed: int = 0

    def pivots(self, kernel: Kernel, X: Inputs) -> np.ndarray:
        """Positions of the pivots among the rows of X."""
        rank = min(self.rank, len(X))
        if self.method == "nystroem":
            return np.sort(np.random.default_rng(self.seed).permutation(len(X))[:rank])
        left = kernel.diag(X) - white_noise(kernel, X)
        least = _LEFT * float(np.mean(left))
        root, chosen = np.empty((len(X), rank)), []
        for k in range(rank):
            pivot = int(np.argmax(left))
            if not left[pivot] > least:
                break
            column = kernel(X, subset(X, [pivot]))[:, 0] - root[:, :k] @ root[pivot, :k]
            root[:, k] = column / np.sqrt(left[pivot])
            left = np.maximum(left - root[:, k] ** 2, 0.0)
            left[pivot] = 0.0
            chosen.append(pivot)
        return np.array(chosen or [0])


class Basis:
    """The features v(x) that the pivots make.

    Parameters
    ----------
    kernel : kernel
    P : the pivots, (r, D) array or list of what the kernel takes
    """

    def __init__(self, kernel: Kernel, P: Inputs) -> None:
        self.kernel, self.P = kernel, P
        values = kernel(P, P)
        if not np.isfinite(values).all():
            raise ValueError(f"kernel {kernel} gives values at X that are not finite.")
        for jitter in _JITTERS:
            try:
                self.factor = np.linalg.cholesky(values + jitter * np.mean(values.diagonal()) * np.eye(len(values)))
                return
            except np.linalg.LinAlgError:
                continue
        raise ValueError(f"the kernel matrix of {kernel} at {len(values)} pivots of X is not positive definite.")

    def __call__(self, X: Inputs) -> np.ndarray:
        """v(x) of every row, (m, r)."""
        cross = self.kernel(X, self.P)
        return scipy.linalg.solve_triangular(self.factor, cross.T, lower=True, overwrite_b=True).T

    def covariance(self, X: Inputs, extra: Number) -> LowRankCovariance:
        """Covariance of the latents at X; ``extra`` is added to the diagonal."""
        root, variance = self(X), self.kernel.diag(X)
        if not (np.isfinite(root).all() and np.isfinite(variance).all()):
            raise ValueError(f"kernel {self.kernel} gives values at X that are not finite.")
        left = np.maximum(variance - np.einsum("ij,ij->i", root, root), 0.0)
        return LowRankCovariance(root, left + extra)


def kernel_gradient(
    basis: Basis, X: Inputs, along: Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]
) -> np.ndarray:
    """Derivatives of a function of that covariance in theta, the pivots fixed.

    The covariance is Q + diag(k - diag Q), Q = K_nP B with B = K_PP^-1 K_Pn, and dQ = dK_nP B + B' dK_Pn - B' dK_PP B;
    the kernel's own derivatives are central differences of n r values, since scikit-learn has none between two sets.

    Parameters
    ----------
    basis : Basis
    X : (n, D) inputs
    along : callable (n, r) -> (n, r) array and (n,) array
        The function's derivative in every entry, S (n, n), times columns, and its diagonal.
    """
    kernel = basis.kernel
    back = np.ascontiguousarray(
        scipy.linalg.solve_triangular(basis.factor, basis(X).T, lower=True, trans="T", overwrite_b=True).T
    )  # B'
    by_cross, by_diagonal = along(back)
    by_cross = by_cross - by_diagonal[:, None] * back
    by_pivots = back.T @ by_cross
    theta, gradient = kernel.theta, np.empty(len(kernel.theta))
    for k, step in enumerate(_STEP * np.eye(len(theta))):
        value = 0.0
        for side in (1.0, -1.0):
            moved = kernel.clone_with_theta(theta + side * step)
            part = 2.0 * np.vdot(by_cross, moved(X, basis.P)) - np.vdot(by_pivots, moved(basis.P, basis.P))
            value += side * float(part + by_diagonal @ moved.diag(X))
        gradient[k] = value / (2.0 * _STEP)
    return gradient


@dataclass(frozen=True)
class LowRankProcess(LatentProcess):
    """Belief about a latent function of low rank, in r kernel values per input:

    E f(x) = m(x) + v(x) . z,    Cov(f(x), f(y)) = k(x, y) - v(x) . v(y) + v(x) A^-1 v(y).
    """

    basis: Any = None

    def moments(self, X: Inputs) -> tuple[np.ndarray, np.ndarray]:
        form, features = self.posterior.gaussian, self.basis(X)
        left = self.kernel.diag(X) - self.noise - np.einsum("ij,ij->i", features, features)
        half = features @ form.half_inverse.T
        return self.mean(X) + features @ form.basis_mean, np.maximum(left, 0.0) + np.einsum("ij,ij->i", half, half)

    def covariance(self, X: Inputs, Z: Inputs) -> np.ndarray:
        half = self.posterior.gaussian.half_inverse
        left = self.basis(X)
        right = left if Z is X else self.basis(Z)
        prior = np.asarray(self.kernel(X) if Z is X else self.kernel(X, Z))
        return prior - left @ right.T + (left @ half.T) @ (right @ half.T).T

    def along(self, X: Inputs, weights: np.ndarray) -> np.ndarray:
        return self.basis(X) @ (self.basis(self.X).T @ weights)


def subset(X: Inputs, rows: np.ndarray | Sequence[int]) -> Inputs:
    """Some of the inputs, which may be a list."""
    return X[rows] if isinstance(X, np.ndarray) else [X[k] for k in rows]


def white_noise(kernel: Kernel, X: Inputs) -> float:
    """The noise that the kernel itself adds to every observation (a WhiteKernel): k(x, x) less k(x, copy of x)."""
    first = X[:1]
    return max(float(kernel.diag(first)[0] - kernel(first, first)[0, 0]), 0.0)
