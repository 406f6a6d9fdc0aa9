"""Reweighted least squares by products only: the inner loop of the matrix-free double loop, and MAP at that scale.

    min_u  |X u - y|^2 / (2 noise) + (u - mu)' S^-1 (u - mu) / 2 + sum_j penalty(b_j . u)

Each penalty is bounded by a parabola that touches it at the present s = B u, of curvature pi and slope pi s - nu; the
next u solves A u = X' y / noise + S^-1 mu + B' nu with A = X' X / noise + S^-1 + B' diag(pi) B. Conjugate gradients
start from the present u and reduce its residual by a factor only, since the weights change again; no step raises the
objective (majorise and minimise).
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from adaptive.inference.model import GLM
from adaptive.linalg import Circulant, PrecisionOperator, circulant_preconditioner, conjugate_gradients

if TYPE_CHECKING:
    from adaptive.types import DType

__all__ = ["Descent", "Reweighted", "precision_of", "prior_precision"]

Sites = Callable[[np.ndarray], tuple[np.ndarray, "np.ndarray | None"]]


class Descent(NamedTuple):
    """End point of `Reweighted.descend`.

    Attributes
    ----------
    u : array (1, *latent shape)
    s : array (q,)
        Its projections B u.
    change : float
        |last step| / |u|.
    steps : int
        Least-squares problems solved.
    """

    u: np.ndarray
    s: np.ndarray
    change: float
    steps: int


class Reweighted:
    """A model as least-squares problems that differ in the weights of its projections.

    Parameters
    ----------
    model : GLM
    dtype : dtype, default float64
        Precision of images; inner products are summed in double precision.

    Attributes
    ----------
    system : PrecisionOperator
        At the weights used last; all products are counted by it.
    circulant : Circulant or None
        Its preconditioner, made by `precondition`, or when it is first needed; None asks for a new one.
    n_preconditionings : int
    """

    def __init__(self, model: GLM, dtype: DType = float):
        self.model, self.dtype = model, np.dtype(dtype)
        self.system = precision_of(model)
        right = np.zeros(model.n)
        if model.y is not None:
            right += model.back_measure(self._measured(model.y)) / model.noise_variance
        if self.system.prior_precision is not None and np.any(model.prior_mean):
            right += self._prior_times(model.prior_mean)
        self.right = right.reshape(1, *self.system.input_shape).astype(self.dtype)
        self.circulant: Circulant | None = None
        self._inverse: Circulant | None = None
        self.n_preconditionings = 0

    def precondition(self) -> None:
        """Make the circulant preconditioner of the system as it is."""
        self.circulant = circulant_preconditioner(self.system)
        self._inverse = None if self.circulant is None else self.circulant.inverse()

    def weigh(self, site_precision: np.ndarray) -> None:
        """Set the weights of the projections."""
        self.system = self.system.with_sites(site_precision)

    def descend(
        self, u: np.ndarray, sites: Sites, *, steps: int, reduction: float, tol: float, s: np.ndarray | None = None
    ) -> Descent:
        """Solve ``steps`` least-squares problems, or fewer where a step is shorter than ``tol`` |u|.

        Parameters
        ----------
        u : array (1, *latent shape)
        sites : callable
            Maps s to (pi, nu); nu may be None for zero.
        steps : int
        reduction : float
            Of the residual, in each problem.
        tol : float
        s : array (q,), optional
            B u, where it is known.
        """
        s = self.system.project(u)[0] if s is None else s
        change, done = np.inf, 0
        while done < steps and change > tol:
            precision, shift = sites(s)
            self.weigh(precision)
            if self.circulant is None:  # made once: the weights' means change little
                self.precondition()
            right = self.right if shift is None else self.right + self.system.back_project(shift[None].astype(u.dtype))
            residual = right - self.system.apply(u)
            with warnings.catch_warnings():  # rounding may stop a reduction; the change of u tells what it is worth
                warnings.simplefilter("ignore", ConvergenceWarning)
                solution = conjugate_gradients(
                    self.system.apply,
                    residual,
                    preconditioner=self._inverse,
                    norm="preconditioned",
                    tol=reduction,
                    max_iter=750,
                )
            self.n_preconditionings += solution.n_preconditionings
            u = u + solution.x
            s = self.system.project(u)[0]
            length = float(np.linalg.norm(u))
            change = float(np.linalg.norm(solution.x)) / length if length > 0 else 0.0
            done += 1
        return Descent(u, s, change, done)

    def energy(self, u: np.ndarray) -> float:
        """The quadratic part of the objective at one image."""
        flat, total = np.asarray(u).ravel(), 0.0
        if self.model.y is not None:
            left = self.model.measure(flat) - self._measured(self.model.y)
            total += float(np.sum(left.real**2 + left.imag**2, dtype=float)) / (2 * self.model.noise_variance)
        if self.system.prior_precision is not None:
            gap = flat - self.model.prior_mean
            total += 0.5 * float(gap @ self._prior_times(gap))
        return total

    def _measured(self, y: np.ndarray) -> np.ndarray:
        """Outcomes in the precision of images, complex where they are."""
        return y.astype(np.result_type(self.dtype, np.complex64) if y.dtype.kind == "c" else self.dtype, copy=False)

    def _prior_times(self, flat: np.ndarray) -> np.ndarray:
        prior = self.system.prior_precision
        assert prior is not None
        return (
            prior @ flat if prior.shape == (len(flat), len(flat)) != self.system.input_shape else prior.ravel() * flat
        )


def precision_of(model: GLM) -> PrecisionOperator:
    """The precision of a model's posterior, every site precision 1."""
    return PrecisionOperator(
        model.X,
        model.noise_variance,
        B=[b for b, _ in model.groups],
        prior_precision=prior_precision(model),
        shape=model.latent_shape,
    )


def prior_precision(model: GLM) -> np.ndarray | None:
    """Inverse of the prior covariance, in the form in which that was given."""
    covariance = model.prior_covariance
    if covariance is None:
        return None
    return np.linalg.inv(covariance) if np.ndim(covariance) == 2 else 1.0 / np.asarray(covariance)
