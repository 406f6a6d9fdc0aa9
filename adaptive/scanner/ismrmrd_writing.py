"""ISMRMRD out: one acquisition per read-out, in the order of the scan, with its counters, place and trajectory.

A plan is such a file whose acquisitions have no channels yet: headers in the planned order.
"""

from __future__ import annotations

import os
import uuid
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from adaptive.checks import finite
from adaptive.scanner.ismrmrd_header import EXACT, directions_of, header_of
from adaptive.scanner.scan import Scan
from adaptive.scanner.sentences import image_shape, needs, with_ending

if TYPE_CHECKING:
    from adaptive.scanner.geometry import Geometry
    from adaptive.scanner.protocol import Protocol
    from adaptive.types import ArrayLike

__all__ = ["write_ismrmrd", "write_plan"]

_LONGEST = 1024  # samples of one noise acquisition
_MOST = 2**16 - 1  # what a counter holds


class _Order(NamedTuple):
    """Read-outs one after the other."""

    shape: tuple[int, ...]
    axes: tuple[str, ...]  # of the image: x is read out, y and z are encoded
    counters: np.ndarray  # (m, 2): of y and z
    shots: list[np.ndarray] | None = None  # radians per pixel
    names: list[Any] | None = None


def write_ismrmrd(
    path: str | os.PathLike[str], scan: Scan | ArrayLike, design: Any = None, *, noise: ArrayLike | None = None
) -> Path:
    """Write k-space.

    Parameters
    ----------
    path : str or Path
        ``.h5`` or ``.mrd``; a file of that name is replaced.
    scan : Scan, or array (coils, *shape) of complex numbers
        Centred, orthonormal samples, kept in single precision; of trajectories (coils, samples).
    design : LinePool, PhaseEncodePool or TrajectoryPool, optional
        What of it is written, in the order of the scan. Default: everything that was measured, in the order in which
        that was done, where it is known, else of the indices.
    noise : array (coils, samples), optional
        Samples without excitation; default: those of the scan. They are written first, flagged as noise.

    Returns
    -------
    Path

    Raises
    ------
    ValueError
        If the scan is an image, samples are not finite, or the design is of another shape or asks for what was not
        measured; no file is written then.

    Examples
    --------
    >>> import tempfile
    >>> from adaptive.scanner import read_scan
    >>> samples = np.random.default_rng(0).standard_normal((2, 8, 6)).astype(np.complex64)
    >>> samples[:, 4, 3] = 50
    >>> path = write_ismrmrd(Path(tempfile.mkdtemp()) / "scan.h5", samples)
    >>> bool((read_scan(path).data == samples).all())
    True
    """
    path = _checked_path(path)
    scan = scan if isinstance(scan, Scan) else Scan(np.asarray(scan), "kspace", coils=0, source="scan")
    if scan.kind != "kspace":
        raise ValueError(f"scan must be k-space, and {scan.source} is an image.")
    scan.finite()
    order = _of_scan(scan) if design is None else _of_design(design)
    stack = scan if scan.coils is not None else replace(scan, data=scan.data[None], coils=0)
    samples = _samples(stack, order)
    noise = scan.noise if noise is None else noise
    silent = None if noise is None else _checked_noise(noise, stack.n_coils)
    shape, view = scan.reconstructed, scan.field_of_view
    _write(path, order, scan.geometry, scan.protocol, stack.n_coils, samples, silent, shape, view)
    return path


def write_plan(
    path: str | os.PathLike[str], design: Any, *, geometry: Geometry | None = None, protocol: Protocol | None = None,
    field_of_view: Sequence[float] | None = None,
) -> Path:  # fmt: skip
    """Write what is to be measured: headers in the planned order, without samples.

    Parameters
    ----------
    path : str or Path
        ``.h5`` or ``.mrd``; a file of that name is replaced.
    design : LinePool, PhaseEncodePool or TrajectoryPool
    geometry : Geometry, optional
        Of the design's image, as `Scan.geometry` of a reference has it.
    protocol : Protocol, optional
    field_of_view : sequence of three float, optional
        Of a reference without geometry, as `Scan.field_of_view` has it: mm.

    Returns
    -------
    Path

    Raises
    ------
    ValueError
        If the geometry is of another matrix than the design.

    Examples
    --------
    >>> import tempfile
    >>> from designs.kspace import import_design, lines
    >>> path = write_plan(Path(tempfile.mkdtemp()) / "plan.h5", lines((8, 6)).take([4, 3, 5]))
    >>> import_design(path).lines.tolist()
    [4, 3, 5]
    """
    path, order = _checked_path(path), _of_design(design)
    if geometry is not None and geometry.matrix != (*order.shape, *(1,) * (3 - len(order.shape))):
        raise ValueError(
            f"geometry must have the matrix of the design, {order.shape}, got {geometry.matrix}; of a volume take the "
            "geometry of a slice."
        )
    if field_of_view is not None and (len(field_of_view) != 3 or min(field_of_view) <= 0):
        raise ValueError(f"field_of_view must be three lengths > 0 in mm, got {field_of_view!r}.")
    _write(path, order, geometry, protocol, 0, None, None, None, field_of_view)
    return path


def _checked_path(path: str | os.PathLike[str]) -> Path:
    needs("ismrmrd", "writing ISMRMRD")
    return with_ending(path, (".h5", ".mrd"), "ISMRMRD")


