"""Arrays of NumPy and BART, mapped into memory and read where they are looked at; pictures."""

from __future__ import annotations

import math
import warnings
import zipfile
from pathlib import Path

import numpy as np

from adaptive.images.cfl import read_cfl
from adaptive.memory import require_memory
from adaptive.scanner.recognising import kind_of
from adaptive.scanner.scan import LOOKED_THROUGH, Scan, pieces
from adaptive.scanner.sentences import chosen, damaged, reading

__all__ = ["read_array", "read_picture"]

_LEAST = 3  # samples around DC
_NAMES = ("kspace", "ksp")


def read_array(path: Path, kind: str | None, volume: int | None = None) -> Scan:
    """Read ``.npy``, ``.npz`` and ``.cfl``, as `read_scan` says."""
    bart = path.suffix.lower() == ".cfl"
    stored = _of_bart(path, kind) if bart else _of_numpy(path)
    if stored.dtype.kind not in "biufc" or not 2 <= stored.ndim <= 5 or 0 in stored.shape:
        raise ValueError(f"{path.name} must hold numbers along two to five axes, got {stored.dtype} of {stored.shape}.")
    kind = kind_of(stored, path.name, kind)
    coils = 0 if kind == "kspace" and stored.ndim > 2 else None
    if kind == "kspace":
        _require_coils_first(path.name, stored)
    elif stored.ndim == 5:
        raise ValueError(f"{path.name} must hold images with two or three axes, or several, got {stored.shape}.")
    several = stored.ndim == (5 if kind == "kspace" else 4)
    n_volumes = stored.shape[-1] if several else 1
    volume = chosen(path.name, "volume", volume, n_volumes, "volumes")
    one = stored[..., volume] if several else stored
    source = path.name if n_volumes == 1 else f"volume {volume} of {path.name}"
    if one.size <= LOOKED_THROUGH:
        if kind == "kspace" and not any(piece.any() for piece in pieces(one)):
            raise ValueError(f"{source} holds no sample: all of its numbers are zero.")
        if kind == "image" and bart and not one.imag.any():  # BART has no other numbers than complex ones
            one = one.real
    return Scan(one, kind, coils=coils, volume=volume, n_volumes=n_volumes, source=source)


def read_picture(path: Path) -> Scan:
    """Read PNG, JPEG and others; of colours the luminance."""
    from PIL import Image  # a dependency of matplotlib

    grey = ("1", "L", "I", "F", "I;16", "I;16B", "I;16L")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", Image.DecompressionBombWarning)  # memory is asked for below
        with reading(path.name):
            with Image.open(path) as picture:
                picture.verify()  # the check sums of its parts, which nobody looks at otherwise
            picture = Image.open(path)
        with picture:
            require_memory(path.name, picture.size, float)
            with reading(path.name):
                numbers = np.asarray(picture if picture.mode in grey else picture.convert("L"), dtype=float)
    return Scan(numbers, "image", source=path.name)


def _require_coils_first(name: str, kspace: np.ndarray) -> None:
    """Refuse (h, w, coils): k-space has its energy around the middle of both axes of an image, coils have not."""
    if kspace.ndim != 3 or kspace.shape[2] >= kspace.shape[0] or kspace.size > LOOKED_THROUGH:
        return
    energy = np.sum(np.abs(np.nan_to_num(kspace)) ** 2, axis=(1, 2), dtype=float)
    side, reach = len(energy), max(_LEAST, len(energy) // 8)
    start = side // 2 - reach // 2
    if side >= 2 * _LEAST and energy[start : start + reach].sum() > energy.sum() / 2:
        size = " x ".join(map(str, kspace.shape))
        raise ValueError(
            f"{name} holds {size} numbers, k-space along its first two axes as it seems: coils come first, (coils, h, "
            "w); save np.moveaxis(array, -1, 0)."
        )


def _of_bart(path: Path, kind: str | None) -> np.ndarray:
    """Axes x, y, z, coil, and all others as one behind them; coils come first, also a single one; of images slices."""
    stored = read_cfl(path, mapped=True)
    if stored.ndim <= 3:
        if stored.ndim == 3 and stored.shape[2] > 1:
            kspace = kind_of(stored, path.name, kind) == "kspace"
            return stored[None] if kspace else np.moveaxis(stored, 2, 0)
        return stored[..., 0] if stored.ndim == 3 else stored
    stored = stored.reshape(*stored.shape[:4], -1, order="F")
    stored = np.moveaxis(stored, 3, 0)
    stored = stored[:, :, :, 0] if stored.shape[3] == 1 else stored
    return stored[..., 0] if stored.shape[-1] == 1 else stored


def _of_numpy(path: Path) -> np.ndarray:
    if path.suffix.lower() == ".npy":
        with reading(path.name):
            return np.load(path, mmap_mode="r", allow_pickle=False)
    names, stored, announced = _members(path)
    if announced > stored:
        raise damaged(path.name, ValueError(f"it announces {announced} bytes of numbers and holds {stored}"))
    require_memory(path.name, (announced,), np.uint8)
    with reading(path.name), path.open("rb") as stream, np.load(stream, allow_pickle=False) as loaded:
        arrays = [loaded[name] for name in names]
    if len(arrays) == 1:
        return arrays[0]
    if arrays and all(array.ndim == 2 and array.shape == arrays[0].shape for array in arrays):
        return np.stack(arrays)
    raise ValueError(
        f"{path.name} holds several arrays, {', '.join(names) or 'none'}: none is called 'kspace', and they are no "
        "images of one shape."
    )


def _members(path: Path) -> tuple[list[str], int, int]:
    """The arrays of an archive that are meant, the bytes that it holds of them, and those that they announce."""
    stored = announced = 0
    with reading(path.name), zipfile.ZipFile(path) as archive:
        there = [name.removesuffix(".npy") for name in archive.namelist()]
        names = [name for name in _NAMES if name in there][:1] or there
        for name in names:
            member = archive.getinfo(f"{name}.npy" if f"{name}.npy" in archive.namelist() else name)
            stored += member.file_size
            with archive.open(member) as file:
                version = np.lib.format.read_magic(file)
                header = (
                    np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
                )
                shape, _, dtype = header(file)
            announced += math.prod(shape) * dtype.itemsize
    return names, stored, announced
