"""Measurements as least squares on wavelet coefficients: precision, right-hand side, first guess.

The first guess is the image of least norm about a constant that explains the data: the data themselves where all pixels
were measured, missing pixels at the mean of the others.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from adaptive.checks import choice, finite, generator
from adaptive.estimators.imaging.trees.coefficients import (
    Coefficients,
    DenseCoefficients,
    DirectCoefficients,
    direct_gain,
)
from adaptive.inference.matrix_free.large_posterior import LargePosterior
from adaptive.linalg import Perturbations, PrecisionOperator, conjugate_gradients
from adaptive.operators import Operator, Reshaped, Wavelet, as_operator

if TYPE_CHECKING:
    from adaptive.estimators.imaging.trees.tree_posterior import TreePosterior
    from adaptive.types import ArrayLike, DType, RandomState, Rows

__all__ = ["GaussianProblem", "gaussian_problem"]

VARIANCES = ("exact", "sampled")
LARGEST_EXACT = 1024  # coefficients up to which variances are exact without being asked for
_LARGEST_DENSE = 8192
_GUESS_TOL, _GUESS_STEPS = 1e-2, 30  # of the first guess


@dataclass(frozen=True)
class GaussianProblem:
    """Measurements of an image whose wavelet coefficients have a prior.

    Attributes
    ----------
    system : PrecisionOperator
        Of images: X'X / noise, and the wavelet as projections.
    wavelet : Wavelet
    y : array or None
        Of the operator's output shape.
    perturbations : Perturbations
        The random numbers of samples.
    """

    system: PrecisionOperator
    wavelet: Wavelet
    y: np.ndarray | None
    perturbations: Perturbations

    @property
    def measured(self) -> bool:
        return self.y is not None

    @property
    def measurements(self) -> int:
        """Real numbers that were measured."""
        return 0 if self.y is None else self.y.size * (2 if self.y.dtype.kind == "c" else 1)

    @cached_property
    def energy(self) -> float:
        """|y|^2 / noise."""
        return 0.0 if self.y is None else float(np.sum(np.abs(self.y) ** 2)) / self.system.noise_variance

    def image(self, s: np.ndarray) -> np.ndarray:
        """From coefficients (n,) to pixels (n,)."""
        return self.wavelet.adjoint(s.reshape(self.wavelet.output_shape)).ravel()

    def of_image(self, u: np.ndarray) -> np.ndarray:
        """The reverse of `image`."""
        return self.wavelet.forward(np.asarray(u, float).reshape(self.wavelet.input_shape)).ravel()

    def _back(self, values: np.ndarray) -> np.ndarray:
        X = self.system.X
        assert X is not None
        return np.ascontiguousarray(X.adjoint(values).real)

    def first_guess(self) -> np.ndarray:
        """Coefficients of the image described above."""
        X = self.system.X
        if X is None or self.y is None:
            return np.zeros(self.system.n)
        ones = X.forward(np.ones(X.input_shape))
        seen = float(np.sum(np.abs(ones) ** 2))
        mean = float(np.sum((ones.conj() * self.y).real)) / seen if seen > 0 else 0.0
        missing = self.y - mean * ones
        with warnings.catch_warnings():  # a guess
            warnings.simplefilter("ignore", ConvergenceWarning)
            least = conjugate_gradients(
                lambda v: X.forward(X.adjoint(v)), missing[None], tol=_GUESS_TOL, max_iter=_GUESS_STEPS
            ).x[0]
        return self.of_image(mean + self._back(least))

    def coefficients(
        self, variances: str | None, sample_tol: float, warm: TreePosterior | None
    ) -> DirectCoefficients | Coefficients:
        """The same problem on the coefficients, with exact or sampled variances."""
        X, noise = self.system.X, self.system.noise_variance
        if variances is not None:
            choice("variances", variances, VARIANCES)
        right = np.zeros(self.system.n) if self.y is None else self.of_image(self._back(self.y)) / noise
        gain = 0.0 if X is None else direct_gain(X)
        if gain is not None:
            return DirectCoefficients(right, gain / noise)
        exact = variances == "exact" or (variances is None and self.system.n <= LARGEST_EXACT)
        if exact and self.system.n > _LARGEST_DENSE:
            raise ValueError(
                f'variances="exact" of {self.system.n} coefficients would take a matrix of '
                f'{8e-9 * self.system.n**2:.1f} GB; above {_LARGEST_DENSE} use "sampled".'
            )
        samples = None if warm is None else warm.coefficient_samples
        if samples is not None and (samples.dtype != self.perturbations.dtype or exact):
            samples = None
        kind = DenseCoefficients if exact else Coefficients
        assert X is not None
        return kind(X, noise, self.wavelet, right, self.perturbations, samples, sample_tol)


def gaussian_problem(
    X: Rows | ArrayLike | None,
    y: ArrayLike | None,
    noise_variance: float,
    wavelet: Wavelet,
    n_samples: int,
    dtype: DType,
    random_state: RandomState,
    warm: LargePosterior | None,
) -> GaussianProblem:
    """Checked arguments as a `GaussianProblem`.

    Parameters
    ----------
    X, y, noise_variance, n_samples, dtype, random_state
        As of `tree_bounds`.
    wavelet : Wavelet
    warm : LargePosterior or None
        Whose random numbers are kept.
    """
    if np.dtype(dtype).char not in "fd":
        raise ValueError(f"dtype must be float32 or float64, got {dtype!r}.")
    if (X is None) != (y is None):
        raise ValueError(f"X and y belong together, {'X' if X is None else 'y'} is missing.")
    operator = None if X is None else _on_images(as_operator(X, "X"), wavelet)
    system = PrecisionOperator(operator, noise_variance, B=wavelet, shape=wavelet.input_shape)
    values = None
    if operator is not None:
        values = finite("y", y, dtype=None)
        if values.shape not in (operator.output_shape, (operator.shape[0],)):
            raise ValueError(f"y must have the shape {operator.output_shape} of X's outputs, got {values.shape}.")
        kind = complex if operator.dtype.kind == "c" else float
        if values.dtype.kind == "c" and kind is float:
            raise ValueError("y is complex but X is real.")
        values = values.reshape(operator.output_shape).astype(kind)
    if isinstance(warm, LargePosterior) and warm.perturbations.dtype == np.dtype(dtype):
        perturbations = warm.perturbations
    else:
        perturbations = Perturbations(n_samples, generator(random_state), dtype)
    return GaussianProblem(system, wavelet, values, perturbations)


def _on_images(X: Operator, wavelet: Wavelet) -> Operator:
    if X.input_shape == wavelet.input_shape:
        return X
    if X.shape[1] != wavelet.shape[0]:
        raise ValueError(f"X must measure images of shape {wavelet.input_shape}, got {X!r}.")
    return Reshaped(X, wavelet.input_shape)
