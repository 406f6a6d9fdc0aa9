"""Images are read from every kind of file, turned and scaled; what cannot be read is named."""

import gzip

import numpy as np
import pytest

from adaptive import images, memory
from adaptive.scanner import read_images

nibabel = pytest.importorskip("nibabel", reason="needs nibabel: pip install 'adaptive-designs[mri]'")


def numbered(shape=(6, 4, 2)):
    return np.arange(np.prod(shape), dtype=np.float32).reshape(shape)


@pytest.fixture
def volume_file(tmp_path):
    """A volume stored left, posterior, superior: the first two axes have to be turned round."""
    path = tmp_path / "head.nii.gz"
    nibabel.save(nibabel.Nifti1Image(numbered(), np.diag([-2.0, -2.0, 3.0, 1.0])), path)
    return path


@pytest.mark.parametrize("plane, axis", [("sagittal", 0), ("coronal", 1), ("axial", 2)])
def test_volumes_are_turned_to_anatomical_axes(volume_file, plane, axis):
    stack = read_images(volume_file, plane)
    turned = numbered()[::-1, ::-1]
    assert len(stack) == turned.shape[axis]
    for k in range(len(stack)):
        np.testing.assert_allclose(stack[k].image, images.scaled(np.take(turned, k, axis)), rtol=1e-12)
    assert stack[1].title == f"{plane} slice 1 of head.nii.gz" and stack[1].index == 1


def test_permuted_axes_are_put_back(tmp_path):
    affine = np.array([[0, 0, 1.0, 0], [1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 0, 1]])  # stored anterior, superior, right
    nibabel.save(nibabel.Nifti1Image(numbered(), affine), tmp_path / "asr.nii")
    stack = read_images(tmp_path / "asr.nii", "sagittal")
    np.testing.assert_allclose(stack[0].image, images.scaled(numbered()[:, :, 0]), rtol=1e-12)


def test_upright_puts_anterior_on_top(volume_file, tmp_path):
    part = read_images(volume_file)[1]
    np.testing.assert_array_equal(part.upright()[0], part.image[:, -1])  # the top row is the most anterior one
    np.testing.assert_array_equal(part.upright(2 * part.image), 2 * part.upright())
    np.save(tmp_path / "plain.npy", part.image)
    plain = read_images(tmp_path / "plain.npy")[0]
    np.testing.assert_array_equal(plain.upright(), plain.image)


def test_one_volume_of_several_is_read(tmp_path):
    stored = np.stack([numbered(), numbered()[::-1]], axis=-1)
    nibabel.save(nibabel.Nifti1Image(stored, np.eye(4)), tmp_path / "two.nii")
    second = read_images(tmp_path / "two.nii", volume=1)
    np.testing.assert_allclose(second[0].image, images.scaled(numbered()[::-1, :, 0]), rtol=1e-12)
    with pytest.raises(IndexError, match=r"two.nii has no volume 2: there are 2, 0 to 1\."):
        read_images(tmp_path / "two.nii", volume=2)


def test_arrays(tmp_path):
    np.save(tmp_path / "one.npy", numbered()[..., 0])
    np.save(tmp_path / "stack.npy", numbered())
    np.savez(tmp_path / "two.npz", a=numbered()[0], b=numbered()[1])
    assert len(read_images(tmp_path / "one.npy")) == 1
    assert read_images(tmp_path / "one.npy")[0].title == "one.npy"
    assert len(read_images(tmp_path / "stack.npy")) == 6
    np.testing.assert_allclose(read_images(tmp_path / "two.npz")[1].image, images.scaled(numbered()[1]))


def test_complex_images_keep_their_phase(tmp_path):
    rng = np.random.default_rng(0)
    stored = 700 * (rng.standard_normal((9, 8)) + 1j * rng.standard_normal((9, 8)))
    np.save(tmp_path / "complex.npy", stored.astype(np.complex64))
    image = read_images(tmp_path / "complex.npy")[0].image
    np.testing.assert_allclose(np.angle(image), np.angle(stored), atol=1e-5)
    np.testing.assert_allclose(np.abs(image), images.scaled(np.abs(stored)), rtol=1e-5)


@pytest.mark.parametrize("mode", ["L", "I;16", "RGB", "RGBA", "1"])
def test_pictures(tmp_path, mode):
    Image = pytest.importorskip("PIL.Image")
    grey = np.array([[0, 50, 100], [150, 200, 250]], dtype=np.uint8)
    picture = Image.fromarray(grey)
    if mode == "I;16":
        picture = Image.fromarray(grey.astype(np.uint16) * 256)
    elif mode != "L":
        picture = picture.convert(mode, dither=0)
    picture.save(tmp_path / "picture.png")
    image = read_images(tmp_path / "picture.png")[0].image
    np.testing.assert_allclose(image, images.scaled(grey if mode != "1" else grey >= 128), atol=1e-12)


# Bad input -----------------------------------------------------------------------------------------------------------


