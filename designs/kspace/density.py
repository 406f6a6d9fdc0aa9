"""Density compensation: how much of k-space each sample stands for, the weights of linear reconstruction.

    image ~ X^H diag(weights) y,        weight = area nearer to this sample than to any other, in cells of the grid

so that a full Cartesian scan has weights 1. Areas are closed by the disc |k| <= n/2, those of whole lines half a line
beyond the first and the last one that there are; samples at one place share what is theirs.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.spatial import QhullError, Voronoi

from adaptive.checks import finite, integer, positive
from adaptive.operators.shapes import image_shape

__all__ = ["line_density", "voronoi_density"]

_FAR = 50.0  # distance of the points that close the outermost cells, in units of the largest radius
_SAME = 1e-9  # radians per pixel: samples nearer than this are one


def line_density(n: int, lines: Any) -> np.ndarray:
    """Weights of whole lines: half the distance to both neighbours, or to the ends of k-space, -1/2 and n - 1/2.

    Parameters
    ----------
    n : int
        Number of phase encodes.
    lines : array-like of int (or float)
        Line indices in any order; DC is n // 2. Lines given twice share their cell.

    Returns
    -------
    array (m,)
        In the order of the lines. They add up to n.

    Examples
    --------
    >>> line_density(8, [0, 4, 5])
    array([2.5, 2.5, 3. ])
    >>> line_density(8, range(8))
    array([1., 1., 1., 1., 1., 1., 1., 1.])
    """
    n, places = integer("n", n, minimum=1), finite("lines", lines)
    if places.ndim != 1 or not len(places):
        raise ValueError(f"lines must be a list of one or more line indices, got shape {places.shape}.")
    if places.min() < 0 or places.max() > n - 1:
        raise ValueError(f"lines must be between 0 and {n - 1}, got {places[(places < 0) | (places > n - 1)][0]:g}.")
    values, where, counts = np.unique(places, return_inverse=True, return_counts=True)
    # A line stands in the middle of its cell: k-space begins half a line before line 0, or a full scan had weights 1/2.
    edges = np.concatenate([[-0.5], (values[1:] + values[:-1]) / 2, [n - 0.5]])
    return (np.diff(edges) / counts)[where]


def voronoi_density(samples: Any, shape: Any, radius: float = np.pi) -> np.ndarray:
    """Weights of samples anywhere in the plane: areas of their Voronoi cells, clipped to a disc.

    Parameters
    ----------
    samples : array (..., 2)
        Radians per pixel; all shots together, in any arrangement. Samples at the same place, as DC in every interleave,
        share their cell.
    shape : tuple of two int
        Of the image: a weight of 1 is a cell of its Cartesian grid.
    radius : float, default pi
        Of the disc, radians per pixel; pi sqrt(2) covers the corners of a Cartesian scan.

    Returns
    -------
    array (...)
        In the arrangement of the samples; they add up to the area of the disc in cells, pi/4 n^2 of an image (n, n).

    Examples
    --------
    >>> weights = voronoi_density([[0.0, 0.0], [0.1, 0.0], [0.0, 0.1], [-0.1, 0.0], [0.0, -0.1]], (32, 32))
    >>> round(float(weights[0]), 3), round(float(weights.sum()) / 32**2, 3)  # a square of side 0.1, and pi/4
    (0.259, 0.785)
    """
    points, sides = finite("samples", samples), image_shape("shape", shape)
    if points.ndim < 2 or points.shape[-1] != 2 or len(sides) != 2:
        raise ValueError(
            f"samples must be points of a plane (..., 2) and shape two sides, got {points.shape} and {sides}."
        )
    radius = float(positive("radius", radius))
    flat = points.reshape(-1, 2)
    _, first, where, counts = np.unique(
        np.round(flat / _SAME).astype(np.int64), axis=0, return_index=True, return_inverse=True, return_counts=True
    )
    areas = _clipped_areas(flat[first], radius)
    cells = np.prod(sides) / (2 * np.pi) ** 2
    return (areas * cells / counts)[where.ravel()].reshape(points.shape[:-1])


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
