"""Coil maps: simulated ones are smooth and normalised; estimated ones are the true ones up to what no samples tell."""

import numpy as np
import pytest

from adaptive import datasets, images, memory
from adaptive.images.coils import fully_sampled_centre
from adaptive.operators import FourierLines

HEAD = images.head_scan()[12].image


@pytest.mark.parametrize("width", [0.5, 1.0])
def test_eight_simulated_coils_are_estimated_within_a_tenth_inside_the_head(width):
    maps = images.simulate_coils(HEAD.shape, 8, width=width, random_state=0)
    scan = images.simulate_scan(HEAD, snr=50, coils=maps, random_state=1)
    estimate = images.estimate_coils(scan.kspace, 24)
    assert images.map_error(maps, estimate, HEAD > 0.1) < 0.02  # the issue asks for 0.1
    # one coil alone is known up to any factor: the error compares coils with each other
    assert images.map_error(maps[:1], estimate[:1], HEAD > 0.1) < 1e-12
    np.testing.assert_allclose((np.abs(estimate) ** 2).sum(axis=0), 1.0)
    everywhere = np.ones(HEAD.shape, bool)
    assert images.map_error(maps, estimate, everywhere) > images.map_error(maps, estimate, HEAD > 0.1)
    # wrong maps are found out: those of the neighbouring coils
    assert images.map_error(maps, np.roll(maps, 1, axis=0), HEAD > 0.1) > 0.2


def test_estimated_phases_are_smooth_inside_the_head():
    maps = images.simulate_coils(HEAD.shape, 4, random_state=3)
    estimate = images.estimate_coils(images.simulate_scan(HEAD, coils=maps, random_state=1).kspace, 24)
    inside = (HEAD > 0.1)[1:] & (HEAD > 0.1)[:-1]
    steps = np.sqrt((np.abs(np.diff(estimate, axis=1)) ** 2).sum(axis=0))[inside]
    assert np.quantile(steps, 0.99) < 0.2  # per pixel; a jump of the phase by pi would be 2


def test_maps_of_a_volume():
    rng = np.random.default_rng(0)
    volume = np.zeros((16, 16, 16))
    volume[4:12, 4:12, 4:12] = 1 + rng.random((8, 8, 8))
    maps = images.simulate_coils(volume.shape, 4, random_state=0)
    scan = images.simulate_scan(volume, snr=100, coils=maps, random_state=0)
    assert images.map_error(maps, images.estimate_coils(scan.kspace, 12), volume > 0) < 0.05


def test_the_centre_is_found_and_nothing_else_is_looked_at():
    maps = images.simulate_coils(HEAD.shape, 4, random_state=0)
    kspace = images.simulate_scan(HEAD, coils=maps, random_state=0).kspace
    mask = np.zeros(HEAD.shape, bool)
    mask[::5] = True
    mask[54:74] = True
    sides = fully_sampled_centre(mask)
    assert sides == (20, 96)
    cut = np.where(mask, kspace, 0)
    block = np.zeros_like(kspace)
    block[:, 54:74, 32:64] = kspace[:, 54:74, 32:64]
    np.testing.assert_allclose(images.estimate_coils(cut), images.estimate_coils(block), atol=1e-12)


