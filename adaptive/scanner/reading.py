"""One reader for whatever lies on the disk: a file or a folder in, a scan out, or one sentence that says why not."""

from __future__ import annotations

import os
from pathlib import Path

from adaptive.checks import choice
from adaptive.scanner.arrays import is_raw, read_array, read_hdf5, read_volume
from adaptive.scanner.dicom_reading import read_dicom
from adaptive.scanner.ismrmrd_reading import read_ismrmrd
from adaptive.scanner.scan import Scan

__all__ = ["read_scan"]

_ARRAYS = (".npy", ".npz", ".cfl")
_HDF5 = (".h5", ".hdf5", ".mrd")
_VOLUMES = (".nii", ".nii.gz", ".mgz", ".mgh", ".hdr", ".img", ".img.gz", ".mnc")
_DICOM = (".dcm", ".ima")
_MARK = b"DICM"  # of DICOM, after 128 bytes


def read_scan(
    path: str | os.PathLike[str], kind: str | None = None, *, volume: int | None = None, index: int | None = None
) -> Scan:
    """Read k-space or images, with their place in the patient and their protocol where the format has them.

    Parameters
    ----------
    path : str or Path
        A folder that holds one series of DICOM, or a file: DICOM, ISMRMRD (``.h5``, ``.mrd``), fastMRI's HDF5, NIfTI,
        ``.mgz``, arrays of BART (``.cfl``: x, y, z, coil, others) and NumPy (``.npy``, ``.npz``: (coils, *shape), or
        images (h, w), (slices, h, w), (n0, n1, n2, volumes)).
    kind : {"kspace", "image"}, optional
        What it is taken for, and refused if it is the other; default: as the format says, or the numbers look.
    volume : int, optional
        Of several: DICOM images of one place, contrasts and repetitions of ISMRMRD, the last axis of an array.
    index : int, optional
        Of several slices of two-dimensional k-space; default: the middle one.

    Returns
    -------
    Scan

    Raises
    ------
    FileNotFoundError, ImportError, IndexError
        If there is no such file; no package to read it; no such volume or slice.
    ValueError
        In one sentence: a damaged or cut-off file, compressed pixels without a decoder, a missing slice, mixed series,
        samples out of order or twice, numbers that are NaN, k-space in the place of an image or the other way round,
        several volumes of which none was chosen, more than fits into memory.

    Examples
    --------
    >>> from pathlib import Path
    >>> import nibabel
    >>> path = Path(nibabel.__file__).parent / "tests" / "data" / "example4d.nii.gz"
    >>> scan = read_scan(path, volume=0)
    >>> scan
    Scan(volume 0 of example4d.nii.gz: image, 128 x 96 x 24)
    >>> scan.slice("axial", 12)
    Scan(axial slice 12 of volume 0 of example4d.nii.gz: image, 128 x 96)
    """
    path = Path(path).expanduser()
    if kind is not None:
        choice("kind", kind, ("kspace", "image"))
    if not path.exists():
        raise FileNotFoundError(f"there is no file or folder {path}.")
    name = path.name.lower()
    if path.is_dir() or name.endswith(_DICOM) or _marked(path):
        _only("index", index, path, "slices of a volume are cut with Scan.slice")
        return _of_format(read_dicom(path, volume), "image", kind)
    if name.endswith(_HDF5):
        if is_raw(path):
            return _of_format(read_ismrmrd(path, volume, index), "kspace", kind)
        _only("volume", volume or None, path, "its slices are chosen by index")
        return read_hdf5(path, kind, index)
    if name.endswith(_VOLUMES):
        _only("index", index, path, "slices of a volume are cut with Scan.slice")
        return read_volume(path, kind, volume)
    if name.endswith(_ARRAYS):
        _only("index", index, path, "slices of a volume are cut with Scan.slice")
        return read_array(path, kind, volume)
    known = ", ".join((*_DICOM, *_HDF5, *_VOLUMES, *_ARRAYS))
    raise ValueError(f"{path.name} has an unknown ending; scans are read from folders of DICOM and {known}.")


def _marked(path: Path) -> bool:
    with path.open("rb") as stream:
        return stream.read(132)[128:] == _MARK


def _only(argument: str, value: int | None, path: Path, instead: str) -> None:
    if value is not None:
        raise ValueError(f"{argument} means nothing for {path.name}: {instead}.")


def _of_format(scan: Scan, is_: str, kind: str | None) -> Scan:
    if kind is not None and kind != is_:
        held = "images" if is_ == "image" else "raw k-space"
        raise ValueError(f"{scan.source} holds {held}, and kind={kind!r} asks for the other: leave kind out.")
    return scan
