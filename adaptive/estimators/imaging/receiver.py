"""Receiver - phase, coil maps, their noise - as given, or read from the centre of k-space.

    phase  that of `smooth_phase` of the low-resolution image
    std^2 = its own^2 + |phase - phase of half of the centre|^2 / 16

Low resolution bends a phase by what it cannot resolve, about half as much each time the centre doubles: so the phase
from half of the centre tells how far it may be off. What a phase that is off by std leaves behind is an imaginary part
of about std times the magnitude.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from adaptive import checks
from adaptive.estimators.imaging.centre import LARGEST_CENTRE, centre_image, centre_kspace, centre_size
from adaptive.estimators.imaging.measurements import FROM_DATA, MeasuredBlocks
from adaptive.estimators.imaging.sensitivity import checked_maps, made_white, whitening
from adaptive.images import estimate_coils, smooth_phase

if TYPE_CHECKING:
    from adaptive.types import ArrayLike

__all__ = ["Received", "ReceiverSettings"]

SMALLEST_CENTRE = 4
PHASES = ("smooth", "estimate")
_HALF = 0.25  # of the difference to what half of the centre says
_NOT_SMOOTH = 0.5  # radians that a smooth phase may leave, root mean square; beyond, the angle itself is taken


class Received(NamedTuple):
    """Phase and coils of the receiver.

    Attributes
    ----------
    phase : array (*shape) or None
        Radians to take out.
    maps : array (coils, *shape) or None
        Of coils whose noise is white.
    n_central : int
        How much of the centre an estimate was read from; 0 for none.
    imaginary : array (*shape) or None
        Magnitude of the imaginary part that an error of the phase may leave, in units of the image; None: not known.
    """

    phase: np.ndarray | None
    maps: np.ndarray | None
    n_central: int
    imaginary: np.ndarray | None = None


@dataclass(frozen=True)
class ReceiverSettings:
    """The parameters of `ImageReconstructor` that are about the receiver.

    Attributes
    ----------
    shape : tuple of int
    phase : "smooth", "estimate", array (*shape) or None
    coils : "estimate", array (coils, *shape) or None
    covariance : array (coils, coils) or None
    """

    shape: tuple[int, ...]
    phase: ArrayLike | None
    coils: ArrayLike | None
    covariance: ArrayLike | None

    def check(self) -> None:
        """Refuse, in one sentence, what does not fit together."""
        if isinstance(self.phase, str):
            checks.choice("phase", self.phase, PHASES)
        elif self.phase is not None:
            checks.shape("phase", self.phase, self.shape)
        if isinstance(self.coils, str):
            checks.choice("coils", self.coils, ("estimate",))
        if self.coils is None and self.covariance is not None:
            raise ValueError('coil_covariance needs coils: give their maps, or coils="estimate".')
        self.maps  # noqa: B018  looks at both

    @cached_property
    def maps(self) -> np.ndarray | None:
        """The maps that were given, their noise white."""
        if self.coils is None or isinstance(self.coils, str):
            self.whitening  # noqa: B018
            return None
        return made_white(self.whitening, checked_maps(self.coils, self.shape))

    @cached_property
    def whitening(self) -> np.ndarray | None:
        """Matrix that makes the noise of the coils white."""
        n_coils = None if self.coils is None or isinstance(self.coils, str) else len(np.asarray(self.coils))
        return None if self.covariance is None else whitening(self.covariance, n_coils)

    def nothing_measured(self, largest: float, check: bool) -> MeasuredBlocks:
        """No measurement, of images whose magnitudes are at most ``largest``."""
        n_coils = None if self.coils is None else FROM_DATA if self.maps is None else len(self.maps)
        if self.maps is not None:
            largest *= float(np.sqrt(np.sum(np.abs(self.maps) ** 2, axis=0)).max())
        return MeasuredBlocks(self.shape, largest, check, n_coils, self.whitening)

    def require_maps(self, measured: MeasuredBlocks) -> None:
        """Refuse measurements that coil maps cannot be read from, where they are to be."""
        if isinstance(self.coils, str) and _central_of(measured) < SMALLEST_CENTRE:
            raise ValueError(
                f'no centre: coils="estimate" reads the maps from the centre of k-space, {SMALLEST_CENTRE} central '
                f"lines or steps at least, and the measured ones have {_central_of(measured)}; measure it first, or "
                "give maps."
            )

    def received(self, measured: MeasuredBlocks, before: Received | None = None) -> Received | None:
        """Receiver after these measurements; an estimate from ``before`` stays unless much of the centre came.

        None where maps are to be estimated, and too little of the centre was measured for it.
        """
        guess_phase, guess_maps = isinstance(self.phase, str), isinstance(self.coils, str)
        phase = None if self.phase is None or guess_phase else checks.finite("phase", self.phase)
        if not guess_phase and not guess_maps:
            return Received(phase, self.maps, 0)
        n_central = _central_of(measured)
        known = 0 if before is None else before.n_central
        if before is not None and known and (known == LARGEST_CENTRE or n_central < min(2 * known, LARGEST_CENTRE)):
            return before  # a little more of the centre is not worth another model
        if n_central < SMALLEST_CENTRE:
            return None if guess_maps else Received(phase, self.maps, 0)
        maps = estimate_coils(centre_kspace(measured, n_central), n_central) if guess_maps else self.maps
        if not guess_phase:
            return Received(phase, maps, n_central)
        image = centre_image(measured, n_central, maps)
        as_angle = known and before is not None and before.imaginary is None  # it goes on as it began
        if self.phase == "smooth" and not as_angle and np.any(image):
            found = smooth_phase(image)
            if found.left <= _NOT_SMOOTH:
                half = smooth_phase(centre_image(measured, n_central // 2, maps)).phase
                return Received(found.phase, maps, n_central, _left_over(image, found.phase, found.std, half))
        return Received(np.angle(image), maps, n_central)


def _central_of(measured: MeasuredBlocks) -> int:
    """Part of the centre that an estimate may be read from."""
    return min(centre_size(measured), LARGEST_CENTRE)


def _left_over(image: np.ndarray, phase: np.ndarray, std: np.ndarray, half: np.ndarray) -> np.ndarray:
    """Magnitude of the imaginary part where the phase is uncertain."""
    weight = np.abs(image) ** 2
    apart = np.sum(weight * np.angle(np.exp(1j * (phase - half))) ** 2) / np.sum(weight)
    return np.abs(image) * np.sqrt(std**2 + _HALF**2 * apart)
