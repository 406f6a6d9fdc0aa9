"""DICOM: what pydicom writes is read to the bit, what is written pydicom reads; bad folders are named."""

from pathlib import Path

import numpy as np
import pytest

from adaptive.scanner import Geometry, Protocol, read_scan, write_dicom

pydicom = pytest.importorskip("pydicom", reason="needs pydicom: pip install 'adaptive-designs[mri]'")
RNG = np.random.default_rng(0)
VOLUME = RNG.integers(0, 4000, (6, 5, 4)).astype(np.uint16)
TURN = np.linalg.qr(np.random.default_rng(3).standard_normal((3, 3)))[0]
PLACE = Geometry(np.array([-12.5, 30.25, 7.0]), TURN, np.array([0.9, 1.1, 2.5]), VOLUME.shape)
PROTOCOL = Protocol(0.03, 2.0, 0.9, np.pi / 6, 3.0, "EPI")


def edited(folder, change):
    """Every file of a folder, changed."""
    for k, path in enumerate(sorted(folder.iterdir())):
        whole = pydicom.dcmread(path)
        change(k, whole)
        whole.save_as(path)


def test_volumes_go_out_and_come_back_to_the_bit(tmp_path):
    paths = write_dicom(tmp_path / "a", VOLUME, PLACE, PROTOCOL)
    scan = read_scan(tmp_path / "a")
    assert scan.data.dtype == np.uint16 and (scan.data == VOLUME).all() and scan.kind == "image"
    np.testing.assert_allclose(scan.geometry.affine, PLACE.affine, atol=1e-11)  # 16 characters
    assert scan.protocol == PROTOCOL
    write_dicom(tmp_path / "b", scan.data, scan.geometry, scan.protocol)
    again = read_scan(tmp_path / "b")
    assert (again.geometry.affine == scan.geometry.affine).all() and again.geometry.matrix == VOLUME.shape
    for k, path in enumerate(paths):
        whole = pydicom.dcmread(path)
        assert (whole.pixel_array == VOLUME[..., k]).all()
        stated = [float(one) for one in whole.ImageOrientationPatient]
        assert (scan.geometry.directions[:, 1] * [-1, -1, 1]).tolist() == stated[:3]  # along a row
        assert (scan.geometry.directions[:, 0] * [-1, -1, 1]).tolist() == stated[3:]
        place = (scan.geometry.place([0, 0, k]) * [-1, -1, 1]).tolist()
        np.testing.assert_allclose(place, [float(one) for one in whole.ImagePositionPatient], atol=1e-10)


@pytest.mark.parametrize("kind", ["int16", "float", "constant"])
def test_other_numbers_come_back_within_half_a_step(tmp_path, kind):
    volume = {
        "int16": VOLUME.astype(np.int16) - 2000,
        "float": RNG.normal(size=VOLUME.shape),
        "constant": 0.25 + 0 * VOLUME,
    }
    write_dicom(tmp_path / "a", volume[kind], PLACE)
    step = 0.0 if kind == "int16" else np.ptp(volume[kind]) / 65535
    np.testing.assert_allclose(read_scan(tmp_path / "a").data, volume[kind], atol=0.51 * step + 1e-7)


def test_the_order_of_files_means_nothing(tmp_path):
    write_dicom(tmp_path / "a", VOLUME, PLACE)
    for k, path in enumerate(sorted((tmp_path / "a").iterdir())):
        path.rename(path.with_name(f"{'bdac'[k]}"))  # without an ending, too
    (tmp_path / "a" / "DICOMDIR.txt").write_text("no DICOM")
    assert (read_scan(tmp_path / "a").data == VOLUME).all()
    single = read_scan(tmp_path / "a" / "d")
    assert single.shape == (6, 5) and single.geometry.matrix == (6, 5, 1)


