"""Arrays of NumPy, BART and HDF5, and volumes of NIfTI and MGH, as scans: mapped into memory, read where looked at."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np

from adaptive.images.cfl import read_cfl
from adaptive.images.kspace_files import images_of_hdf5, read_kspace
from adaptive.memory import require_memory
from adaptive.scanner.geometry import Geometry
from adaptive.scanner.ismrmrd_file import is_ismrmrd
from adaptive.scanner.ismrmrd_header import parsed, protocol_of
from adaptive.scanner.protocol import Protocol
from adaptive.scanner.recognising import kind_of
from adaptive.scanner.scan import Scan, pieces
from adaptive.scanner.sentences import chosen, damaged, needs

__all__ = ["is_raw", "read_array", "read_hdf5", "read_volume"]

_LEAST = 3  # samples around DC
_LOOKED_THROUGH = 2**27  # numbers: up to a GB is looked through at once

_NAMES = ("kspace", "ksp")
_SECONDS = {"sec": 1.0, "msec": 1e-3, "usec": 1e-6}


def read_array(path: Path, kind: str | None, volume: int | None = None) -> Scan:
    """Of ``.npy``, ``.npz`` and ``.cfl``: k-space (coils, *shape), an image (h, w), a volume, or several (..., n)."""
    stored = _of_bart(path, kind) if path.suffix.lower() == ".cfl" else _of_numpy(path)
    if stored.dtype.kind not in "biufc" or not 2 <= stored.ndim <= 5 or 0 in stored.shape:
        raise ValueError(f"{path.name} must hold numbers along two to five axes, got {stored.dtype} of {stored.shape}.")
    kind = kind_of(stored, path.name, kind)
    coils = None
    n_volumes = 1
    if kind == "kspace":
        if stored.ndim == 5:
            n_volumes = stored.shape[-1]
        coils = 0 if stored.ndim > 2 else None
        _require_coils_first(path.name, stored)
    elif stored.ndim >= 4:
        if stored.ndim == 5:
            raise ValueError(f"{path.name} must hold images with two or three axes, or several, got {stored.shape}.")
        n_volumes = stored.shape[-1]
    volume = chosen(path.name, "volume", volume, n_volumes, "volumes")
    one = stored[..., volume] if stored.ndim == (5 if kind == "kspace" else 4) else stored
    source = path.name if n_volumes == 1 else f"volume {volume} of {path.name}"
    scan = Scan(one, kind, coils=coils, volume=volume, n_volumes=n_volumes, source=source)
    if one.size > _LOOKED_THROUGH:  # gigabytes: read where they are looked at
        return scan
    if kind == "kspace" and not any(piece.any() for piece in pieces(one)):
        raise ValueError(f"{source} holds no sample: all of them are zero.")
    return scan.finite()


def read_hdf5(path: Path, kind: str | None, index: int | None = None) -> Scan:
    """Of a file of fastMRI: the k-space of one slice, or its images."""
    import h5py

    try:
        with h5py.File(path, "r") as file:
            raw = any(name in file for name in _NAMES)
            xml = file["ismrmrd_header"][()] if "ismrmrd_header" in file else None
    except OSError as reason:
        raise damaged(path.name, reason) from reason
    protocol = None
    if xml:
        try:
            protocol = protocol_of(parsed(xml, path.name)[0])
        except (ValueError, ImportError):  # a header of somebody's own: its times stay unknown
            protocol = None
    if raw and kind != "image":
        one = read_kspace(path, index)
        at = int(one.title.split()[1])
        return Scan(
            one.samples,
            "kspace",
            coils=0,
            protocol=protocol,
            index=at,
            n_slices=one.n_slices,
            source=one.title,
        )
    if kind == "kspace":
        raise ValueError(f"{path.name} holds no data set called 'kspace'.")
    return Scan(images_of_hdf5(path), "image", protocol=protocol, source=path.name)


def read_volume(path: Path, kind: str | None, volume: int | None = None) -> Scan:
    """Of NIfTI, MGH and other volumes: numbers, and where they lie; only the chosen volume is read."""
    needs("nibabel", f"reading {path.name}")
    import nibabel

    try:
        file: Any = nibabel.load(path)
        shape = tuple(int(side) for side in file.shape)
    except Exception as reason:  # a dozen kinds, by format and by where the file is cut off
        raise damaged(path.name, reason) from reason
    if len(shape) not in (2, 3, 4) or 0 in shape:
        raise ValueError(f"{path.name} must hold a volume with three axes (or several of them), got shape {shape}.")
    n_volumes = shape[3] if len(shape) == 4 else 1
    volume = chosen(path.name, "volume", volume, n_volumes, "volumes")
    require_memory(path.name, shape[:3], float)
    try:
        data = np.asanyarray(file.dataobj[..., volume] if len(shape) == 4 else file.dataobj)
    except Exception as reason:
        raise damaged(path.name, reason) from reason
    found = kind_of(data, path.name, kind)
    sides = (*data.shape, *(1,) * (3 - data.ndim))
    return Scan(
        data,
        found,
        geometry=Geometry.from_affine(file.affine, sides),
        protocol=_protocol(file.header, shape),
        volume=volume,
        n_volumes=n_volumes,
        source=path.name if n_volumes == 1 else f"volume {volume} of {path.name}",
    ).finite()


def is_raw(path: Path) -> bool:
    """Whether an HDF5 file holds acquisitions of ISMRMRD."""
    needs("h5py", f"reading {path.name}")
    import h5py

    try:
        with h5py.File(path, "r") as file:
            return is_ismrmrd(file)
    except OSError as reason:
        raise damaged(path.name, reason) from reason


def _require_coils_first(name: str, kspace: np.ndarray) -> None:
    """Refuse (h, w, coils): k-space has its energy around the middle of both axes of an image, coils have not."""
    if kspace.ndim != 3 or kspace.shape[2] >= kspace.shape[0] or kspace.size > _LOOKED_THROUGH:
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
    """Axes x, y, z, coil, and all others as one behind them; the coils are put first, also of k-space the only one."""
    stored = read_cfl(path, mapped=True)
    if stored.ndim <= 3:
        if stored.ndim == 3 and stored.shape[2] > 1:
            return stored[None] if kind_of(stored, path.name, kind) == "kspace" else stored
        return stored[..., 0] if stored.ndim == 3 else stored
    stored = stored.reshape(*stored.shape[:4], -1, order="F")
    stored = np.moveaxis(stored, 3, 0)
    stored = stored[:, :, :, 0] if stored.shape[3] == 1 else stored
    return stored[..., 0] if stored.shape[-1] == 1 else stored


def _of_numpy(path: Path) -> np.ndarray:
    try:
        if path.suffix.lower() == ".npy":
            return np.load(path, mmap_mode="r", allow_pickle=False)
        with np.load(path, allow_pickle=False) as loaded:
            names = [name for name in _NAMES if name in loaded.files] or loaded.files
            if len(names) == 1 or names[0] in _NAMES:
                return loaded[names[0]]
            listed = ", ".join(loaded.files)
    except Exception as reason:  # a dozen kinds, by where the file is cut off
        raise damaged(path.name, reason) from reason
    raise ValueError(f"{path.name} holds several arrays, {listed or 'none'}, and none is called 'kspace'.")


def _protocol(header: Any, shape: tuple[int, ...]) -> Protocol | None:
    """MGH files state times in milliseconds and an angle in radians; NIfTI the time between its volumes."""
    try:
        if "tr" in header:
            found = {"repetition_time": "tr", "echo_time": "te", "inversion_time": "ti"}
            times: dict[str, Any] = {
                name: float(header[key]) * 1e-3 for name, key in found.items() if float(header[key]) > 0
            }
            angle = float(header["flip_angle"])

            if angle > 0:
                times["flip_angle"] = angle
            return Protocol(**times) or None
        unit = _SECONDS.get(header.get_xyzt_units()[1])
        step = float(header["pixdim"][4])
        if unit and step > 0 and len(shape) == 4 and math.isfinite(step):
            return Protocol(repetition_time=step * unit)
    except (AttributeError, KeyError, TypeError, ValueError):
        return None
    return None
