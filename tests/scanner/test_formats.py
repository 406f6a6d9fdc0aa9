"""The table of formats in the docstring of `read_scan` is what it says: every format gives that, and no more."""

import re

import h5py
import nibabel
import numpy as np
import pydicom
import pytest
from PIL import Image

from adaptive.images import head_scan, write_cfl
from adaptive.operators import FourierLines
from adaptive.scanner import Geometry, Protocol, Scan, read_scan, reading, write_dicom, write_ismrmrd

HEAD = head_scan()[12].image[::2, ::2]
RAW = FourierLines(HEAD.shape, range(len(HEAD))).forward(HEAD).astype(np.complex64)
VOLUME = np.stack([HEAD] * 3, axis=2)
PLACE = Geometry.from_affine(np.diag([2.0, 2.0, 3.0, 1.0]), VOLUME.shape)
TIMES = Protocol(echo_time=0.03, repetition_time=2.0)
GIVES = ("geometry", "protocol", "noise", "mask", "readout")
LINE = re.compile(
    r"^    (?P<format>\w+) +(?P<endings>.*?) +(?P<kind>(?:kspace|image)(?:, \w+)?)(?P<rest>(?: +(?:yes|no|stated)){5})$"
)


def table():
    """The rows of the docstring: format -> (endings, kinds, what it gives)."""
    rows = [LINE.match(line) for line in read_scan.__doc__.splitlines()]
    return {
        row["format"]: (
            row["endings"].replace("a folder,", "").split(),
            set(row["kind"].split(", ")),
            dict(zip(GIVES, row["rest"].split(), strict=True)),
        )
        for row in rows
        if row
    }


def dicom(path, kind, stated):
    if stated:
        return write_dicom(path.with_suffix(""), VOLUME, PLACE, TIMES, readout=1)[0].parent
    place = Geometry.from_affine(PLACE.affine, (*HEAD.shape, 1))
    file = write_dicom(path.with_suffix(""), HEAD, place)[0]
    head = pydicom.dcmread(file)
    for name in ("ImagePositionPatient", "ImageOrientationPatient", "ProtocolName", "SeriesDescription"):
        if name in head:
            delattr(head, name)
    head.save_as(file)
    return file


def ismrmrd(path, kind, stated):
    more = {"geometry": Geometry.from_affine(PLACE.affine, (*HEAD.shape, 1)), "protocol": TIMES, "noise": RAW[:1]}
    write_ismrmrd(path.with_suffix(".h5"), Scan(RAW[None], "kspace", coils=0, **(more if stated else {}), readout=1))
    path.with_suffix(".h5").rename(path)


def fastmri(path, kind, stated):
    from tests.scanner.test_ismrmrd import header

    with h5py.File(path, "w") as file:
        file["kspace" if kind == "kspace" else "reconstruction_rss"] = RAW[None, None] if kind == "kspace" else HEAD
        if stated:
            import ismrmrd

            file["ismrmrd_header"] = ismrmrd.xsd.ToXML(header())


def nifti(path, kind, stated):
    one = np.stack([RAW] * 3, axis=2) if kind == "kspace" else VOLUME.astype(np.float32)
    image = nibabel.Nifti1Image(np.stack([one] * 2, axis=-1), PLACE.affine)
    if stated:
        image.header.set_xyzt_units("mm", "sec")
        image.header["pixdim"][4] = 2.0
    nibabel.save(image, path)


def mgh(path, kind, stated):
    image = nibabel.MGHImage(VOLUME.astype(np.float32), PLACE.affine)
    image.header["tr"] = 2000.0 if stated else 0.0
    nibabel.save(image, path)


def numpy(path, kind, stated):
    (np.save if path.suffix == ".npy" else np.savez)(path, RAW[None] if kind == "kspace" else HEAD)


def bart(path, kind, stated):
    write_cfl(path, RAW if kind == "kspace" else HEAD)


def picture(path, kind, stated):
    Image.fromarray((255 * HEAD).astype(np.uint8)).save(path)


WRITERS = {
    "DICOM": dicom, "ISMRMRD": ismrmrd, "fastMRI": fastmri, "NIfTI": nifti, "MGH": mgh, "NumPy": numpy, "BART": bart,
    "picture": picture,
}  # fmt: skip
NOT_WRITTEN = (".ima", ".hdr", ".img", ".mnc")  # by these libraries, or without a second file


def test_every_ending_stands_in_the_table():
    listed = [ending for endings, _, _ in table().values() for ending in endings]
    known = (*reading.DICOM, *reading.HDF5, *reading.VOLUMES, *reading.ARRAYS, *reading.PICTURES)
    assert set(listed) == set(known) - {".img.gz"} and set(table()) == set(WRITERS)


@pytest.mark.parametrize("name", WRITERS)
def test_a_format_gives_what_its_line_says(name, tmp_path):
    endings, kinds, gives = table()[name]
    for number, ending in enumerate(one for one in endings if one not in NOT_WRITTEN):
        for stated in (True, False):
            for kind in ("kspace", "image"):
                path = tmp_path / f"{name}-{number}-{stated}-{kind}{ending}"
                path = WRITERS[name](path, kind if kind in kinds else min(kinds), stated) or path
                volume = 0 if name == "NIfTI" else None
                if kind not in kinds:
                    with pytest.raises(ValueError, match="holds"):
                        read_scan(path, kind, volume=volume)
                    continue
                scan = read_scan(path, kind, volume=volume)
                assert scan.kind == kind and scan.data.size >= HEAD.size
                for what, said in gives.items():
                    there = getattr(scan, what) is not None
                    assert there == (said == "yes" or (said == "stated" and stated)), (name, ending, what, said)
