"""Pulseq sequences in: the sequence as pypulseq reads it, and the design that its read-outs make."""

from __future__ import annotations

import os
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from adaptive.scanner.ismrmrd_reading import Plan
from adaptive.scanner.pulseq.hardware import needs_pulseq
from adaptive.scanner.pulseq.lobes import in_order, lobes_of
from adaptive.scanner.pulseq.moments import Moments
from adaptive.scanner.sentences import reading

__all__ = ["AXIS", "NAME", "SHAPE", "read_pulseq_plan", "read_sequence"]

NAME, SHAPE, AXIS = "AdaptiveDesign", "AdaptiveShape", "AdaptiveAxis"  # definitions of what we wrote


def read_sequence(path: str | os.PathLike[str]) -> Any:
    """A Pulseq file, read by pypulseq."""
    path = Path(path).expanduser()
    if not path.is_file():
        raise ValueError(f"there is no file {path}.")
    needs_pulseq("reading Pulseq")
    import pypulseq as pp

    found = pp.Sequence()
    with reading(path.name), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found.read(str(path))
    if not found.block_events:
        raise ValueError(f"{path.name} holds no sequence: there is no block in it.")
    return found


def read_pulseq_plan(path: Path, shape: Sequence[int] | None = None) -> Plan:
    """The design of a sequence: its lines, phase encodes or shots in the order of the scan, each encode once.

    Parameters
    ----------
    path : Path
    shape : tuple of int, optional
        Of the image; default: what the file says (ours), or what its read-outs cover.
    """
    sequence = read_sequence(path)
    moments = Moments(sequence)
    if not moments.echoes:
        raise ValueError(f"{path.name} reads nothing out: there is no ADC in it.")
    view = np.array(sequence.definitions.get("FOV", [np.nan] * 3), float)
    known = None if SHAPE not in sequence.definitions else np.atleast_1d(sequence.definitions[SHAPE]).astype(int)
    axis = None if AXIS not in sequence.definitions else int(np.atleast_1d(sequence.definitions[AXIS])[0])
    sides = shape if shape is not None else None if known is None else known.tolist()
    moved = np.array([np.ptp(echo.k, axis=0) for echo in moments.echoes])
    largest = moved.max()
    reads = np.flatnonzero((moved > 1e-3 * largest).any(axis=0))
    if len(reads) > 1 or (sequence.definitions.get(NAME) == "shots"):
        return _shots_of(moments, view, sides, path.name)
    where = np.array([echo.middle for echo in moments.echoes])
    try:
        lobes = lobes_of(moments)
        encoded = [one.axis for one in in_order(lobes, moments, len(lobes))]
    except ValueError:  # of one read-out, or of several that share lobes: by where they lie
        encoded = [k for k in range(3) if k not in reads and np.ptp(where[:, k]) > 1e-3 * largest]
        encoded = encoded or [1 if reads[0] != 1 else 0]
    if not np.isfinite(view[[*encoded, *reads]]).all():
        raise ValueError(f"{path.name} does not define FOV, without which its lobes are not phase encodes.")
    found = where[:, encoded] * view[encoded]
    steps = np.round(found).astype(int)
    if np.abs(found - steps).max() > 0.05:
        raise ValueError(f"{path.name} encodes between the steps of its field of view: it is not a Cartesian design.")
    read = round(float(largest * view[reads[0]])) + 1
    if sides is None:
        sides = [*map(_matrix, steps.T)]
        sides = [sides[0], read] if len(encoded) == 1 else [read, *sides]
        axis = 0
    readout = (1 - (0 if axis is None else axis)) if len(sides) == 2 else (0 if axis is None else axis)
    across = [side for k, side in enumerate(sides) if k != readout]
    if len(across) != len(encoded):
        raise ValueError(f"shape must have {len(encoded) + 1} sides for the axes of {path.name}, got {tuple(sides)}.")
    indices = (steps + np.array(across) // 2) % np.array(across)
    _, first = np.unique(indices, axis=0, return_index=True)
    return Plan(tuple(sides), readout, indices[np.sort(first)], None, None)


def _matrix(steps: np.ndarray) -> int:
    """The side of the matrix that these encodes are of: -n/2 to n/2 - 1, or turned round where all are there."""
    low, high = int(steps.min()), int(steps.max())
    turned = 2 * max(1 - low, high)
    return turned if len(np.unique(steps)) == turned else 2 * max(-low, high + 1)


def _shots_of(moments: Moments, view: np.ndarray, sides: Sequence[int] | None, name: str) -> Plan:
    n = 2 if sides is None else len(sides)
    if not np.isfinite(view[:n]).all():
        raise ValueError(f"{name} does not define FOV, without which its places are not the trajectory of an image.")
    places = [echo.k[:, :n] * view[:n] for echo in moments.echoes]
    if sides is None:
        top = np.max([np.abs(one).max(axis=0) for one in places], axis=0)
        sides = [2 * int(np.ceil(side - 1e-3)) for side in top]
    factor = 2 * np.pi / np.array(sides, float)
    shots = [_inside(one * factor) for one in places]
    return Plan(tuple(sides), 0, np.empty((len(shots), 0), int), shots, list(range(len(shots))))


def _inside(samples: np.ndarray) -> np.ndarray:
    """In [-pi, pi): what rounding moved over the edge of k-space is at the edge."""
    near = np.pi * (1 + 1e-3)
    if np.abs(samples).max() > near:
        raise ValueError("shape must be as large as the trajectory reaches: it goes beyond the edge of k-space.")
    return np.where(samples >= np.pi - 1e-9, -np.pi, np.maximum(samples, -np.pi))
