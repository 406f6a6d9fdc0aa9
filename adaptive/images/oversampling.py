"""Read-outs that were sampled more densely than asked for, cropped to the field of view that is wanted.

cropped = F_m (middle m of the n pixels of F_n^H samples)        F orthonormal: noise keeps its variance
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import scipy.fft

from adaptive.checks import finite, integer

if TYPE_CHECKING:
    from adaptive.types import ArrayLike

__all__ = ["remove_oversampling"]


def remove_oversampling(samples: ArrayLike, side: int | None = None, axis: int = -1) -> np.ndarray:
    """Crop the field of view along the read-out.

    Parameters
    ----------
    samples : array (..., n, ...), complex
        Centred, orthonormal; along ``axis`` everything has to be measured, or nothing.
    side : int, optional
        Pixels that are kept around pixel n // 2; default: half of them.
    axis : int, default -1
        That is read out.

    Returns
    -------
    ndarray (..., side, ...), of the same precision
        In the units of the image: a pixel that is kept has the value that it had.

    Raises
    ------
    ValueError
        If samples are not finite, or side is larger than what there is.

    Examples
    --------
    >>> image = np.pad(np.ones(4), 2)
    >>> samples = np.fft.fftshift(np.fft.fft(np.fft.ifftshift(image), norm="ortho"))
    >>> np.abs(remove_oversampling(samples)).round(6)
    array([0., 0., 2., 0.])
    """
    array = finite("samples", samples, dtype=None)
    if array.ndim < 1 or not -array.ndim <= axis < array.ndim:
        raise ValueError(f"axis {axis} is not among the axes of samples of shape {array.shape}.")
    n = array.shape[axis]
    side = (n + 1) // 2 if side is None else integer("side", side, minimum=1)
    if side > n:
        raise ValueError(f"side must be at most {n}, the samples along axis {axis}, got {side}.")
    pixels = scipy.fft.ifft(np.fft.ifftshift(array, axis), axis=axis, norm="ortho")
    pixels = np.fft.fftshift(pixels, axis)
    start = n // 2 - side // 2
    kept = np.take(pixels, np.arange(start, start + side), axis)
    return np.fft.fftshift(scipy.fft.fft(np.fft.ifftshift(kept, axis), axis=axis, norm="ortho"), axis)
