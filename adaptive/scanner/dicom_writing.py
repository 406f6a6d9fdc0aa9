"""DICOM out: a series of MR images, one file per slice, with place and protocol.

Whole numbers of up to 16 bits are written as they are; others in steps of (largest - smallest) / 65535, which the
rescale slope states. Places have the 16 characters that the format gives to a decimal number.
"""

from __future__ import annotations

import math
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from adaptive.checks import finite
from adaptive.scanner.geometry import TO_LPS, Geometry
from adaptive.scanner.protocol import Protocol
from adaptive.scanner.sentences import needs

if TYPE_CHECKING:
    from adaptive.types import ArrayLike

__all__ = ["write_dicom"]


_STEPS = 2**16 - 1


def write_dicom(
    folder: str | os.PathLike[str],
    volume: ArrayLike,
    geometry: Geometry,
    protocol: Protocol | None = None,
    *,
    description: str = "adaptive designs",
    readout: int | None = None,
) -> list[Path]:
    """Write a volume as a folder of slices.

    Parameters
    ----------
    folder : str or Path
        Made where it is not there; it must not hold files yet.
    volume : array (h, w) or (h, w, slices), real
        Rows, columns, slices, as `read_scan` has a folder of DICOM.
    geometry : Geometry
        Of its axes; they have to be perpendicular, as scanners' are.
    protocol : Protocol, optional
    description : str, default "adaptive designs"
        Of the series.
    readout : {0, 1}, optional
        Axis of the volume that was read out; phases were encoded along the other one, which the files then say.

    Returns
    -------
    list of Path
        One per slice.

    Raises
    ------
    ValueError
        If the volume is complex, not finite or of another shape than its geometry, axes are not perpendicular, or the
        folder holds something, or ``readout`` is neither 0 nor 1; nothing is written then.

    Examples
    --------
    >>> import tempfile
    >>> from adaptive.scanner import read_scan
    >>> place = Geometry.from_affine(np.diag([2.0, 2.0, 3.0, 1.0]), (4, 5, 2))
    >>> paths = write_dicom(tempfile.mkdtemp(), np.arange(40).reshape(4, 5, 2), place)
    >>> read_scan(paths[0].parent).data[1, 2]
    array([14, 15], dtype=uint16)
    """
    needs("pydicom", "writing DICOM")
    array = finite("volume", volume, dtype=None)
    whole = array[..., None] if array.ndim == 2 else array
    if whole.ndim != 3 or whole.shape != geometry.matrix or whole.dtype.kind not in "biuf":
        raise ValueError(
            f"volume must be real, of the shape of its geometry, {geometry.matrix}, got {array.dtype} of shape "
            f"{array.shape}."
        )
    if readout not in (None, 0, 1):
        raise ValueError(f"readout must be 0 or 1, the axis of a slice that was read out, got {readout!r}.")
    columns = geometry.directions
    if not np.allclose(columns.T @ columns, np.eye(3), atol=1e-4):
        raise ValueError("geometry must have perpendicular axes of length one: DICOM has no others.")
    folder = Path(folder).expanduser()
    if folder.is_dir() and any(folder.iterdir()):
        raise ValueError(f"{folder.name} holds files already; a series needs a folder of its own.")
    pixels, slope, start = _sixteen_bits(whole)
    series = _series(geometry, protocol, description)
    if readout is not None:
        series["InPlanePhaseEncodingDirection"] = ("ROW", "COL")[readout]
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for k in range(whole.shape[2]):
        paths.append(folder / f"slice{k:04d}.dcm")
        _write(paths[-1], pixels[..., k], slope, start, geometry, series, k)
    return paths


