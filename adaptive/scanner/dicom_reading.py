"""DICOM in: the slices of a series sorted by where they lie, and only the pixels that are asked for.

Files of one slice each, or of many frames (enhanced). Several images of one place are several volumes, in order of echo
time, acquisition and instance number.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np

from adaptive.memory import require_memory
from adaptive.scanner.dicom_frames import Frame, frames_of, normal_of, places_of, require_alike, stated
from adaptive.scanner.geometry import TO_LPS, Geometry
from adaptive.scanner.protocol import Protocol
from adaptive.scanner.scan import Scan
from adaptive.scanner.sentences import chosen, damaged, needs, one_warning, reading

__all__ = ["read_dicom"]

_STEP = 1e-3  # by which the distance that is stated may differ, as a share


def read_dicom(path: Path, volume: int | None = None) -> Scan:
    """Read one volume of a file or of a folder that holds one series, as `read_scan` says."""
    needs("pydicom", f"reading {path.name}")
    with one_warning(path.name):
        return _read(path, volume)


def _read(path: Path, volume: int | None) -> Scan:
    frames = frames_of(path)
    require_alike(path, frames)
    places = places_of(path, frames)
    n_volumes = len(places[0])
    volume = chosen(path.name, "volume", volume, n_volumes, "volumes")
    taken = [place[volume] for place in places]
    head = taken[0].head
    rows, columns = int(head.Rows), int(head.Columns)
    require_memory(path.name, (rows, columns, len(taken)), float)
    data = _pixels(path, taken)
    source = path.name if n_volumes == 1 else f"volume {volume} of {path.name}"
    return Scan(
        data[..., 0] if len(taken) == 1 else data,
        "image",
        geometry=_geometry(taken, rows, columns),
        protocol=_protocol(taken[0]),
        readout=_readout(taken[0]),
        volume=volume,
        n_volumes=n_volumes,
        source=source,
    )


def _geometry(frames: list[Frame], rows: int, columns: int) -> Geometry | None:
    first, last = frames[0], frames[-1]
    if first.position is None or first.orientation is None or first.spacing is None:
        return None
    along, down = np.array(first.orientation[:3]), np.array(first.orientation[3:])
    normal = normal_of(first)
    with reading(first.path.name):
        between = stated(first.head, first.number, "PixelMeasuresSequence", "SpacingBetweenSlices")
        thick = stated(first.head, first.number, "PixelMeasuresSequence", "SliceThickness")
        apart = float(between or thick or 1.0)
    if len(frames) > 1:
        assert last.position is not None
        way = float(normal @ (np.array(last.position) - np.array(first.position)))
        normal = normal if way > 0 else -normal
        measured = abs(way) / (len(frames) - 1)
        apart = abs(apart) if between and math.isclose(measured, abs(apart), rel_tol=_STEP) else measured
    directions = np.stack([down, along, normal], axis=1) * TO_LPS[:, None]
    size = np.array([first.spacing[0], first.spacing[1], abs(apart)])
    return Geometry(np.array(first.position) * TO_LPS, directions, size, (rows, columns, len(frames)))


def _readout(frame: Frame) -> int | None:
    """Axis of the pixels that was read out: phase encoding along rows means that columns were read."""
    with reading(frame.path.name):
        encoded = stated(frame.head, frame.number, "MRFOVGeometrySequence", "InPlanePhaseEncodingDirection")
    return {"ROW": 0, "COL": 1, "COLUMN": 1}.get(str(encoded).strip().upper())


def _protocol(frame: Frame) -> Protocol | None:
    found: dict[str, Any] = {}
    for name, sequence, keys, unit in (
        ("echo_time", "MREchoSequence", ("EffectiveEchoTime", "EchoTime"), 1e-3),
        ("repetition_time", "MRTimingAndRelatedParametersSequence", ("RepetitionTime",), 1e-3),
        ("inversion_time", "MRModifierSequence", ("InversionTimes", "InversionTime"), 1e-3),
        ("flip_angle", "MRTimingAndRelatedParametersSequence", ("FlipAngle",), math.pi / 180),
        ("field_strength", "", ("MagneticFieldStrength",), 1.0),
        ("frequency", "", ("ImagingFrequency",), 1e6),
    ):
        with reading(frame.path.name):
            values = [stated(frame.head, frame.number, sequence, key) for key in keys]
            value = next((one for one in values if one not in (None, "")), None)
            if value is not None and np.size(value):
                found[name] = float(np.ravel(np.asarray(value, float))[0]) * unit
    with reading(frame.path.name):
        name = str(frame.head.get("ProtocolName") or frame.head.get("SeriesDescription") or "")
    if not np.isfinite([*found.values()]).all():
        raise damaged(frame.path.name, ValueError("its times and angles are not all finite"))
    return Protocol(**found, name=name) or None


def _pixels(path: Path, frames: list[Frame]) -> np.ndarray:
    """Pixels (rows, columns, slices): as they are stored, or rescaled where the file says how."""
    from pydicom import dcmread

    found, file, whole = [], None, None
    for one in frames:
        if file != one.path:
            with reading(one.path.name):
                file, whole = one.path, dcmread(one.path)
            images = _decoded(whole, one.path)
        with reading(one.path.name):
            image = images[one.number] if images.ndim == 3 else images
            slope, start = (
                stated(one.head, one.number, "PixelValueTransformationSequence", name)
                for name in ("RescaleSlope", "RescaleIntercept")
            )
            if slope not in (None, "") and (float(slope), float(start or 0)) != (1.0, 0.0):
                image = image * float(slope) + float(start or 0)
            if image.shape != (int(one.head.Rows), int(one.head.Columns)):
                raise ValueError(f"an image of {image.shape}")
        found.append(image)
    return np.stack(found, axis=-1)


def _decoded(whole: Any, file: Path) -> np.ndarray:
    syntax = getattr(getattr(whole, "file_meta", None), "TransferSyntaxUID", None)
    with reading(file.name):
        packed = str(syntax.name) if syntax is not None and syntax.is_compressed else ""
    try:
        return whole.pixel_array
    except Exception as reason:  # a dozen kinds, by where the file is cut off and which decoder is absent
        if packed and "decompress" in str(reason):
            raise ValueError(
                f"{file.name} holds compressed pixels ({packed}), and no decoder for them is installed: pip "
                "install pylibjpeg pylibjpeg-libjpeg pylibjpeg-openjpeg, or let the scanner export uncompressed files."
            ) from reason
        raise damaged(file.name, reason) from reason
