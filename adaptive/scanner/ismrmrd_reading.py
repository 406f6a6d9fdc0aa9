"""ISMRMRD in: acquisitions put where their counters say, noise scans apart; only what is asked for is read.

Headers are read at once, samples a few read-outs at a time: of a file of many contrasts and slices, those of one.
"""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from adaptive.memory import require_memory
from adaptive.scanner.hdf5 import opened_hdf5
from adaptive.scanner.ismrmrd_file import CALIBRATION, NOISE, OTHERS, REVERSED, Content
from adaptive.scanner.ismrmrd_header import Encoding, geometry_of, protocol_of
from adaptive.scanner.scan import Scan
from adaptive.scanner.sentences import chosen

__all__ = ["Plan", "read_ismrmrd", "read_plan"]

_EMPTY, _SMALL = 1000, 2**20  # places in k-space for each sample: nobody leaves out so many of a large matrix
_REPEATS = 64  # read-outs whose repeats are kept: enough for the noise


class Plan(NamedTuple):
    """Measurements of an ISMRMRD file, without their samples.

    Attributes
    ----------
    shape : tuple of int
        Of the image.
    readout : int
        Its axis that is read out.
    encodes : ndarray (m, axes that are encoded)
        Indices in the order of the scan; of trajectories (m, 0).
    shots : list of ndarray (d, axes), or None
        Radians per pixel.
    names : list or None
        Of the shots.
    """

    shape: tuple[int, ...]
    readout: int
    encodes: np.ndarray
    shots: list[np.ndarray] | None
    names: list[Any] | None


def read_ismrmrd(path: Path, volume: int | None = None, index: int | None = None) -> Scan:
    """Read one volume (contrast, repetition, phase, set) and one slice, as `read_scan` says."""
    with opened_hdf5(path, "ismrmrd") as file:
        content = Content(path, file)
        noise = np.flatnonzero(content.flagged(NOISE))
        imaging, volume, n_volumes = _volume(content, volume)
        imaging, index, n_slices = _slice(content, imaging, index)
        protocol = protocol_of(content.header, int(content.counter("contrast")[imaging[0]]))
        encoding = content.encoding
        said = f"slice {index} of {path.name}" if n_slices > 1 else path.name
        scan = Scan(
            np.empty((0, *encoding.shape), np.complex64),
            "kspace",
            coils=0,
            geometry=(place := geometry_of(content.heads[imaging[0]], encoding)),
            field_of_view=None if place is not None else _view(encoding),
            protocol=protocol,
            noise=_noise(content, noise, imaging[0]),
            noise_factor=_noise_factor(content, noise, imaging[0]),
            volume=volume,
            n_volumes=n_volumes,
            index=index,
            n_slices=n_slices,
            source=said if n_volumes == 1 else f"volume {volume}, {said}",
        )
        return _filled(scan, content, imaging)


def read_plan(path: Path) -> Plan:
    """Read the plan of a file in its order: of its first volume and slice; samples are not read."""
    with opened_hdf5(path, "ismrmrd") as file:
        content = Content(path, file)
        imaging, _, _ = _volume(content, 0)
        imaging, _, _ = _slice(content, imaging, 0)
        encoding = content.encoding

        if not encoding.cartesian:
            shots = content.shots(imaging)
            return Plan(encoding.shape, encoding.readout, np.empty((len(shots), 0), int), shots, encoding.names)
        encodes = _encodes_of(content, imaging)
        _, first = np.unique(encodes, axis=0, return_index=True)  # of several averages the first
        return Plan(encoding.shape, encoding.readout, encodes[np.sort(first)], None, None)


