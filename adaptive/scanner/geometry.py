"""Place of the voxels of a scan in the patient: position of voxel (0, 0, 0), directions of the axes, voxel size.

    millimetres = position + directions @ (voxel_size * index)          right, anterior, superior (RAS), as NIfTI has it

DICOM and ISMRMRD count towards left, posterior and superior; a change of two signs, which loses no bit, lies between.
Parts are kept as files state them, not their product, so that what is written again is the same to the bit.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import permutations
from typing import TYPE_CHECKING, Self

import numpy as np

from adaptive.checks import choice, finite, integer, positive

if TYPE_CHECKING:
    from adaptive.types import ArrayLike

__all__ = ["PLANES", "TO_LPS", "Geometry"]

PLANES = {"sagittal": 0, "coronal": 1, "axial": 2}  # the anatomical axis that each is perpendicular to
_NAMES = ("left-right", "anterior-posterior", "head-foot")
TO_LPS = np.array([-1.0, -1.0, 1.0])  # times a vector right, anterior, superior: left, posterior, superior, and back
_PARALLEL = 1e-2  # largest angle between axes that count as one, radians


@dataclass(frozen=True, eq=False)
class Geometry:
    """A grid of voxels in the patient.

    Attributes
    ----------
    position : ndarray (3,)
        Of the centre of voxel (0, 0, 0), in mm to the right, anterior and superior.
    directions : ndarray (3, 3)
        Unit vectors of the three axes, one per column.
    voxel_size : ndarray (3,)
        In mm.
    matrix : tuple of three int
        Number of voxels; of a slice the last is 1.

    Raises
    ------
    ValueError
        If a part is of another shape, not finite, or the directions do not span the space.

    Examples
    --------
    >>> grid = Geometry.from_affine(np.diag([2.0, 2.0, 3.0, 1.0]), (96, 128, 24))
    >>> grid.field_of_view.tolist(), grid.plane
    ([192.0, 256.0, 72.0], 'axial')
    """

    position: np.ndarray
    directions: np.ndarray
    voxel_size: np.ndarray
    matrix: tuple[int, int, int]

    def __post_init__(self) -> None:
        place, columns = finite("position", self.position), finite("directions", self.directions)
        size = positive("voxel_size", self.voxel_size)
        if place.shape != (3,) or columns.shape != (3, 3) or size.shape != (3,) or len(self.matrix) != 3:
            raise ValueError(
                "a geometry has a position (3,), directions (3, 3), a voxel_size (3,) and a matrix of three sides, got "
                f"shapes {place.shape}, {columns.shape}, {size.shape} and {len(self.matrix)} sides."
            )
        if abs(np.linalg.det(columns)) < 1e-3:
            raise ValueError("directions must be three different directions, and two of them are the same.")
        sides = tuple(integer("matrix", side, minimum=1) for side in self.matrix)
        checked = {"position": place, "directions": columns, "voxel_size": size, "matrix": sides}
        for name, value in checked.items():
            object.__setattr__(self, name, value)

    @classmethod
    def from_affine(cls, affine: ArrayLike, matrix: Sequence[int]) -> Self:
        """The geometry of a matrix from indices to mm (RAS), (4, 4), as NIfTI files have it."""
        array = finite("affine", affine)
        if array.shape != (4, 4):
            raise ValueError(f"affine must have shape (4, 4), got {array.shape}.")
        columns = array[:3, :3].astype(float)
        size = np.linalg.norm(columns, axis=0)
        if not (size > 0).all():
            raise ValueError("affine must give every axis a length, and one of its columns is zero.")
        first, second, third = (int(side) for side in matrix)
        return cls(array[:3, 3].astype(float), columns / size, size, (first, second, third))

    @property
    def affine(self) -> np.ndarray:
        """From indices to mm to the right, anterior, superior (RAS), (4, 4)."""
        whole = np.eye(4)
        whole[:3, :3], whole[:3, 3] = self.directions * self.voxel_size, self.position
        return whole

    @property
    def field_of_view(self) -> np.ndarray:
        """Length of every axis in mm, (3,)."""
        return self.voxel_size * np.array(self.matrix)

    @property
    def centre(self) -> np.ndarray:
        """Place of voxel n // 2 of every axis, mm RAS: there the Fourier transform has its origin."""
        return self.place([side // 2 for side in self.matrix])

    @property
    def plane(self) -> str:
        """ "axial", "coronal" or "sagittal": the plane nearest to that of the first two axes."""
        across = self.to_anatomical()[0].index(2)
        return next(name for name, axis in PLANES.items() if axis == across)

    def direction(self, axis: int) -> str:
        """ "left-right", "anterior-posterior" or "head-foot": what the direction of an axis is nearest to."""
        return _NAMES[int(np.argmax(np.abs(self.directions[:, axis])))]

    def side(self, axis: int) -> str:
        """Letter of the side of the patient that an axis points to: R or L, A or P, S (superior) or I.

        Examples
        --------
        >>> Geometry(np.zeros(3), np.diag([-1.0, 1.0, 1.0]), np.ones(3), (2, 2, 2)).side(0)
        'L'
        """
        along = self.directions[:, axis]
        nearest = int(np.argmax(np.abs(along)))
        return ("RL", "AP", "SI")[nearest][int(along[nearest] < 0)]

    def place(self, index: ArrayLike) -> np.ndarray:
        """Place of a voxel, mm RAS, (3,)."""
        return self.position + self.directions @ (self.voxel_size * np.asarray(index, dtype=float))

    def axis_through(self, plane: str) -> int:
        """The axis that is most nearly perpendicular to a plane.

        Raises
        ------
        ValueError
            If there is no such plane.
        """
        return self.to_anatomical()[0][PLANES[choice("plane", plane, PLANES)]]

    def cut(self, axis: int, index: int) -> Geometry:
        """The geometry of one slice: the two other axes in their order, then this one with one voxel."""
        at = [0, 0, 0]
        at[axis] = index
        kept = [k for k in range(3) if k != axis]
        moved = replace(self, position=self.place(at)).turned([*kept, axis])
        return replace(moved, matrix=(self.matrix[kept[0]], self.matrix[kept[1]], 1))

    def cropped(self, axis: int, side: int) -> Geometry:
        """Fewer voxels, or more, along an axis; voxel n // 2 stays where it is."""
        at, sides = [0, 0, 0], list(self.matrix)
        at[axis] = sides[axis] // 2 - side // 2
        sides[axis] = side
        return replace(self, position=self.place(at), matrix=(sides[0], sides[1], sides[2]))

    def turned(self, order: Sequence[int], reverse: Sequence[bool] = (False, False, False)) -> Geometry:
        """The same voxels counted otherwise: old axes in a new ``order``, and some of the new ones backwards."""
        order = list(order)
        sides = [self.matrix[axis] for axis in order]
        at = [0, 0, 0]
        for axis, side, back in zip(order, sides, reverse, strict=True):
            at[axis] = side - 1 if back else 0
        signs = np.where(reverse, -1.0, 1.0)
        columns = self.directions[:, order] * signs
        return Geometry(self.place(at), columns, self.voxel_size[order], (sides[0], sides[1], sides[2]))

    def way_to(self, other: Geometry) -> tuple[list[int], list[bool], float]:
        """Order of the axes, which run backwards, and the largest angle (radians) that is left to those of another.

        A slice stays a slice: its axis of one voxel belongs to that of the other.
        """
        cosines = other.directions.T @ self.directions  # (axis of the other, own axis)
        fits = [
            list(order)
            for order in permutations(range(3))
            if not (1 in self.matrix and 1 in other.matrix)
            or any(self.matrix[axis] == 1 == side for axis, side in zip(order, other.matrix, strict=True))
        ]
        best = max(fits, key=lambda order: float(sum(abs(cosines[k, axis]) for k, axis in enumerate(order))))
        along = np.array([cosines[k, axis] for k, axis in enumerate(best)])
        return best, [bool(one < 0) for one in along], float(np.arccos(np.clip(np.abs(along).min(), 0.0, 1.0)))

    def parallel(self, other: Geometry) -> bool:
        """True where the axes are those of another, to a hundredth of a radian, in whatever order."""
        return self.way_to(other)[2] <= _PARALLEL

    def to_anatomical(self) -> tuple[list[int], list[bool]]:
        """Order of the axes, and which run backwards, that lead nearest to right, anterior, superior."""
        whole = Geometry(np.zeros(3), np.eye(3), np.ones(3), (2, 2, 2))
        order, backwards, _ = self.way_to(whole)
        return order, backwards
