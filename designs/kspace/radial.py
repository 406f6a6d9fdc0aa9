"""Radial spokes: read-outs through the centre of k-space, k = (j - n/2) 2 pi/n (cos angle, sin angle)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from adaptive.checks import finite, integer
from designs.kspace.angles import rotated

if TYPE_CHECKING:
    from adaptive.types import ArrayLike

__all__ = ["spoke_samples"]


def spoke_samples(n: int, angles: ArrayLike = 0.0, *, n_samples: int | None = None) -> np.ndarray:
    """Samples of spokes, in radians per pixel.

    Parameters
    ----------
    n : int
        Pixels along the longest side of the image; a spoke goes from -n/2 to n/2 periods over it, the end left out.
    angles : float or array (m,), default 0
        Radians, from axis 0 towards axis 1; a spoke at angle + pi is the same one run backwards, but for its ends.
    n_samples : int, optional
        Samples of a spoke; None: n, the Nyquist rate along it. DC is sample n_samples // 2.

    Returns
    -------
    array (m, n_samples, 2)
        (n_samples, 2) of a single angle. All are in [-pi, pi).

    Examples
    --------
    >>> spoke_samples(4, 0.0)[:, 0].round(3)
    array([-3.142, -1.571,  0.   ,  1.571])
    """
    count = integer("n_samples", integer("n", n, minimum=1) if n_samples is None else n_samples, minimum=1)
    radius = 2 * np.pi * (np.arange(count) - count // 2) / count
    turned = rotated(np.stack([radius, np.zeros(count)], axis=1), finite("angles", angles))
    turned = np.where(turned >= np.pi, -np.pi, turned)  # the end of a spoke at angle pi: pi is -pi on a grid
    return turned if np.ndim(angles) else turned[0]
