"""ISMRMRD in: acquisitions put where their counters say, noise scans apart; only what is asked for is read.

Headers are read at once, samples a few read-outs at a time: of a file of many contrasts and slices, those of one.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from adaptive.memory import require_memory
from adaptive.scanner.ismrmrd_file import NOISE, OTHERS, Content, opened
from adaptive.scanner.ismrmrd_grid import Grid, encodes_of
from adaptive.scanner.ismrmrd_header import geometry_of, protocol_of
from adaptive.scanner.scan import Scan
from adaptive.scanner.sentences import chosen

__all__ = ["Plan", "read_ismrmrd", "read_plan"]


class Plan(NamedTuple):
    """What an ISMRMRD file measures, without its samples.

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
    with opened(path) as file:
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
            geometry=geometry_of(content.heads[imaging[0]], encoding),
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
    """What a file measures, or plans to measure, in its order: of its first volume and slice; samples are not read."""
    with opened(path) as file:
        content = Content(path, file)
        imaging, _, _ = _volume(content, 0)
        imaging, _, _ = _slice(content, imaging, 0)
        encoding = content.encoding

        if not encoding.cartesian:
            shots = content.shots(imaging)
            return Plan(encoding.shape, encoding.readout, np.empty((len(shots), 0), int), shots, encoding.names)
        encodes = encodes_of(content, imaging)
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
    grid = Grid(content, imaging, coils)
    return replace(
        scan,
        data=grid.kspace,
        mask=grid.mask,
        repeats=grid.repeats(),
        readout=encoding.readout,
        order=grid.order,
        reconstructed=tuple(encoding.wanted[axis] if axis == "x" else encoding.matrix[axis] for axis in encoding.axes),
    )


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
