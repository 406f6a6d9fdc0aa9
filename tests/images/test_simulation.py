"""A simulated scan is what its caption says; the phase can be read from the centre of k-space."""

import numpy as np
import pytest

from adaptive import images
from adaptive.images import simulate_coils, simulate_scan
from adaptive.operators import FourierLines
from designs import kspace


def head_like(shape=(64, 48)):
    y, x = np.meshgrid(*(np.linspace(-1, 1, side) for side in shape), indexing="ij")
    disc = ((x / 0.7) ** 2 + (y / 0.8) ** 2 < 1).astype(float)
    return disc * (0.6 + 0.4 * ((x - 0.2) ** 2 + (y + 0.1) ** 2 < 0.1))


def wrapped(difference):
    return np.angle(np.exp(1j * difference))


@pytest.mark.parametrize("snr", [30, 50])
def test_noise_has_the_stated_size_in_samples_and_in_pixels(snr):
    image = np.ones((128, 96))
    scan = images.simulate_scan(image, snr=snr, random_state=0)
    clean = FourierLines(image.shape, range(128)).forward(image * np.exp(1j * scan.phase))
    assert scan.noise_sd == 1 / snr and scan.noise_variance == scan.noise_sd**2
    for noise in (scan.kspace - clean, scan.acquired - image * np.exp(1j * scan.phase)):
        parts = np.concatenate([noise.real.ravel(), noise.imag.ravel()])
        assert abs(parts.mean()) < 4.5 * scan.noise_sd / np.sqrt(parts.size)
        assert abs(parts.std() / scan.noise_sd - 1) < 4.5 / np.sqrt(2 * parts.size)
        assert abs(np.corrcoef(noise.real.ravel(), noise.imag.ravel())[0, 1]) < 4.5 / np.sqrt(noise.size)


def test_the_noise_is_relative_to_the_largest_magnitude():
    assert images.simulate_scan(200 * head_like(), snr=50).noise_sd == pytest.approx(4.0)


def test_a_seed_decides_phase_and_noise_separately():
    image = head_like()
    one, again = (images.simulate_scan(image, snr=50, random_state=7) for _ in range(2))
    np.testing.assert_array_equal(one.kspace, again.kspace)
    noisier = images.simulate_scan(image, snr=25, random_state=7)
    np.testing.assert_array_equal(noisier.phase, one.phase)
    clean = FourierLines(image.shape, range(64)).forward(image * np.exp(1j * one.phase))
    np.testing.assert_allclose(noisier.kspace - clean, 2 * (one.kspace - clean), atol=1e-12)
    other = images.simulate_scan(image, snr=50, random_state=8)
    assert not np.allclose(other.phase, one.phase)
    generator = np.random.default_rng(1)
    first, second = (images.simulate_scan(image, random_state=generator).kspace for _ in range(2))
    assert not np.array_equal(first, second)


def test_coil_by_coil_and_in_single_precision_the_samples_are_the_same():
    """A whole array of noise, real parts first, is what the draws of single coils make up."""
    image, maps = np.eye(8), simulate_coils((8, 8), 3, random_state=0)
    scan = simulate_scan(image, snr=20, coils=maps, random_state=4)
    phase_rng, noise_rng = np.random.default_rng(4).spawn(2)
    noise = noise_rng.standard_normal((2, 3, 8, 8)) * scan.noise_sd
    clean = FourierLines((8, 8), range(8)).forward(maps * image * np.exp(1j * scan.phase))
    np.testing.assert_allclose(scan.kspace, clean + noise[0] + 1j * noise[1], atol=1e-13)
    single = simulate_scan(image, snr=20, coils=maps.astype(np.complex64), random_state=4, dtype="complex64")
    assert single.kspace.dtype == single.coils.dtype == np.complex64
    np.testing.assert_allclose(single.kspace, scan.kspace, atol=1e-6)
    correlated = simulate_scan(image, snr=20, coils=maps, coil_covariance=np.eye(3), random_state=4)
    np.testing.assert_allclose(correlated.kspace, scan.kspace, atol=1e-13)