def test_missing_slices_planes_files_and_endings_are_named(volume_file, tmp_path):
    stack = read_images(volume_file)
    with pytest.raises(IndexError, match=r"head.nii.gz has no slice 2: there are 2, 0 to 1\."):
        stack[2]
    with pytest.raises(ValueError, match="slice must be an integer, got str"):
        stack["middle"]
    with pytest.raises(ValueError, match="plane must be one of .* Did you mean 'axial'"):
        read_images(volume_file, "axal")
    with pytest.raises(FileNotFoundError, match=r"there is no file or folder .*nothing.png"):
        read_images(tmp_path / "nothing.png")
    (tmp_path / "notes.txt").write_text("no image")
    with pytest.raises(ValueError, match=r"notes.txt has an unknown ending; scans are read from folders of DICOM"):
        read_images(tmp_path / "notes.txt")


@pytest.mark.parametrize("name", ["cut.nii.gz", "cut.nii", "cut.npy", "cut.npz", "cut.png"])
@pytest.mark.parametrize("share", [0.0, 0.1, 0.5, 0.9])
def test_damaged_files_are_named(tmp_path, name, share):
    path, rng = tmp_path / name, np.random.default_rng(0)
    stored = rng.integers(0, 255, (32, 32, 4)).astype(np.uint8)
    if ".nii" in name:
        nibabel.save(nibabel.Nifti1Image(stored, np.eye(4)), path)
    elif name.endswith("npy"):
        np.save(path, stored)
    elif name.endswith("npz"):
        np.savez_compressed(path, stored[0], stored[1])
    else:
        pytest.importorskip("PIL.Image").fromarray(stored[..., 0]).save(path)
    content = path.read_bytes()
    path.write_bytes(content[: int(share * len(content))])
    with pytest.raises(ValueError, match=f"{name} cannot be read; it seems to be damaged") as caught:
        read_images(path)
    assert "\n" not in str(caught.value)


def test_a_file_that_is_not_what_its_name_says(tmp_path):
    (tmp_path / "text.nii").write_text("not a volume" * 100)
    (tmp_path / "text.nii.gz").write_bytes(gzip.compress(b"not a volume" * 100))
    (tmp_path / "objects.npy").write_bytes(b"")
    np.save(tmp_path / "objects.npy", np.array([{"code": 1}], dtype=object), allow_pickle=True)
    for name in ("text.nii", "text.nii.gz", "objects.npy"):
        with pytest.raises(ValueError, match=f"{name} cannot be read"):
            read_images(tmp_path / name)


def test_what_is_no_image_is_refused(tmp_path):
    np.save(tmp_path / "line.npy", np.ones(5))
    np.save(tmp_path / "five.npy", np.ones((2, 2, 2, 2, 2)))
    np.save(tmp_path / "words.npy", np.array([["a", "b"]]))
    np.savez(tmp_path / "mixed.npz", a=np.ones((2, 2)), b=np.ones((3, 3)))
    nibabel.save(nibabel.Nifti1Image(np.ones((2, 2, 2, 2, 2), np.float32), np.eye(4)), tmp_path / "five.nii")
    for name, told in {
        "line.npy": "line.npy must hold numbers along two to five axes",
        "five.npy": "must hold images with two or three axes",
        "words.npy": "must hold numbers along",
        "mixed.npz": "mixed.npz holds several arrays, a, b: none is called 'kspace', and they are no images",
        "five.nii": "must hold a volume with three axes",
    }.items():
        with pytest.raises(ValueError, match=told):
            read_images(tmp_path / name)


def test_bad_pixels_are_counted_and_named(tmp_path):
    stored = np.ones((2, 4, 4))
    stored[1, 2, 2:] = np.nan
    np.save(tmp_path / "holes.npy", stored)
    stack = read_images(tmp_path / "holes.npy")
    assert stack[0].image.max() == 1
    with pytest.raises(ValueError, match=r"slice 1 of holes.npy holds 2 pixels that are NaN or infinite"):
        stack[1]
    with pytest.raises(ValueError, match="image is empty: no pixel is above 0"):
        images.scaled(np.zeros((4, 4)))
    with pytest.raises(ValueError, match=r"image must be one two-dimensional image, got shape \(2, 4, 4\)"):
        images.scaled(stored)


def test_of_a_large_stack_only_the_slices_that_are_looked_at_are_read(tmp_path, monkeypatch):
    monkeypatch.setattr(memory, "memory_there", lambda: 100.0)  # nothing is loaded as a whole
    np.save(tmp_path / "stack.npy", np.moveaxis(numbered(), -1, 0))
    stack = read_images(tmp_path / "stack.npy")
    assert isinstance(stack.stored.base, np.memmap)
    np.testing.assert_array_equal(stack[1].image, images.scaled(numbered()[..., 1]))
    (tmp_path / "cut.npy").write_bytes((tmp_path / "stack.npy").read_bytes()[:200])
    with pytest.raises(ValueError, match="cut.npy cannot be read; it seems to be damaged"):
        read_images(tmp_path / "cut.npy")
