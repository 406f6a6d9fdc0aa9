"""Arrays and volumes as scans: what they are is recognised, only what is looked at is read, slices keep their place."""

import tracemalloc

import nibabel
import numpy as np
import pytest

from adaptive import images
from adaptive.images import head_scan, write_cfl
from adaptive.operators import FourierLines
from adaptive.scanner import Geometry, Protocol, Scan, looks_like_kspace, read_images, read_scan
from designs import kspace

RNG = np.random.default_rng(0)
HEAD = head_scan()[12].image
MAPS = images.simulate_coils(HEAD.shape, 3, random_state=0)
RAW = FourierLines(HEAD.shape, range(len(HEAD))).forward(MAPS * HEAD).astype(np.complex64)
TURN = np.linalg.qr(np.random.default_rng(3).standard_normal((3, 3)))[0]


def transform(volume):
    axes = tuple(range(-3, 0))
    return np.fft.fftshift(np.fft.fftn(np.fft.ifftshift(volume, axes), axes=axes, norm="ortho"), axes)


# Files ---------------------------------------------------------------------------------------------------------------


def test_arrays_are_what_they_look_like(tmp_path):
    np.save(tmp_path / "raw.npy", RAW)
    np.savez(tmp_path / "raw.npz", other=np.ones(3), ksp=RAW)
    write_cfl(tmp_path / "raw", np.moveaxis(RAW, 0, -1)[:, :, None])  # x, y, z, coil
    for name in ("raw.npy", "raw.npz", "raw.cfl"):
        scan = read_scan(tmp_path / name)
        assert (scan.kind, scan.coils, scan.shape) == ("kspace", 0, HEAD.shape) and (scan.data == RAW).all(), name
        np.testing.assert_allclose(np.linalg.norm(scan.images, axis=0), HEAD, atol=1e-5)
        with pytest.raises(ValueError, match=rf"{name} holds k-space as it seems, and no image: its energy"):
            read_scan(tmp_path / name, "image")
    np.save(tmp_path / "head.npy", HEAD)
    assert read_scan(tmp_path / "head.npy").kind == "image"
    with pytest.raises(ValueError, match=r"head.npy holds an image as it seems, and no k-space"):
        read_scan(tmp_path / "head.npy", "kspace")
    np.save(tmp_path / "magnitudes.npy", np.abs(RAW))
    with pytest.raises(
        ValueError, match=r"magnitudes.npy holds magnitudes of k-space: without their phases they are no"
    ):
        read_scan(tmp_path / "magnitudes.npy")
    nibabel.save(nibabel.Nifti1Image(np.abs(np.moveaxis(RAW, 0, -1)), np.eye(4)), tmp_path / "raw.nii.gz")
    with pytest.raises(ValueError, match=r"raw.nii.gz holds magnitudes of k-space"):
        read_scan(tmp_path / "raw.nii.gz")


@pytest.mark.parametrize("side", [0, 1])
def test_images_and_k_space_are_told_apart(side):
    picture = head_scan()[4 + 16 * side].image
    raw = np.fft.fft2(picture)
    for one in (picture, picture + 0j, picture[::2, ::2], picture[None].repeat(3, 0)):
        assert not looks_like_kspace(one)
    lines = np.where(RNG.random(len(picture)) < 0.3, 1, 0)[:, None]
    lines[60:68] = 1
    for one in (raw, np.fft.fftshift(raw), lines * np.fft.fftshift(raw), np.abs(raw), np.stack([raw] * 2)):
        assert looks_like_kspace(one)
    assert not looks_like_kspace(RNG.standard_normal((64, 64))) and not looks_like_kspace(np.zeros((9, 9)))


def test_several_volumes_ask_which(tmp_path):
    several = np.stack([np.tile(HEAD[..., None], (1, 1, 6)) * k for k in (1, 2, 3)], axis=-1)
    np.save(tmp_path / "a.npy", several)
    nibabel.save(nibabel.Nifti1Image(several, np.diag([2.0, 2.0, 3.0, 1.0])), tmp_path / "a.nii.gz")
    for name in ("a.npy", "a.nii.gz"):
        with pytest.raises(ValueError, match=rf"{name} holds 3 volumes: say which one, volume=0 to volume=2"):
            read_scan(tmp_path / name)
        with pytest.raises(IndexError, match=rf"{name} has no volume 3: there are 3, 0 to 2"):
            read_scan(tmp_path / name, volume=3)
        scan = read_scan(tmp_path / name, volume=1)
        np.testing.assert_allclose(scan.data, several[..., 1], rtol=1e-6)
        assert scan.source == f"volume 1 of {name}" and scan.n_volumes == 3


