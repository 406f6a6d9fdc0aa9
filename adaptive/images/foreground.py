"""Object in an image, without the air around it: pixels above a share of the brightest, holes filled."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy import ndimage

from adaptive import checks

if TYPE_CHECKING:
    from adaptive.types import ArrayLike

__all__ = ["foreground"]

BRIGHTEST = 99.0  # percentile that counts as such
_SMOOTH = 1.5  # pixels: noise of the air is no object


def foreground(image: ArrayLike, share: float = 0.1) -> np.ndarray:
    """Pixels of the object: the largest connected part above a share of the brightest, with what it encloses.

    Parameters
    ----------
    image : array (h, w)
        Magnitudes, or complex.
    share : float in (0, 1), default 0.1
        Of the 99th percentile of the smoothed magnitudes.

    Returns
    -------
    array of bool (h, w)

    Raises
    ------
    ValueError
        If the image is not one of two axes, or nothing is in it.

    Examples
    --------
    >>> ring = np.zeros((12, 12))
    >>> ring[3:9, 3:9] = 1
    >>> ring[5:7, 5:7] = 0
    >>> print(foreground(ring, 0.5).sum(), foreground(ring, 0.5)[6, 6])
    36 True
    """
    magnitude = np.abs(checks.finite("image", image, dtype=None)).astype(float)
    if magnitude.ndim != 2 or not magnitude.any():
        raise ValueError(f"image must be one of two axes that is not zero everywhere, got shape {magnitude.shape}.")
    checks.share("share", share)
    smooth = ndimage.gaussian_filter(magnitude, _SMOOTH)
    parts, n = ndimage.label(smooth > float(share) * np.percentile(smooth, BRIGHTEST))
    sizes = ndimage.sum_labels(np.ones_like(smooth), parts, np.arange(1, n + 1))
    return np.asarray(ndimage.binary_fill_holes(parts == 1 + int(np.argmax(sizes))))