def test_the_places_of_slices_sort_them_and_their_numbers_say_the_direction(tmp_path):
    write_dicom(tmp_path / "a", VOLUME, PLACE)
    edited(tmp_path / "a", lambda k, whole: setattr(whole, "InstanceNumber", 9 - k))
    scan = read_scan(tmp_path / "a")
    assert (scan.data == VOLUME[..., ::-1]).all()
    np.testing.assert_allclose(scan.geometry.place([2, 3, 0]), PLACE.place([2, 3, 3]), atol=1e-9)
    np.testing.assert_allclose(scan.geometry.place([2, 3, 3]), PLACE.place([2, 3, 0]), atol=1e-9)


def test_several_volumes_of_one_place(tmp_path):
    write_dicom(tmp_path / "a", VOLUME, PLACE)
    for k, path in enumerate(sorted((tmp_path / "a").iterdir())):
        whole = pydicom.dcmread(path)
        whole.EchoTime, whole.InstanceNumber, whole.PixelData = "90", 20 + k, (VOLUME[..., k] + 1).tobytes()
        whole.save_as(path.with_name(f"echo{k}.dcm"))
        whole.EchoTime, whole.InstanceNumber, whole.PixelData = "15", 40 + k, (VOLUME[..., k] + 2).tobytes()
        whole.save_as(path)
    with pytest.raises(ValueError, match=r"a holds 2 volumes: say which one, volume=0 to volume=1"):
        read_scan(tmp_path / "a")
    for volume, (more, echo) in enumerate([(2, 0.015), (1, 0.09)]):
        scan = read_scan(tmp_path / "a", volume=volume)
        assert (scan.data == VOLUME + more).all() and scan.protocol.echo_time == pytest.approx(echo)
    (tmp_path / "a" / "echo2.dcm").unlink()
    with pytest.raises(
        ValueError, match=r"a lacks images: there are 2 of most places and 1 at .* mm \(near slice0002.dcm\)"
    ):
        read_scan(tmp_path / "a", volume=0)


def test_many_frames_in_one_file(tmp_path):
    """Enhanced images keep what differs between frames in sequences."""
    from pydicom.dataset import Dataset
    from pydicom.uid import ExplicitVRLittleEndian

    folder = tmp_path
    paths = write_dicom(folder / "a", VOLUME, PLACE, PROTOCOL)
    each, whole = [pydicom.dcmread(path) for path in paths], pydicom.dcmread(paths[0])

    def inside(**stated):
        one = Dataset()
        for name, value in stated.items():
            setattr(one, name, value)
        return [one]

    whole.NumberOfFrames = 4
    whole.SharedFunctionalGroupsSequence = inside(
        PlaneOrientationSequence=inside(ImageOrientationPatient=whole.ImageOrientationPatient),
        PixelMeasuresSequence=inside(PixelSpacing=whole.PixelSpacing, SpacingBetweenSlices=whole.SpacingBetweenSlices),
        MREchoSequence=inside(EffectiveEchoTime=30.0),
    )
    order = [2, 0, 3, 1]
    whole.PerFrameFunctionalGroupsSequence = [
        inside(PlanePositionSequence=inside(ImagePositionPatient=each[k].ImagePositionPatient))[0] for k in order
    ]
    for name in ("ImagePositionPatient", "ImageOrientationPatient", "PixelSpacing", "SpacingBetweenSlices", "EchoTime"):
        delattr(whole, name)
    whole.PixelData = np.stack([VOLUME[..., k] for k in order]).tobytes()
    whole.file_meta.TransferSyntaxUID = ExplicitVRLittleEndian
    whole.save_as(folder / "frames.dcm")
    scan = read_scan(folder / "frames.dcm")
    back = (scan.data == VOLUME[..., ::-1]).all()
    assert back or (scan.data == VOLUME).all()
    np.testing.assert_allclose(scan.geometry.place([1, 2, 3 if not back else 0]), PLACE.place([1, 2, 3]), atol=1e-9)
    assert scan.protocol.echo_time == 0.03


# Bad input -----------------------------------------------------------------------------------------------------------


def _other(name, value, at=2):
    return lambda folder: edited(folder, lambda k, whole: setattr(whole, name, value) if k == at else None)


def _cut(folder):
    path = folder / "slice0001.dcm"
    path.write_bytes(path.read_bytes()[:-20])


def _move(path, folder):
    folder.mkdir(exist_ok=True)
    path.rename(folder / path.name)


