"""Factorised forms: parts shared by those that factorise one matrix at every refit, and so serve every dense engine.

Beside sites they know a line search that needs no product, updates of single sites, and how the evidence follows the
prior covariance.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from adaptive.gaussians.protocols import SiteGaussian

if TYPE_CHECKING:
    from adaptive.gaussians.gaussian_part import GaussianPart
    from adaptive.linalg.low_rank_covariance import LowRankCovariance
    from adaptive.types import Covariance, Matrix

__all__ = ["FactorisedForm"]


class FactorisedForm(SiteGaussian):
    """Gaussian with sites, without any until ``refit``.

    Parameters
    ----------
    rows, data_rows, data, data_variance, prior_mean, prior_covariance
        As of :class:`~adaptive.gaussians.gaussian_part.GaussianPart`.

    Attributes
    ----------
    pi, nu : (q,)
        Precisions and precision-means of the sites.
    mean : (n,)
        Of u.
    projections : (q,)
        B mean.
    coefficients : (r,)
        What ``mean`` is computed from: ``energy`` and ``project`` are functions of it, the latter affine, so that a
        line search needs no product.
    log_volume : float
        log base(mean) + 1/2 log|2 pi V|.
    log_determinant : float
        log|V|.

    Examples
    --------
    >>> from adaptive.gaussians import PrecisionForm
    >>> form = PrecisionForm(np.eye(2), prior_covariance=np.eye(2)).refit(np.array([1.0, 0.0]), np.array([2.0, 0.0]))
    >>> isinstance(form, FactorisedForm), form.projections, round(form.log_determinant, 4)
    (True, array([1., 0.]), -0.6931)
    """

    operator_variance = None
    leading = None  # a search begins anew
    coefficients: np.ndarray
    _log_constant: float  # of the base
    _half_log_determinant: float  # of what is factorised

    @abstractmethod
    def __init__(
        self,
        rows: Matrix,
        data_rows: Matrix | None = None,
        data: np.ndarray | None = None,
        data_variance: np.ndarray | None = None,
        prior_mean: np.ndarray | None = None,
        prior_covariance: Covariance | LowRankCovariance | None = None,
    ): ...

    @property
    @abstractmethod
    def determined(self) -> bool:
        """Return whether data and prior determine u without sites."""

    @property
    def mean(self) -> np.ndarray:
        return self.latent(self.coefficients)

    @property
    def log_volume(self) -> float:
        return self._log_constant - self.energy(self.coefficients) - self._half_log_determinant

    @property
    @abstractmethod
    def log_determinant(self) -> float: ...

    # ------------------------------------------------------------------ functions of the coefficients
    @abstractmethod
    def latent(self, coefficients: np.ndarray) -> np.ndarray:
        """u at the coefficients."""

    @abstractmethod
    def project(self, coefficients: np.ndarray) -> np.ndarray:
        """s = B u at the coefficients."""

    @abstractmethod
    def energy(self, coefficients: np.ndarray) -> float:
        """-log base(u) up to a constant."""

    rough = False  # whether the last refit was in single precision

    def refit_roughly(self, pi: np.ndarray, nu: np.ndarray) -> Self:
        """As ``refit``, with fewer figures where that saves time: for sites that will move on."""
        return self.refit(pi, nu)

    # ------------------------------------------------------------------ updates of single sites
    @abstractmethod
    def start_updates(self) -> None:
        """Prepare ``marginal`` and ``rank_one``."""

    @abstractmethod
    def marginal(self, j: int) -> tuple[float, float]:
        """Mean and variance of projection j, valid after any ``rank_one``."""

    @abstractmethod
    def rank_one(self, j: int, d_pi: float, d_nu: float) -> None:
        """Change site j. ``refit`` once in a while against drift."""

    # ------------------------------------------------------------------ sensitivity to the prior covariance
    @abstractmethod
    def prior_sensitivity(self, change: Covariance | None = None) -> float:
        """Slope of the log normaliser when S moves by ``change`` at fixed sites.

        ``change`` is a number, (n,) or (n, n); None stands for 2 S, the slope in the log of a common standard
        deviation.
        """

    @abstractmethod
    def prior_response(self, change: Covariance | None = None) -> np.ndarray:
        """V S^-1 dS S^-1 (mean - mu): how the mode follows S at fixed curvature of the potentials."""

    # ------------------------------------------------------------------ as plain data
    def state(self) -> dict[str, Any]:
        """The sites: a refit to them gives the same bits."""
        return {"kind": self.kind, "pi": self.pi, "nu": self.nu}

    @classmethod
    def from_state(cls, state: dict[str, Any], part: GaussianPart) -> Self:
        return cls(*part).refit(state["pi"], state["nu"])