def test_every_block_sees_the_same_acquisition():
    scan = images.simulate_scan(head_like(), random_state=0)
    for axis in (0, 1):
        pool = kspace.lines(scan.image.shape, axis)
        for line in (0, 7, pool.image_shape[axis] // 2):
            np.testing.assert_allclose(scan.samples(pool[line]).ravel(), scan.kspace[pool[line].mask], atol=1e-12)
    pool = kspace.lines(scan.image.shape).take([3, 9])
    measured = scan.measure(pool)
    assert len(measured) == 2
    np.testing.assert_array_equal(measured[1], scan.samples(pool[1]))


@pytest.mark.parametrize("order", [1, 2, 3])
def test_the_phase_is_a_polynomial_of_its_order(order):
    largest = 0.8 * np.pi
    phase = images.polynomial_phase((20, 17), order, largest, random_state=order)
    assert np.abs(phase).max() == pytest.approx(largest)
    for axis in (0, 1):
        differences = np.diff(phase, n=order + 1, axis=axis)  # of a polynomial: zero
        assert np.abs(differences).max() < 1e-10
        assert np.abs(np.diff(phase, n=order, axis=axis)).max() > 1e-6
    assert not images.polynomial_phase((4, 4), largest=0.0).any()


@pytest.mark.parametrize("window", [False, True])
@pytest.mark.parametrize("axis", [0, 1, None])
@pytest.mark.parametrize("snr", [30, 50])
def test_the_phase_is_read_from_the_centre(axis, window, snr):
    image = head_like((128, 96))
    inside = image > 0.3
    for seed in range(3):
        scan = images.simulate_scan(image, snr=snr, random_state=seed)
        error = wrapped(images.estimate_phase(scan.kspace, 24, axis, window=window) - scan.phase)[inside]
        assert np.sqrt(np.mean(error**2)) < 0.12
        # What the correction is for: what is left of the imaginary part.
        corrected = scan.acquired * np.exp(-1j * images.estimate_phase(scan.kspace, 24, axis, window=window))
        assert np.linalg.norm(corrected.imag[inside]) < 0.12 * np.linalg.norm(corrected[inside])


def test_the_phase_looks_at_the_centre_only():
    scan = images.simulate_scan(head_like(), random_state=3)
    centre = kspace.central(64, 16)
    filled = np.zeros_like(scan.kspace)
    filled[centre] = scan.kspace[centre]
    np.testing.assert_array_equal(images.estimate_phase(scan.kspace, 16), images.estimate_phase(filled, 16))
    assert not np.allclose(images.estimate_phase(scan.kspace, 16), images.estimate_phase(scan.kspace, 16, None))


def test_complex_images_keep_their_own_phase():
    rng = np.random.default_rng(0)
    image = head_like() * np.exp(1j * rng.uniform(-1, 1, (64, 48)))
    scan = images.simulate_scan(image, snr=1e6, random_state=0)
    np.testing.assert_allclose(scan.acquired, image, atol=1e-4)
    np.testing.assert_allclose(scan.image, np.abs(image))
    assert "the image's own" in scan.caption() and "polynomial" not in scan.caption()


def test_captions_tell_what_was_simulated_and_told():
    scan = images.simulate_scan(head_like(), snr=30, largest_phase=2.0, order=3, random_state=5)
    caption = scan.caption(told=["the noise variance", "the true phase"])
    for part in (
        "order 3",
        "up to 2 rad",
        "SNR 30",
        "one coil",
        "seed 5",
        "told the noise variance and the true phase",
    ):
        assert part in caption
    assert scan.caption([]).endswith("The model was told nothing that a user would not know.")
    assert "told" not in scan.caption()
    assert "no phase" in images.simulate_scan(head_like(), largest_phase=0).caption()
    assert "seed not recorded" in images.simulate_scan(head_like()).caption()


def test_bad_input_is_named():
    with pytest.raises(ValueError, match="image must hold magnitudes >= 0"):
        images.simulate_scan([[1.0, -1.0]])
    with pytest.raises(ValueError, match="image must be a two- or three-dimensional image that is not all zero"):
        images.simulate_scan(np.zeros((4, 4)))
    with pytest.raises(ValueError, match="two- or three-dimensional"):
        images.simulate_scan(np.ones((4, 4, 4, 4)))
    with pytest.raises(ValueError, match=r"image contains nan at position \(0, 1\)"):
        images.simulate_scan([[1.0, np.nan]])
    with pytest.raises(ValueError, match="snr must be > 0"):
        images.simulate_scan(np.ones((4, 4)), snr=0)
    with pytest.raises(ValueError, match="largest must be >= 0"):
        images.polynomial_phase((4, 4), largest=-1)
    with pytest.raises(ValueError, match="the 4 central lines of kspace are all zero"):
        images.estimate_phase(np.zeros((8, 8), complex), 4)
    with pytest.raises(ValueError, match="n_central must be between 1 and 8, the size of axis 0, got 9"):
        images.estimate_phase(np.ones((8, 8), complex), 9)
    with pytest.raises(ValueError, match="kspace contains"):
        images.estimate_phase(np.full((8, 8), np.nan), 4)
    with pytest.raises(ValueError, match="axis must be one of"):
        images.estimate_phase(np.ones((8, 8), complex), 4, axis=2)
