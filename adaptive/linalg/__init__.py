"""Linear algebra of Gaussian posteriors."""

from .gaussian import CovarianceForm, PrecisionForm, SiteGaussian, gaussian_with_sites

__all__ = ["CovarianceForm", "PrecisionForm", "SiteGaussian", "gaussian_with_sites"]
