"""Gaussians over a latent vector, one form per file: by precision, covariance, low rank, root, draws, one by one."""

from typing import TYPE_CHECKING as _TYPE_CHECKING

from adaptive.lazy import lazily as _lazily

if _TYPE_CHECKING:
    from adaptive.gaussians.covariance_form import CovarianceForm
    from adaptive.gaussians.downdated_form import DowndatedForm
    from adaptive.gaussians.empirical_form import EmpiricalForm
    from adaptive.gaussians.factorised_form import FactorisedForm
    from adaptive.gaussians.gaussian_part import GaussianPart
    from adaptive.gaussians.kinds import gaussian_from_state
    from adaptive.gaussians.low_rank_form import LowRankForm
    from adaptive.gaussians.mean_field_form import MeanFieldForm
    from adaptive.gaussians.precision_form import PrecisionForm
    from adaptive.gaussians.protocols import Gaussian, SiteGaussian
    from adaptive.gaussians.sequential_form import SequentialForm
    from adaptive.gaussians.square_root_form import SquareRootForm
    from adaptive.gaussians.with_sites import gaussian_with_sites

__all__ = [
    "CovarianceForm",
    "DowndatedForm",
    "EmpiricalForm",
    "FactorisedForm",
    "Gaussian",
    "GaussianPart",
    "LowRankForm",
    "MeanFieldForm",
    "PrecisionForm",
    "SequentialForm",
    "SiteGaussian",
    "SquareRootForm",
    "gaussian_from_state",
    "gaussian_with_sites",
]

__getattr__, __dir__ = _lazily(__name__)
