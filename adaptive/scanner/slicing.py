"""Slices of a volume, and its axes in another order: what is cut out or turned takes its place in the patient along."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from adaptive.checks import integer
from adaptive.images.stack import ImageStack
from adaptive.scanner.geometry import PLANES

if TYPE_CHECKING:
    from adaptive.scanner.scan import Scan

__all__ = ["cut", "stacked", "turned"]


def cut(scan: Scan, plane: str | None, index: int | None) -> Scan:
    """One slice, as `Scan.slice` says."""
    if scan.trajectory is not None:
        raise ValueError(f"{scan.source} was measured along trajectories: it has no slices before its reconstruction.")
    if len(scan.shape) == 2 or (scan.kind == "image" and 1 in scan.shape):
        return _single(scan, plane, index)
    if scan.geometry is None:
        if plane is not None:
            raise ValueError(f"{scan.source} does not say how it lies in the patient, and cannot be cut {plane}.")
        axis = 0 if scan.kind == "image" or scan.readout is None else scan.readout
    else:
        plane = scan.geometry.plane if plane is None else plane
        scan = scan if scan.kind == "kspace" else turned(scan, *scan.geometry.to_anatomical())
        assert scan.geometry is not None
        axis = scan.geometry.axis_through(plane)
    return _slice(scan, plane, axis, index)


def stacked(scan: Scan, plane: str, name: str) -> ImageStack:
    """All slices of an image, as `read_images` says; without a place in the patient along the first axis of three."""
    if scan.geometry is not None and scan.data.ndim == 3:
        straight = turned(scan, *scan.geometry.to_anatomical())
        return ImageStack(np.moveaxis(straight.data, PLANES[plane], 0), name, plane)
    data = scan.data[..., 0] if scan.data.shape[-1] == 1 else scan.data
    return ImageStack(data if data.ndim == 3 else data[None], name)


def turned(scan: Scan, order: Sequence[int], backwards: Sequence[bool]) -> Scan:
    """An image with its axes in a new order, some of them backwards: nothing is computed, nothing copied."""
    if scan.geometry is None or scan.kind != "image":
        raise ValueError(f"{scan.source} cannot be turned: it is k-space, or does not say how it lies in the patient.")
    order, data = list(order), scan.data
    flat = data.ndim == 2
    data = np.transpose(data[..., None] if flat else data, order)
    data = data[tuple(slice(None, None, -1 if back else 1) for back in backwards)]
    return replace(
        scan,
        data=data[..., 0] if flat and order[2] == 2 else data,
        geometry=scan.geometry.turned(order, backwards),
        readout=None if scan.readout is None else order.index(scan.readout),
    )


def _single(scan: Scan, plane: str | None, index: int | None) -> Scan:
    own = None if scan.geometry is None else scan.geometry.plane
    if plane is not None and own != plane:
        lies = "does not say how it lies in the patient" if own is None else f"is {own}"
        raise ValueError(f"{scan.source} is a single slice and {lies}: it cannot be cut {plane}.")
    if index not in (None, 0, -1):
        raise IndexError(f"{scan.source} has no slice {index}: it is a single one.")
    if len(scan.shape) == 3:
        return replace(scan, data=scan.data[..., 0]) if scan.shape[2] == 1 else scan
    return scan


def _slice(scan: Scan, plane: str | None, axis: int, index: int | None) -> Scan:
    n = scan.shape[axis]
    index = n // 2 if index is None else integer("index", index)
    if not -n <= index < n:
        raise IndexError(
            f"{scan.source} has no {plane or ''} slice {index}: there are {n}, 0 to {n - 1}.".replace("  ", " ")
        )
    index %= n
    mask = None
    if scan.kind == "image":
        data = np.take(scan.data, index, axis)
    else:
        sampled = np.moveaxis(scan.sampled, axis, 0) if scan.sampled is not None else np.ones((1, 1, 1), bool)
        if not (sampled == sampled[0]).all():
            raise ValueError(
                f"{scan.source} was not measured completely along axis {axis}: slices across it are known only "
                "where it is read out."
            )
        mask, data = sampled[0], _transformed(scan.data, axis - len(scan.shape), index)
    kept = [k for k in range(3) if k != axis]
    readout = kept.index(scan.readout) if scan.readout in kept else None
    wanted = None if scan.reconstructed is None else tuple(scan.reconstructed[k] for k in kept)
    view = scan.field_of_view
    return replace(
        scan,
        data=data,
        mask=mask,
        geometry=None if scan.geometry is None else scan.geometry.cut(axis, index),
        field_of_view=None if view is None else (*(view[k] for k in kept), view[axis] / n),
        readout=readout,
        reconstructed=wanted,
        order=None,
        repeats=None,
        image_shape=None,
        index=index,
        n_slices=n,
        source=f"{plane or ''} slice {index} of {scan.source}".lstrip(),
    )


def _transformed(kspace: np.ndarray, axis: int, index: int) -> np.ndarray:
    """One pixel of the inverse transform along an axis: a sum with exponentials, of one coil after the other."""
    n = kspace.shape[axis]
    # the product of integers is taken modulo n: exact phases, however large it is
    turns = (np.arange(n) - n // 2) * (index - n // 2) % n
    wave = (np.exp(2j * np.pi / n * turns) / np.sqrt(n)).astype(np.result_type(kspace, np.complex64))
    return np.tensordot(kspace, wave, axes=(axis, 0))
