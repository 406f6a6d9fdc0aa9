"""Gaussian posteriors of orthonormal wavelet coefficients s = W u, at given precisions pi of their prior.

    A = W X'X W' / noise + diag(pi),     mean = A^-1 W X'y / noise,     variances = diag(A^-1)

Where X is a multiple of an orthonormal matrix everything is a division. Else means come from conjugate gradients in
the domain of the coefficients, whose preconditioner, the mean of X'X / noise plus pi, costs nothing there, and
variances from a Cholesky factor, or from samples with that preconditioner as control variate:

    c = A^-1 g,   c' = M^-1 g,   E c c' = 1 / M    (`linalg.controlled_variance`).
"""

from __future__ import annotations

import warnings
from functools import cached_property

import numpy as np
import scipy.linalg
from sklearn.exceptions import ConvergenceWarning

from adaptive.linalg import Perturbations, PrecisionOperator, conjugate_gradients
from adaptive.linalg.control_variates import controlled_variance
from adaptive.operators import Diagonal, Identity, Operator, Product, Scaled, Wavelet

__all__ = ["Coefficients", "DenseCoefficients", "DirectCoefficients", "Synthesis", "direct_gain"]

_TRACE_PROBES = 8
_LEAST_VARIANCE = 0.1  # of its standard error: a variance of zero would never rise again
MAX_ITER = 300  # products of one solve: the next starts where it stopped


class Synthesis(Operator):
    """W': from coefficients of an orthonormal wavelet to the image.

    Parameters
    ----------
    wavelet : Wavelet

    Examples
    --------
    >>> W = Wavelet((4, 4), "haar")
    >>> bool(np.allclose(Synthesis(W).forward(W.forward(np.eye(4))), np.eye(4)))
    True
    """

    def __init__(self, wavelet: Wavelet):
        super().__init__(wavelet.output_shape, wavelet.input_shape)
        self.wavelet = wavelet

    def _forward(self, u: np.ndarray) -> np.ndarray:
        return self.wavelet._adjoint(u)

    def _adjoint(self, v: np.ndarray) -> np.ndarray:
        return self.wavelet._forward(v)


def direct_gain(X: Operator) -> float | None:
    """c where X'X = c I, None where it is not known to be so."""
    if isinstance(X, (Identity, Wavelet)):
        return 1.0
    if isinstance(X, Diagonal):
        power = np.abs(X.entries) ** 2
        return float(power.flat[0]) if np.ptp(power) == 0 else None
    if isinstance(X, Scaled) and np.ndim(X.factor) == 0:
        inner = direct_gain(X.operator)
        return None if inner is None else float(abs(X.factor) ** 2 * inner)
    return None


class DirectCoefficients:
    """Everything in closed form, where X'X = gain I.

    Parameters
    ----------
    right : array (n,)
        W X'y / noise.
    precision : float
        gain / noise.
    """

    exact, direct, samples = True, True, None

    def __init__(self, right: np.ndarray, precision: float):
        self.right, self.precision, self.n_products = right, precision, 0

    def weigh(self, pi: np.ndarray) -> None:
        """Set the precisions of the prior."""
        self.pi = pi

    def solve(self, start: np.ndarray, tol: float = 0.0) -> np.ndarray:
        """The mean at these precisions."""
        return self.right / (self.precision + self.pi)

    def fit(self, s: np.ndarray) -> float:
        """(|y - X W's|^2 - |y|^2) / noise."""
        return self.precision * float(s @ s) - 2 * float(self.right @ s)

    def solved(self, right: np.ndarray, tol: float, start: np.ndarray | None = None) -> np.ndarray:
        """A^-1 of many right-hand sides (b, *shape)."""
        return (right / (self.precision + self.pi).reshape(right.shape[1:])).astype(right.dtype)

    def variances(self) -> np.ndarray:
        return 1.0 / (self.precision + self.pi)

    def log_determinant(self) -> float:
        return float(np.log(self.precision + self.pi).sum())


