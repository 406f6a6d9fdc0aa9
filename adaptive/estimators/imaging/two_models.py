"""The two models of the same measurements: one reconstructs, the other designs.

The noise and the scales of the first are given, or what the data say. For k-space the second has noise and scales of
its own, less and stiffer; where these are None, as they are for photographs, it is the same model.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from adaptive.estimators.imaging.model import ImageModel
from adaptive.estimators.imaging.photons import PhotonModel, learn_photon_scales
from adaptive.estimators.imaging.scales import learn_scales

if TYPE_CHECKING:
    from adaptive.estimators.imaging.conventions import Conventions
    from adaptive.estimators.imaging.measurements import MeasuredBlocks
    from adaptive.estimators.imaging.prior import Scales
    from adaptive.estimators.imaging.receiver import Received
    from adaptive.estimators.imaging.settings import ImageSettings
    from adaptive.inference import Posterior

__all__ = ["Models"]

KSPACE_RATE = 3e-4  # its noise variance over its scale: 1/300; with another noise and the same scale designs lose a lot
PHOTOGRAPH = {  # of grey values in [0, 1]; together sigma / tau with sigma^2 = .005, tau = .075 and .5 (Nickisch, 5.5)
    ("wavelet", "tv"): {"wavelet": 0.943, "tv": 0.141},
    ("wavelet",): {"wavelet": 0.19},  # alone what the evidence of photographs says
    ("tv",): {"tv": 0.141},
    ("tree",): {"tree": 0.05},  # at the finest level
}


@dataclass(frozen=True)
class Models:
    """Models that ``known`` conventions make of measurements."""

    known: Conventions

    @property
    def given(self) -> ImageSettings:
        """Parameters as they were given."""
        return self.known.given

    @property
    def one_model(self) -> bool:
        """One model designs and reconstructs."""
        known = self.known
        same = known.design_noise_variance is None and known.design_prior_scales is None
        return same and (self.given.engine.dense or known.dtype == known.design_dtype)

    def wait(self, received: Received) -> bool:
        """Test whether coil maps are to be estimated and could not be yet."""
        return isinstance(self.given.coils, str) and received.maps is None

    # -- the model that reconstructs -----------------------------------------------------------------------------------

    def noise_variance(self, measured: MeasuredBlocks) -> float:
        """Noise variance as it was given, or read off the samples."""
        if self.given.photons:
            return 1.0
        given = self.given.noise_variance
        noise = given if given is not None else measured.noise_variance()
        if noise is None:
            raise ValueError(
                "noise_variance must be given where no block is on the Cartesian grid or a trajectory, nor the picture "
                "itself, and there are no more rows than pixels: it is read off there."
            )
        return float(noise)

    def model(self, measured: MeasuredBlocks, received: Received, noise: float) -> ImageModel:
        """Model that reconstructs; of nothing measured while it waits for coil maps."""
        measured = self.given.nothing_measured() if self.wait(received) else measured
        prior = self.known.prior(self.known.dtype).leaving(received.imaginary)
        kind = PhotonModel if self.given.photons else ImageModel
        return kind(measured, received.phase, noise, prior, self.known.dtype, received.maps)

    def scales(self, model: ImageModel, warm: Posterior | None = None) -> tuple[Scales, Posterior | None]:
        """Scales of that model, given or fitted; in the latter case perhaps its posterior, too."""
        if self.given.prior_scales is not None:
            return model.prior.scales(self.given.prior_scales), None
        if isinstance(model, PhotonModel):
            start = self.photograph_scales()
            assert isinstance(start, dict)
            return learn_photon_scales(model, start, self.given.engine)
        if self.given.engine.dense and not self.known.fourier:
            return self.photograph_scales(), None
        found = learn_scales(model, self.given.engine.sampled(), warm_start=warm)
        return found.scales, None if self.given.engine.dense else found.posterior

    def photograph_scales(self) -> Scales:
        """Scales of photographs, from the literature."""
        prior = self.known.prior(self.known.dtype)
        return prior.times(prior.scales(PHOTOGRAPH[prior.names]), float(self.given.largest))

    # -- the model that designs ----------------------------------------------------------------------------------------

    def design_model(self, model: ImageModel) -> ImageModel:
        """Model that designs, beside the one that reconstructs."""
        noise = self._design_noise(model.noise_variance)
        prior = self.known.design_prior.leaving(model.prior.left_over)
        return replace(model, noise_variance=noise, prior=prior, dtype=self.known.design_dtype)

    def design_scales(self, noise: float) -> Scales | None:
        """Scales of that model beside the data's ``noise``; None: those of the reconstruction, needed first."""
        stated, prior = self.known.design_prior_scales, self.known.design_prior
        largest = float(self.given.largest)
        if stated is None:
            return None
        if isinstance(stated, str):
            stated = self._design_noise(noise) / (KSPACE_RATE * largest**2)
        return prior.times(prior.scales(stated, "design_prior_scales"), largest)

    def _design_noise(self, noise: float) -> float:
        """Noise variance of that model beside that of the data."""
        given = self.known.design_noise_variance
        return noise if given is None else float(given) * float(self.given.largest) ** 2

    def scales_before_fit(self) -> Scales:
        """The same where nothing was measured and nothing can be learnt; refused where they, or the noise, are open."""
        given, stated, known = self.given, self.design_scales(float(self.given.noise_variance or 1.0)), None
        if given.prior_scales is not None:
            known = self.known.prior(self.known.dtype).scales(given.prior_scales)
        elif not self.known.fourier:
            known = self.photograph_scales()
        noise = given.photons or given.noise_variance is not None or self.known.design_noise_variance is not None
        scales = known if stated is None else stated
        if not noise or scales is None:
            name = "prior_scales" if noise else "noise_variance"
            raise ValueError(f"before anything is measured nothing can be learnt: give design_{name} or {name}.")
        return scales
