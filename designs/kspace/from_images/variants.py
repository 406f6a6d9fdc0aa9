"""The same head another day: moved, turned, in another contrast, with another phase.

    variant = contrast(turned and shifted reference) exp(i phase)

What a design may rely on is what these have in common. Contrasts are monotone or inverting maps of the grey values
inside the head: simulated, since another contrast of the same head is what nobody has before it is measured.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import scipy.fft
from scipy import ndimage

from adaptive.checks import positive
from adaptive.images import SimulatedScan, simulate_scan

__all__ = ["Change", "inverted", "moved", "variant"]

_HEAD = 0.08  # grey value from which on it is the head
_GAMMAS = (1.0, 0.6, 1.6)  # monotone contrasts


class Change(NamedTuple):
    """Difference that the next scan may have from the reference.

    Attributes
    ----------
    shift, rotation : float
        Largest ones, in pixels along each axis and in degrees; 0: none.
    contrasts : bool
        Whether contrasts may differ.
    snr : float
        Largest magnitude over the standard deviation of the noise in each part.
    """

    shift: float
    rotation: float
    contrasts: bool
    snr: float

    @property
    def possible(self) -> bool:
        """True where head or contrast may have changed; else the reference is the next image but for noise."""
        return bool(self.shift or self.rotation or self.contrasts)

    @classmethod
    def checked(cls, motion: tuple[float, float], contrasts: bool, snr: float) -> Change:
        """From the arguments of `reference_lines`."""
        shift, rotation = (float(positive("motion", one, or_zero=True)) for one in motion)
        return cls(shift, rotation, bool(contrasts), float(positive("snr", snr)))


def moved(image: np.ndarray, shift: Sequence[float], degrees: float) -> np.ndarray:
    """A magnitude image turned by ``degrees`` (splines) and shifted by fractions of pixels (in k-space).

    Examples
    --------
    >>> moved(np.eye(4), (1.0, 0.0), 0.0).round(6)[1]
    array([1., 0., 0., 0.])
    """
    turned = ndimage.rotate(image, degrees, reshape=False, order=3) if degrees else image
    ramp = sum(
        np.expand_dims(scipy.fft.fftfreq(n), tuple(k for k in range(image.ndim) if k != axis)) * by
        for axis, (n, by) in enumerate(zip(image.shape, shift, strict=True))
    )
    return np.abs(scipy.fft.ifftn(scipy.fft.fftn(turned) * np.exp(-2j * np.pi * ramp)))


def inverted(image: np.ndarray) -> np.ndarray:
    """Dark where a head was bright and bright where it was dark, inside of it; outside nothing.

    Examples
    --------
    >>> image = np.pad(np.full((8, 8), 0.9), 4)
    >>> found = inverted(image)
    >>> float(found[8, 8]) < 0.3, float(found[0, 0])
    (True, 0.0)
    """
    head = ndimage.binary_fill_holes(ndimage.gaussian_filter(image, 1.0) > _HEAD)
    inside = ndimage.gaussian_filter(head.astype(float), 1.0)
    return np.where(inside > 0.05, inside * np.clip(1.0 - 0.9 * image, 0.0, 1.0), 0.0)


def variant(
    reference: np.ndarray,
    phase: np.ndarray | None,
    k: int,
    change: Change,
    coils: np.ndarray | None,
    entropy: int,
) -> SimulatedScan:
    """Variant ``k`` of a reference, as a scan.

    Parameters
    ----------
    reference : array (n0, n1)
        Magnitudes, the largest one 1.
    phase : array (n0, n1) or None
        Radians; None: a smooth random one of its own.
    k : int
        0 is the head as it is; of the others every second one is inverted, where contrasts may differ.
    change : Change
    coils : array (coils, n0, n1) or None
    entropy : int
        What all variants are seeded from.
    """
    rng, image = np.random.default_rng([entropy, 0, k]), reference
    shift, degrees = rng.uniform(-1, 1, 2) * change.shift, float(rng.uniform(-1, 1)) * change.rotation
    if change.contrasts and k:
        image = inverted(image) if k % 2 else image ** _GAMMAS[(k // 2) % len(_GAMMAS)]
    if k and (change.shift or change.rotation):
        image = moved(image, shift.tolist(), degrees)
    image = image / image.max()
    whole = image if phase is None else image * np.exp(1j * phase)
    return simulate_scan(whole, snr=change.snr, coils=coils, random_state=rng, dtype="complex64")