def test_coils_behind_an_image_are_refused_and_volumes_of_bart_are_of_one_coil(tmp_path):
    samples = np.fft.fftshift(np.fft.fft2(np.pad(np.ones((5, 12, 10)), ((0, 0), (6, 6), (5, 5)))), (1, 2))
    np.save(tmp_path / "last.npy", np.moveaxis(samples, 0, -1))
    with pytest.raises(ValueError, match=r"last.npy holds 24 x 20 x 5 numbers, .*; save np.moveaxis\(array, -1, 0\)"):
        read_scan(tmp_path / "last.npy")
    np.save(tmp_path / "first.npy", samples)
    assert read_scan(tmp_path / "first.npy").n_coils == 5
    many = np.random.default_rng(0).standard_normal((40, 1, 1)) * samples[0][:, 4:14]  # coils, more than columns
    np.save(tmp_path / "many.npy", many)
    assert read_scan(tmp_path / "many.npy").n_coils == 40
    path = write_cfl(tmp_path / "volume", np.moveaxis(samples, 0, -1))
    scan = read_scan(path)
    assert scan.n_coils == 1 and scan.shape == (24, 20, 5) and "of 1 coil," in repr(scan)


def test_ten_gigabytes_are_not_read(tmp_path):
    # files with holes: their size is what it says, what lies on the disk is not
    shape = (16, 128, 128, 64, 80)  # coils, three axes, volumes
    large = np.lib.format.open_memmap(tmp_path / "large.npy", "w+", np.complex64, shape, fortran_order=True)
    large[:, 64, 64, 32, 3] = 1 + 1j
    del large
    (tmp_path / "bart.hdr").write_text("# Dimensions\n128 128 64 16 1 80 1\n")
    large = np.memmap(tmp_path / "bart.cfl", "<c8", "w+", shape=(128, 128, 64, 16, 80), order="F")
    large[64, 64, 32, 5, 79] = 1
    del large
    assert min(path.stat().st_size for path in (tmp_path / "large.npy", tmp_path / "bart.cfl")) > 10e9
    tracemalloc.start()
    scan = read_scan(tmp_path / "large.npy", "kspace", volume=3)
    assert scan.shape == (128, 128, 64) and scan.data[5, 64, 64, 32] == 1 + 1j
    scan = read_scan(tmp_path / "bart.cfl", "kspace", volume=79)
    assert scan.shape == (128, 128, 64) and scan.data[5, 64, 64, 32] == 1
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 50e6


def test_volumes_say_where_they_lie(tmp_path):
    affine = np.eye(4)
    affine[:3, :3], affine[:3, 3] = TURN * [1.0, 1.5, 2.0], [3.0, -4.0, 5.0]
    volume = np.tile(HEAD[:, :, None], (1, 1, 5)).astype(np.float32)
    image = nibabel.Nifti1Image(np.stack([volume] * 2, axis=-1), affine)
    image.header.set_xyzt_units("mm", "msec")
    image.header["pixdim"][4] = 2500
    nibabel.save(image, tmp_path / "a.nii")
    scan = read_scan(tmp_path / "a.nii", volume=1)
    np.testing.assert_allclose(scan.geometry.affine, nibabel.load(tmp_path / "a.nii").affine, atol=1e-6)
    assert scan.protocol == Protocol(repetition_time=2.5)
    mgh = nibabel.MGHImage(volume, affine)
    mgh.header["te"], mgh.header["tr"], mgh.header["flip_angle"] = 3.0, 2000.0, 0.1
    nibabel.save(mgh, tmp_path / "a.mgz")
    found = read_scan(tmp_path / "a.mgz").protocol
    assert (found.echo_time, found.repetition_time) == (0.003, 2.0) and found.flip_angle == pytest.approx(0.1)


