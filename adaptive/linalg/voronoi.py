"""Areas of k-space that samples stand for: the weights of a linear reconstruction from uneven samples.

    u = X^H G y,    G = diag(weights),        weight = size of what is nearer to this sample than to others

Cells are intervals of the line, and Voronoi cells in the plane closed by a disc; samples at one place share theirs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.spatial import QhullError, Voronoi

from adaptive.checks import finite, integer, positive

if TYPE_CHECKING:
    from adaptive.types import ArrayLike

__all__ = ["line_weights", "sample_weights"]

_FAR = 50.0  # distance of the points that close the outermost cells, in units of the largest radius
_SAME = 1e-9 / np.pi  # in units of the radius: samples nearer than this are one


def line_weights(lines: ArrayLike, n_lines: int, *, mirror: bool = False) -> np.ndarray:
    """Half the distances to both neighbours, for lines of a k-space with ``n_lines`` of them.

    Parameters
    ----------
    lines : (m,) array of int (or float)
        Line indices in any order; index ``n_lines // 2`` is frequency zero. Lines given twice share their cell.
    n_lines : int
        Number of all lines; the outermost cells end half a line beyond the first and the last.
    mirror : bool, default False
        The lines of frequency -k stand for measured ones, too: the weights are those of the completed set, a frequency
        that is its own mirror (or whose mirror is measured as well) shared between both.

    Returns
    -------
    (m,) array
        In the order of the lines. Without mirrors they add up to ``n_lines``.

    Raises
    ------
    ValueError
        If there is no line, or one that k-space does not have.

    References
    ----------
    Rasche, Proksa, Sinkus, Boernert and Eggers (1999), Resampling of data between arbitrary grids using convolution
    interpolation.

    Examples
    --------
    >>> line_weights([0, 1, 2, 3], 4)
    array([1., 1., 1., 1.])
    >>> line_weights([0, 2], 4)
    array([1.5, 2.5])
    """
    n, places = integer("n_lines", n_lines, minimum=1), finite("lines", lines)
    if places.ndim != 1 or not len(places):
        raise ValueError(f"lines must be a list of one or more line indices, got shape {places.shape}.")
    if places.min() < 0 or places.max() > n - 1:
        raise ValueError(f"lines must be between 0 and {n - 1}, got {places[(places < 0) | (places > n - 1)][0]:g}.")
    both = np.concatenate([places, 2 * (n // 2) - places]) if mirror else places
    both = np.where(both > n - 0.5, both - n, both)  # frequency n/2 is -n/2
    values, where, counts = np.unique(both, return_inverse=True, return_counts=True)
    # A line stands in the middle of its cell: k-space begins half a line before line 0, or a full scan had weights 1/2.
    edges = np.concatenate([[-0.5], (values[1:] + values[:-1]) / 2, [n - 0.5]])
    return (np.diff(edges) / counts)[where][: len(places)]


def sample_weights(samples: ArrayLike, radius: float) -> np.ndarray:
    """Areas of the Voronoi cells of samples in the plane, clipped to the disc of a radius about frequency zero.

    Parameters
    ----------
    samples : (..., 2) array
        Frequencies in any arrangement; one outside of the disc has what its cell has of the disc.
    radius : float
        Of the measured disc, in units of the samples.

    Returns
    -------
    (...) array
        Areas in the arrangement of the samples; they add up to the area of the disc.

    Raises
    ------
    ValueError
        If samples are not points of a plane.

    References
    ----------
    Rasche, Proksa, Sinkus, Boernert and Eggers (1999), Resampling of data between arbitrary grids using convolution
    interpolation.

    Examples
    --------
    >>> areas = sample_weights([[0.0, 0.0], [1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, -1.0]], 2.0)
    >>> areas.round(2)
    array([1.  , 2.89, 2.89, 2.89, 2.89])
    """
    points, radius = finite("samples", samples), float(positive("radius", radius))
    if points.ndim < 2 or points.shape[-1] != 2:
        raise ValueError(f"samples must be points of a plane, an array (..., 2), got shape {points.shape}.")
    flat = points.reshape(-1, 2)
    _, first, where, counts = np.unique(
        np.round(flat / (_SAME * radius)).astype(np.int64),
        axis=0,
        return_index=True,
        return_inverse=True,
        return_counts=True,
    )
    return (_clipped_areas(flat[first], radius) / counts)[where.ravel()].reshape(points.shape[:-1])


def _clipped_areas(points: np.ndarray, radius: float) -> np.ndarray:
    """Areas of the Voronoi cells of different points within the disc about 0."""
    if len(points) == 1:
        return np.array([np.pi * radius**2])
    # Points far outside close every cell without taking anything of the disc: they are farther from all of it.
    far = _FAR * max(radius, np.linalg.norm(points, axis=1).max())
    turns = 2 * np.pi * np.arange(8) / 8
    closing = far * np.stack([np.cos(turns), np.sin(turns)], axis=1)
    try:
        diagram = Voronoi(np.concatenate([points, closing]))
    except QhullError as problem:
        raise ValueError(f"samples have no Voronoi cells ({str(problem).splitlines()[0]}).") from None
    regions = [diagram.regions[diagram.point_region[k]] for k in range(len(points))]
    owner = np.repeat(np.arange(len(points)), [len(region) for region in regions])
    begin = diagram.vertices[np.concatenate(regions)]
    end = diagram.vertices[np.concatenate([region[1:] + region[:1] for region in regions])]
    # Qhull gives a cell's corners in order, of either sense of rotation: the sum over its edges has the sign of that.
    return np.abs(np.bincount(owner, _area_with_disc(begin, end, radius), minlength=len(points)))


def _area_with_disc(p: np.ndarray, q: np.ndarray, radius: float) -> np.ndarray:
    """Signed area of the triangles (0, p, q) within the disc about 0; over the edges of a polygon they add up."""

    def sector(a: np.ndarray, b: np.ndarray) -> np.ndarray:
        cross, dot = a[:, 0] * b[:, 1] - a[:, 1] * b[:, 0], (a * b).sum(axis=1)
        return radius**2 / 2 * np.arctan2(cross, dot)

    def triangle(a: np.ndarray, b: np.ndarray) -> np.ndarray:
        return (a[:, 0] * b[:, 1] - a[:, 1] * b[:, 0]) / 2

    # The part of the edge p + t (q - p) inside the disc is t in [low, high].
    d = q - p
    a, b, c = (d * d).sum(axis=1), (p * d).sum(axis=1), (p * p).sum(axis=1) - radius**2
    root = np.sqrt(np.maximum(b**2 - a * c, 0))
    scale = np.where(a > 0, a, 1.0)
    low, high = np.clip((-b - root) / scale, 0, 1), np.clip((-b + root) / scale, 0, 1)
    low, high = (np.where(b**2 > a * c, t, 0.0)[:, None] for t in (low, high))  # it misses the disc: all is outside
    enter, leave = p + low * d, p + high * d
    inside = np.where((high > low)[:, 0], triangle(enter, leave), 0.0)
    return sector(p, enter) + inside + sector(leave, q)
