"""Random filters with the spectrum of natural images: white noise whose power is made to fall as 1 / f^2."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from scipy import fft

from adaptive.checks import generator, integer, positive
from adaptive.operators.shapes import image_shape
from designs.filters.normalised import as_filters

if TYPE_CHECKING:
    from adaptive.types import RandomState

__all__ = ["coloured"]


def coloured(
    shape: int | Sequence[int], n_filters: int, *, power: float = 2.0, random_state: RandomState = None
) -> np.ndarray:
    """Noise whose expected power spectrum falls as 1 / f^power, each row normalised.

    The frequency f is the length of the vector of cycles per pixel along the axes; the mean (f = 0) has the power of
    the lowest other frequency.

    Parameters
    ----------
    shape : int or tuple of int
        Of the image.
    n_filters : int
        How many; more than pixels are allowed.
    power : float, default 2.0
        Zero is white noise.
    random_state : None, int or Generator

    Returns
    -------
    array (n_filters, pixels)

    References
    ----------
    Nickisch (2010), section 5.4, "rand coloured".

    Examples
    --------
    >>> filters = coloured((8, 8), 3, random_state=0)
    >>> filters.shape, np.linalg.norm(filters, axis=1).round(12)
    ((3, 64), array([1., 1., 1.]))
    """
    sides = image_shape("shape", shape)
    exponent = float(positive("power", power, or_zero=True))
    white = generator(random_state).standard_normal((integer("n_filters", n_filters, minimum=0), *sides))
    axes = tuple(range(1, 1 + len(sides)))
    spectrum = fft.fftn(white, axes=axes) * _amplitude(sides, exponent)
    return as_filters(fft.ifftn(spectrum, axes=axes).real if len(white) else white)


def _amplitude(sides: tuple[int, ...], power: float) -> np.ndarray:
    squares = [fft.fftfreq(side) ** 2 for side in sides]
    frequency = np.sqrt(sum(np.meshgrid(*squares, indexing="ij")))
    frequency.flat[0] = 1.0 / max(sides)  # the lowest there is, so that the mean stays finite
    return frequency ** (-power / 2)
