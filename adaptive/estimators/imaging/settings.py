"""The parameters of an `ImageReconstructor`, checked, and the two models that they make of the same measurements.

One model reconstructs: its noise and its scales are given, or what the data say. The other designs. For k-space it has
noise and scales of its own, less and stiffer; where these are None, as they are for photographs, it is the same model.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from adaptive import checks
from adaptive.estimators.imaging.measurements import MeasuredBlocks
from adaptive.estimators.imaging.model import ENGINES, Engine, ImageModel
from adaptive.estimators.imaging.prior import PRIORS, ImagePrior, image_prior, padded_shape
from adaptive.estimators.imaging.receiver import Received, ReceiverSettings
from adaptive.estimators.imaging.scales import learn_scales
from adaptive.memory import memory_there

if TYPE_CHECKING:
    from adaptive.estimators.image_reconstructor import ImageReconstructor
    from adaptive.inference import Posterior

__all__ = ["ImageSettings", "memory_of"]

DTYPES = ("float32", "float64", "complex64", "complex128")
AUTO = "auto"
MATRICES = 4  # of all pixels by all pixels, while a dense posterior is inferred
KSPACE_NOISE, KSPACE_SCALE = 1e-6, 1 / 300  # of the model that designs for k-space
PHOTOGRAPH = {  # of grey values in [0, 1]; together sigma / tau with sigma^2 = .005, tau = .075 and .5 (Nickisch, 5.5)
    ("wavelet", "tv"): {"wavelet": 0.943, "tv": 0.141},
    ("wavelet",): {"wavelet": 0.19},  # alone what the evidence of photographs says
    ("tv",): {"tv": 0.141},
    ("tree",): {"tree": 0.05},  # at the finest level
}


class ImageSettings:
    """What an estimator was told, and for what was left open what suits the measurements.

    Parameters
    ----------
    given : ImageReconstructor
        Whose parameters are read.
    fourier : bool
        Whether k-space is measured, or anything complex: then the conventions of k-space hold, else of photographs.
    """

    def __init__(self, given: ImageReconstructor, fourier: bool):
        self._given, self.fourier = given, fourier

    def check(self) -> None:
        """Refuse, in one sentence, parameters that are not what they are said to be, and models that do not fit."""
        given = self._given
        checks.choice("prior", given.prior, PRIORS)
        for name in ("dtype", "design_dtype"):
            if getattr(given, name) is not None:
                checks.choice(name, _name_of(getattr(given, name)), DTYPES)
        if given.reconstruction is not None:
            checks.choice("reconstruction", given.reconstruction, ("map", "mean"))
        if not callable(given.inference):
            checks.choice("inference", given.inference, ENGINES)
        if "tree" in PRIORS[given.prior] and given.inference != ENGINES[0]:
            raise ValueError(
                f'prior="{given.prior}" has a double loop of its own: inference must be "{ENGINES[0]}", got '
                f"{given.inference!r}."
            )
        for name in ("noise_variance", "design_noise_variance"):
            if not _is_open(getattr(given, name)):
                checks.positive(name, getattr(given, name))
        checks.positive("largest", given.largest)
        checks.positive("tol", given.tol, or_zero=True)
        checks.integer("max_iter", given.max_iter, minimum=0)
        checks.integer("n_samples", given.n_samples, minimum=2)
        self.receiver.check()
        prior = self.prior(self.dtype)
        for name in ("prior_scales", "design_prior_scales"):
            if not _is_open(getattr(given, name)):
                prior.scales(getattr(given, name), name)
        n_coils = 1 if given.coils is None or isinstance(given.coils, str) else len(given.coils)
        check_memory(self.shape, prior, (self.dtype, self.design_dtype), given.n_samples, n_coils)
        if self.engine.dense:
            check_dense_memory(self.shape, prior)

    def warn_where_padded(self) -> None:
        """Say that odd sides are padded, if they are."""
        larger = padded_shape(self.shape)
        if larger != self.shape and "wavelet" in self.prior(self.dtype).names:
            warnings.warn(
                f"an image of shape {self.shape} is padded to {larger} for the wavelet prior, by repeating its last "
                'row or column; prior="tv" needs no padding.',
                stacklevel=4,
            )

    @property
    def shape(self) -> tuple[int, ...]:
        """Sides of the image or volume."""
        sides = tuple(self._given.shape) if np.ndim(self._given.shape) == 1 else ()
        if len(sides) not in (2, 3):
            raise ValueError(
                f"shape must be the two sides of an image or the three of a volume, got {self._given.shape!r}."
            )
        return tuple(checks.integer("shape", side, minimum=2) for side in sides)

    # -- what was left open --------------------------------------------------------------------------------------------

    @property
    def dtype(self) -> str:
        """Of the unknown that is reconstructed."""
        given = self._given.dtype
        return ("complex64" if self.fourier else "float64") if given is None else _name_of(given)

    @property
    def design_dtype(self) -> str:
        """Of the unknown of the model that designs."""
        given = self._given.design_dtype
        return ("float32" if self.fourier else self.dtype) if given is None else _name_of(given)

    @property
    def reconstruction(self) -> str:
        """The mode, or the mean of posteriors that are not made of modes."""
        given = self._given.reconstruction
        sparse = not self.engine.dense and "tree" not in PRIORS[self._given.prior]
        return ("map" if sparse else "mean") if given is None else given

    @property
    def _design_noise(self) -> float | None:
        given = self._given.design_noise_variance
        return (KSPACE_NOISE if self.fourier else None) if isinstance(given, str) else given

    @property
    def _design_scales(self) -> Any:
        given = self._given.design_prior_scales
        return (KSPACE_SCALE if self.fourier else None) if isinstance(given, str) else given

    @property
    def one_model(self) -> bool:
        """Whether the model that designs is the one that reconstructs."""
        same = self._design_noise is None and self._design_scales is None
        return same and (self.engine.dense or self.dtype == self.design_dtype)

    @property
    def design_follows(self) -> bool:
        """Whether the model that designs has the scales of the one that reconstructs, which are then needed first."""
        return self._design_scales is None

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
        given, unknown = self._given, "complex" if dtype.startswith("complex") else "real"
        wavelet = ("db4" if self.fourier else "db2") if given.wavelet is None else given.wavelet
        return image_prior(
            self.shape, given.prior, wavelet, given.level, unknown, given.imaginary_prior, float(given.largest)
        )

    # -- the two models ------------------------------------------------------------------------------------------------

    def noise_variance(self, measured: MeasuredBlocks) -> float:
        """As it was given, or read off the samples."""
        given = self._given.noise_variance
        noise = given if given is not None else measured.noise_variance()
        if noise is None:
            raise ValueError(
                "noise_variance must be given where no block is on the Cartesian grid or a trajectory, nor the picture "
                "itself, and there are no more rows than pixels: it is read off there."
            )
        return float(noise)

    def model(
        self, measured: MeasuredBlocks, received: Received, noise: float | None = None, dtype: str | None = None
    ) -> ImageModel:
        """A model of the measurements; by default with the noise and the dtype of the one that reconstructs."""
        noise = self.noise_variance(measured) if noise is None else noise
        dtype = self.dtype if dtype is None else dtype
        return ImageModel(measured, received.phase, noise, self.prior(dtype), dtype, received.maps)

    def known_scales(self, prior: ImagePrior) -> Any:
        """Scales that need not be learnt: given ones, and those of photographs where there is no learning."""
        if self._given.prior_scales is not None:
            return prior.scales(self._given.prior_scales)
        if self.engine.dense and not self.fourier:
            return self._photograph_scales(prior)
        return None

    def _photograph_scales(self, prior: ImagePrior) -> Any:
        return prior.times(prior.scales(PHOTOGRAPH[prior.names]), float(self._given.largest))

    def scales(self, model: ImageModel, warm: Posterior | None = None) -> dict[str, Any]:
        """The ``scales`` of the reconstruction, given or learnt; in the latter case also its ``posterior``."""
        known = self.known_scales(model.prior)
        if known is not None:
            return {"scales": known}
        learnt = learn_scales(model, self.engine.sampled(), warm_start=warm)  # type: ignore[arg-type]
        return {"scales": learnt.scales} | ({} if self.engine.dense else {"posterior": learnt.posterior})

    def design_model(self, model: ImageModel, learnt: Any = None) -> tuple[ImageModel, Any]:
        """The model that designs, and its scales: its own where they are given, else those of the reconstruction."""
        unit = float(self._given.largest)
        prior = self.prior(self.design_dtype)
        noise, scales = model.noise_variance, learnt
        if self._design_noise is not None:
            noise = float(self._design_noise) * unit**2
        if self._design_scales is not None:
            stated = prior.scales(self._design_scales, "design_prior_scales")
            scales = prior.times(stated, unit)
        return replace(model, noise_variance=noise, prior=prior, dtype=self.design_dtype), scales

    def design_model_before_fit(self) -> tuple[ImageModel, Any]:
        """The same where nothing was measured, so that nothing can be learnt."""
        given = self._given
        known = None if given.prior_scales is None else self.prior(self.dtype).scales(given.prior_scales)
        if known is None and not self.fourier:
            known = self._photograph_scales(self.prior(self.dtype))
        for name, value, own in (
            ("noise_variance", given.noise_variance, self._design_noise),
            ("prior_scales", known, self._design_scales),
        ):
            if value is None and own is None:
                raise ValueError(f"before anything is measured nothing can be learnt: give design_{name} or {name}.")
        unseen = Received(None, self.receiver.maps, 0)
        return self.design_model(self.model(self.nothing_measured(), unseen, float(given.noise_variance or 1.0)), known)


def _is_open(value: Any) -> bool:
    """Whether a parameter was left to what suits the measurements, or to the model that reconstructs."""
    return value is None or (isinstance(value, str) and value == AUTO)


def _name_of(dtype: Any) -> str:
    """The name of a dtype however it was given; what is none stays as it is, to be refused."""
    try:
        return np.dtype(dtype).name
    except TypeError:
        return str(dtype)


# -- memory: samples, their projections, control variates, conjugate gradients -----------------------------------------


def memory_of(
    shape: tuple[int, ...], prior: ImagePrior, dtypes: Sequence[Any], n_samples: int, n_coils: int = 1
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
    shape: tuple[int, ...], prior: ImagePrior, dtypes: Sequence[Any], n_samples: int, n_coils: int = 1
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