def _short(length):
    def spoil(folder):
        path = folder / "slice0003.dcm"  # the last one: without it nothing would be missed
        path.write_bytes(path.read_bytes()[:length])

    return spoil


@pytest.mark.parametrize(
    ("name", "spoil", "message"),
    [
        (
            "slice",
            lambda f: (f / "slice0001.dcm").unlink(),
            "lacks a slice: after .* mm the next lies .* mm on, and slices",
        ),
        (
            "twice",
            lambda f: (f / "c.dcm").write_bytes((f / "slice0001.dcm").read_bytes()),
            r"a holds too many: there is 1 of most places and 2 at .* mm \(c.dcm and slice0001.dcm\); .* twice",
        ),
        (
            "series",
            _other("SeriesInstanceUID", "1.2.3"),
            r"a holds 2 series, 'adaptive designs' \(3 images\), .*\(1 images\)",
        ),
        (
            "orientation",
            _other("ImageOrientationPatient", [1, 0, 0, 0, 1, 0]),
            "a mixes images: the orientation of slice0002",
        ),
        (
            "spacing",
            _other("PixelSpacing", [2, 2]),
            r"a mixes images: the pixel spacing of slice0002.dcm is 2, 2, of",
        ),
        ("rows", _other("Rows", 3), r"a holds images of several sizes: 6 x 5 \(3 images\), 3 x 5 \(1 images\)"),
        ("cut", _cut, "slice0001.dcm cannot be read; it seems to be damaged"),
        ("short", _short(300), r"slice0003.dcm cannot be read.*\(it ends before it says the size of its image\)"),
        ("nothing", _short(132), "slice0003.dcm cannot be read"),
        ("position", _other("ImagePositionPatient", None), "does not say how it lies in the patient"),
        ("colour", _other("SamplesPerPixel", 3), "slice0002.dcm is a colour picture"),
        ("none", lambda f: [path.unlink() for path in f.iterdir()], "a holds no image of DICOM\\."),
        (
            "inside",
            lambda f: [_move(path, f / "MR1") for path in f.iterdir()],
            "choose one of its folders, such as MR1",
        ),
    ],
)
def test_folders_that_hold_no_volume_end_in_one_sentence(tmp_path, name, spoil, message):
    write_dicom(tmp_path / "a", VOLUME, PLACE)
    spoil(tmp_path / "a")
    with pytest.raises(ValueError, match=message) as caught:
        read_scan(tmp_path / "a")
    assert "\n" not in str(caught.value)


def test_compressed_pixels_without_their_decoder():
    files = Path(pydicom.__file__).parent / "data" / "test_files"
    assert read_scan(files / "MR_small_RLE.dcm").shape == (64, 64)  # its decoder is pydicom's own
    with pytest.raises(
        ValueError, match=r"MR_small_jpeg_ls_lossless.dcm holds compressed pixels \(JPEG-LS .*pylibjpeg"
    ):
        read_scan(files / "MR_small_jpeg_ls_lossless.dcm")
    with pytest.raises(ValueError, match=r"MR_truncated.dcm cannot be read; it seems to be damaged"):
        read_scan(files / "MR_truncated.dcm")


def test_what_cannot_be_written_leaves_the_folder_free(tmp_path):
    sheared = TURN + np.array([[0, 0.3, 0]] * 3)
    for volume, place, message in (
        (
            VOLUME[1:],
            PLACE,
            r"volume must be real, of the shape of its geometry, \(6, 5, 4\), got uint16 of shape \(5, 5, 4\)",
        ),
        (VOLUME + 1j, PLACE, "volume must be real"),
        (VOLUME * np.nan, PLACE, "volume contains nan"),
        (VOLUME, Geometry(PLACE.position, sheared, PLACE.voxel_size, PLACE.matrix), "must have perpendicular axes"),
    ):
        with pytest.raises(ValueError, match=message):
            write_dicom(tmp_path / "a", volume, place)
    assert not list(tmp_path.iterdir())
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "x").write_text("")
    with pytest.raises(ValueError, match="a holds files already"):
        write_dicom(tmp_path / "a", VOLUME, PLACE)