class Coefficients:
    """By products: conjugate gradients and samples.

    Parameters
    ----------
    X : Operator
        Measurements of the image.
    noise_variance : float
    wavelet : Wavelet
    right : array (n,)
        W X'y / noise.
    perturbations : Perturbations
        The random numbers of the samples.
    samples : array (n_samples, *shape), optional
        Of the coefficients, where the first solves start.
    sample_tol : float
        Relative residual of the samples.
    """

    exact, direct = False, False

    def __init__(
        self,
        X: Operator,
        noise_variance: float,
        wavelet: Wavelet,
        right: np.ndarray,
        perturbations: Perturbations,
        samples: np.ndarray | None = None,
        sample_tol: float = 2e-2,
    ):
        self.system = PrecisionOperator(
            Product(X, Synthesis(wavelet)), noise_variance, B=Identity(wavelet.output_shape), site_precision=1.0
        )
        self.right, self.perturbations, self.dtype = right, perturbations, perturbations.dtype
        self.samples, self.sample_tol = samples, sample_tol
        self.mean_precision = _mean_eigenvalue(X) / noise_variance

    @property
    def n_products(self) -> int:
        return self.system.n_products

    def weigh(self, pi: np.ndarray) -> None:
        """Set the precisions of the prior."""
        self.pi = pi
        self.system = self.system.with_sites(pi)
        self._inverse = (1.0 / (pi + self.mean_precision)).reshape(self.system.input_shape)

    def solve(self, start: np.ndarray, tol: float = 1e-2) -> np.ndarray:
        """The mean at these precisions, the residual at the start reduced to a share ``tol``."""
        u = start.reshape(1, *self.system.input_shape).astype(self.dtype)
        residual = self.right.reshape(u.shape).astype(self.dtype) - self.system.apply(u)
        return (u + self.solved(residual, tol)).astype(float).ravel()

    def fit(self, s: np.ndarray) -> float:
        """(|y - X W's|^2 - |y|^2) / noise."""
        product = self.system.apply(s.reshape(1, *self.system.input_shape)).ravel() - self.pi * s
        return float(s @ product) - 2 * float(self.right @ s)

    def solved(self, right: np.ndarray, tol: float, start: np.ndarray | None = None) -> np.ndarray:
        """A^-1 of many right-hand sides (b, *shape)."""
        inverse = self._inverse.astype(right.dtype)
        with warnings.catch_warnings():  # rounding may stop a reduction; the change of the mean tells what it is worth
            warnings.simplefilter("ignore", ConvergenceWarning)
            return conjugate_gradients(
                self.system.apply,
                right,
                start=start,
                preconditioner=lambda r: r * inverse,
                norm="preconditioned",
                tol=tol,
                max_iter=MAX_ITER,
            ).x

    def variances(self) -> np.ndarray:
        """From samples that keep their random numbers and start from those at the precisions before."""
        right = self.perturbations.right_hand_sides(self.system)
        inverse = self._inverse.astype(right.dtype)
        start = right * inverse if self.samples is None else self.samples
        self.samples = self.solved(right, self.sample_tol, start)
        flat, control = self.samples.reshape(len(right), -1), (right * inverse).reshape(len(right), -1)
        value, error = controlled_variance(flat, control, self._inverse.ravel())
        most = 1.0 / self.pi
        return np.clip(value, np.minimum(_LEAST_VARIANCE * error, most), most)


class DenseCoefficients(Coefficients):
    """Means, variances and determinant from a Cholesky factor: exact, for a few thousand coefficients.

    Parameters are those of `Coefficients`.
    """

    exact = True

    _factor: np.ndarray | None = None

    @cached_property
    def _measured(self) -> np.ndarray:
        return self.system.with_sites(0.0).to_dense()

    def weigh(self, pi: np.ndarray) -> None:
        super().weigh(pi)
        self._factor = None

    def solve(self, start: np.ndarray, tol: float = 0.0) -> np.ndarray:
        return super().solve(start, tol) if tol else scipy.linalg.cho_solve((self.factor, True), self.right)

    @property
    def factor(self) -> np.ndarray:
        if self._factor is None:
            matrix = self._measured.copy()
            matrix.flat[:: len(matrix) + 1] += self.pi
            self._factor = scipy.linalg.cholesky(matrix, lower=True, overwrite_a=True)
        return self._factor

    def variances(self) -> np.ndarray:
        inverse, info = scipy.linalg.lapack.dpotri(self.factor, lower=1)
        assert info == 0
        return np.diagonal(inverse).copy()

    def log_determinant(self) -> float:
        return 2 * float(np.log(np.diagonal(self.factor)).sum())


def _mean_eigenvalue(X: Operator) -> float:
    """tr(X'X) / n, by a few random signs where the operator does not know it."""
    spectrum = X.normal_spectrum()
    if spectrum is not None:
        return max(float(np.mean(spectrum)), np.finfo(float).tiny)
    signs = np.random.default_rng(0).choice([-1.0, 1.0], (_TRACE_PROBES, *X.input_shape))
    return max(float(np.mean(np.abs(X.forward(signs)) ** 2)) * X.shape[0] / X.shape[1], np.finfo(float).tiny)
