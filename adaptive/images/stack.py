"""Stacks of images, scaled to [0, 1] when they are looked at.

    image = clip(stored / (99.8 percentile of the magnitudes of the slice), 0, 1)

so that a few bright voxels (vessels, fat) do not decide the scale. Complex images keep their phase; their magnitudes
are scaled.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, overload

import numpy as np

from adaptive.checks import integer

if TYPE_CHECKING:
    from adaptive.types import ArrayLike

__all__ = ["ImageStack", "Slice", "fitted", "head_path", "head_scan", "middle_square", "padded", "scaled"]

PERCENTILE = 99.8
SIDES = {"axial": "AR", "coronal": "SR", "sagittal": "SA"}  # top and right of a picture whose axes are anatomical


@dataclass(frozen=True, eq=False)
class Slice:
    """One image and where it comes from.

    Attributes
    ----------
    image : ndarray (h, w)
        Float64 in [0, 1], or complex with magnitudes in [0, 1].
    title : str
        For captions, as in "axial slice 12 of example4d.nii.gz".
    index : int
        Position in its stack.
    anatomical : bool
        Whether the axes point right, anterior or superior: then a picture has to be turned (``upright``).
    plane : str
        "axial", "coronal" or "sagittal", where that is known.

    Examples
    --------
    >>> Slice(np.eye(8), "a diagonal").image.shape
    (8, 8)
    """

    image: np.ndarray
    title: str
    index: int = 0
    anatomical: bool = False
    plane: str = ""

    @property
    def sides(self) -> str:
        """Letters of the sides on top and right of the upright picture, as "AR"; empty where they are unknown."""
        return SIDES.get(self.plane, "") if self.anatomical else ""

    def upright(self, array: ArrayLike | None = None) -> np.ndarray:
        """This image, or another array of its shape, as it is looked at: anterior or superior on top."""
        array = self.image if array is None else np.asarray(array)
        return np.rot90(array) if self.anatomical else array

    def padded(self, multiple: int) -> Slice:
        """The slice with zeros around it, sides multiples of ``multiple``."""
        return replace(self, image=padded(self.image, multiple))

    def fitted(self, shape: Sequence[int]) -> Slice:
        """The slice padded with zeros or cropped to ``shape``, about its centre."""
        return replace(self, image=fitted(self.image, shape))


class ImageStack(Sequence[Slice]):
    """The slices of a file, scaled when they are looked at.

    Parameters
    ----------
    stored : array-like (n_slices, h, w)
        Real or complex numbers, slices first.
    name : str
        What a slice is a slice of, for titles and messages.
    plane : str, default ""
        "axial", "coronal" or "sagittal", where the axes are anatomical.

    Raises
    ------
    ValueError
        If what is stored has no three axes, or holds no numbers.

    Examples
    --------
    >>> stack = ImageStack(np.arange(24.0).reshape(2, 4, 3), "numbers.npy")
    >>> len(stack), stack[1].title, float(stack[1].image.max())
    (2, 'slice 1 of numbers.npy', 1.0)
    >>> stack.neighbour(1)
    0
    """

    def __init__(self, stored: ArrayLike, name: str, plane: str = ""):
        self.stored = np.asarray(stored)
        if self.stored.ndim != 3 or not self.stored.size:
            raise ValueError(f"{name}: a stack of images has shape (slices, height, width), got {self.stored.shape}.")
        if self.stored.dtype.kind not in "biufc":
            raise ValueError(f"{name} holds {self.stored.dtype} instead of numbers.")
        self.name, self.plane = name, plane

    def __len__(self) -> int:
        return len(self.stored)

    @overload
    def __getitem__(self, index: int) -> Slice: ...
    @overload
    def __getitem__(self, index: slice) -> list[Slice]: ...
    def __getitem__(self, index: int | slice) -> Slice | list[Slice]:
        if isinstance(index, slice):
            return [self[k] for k in range(*index.indices(len(self)))]
        index = integer("slice", index)
        if not -len(self) <= index < len(self):
            # IndexError, not ValueError: iteration over a sequence ends here.
            raise IndexError(f"{self.name} has no slice {index}: there are {len(self)}, 0 to {len(self) - 1}.")
        index %= len(self)
        title = self.name if len(self) == 1 else f"{self.plane} slice {index} of {self.name}".lstrip()
        return Slice(scaled(self.stored[index], title), title, index, bool(self.plane), self.plane)

    def __repr__(self) -> str:
        return f"ImageStack({self.name!r}, {len(self)} {self.plane or 'plain'} slices of {self.stored.shape[1:]})"

    @property
    def middle(self) -> int:
        """Index of the middle slice."""
        return len(self) // 2

    def neighbour(self, index: int) -> int | None:
        """Index of the next slice (the one before at the end), or None in a stack of one."""
        if len(self) == 1:
            return None
        return index + 1 if index + 1 < len(self) else index - 1


def head_scan() -> ImageStack:
    """The head scan that nibabel ships: 24 axial slices of 128 x 96 voxels of 2 x 2 x 2.2 mm, echo-planar, one subject.

    Returns
    -------
    ImageStack

    Raises
    ------
    FileNotFoundError
        If nibabel was installed without its test data.

    Examples
    --------
    >>> head_scan()[12].image.shape
    (128, 96)
    """
    import nibabel

    path = head_path()
    canonical = nibabel.as_closest_canonical(nibabel.load(path))  # axes right, anterior, superior
    return ImageStack(np.moveaxis(np.asarray(canonical.dataobj[..., 0]), 2, 0), path.name, "axial")


def head_path() -> Path:
    """The file of `head_scan`."""
    import nibabel

    # not through nibabel.testing, which imports pytest
    path = Path(nibabel.__file__).parent / "tests" / "data" / "example4d.nii.gz"
    if not path.is_file():
        raise FileNotFoundError(
            f"this nibabel came without its test data: there is no {path}; read a file of your own."
        )
    return path


def scaled(image: ArrayLike, name: str = "image") -> np.ndarray:
    """Scale an image to [0, 1] by the 99.8 percentile of its magnitudes.

    Parameters
    ----------
    image : array-like (h, w)
        Real (negative values become 0) or complex (the phase is kept).
    name : str
        For messages.

    Returns
    -------
    ndarray (h, w), float64 or complex128

    Raises
    ------
    ValueError
        If the image is not two-dimensional, holds NaN or infinity, or is empty of signal.

    Examples
    --------
    >>> scaled([[0, 5], [10, 10]])
    array([[0. , 0.5],
           [1. , 1. ]])
    """
    array = np.asarray(image)
    if array.ndim != 2 or not array.size:
        raise ValueError(f"{name} must be one two-dimensional image, got shape {array.shape}.")
    if array.dtype.kind not in "biufc":
        raise ValueError(f"{name} must hold numbers, got {array.dtype}.")
    array = array.astype(complex if array.dtype.kind == "c" else float)
    bad = ~np.isfinite(array)
    if bad.any():
        raise ValueError(f"{name} holds {int(bad.sum())} pixels that are NaN or infinite; replace them before.")
    if array.dtype.kind == "f":
        array = np.maximum(array, 0.0)
    magnitude = np.abs(array)
    top = np.percentile(magnitude, PERCENTILE) or magnitude.max()  # a few bright pixels on nothing: the brightest is 1
    if top == 0:
        raise ValueError(f"{name} is empty: no pixel is above 0.")
    return array / np.maximum(magnitude, top)  # above the percentile: magnitude 1


def padded(image: ArrayLike, multiple: int) -> np.ndarray:
    """Put zeros around an image until its sides are multiples of ``multiple``.

    Parameters
    ----------
    image : array-like (h, w)
    multiple : int
        Pixels.

    Returns
    -------
    ndarray
        Of shape (h', w'), the next multiples.

    Examples
    --------
    >>> padded(np.ones((2, 3)), 2)
    array([[0., 1., 1., 1.],
           [0., 1., 1., 1.]])
    """
    multiple = integer("multiple", multiple, minimum=1)
    image = np.asarray(image)
    return fitted(image, [side + -side % multiple for side in image.shape])


def fitted(image: ArrayLike, shape: Sequence[int]) -> np.ndarray:
    """Pad an image with zeros, or crop it, to a shape; pixel n // 2 of every axis stays pixel n // 2.

    Parameters
    ----------
    image : array-like (h, w)
    shape : tuple of two int

    Returns
    -------
    ndarray of ``shape``

    Raises
    ------
    ValueError
        If the image or the shape has other than two axes.

    Examples
    --------
    >>> fitted(np.arange(1, 7).reshape(2, 3), (1, 5))
    array([[0, 4, 5, 6, 0]])
    """
    image = np.asarray(image)
    if image.ndim != 2 or np.ndim(shape) != 1 or len(shape) != 2:
        raise ValueError(f"an image of two axes can be fitted to two sides, got shapes {image.shape} and {shape!r}.")
    result = np.zeros([integer("shape", side, minimum=1) for side in shape], image.dtype)
    into, out_of = [], []
    for old, new in zip(image.shape, result.shape, strict=True):
        before = new // 2 - old // 2  # how far pixel 0 moves
        into.append(slice(max(before, 0), min(before + old, new)))
        out_of.append(slice(max(-before, 0), min(new - before, old)))
    result[tuple(into)] = image[tuple(out_of)]
    return result


def middle_square(whole: np.ndarray, side: int) -> np.ndarray:
    """Return the middle square of a picture, averaged over blocks to ``side`` x ``side`` pixels.

    Parameters
    ----------
    whole : (h, w) array
        At least ``side`` pixels high and wide.
    side : int

    Returns
    -------
    ndarray (side, side)

    Examples
    --------
    >>> middle_square(np.arange(24.0).reshape(4, 6), 2)
    array([[ 4.5,  6.5],
           [16.5, 18.5]])
    """
    factor = min(whole.shape) // side
    top, left = ((length - factor * side) // 2 for length in whole.shape)
    middle = whole[top : top + factor * side, left : left + factor * side]
    return middle.reshape(side, factor, side, factor).mean(axis=(1, 3))
