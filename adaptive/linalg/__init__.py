"""Linear algebra behind posteriors: Krylov methods, circulants, variances, log-determinants, compiled loops."""

from typing import TYPE_CHECKING as _TYPE_CHECKING

from adaptive.lazy import lazily as _lazily

if _TYPE_CHECKING:
    from adaptive.linalg import variances
    from adaptive.linalg.circulant import Circulant, circulant_preconditioner
    from adaptive.linalg.conjugate_gradients import Solution, conjugate_gradients
    from adaptive.linalg.control_variates import circulant_variances, controlled_variance
    from adaptive.linalg.lanczos import Tridiagonal, lanczos_variances, tridiagonalise
    from adaptive.linalg.least_squares import density_compensated, least_squares
    from adaptive.linalg.linear_system import PrecisionOperator
    from adaptive.linalg.log_determinant import log_determinant, stochastic_log_determinant
    from adaptive.linalg.low_rank_covariance import LowRankCovariance
    from adaptive.linalg.perturbations import Perturbations
    from adaptive.linalg.voronoi import line_weights, sample_weights

__all__ = [
    "Circulant",
    "LowRankCovariance",
    "Perturbations",
    "PrecisionOperator",
    "Solution",
    "Tridiagonal",
    "circulant_preconditioner",
    "circulant_variances",
    "conjugate_gradients",
    "controlled_variance",
    "density_compensated",
    "lanczos_variances",
    "least_squares",
    "line_weights",
    "log_determinant",
    "sample_weights",
    "stochastic_log_determinant",
    "tridiagonalise",
    "variances",
]

__getattr__, __dir__ = _lazily(__name__)