def _filled(scan: Scan, content: Content, imaging: np.ndarray) -> Scan:
    encoding = content.encoding
    coils = _coils(content, imaging)
    if not encoding.cartesian:
        shots = content.shots(imaging)
        require_memory(content.name, (coils, sum(map(len, shots))), np.complex64)
        data = np.concatenate([values for _, values in content.samples(imaging)], axis=1)
        return replace(scan, data=data, trajectory=shots, image_shape=encoding.shape)
    require_memory(content.name, (coils, *encoding.shape), np.complex64)
    places, samples = math.prod(encoding.shape), int(content.heads["number_of_samples"][imaging].sum(dtype=np.int64))
    if coils and places > max(_EMPTY * samples, _SMALL):
        size = " x ".join(map(str, encoding.shape))
        raise ValueError(f"{content.name} announces a matrix of {size}, and holds {samples} samples for it.")
    grid = _Grid(content, imaging, coils)
    return replace(
        scan,
        data=grid.kspace,
        mask=grid.mask,
        repeats=grid.repeats(),
        readout=encoding.readout,
        order=grid.order,
        reconstructed=tuple(encoding.wanted[axis] if axis == "x" else encoding.matrix[axis] for axis in encoding.axes),
    )


def _view(encoding: Encoding) -> tuple[float, ...] | None:
    """Field of view along the axes of the image, and across it; None where it is not stated."""
    axes = [*encoding.axes, *(axis for axis in "xyz" if axis not in encoding.axes)]
    view = tuple(encoding.field_of_view[axis] for axis in axes)
    return view if min(view) > 0 else None


def _volume(content: Content, volume: int | None) -> tuple[np.ndarray, int, int]:
    """The acquisitions of one contrast, repetition, cardiac phase and set."""
    left_out = content.flagged(NOISE, *OTHERS) | (content.heads["encoding_space_ref"] != 0)
    imaging = np.flatnonzero(~left_out)
    if not len(imaging):
        raise ValueError(f"{content.name} holds noise and navigators only, and no samples of an image.")
    names = ("contrast", "repetition", "phase", "set")
    kinds = np.stack([content.counter(name)[imaging] for name in names], axis=1)
    each, which = np.unique(kinds, axis=0, return_inverse=True)
    volume = chosen(content.name, "volume", volume, len(each), "volumes (contrasts, repetitions, phases, sets)")
    return imaging[which.ravel() == volume], volume, len(each)


