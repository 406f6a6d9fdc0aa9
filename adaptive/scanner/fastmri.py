"""HDF5 of fastMRI: the k-space of one slice, or images; centred and orthonormal, as here; zero means not measured."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from adaptive.memory import require_memory
from adaptive.scanner.hdf5 import Hdf5, Stored, opened_hdf5
from adaptive.scanner.ismrmrd_header import parsed, protocol_of
from adaptive.scanner.protocol import Protocol
from adaptive.scanner.scan import Scan
from adaptive.scanner.sentences import chosen

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
            listed = ", ".join(map(repr, file.names())) or "nothing"
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


def _slice(path: Path, raw: Stored, index: int | None, protocol: Protocol | None = None) -> Scan:
    n_slices = raw.shape[0]
    index = chosen(path.name, "slice", n_slices // 2 if index is None else index, n_slices, "slices")
    data, source = raw.read(index), f"slice {index} of {path.name}"
    if not data.any():
        raise ValueError(f"{source} holds no sample: all of its numbers are zero.")
    data = data[None] if data.ndim == 2 else data
    return Scan(data, "kspace", coils=0, protocol=protocol, index=index, n_slices=n_slices, source=source)


def _stack(path: Path, images: Stored) -> np.ndarray:
    require_memory(path.name, images.shape, float)
    if len(images.shape) not in (2, 3) or 0 in images.shape or images.dtype.kind not in "biufc":
        raise ValueError(
            f"{path.name}: {images.name} must be numbers, (slices, h, w), got {images.dtype} of shape {images.shape}."
        )
    whole = images.read()
    return whole if whole.ndim == 3 else whole[None]


def _rss(images: np.ndarray) -> np.ndarray:
    return np.sqrt((np.abs(images) ** 2).sum(axis=0))


def _first(file: Hdf5, names: tuple[str, ...]) -> Stored | None:
    """The first data set of one of these names, or None; groups of such a name are passed over."""
    return next((found for name in names if (found := file.data(name)) is not None), None)


def _protocol(path: Path, file: Hdf5) -> Protocol | None:
    try:
        header = file.data("ismrmrd_header")
        return None if header is None else protocol_of(parsed(header.text(), path.name)[0])
    except (ValueError, ImportError):  # a header of somebody's own: its times stay unknown
        return None
