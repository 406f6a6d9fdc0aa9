"""Damaged, hostile and enormous files: one sentence, before memory is taken, and no other file is read along."""

from __future__ import annotations

import gzip
import tracemalloc
import warnings
import zipfile

import h5py
import nibabel
import numpy as np
import pydicom
import pytest
from PIL import Image

from adaptive import memory
from adaptive.cli.errors import CommandError
from adaptive.scanner import read_scan
from adaptive.tables import TableError, TableFile, read_cells
from experiments.robustness.common import FAULTS, tried
from experiments.robustness.file_kinds import FILES
from experiments.robustness.mutations import mutated


@pytest.mark.parametrize("name", [name for name, kind in FILES.items() if "bank" not in name])
def test_a_fault_anywhere_is_read_rightly_or_refused_in_a_sentence(name, tmp_path):
    """Before: a fifth of the faults of HDF5, ISMRMRD and DICOM were tracebacks of their packages."""
    kind = FILES[name]
    whole, broken = tmp_path / f"whole{kind.ending}", tmp_path / f"broken{kind.ending}"
    kind.make(whole)
    for path in list(tmp_path.iterdir()):
        broken.with_suffix(path.suffix).write_bytes(path.read_bytes())
    for number in range(30):
        broken.write_bytes(mutated(whole.read_bytes(), np.random.default_rng([1, number]), kind.text))
        found = tried(lambda: kind.read(broken), kind.wrong, refusals=(ValueError, IndexError, CommandError))
        assert found.kind not in FAULTS, (number, found)


