"""One reader for whatever lies on the disk: a file or a folder in, a scan out, or one sentence that says why not."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from adaptive.checks import choice
from adaptive.scanner.geometry import PLANES
from adaptive.scanner.recognising import OtherKind
from adaptive.scanner.sentences import reading
from adaptive.scanner.slicing import stacked

if TYPE_CHECKING:
    from adaptive.images import ImageStack
    from adaptive.scanner.scan import Scan

__all__ = ["HDF5", "VOLUMES", "read_images", "read_scan", "unchecked"]

DICOM = (".dcm", ".ima")
HDF5 = (".h5", ".hdf5", ".mrd")
VOLUMES = (".nii", ".nii.gz", ".mgz", ".mgh", ".hdr", ".img", ".img.gz", ".mnc")
ARRAYS = (".npy", ".npz", ".cfl")
PICTURES = (".png", ".jpg", ".jpeg", ".tif", ".tiff", ".bmp")
_MARK = b"DICM"  # of DICOM, after 128 bytes


def read_scan(
    path: str | os.PathLike[str], kind: str | None = None, *, volume: int | None = None, index: int | None = None
) -> Scan:
    """Read k-space or images, with their place in the patient and their protocol where the format has them.

    Parameters
    ----------
    path : str or Path
        A folder that holds one series of DICOM, or a file of one of the formats below. Arrays have shape (coils,
        \\*shape) for k-space; (h, w), (slices, h, w) or (n0, n1, n2, volumes) for images. An archive holds one array,
        one called "kspace" or "ksp", or images of one shape. Arrays of BART have the axes x, y, z, coil and others;
        images become (z, x, y). Of fastMRI's data sets "kspace" is read before "reconstruction_rss"; if images are
        asked for and only k-space is there, the root of the sum of squares over its coils.
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
        several volumes of which none was chosen, more than fits into memory, HDF5 whose numbers lie in another file.

    Notes
    -----
    What each format gives, besides ``data``; "stated": where the file says so.

    ======= =============================== ============= ======== ======== ====== ==== =======
    format  endings                         kind          geometry protocol noise  mask readout
    ======= =============================== ============= ======== ======== ====== ==== =======
    DICOM   a folder, .dcm .ima             image         stated   stated   no     no   stated
    ISMRMRD .h5 .hdf5 .mrd                  kspace        stated   stated   stated yes  yes
    fastMRI .h5 .hdf5                       kspace, image no       stated   no     no   no
    NIfTI   .nii .nii.gz .hdr .img .mnc     image, kspace yes      stated   no     no   no
    MGH     .mgz .mgh                       image         yes      stated   no     no   no
    NumPy   .npy .npz                       kspace, image no       no       no     no   no
    BART    .cfl                            kspace, image no       no       no     no   no
    picture .png .jpg .jpeg .tif .tiff .bmp image         no       no       no     no   no
    ======= =============================== ============= ======== ======== ====== ==== =======

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
    return unchecked(path, kind, volume, index).finite()


def read_images(path: str | os.PathLike[str], plane: str = "axial", *, volume: int = 0) -> ImageStack:
    """Read the images of a file as a stack of slices in [0, 1]: a view of `read_scan`.

    Parameters
    ----------
    path : str or Path
        Whatever `read_scan` reads as images.
    plane : "axial", "coronal" or "sagittal", default "axial"
        Orientation of the slices, of volumes that say how they lie in the patient.
    volume : int, default 0
        Of several.

    Returns
    -------
    ImageStack

    Raises
    ------
    FileNotFoundError, ImportError, IndexError, ValueError
        As `read_scan`; but pixels that are NaN are refused only in the slice that is looked at.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     np.save(f"{folder}/heads.npy", np.random.default_rng(0).random((3, 8, 8)))
    ...     stack = read_images(f"{folder}/heads.npy")
    >>> len(stack), stack[1].image.shape
    (3, (8, 8))
    """
    choice("plane", plane, PLANES)
    return stacked(unchecked(path, "image", volume), plane, Path(path).name)


def unchecked(
    path: str | os.PathLike[str], kind: str | None = None, volume: int | None = None, index: int | None = None
) -> Scan:
    """`read_scan`, but numbers may be NaN; packages are imported where their format is met."""
    path = Path(path).expanduser()
    if kind is not None:
        choice("kind", kind, ("kspace", "image"))
    if not path.exists():
        raise FileNotFoundError(f"there is no file or folder {path}.")
    name = path.name.lower()
    if name.endswith(HDF5) and path.is_file():
        return _of_hdf5(path, kind, volume, index)
    if index is not None:
        raise ValueError(f"index cannot be used for {path.name}: cut slices of a volume with Scan.slice.")
    if path.is_dir() or name.endswith(DICOM) or _marked(path):
        from adaptive.scanner.dicom_reading import read_dicom

        return _of_format(read_dicom(path, volume), "an image", kind)
    if name.endswith(VOLUMES):
        from adaptive.scanner.volumes import read_volume

        return read_volume(path, kind, volume)
    from adaptive.scanner.arrays import read_array, read_picture

    if name.endswith(ARRAYS):
        return read_array(path, kind, volume)
    if name.endswith(PICTURES):
        return _of_format(read_picture(path), "a picture", kind)
    known = ", ".join((*DICOM, *HDF5, *VOLUMES, *ARRAYS, *PICTURES))
    raise ValueError(f"{path.name} has an unknown ending; scans are read from folders of DICOM and {known}.")


def _of_hdf5(path: Path, kind: str | None, volume: int | None, index: int | None) -> Scan:
    from adaptive.scanner.hdf5 import opened_hdf5
    from adaptive.scanner.ismrmrd_file import is_ismrmrd

    with opened_hdf5(path) as file:
        raw = is_ismrmrd(file)
    if raw:
        from adaptive.scanner.ismrmrd_reading import read_ismrmrd

        return _of_format(read_ismrmrd(path, volume, index), "raw samples (ISMRMRD)", kind)
    if volume:
        raise ValueError(f"volume cannot be used for {path.name}: choose its slices by index.")
    from adaptive.scanner.fastmri import read_fastmri

    return read_fastmri(path, kind, index)


def _marked(path: Path) -> bool:
    with reading(path.name), path.open("rb") as stream:
        return stream.read(132)[128:] == _MARK


def _of_format(scan: Scan, held: str, kind: str | None) -> Scan:
    if kind not in (None, scan.kind):
        raise OtherKind(scan.source, held, f"and kind={kind!r} asks for the other: leave kind out")
    return scan
