"""What is said of the receiver - phase, coil maps, their noise - or read from the centre of k-space instead."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from adaptive import checks
from adaptive.estimators.imaging.centre import LARGEST_CENTRE, centre_images, centre_kspace, centre_size
from adaptive.estimators.imaging.measurements import FROM_DATA, MeasuredBlocks
from adaptive.estimators.imaging.sensitivity import checked_maps, made_white, whitening
from adaptive.images import estimate_coils

__all__ = ["Received", "ReceiverSettings"]

SMALLEST_CENTRE = 4


class Received(NamedTuple):
    """What is known of the receiver.

    Attributes
    ----------
    phase : array (*shape) or None
        Radians to take out.
    maps : array (coils, *shape) or None
        Of coils whose noise is white.
    n_central : int
        How much of the centre an estimate was read from; 0 for none.
    """

    phase: np.ndarray | None
    maps: np.ndarray | None
    n_central: int


@dataclass(frozen=True)
class ReceiverSettings:
    """The parameters of `ImageReconstructor` that are about the receiver.

    Attributes
    ----------
    shape : tuple of int
    phase : "estimate", array (*shape) or None
    coils : "estimate", array (coils, *shape) or None
    covariance : array (coils, coils) or None
    """

    shape: tuple[int, ...]
    phase: Any
    coils: Any
    covariance: Any

    def check(self) -> None:
        """Refuse, in one sentence, what does not fit together."""
        if isinstance(self.phase, str):
            checks.choice("phase", self.phase, ("estimate",))
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
        n_coils = None if self.coils is None or isinstance(self.coils, str) else len(self.coils)
        return None if self.covariance is None else whitening(self.covariance, n_coils)

    def nothing_measured(self, largest: float, check: bool) -> MeasuredBlocks:
        """No measurement, of images whose magnitudes are at most ``largest``."""
        n_coils = None if self.coils is None else FROM_DATA if self.maps is None else len(self.maps)
        if self.maps is not None:
            largest *= float(np.sqrt(np.sum(np.abs(self.maps) ** 2, axis=0)).max())
        return MeasuredBlocks(self.shape, largest, check, n_coils, self.whitening)

    def received(self, measured: MeasuredBlocks, before: Received | None = None) -> Received:
        """What is known after these measurements; an estimate from ``before`` stays unless much of the centre came."""
        guess_phase, guess_maps = isinstance(self.phase, str), isinstance(self.coils, str)
        phase = None if self.phase is None or guess_phase else checks.finite("phase", self.phase)
        if not guess_phase and not guess_maps:
            return Received(phase, self.maps, 0)
        n_central = min(centre_size(measured), LARGEST_CENTRE)
        known = 0 if before is None else before.n_central
        if before is not None and known and (known == LARGEST_CENTRE or n_central < min(2 * known, LARGEST_CENTRE)):
            return before  # a little more of the centre is not worth another model
        if n_central < SMALLEST_CENTRE:
            if guess_maps:
                raise ValueError(
                    f'no centre: coils="estimate" reads the maps from the centre of k-space, {SMALLEST_CENTRE} central '
                    f"lines or steps at least, and the measured ones have {n_central}; measure it first, or give maps."
                )
            return Received(phase, self.maps, 0)
        maps = estimate_coils(centre_kspace(measured, n_central), n_central) if guess_maps else self.maps
        if guess_phase:
            images = centre_images(measured, n_central)
            phase = np.angle(images[0] if maps is None else np.sum(maps.conj() * images, axis=0))
        return Received(phase, maps, n_central)
