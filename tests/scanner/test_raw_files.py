"""Raw k-space of fastMRI, BART and NumPy: what was written is read, what is damaged is named."""

import numpy as np
import pytest

from adaptive import datasets, images, memory
from adaptive.operators import FourierLines
from adaptive.scanner import read_images, read_scan

h5py = pytest.importorskip("h5py", reason="needs h5py: pip install 'adaptive-designs[mri]'")
RNG = np.random.default_rng(0)
SAMPLES = (RNG.standard_normal((3, 2, 8, 6)) + 1j * RNG.standard_normal((3, 2, 8, 6))).astype(np.complex64)
SAMPLES[:, :, 1] = 0  # a line that was not measured


@pytest.fixture
def scan_file(tmp_path):
    """As fastMRI stores them: slices, coils, read-out, phase encodes."""
    path = tmp_path / "file1000.h5"
    with h5py.File(path, "w") as file:
        file["kspace"] = SAMPLES
        file["reconstruction_rss"] = np.arange(3 * 64.0).reshape(3, 8, 8)
        file["ismrmrd_header"] = "<xml/>"
    return path


def test_slices_of_hdf5(scan_file):
    middle = read_scan(scan_file)
    np.testing.assert_array_equal(middle.data, SAMPLES[1])
    assert (middle.source, middle.n_slices, middle.shape) == ("slice 1 of file1000.h5", 3, (8, 6))
    np.testing.assert_array_equal(read_scan(scan_file, index=-1).data, SAMPLES[2])
    assert not middle.sampled[1].any() and middle.sampled.sum() == 42
    with pytest.raises(IndexError, match=r"file1000.h5 has no slice 3: there are 3, 0 to 2\."):
        read_scan(scan_file, index=3)


def test_one_coil_is_a_stack_of_one(tmp_path):
    with h5py.File(tmp_path / "knee.h5", "w") as file:
        file["kspace"] = SAMPLES[:, 0]
    assert read_scan(tmp_path / "knee.h5", index=0).data.shape == (1, 8, 6)
    np.save(tmp_path / "one.npy", SAMPLES[0, 0])
    assert read_scan(tmp_path / "one.npy", "kspace").n_coils == 1


def test_images_are_the_inverse_transform_that_fastmri_means(scan_file, tmp_path):
    raw = read_scan(scan_file, index=0)
    wanted = np.fft.fftshift(np.fft.ifft2(np.fft.ifftshift(SAMPLES[0], (1, 2)), norm="ortho"), (1, 2))  # its ifft2c
    np.testing.assert_allclose(raw.images, wanted, atol=1e-6)
    np.testing.assert_allclose(FourierLines((8, 6), range(8)).forward(raw.images), raw.data, atol=1e-5)
    # reading images takes the reconstruction where there is one, else the k-space
    np.testing.assert_allclose(read_images(scan_file)[2].image, images.scaled(np.arange(128.0, 192).reshape(8, 8)))
    with h5py.File(tmp_path / "raw.h5", "w") as file:
        file["kspace"] = SAMPLES
    stack = read_images(tmp_path / "raw.h5")
    assert len(stack) == 3
    np.testing.assert_allclose(stack[0].image, images.scaled(np.sqrt((np.abs(wanted) ** 2).sum(0))), atol=1e-6)


@pytest.mark.parametrize("shape", [(5,), (4, 3), (4, 3, 2), (4, 3, 1, 2), (1, 1)])
def test_arrays_of_bart_go_out_and_come_back(tmp_path, shape):
    array = (RNG.standard_normal(shape) + 1j * RNG.standard_normal(shape)).astype(np.complex64)
    path = images.write_cfl(tmp_path / "array", array)
    assert path == tmp_path / "array.cfl"
    back = images.read_cfl(tmp_path / "array.hdr")
    np.testing.assert_array_equal(back.reshape(shape), array)
    # the first axis runs fastest
    np.testing.assert_array_equal(np.fromfile(path, np.complex64)[: shape[0]], array.reshape(shape[0], -1)[:, 0])
    assert (tmp_path / "array.hdr").read_text().split("\n")[1].split()[: len(shape)] == [str(side) for side in shape]