def test_fastmri_files_and_their_protocol(tmp_path):
    import h5py
    import ismrmrd

    from tests.scanner.test_ismrmrd import header

    with h5py.File(tmp_path / "a.h5", "w") as file:
        file["kspace"] = np.stack([RAW, 2 * RAW, 3 * RAW])
        file["reconstruction_rss"] = np.stack([HEAD] * 3)
        file["ismrmrd_header"] = ismrmrd.xsd.ToXML(header())
    scan = read_scan(tmp_path / "a.h5")
    assert (scan.data == 2 * RAW).all() and (scan.index, scan.n_slices) == (1, 3) and scan.protocol.echo_time == 0.012
    assert (read_scan(tmp_path / "a.h5", index=2).data == 3 * RAW).all()
    assert read_scan(tmp_path / "a.h5", "image").data.shape == (3, *HEAD.shape)


# Slices -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("plane", ["axial", "coronal", "sagittal"])
def test_slices_of_images_keep_their_place(plane):
    volume = RNG.random((5, 6, 7))
    place = Geometry(np.array([1.0, 2.0, 3.0]), TURN, np.array([1.0, 2.0, 4.0]), volume.shape)
    scan = Scan(volume, "image", geometry=place)
    values, middle = dict(zip(map(tuple, np.round(where(place), 6)), volume.ravel(), strict=True)), 0
    axis = place.axis_through(plane)
    for index in range(volume.shape[axis]):
        cut = scan.slice(plane, index)
        assert cut.geometry.plane == plane and (*cut.data.shape, 1) == cut.geometry.matrix
        found = [values.pop(tuple(at)) for at in np.round(where(cut.geometry), 6)]
        assert found == cut.data.ravel().tolist()  # every voxel where it was
        middle += (scan.slice(plane).data == cut.data).all()
    assert not values and middle == 1
    away = cut.geometry.directions[{"sagittal": 0, "coronal": 1, "axial": 2}[plane], 2]
    assert away > 0  # counted to the right, anterior or superior


def where(place):
    """Places of all voxels, in the order of a flattened array."""
    indices = np.stack(np.meshgrid(*map(np.arange, place.matrix), indexing="ij"), axis=-1).reshape(-1, 3)
    return np.array([place.place(index) for index in indices]) + 0.0


