"""Parameters of an `ImageReconstructor` as values, checked; what suits the measurements is left open."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeGuard

import numpy as np

from adaptive import checks
from adaptive.estimators.belief import Settings
from adaptive.estimators.imaging.measurements import MeasuredBlocks
from adaptive.estimators.imaging.model import DENSE, ENGINES, Engine
from adaptive.estimators.imaging.photons import check_photon_settings
from adaptive.estimators.imaging.prior import PRIORS
from adaptive.estimators.imaging.receiver import ReceiverSettings

if TYPE_CHECKING:
    from adaptive.estimators.imaging.prior import StatedScales
    from adaptive.inference import Posterior
    from adaptive.types import ArrayLike, DType, RandomState

__all__ = ["AUTO", "ImageSettings", "image_shape", "is_auto", "is_open", "name_of"]

DTYPES = ("float32", "float64", "complex64", "complex128")
AUTO = "auto"
LIKELIHOODS = ("gaussian", "poisson")


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
            if not is_open(getattr(self, name)):
                checks.choice(name, name_of(getattr(self, name)), DTYPES)
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
            if not is_open(getattr(self, name)):
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


def image_shape(given: Sequence[int]) -> tuple[int, ...]:
    """Sides of an image or volume; refused in one sentence where these are none."""
    sides = tuple(given) if np.ndim(given) == 1 else ()
    if len(sides) not in (2, 3):
        raise ValueError(f"shape must be the two sides of an image or the three of a volume, got {given!r}.")
    return tuple(checks.integer("shape", side, minimum=2) for side in sides)


def is_open(value: object) -> bool:
    """Test whether a parameter was left to what suits the measurements, or to the model that reconstructs."""
    return value is None or is_auto(value)


def is_auto(value: object) -> TypeGuard[str]:
    """Test whether a parameter is "auto"."""
    return isinstance(value, str) and value == AUTO


def name_of(dtype: DType) -> str:
    """Name of a dtype however it was given; what is none stays as it is, to be refused."""
    try:
        return np.dtype(dtype).name
    except TypeError:
        return str(dtype)