def test_k_space_and_images_of_bart(tmp_path):
    images.write_cfl(tmp_path / "ksp", np.moveaxis(SAMPLES[0], 0, -1)[:, :, None])  # x, y, z, coil
    np.testing.assert_array_equal(read_scan(tmp_path / "ksp.cfl", "kspace").data, SAMPLES[0])
    volume = np.moveaxis(SAMPLES[:, :1].repeat(4, 1), 0, -1)  # coils, x, y, z
    images.write_cfl(tmp_path / "volume", np.moveaxis(volume, 0, -1))
    assert read_scan(tmp_path / "volume.cfl", "kspace").data.shape == (4, 8, 6, 3)
    images.write_cfl(tmp_path / "img", np.arange(1.0, 49).reshape(8, 6))
    stack = read_images(tmp_path / "img.cfl")
    assert len(stack) == 1 and stack[0].image.dtype == float and stack[0].image.shape == (8, 6)


def test_numpy_arrays_and_archives(tmp_path):
    np.savez(tmp_path / "several.npz", sampled=np.ones(6), ksp=SAMPLES[0])
    np.testing.assert_array_equal(read_scan(tmp_path / "several.npz", "kspace").data, SAMPLES[0])
    np.savez(tmp_path / "none.npz", a=np.ones(6), b=SAMPLES[0])
    with pytest.raises(ValueError, match=r"none.npz holds several arrays, a, b: none is called 'kspace'"):
        read_scan(tmp_path / "none.npz", "kspace")


