"""Noise of coils: simulated with a covariance, estimated from the scan itself, made white."""

import numpy as np
import pytest

from adaptive import datasets, images
from adaptive.operators import FourierLines

HEAD = images.head_scan()[12].image
RNG = np.random.default_rng(0)
ROOT = np.eye(8) + 0.15 * (RNG.standard_normal((8, 8)) + 1j * RNG.standard_normal((8, 8)))
COVARIANCE = ROOT @ ROOT.conj().T
MAPS = images.simulate_coils(HEAD.shape, 8, random_state=0)


def relative(estimate, truth):
    return np.linalg.norm(estimate - truth) / np.linalg.norm(truth)


def test_simulated_noise_has_the_covariance_that_was_asked_for():
    scan = images.simulate_scan(HEAD, snr=30, coils=MAPS, coil_covariance=COVARIANCE, random_state=0)
    clean = images.simulate_scan(HEAD, snr=1e12, coils=MAPS, random_state=0)
    truth = scan.noise_variance * scan.coil_covariance
    assert np.trace(scan.coil_covariance).real == pytest.approx(8)
    assert relative(images.noise_covariance(scan.kspace - clean.kspace), truth) < 0.04
    assert scan.samples(FourierLines(HEAD.shape, [4])).shape == (8, 1, 96)
    assert "8 coils with dependent noise" in scan.caption()


@pytest.mark.parametrize("snr", [20, 50])
def test_the_covariance_is_read_from_the_highest_frequencies_of_the_scan(snr):
    scan = images.simulate_scan(HEAD, snr=snr, coils=MAPS, coil_covariance=COVARIANCE, random_state=0)
    estimate = images.estimate_noise(scan.kspace)
    np.testing.assert_allclose(estimate, estimate.conj().T)
    assert relative(estimate, scan.noise_variance * scan.coil_covariance) < 0.15
    assert np.trace(estimate).real / 8 == pytest.approx(scan.noise_variance, rel=0.1)
    every_other = np.zeros(HEAD.shape, bool)
    every_other[::2] = True
    thinned = images.estimate_noise(np.where(every_other, scan.kspace, 0))
    assert np.trace(thinned).real / 8 == pytest.approx(scan.noise_variance, rel=0.3)


def test_pure_noise_of_one_coil_is_estimated_without_bias():
    values = [
        images.estimate_noise(RNG.standard_normal((1, 48, 48)) + 1j * RNG.standard_normal((1, 48, 48)))[0, 0].real
        for _ in range(40)
    ]
    error = np.std(values) / np.sqrt(len(values))
    assert abs(np.mean(values) - 1) < 4 * error + 0.01 and error < 0.02


def test_whitened_noise_is_white_and_whitened_maps_belong_to_it():
    scan = images.simulate_scan(HEAD, snr=30, coils=MAPS, coil_covariance=COVARIANCE, random_state=0)
    clean = images.simulate_scan(HEAD, snr=1e12, coils=MAPS, random_state=0)
    covariance = scan.noise_variance * scan.coil_covariance
    white = images.whitened(scan.kspace, covariance) - images.whitened(clean.kspace, covariance)
    np.testing.assert_allclose(images.noise_covariance(white), np.eye(8), atol=0.05)
    image = HEAD * np.exp(1j * scan.phase)
    seen = FourierLines(HEAD.shape, [64]).forward(images.whitened(MAPS, covariance) * image)
    np.testing.assert_allclose(
        seen, FourierLines(HEAD.shape, [64]).forward(images.whitened(MAPS * image, covariance)), atol=1e-9
    )


def test_the_noise_of_real_coils_is_what_their_empty_corners_hold():
    path = datasets.folder() / "mri-kspace" / "brain_8ch_undersampled.npz"
    if not path.is_file():
        pytest.skip(f"no data: {path}")
    kspace = np.load(path)["ksp"].astype(complex)
    estimate = images.estimate_noise(kspace)
    corners = kspace[:, :24, :60][:, :, (kspace[:, :24, :60] != 0).any(axis=(0, 1))]
    direct = images.noise_covariance(corners)  # hardly any signal at the highest frequencies of both axes
    assert 0.5 < np.trace(estimate).real / np.trace(direct).real < 1.1


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: images.noise_covariance(np.ones((8, 3))), "at least twice as many samples as coils"),
        (lambda: images.estimate_noise(np.zeros((2, 8, 8))), "high frequencies of kspace, of which 0 samples"),
        (lambda: images.estimate_noise(np.ones((2, 8, 8)), np.ones((4, 4))), r"mask must have the shape \(8, 8\)"),
        (lambda: images.estimate_noise(np.ones(8)), "kspace must have shape"),
        (lambda: images.whitened(np.ones((2, 4)), np.eye(3)), r"covariance must have shape \(2, 2\)"),
        (lambda: images.whitened(np.ones((2, 4)), -np.eye(2)), "covariance must be positive definite"),
    ],
)
def test_bad_input_ends_in_one_sentence(call, message):
    with pytest.raises(ValueError, match=message):
        call()
