"""What an `ImageReconstructor` answers once it was fitted: pictures, computed when they are first asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from adaptive.estimators.imaging.fitted_image import FittedImage
from adaptive.estimators.imaging.model import STEPS, ImageModel

if TYPE_CHECKING:
    from adaptive.estimators.imaging.settings import ImageSettings

__all__ = ["ImageAnswers"]


class ImageAnswers(FittedImage):
    """Mixin of the pictures and of what is said of the last inference."""

    def predict(self, X: Any = None, return_std: bool = False) -> Any:
        """The reconstructed image.

        Parameters
        ----------
        X : ignored
        return_std : bool, default False
            Also return the standard deviation of every pixel.

        Returns
        -------
        array of ``shape``, or a pair of them
            ``image_`` and ``image_std_``.
        """
        return (self.image_, self.image_std_) if return_std else self.image_

    @property
    def unknown_(self) -> np.ndarray:
        """The reconstruction, signed or complex, without the phase."""
        return self._compute("unknown")

    @property
    def image_(self) -> np.ndarray:
        """The reconstruction, of k-space and of complex images its magnitudes."""
        return as_image(self.unknown_, self.measured_.fourier)

    @property
    def image_std_(self) -> np.ndarray:
        """Posterior standard deviation of the pixels."""
        return self._compute("std")

    posterior_ = property(lambda self: self._compute("posterior"), doc="Of the model that reconstructs.")
    prior_scales_ = property(lambda self: self._compute("scales"), doc="Scale of each group of the prior.")
    n_iter_ = property(lambda self: self.design_posterior_.n_iter, doc="Steps of the last inference.")
    converged_ = property(lambda self: self.design_posterior_.converged, doc="Whether it settled.")
    objective_trace_ = property(lambda self: self.design_posterior_.objective_trace, doc="One value per step.")
    log_evidence_ = property(lambda self: self.design_posterior_.log_evidence, doc="nan unless inference gives it.")
    evidence_kind_ = property(lambda self: self.design_posterior_.evidence_kind, doc='"none" as a rule.')

    @property
    def measurements_(self) -> tuple[np.ndarray, np.ndarray]:
        """All that was measured as rows (m, pixels) and outcomes (m,), in order; before any fit m = 0."""
        if hasattr(self, "measured_"):
            return self.measured_.rows()
        return self._settings.nothing_measured().rows()

    # ------------------------------------------------------------------------------------------------------- computing
    def _compute(self, name: str) -> Any:
        """A quantity that is computed when it is asked for."""
        check_is_fitted(self, "measured_")
        self.measured_.require_centre()
        known, settings = self._computed, self._settings
        if name not in known:
            model = settings.model(self.measured_, self._received)
            if "scales" not in known:
                known.update(settings.scales(model))
            if settings.engine.dense and settings.one_model:
                known["posterior"] = self.design_posterior_
            if name == "unknown":
                known[name] = self._unknown(settings, model, known)
            elif name in ("posterior", "std") and "posterior" not in known:
                known["posterior"] = model.posterior(known["scales"], settings.engine, STEPS)
            if name == "std":
                more = {} if settings.engine.dense else {"n_samples": max(32, self.n_samples)}
                variance = known["posterior"].variances(**more)
                known[name] = np.sqrt(variance.reshape(-1, *self.measured_.shape).mean(axis=0)).astype(float)
        return known[name]

    def _unknown(self, settings: ImageSettings, model: ImageModel, known: dict[str, Any]) -> np.ndarray:
        """Mode or mean, signed or complex."""
        if settings.reconstruction == "map":
            return model.mode(known["scales"], self.max_iter, self.tol)
        if "posterior" not in known:
            known["posterior"] = model.posterior(known["scales"], settings.engine, STEPS)
        return model.image(known["posterior"].mean)


def as_image(unknown: np.ndarray, fourier: bool) -> np.ndarray:
    """What is shown of the unknown: photographs as they are, signed; else magnitudes."""
    return np.array(np.abs(unknown) if fourier or unknown.dtype.kind == "c" else unknown, dtype=float)
