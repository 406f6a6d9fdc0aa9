"""Volumes of NIfTI, MGH and whatever else nibabel reads: numbers, and where they lie; one volume of several."""

from __future__ import annotations

import gzip
import math
from pathlib import Path
from typing import Any

import numpy as np

from adaptive.memory import require_memory
from adaptive.scanner.geometry import Geometry
from adaptive.scanner.protocol import Protocol
from adaptive.scanner.recognising import kind_of
from adaptive.scanner.scan import Scan
from adaptive.scanner.sentences import chosen, damaged, needs, reading

__all__ = ["read_volume"]

_PACKED = (".gz", ".mgz")
_SECONDS = {"sec": 1.0, "msec": 1e-3, "usec": 1e-6}


def read_volume(path: Path, kind: str | None, volume: int | None = None) -> Scan:
    """Read a volume, as `read_scan` says; of several only the chosen one is read."""
    needs("nibabel", f"reading {path.name}")
    import nibabel

    with reading(path.name):
        if path.name.lower().endswith(_PACKED):
            _check_sum(path)
        file: Any = nibabel.load(path)
        shape = tuple(int(side) for side in file.shape)
        affine, dtype = np.asarray(file.affine, float), file.get_data_dtype()
    if len(shape) not in (2, 3, 4) or 0 in shape:
        raise ValueError(f"{path.name} must hold a volume with three axes (or several of them), got shape {shape}.")
    n_volumes = shape[3] if len(shape) == 4 else 1
    volume = chosen(path.name, "volume", volume, n_volumes, "volumes")
    if dtype.kind not in "biufc":
        raise ValueError(f"{path.name} must hold one number per voxel, got {dtype}.")
    require_memory(path.name, shape[:3], float)
    with reading(path.name):
        data = np.asanyarray(file.dataobj[..., volume] if len(shape) == 4 else file.dataobj)
    if not np.isfinite(affine).all() or abs(np.linalg.det(affine[:3, :3])) < 1e-12:
        raise damaged(path.name, ValueError("it does not say how its voxels lie in the patient"))
    sides = (*data.shape, *(1,) * (3 - data.ndim))
    return Scan(
        data,
        kind_of(data, path.name, kind),
        geometry=Geometry.from_affine(affine, sides),
        protocol=_protocol(file.header, shape),
        volume=volume,
        n_volumes=n_volumes,
        source=path.name if n_volumes == 1 else f"volume {volume} of {path.name}",
    )


def _check_sum(path: Path) -> None:
    """Read a packed file to its end, where the sum of its numbers stands; nibabel stops at the last voxel."""
    with gzip.open(path) as stream:
        while stream.read(1 << 20):
            pass


def _protocol(header: Any, shape: tuple[int, ...]) -> Protocol | None:
    """MGH files state times in milliseconds and an angle in radians; NIfTI the time between its volumes."""
    try:
        if "tr" in header:
            found = {"repetition_time": "tr", "echo_time": "te", "inversion_time": "ti"}
            times = {name: float(header[key]) * 1e-3 for name, key in found.items()}
            stated: dict[str, Any] = {name: time for name, time in times.items() if time > 0}
            if float(header["flip_angle"]) > 0:
                stated["flip_angle"] = float(header["flip_angle"])
            return Protocol(**stated) or None
        unit = _SECONDS.get(header.get_xyzt_units()[1])
        step = float(header["pixdim"][4])
        if unit and step > 0 and len(shape) == 4 and math.isfinite(step):
            return Protocol(repetition_time=step * unit)
    except (AttributeError, KeyError, TypeError, ValueError):
        return None
    return None