def _of_design(design: Any) -> _Order:
    """Lines, phase encodes or shots, known by what they hold."""
    shape = image_shape(design)
    if max(*shape, len(design)) > _MOST:
        raise ValueError(f"ISMRMRD counts to {_MOST}, and the design has {len(design)} entries of an image {shape}.")
    if hasattr(design, "lines"):
        return _Order(shape, _axes(2, 1 - design.axis), np.stack([design.lines, np.zeros_like(design.lines)], axis=1))
    if hasattr(design, "encodes"):
        return _Order(shape, _axes(3, design.readout), np.asarray(design.encodes))
    shots = [np.asarray(one, float) for one in design.samples]
    counters = np.stack([np.arange(len(shots)), np.zeros(len(shots), int)], axis=1)
    axes = ("x", "y", "z")[: len(shape)]
    return _Order(shape, axes, counters, shots, list(design.names))


def _of_scan(scan: Scan) -> _Order:
    if scan.trajectory is not None:
        counters = np.stack([np.arange(len(scan.trajectory)), np.zeros(len(scan.trajectory), int)], axis=1)
        return _Order(scan.shape, ("x", "y", "z")[: len(scan.shape)], counters, scan.trajectory)
    if len(scan.shape) not in (2, 3):
        raise ValueError(f"scan must have two or three axes beside that of the coils, got {scan.shape}.")
    usual = 1 if len(scan.shape) == 2 else 0
    readout = usual if scan.readout is None else scan.readout
    if scan.order is not None:
        encodes = np.asarray(scan.order)
    else:
        assert scan.sampled is not None
        encodes = np.argwhere(scan.sampled.any(axis=readout))
    counters = np.zeros((len(encodes), 2), int)
    counters[:, : encodes.shape[1]] = encodes
    return _Order(scan.shape, _axes(len(scan.shape), readout), counters)


def _axes(n: int, readout: int) -> tuple[str, ...]:
    """Axis of the image that is read out (x), and those that are encoded, in their order."""
    others = iter("yz")
    return tuple("x" if axis == readout else next(others) for axis in range(n))


def _samples(scan: Scan, order: _Order) -> list[np.ndarray]:
    """Samples of every read-out, (coils, samples)."""
    if order.shape != scan.shape:
        raise ValueError(f"design is of images of shape {order.shape}, and {scan.source} of shape {scan.shape}.")
    if order.shots is not None:
        if scan.trajectory is None:
            raise ValueError(f"{scan.source} was not measured along trajectories, and design asks for them.")

        return [scan.shot(one) for one in order.shots]
    if scan.trajectory is not None:
        raise ValueError(f"{scan.source} was measured along trajectories, and design asks for lines.")
    readout = order.axes.index("x")
    rows: Any = np.moveaxis(scan.data, 1 + readout, -1)  # (coils, phase encodes, read-out)
    there: Any = None if scan.sampled is None else scan.sampled.any(axis=readout)
    found = []
    for counter in order.counters[:, : rows.ndim - 2]:
        at = tuple(int(k) for k in counter)
        if there is not None and not there[at]:
            raise ValueError(f"{scan.source} holds no samples of phase encode {at if len(at) > 1 else at[0]}.")
        found.append(rows[(slice(None), *at)])
    return found


def _checked_noise(noise: ArrayLike, n_coils: int) -> np.ndarray:
    array = finite("noise", noise, dtype=None)
    if array.ndim != 2 or len(array) != n_coils:
        raise ValueError(f"noise must have shape ({n_coils}, samples), got {array.shape}.")
    return array


def _write(
    path: Path,
    order: _Order,
    geometry: Geometry | None,
    protocol: Protocol | None,
    n_coils: int,
    samples: list[np.ndarray] | None,
    noise: np.ndarray | None,
    wanted: Sequence[int] | None,
    field_of_view: Sequence[float] | None,
) -> None:
    import ismrmrd

    place = directions_of(geometry, order.axes)
    header = header_of(
        order.shape,
        order.axes,
        geometry,
        protocol,
        n_coils=n_coils,
        wanted=wanted,
        names=order.names,
        cartesian=order.shots is None,
        n_shots=len(order.counters),
        field_of_view=field_of_view,
    )

    acquisitions: list[Any] = []

    def add(data: np.ndarray, path_: np.ndarray | None = None, **fields: Any) -> Any:
        one = ismrmrd.Acquisition.from_array(
            np.asarray(data, np.complex64), path_, scan_counter=len(acquisitions), **place, **fields
        )
        acquisitions.append(one)
        return one

    for start in range(0, 0 if noise is None else noise.shape[1], _LONGEST):
        assert noise is not None
        add(noise[:, start : start + _LONGEST]).set_flag(ismrmrd.ACQ_IS_NOISE_MEASUREMENT)
    readout = order.shape[order.axes.index("x")]
    for k, (step_1, step_2) in enumerate(order.counters.tolist()):
        shot = None if order.shots is None else (order.shots[k] / (2 * np.pi)).astype(np.float32)
        length = readout if shot is None else len(shot)
        data = np.empty((0, length), np.complex64) if samples is None else samples[k]
        one = add(data, shot, center_sample=length // 2 if shot is None else 0)
        one.idx.kspace_encode_step_1, one.idx.kspace_encode_step_2 = step_1, step_2
    acquisitions[-1].set_flag(ismrmrd.ACQ_LAST_IN_MEASUREMENT)
    partial = path.with_name(f".{path.stem}.{uuid.uuid4().hex[:8]}{path.suffix}")
    try:
        with ismrmrd.File(str(partial), "w") as file:
            file["dataset"].header = header
            file["dataset"].acquisitions = acquisitions
        if order.shots is not None:
            with ismrmrd.Dataset(str(partial), mode="r+") as exact:
                exact.append_array(EXACT, np.concatenate(order.shots))
        os.replace(partial, path)
    finally:
        partial.unlink(missing_ok=True)