@pytest.mark.parametrize("name", ["brain_8ch_cartesian", "brain_8ch_undersampled"])
def test_the_raw_sets_of_eight_coils(name):
    path = datasets.folder() / "mri-kspace" / f"{name}.npz"
    if not path.is_file():
        pytest.skip(f"no data: {path}")
    raw = read_scan(path)
    assert raw.kind == "kspace" and raw.n_coils == 8 and 0.1 < raw.sampled.mean() < 0.7
    image = np.linalg.norm(raw.images, axis=0)
    middle = image[tuple(slice(side // 4, -side // 4) for side in raw.shape)]
    assert middle.mean() > 2 * image[:10, :10].mean()  # a head, in the middle of the field of view


# Bad input -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("share", [0.0, 0.3, 0.6, 0.95])
@pytest.mark.parametrize("compression", [None, "gzip"])
def test_damaged_hdf5_is_named(tmp_path, share, compression):
    path = tmp_path / "cut.h5"
    noise = np.random.default_rng(1).standard_normal((4, 2, 32, 32)).astype(np.complex64)
    with h5py.File(path, "w") as file:
        file.create_dataset("kspace", data=noise, chunks=(1, 2, 32, 32), compression=compression)
    content = path.read_bytes()
    path.write_bytes(content[: int(share * len(content))])
    for read in (read_scan, read_images):
        with pytest.raises(ValueError, match=r"cut.h5 cannot be read; it seems to be damaged") as caught:
            read(path)
        assert "\n" not in str(caught.value)


def test_a_damaged_chunk_is_found(tmp_path):
    path = tmp_path / "chunk.h5"
    with h5py.File(path, "w") as file:
        file.create_dataset("kspace", data=SAMPLES, chunks=(1, 2, 8, 6), compression="gzip", fletcher32=True)
        where = file["kspace"].id.get_chunk_info(1)
    content = bytearray(path.read_bytes())
    content[where.byte_offset + 20] ^= 255
    path.write_bytes(bytes(content))
    assert read_scan(path, index=0).data.shape == (2, 8, 6)
    with pytest.raises(ValueError, match=r"chunk.h5 cannot be read; it seems to be damaged"):
        read_scan(path, index=1)


@pytest.mark.parametrize("share", [0.0, 0.5, 0.99, 1.01])
def test_damaged_arrays_of_bart_are_named(tmp_path, share):
    path = images.write_cfl(tmp_path / "cut", SAMPLES[0])
    content = path.read_bytes()
    path.write_bytes((content * 2)[: int(share * len(content))])
    for read in (images.read_cfl, read_scan, read_images):
        with pytest.raises(
            ValueError, match=r"cut.cfl is damaged or not complete: cut.hdr announces shape \(2, 8, 6\)"
        ):
            read(path)


def test_headers_of_bart_are_checked(tmp_path):
    path = images.write_cfl(tmp_path / "x", SAMPLES[0])
    for text in ("", "# Dimensions\n", "# Dimensions\n2 -8 6\n", "# Dimensions\n2 8 six\n", "# Sizes\n2 8 6\n"):
        (tmp_path / "x.hdr").write_text(text)
        with pytest.raises(ValueError, match=r"x.hdr is damaged: it does not say the lengths of the axes"):
            images.read_cfl(path)
    (tmp_path / "x.hdr").unlink()
    with pytest.raises(FileNotFoundError, match=r"there is no file .*x.hdr; an array of BART is NAME.hdr and NAME.cfl"):
        images.read_cfl(path)


def test_what_does_not_fit_into_memory_is_refused_before_it_is_read(scan_file, tmp_path, monkeypatch):
    import nibabel

    nibabel.save(nibabel.Nifti1Image(np.ones((8, 8, 8), np.float32), np.eye(4)), tmp_path / "large.nii.gz")
    cfl = images.write_cfl(tmp_path / "large", SAMPLES[0])
    monkeypatch.setattr(memory, "memory_there", lambda: 100.0)
    calls = [
        (read_scan, scan_file),
        (read_images, scan_file),
        (read_images, tmp_path / "large.nii.gz"),
        (images.read_cfl, cfl),
    ]
    for read, path in calls:
        with pytest.raises(ValueError, match=rf"^{path.name} is too large: an array of shape .* takes about .* GB"):
            read(path)


@pytest.mark.parametrize(
    ("name", "array", "message"),
    [
        ("real.npy", SAMPLES.real[0], "real.npy holds an image as it seems, and no k-space"),
        ("line.npy", SAMPLES[0, 0, 0], "line.npy must hold numbers along two to five axes"),
        ("empty.npy", 0 * SAMPLES[0], "empty.npy holds no sample"),
        ("nan.npy", SAMPLES[0] * np.nan, "nan.npy holds .* numbers that are NaN or infinite"),
    ],
)
def test_what_is_no_k_space_is_refused(tmp_path, name, array, message):
    np.save(tmp_path / name, array)
    with pytest.raises(ValueError, match=message):
        read_scan(tmp_path / name, "kspace")


def test_other_files_are_refused(tmp_path, scan_file):
    with pytest.raises(FileNotFoundError, match="there is no file or folder"):
        read_scan(tmp_path / "nothing.h5")
    (tmp_path / "scan.dat").write_text("twix")
    with pytest.raises(ValueError, match=r"scan.dat has an unknown ending; scans are read from folders of DICOM"):
        read_scan(tmp_path / "scan.dat")
    with h5py.File(tmp_path / "other.h5", "w") as file:
        file["labels"] = np.ones(3)
    for read in (read_scan, read_images):
        with pytest.raises(ValueError, match=r"other.h5 holds no data set called 'kspace', only 'labels'"):
            read(tmp_path / "other.h5")
    np.save(tmp_path / "k.npy", SAMPLES[0])
    with pytest.raises(ValueError, match="index cannot be used for k.npy"):
        read_scan(tmp_path / "k.npy", "kspace", index=1)
    with pytest.raises(ValueError, match="array must hold something"):
        images.write_cfl(tmp_path / "none", np.ones((2, 0)))