def _slice(content: Content, imaging: np.ndarray, index: int | None) -> tuple[np.ndarray, int, int]:
    slices = content.counter("slice")[imaging]
    each = np.unique(slices)
    index = chosen(content.name, "index", len(each) // 2 if index is None else index, len(each), "slices")
    return imaging[slices == each[index]], index, len(each)


def _coils(content: Content, imaging: np.ndarray) -> int:
    channels = content.heads["active_channels"][imaging]
    other = np.flatnonzero(channels != channels[0])
    if len(other):
        at = imaging[other[0]]
        raise ValueError(
            f"{content.name}: acquisition {at} has {channels[other[0]]} channels, those before {channels[0]}."
        )
    return int(channels[0])


def _noise(content: Content, noise: np.ndarray, image: int) -> np.ndarray | None:
    if not len(noise) or not content.heads["active_channels"][image]:
        return None
    found = np.concatenate([values for _, values in content.samples(noise)], axis=1)
    coils = int(content.heads["active_channels"][image])
    if len(found) != coils:
        raise ValueError(f"{content.name}: its noise scan has {len(found)} channels, its image {coils}.")
    return found


def _noise_factor(content: Content, noise: np.ndarray, image: int) -> float:
    """Variance per sample goes with the bandwidth, one over the time that a sample takes."""
    if not len(noise):
        return 1.0
    silent, taken = (float(content.heads["sample_time_us"][at]) for at in (noise[0], image))
    system = content.header.acquisitionSystemInformation
    width = (system.relativeReceiverNoiseBandwidth if system is not None else None) or 1.0
    return silent / (taken * width) if silent > 0 and taken > 0 else 1.0


class _Grid:
    """Read-outs on the Cartesian grid; what was measured in several averages as their mean."""

    def __init__(self, content: Content, imaging: np.ndarray, coils: int) -> None:
        encoding = content.encoding
        self.kspace = np.zeros((coils, *encoding.shape), np.complex64)
        self.mask = np.zeros(encoding.shape, bool)
        encodes, averages = _encodes_of(content, imaging), content.counter("average")[imaging]
        calibration = content.flagged(CALIBRATION)[imaging]
        # read-outs that only calibrate stand in where nothing else was measured
        known = {tuple(one) for one in encodes[~calibration].tolist()}
        counts: dict[tuple[int, ...], list[int]] = {}
        where: dict[int, tuple[int, ...]] = {}  # acquisition -> its phase encode
        for at, one, average, only in zip(imaging.tolist(), encodes.tolist(), averages, calibration, strict=True):
            key = tuple(one)
            if only and key in known:
                continue
            where[at] = key
            counts.setdefault(key, []).append(average)
            if counts[key].count(average) > 1:
                what = key[0] if len(key) == 1 else key
                raise ValueError(
                    f"{content.name}: phase encode {what} is measured twice (the second time in acquisition {at}); "
                    "repeated samples need average counters of their own."
                )
        self.order = np.array(list(counts))
        self._several: dict[tuple[int, ...], list[np.ndarray]] = {}
        rows: Any = np.moveaxis(self.kspace, 1 + encoding.readout, -1)  # (coils, phase encodes, read-out)
        seen: Any = np.moveaxis(self.mask, encoding.readout, -1)
        for at, values in content.samples(np.array(list(where))) if coils else ():
            key = where[at]
            start, stop, kept = _along(content, at, values, rows.shape[-1])
            rows[(slice(None), *key, slice(start, stop))] += kept
            seen[(*key, slice(start, stop))] = True
            if len(counts[key]) > 1 and (key in self._several or len(self._several) < _REPEATS):
                self._several.setdefault(key, []).append(kept)
        for key, times in counts.items():
            if len(times) > 1:
                rows[(slice(None), *key)] /= len(times)
            if not coils:
                seen[key] = True

    def repeats(self) -> np.ndarray | None:
        """Samples that were measured several times, (repeats, coils, samples)."""
        if not self._several:
            return None
        fewest = min(len(one) for one in self._several.values())
        return np.concatenate([np.stack(one[:fewest]) for one in self._several.values()], axis=2)


def _along(content: Content, at: int, values: np.ndarray, side: int) -> tuple[int, int, np.ndarray]:
    """Place of samples along the read-out: their centre is DC; what is to be discarded is left out."""
    head = content.heads[at]
    n, before, after = values.shape[1], int(head["discard_pre"]), int(head["discard_post"])
    centre = int(head["center_sample"]) or n // 2  # 0: not stated
    start = side // 2 - (n - 1 - centre if content.flagged(REVERSED)[at] else centre)
    if start + before < 0 or start + n - after > side or before + after > n:
        raise ValueError(
            f"{content.name}: acquisition {at} has {n} samples around sample {centre}, and a read-out of {side} "
            "has no place for them."
        )
    return start + before, start + n - after, values[:, before : n - after]


def _encodes_of(content: Content, where: np.ndarray) -> np.ndarray:
    """Indices (m, 1 or 2) of the phase encodes of acquisitions, of images whose DC is at n // 2."""
    encoding = content.encoding
    found = []
    steps = ("kspace_encode_step_1", "kspace_encode_step_2")
    for axis, name, centre in zip("yz", steps, encoding.centres, strict=True):
        if axis not in encoding.axes:
            continue
        side = encoding.matrix[axis]
        lines = content.counter(name)[where] + side // 2 - centre
        outside = np.flatnonzero((lines < 0) | (lines >= side))
        if len(outside):
            at = where[outside[0]]
            raise ValueError(
                f"{content.name}: acquisition {at} has {name} {content.counter(name)[at]}, outside of a matrix of "
                f"{side} whose centre is {centre}."
            )
        found.append(lines)
    return np.stack(found, axis=1)
