"""An object wider than the field of view: the image of twice the field of view, and how it folds.

    pixel of the scan = sum of those of the larger image that lie a field of view apart

Line k of the scan is line 2 k of the larger image: its lines lie half as far from each other. So a scan that wraps
around is a scan of every other line of an image that does not, and whatever works with lines and coil maps works with
the larger image.
"""

from __future__ import annotations

from math import sqrt
from typing import TYPE_CHECKING

import numpy as np

from adaptive.checks import finite

if TYPE_CHECKING:
    from adaptive.types import ArrayLike

__all__ = ["folded", "unfolded"]


def unfolded(sets: ArrayLike, axis: int = -1) -> np.ndarray:
    """Two images, or two sets of coil maps, side by side on twice the field of view.

    The first stays in the middle; of the second each half lies beyond the border that it wrapped around.

    Parameters
    ----------
    sets : array (2, ..., n, ...)
        Of even n along ``axis``.
    axis : int, default -1
        Along which there was wrap-around, counted from the end: -1 or -2 of images (h, w).

    Returns
    -------
    ndarray (..., 2 n, ...)
        Times sqrt(2), so that orthonormal lines 2 k of it are lines k of the sum of the sets.

    Raises
    ------
    ValueError
        If there are not two sets, or their side is odd.

    Examples
    --------
    Both have the same samples:

    >>> from adaptive.operators import FourierLines
    >>> first, second = np.random.default_rng(0).random((2, 8, 6))
    >>> large = FourierLines((8, 12), [0, 2, 6], axis=1).forward(unfolded([first, second]))
    >>> bool(np.allclose(large, FourierLines((8, 6), [0, 1, 3], axis=1).forward(first + second)))
    True
    """
    sets = finite("sets", sets, dtype=None)
    if sets.ndim < 2 or len(sets) != 2 or not -sets.ndim < axis < 0 or sets.shape[axis] % 2:
        raise ValueError(
            f"sets must be two, with an even side along axis {axis}, counted from the end, got an array of shape "
            f"{sets.shape}."
        )
    first, second = np.moveaxis(sets, axis, -1)
    half = first.shape[-1] // 2
    wide = np.concatenate([second[..., half:], first, second[..., :half]], axis=-1)
    return sqrt(2) * np.moveaxis(wide, -1, axis)


def folded(images: ArrayLike, axis: int = -1) -> np.ndarray:
    """Images of twice the field of view as the scan shows them: what lies a field of view apart falls together.

    Parameters
    ----------
    images : array (..., 2 n, ...)
        As `unfolded` returns them, of even n.
    axis : int, default -1

    Returns
    -------
    ndarray (..., n, ...)
        ``folded(unfolded(sets))`` is the sum of the sets.

    Raises
    ------
    ValueError
        If the side along ``axis`` is not divisible by four.

    Examples
    --------
    >>> folded(unfolded([[1.0, 2.0, 3.0, 4.0], [10.0, 20.0, 30.0, 40.0]])).round(9)
    array([11., 22., 33., 44.])
    """
    images = finite("images", images, dtype=None)
    if not -images.ndim <= axis < images.ndim or images.shape[axis] % 4 or not images.shape[axis]:
        raise ValueError(
            f"images must have a side divisible by four along axis {axis}, twice an even one, got shape {images.shape}."
        )
    wide = np.moveaxis(images, axis, -1)
    half = wide.shape[-1] // 4
    seen = wide[..., half:-half] / sqrt(2)
    seen[..., :half] += wide[..., -half:] / sqrt(2)
    seen[..., half:] += wide[..., :half] / sqrt(2)
    return np.moveaxis(seen, -1, axis)