def _sixteen_bits(volume: np.ndarray) -> tuple[np.ndarray, float, float]:
    """Pixels, and the slope and intercept that give the numbers back."""
    low, high = float(volume.min()), float(volume.max())
    if volume.dtype.kind in "biu" and 0 <= low and high <= _STEPS:
        return volume.astype(np.uint16), 1.0, 0.0
    if volume.dtype.kind == "i" and -(2**15) <= low and high < 2**15:
        return volume.astype(np.int16), 1.0, 0.0
    slope = float(f"{(high - low) / _STEPS or 1.0:.9e}")  # a decimal number that the file can hold
    start = float(f"{low:.8e}")
    steps = np.clip(np.rint((volume - start) / slope), 0, _STEPS)
    return steps.astype(np.uint16), slope, start


def _series(geometry: Geometry, protocol: Protocol | None, description: str) -> dict[str, Any]:
    """Header that all slices share."""
    from pydicom.uid import generate_uid
    from pydicom.valuerep import DS

    size = geometry.voxel_size
    said: dict[str, Any] = {
        "SeriesInstanceUID": generate_uid(),
        "StudyInstanceUID": generate_uid(),
        "FrameOfReferenceUID": generate_uid(),
        "SeriesDescription": description,
        "Modality": "MR",
        "PatientName": "",
        "PatientID": "",
        "SeriesNumber": 1,
        "ImageOrientationPatient": _decimals([*_lps(geometry, 1), *_lps(geometry, 0)]),
        "PixelSpacing": _decimals(size[:2]),
        "SpacingBetweenSlices": _decimals(size[2:])[0],
        "SliceThickness": _decimals(size[2:])[0],
    }
    for name, key, unit in (
        ("echo_time", "EchoTime", 1e-3),
        ("repetition_time", "RepetitionTime", 1e-3),
        ("inversion_time", "InversionTime", 1e-3),
        ("flip_angle", "FlipAngle", math.pi / 180),
        ("field_strength", "MagneticFieldStrength", 1.0),
        ("frequency", "ImagingFrequency", 1e6),
    ):
        value = getattr(protocol, name, None)
        if value is not None:
            said[key] = DS(value / unit, auto_format=True)
    if protocol is not None and protocol.name:
        said["ProtocolName"] = protocol.name
    return said


def _write(
    path: Path, pixels: np.ndarray, slope: float, start: float, geometry: Geometry, series: dict[str, Any], k: int
) -> None:
    from pydicom.dataset import Dataset, FileMetaDataset
    from pydicom.uid import ExplicitVRLittleEndian, MRImageStorage, generate_uid
    from pydicom.valuerep import DS

    whole, meta = Dataset(), FileMetaDataset()
    meta.MediaStorageSOPClassUID = whole.SOPClassUID = MRImageStorage
    meta.MediaStorageSOPInstanceUID = whole.SOPInstanceUID = generate_uid()
    meta.TransferSyntaxUID = ExplicitVRLittleEndian
    whole.file_meta = meta
    for name, value in series.items():
        setattr(whole, name, value)
    whole.InstanceNumber = k + 1
    whole.ImagePositionPatient = _decimals(geometry.place([0, 0, k]) * TO_LPS)
    whole.Rows, whole.Columns = pixels.shape
    whole.SamplesPerPixel, whole.PhotometricInterpretation = 1, "MONOCHROME2"
    whole.BitsAllocated = whole.BitsStored = 16
    whole.HighBit, whole.PixelRepresentation = 15, int(pixels.dtype.kind == "i")
    if (slope, start) != (1.0, 0.0):
        whole.RescaleSlope, whole.RescaleIntercept = DS(slope, auto_format=True), DS(start, auto_format=True)
    whole.PixelData = np.ascontiguousarray(pixels).astype(pixels.dtype.newbyteorder("<")).tobytes()
    whole.save_as(path, enforce_file_format=True)


def _lps(geometry: Geometry, axis: int) -> np.ndarray:
    return geometry.directions[:, axis] * TO_LPS


def _decimals(values: Any) -> list[Any]:
    """Numbers as DICOM holds them: of 16 characters."""
    from pydicom.valuerep import DS

    return [DS(float(value), auto_format=True) for value in values]
