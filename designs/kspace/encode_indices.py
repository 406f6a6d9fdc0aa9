"""Indices of phase encodes: pairs in the plane of two phase-encode directions, from 0 (frequency -n/2) to n - 1.

DC is (n0 // 2, n1 // 2). A real volume has conjugate samples on the encode of opposite frequencies, ``mirror``: (a, b)
and (2 c0 - a, 2 c1 - b), c = n // 2, modulo n.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from adaptive.checks import finite, integer

if TYPE_CHECKING:
    from adaptive.types import ArrayLike

__all__ = ["as_encodes", "central_encodes", "checked_encodes", "mirror_encodes", "rank", "relative_radius"]


def central_encodes(plane: Sequence[int], n_central: int) -> np.ndarray:
    """The ``n_central`` encodes nearest to DC, as fractions of the largest frequency along each axis.

    Parameters
    ----------
    plane : pair of int
        Sides of the plane of phase encodes.
    n_central : int

    Returns
    -------
    ndarray (n_central, 2) of int
        Sorted; on a tie the lower indices go first.

    Raises
    ------
    ValueError
        If ``n_central`` is larger than the number of encodes.

    Examples
    --------
    >>> central_encodes((8, 8), 5).tolist()
    [[3, 4], [4, 3], [4, 4], [4, 5], [5, 4]]
    """
    plane = _checked_plane(plane)
    n_central = integer("n_central", n_central, minimum=1)
    if n_central > plane[0] * plane[1]:
        raise ValueError(f"n_central must be at most {plane[0] * plane[1]}, the number of encodes, got {n_central}.")
    nearest = np.argsort(relative_radius(plane).ravel().round(12), kind="stable")[:n_central]
    return np.stack(np.unravel_index(np.sort(nearest), plane), axis=1)


def relative_radius(plane: tuple[int, int]) -> np.ndarray:
    """Distance of every encode from DC, 1 at the largest frequency along either axis, (n0, n1)."""
    first, second = ((np.arange(n) - n // 2) / max(n / 2, 1) for n in plane)
    return np.hypot(first[:, None], second)


def mirror_encodes(plane: Sequence[int], encodes: ArrayLike) -> np.ndarray:
    """The encodes of opposite frequencies, (m, 2).

    Parameters
    ----------
    plane : pair of int
        Numbers of phase encodes along the two axes.
    encodes : array-like of int, shape (m, 2)

    Returns
    -------
    ndarray of int, shape (m, 2)
        In the order given.

    Examples
    --------
    >>> mirror_encodes((8, 8), [[3, 4], [4, 4], [0, 5]]).tolist()
    [[5, 4], [4, 4], [0, 3]]
    """
    sides = np.array(_checked_plane(plane))
    return (2 * (sides // 2) - np.asarray(encodes, dtype=int)) % sides


def as_encodes(plane: Sequence[int], encodes: ArrayLike, n_central: int = 1) -> np.ndarray:
    """Check a design given as pairs of indices, and sort it.

    Parameters
    ----------
    plane : pair of int
        Sides of the plane of phase encodes.
    encodes : array-like (m, 2) of int, or mask of ``plane``
        In any order.
    n_central : int, default 1
        So many encodes around DC must be among them; 0 asks for none.

    Returns
    -------
    ndarray (m, 2) of int
        Sorted.

    Raises
    ------
    ValueError
        If an encode is given twice, is no pair of integers, does not exist, or a central one is absent.

    Examples
    --------
    >>> as_encodes((8, 8), [[5, 4], [4, 4]]).tolist()
    [[4, 4], [5, 4]]
    """
    plane = _checked_plane(plane)
    given = np.asarray(encodes)
    checked = np.argwhere(given) if given.dtype == bool and given.shape == plane else checked_encodes(plane, encodes)
    checked = checked[np.argsort(rank(plane, checked), kind="stable")]
    if integer("n_central", n_central, minimum=0):
        centre = central_encodes(plane, n_central)
        absent = centre[~np.isin(rank(plane, centre), rank(plane, checked))]
        if len(absent):
            one = (int(absent[0, 0]), int(absent[0, 1]))
            which = " (DC)" if one == (plane[0] // 2, plane[1] // 2) else ""
            raise ValueError(
                f"encodes must hold the central encode {one}{which}: without it an image has no scale or phase."
            )
    return checked


def rank(plane: tuple[int, int], encodes: np.ndarray) -> np.ndarray:
    """Position of every encode in the flattened plane."""
    return encodes[:, 0] * plane[1] + encodes[:, 1]


def checked_encodes(plane: tuple[int, int], encodes: ArrayLike) -> np.ndarray:
    """Encodes (m, 2) of a plane as integers; refused, in one sentence, outside of it or given twice."""
    array = finite("encodes", encodes, dtype=None)
    if array.size == 0:
        return np.empty((0, 2), int)
    if array.ndim != 2 or array.shape[1] != 2 or array.dtype.kind not in "iu":
        raise ValueError(f"encodes must be pairs of integers (m, 2), got {array.dtype} of shape {array.shape}.")
    array = array.astype(int)
    outside = array[((array < 0) | (array >= plane)).any(axis=1)]
    if len(outside):
        raise ValueError(
            f"encodes must be between (0, 0) and ({plane[0] - 1}, {plane[1] - 1}) (DC is "
            f"({plane[0] // 2}, {plane[1] // 2})), got ({outside[0, 0]}, {outside[0, 1]})."
        )
    values, counts = np.unique(array, axis=0, return_counts=True)
    if (counts > 1).any():
        twice = values[counts > 1][0]
        raise ValueError(f"encodes holds ({twice[0]}, {twice[1]}) twice; each can be measured once.")
    return array


def _checked_plane(plane: Sequence[int]) -> tuple[int, int]:
    sides = tuple(plane) if np.ndim(plane) == 1 else ()
    if len(sides) != 2:
        raise ValueError(f"plane must be the two sides of the plane of phase encodes, got {plane!r}.")
    return integer("plane", sides[0], minimum=1), integer("plane", sides[1], minimum=1)
