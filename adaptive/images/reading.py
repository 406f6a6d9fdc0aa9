"""Images from files: slices of NIfTI and MGH volumes, fastMRI's HDF5, BART's and NumPy's arrays, PNG and JPEG pictures.

Volumes are turned to the nearest anatomical axes first: an axial slice has axes (right, anterior), a coronal one
(right, superior), a sagittal one (anterior, superior).
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from adaptive.checks import choice, integer
from adaptive.images.cfl import read_cfl
from adaptive.images.kspace_files import HDF5, images_of_hdf5
from adaptive.images.stack import ImageStack
from adaptive.memory import require_memory

if TYPE_CHECKING:
    from adaptive.types import DType

__all__ = ["head_scan", "read_images"]

_PLANES = {"sagittal": 0, "coronal": 1, "axial": 2}  # plane -> the anatomical axis it is perpendicular to
_VOLUMES = (".nii", ".nii.gz", ".mgz", ".mgh", ".hdr", ".img", ".img.gz", ".mnc")
_MAPPED = 2**28  # bytes of a file from which on only the slices that are looked at are read
_PICTURES = (".png", ".jpg", ".jpeg", ".tif", ".tiff", ".bmp")


def read_images(path: str | os.PathLike[str], plane: str = "axial", *, volume: int = 0) -> ImageStack:
    """Read the images of a file.

    Parameters
    ----------
    path : str or Path
        ``.nii``, ``.nii.gz``, ``.mgz`` (needs nibabel), ``.h5`` (needs h5py; fastMRI: its reconstruction, or the sum of
        squares over the coils of its k-space), ``.cfl`` (x, y, slices), ``.npy``, ``.npz``, ``.png`` and other
        pictures. Arrays have shape (h, w) or (slices, h, w); colour pictures become their luminance.
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
        If the file is damaged, does not hold images, or does not fit into memory; the message names it.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     np.save(f"{folder}/heads.npy", np.random.default_rng(0).random((3, 8, 8)))
    ...     stack = read_images(f"{folder}/heads.npy")
    >>> len(stack), stack[1].image.shape
    (3, (8, 8))
    """
    path = Path(path).expanduser()
    choice("plane", plane, _PLANES)
    if not path.is_file():
        raise FileNotFoundError(f"there is no image file {path}.")
    name = path.name.lower()
    if name.endswith(HDF5):
        return ImageStack(images_of_hdf5(path), path.name)
    if name.endswith(".cfl"):
        return _read_cfl(path)
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
    known = ", ".join((*_VOLUMES, *HDF5, ".cfl", ".npy", ".npz", *_PICTURES))
    raise ValueError(f"{path.name} has an unknown ending; images are read from {known}.")


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

    # not through nibabel.testing, which imports pytest
    path = Path(nibabel.__file__).parent / "tests" / "data" / "example4d.nii.gz"
    if not path.is_file():
        raise FileNotFoundError(
            f"this nibabel came without its test data: there is no {path}; read a file of your own."
        )
    return read_images(path)


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
    _require_memory(path, scan.shape[:3], float)
    stored = np.asarray(scan.dataobj[..., volume] if len(scan.shape) == 4 else scan.dataobj)
    stored = nibabel.apply_orientation(stored, nibabel.io_orientation(scan.affine))  # to right, anterior, superior
    return ImageStack(np.moveaxis(stored, _PLANES[plane], 0), path.name, plane)


def _read_arrays(path: Path) -> ImageStack:
    if path.name.lower().endswith(".npy") and path.stat().st_size > _MAPPED:
        return _stack_of(path, [np.load(path, mmap_mode="r", allow_pickle=False)])
    with path.open("rb") as stream:
        if path.name.lower().endswith(".npy"):
            version = np.lib.format.read_magic(stream)
            head = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
            shape, _, dtype = head(stream)
            _require_memory(path, shape, dtype)
            stream.seek(0)
        loaded = np.load(stream, allow_pickle=False)
        arrays = [loaded] if isinstance(loaded, np.ndarray) else [loaded[name] for name in loaded.files]
    return _stack_of(path, arrays)


def _stack_of(path: Path, arrays: list[np.ndarray]) -> ImageStack:
    shapes = [array.shape for array in arrays]
    if len(arrays) > 1 and (len(set(shapes)) > 1 or len(shapes[0]) != 2):
        raise _Told(f"{path.name} must hold images of one shape, got arrays of shapes {shapes}.")
    stored = arrays[0] if len(arrays) == 1 else np.stack(arrays)
    if stored.ndim not in (2, 3):
        raise _Told(f"{path.name} must hold an image (h, w) or a stack (slices, h, w), got shape {stored.shape}.")
    return ImageStack(stored if stored.ndim == 3 else stored[None], path.name)


def _read_cfl(path: Path) -> ImageStack:
    stored = read_cfl(path)
    if stored.ndim > 3:
        raise ValueError(f"{path.name} must hold an image or the axes x, y and slice, got shape {stored.shape}.")
    stored = np.moveaxis(stored.reshape(stored.shape + (1,) * (3 - stored.ndim)), 2, 0)
    return ImageStack(stored.real if not stored.imag.any() else stored, path.name)


def _require_memory(path: Path, shape: Sequence[int], dtype: DType) -> None:
    try:
        require_memory(path.name, shape, dtype)
    except ValueError as sentence:
        raise _Told(str(sentence)) from None


def _read_picture(path: Path) -> ImageStack:
    from PIL import Image  # a dependency of matplotlib

    with Image.open(path) as picture:
        grey = picture if picture.mode in ("1", "L", "I", "F", "I;16", "I;16B", "I;16L") else picture.convert("L")
        return ImageStack(np.asarray(grey, dtype=float)[None], path.name)
