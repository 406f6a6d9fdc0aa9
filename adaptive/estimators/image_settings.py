"""The parameters of an `ImageReconstructor`, checked, and the two models that they make of the same measurements.

One model reconstructs: its noise and its scales are given, or what the data say. The other designs, with noise and
scales of its own, less and stiffer; where these are None they are those of the reconstruction.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from adaptive import checks
from adaptive.estimators.image_memory import check_memory
from adaptive.estimators.image_model import Engine, ImageModel
from adaptive.estimators.image_prior import PRIORS, ImagePrior, image_prior
from adaptive.estimators.image_receiver import Received, ReceiverSettings
from adaptive.estimators.image_scales import learn_scales
from adaptive.estimators.measured_blocks import MeasuredBlocks

if TYPE_CHECKING:
    from adaptive.estimators.image_reconstructor import ImageReconstructor

__all__ = ["ImageSettings"]

DTYPES = ("float32", "float64", "complex64", "complex128")


class ImageSettings:
    """What an estimator was told.

    Parameters
    ----------
    given : ImageReconstructor
        Whose parameters are read.
    """

    def __init__(self, given: ImageReconstructor):
        self._given = given

    def check(self) -> None:
        """Refuse, in one sentence, parameters that are not what they are said to be, and models that do not fit."""
        given = self._given
        checks.choice("prior", given.prior, PRIORS)
        for name in ("dtype", "design_dtype"):
            checks.choice(name, _name_of(getattr(given, name)), DTYPES)
        checks.choice("reconstruction", given.reconstruction, ("map", "mean"))
        if not callable(given.inference):
            checks.choice("inference", given.inference, ("variational_bounds",))
        for name in ("noise_variance", "design_noise_variance"):
            if getattr(given, name) is not None:
                checks.positive(name, getattr(given, name))
        checks.positive("largest", given.largest)
        checks.positive("tol", given.tol, or_zero=True)
        checks.integer("max_iter", given.max_iter, minimum=0)
        checks.integer("n_samples", given.n_samples, minimum=2)
        self.receiver.check()
        prior = self.prior(given.dtype)
        for name in ("prior_scales", "design_prior_scales"):
            if getattr(given, name) is not None:
                prior.scales(getattr(given, name), name)
        n_coils = 1 if given.coils is None or isinstance(given.coils, str) else len(given.coils)
        check_memory(self.shape, prior, (given.dtype, given.design_dtype), given.n_samples, n_coils)

    @property
    def shape(self) -> tuple[int, ...]:
        """Sides of the image or volume."""
        sides = tuple(self._given.shape) if np.ndim(self._given.shape) == 1 else ()
        if len(sides) not in (2, 3):
            raise ValueError(
                f"shape must be the two sides of an image or the three of a volume, got {self._given.shape!r}."
            )
        return tuple(checks.integer("shape", side, minimum=2) for side in sides)

    @property
    def engine(self) -> Engine:
        """How posteriors are inferred."""
        return Engine(self._given.inference, self._given.n_samples, self._given.random_state)

    @property
    def receiver(self) -> ReceiverSettings:
        """What is said of phase and coils."""
        given = self._given
        return ReceiverSettings(self.shape, given.phase, given.coils, given.coil_covariance)

    def nothing_measured(self) -> MeasuredBlocks:
        """Where measuring begins."""
        return self.receiver.nothing_measured(float(self._given.largest), bool(self._given.check))

    def prior(self, dtype: str) -> ImagePrior:
        """The prior of an unknown of this dtype."""
        given, unknown = self._given, "complex" if _name_of(dtype).startswith("complex") else "real"
        return image_prior(
            self.shape, given.prior, given.wavelet, given.level, unknown, given.imaginary_prior, float(given.largest)
        )

    # -- the two models ------------------------------------------------------------------------------------------------

    def noise_variance(self, measured: MeasuredBlocks) -> float:
        """As it was given, or read off the samples."""
        given = self._given.noise_variance
        noise = given if given is not None else measured.noise_variance()
        if noise is None:
            raise ValueError(
                "noise_variance must be given where no block is on the Cartesian grid or a trajectory: it is read off "
                "there."
            )
        return float(noise)

    def model(
        self, measured: MeasuredBlocks, received: Received, noise: float | None = None, dtype: Any = None
    ) -> ImageModel:
        """A model of the measurements; by default with the noise and the dtype of the one that reconstructs."""
        noise = self.noise_variance(measured) if noise is None else noise
        dtype = self._given.dtype if dtype is None else dtype
        return ImageModel(measured, received.phase, noise, self.prior(dtype), _name_of(dtype), received.maps)

    def scales(self, model: ImageModel) -> dict[str, Any]:
        """The ``scales`` of the reconstruction, given or learnt; in the latter case also its ``posterior``."""
        if self._given.prior_scales is not None:
            return {"scales": model.prior.scales(self._given.prior_scales)}
        learnt = learn_scales(model, self.engine)
        return {"scales": learnt.scales, "posterior": learnt.posterior}

    def design_model(self, model: ImageModel, learnt: Any = None) -> tuple[ImageModel, Any]:
        """The model that designs, and its scales: its own where they are given, else those of the reconstruction."""
        given, unit = self._given, float(self._given.largest)
        prior = self.prior(given.design_dtype)
        noise, scales = model.noise_variance, learnt
        if given.design_noise_variance is not None:
            noise = float(given.design_noise_variance) * unit**2
        if given.design_prior_scales is not None:
            stated = prior.scales(given.design_prior_scales, "design_prior_scales")
            scales = {name: scale * unit for name, scale in stated.items()}
        return replace(model, noise_variance=noise, prior=prior, dtype=_name_of(given.design_dtype)), scales

    def design_model_before_fit(self) -> tuple[ImageModel, Any]:
        """The same where nothing was measured, so that nothing can be learnt."""
        given = self._given
        for name in ("noise_variance", "prior_scales"):
            if getattr(given, name) is None and getattr(given, f"design_{name}") is None:
                raise ValueError(f"before anything is measured nothing can be learnt: give design_{name} or {name}.")
        unseen = Received(None, self.receiver.maps, 0)
        model = self.model(self.nothing_measured(), unseen, float(given.noise_variance or 1.0))
        return self.design_model(model, None if given.prior_scales is None else model.prior.scales(given.prior_scales))


def _name_of(dtype: Any) -> str:
    """The name of a dtype however it was given; what is none stays as it is, to be refused."""
    try:
        return np.dtype(dtype).name
    except TypeError:
        return str(dtype)
