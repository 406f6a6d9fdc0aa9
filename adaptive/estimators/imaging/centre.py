"""The centre of k-space: how much of it was measured, and the image of low resolution that it shows.

Lines and masks hold the centre on the grid. Of trajectories it is the disc (ball) in which every frequency of the grid
has a sample within one step; there a small image is fitted to the samples by least squares,

    min_v  |X_small v - y|^2 + ridge |v|^2,        X_small the samples as frequencies of an image of so few pixels.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.spatial import cKDTree

from adaptive.images import low_resolution
from adaptive.linalg import conjugate_gradients
from adaptive.operators import FourierLines, NonuniformFourier

if TYPE_CHECKING:
    from adaptive.estimators.imaging.measurements import MeasuredBlocks

__all__ = ["LARGEST_CENTRE", "centre_image", "centre_kspace", "centre_size"]

LARGEST_CENTRE = 32  # central lines, or side of the central block, that anything is estimated from
_REACH = 1.0  # steps of the grid: twice the Nyquist distance, since heads fill half of the field of view
_RIDGE = 1e-2


def centre_size(measured: MeasuredBlocks) -> int:
    """Central lines, or side of the central block or disc, without a gap; at most 32 where lines are not it."""
    if measured.axis is not None and measured.mask.any():
        return measured.n_central()
    return max(_block_size(measured.mask), _disc_size(measured.points, measured.shape))


def _block_size(mask: np.ndarray) -> int:
    centre = [side // 2 for side in mask.shape]
    size = 0
    while size < min(LARGEST_CENTRE, *mask.shape):
        half = size // 2 + 1
        if not mask[tuple(slice(max(c - half, 0), c + half) for c in centre)].all():
            break
        size += 2
    return size


def _disc_size(points: np.ndarray, shape: tuple[int, ...]) -> int:
    """Diameter of the disc that the samples ``points`` (m, d), radians per pixel, cover."""
    if not len(points):
        return 0
    half = min(LARGEST_CENTRE, *shape) // 2
    steps = points * np.array(shape) / (2 * np.pi)
    grid = np.stack(np.meshgrid(*[np.arange(-half, half + 1)] * len(shape), indexing="ij"), -1).reshape(-1, len(shape))
    radius = np.linalg.norm(grid, axis=1)
    gaps = cKDTree(steps).query(grid, distance_upper_bound=_REACH)[0] > _REACH
    first = radius[gaps & (radius <= half)]
    return 2 * int(half if not len(first) else max(np.ceil(first.min()) - 1, 0))


def centre_kspace(measured: MeasuredBlocks, size: int) -> np.ndarray:
    """Samples (coils, *shape) on the grid of which the central ones are known; a single coil counts as one."""
    if measured.axis is not None or _block_size(measured.mask) >= size:
        return measured.kspace.reshape(-1, *measured.shape)
    small = tuple(min(size, side) for side in measured.shape)
    points = measured.points * (np.array(measured.shape) / np.array(small))
    inside = np.all((points >= -np.pi) & (points < np.pi), axis=1)
    values = np.concatenate([v.reshape(-1, v.shape[-1]) for _, v in measured.trajectories], axis=1)[:, inside]
    F = NonuniformFourier(small, points[inside])
    ridge = _RIDGE * len(F.samples) / F.shape[1]
    images = conjugate_gradients(lambda u: F.normal(u) + ridge * u, F.adjoint(values), tol=1e-3).x
    kspace = np.zeros((len(values), *measured.shape), complex)
    where = tuple(slice(n // 2 - s // 2, n // 2 - s // 2 + s) for n, s in zip(measured.shape, small, strict=True))
    kspace[(slice(None), *where)] = FourierLines(small, range(small[0])).forward(images)
    return kspace


def centre_image(measured: MeasuredBlocks, size: int, maps: np.ndarray | None) -> np.ndarray:
    """Image of low resolution, coil after coil put together by their ``maps``; without maps that of the first coil."""
    kspace = centre_kspace(measured, size)
    if maps is None:
        return low_resolution(kspace[0], size, measured.axis)
    image = np.zeros(measured.shape, complex)
    for each, one in zip(kspace, maps, strict=True):
        image += one.conj() * low_resolution(each, size, measured.axis)
    return image
