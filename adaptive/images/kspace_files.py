"""Raw k-space from files: fastMRI's HDF5, arrays of BART, NumPy arrays; coils first, centred, orthonormal.

fastMRI and BART store centred samples of the orthonormal transform, as is done here; zero means not measured.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from types import EllipsisType
from typing import Any

import numpy as np

from adaptive.checks import integer
from adaptive.images.cfl import read_cfl
from adaptive.images.stack import PERCENTILE
from adaptive.memory import require_memory
from adaptive.operators import FourierLines
from adaptive.showing import facts_html

__all__ = ["RawKspace", "read_kspace"]

HDF5 = (".h5", ".hdf5")
IMAGES = ("reconstruction_rss", "reconstruction_esc", "image", "images")
_NAMES = ("kspace", "ksp")
_ENDINGS = (*HDF5, ".cfl", ".npy", ".npz")


@dataclass(frozen=True, eq=False, repr=False)
class RawKspace:
    """Samples of one slice or volume.

    Attributes
    ----------
    samples : ndarray (coils, *shape), complex
        Zero where nothing was measured.
    mask : ndarray of bool (*shape)
        Where something was.
    title : str
        For captions.
    n_slices : int
        How many there are in the file.

    Examples
    --------
    >>> RawKspace(np.ones((2, 8, 8), complex), np.ones((8, 8), bool), "two coils").n_slices
    1
    """

    samples: np.ndarray
    mask: np.ndarray
    title: str
    n_slices: int = 1

    def __repr__(self) -> str:
        return f"RawKspace({', '.join(f'{name}: {value}' for name, value in self._facts())})"

    def _repr_html_(self) -> str:
        return facts_html("RawKspace", self._facts())

    def _facts(self) -> list[tuple[str, str]]:
        return [
            ("title", self.title),
            ("coils", str(len(self.samples))),
            ("shape", " x ".join(map(str, self.shape))),
            ("samples", str(self.samples.dtype)),
            ("measured", f"{self.mask.mean():.0%}"),
            ("slices in the file", str(self.n_slices)),
        ]

    @property
    def shape(self) -> tuple[int, ...]:
        """Of the image."""
        return self.samples.shape[1:]

    @property
    def coil_images(self) -> np.ndarray:
        """The zero-filled image of every coil, (coils, *shape)."""
        return FourierLines(self.shape, range(self.shape[0])).adjoint(self.samples)

    @property
    def image(self) -> np.ndarray:
        """Root of the sum of squares over the coils, (*shape)."""
        return np.sqrt((np.abs(self.coil_images) ** 2).sum(axis=0))

    def scaled(self) -> RawKspace:
        """The same samples in units in which the image is in [0, 1], up to a few bright pixels, as `scaled` has it."""
        image = self.image
        top = np.percentile(image, PERCENTILE) or image.max()
        return replace(self, samples=self.samples / self.samples.real.dtype.type(top))


def read_kspace(path: str | os.PathLike[str], index: int | None = None) -> RawKspace:
    """Read the samples of one slice.

    Parameters
    ----------
    path : str or Path
        ``.h5``, ``.hdf5`` (fastMRI: a data set "kspace" of shape (slices, coils, h, w), or (slices, h, w) of one coil),
        ``.cfl`` of BART (axes x, y, z, coil), ``.npy`` or ``.npz`` (an array, called "kspace" or "ksp" where there are
        several, of shape (coils, *shape), or (h, w) of one coil).
    index : int, optional
        Slice of an HDF5 file; default: the middle one.

    Returns
    -------
    RawKspace

    Raises
    ------
    FileNotFoundError, IndexError
        If there is no such file, no such slice.
    ValueError
        If the file is damaged, does not hold k-space, or does not fit into memory; the message names it.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     np.save(f"{folder}/raw.npy", np.ones((2, 8, 8), complex))
    ...     read_kspace(f"{folder}/raw.npy").samples.shape
    (2, 8, 8)
    """
    path = Path(path).expanduser()
    if not path.is_file():
        raise FileNotFoundError(f"there is no file {path}.")
    ending = path.suffix.lower()
    if ending not in _ENDINGS:
        raise ValueError(f"{path.name} has an unknown ending; k-space is read from {', '.join(_ENDINGS)}.")
    if index is not None and ending not in HDF5:
        raise ValueError(f"index counts the slices of HDF5 files, and {path.name} is none: leave it out.")
    title, n_slices = path.name, 1
    if ending in HDF5:
        stored, index, n_slices = _of_hdf5(path, index)
        title = f"slice {index} of {path.name}"
    elif ending == ".cfl":
        stored = read_cfl(path)
        if stored.ndim > 4:
            raise ValueError(f"{path.name} must hold the axes x, y, z and coil, got shape {stored.shape}.")
        stored = stored.reshape(stored.shape + (1,) * (4 - stored.ndim))
        stored = np.moveaxis(stored, 3, 0)
        stored = stored[..., 0] if stored.shape[3] == 1 else stored
    else:
        stored = _of_numpy(path)
    stored = stored[None] if stored.ndim == 2 else stored
    if stored.ndim not in (3, 4) or stored.dtype.kind != "c" or 0 in stored.shape:
        raise ValueError(
            f"{path.name} must hold complex samples (coils, h, w), got {stored.dtype} of shape {stored.shape}."
        )
    if not np.isfinite(stored).all():
        raise ValueError(f"{path.name} holds {int((~np.isfinite(stored)).sum())} samples that are NaN or infinite.")
    mask = np.any(stored != 0, axis=0)
    if not mask.any():
        raise ValueError(f"{path.name} holds no sample: all of them are zero.")
    return RawKspace(stored, mask, title, n_slices)


def images_of_hdf5(path: Path) -> np.ndarray:
    """The images (slices, h, w) of an HDF5 file: its reconstructions, else those of its k-space."""
    with _opened(path) as file:
        for name, stored in _data_sets(file, IMAGES):
            require_memory(path.name, stored.shape, float)
            images = _whole(path, stored)
            if images.ndim not in (2, 3):
                raise ValueError(f"{path.name}: {name} must be (slices, h, w), got shape {images.shape}.")
            return images if images.ndim == 3 else images[None]
        slices = _kspace_of(path, file).shape[0]
    return np.stack([read_kspace(path, k).image for k in range(slices)])


def _of_hdf5(path: Path, index: int | None) -> tuple[np.ndarray, int, int]:
    with _opened(path) as file:
        stored = _kspace_of(path, file)
        n_slices = stored.shape[0]
        index = n_slices // 2 if index is None else integer("index", index)
        if not -n_slices <= index < n_slices:
            raise IndexError(f"{path.name} has no slice {index}: there are {n_slices}, 0 to {n_slices - 1}.")
        require_memory(path.name, stored.shape[1:], stored.dtype)
        return _whole(path, stored, index % n_slices), index % n_slices, n_slices


def _opened(path: Path) -> Any:
    try:
        import h5py
    except ImportError:
        raise ImportError(f"reading {path.name} needs h5py: pip install 'adaptive-designs[mri]'.") from None
    try:
        return h5py.File(path, "r")
    except OSError as reason:
        raise _damaged(path, reason) from reason


def _kspace_of(path: Path, file: Any) -> Any:
    for name, stored in _data_sets(file, _NAMES):
        if len(stored.shape) not in (3, 4):
            raise ValueError(
                f"{path.name}: {name} must be (slices, coils, h, w) or (slices, h, w), got {stored.shape}."
            )
        return stored
    raise ValueError(f"{path.name} holds no data set called 'kspace', only {', '.join(map(repr, file)) or 'nothing'}.")


def _data_sets(file: Any, names: Iterable[str]) -> Iterator[tuple[str, Any]]:
    """Which of these names a file has, with their data sets; groups of such a name are passed over."""
    return ((name, file[name]) for name in names if name in file and hasattr(file[name], "shape"))


def _whole(path: Path, stored: Any, index: int | EllipsisType = ...) -> np.ndarray:
    try:
        return np.asarray(stored[index])
    except (OSError, RuntimeError, ValueError) as reason:  # a chunk that is cut off or does not unpack
        raise _damaged(path, reason) from reason


def _of_numpy(path: Path) -> np.ndarray:
    try:
        with path.open("rb") as stream:
            loaded = np.load(stream, allow_pickle=False)
            if isinstance(loaded, np.ndarray):
                return loaded
            known = [name for name in _NAMES if name in loaded.files] or loaded.files
            if len(known) != 1 and known[0] not in _NAMES:
                raise ValueError(f"none of its arrays {', '.join(loaded.files)} is called 'kspace'")
            return loaded[known[0]]
    except Exception as reason:  # a dozen kinds, by where the file is cut off
        raise _damaged(path, reason) from reason


def _damaged(path: Path, reason: Exception) -> ValueError:
    why = " ".join(str(reason).split()) or type(reason).__name__
    return ValueError(f"{path.name} cannot be read; it seems to be damaged or not what its name says ({why}).")
