"""HDF5 of fastMRI: the k-space of one slice, or images; centred and orthonormal, as here; zero means not measured."""

from __future__ import annotations

from pathlib import Path
from types import EllipsisType
from typing import Any

import numpy as np

from adaptive.memory import require_memory
from adaptive.scanner.ismrmrd_header import parsed, protocol_of
from adaptive.scanner.protocol import Protocol
from adaptive.scanner.scan import Scan
from adaptive.scanner.sentences import chosen, damaged, opened_hdf5

__all__ = ["holds_images", "read_fastmri"]

_KSPACE = ("kspace", "ksp")
_IMAGES = ("reconstruction_rss", "reconstruction_esc", "image", "images")


def read_fastmri(path: Path, kind: str | None, index: int | None = None) -> Scan:
    """Read the k-space of one slice, or all images, as `read_scan` says."""
    with opened_hdf5(path) as file:
        protocol = _protocol(path, file)
        raw, images = _first(file, _KSPACE), _first(file, _IMAGES)
        if kind != "kspace" and images is not None and (raw is None or kind == "image"):
            return Scan(_stack(path, images), "image", protocol=protocol, source=path.name)
        if raw is None:
            listed = ", ".join(map(repr, file)) or "nothing"
            raise ValueError(f"{path.name} holds no data set called 'kspace', only {listed}.")
        if len(raw.shape) not in (3, 4) or raw.dtype.kind != "c" or 0 in raw.shape:
            raise ValueError(
                f"{path.name}: its k-space must be complex, (slices, coils, h, w) or (slices, h, w), got {raw.dtype} "
                f"of {raw.shape}."
            )
        if kind == "image":
            seen = [_slice(path, raw, k).images for k in range(raw.shape[0])]
            return Scan(np.stack([_rss(one) for one in seen]), "image", protocol=protocol, source=path.name)
        return _slice(path, raw, index, protocol)


def holds_images(path: Path) -> bool:
    """True where there are images beside, or instead of, k-space."""
    with opened_hdf5(path) as file:
        return _first(file, _IMAGES) is not None


def _slice(path: Path, raw: Any, index: int | None, protocol: Protocol | None = None) -> Scan:
    n_slices = raw.shape[0]
    index = chosen(path.name, "slice", n_slices // 2 if index is None else index, n_slices, "slices")
    require_memory(path.name, raw.shape[1:], raw.dtype)
    data, source = _whole(path, raw, index), f"slice {index} of {path.name}"
    if not data.any():
        raise ValueError(f"{source} holds no sample: all of its numbers are zero.")
    data = data[None] if data.ndim == 2 else data
    return Scan(data, "kspace", coils=0, protocol=protocol, index=index, n_slices=n_slices, source=source)


def _stack(path: Path, images: Any) -> np.ndarray:
    require_memory(path.name, images.shape, float)
    if len(images.shape) not in (2, 3):
        raise ValueError(f"{path.name}: {images.name.lstrip('/')} must be (slices, h, w), got shape {images.shape}.")
    whole = _whole(path, images)
    return whole if whole.ndim == 3 else whole[None]


def _rss(images: np.ndarray) -> np.ndarray:
    return np.sqrt((np.abs(images) ** 2).sum(axis=0))


def _first(file: Any, names: tuple[str, ...]) -> Any:
    """The first data set of one of these names, or None; groups of such a name are passed over."""
    return next((file[name] for name in names if name in file and hasattr(file[name], "shape")), None)


def _whole(path: Path, stored: Any, index: int | EllipsisType = ...) -> np.ndarray:
    try:
        return np.asarray(stored[index])
    except (OSError, RuntimeError, ValueError) as reason:  # a chunk that is cut off or does not unpack
        raise damaged(path.name, reason) from reason


def _protocol(path: Path, file: Any) -> Protocol | None:
    try:
        return protocol_of(parsed(file["ismrmrd_header"][()], path.name)[0]) if "ismrmrd_header" in file else None
    except (ValueError, ImportError):  # a header of somebody's own: its times stay unknown
        return None
