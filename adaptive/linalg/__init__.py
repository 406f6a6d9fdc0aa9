"""Linear algebra of Gaussian posteriors: dense ones with sites, and precisions known by their products only."""

from . import variances
from .cells import line_weights, sample_weights
from .circulant import Circulant, circulant_preconditioner
from .conjugate_gradients import Solution, conjugate_gradients
from .control_variates import circulant_variances, controlled_variance
from .gaussian import CovarianceForm, LowRankForm, PrecisionForm, SiteGaussian, gaussian_with_sites
from .lanczos import Tridiagonal, lanczos_variances, tridiagonalise
from .least_squares import density_compensated, least_squares
from .linear_system import PrecisionOperator
from .log_determinant import log_determinant, stochastic_log_determinant
from .low_rank_covariance import LowRankCovariance
from .perturbations import Perturbations

__all__ = [
    "Circulant",
    "CovarianceForm",
    "LowRankCovariance",
    "LowRankForm",
    "Perturbations",
    "PrecisionForm",
    "PrecisionOperator",
    "SiteGaussian",
    "Solution",
    "Tridiagonal",
    "circulant_preconditioner",
    "circulant_variances",
    "conjugate_gradients",
    "controlled_variance",
    "density_compensated",
    "gaussian_with_sites",
    "lanczos_variances",
    "least_squares",
    "line_weights",
    "log_determinant",
    "sample_weights",
    "stochastic_log_determinant",
    "tridiagonalise",
    "variances",
]
