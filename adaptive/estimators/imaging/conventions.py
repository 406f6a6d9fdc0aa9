"""Conventions: settings with nothing left open, and the two models that they make of the same measurements.

One model reconstructs, the other designs. The noise and the scales of the first are given, or what the data say. For
k-space the second has noise and scales of its own, less and stiffer; where these are None, as they are for photographs,
it is the same model.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Self

import numpy as np

from adaptive.estimators.imaging.blocks import is_fourier, with_rows_written_out
from adaptive.estimators.imaging.model import ImageModel
from adaptive.estimators.imaging.photons import PhotonModel, checked_photons, learn_photon_scales
from adaptive.estimators.imaging.prior import PRIORS, ImagePrior, image_prior, padded_shape
from adaptive.estimators.imaging.scales import learn_scales
from adaptive.estimators.imaging.settings import image_shape, is_auto, is_open, name_of
from adaptive.memory import memory_there

if TYPE_CHECKING:
    from adaptive.estimators.imaging.measurements import MeasuredBlocks
    from adaptive.estimators.imaging.prior import Scales, StatedScales
    from adaptive.estimators.imaging.receiver import Received
    from adaptive.estimators.imaging.settings import ImageSettings
    from adaptive.inference import Posterior
    from adaptive.operators import Operator
    from adaptive.types import DType, Outcomes, Pool

__all__ = ["Conventions", "Models", "measured", "memory_of"]


KSPACE_NOISE = 1e-6  # of the model that designs for k-space
MATRICES = 4  # of all pixels by all pixels, while a dense posterior is inferred


@dataclass(frozen=True, eq=False)
class Conventions:
    """Settings with nothing left open.

    Attributes
    ----------
    given : ImageSettings
    fourier : bool
        Whether the conventions are those of k-space, or of photographs.
    shape : tuple of int
    dtype, design_dtype : str
        Of the unknown that is reconstructed, and of that of the model that designs.
    imaginary, design_imaginary : {"transform", "pixel", "none"}
        Priors of the imaginary part of either, where it is complex.
    wavelet : str
    reconstruction : {"map", "mean"}
        The mode, or the mean of posteriors that are not made of modes.
    design_noise_variance, design_prior_scales : float (or dict) or None
        What the model that designs assumes, for ``largest`` = 1; None: as the reconstruction; scales "auto": in
        proportion to its noise.
    """

    given: ImageSettings
    fourier: bool
    shape: tuple[int, ...]
    dtype: str
    design_dtype: str
    imaginary: str
    design_imaginary: str
    wavelet: str
    reconstruction: str
    design_noise_variance: float | None
    design_prior_scales: StatedScales | str | None

    @classmethod
    def of(cls, settings: ImageSettings, fourier: bool) -> Self:
        """Conventions of k-space, or anything complex, or else of photographs."""
        dtype = ("complex64" if fourier else "float64") if settings.dtype is None else name_of(settings.dtype)
        # A phase that was read from a few samples leaves something imaginary, here and there: little, and sparse.
        rough = fourier and isinstance(settings.phase, str) and "tree" not in PRIORS[settings.prior]
        imaginary = settings.imaginary_prior
        if is_auto(imaginary):
            imaginary = "pixel" if rough and settings.dtype is None else "transform"
        if settings.design_dtype is None or (is_auto(settings.design_dtype) and not rough):
            design_dtype = "float32" if fourier else dtype
        else:
            design_dtype = "complex64" if is_auto(settings.design_dtype) else name_of(settings.design_dtype)
        soft = is_auto(settings.design_dtype) and rough and imaginary == "transform"
        wavelet = ("db4" if fourier else "db2") if settings.wavelet is None else settings.wavelet
        modes = not settings.engine.dense and "tree" not in PRIORS[settings.prior]
        reconstruction = ("map" if modes else "mean") if settings.reconstruction is None else settings.reconstruction
        noise, scales = settings.design_noise_variance, settings.design_prior_scales
        if isinstance(noise, str):
            noise = KSPACE_NOISE if fourier else None
        if isinstance(scales, str) and not fourier:
            scales = None
        return cls(
            given=settings,
            fourier=fourier,
            shape=image_shape(settings.shape),
            dtype=dtype,
            design_dtype=design_dtype,
            imaginary=imaginary,
            design_imaginary="pixel" if soft else imaginary,
            wavelet=wavelet,
            reconstruction=reconstruction,
            design_noise_variance=noise,
            design_prior_scales=scales,
        )

    @classmethod
    def of_first(cls, settings: ImageSettings, X: Pool | Operator) -> Self:
        """Conventions where ``X`` is measured first."""
        return cls.of(settings, settings.coils is not None or is_fourier(X))

    def check(self) -> None:
        """Refuse, in one sentence, priors that do not suit the image, and models that do not fit into memory."""
        given, prior = self.given, self.prior(self.dtype)
        for name, own in (("prior_scales", prior), ("design_prior_scales", self.design_prior)):
            if not is_open(getattr(given, name)):
                own.scales(getattr(given, name), name)
        n_coils = 1 if given.coils is None or isinstance(given.coils, str) else np.shape(given.coils)[0]
        check_memory(self.shape, prior, (self.dtype, self.design_dtype), given.n_samples, n_coils)
        if given.engine.dense:
            check_dense_memory(self.shape, prior)

    def warn_where_padded(self) -> None:
        """Warn where odd sides are padded."""
        larger = padded_shape(self.shape)
        if larger != self.shape and "wavelet" in self.prior(self.dtype).names:
            warnings.warn(
                f"an image of shape {self.shape} is padded to {larger} for the wavelet prior, by repeating its last "
                'row or column; prior="tv" needs no padding.',
                stacklevel=6,  # where `fit` is called
            )

    def prior(self, dtype: str, imaginary: str | None = None) -> ImagePrior:
        """Prior of an unknown of this dtype; ``imaginary``: of its imaginary part, where that is another one."""
        given, unknown = self.given, "complex" if dtype.startswith("complex") else "real"
        imaginary = self.imaginary if imaginary is None else imaginary
        prior = image_prior(
            self.shape, given.prior, self.wavelet, given.level, unknown, imaginary, float(given.largest)
        )
        return prior if given.reference is None else prior.beside(np.abs(np.asarray(given.reference)).astype(float))

    @property
    def design_prior(self) -> ImagePrior:
        """Prior of the model that designs."""
        return self.prior(self.design_dtype, self.design_imaginary)


def measured(
    settings: ImageSettings,
    X: Pool | Operator,
    y: Outcomes,
    earlier: MeasuredBlocks | None = None,
    *,
    check: bool = True,
) -> MeasuredBlocks:
    """Return the ``earlier`` measurements and these; without earlier ones all is checked that they decide about."""
    X = with_rows_written_out(X)
    if earlier is None:
        known = Conventions.of_first(settings, X)
        known.check()
        known.warn_where_padded()
        earlier = settings.nothing_measured(check)
    after = earlier.with_blocks(X, y)
    return checked_photons(after) if settings.photons else after


# -- memory ------------------------------------------------------------------------------------------------------------


def memory_of(
    shape: tuple[int, ...], prior: ImagePrior, dtypes: Sequence[DType], n_samples: int, n_coils: int = 1
) -> float:
    """Bytes that the largest of the models needs at most, about.

    Parameters
    ----------
    shape : tuple of int
        Of the image or volume.
    prior : ImagePrior
        Its projections are counted.
    dtypes : sequence of dtype
        Of the unknowns of the models.
    n_samples, n_coils : int
    """
    pixels = float(np.prod(shape))
    projections = sum(operator.shape[0] for operator in prior.operators) / pixels
    arrays = 8 * n_samples + 2 * (1 + projections) * n_samples + 40
    numbers = max(np.dtype(dtype).itemsize for dtype in dtypes)
    return pixels * (numbers * arrays + 6 * 16 * n_coils)


def check_memory(
    shape: tuple[int, ...], prior: ImagePrior, dtypes: Sequence[DType], n_samples: int, n_coils: int = 1
) -> None:
    """Refuse, in one sentence, what does not fit; the arguments are those of `memory_of`."""
    needed, there = memory_of(shape, prior, dtypes, n_samples, n_coils), memory_there()
    if needed > there:
        kind, coils = "an image" if len(shape) == 2 else "a volume", f" and {n_coils} coils" if n_coils > 1 else ""
        raise ValueError(
            f"{kind} of shape {shape} with n_samples={n_samples}{coils} needs about {needed / 1e9:.0f} GB of memory, "
            f"and there are {there / 1e9:.0f} GB: take fewer samples or pixels."
        )


def check_dense_memory(shape: tuple[int, ...], prior: ImagePrior) -> None:
    """Refuse, in one sentence, images whose covariance does not fit as a matrix."""
    unknowns = float(np.prod(shape)) * (2 if prior.complex else 1)
    needed, there = 8 * MATRICES * unknowns**2, memory_there()
    if needed > there:
        raise ValueError(
            f"expectation_propagation keeps matrices of {unknowns:.0f} x {unknowns:.0f} entries for an image of shape "
            f"{shape}, about {needed / 1e9:.0f} GB of memory, and there are {there / 1e9:.0f} GB: take fewer pixels or "
            'inference="variational_bounds".'
        )


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
                "noise_variance must be given: it can be read only from blocks on the Cartesian grid or a trajectory, "
                "from the picture itself, or from more rows than pixels."
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
