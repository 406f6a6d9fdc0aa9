"""Limits of a scanner's gradients: the speed and the acceleration of a trajectory through k-space.

    speed        |dk/dt|    <= min(gamma * gradient * F, 1 / dwell)        (1/F per second, F the field of view)
    acceleration |d2k/dt2|  <= gamma * slew * F

The second bound of the speed keeps neighbouring samples of a read-out at most 1/F apart, so that sampling along it
respects the Nyquist limit. With the values below that is the bound that holds: 22.9 of 40 mT/m.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

import numpy as np

from adaptive.checks import finite, positive

if TYPE_CHECKING:
    from adaptive.types import ArrayLike

__all__ = ["GradientLimits"]


@dataclass(frozen=True)
class GradientLimits:
    """Gradient, slew rate, field of view and dwell time of a scan, in the units that scanners state.

    Attributes
    ----------
    gradient : float, default 40
        Largest gradient, mT/m.
    slew : float, default 150
        Largest slew rate, T/m/s.
    field_of_view : float, default 256
        Of the longest side of the image, mm.
    dwell : float, default 4
        Time between two samples, microseconds.
    gyromagnetic : float, default 42.577
        Gyromagnetic ratio over 2 pi, MHz/T: of hydrogen.

    Raises
    ------
    ValueError
        If one of them is not a number > 0, or looks as if it were given in SI units.

    References
    ----------
    Bernstein, King and Zhou (2004), Handbook of MRI Pulse Sequences, for the usual range of whole-body gradients.

    Examples
    --------
    >>> limits = GradientLimits()
    >>> round(limits.speed * 4e-6, 3), round(limits.largest_gradient, 1)  # one step of 1/F per sample; mT/m in use
    (1.0, 22.9)
    """

    gradient: float = 40.0
    slew: float = 150.0
    field_of_view: float = 256.0
    dwell: float = 4.0
    gyromagnetic: float = 42.577

    def __post_init__(self) -> None:
        for field in fields(self):
            positive(field.name, getattr(self, field.name))
        for name, unit, least in (("gradient", "mT/m", 0.5), ("field_of_view", "mm", 2.0), ("dwell", "us", 0.01)):
            if getattr(self, name) < least:
                raise ValueError(
                    f"{name} is in {unit} and must be at least {least:g}, got {getattr(self, name):g}: mixed units?"
                )

    @property
    def _per_gradient(self) -> float:
        """Speed in 1/F per second of 1 T/m."""
        return self.gyromagnetic * 1e6 * self.field_of_view * 1e-3

    @property
    def speed(self) -> float:
        """Largest speed through k-space, 1/F per second."""
        return min(self._per_gradient * self.gradient * 1e-3, 1e6 / self.dwell)

    @property
    def acceleration(self) -> float:
        """Largest acceleration through k-space, 1/F per second squared."""
        return self._per_gradient * self.slew

    @property
    def largest_gradient(self) -> float:
        """mT/m that `speed` needs."""
        return self.speed / self._per_gradient * 1e3

    def gradients(self, samples: ArrayLike, shape: Sequence[int]) -> np.ndarray:
        """Gradients that step from sample to sample of a trajectory, one sample per dwell time.

        Parameters
        ----------
        samples : array (d, axes)
            Radians per pixel.
        shape : tuple of int
            Of the image; its longest side has the field of view.

        Returns
        -------
        array (d - 1, axes), mT/m
        """
        k = finite("samples", samples) * max(shape) / (2 * np.pi)
        return np.diff(k, axis=0) / (self.dwell * 1e-6) / self._per_gradient * 1e3

    def slew_rates(self, samples: ArrayLike, shape: Sequence[int]) -> np.ndarray:
        """Slew rates between these gradients, (d - 2, axes), T/m/s."""
        return np.diff(self.gradients(samples, shape), axis=0) * 1e-3 / (self.dwell * 1e-6)
