"""The parameters of an `ImageReconstructor` as values, and the two models that they make of the same measurements.

    ImageSettings                     what was given, checked
    settings.conventions(fourier)     the same with nothing left open: what suits k-space, or what suits photographs

One model reconstructs: its noise and its scales are given, or what the data say. The other designs. For k-space it has
noise and scales of its own, less and stiffer; where these are None, as they are for photographs, it is the same model.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from adaptive import checks
from adaptive.estimators.belief import Settings
from adaptive.estimators.imaging.blocks import is_fourier, with_rows_written_out
from adaptive.estimators.imaging.measurements import MeasuredBlocks
from adaptive.estimators.imaging.memory import check_dense_memory, check_memory
from adaptive.estimators.imaging.model import DENSE, ENGINES, Engine, ImageModel
from adaptive.estimators.imaging.photons.model import PhotonModel, check_photon_settings, checked_photons
from adaptive.estimators.imaging.photons.scales import learn_photon_scales
from adaptive.estimators.imaging.prior import PRIORS, ImagePrior, image_prior, padded_shape
from adaptive.estimators.imaging.receiver import Received, ReceiverSettings
from adaptive.estimators.imaging.scales import learn_scales

if TYPE_CHECKING:
    from adaptive.estimators.imaging.prior import Scales, StatedScales
    from adaptive.inference import Posterior
    from adaptive.operators import Operator
    from adaptive.types import ArrayLike, DType, Outcomes, Pool, RandomState

__all__ = ["AUTO", "Conventions", "ImageSettings", "image_shape"]

DTYPES = ("float32", "float64", "complex64", "complex128")
AUTO = "auto"
LIKELIHOODS = ("gaussian", "poisson")
KSPACE_NOISE = 1e-6  # of the model that designs for k-space
KSPACE_RATE = 3e-4  # its noise variance over its scale: 1/300; with another noise and the same scale designs lose a lot
PHOTOGRAPH = {  # of grey values in [0, 1]; together sigma / tau with sigma^2 = .005, tau = .075 and .5 (Nickisch, 5.5)
    ("wavelet", "tv"): {"wavelet": 0.943, "tv": 0.141},
    ("wavelet",): {"wavelet": 0.19},  # alone what the evidence of photographs says
    ("tv",): {"tv": 0.141},
    ("tree",): {"tree": 0.05},  # at the finest level
}


@dataclass(frozen=True, eq=False)
class ImageSettings(Settings):
    """Parameters of an `ImageReconstructor` under their names.

    Two are not here: ``check`` is about samples as they come in, and ``refine`` about choosing among candidates.
    """

    shape: Sequence[int]
    likelihood: str
    noise_variance: float | None
    prior: str
    prior_scales: StatedScales | None
    wavelet: str | None
    level: int | None
    dtype: DType | None
    phase: ArrayLike | None
    coils: ArrayLike | None
    coil_covariance: ArrayLike | None
    imaginary_prior: str
    reconstruction: str | None
    design_noise_variance: float | str | None
    design_prior_scales: StatedScales | str | None
    design_dtype: DType | None
    inference: str | Callable[..., Posterior]
    n_samples: int
    reference: ArrayLike | None
    largest: float
    max_iter: int
    tol: float
    random_state: RandomState

    def check(self) -> None:
        """Refuse, in one sentence, parameters that are not what they are said to be, whatever is measured."""
        checks.choice("prior", self.prior, PRIORS)
        checks.choice("likelihood", self.likelihood, LIKELIHOODS)
        if self.photons:
            check_photon_settings(self)
        for name in ("dtype", "design_dtype"):
            if not _is_open(getattr(self, name)):
                checks.choice(name, _name_of(getattr(self, name)), DTYPES)
        if self.reconstruction is not None:
            checks.choice("reconstruction", self.reconstruction, ("map", "mean"))
        if not callable(self.inference):
            checks.choice("inference", self.inference, ENGINES)
        if "tree" in PRIORS[self.prior] and self.inference != ENGINES[0]:
            raise ValueError(
                f'prior="{self.prior}" has a double loop of its own: inference must be "{ENGINES[0]}", got '
                f"{self.inference!r}."
            )
        for name in ("noise_variance", "design_noise_variance"):
            if not _is_open(getattr(self, name)):
                checks.positive(name, getattr(self, name))
        checks.positive("largest", self.largest)
        checks.positive("tol", self.tol, or_zero=True)
        checks.integer("max_iter", self.max_iter, minimum=0)
        checks.integer("n_samples", self.n_samples, minimum=2)
        self.receiver.check()
        if self.reference is not None:
            self._check_reference(image_shape(self.shape))

    @property
    def photons(self) -> bool:
        """Samples are counts."""
        return self.likelihood == "poisson"

    def _check_reference(self, shape: tuple[int, ...]) -> None:
        if "tree" in PRIORS[self.prior]:
            raise ValueError(f'reference needs a prior of scales, prior="{self.prior}" has none.')
        given = checks.finite("reference", self.reference, dtype=None)
        turned = " (turned: is its phase-encode axis another one?)" if given.shape == shape[::-1] != shape else ""
        if given.shape != shape:
            raise ValueError(f"reference must have the shape of the image, {shape}, got {given.shape}{turned}.")
        if given.dtype.kind not in "biufc" or not np.any(given):
            raise ValueError("reference must be an image of numbers that are not all zero.")

    @property
    def engine(self) -> Engine:
        """Engine of the posteriors."""
        name = DENSE[0] if self.photons else self.inference
        return Engine(name, self.n_samples, self.random_state)

    @property
    def receiver(self) -> ReceiverSettings:
        """Parameters of phase and coils."""
        return ReceiverSettings(image_shape(self.shape), self.phase, self.coils, self.coil_covariance)

    # -- what is measured ----------------------------------------------------------------------------------------------

    def nothing_measured(self, check: bool = True) -> MeasuredBlocks:
        """Measurements before there are any; ``check``: k-space will be looked at."""
        return self.receiver.nothing_measured(float(self.largest), bool(check))

    def measured(
        self, X: Pool | Operator, y: Outcomes, earlier: MeasuredBlocks | None = None, *, check: bool = True
    ) -> MeasuredBlocks:
        """The ``earlier`` measurements and these; without earlier ones all is checked that they decide about."""
        X = with_rows_written_out(X)
        if earlier is None:
            known = self.conventions_for(X)
            known.check()
            known.warn_where_padded()
            earlier = self.nothing_measured(check)
        after = earlier.with_blocks(X, y)
        return checked_photons(after) if self.photons else after

    # -- what was left open --------------------------------------------------------------------------------------------

    def conventions_for(self, X: Pool | Operator) -> Conventions:
        """Conventions where ``X`` is measured first."""
        return self.conventions(self.coils is not None or is_fourier(X))

    def conventions(self, fourier: bool) -> Conventions:
        """Conventions of k-space, or anything complex, or else of photographs."""
        dtype = ("complex64" if fourier else "float64") if self.dtype is None else _name_of(self.dtype)
        # A phase that was read from a few samples leaves something imaginary, here and there: little, and sparse.
        rough = fourier and isinstance(self.phase, str) and "tree" not in PRIORS[self.prior]
        imaginary = self.imaginary_prior
        if _is_auto(imaginary):
            imaginary = "pixel" if rough and self.dtype is None else "transform"
        if self.design_dtype is None or (_is_auto(self.design_dtype) and not rough):
            design_dtype = "float32" if fourier else dtype
        else:
            design_dtype = "complex64" if _is_auto(self.design_dtype) else _name_of(self.design_dtype)
        soft = _is_auto(self.design_dtype) and rough and imaginary == "transform"
        wavelet = ("db4" if fourier else "db2") if self.wavelet is None else self.wavelet
        modes = not self.engine.dense and "tree" not in PRIORS[self.prior]
        reconstruction = ("map" if modes else "mean") if self.reconstruction is None else self.reconstruction
        noise, scales = self.design_noise_variance, self.design_prior_scales
        if isinstance(noise, str):
            noise = KSPACE_NOISE if fourier else None
        if isinstance(scales, str) and not fourier:
            scales = None
        return Conventions(
            given=self,
            fourier=fourier,
            shape=image_shape(self.shape),
            dtype=dtype,
            design_dtype=design_dtype,
            imaginary=imaginary,
            design_imaginary="pixel" if soft else imaginary,
            wavelet=wavelet,
            reconstruction=reconstruction,
            design_noise_variance=noise,
            design_prior_scales=scales,
        )


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

    def check(self) -> None:
        """Refuse, in one sentence, priors that do not suit the image, and models that do not fit into memory."""
        given, prior = self.given, self.prior(self.dtype)
        for name, own in (("prior_scales", prior), ("design_prior_scales", self.design_prior)):
            if not _is_open(getattr(given, name)):
                own.scales(getattr(given, name), name)
        n_coils = 1 if given.coils is None or isinstance(given.coils, str) else np.shape(given.coils)[0]
        check_memory(self.shape, prior, (self.dtype, self.design_dtype), given.n_samples, n_coils)
        if given.engine.dense:
            check_dense_memory(self.shape, prior)

    def warn_where_padded(self) -> None:
        """Say that odd sides are padded, if they are."""
        larger = padded_shape(self.shape)
        if larger != self.shape and "wavelet" in self.prior(self.dtype).names:
            warnings.warn(
                f"an image of shape {self.shape} is padded to {larger} for the wavelet prior, by repeating its last "
                'row or column; prior="tv" needs no padding.',
                stacklevel=6,  # where `fit` is called
            )

    @property
    def one_model(self) -> bool:
        """One model designs and reconstructs."""
        same = self.design_noise_variance is None and self.design_prior_scales is None
        return same and (self.given.engine.dense or self.dtype == self.design_dtype)

    def prior(self, dtype: str, imaginary: str | None = None) -> ImagePrior:
        """The prior of an unknown of this dtype; ``imaginary``: of its imaginary part, where that is another one."""
        given, unknown = self.given, "complex" if dtype.startswith("complex") else "real"
        told = self.imaginary if imaginary is None else imaginary
        prior = image_prior(self.shape, given.prior, self.wavelet, given.level, unknown, told, float(given.largest))
        return prior if given.reference is None else prior.beside(np.abs(np.asarray(given.reference)).astype(float))

    @property
    def design_prior(self) -> ImagePrior:
        """The prior of the model that designs."""
        return self.prior(self.design_dtype, self.design_imaginary)

    # -- the model that reconstructs -----------------------------------------------------------------------------------

    def noise_variance(self, measured: MeasuredBlocks) -> float:
        """As it was given, or read off the samples."""
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
        """The model that reconstructs."""
        prior = self.prior(self.dtype).leaving(received.imaginary)
        kind = PhotonModel if self.given.photons else ImageModel
        return kind(measured, received.phase, noise, prior, self.dtype, received.maps)

    def scales(self, model: ImageModel, warm: Posterior | None = None) -> tuple[Scales, Posterior | None]:
        """The scales of that model, given or learnt; in the latter case perhaps its posterior, too."""
        if self.given.prior_scales is not None:
            return model.prior.scales(self.given.prior_scales), None
        if isinstance(model, PhotonModel):
            start = self.photograph_scales()
            assert isinstance(start, dict)
            return learn_photon_scales(model, start, self.given.engine)
        if self.given.engine.dense and not self.fourier:
            return self.photograph_scales(), None
        learnt = learn_scales(model, self.given.engine.sampled(), warm_start=warm)  # type: ignore[arg-type]
        return learnt.scales, None if self.given.engine.dense else learnt.posterior

    def photograph_scales(self) -> Scales:
        """Those of photographs, from the literature."""
        prior = self.prior(self.dtype)
        return prior.times(prior.scales(PHOTOGRAPH[prior.names]), float(self.given.largest))

    # -- the model that designs ----------------------------------------------------------------------------------------

    def design_model(self, model: ImageModel) -> ImageModel:
        """The model that designs, beside the one that reconstructs."""
        noise = self._design_noise(model.noise_variance)
        prior = self.design_prior.leaving(model.prior.left_over)
        return replace(model, noise_variance=noise, prior=prior, dtype=self.design_dtype)

    def design_scales(self, noise: float) -> Scales | None:
        """The scales of that model beside the data's ``noise``; None: those of the reconstruction, needed first."""
        stated, prior, largest = self.design_prior_scales, self.design_prior, float(self.given.largest)
        if stated is None:
            return None
        if isinstance(stated, str):
            stated = self._design_noise(noise) / (KSPACE_RATE * largest**2)
        return prior.times(prior.scales(stated, "design_prior_scales"), largest)

    def _design_noise(self, noise: float) -> float:
        """The noise variance of that model beside that of the data."""
        given = self.design_noise_variance
        return noise if given is None else float(given) * float(self.given.largest) ** 2

    def scales_before_fit(self) -> Scales:
        """The same where nothing was measured and nothing can be learnt; refused where they, or the noise, are open."""
        given, stated, known = self.given, self.design_scales(float(self.given.noise_variance or 1.0)), None
        if given.prior_scales is not None:
            known = self.prior(self.dtype).scales(given.prior_scales)
        elif not self.fourier:
            known = self.photograph_scales()
        for name, open_ in (
            (
                "noise_variance",
                not given.photons and given.noise_variance is None and self.design_noise_variance is None,
            ),
            ("prior_scales", known is None and stated is None),
        ):
            if open_:
                raise ValueError(f"before anything is measured nothing can be learnt: give design_{name} or {name}.")
        scales = known if stated is None else stated
        assert scales is not None
        return scales


def image_shape(given: Sequence[int]) -> tuple[int, ...]:
    """The sides of an image or volume; refused in one sentence where these are none."""
    sides = tuple(given) if np.ndim(given) == 1 else ()
    if len(sides) not in (2, 3):
        raise ValueError(f"shape must be the two sides of an image or the three of a volume, got {given!r}.")
    return tuple(checks.integer("shape", side, minimum=2) for side in sides)


def _is_open(value: object) -> bool:
    """Test whether a parameter was left to what suits the measurements, or to the model that reconstructs."""
    return value is None or _is_auto(value)


def _is_auto(value: object) -> bool:
    return isinstance(value, str) and value == AUTO


def _name_of(dtype: DType) -> str:
    """The name of a dtype however it was given; what is none stays as it is, to be refused."""
    try:
        return np.dtype(dtype).name
    except TypeError:
        return str(dtype)
