"""Conventions of k-space and of photographs: an `ImageSettings` with nothing left open, checked against memory."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

import numpy as np

from adaptive.estimators.imaging.blocks import is_fourier, with_rows_written_out
from adaptive.estimators.imaging.photons import checked_photons
from adaptive.estimators.imaging.prior import PRIORS, ImagePrior, image_prior, padded_shape
from adaptive.estimators.imaging.settings import image_shape, is_auto, is_open, name_of
from adaptive.memory import memory_there

if TYPE_CHECKING:
    from adaptive.estimators.imaging.measurements import MeasuredBlocks
    from adaptive.estimators.imaging.prior import StatedScales
    from adaptive.estimators.imaging.settings import ImageSettings
    from adaptive.operators import Operator
    from adaptive.types import DType, Outcomes, Pool

__all__ = ["Conventions", "measured", "memory_of"]

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
