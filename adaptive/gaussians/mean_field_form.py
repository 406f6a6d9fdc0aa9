"""Independent projections as a Gaussian over the latent: N(m, diag(v)) for s = B u in the place of what the base says.

With the base N(u0, V0), K = B V0 B' + ridge and C = K^-1 - K^-1 diag(v) K^-1,

    mean = u0 + V0 B' K^-1 (m - m0),    V = V0 - V0 B' C B V0,    v_j = 1 / (pi_j + [K^-1]_jj).

Sites (pi, nu) stand for the factors: m is the mean of the Gaussian with these sites, its slope alpha = K^-1 (m - m0).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np
import scipy.linalg

from adaptive.gaussians.covariance_form import CovarianceForm
from adaptive.gaussians.downdated_form import DowndatedForm
from adaptive.gaussians.with_sites import unfitted_form

if TYPE_CHECKING:
    from adaptive.gaussians.factorised_form import FactorisedForm
    from adaptive.gaussians.gaussian_part import GaussianPart
    from adaptive.types import Matrix

__all__ = ["MeanFieldForm"]


class MeanFieldForm(DowndatedForm):
    """Gaussian whose q projections are independent.

    Parameters
    ----------
    base : FactorisedForm
        Over the latent, which it determines without sites; they are set to zero.
    rows : array or sparse matrix (q, n)
        B.
    ridge : float
        Added to the covariance of the projections, relative to its mean diagonal.

    Attributes
    ----------
    conditional_variance : (q,)
        1 / [K^-1]_jj: variance of a projection given all others.
    prior_factor : (q, q)
        Lower Cholesky factor of K.
    prior_mean : (q,)
        m0.
    log_base : float
        Log normaliser of the base.

    Examples
    --------
    >>> from adaptive.gaussians import PrecisionForm
    >>> base = PrecisionForm(np.eye(2), prior_covariance=np.array([[2.0, 1.0], [1.0, 2.0]]))
    >>> form = MeanFieldForm(base.refit(np.zeros(2), np.zeros(2)), np.eye(2), 0.0)
    >>> form.conditional_variance  # 1 / [K^-1]_jj
    array([1.5, 1.5])
    """

    kind = "mean_field"

    def __init__(self, base: FactorisedForm, rows: Matrix, ridge: float):
        super().__init__(base.refit(np.zeros(rows.shape[0]), np.zeros(rows.shape[0])), rows)
        self.ridge = ridge
        self.log_base, self.prior_mean = base.log_volume, np.array(base.projections)
        covariance = base.project_covariance(rows, rows)
        covariance[np.diag_indices(self.size)] += ridge * max(float(np.trace(covariance)) / self.size, 1e-300)
        self.prior_factor = np.linalg.cholesky(covariance)
        inverse = scipy.linalg.solve_triangular(self.prior_factor, np.eye(self.size), lower=True)
        self.conditional_variance = 1.0 / np.einsum("ij,ij->j", inverse, inverse)
        self._sites = CovarianceForm(np.eye(self.size), prior_mean=self.prior_mean, prior_covariance=covariance)
        self.refit(np.zeros(self.size), np.zeros(self.size))

    def refit(self, pi: np.ndarray, nu: np.ndarray) -> Self:
        """Set all sites; raises ``numpy.linalg.LinAlgError`` where they make no Gaussian."""
        self._sites.refit(pi, nu)
        self.pi, self.nu = self._sites.pi, self._sites.nu
        self.slope = self._sites.coefficients
        self.projections = self._sites.projections
        return self

    @property
    def variance(self) -> np.ndarray:
        """v, of the factors."""
        return 1.0 / (self.pi + 1.0 / self.conditional_variance)

    def marginals(self) -> tuple[np.ndarray, np.ndarray]:
        """Means and variances of the q projections."""
        return self.projections, self.variance

    @property
    def log_volume(self) -> float:
        """Such that Jensen's bound at N(m, diag(v)) is log_volume + 1/2 pi.v + E ln T."""
        gap = self.projections - self.prior_mean
        half_log_determinant = float(np.log(self.prior_factor.diagonal()).sum())
        return self.log_base + 0.5 * float(np.log(self.variance).sum() - gap @ self.slope) - half_log_determinant

    def reduce(self, cross: np.ndarray) -> np.ndarray:
        inner = scipy.linalg.cho_solve((self.prior_factor, True), cross)
        kept = self.variance * inner if inner.ndim == 1 else self.variance[:, None] * inner
        return inner - scipy.linalg.cho_solve((self.prior_factor, True), kept)

    def state(self) -> dict[str, Any]:
        """Sites, ridge, and which form the base has."""
        return {"kind": self.kind, "base": self.base.kind, "ridge": self.ridge, "pi": self.pi, "nu": self.nu}

    @classmethod
    def from_state(cls, state: dict[str, Any], part: GaussianPart) -> MeanFieldForm:
        """The form that ``state`` described."""
        form = MeanFieldForm(unfitted_form(state["base"], part), part.rows, float(state["ridge"]))
        return form.refit(state["pi"], state["nu"])