def test_a_heap_of_hdf5_without_an_end_is_not_opened(tmp_path):
    """Before: the HDF5 library went round in it for ever, and no signal reached it."""
    path = tmp_path / "raw.h5"
    FILES["ISMRMRD"].make(path)
    content = bytearray(path.read_bytes())
    start = content.find(b"GCOL\x01\x00\x00\x00")
    at, end = start + 16, start + int.from_bytes(content[start + 8 : start + 16], "little")
    while int.from_bytes(content[at : at + 2], "little"):  # to the free space at its end
        at += 16 + -(-int.from_bytes(content[at + 8 : at + 16], "little") // 8) * 8
    assert at + 16 <= end
    content[at + 8 : at + 16] = bytes(8)
    path.write_bytes(content)
    with pytest.raises(ValueError, match=r"raw\.h5 cannot be read; .*a list of its objects has no end"):
        read_scan(path)


def linked(folder, how):
    """An HDF5 file that gives as its k-space what another file holds."""
    secret = folder / "secret.h5"
    with h5py.File(secret, "w") as file:
        file["kspace"] = np.ones((1, 2, 16, 16), np.complex64)
    (folder / "secret.bin").write_bytes(bytes(2 * 16 * 16 * 8))
    with h5py.File(folder / "raw.h5", "w") as file:
        if how == "link":
            file["kspace"] = h5py.ExternalLink("secret.h5", "kspace")
        elif how == "link behind a link":
            file["elsewhere"] = h5py.ExternalLink("secret.h5", "/")
            file["kspace"] = h5py.SoftLink("/elsewhere/kspace")
        elif how == "storage":
            bytes_there = [(str(folder / "secret.bin"), 0, h5py.h5f.UNLIMITED)]
            file.create_dataset("kspace", (1, 2, 16, 16), np.complex64, external=bytes_there)
        elif how == "virtual":
            layout = h5py.VirtualLayout((1, 2, 16, 16), np.complex64)
            layout[:] = h5py.VirtualSource("secret.h5", "kspace", (1, 2, 16, 16))
            file.create_virtual_dataset("kspace", layout)
    return folder / "raw.h5"


@pytest.mark.parametrize("how", ["link", "link behind a link", "storage", "virtual"])
def test_numbers_of_another_file_are_not_read_along(how, tmp_path):
    """Before: a file of the system came out as an image."""
    with pytest.raises(ValueError, match=r"raw\.h5 does not hold '.*' itself: .* other files are not read along"):
        read_scan(linked(tmp_path, how))


def test_links_within_a_file_are_followed_and_rings_are_not(tmp_path):
    with h5py.File(tmp_path / "raw.h5", "w") as file:
        file["series/first"] = np.ones((1, 2, 16, 16), np.complex64)
        file["kspace"] = h5py.SoftLink("/series/first")
    assert read_scan(tmp_path / "raw.h5").data.shape == (2, 16, 16)
    with h5py.File(tmp_path / "raw.h5", "w") as file:
        file["kspace"] = h5py.SoftLink("/ksp")
        file["ksp"] = h5py.SoftLink("/kspace")
    with pytest.raises(ValueError, match="the links of 'ksp' lead nowhere"):
        read_scan(tmp_path / "raw.h5")


N = 4096  # sides of what unpacks to more than a machine of 32 MB has


def bomb(folder, name):
    path = folder / name
    zeros = np.zeros((N, N), np.uint8)
    if name.endswith(".npz"):
        np.savez_compressed(path, image=zeros)
    elif name.endswith(".nii.gz"):
        nibabel.save(nibabel.Nifti1Image(zeros[:, :, None], np.eye(4)), path)
    elif name.endswith(".png"):
        Image.fromarray(zeros).save(path)
    elif name.endswith(".h5"):
        with h5py.File(path, "w") as file:
            file.create_dataset("image", data=zeros[None], chunks=(1, 512, 512), compression="gzip")
    elif name.startswith("long"):
        path.write_bytes(gzip.compress(b"a,b\n" + b"x" * N * N))
    else:
        path.write_bytes(gzip.compress(b"a,b\n" + b"1,2\n" * (N * N // 4)))
    return path


@pytest.mark.parametrize("name", ["b.npz", "b.nii.gz", "b.png", "b.h5", "b.csv.gz", "long.csv.gz"])
def test_memory_is_asked_for_before_a_bomb_is_unpacked(name, tmp_path, monkeypatch):
    """Before: 6 MB of packed text took 6 GB, and then a MemoryError."""
    path = bomb(tmp_path, name)
    monkeypatch.setattr(memory, "memory_there", lambda: 32e6)
    tracemalloc.start()
    with warnings.catch_warnings(), pytest.raises(ValueError, match=r"is too large"):
        warnings.simplefilter("error")
        (read_cells if name.endswith(".csv.gz") else read_scan)(path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 16e6


def test_a_packed_table_may_be_read_a_block_at_a_time_however_large(tmp_path, monkeypatch):
    path = bomb(tmp_path, "b.csv.gz")
    monkeypatch.setattr(memory, "memory_there", lambda: 32e6)
    assert len(next(TableFile(path).blocks(1000)).frame) == 1000


def test_data_that_are_announced_and_not_there(tmp_path):
    with h5py.File(tmp_path / "raw.h5", "w") as file:
        file.create_dataset("kspace", (10, 8, 640, 372), np.complex64, chunks=(1, 1, 640, 372))
    with pytest.raises(ValueError, match="its data set 'kspace' was made and never written"):
        read_scan(tmp_path / "raw.h5")
    with zipfile.ZipFile(tmp_path / "a.npz", "w") as archive:
        header = b"\x93NUMPY\x01\x00v\x00{'descr': '<f8', 'fortran_order': False, 'shape': (100000, 1000), }"
        archive.writestr("a.npy", header.ljust(127) + b"\n" + bytes(64))
    with pytest.raises(ValueError, match=r"a\.npz cannot be read; .*announces 800000000 bytes of numbers and holds"):
        read_scan(tmp_path / "a.npz")


@pytest.mark.parametrize("name", ["Columns", "BitsAllocated", "PixelData", "Rows"])
def test_dicom_that_lacks_an_attribute(name, tmp_path):
    """Before: AttributeError."""
    FILES["DICOM"].make(tmp_path / "a.dcm")
    head = pydicom.dcmread(tmp_path / "a.dcm")
    delattr(head, name)
    head.save_as(tmp_path / "a.dcm")
    with pytest.raises(ValueError, match=r"a\.dcm cannot be read; it seems to be damaged"):
        read_scan(tmp_path / "a.dcm")


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("PixelSpacing", [0.0, 1.0], "the spacing of its pixels must be > 0"),
        ("ImageOrientationPatient", [1, 0, 0, 1, 0, 0], "rows and columns run in the same direction"),
        ("ImagePositionPatient", [1e400, 0, 0], "must be finite numbers"),
        ("Rows", 0, "announces 1 images of 0 x 32"),
        ("NumberOfFrames", 2**31 - 1, "announces 2147483647 images"),
    ],
)
def test_dicom_whose_numbers_cannot_be(name, value, message, tmp_path):
    FILES["DICOM"].make(tmp_path / "a.dcm")
    head = pydicom.dcmread(tmp_path / "a.dcm")
    head.add_new(name, pydicom.datadict.dictionary_VR(name), value if value != [1e400, 0, 0] else ["inf", "0", "0"])
    with warnings.catch_warnings(), pytest.raises(ValueError, match=message):
        warnings.simplefilter("ignore")
        head.save_as(tmp_path / "a.dcm")
        read_scan(tmp_path / "a.dcm")


@pytest.mark.parametrize("name", ["NIfTI packed", "MGH packed", "PNG"])
def test_check_sums_are_looked_at(name, tmp_path):
    """Before: other numbers than were written came out where nothing failed to unpack."""
    kind = FILES[name]
    path = tmp_path / f"a{kind.ending}"
    kind.make(path)
    content = bytearray(path.read_bytes())
    content[-18 if name == "PNG" else -6] ^= 1  # within the sum at the end
    path.write_bytes(content)
    with pytest.raises(ValueError, match="seems to be damaged"):
        kind.read(path)


@pytest.mark.parametrize(
    ("text", "line", "why"),
    [
        ('a,b\n1,"x\n2,y\n3,z\n', 2, "a quote is opened there and never closed"),
        ('a,b\n1,x\n2,"y\n3,"z"\n4,w\n', 3, "expected after"),
    ],
)
def test_an_open_quote_is_named_by_its_line(text, line, why, tmp_path):
    """Before: all rows behind it became one cell, without a word."""
    (tmp_path / "t.csv").write_text(text)
    with pytest.raises(TableError, match=rf"line {line}: this is not CSV \(.*{why}"):
        read_cells(tmp_path / "t.csv")


def test_a_cell_may_be_a_megabyte_long(tmp_path):
    from adaptive.labelling import read_csv

    (tmp_path / "t.csv").write_text(f'position,answer,text\n0,yes,"{"word " * 200_000}"\n')
    assert [one.outcome for one in read_csv(tmp_path / "t.csv")] == ["yes"]


def test_deep_brackets_are_refused_in_a_sentence(tmp_path):
    """Before: RecursionError."""
    from adaptive.cli.ask.questionnaire_file import read_questionnaire
    from adaptive.labelling import read_label_studio

    deep = "[" * 100_000
    (tmp_path / "t.json").write_text(deep)
    with pytest.raises(ValueError, match=r"t\.json is not JSON"):
        read_label_studio(tmp_path / "t.json")
    (tmp_path / "t.toml").write_text(f"title = {deep}")
    with pytest.raises(CommandError, match=r"t\.toml is not TOML"):
        read_questionnaire(tmp_path / "t.toml")