@pytest.mark.parametrize("name", ["brain_8ch_cartesian", "brain_8ch_undersampled"])
def test_measured_coils_explain_measured_samples(name):
    path = datasets.folder() / "mri-kspace" / f"{name}.npz"
    if not path.is_file():
        pytest.skip(f"no data: {path}")
    kspace = np.load(path)["ksp"].astype(complex)
    shape = kspace.shape[1:]
    sides = [min(24, side) for side in fully_sampled_centre((kspace != 0).any(axis=0))]
    where = (slice(n // 2 - side // 2, n // 2 - side // 2 + side) for n, side in zip(shape, sides, strict=True))
    small = kspace[:, *where]  # coil images of low resolution
    maps = images.estimate_coils(small)
    pixels = np.fft.fftshift(np.fft.ifft2(np.fft.ifftshift(small, (1, 2))), (1, 2))
    combined = (maps.conj() * pixels).sum(axis=0)
    left = np.linalg.norm(pixels - maps * combined) / np.linalg.norm(pixels)
    assert left < 0.1
    mixed = np.roll(maps, 1, axis=0)
    assert np.linalg.norm(pixels - mixed * (mixed.conj() * pixels).sum(axis=0)) / np.linalg.norm(pixels) > 3 * left


def test_maps_that_do_not_fit_into_memory_are_refused_first(monkeypatch):
    monkeypatch.setattr(memory, "memory_there", lambda: 1e4)
    with pytest.raises(ValueError, match="the matrix of coils in every pixel of a row is too large: an array of shape"):
        images.estimate_coils(np.ones((4, 16, 16)), 8)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: images.estimate_coils(np.ones((8, 8))), r"kspace must have shape \(coils, \*shape of the image\)"),
        (lambda: images.estimate_coils(np.zeros((2, 8, 8))), "at least 4 samples along every axis must be measured"),
        (lambda: images.estimate_coils(np.zeros((2, 8, 8)), 6), "samples of kspace are all zero"),
        (lambda: images.estimate_coils(np.ones((2, 8, 8)), 2), "must be measured, got 2 x 2"),
        (lambda: images.estimate_coils(np.full((2, 8, 8), np.nan)), r"kspace contains \(nan\+0j\)"),
        (lambda: images.simulate_coils((8,)), "shape must have two or three axes"),
        (lambda: images.simulate_coils((8, 8), 0), "n_coils must be at least 1"),
        (lambda: images.map_error(np.ones((2, 4, 4)), np.ones((3, 4, 4)), np.ones((4, 4), bool)), "belong together"),
        (lambda: images.simulate_scan(HEAD, coils=np.ones((2, 8, 8))), r"coils must be maps of shape \(coils, 128, 96"),
        (lambda: images.simulate_scan(HEAD, coil_covariance=np.eye(2)), "coil_covariance needs coils"),
        (
            lambda: images.simulate_scan(HEAD, coils=np.ones((2, *HEAD.shape)), coil_covariance=-np.eye(2)),
            "coil_covariance must be positive definite",
        ),
        (
            lambda: images.simulate_scan(HEAD, coils=np.ones((2, *HEAD.shape)), coil_covariance=np.eye(3)),
            r"coil_covariance must be a Hermitian matrix of shape \(2, 2\)",
        ),
    ],
)
def test_bad_input_ends_in_one_sentence(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_two_sets_of_maps_explain_a_head_that_wraps_around_and_one_does_not():
    beyond, n = 10, 76
    coils = images.simulate_coils(HEAD.shape, 6, random_state=0)
    seen = coils * HEAD
    narrow = seen[..., beyond:-beyond].copy()
    narrow[..., :beyond] += seen[..., -beyond:]
    narrow[..., -beyond:] += seen[..., :beyond]
    samples = FourierLines((128, n), range(128)).forward(narrow).reshape(narrow.shape)
    maps = images.estimate_coils(samples, 24, sets=2)
    assert maps.shape == (2, 6, 128, n)
    power = (np.abs(maps) ** 2).sum(axis=1)
    np.testing.assert_allclose(power[0], 1.0)
    assert set(np.unique(power[1].round(6))) == {0.0, 1.0}
    np.testing.assert_allclose(np.abs((maps[0].conj() * maps[1]).sum(axis=0)), 0.0, atol=1e-9)
    left = narrow - maps[0] * (maps[0].conj() * narrow).sum(axis=0)
    folded = (np.abs(left) ** 2)[..., :beyond].sum() / (np.abs(narrow) ** 2)[..., :beyond].sum()
    both = left - maps[1] * (maps[1].conj() * left).sum(axis=0)
    assert folded > 0.01 and (np.abs(both) ** 2)[..., :beyond].sum() < 0.05 * (np.abs(left) ** 2)[..., :beyond].sum()
    # the first set is what one set is
    np.testing.assert_allclose(images.estimate_coils(samples, 24), maps[0])


@pytest.mark.parametrize("sets", [0, 5])
def test_sets_of_maps_are_between_one_and_the_coils(sets):
    with pytest.raises(ValueError, match="sets must be at"):
        images.estimate_coils(np.ones((4, 8, 8), complex), 8, sets=sets)
