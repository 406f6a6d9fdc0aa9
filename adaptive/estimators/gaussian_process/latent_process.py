"""Belief about a function f with prior GP(m, k) after inference at the inputs X:

    E f(x) = m(x) + k(x, X) alpha,    Cov(f(x), f(z)) = k(x, z) - k(x, X) C k(X, z),

alpha and C those of the posterior's sites, or of whatever else the inference found.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.linalg

from adaptive.gaussians.empirical_form import EmpiricalForm
from adaptive.predictive import GaussianProjections, GaussianTarget

if TYPE_CHECKING:
    from sklearn.gaussian_process.kernels import Kernel

    from adaptive.means import Mean
    from adaptive.potentials import Potential
    from adaptive.types import Inputs, RandomState

__all__ = ["LatentProcess"]

_JITTER = 1e-8  # of the mean prior variance, where draws of the training latents are mapped to other inputs


@dataclass(frozen=True)
class LatentProcess:
    """Belief about a latent function.

    Attributes
    ----------
    kernel : scikit-learn kernel
    mean : mean function
    X : (n, D) inputs
    posterior : Posterior over the latents at X; None before any fit
    noise : float
        Part of the kernel that is white noise, and not of the function that is spoken of at other places.

    Examples
    --------
    >>> from sklearn.gaussian_process.kernels import RBF
    >>> from adaptive.means import Zero
    >>> LatentProcess(RBF(1.0), Zero(), np.zeros((0, 1))).posterior is None
    True
    """

    kernel: Kernel
    mean: Mean
    X: Inputs
    posterior: Any = None
    noise: float = 0.0

    @property
    def _known(self) -> tuple[np.ndarray, Callable[[np.ndarray], np.ndarray]]:
        """alpha, and the function that multiplies with C, over X."""
        form = self.posterior.gaussian
        if isinstance(form, EmpiricalForm):
            K = self.kernel(self.X)
            K[np.diag_indices(len(K))] += _JITTER * np.mean(K.diagonal())
            factor = scipy.linalg.cho_factor(K, lower=True)
            slope = scipy.linalg.cho_solve(factor, form.mean - self.mean(self.X))
            spread = form.project_covariance(None, None)

            def reduce(cross: np.ndarray) -> np.ndarray:
                inner = scipy.linalg.cho_solve(factor, cross)
                return inner - scipy.linalg.cho_solve(factor, spread @ inner)

            return slope, reduce
        return form.slope, form.reduce

    def _cross(self, X: Inputs) -> np.ndarray:
        """k(x, X) in the order of alpha."""
        cross = self.kernel(X, self.X)
        active = getattr(self.posterior, "active", None)  # of approximations that keep a few of the inputs only
        return cross if active is None else cross[:, active]

    def moments(self, X: Inputs) -> tuple[np.ndarray, np.ndarray]:
        """Mean and variance of the latents at X, (m,) each."""
        variance = self.kernel.diag(X) - self.noise
        if self.posterior is None:
            return self.mean(X), np.maximum(variance, 0.0)
        slope, reduce = self._known
        cross = self._cross(X)
        reduction = np.einsum("ij,ji->i", cross, reduce(np.asfortranarray(cross.T)))
        return self.mean(X) + cross @ slope, np.maximum(variance - reduction, 0.0)

    def covariance(self, X: Inputs, Z: Inputs) -> np.ndarray:
        """Covariance of the latents at X and Z, (m, l)."""
        prior = np.asarray(self.kernel(X) if Z is X and not self.noise else self.kernel(X, Z))
        if self.posterior is None:
            return prior
        return prior - self._cross(X) @ self._known[1](np.asfortranarray(self._cross(Z).T))

    def of_constant(self) -> tuple[np.ndarray, np.ndarray]:
        """alpha, and C 1, over X: how the posterior answers to a change of a constant mean."""
        slope, reduce = self._known
        return slope, reduce(np.ones(len(slope)))

    def along(self, X: Inputs, weights: np.ndarray) -> np.ndarray:
        """k(x, X) weights, (m,)."""
        return self._cross(X) @ weights

    def predictive(
        self,
        X: Inputs,
        likelihood: Potential,
        *,
        target: Inputs | None = None,
        random_state: RandomState = None,
        kind: type[GaussianProjections] = GaussianProjections,
        **fields: Any,
    ) -> GaussianProjections:
        """The belief about outcomes at the inputs X; ``target``: inputs that the information is to be about."""
        mean, variance = self.moments(X)
        about = None
        if target is not None:
            about = GaussianTarget(
                *self.moments(target),
                covariance=lambda i, j: self.covariance(target[i], target[j]),
                cross=lambda i, j: self.covariance(X[i], target[j]),
            )
        return kind(
            mean,
            variance,
            lambda i, j: self.covariance(X[i], X[j]),
            likelihood,
            target=about,
            random_state=random_state,
            features=X,
            measured=None if self.posterior is None else self.X,
            **fields,
        )
