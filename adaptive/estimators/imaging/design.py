"""How an `ImageReconstructor` designs: what is believed about candidates, and where least is known."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from adaptive.checks import integer
from adaptive.estimators.base import DesignMixin
from adaptive.estimators.imaging.blocks import is_fourier, require_candidates, with_rows_written_out
from adaptive.estimators.imaging.fitted_image import FittedImage
from adaptive.estimators.imaging.followed_directions import FollowedDirections
from adaptive.estimators.imaging.predictive import block_predictive
from adaptive.estimators.imaging.settings import ImageSettings
from adaptive.operators import as_operator

if TYPE_CHECKING:
    from adaptive.estimators.imaging.model import ImageModel
    from adaptive.inference import Posterior
    from adaptive.predictive import Predictive

__all__ = ["ImageDesign"]


class ImageDesign(FittedImage, DesignMixin):
    """Mixin of what is asked of the model that designs; before any fit its prior answers."""

    def _design(self, fourier: bool) -> tuple[ImageModel, Posterior]:
        """The model that designs and its posterior; before any fit the prior's."""
        if hasattr(self, "measured_"):
            settings = self._settings
            settings.check()
            learnt = settings.model(self.measured_, self._received, self.noise_variance_)
            return settings.design_model(learnt)[0], self.design_posterior_
        settings = ImageSettings(self, fourier)  # type: ignore[arg-type]
        settings.check()
        model, scales = settings.design_model_before_fit()
        return model, model.posterior(scales, settings.engine, 0)

    def predictive(self, candidates: Any, *, target: Any = None, random_state: Any = None) -> Predictive:
        """What is believed about blocks of measurements: log-determinants under the posterior that designs.

        Parameters
        ----------
        candidates : pool of operator blocks, or rows (m, pixels)
        target : None
            The information is about the image.
        random_state : ignored
            The samples are the posterior's.
        """
        if target is not None:
            raise ValueError("target must be None: the information of a measurement is about the whole image.")
        candidates = with_rows_written_out(candidates)
        require_candidates(candidates, self._settings.shape)
        model, posterior = self._design(self.coils is not None or is_fourier(candidates))
        return block_predictive(posterior, candidates, model, refine=self.refine)

    def leading_directions(self, n: int = 1) -> np.ndarray:
        """The unit images along which least is known: eigenvectors of the posterior covariance, largest first.

        Parameters
        ----------
        n : int, default 1

        Returns
        -------
        array (n, pixels)
            Measuring them is the most informative of all designs with n rows of length one. The sign is arbitrary.
        """
        model, posterior = self._design(False)
        if model.prior.complex:
            raise ValueError('leading_directions are those of real images; give design_dtype="float64".')
        n = integer("n", n, minimum=1)
        return self._directions.leading(n) if hasattr(self, "measured_") else FollowedDirections(posterior).leading(n)

    def variances_along(self, operator: Any) -> np.ndarray:
        """Posterior variances of the projections of the image by an operator, or by rows (m, pixels).

        Parameters
        ----------
        operator : Operator on images, or array (m, pixels)

        Returns
        -------
        array of the operator's output shape
        """
        model, posterior = self._design(False)
        if model.prior.complex:
            raise ValueError('variances_along are those of real images; give design_dtype="float64".')
        rows = as_operator(operator, "operator")
        return posterior.variances(rows).reshape(rows.output_shape)
