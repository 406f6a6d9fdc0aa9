"""Density compensation: how much of k-space each sample stands for, the weights of linear reconstruction.

    image ~ X^H diag(weights) y,        weight = area nearer to this sample than to any other, in cells of the grid

so that a full Cartesian scan has weights 1. Areas are closed by the disc |k| <= n/2, those of whole lines half a line
beyond the first and the last one that there are; samples at one place share what is theirs.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from adaptive.checks import finite, integer
from adaptive.linalg import line_weights, sample_weights
from adaptive.operators.shapes import image_shape

if TYPE_CHECKING:
    from adaptive.types import ArrayLike

__all__ = ["line_density", "voronoi_density"]


def line_density(n: int, lines: ArrayLike) -> np.ndarray:
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
    return line_weights(lines, integer("n", n, minimum=1))


def voronoi_density(samples: ArrayLike, shape: Sequence[int], radius: float = np.pi) -> np.ndarray:
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

    Raises
    ------
    ValueError
        If the samples are no points of a plane, or ``shape`` has not two sides.

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
    return sample_weights(points, radius) * (np.prod(sides) / (2 * np.pi) ** 2)