@pytest.mark.parametrize("plane", ["axial", "coronal", "sagittal"])
def test_slices_are_those_of_read_images(plane, tmp_path):
    affine = np.diag([-2.0, 2.0, 3.0, 1.0])[:, [1, 0, 2, 3]]
    affine[:2, 3] = 7
    nibabel.save(nibabel.Nifti1Image(RNG.random((6, 5, 4)).astype(np.float32) + 0.1, affine), tmp_path / "a.nii")
    wanted, scan = read_images(tmp_path / "a.nii", plane), read_scan(tmp_path / "a.nii")
    for index in range(len(wanted)):
        np.testing.assert_array_equal(scan.slice(plane, index).data, wanted.stored[index])


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_slices_of_k_space_are_transformed_across(axis):
    volume = RNG.random((2, 6, 5, 8)) + 1j * RNG.random((2, 6, 5, 8))
    place = Geometry.from_affine(np.diag([2.0, 2.0, 3.0, 1.0]), volume.shape[1:])
    raw = transform(volume)
    raw[:, 3] = 0 if axis != 0 else raw[:, 3]  # not measured, for all places along the axis
    volume = volume if axis == 0 else None
    plane = ("sagittal", "coronal", "axial")[axis]
    scan = Scan(raw, "kspace", coils=0, geometry=place, readout=axis)
    for index in (0, -1, None):
        cut = scan.slice(plane, index)
        images_there = np.take(scan.images, raw.shape[1 + axis] // 2 if index is None else index, 1 + axis)
        np.testing.assert_allclose(cut.images, images_there, atol=1e-12)
        assert cut.geometry.plane == plane and cut.shape == images_there.shape[1:]
    if axis != 0:
        with pytest.raises(
            ValueError, match="was not measured completely along axis 0: slices across it are known only"
        ):
            scan.slice("sagittal", 2)


def test_slices_that_are_not_there():
    volume, flat = Scan(RNG.random((5, 6, 7)), "image", source="v.npy"), Scan(HEAD, "image", source="h.npy")
    assert volume.slice(index=-1).data.shape == (6, 7) and flat.slice() is flat
    with pytest.raises(ValueError, match=r"v.npy does not say how it lies in the patient, and cannot be cut coronal"):
        volume.slice("coronal")
    with pytest.raises(IndexError, match=r"v.npy has no slice 5: there are 5, 0 to 4"):
        volume.slice(index=5)
    with pytest.raises(ValueError, match=r"h.npy is a single slice and does not say how .*: it cannot be cut axial"):
        flat.slice("axial")
    with pytest.raises(IndexError, match=r"h.npy has no slice 3: it is a single one"):
        flat.slice(index=3)


# What was measured ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("axis", [0, 1])
def test_samples_of_blocks_are_those_that_the_blocks_measure(axis):
    scan, pool = Scan(RAW, "kspace", coils=0), kspace.lines(HEAD.shape, axis).take([40, 3])
    for block, samples in zip(pool, scan.measure(pool), strict=True):
        np.testing.assert_allclose(samples, block.forward(MAPS * HEAD), atol=1e-5)
    single = Scan(RAW[0], "kspace")
    np.testing.assert_array_equal(single.measure(pool)[1], scan.measure(pool)[1][0])


def test_phase_encodes_and_what_was_not_measured():
    raw = transform(RNG.random((2, 4, 6, 8)))
    pool = kspace.phase_encodes((4, 6, 8), readout=1).take([9, 30])
    scan = Scan(raw, "kspace", coils=0, source="v.npy")
    for block, samples in zip(pool, scan.measure(pool), strict=True):
        np.testing.assert_allclose(
            samples,
            block.forward(
                np.fft.ifftshift(
                    np.fft.ifftn(np.fft.ifftshift(raw, (1, 2, 3)), axes=(1, 2, 3), norm="ortho"), (1, 2, 3)
                )
            ),
            atol=1e-9,
        )
    empty = Scan(np.where(pool[0].mask, 0, raw), "kspace", coils=0, source="v.npy")
    with pytest.raises(ValueError, match=r"v.npy holds no samples of PhaseEncode\(.*\): it was not measured"):
        empty.measure(pool)
    with pytest.raises(ValueError, match=r"measures images of shape \(8, 8\), v.npy has \(4, 6, 8\)"):
        scan.measure(kspace.lines((8, 8)).take([3]))
    with pytest.raises(ValueError, match=r"h.npy holds no samples of k-space to measure from"):
        Scan(HEAD, "image", source="h.npy").measure(pool)


# Bad input -----------------------------------------------------------------------------------------------------------


def test_other_files_end_in_one_sentence(tmp_path):
    with pytest.raises(FileNotFoundError, match="there is no file or folder"):
        read_scan(tmp_path / "nothing")
    with pytest.raises(ValueError, match=r"kind must be one of 'kspace', 'image', got 'raw'"):
        read_scan(tmp_path / "nothing", "raw")
    (tmp_path / "a.dat").write_text("twix")
    with pytest.raises(ValueError, match=r"a.dat has an unknown ending; scans are read from folders of DICOM and .dcm"):
        read_scan(tmp_path / "a.dat")
    np.save(tmp_path / "a.npy", HEAD)
    with pytest.raises(ValueError, match=r"index cannot be used for a.npy: cut slices of a volume with Scan.slice"):
        read_scan(tmp_path / "a.npy", index=1)
    content = (tmp_path / "a.npy").read_bytes()
    (tmp_path / "a.npy").write_bytes(content[: len(content) // 2])
    with pytest.raises(ValueError, match=r"a.npy cannot be read; it seems to be damaged"):
        read_scan(tmp_path / "a.npy")
    for name, array, message in (
        ("words.npy", np.array(["a"]), "words.npy must hold numbers along two to five axes"),
        ("line.npy", np.ones(4), "line.npy must hold numbers along two to five axes"),
        ("nan.npy", np.where(HEAD > 0.5, np.nan, HEAD), "nan.npy holds .* numbers that are NaN or infinite"),
    ):
        np.save(tmp_path / name, array)
        with pytest.raises(ValueError, match=message):
            read_scan(tmp_path / name)
    nibabel.save(nibabel.Nifti1Image(np.ones((4, 4, 4)), np.eye(4)), tmp_path / "b.nii.gz")
    content = (tmp_path / "b.nii.gz").read_bytes()
    (tmp_path / "b.nii.gz").write_bytes(content[: len(content) // 2])
    with pytest.raises(ValueError, match=r"b.nii.gz cannot be read; it seems to be damaged"):
        read_scan(tmp_path / "b.nii.gz")
