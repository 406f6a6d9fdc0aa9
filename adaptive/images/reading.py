"""Images from files, scaled to [0, 1]: slices of NIfTI and MGH volumes, NumPy arrays, PNG and JPEG pictures.

    image = clip(stored / (99.8 percentile of the magnitudes of the slice), 0, 1)

so that a few bright voxels (vessels, fat) do not decide the scale. Volumes are turned to the nearest anatomical axes
first: an axial slice has axes (right, anterior), a coronal one (right, superior), a sagittal one (anterior, superior).
Complex arrays keep their phase; their magnitudes are scaled.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, overload

import numpy as np

from adaptive.checks import choice, integer

__all__ = ["ImageStack", "Slice", "head_scan", "padded", "read_images", "scaled"]

PERCENTILE = 99.8
_PLANES = {"sagittal": 0, "coronal": 1, "axial": 2}  # plane -> the anatomical axis it is perpendicular to
_VOLUMES = (".nii", ".nii.gz", ".mgz", ".mgh", ".hdr", ".img", ".img.gz", ".mnc")
_PICTURES = (".png", ".jpg", ".jpeg", ".tif", ".tiff", ".bmp")


@dataclass(frozen=True)
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
    """

    image: np.ndarray
    title: str
    index: int = 0
    anatomical: bool = False

    def upright(self, array: Any = None) -> np.ndarray:
        """This image, or another array of its shape, as it is looked at: anterior or superior on top."""
        array = self.image if array is None else np.asarray(array)
        return np.rot90(array) if self.anatomical else array

    def padded(self, multiple: int) -> Slice:
        """The slice with zeros around it, sides multiples of ``multiple``."""
        return Slice(padded(self.image, multiple), self.title, self.index, self.anatomical)


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

    Examples
    --------
    >>> stack = ImageStack(np.arange(24.0).reshape(2, 4, 3), "numbers.npy")
    >>> len(stack), stack[1].title, float(stack[1].image.max())
    (2, 'slice 1 of numbers.npy', 1.0)
    >>> stack.neighbour(1)
    0
    """

    def __init__(self, stored: Any, name: str, plane: str = ""):
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
        return Slice(scaled(self.stored[index], title), title, index, bool(self.plane))

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


def read_images(path: Any, plane: str = "axial", *, volume: int = 0) -> ImageStack:
    """Read the images of a file.

    Parameters
    ----------
    path : str or Path
        ``.nii``, ``.nii.gz``, ``.mgz`` (needs nibabel), ``.npy``, ``.npz``, ``.png`` and other pictures. Arrays have
        shape (h, w) or (slices, h, w); colour pictures become their luminance.
    plane : "axial", "coronal" or "sagittal", default "axial"
        How a volume with anatomical axes is sliced.
    volume : int, default 0
        Which volume of a four-dimensional file.

    Returns
    -------
    ImageStack

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    ValueError
        If the file is damaged, or does not hold images; the message names it.
    """
    path = Path(path).expanduser()
    choice("plane", plane, _PLANES)
    if not path.is_file():
        raise FileNotFoundError(f"there is no image file {path}.")
    name = path.name.lower()
    try:
        if name.endswith(_VOLUMES):
            return _read_volume(path, plane, integer("volume", volume, minimum=0))
        if name.endswith((".npy", ".npz")):
            return _read_arrays(path)
        if name.endswith(_PICTURES):
            return _read_picture(path)
    except (ImportError, MemoryError, _Told):
        raise
    except Exception as reason:  # a dozen kinds, by format and by where the file is cut off
        why = " ".join(str(reason).split()) or type(reason).__name__
        raise ValueError(
            f"{path.name} cannot be read; it seems to be damaged or not what its name says ({why})."
        ) from reason
    known = ", ".join(_VOLUMES + (".npy", ".npz") + _PICTURES)
    raise ValueError(f"{path.name} has an unknown ending; images are read from {known}.")


def head_scan() -> ImageStack:
    """The head scan that nibabel ships: 24 axial slices of 128 x 96 voxels of 2 x 2 x 2.2 mm, echo-planar, one subject.

    Returns
    -------
    ImageStack

    Examples
    --------
    >>> head_scan()[12].image.shape
    (128, 96)
    """
    from nibabel.testing import data_path

    path = Path(str(data_path)) / "example4d.nii.gz"
    if not path.is_file():
        raise FileNotFoundError(
            f"this nibabel came without its test data: there is no {path}; read a file of your own."
        )
    return read_images(path)


def scaled(image: Any, name: str = "image") -> np.ndarray:
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


def padded(image: Any, multiple: int) -> np.ndarray:
    """Put zeros around an image, equally on both sides, until its sides are multiples of ``multiple``.

    Examples
    --------
    >>> padded(np.ones((2, 3)), 2)
    array([[1., 1., 1., 0.],
           [1., 1., 1., 0.]])
    """
    multiple = integer("multiple", multiple, minimum=1)
    image = np.asarray(image)
    lacking = [-side % multiple for side in image.shape]
    return np.pad(image, [(k // 2, k - k // 2) for k in lacking])


class _Told(ValueError):
    """A sentence that is already clear."""


def _read_volume(path: Path, plane: str, volume: int) -> ImageStack:
    try:
        import nibabel
    except ImportError:
        raise ImportError(
            f"reading {path.name} needs nibabel: pip install 'adaptive-designs[mri]' (or save the slice as .npy)."
        ) from None
    scan: Any = nibabel.load(path)
    if len(scan.shape) not in (3, 4) or 0 in scan.shape:
        raise _Told(f"{path.name} must hold a volume with three axes (or several of them), got shape {scan.shape}.")
    n_volumes = scan.shape[3] if len(scan.shape) == 4 else 1
    if volume >= n_volumes:
        raise _Told(f"{path.name} has no volume {volume}: there are {n_volumes}.")
    stored = np.asarray(scan.dataobj[..., volume] if len(scan.shape) == 4 else scan.dataobj)
    stored = nibabel.apply_orientation(stored, nibabel.io_orientation(scan.affine))  # to right, anterior, superior
    return ImageStack(np.moveaxis(stored, _PLANES[plane], 0), path.name, plane)


def _read_arrays(path: Path) -> ImageStack:
    with path.open("rb") as stream:
        loaded = np.load(stream, allow_pickle=False)
        arrays = [loaded] if isinstance(loaded, np.ndarray) else [loaded[name] for name in loaded.files]
    shapes = [array.shape for array in arrays]
    if len(arrays) > 1 and (len(set(shapes)) > 1 or len(shapes[0]) != 2):
        raise _Told(f"{path.name} must hold images of one shape, got arrays of shapes {shapes}.")
    stored = arrays[0] if len(arrays) == 1 else np.stack(arrays)
    if stored.ndim not in (2, 3):
        raise _Told(f"{path.name} must hold an image (h, w) or a stack (slices, h, w), got shape {stored.shape}.")
    return ImageStack(stored if stored.ndim == 3 else stored[None], path.name)


def _read_picture(path: Path) -> ImageStack:
    from PIL import Image  # a dependency of matplotlib

    with Image.open(path) as picture:
        grey = picture if picture.mode in ("1", "L", "I", "F", "I;16", "I;16B", "I;16L") else picture.convert("L")
        return ImageStack(np.asarray(grey, dtype=float)[None], path.name)
