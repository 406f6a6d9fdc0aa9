"""The receiver: its noise from the best evidence that there is, many coils as few, read-outs cropped."""

import numpy as np
import pytest

from adaptive import images
from adaptive.operators import FourierLines

RNG = np.random.default_rng(0)
HEAD = images.head_scan()[12].image
MAPS = images.simulate_coils(HEAD.shape, 6, random_state=0)
ROOT = np.linalg.cholesky(np.eye(6) + 0.4 * np.ones((6, 6)))
SCAN = images.simulate_scan(HEAD, snr=40, coils=MAPS, coil_covariance=ROOT @ ROOT.T, random_state=0)
TRUTH = SCAN.noise_variance * SCAN.coil_covariance


def noise(*shape):
    drawn = RNG.standard_normal((2, 6, *shape))
    return np.tensordot(np.linalg.cholesky(TRUTH), drawn[0] + 1j * drawn[1], 1)


def off(matrix):
    return np.linalg.norm(matrix - TRUTH) / np.linalg.norm(TRUTH)


def test_the_best_evidence_is_taken_and_named():
    silent, again = noise(6000), np.stack([SCAN.kspace[:, 60:68] * 0 + noise(8, 96) for _ in range(3)])
    found = images.coil_covariance(SCAN.kspace, noise=silent, repeats=again)
    assert found.method == "noise scan" and found.sentence == "noise of 6 coils from 6000 samples of a noise scan"
    assert off(found.matrix) < 0.05 and found.variance == pytest.approx(SCAN.noise_variance, rel=0.03)
    np.testing.assert_array_equal(found.matrix, images.noise_covariance(silent))
    found = images.coil_covariance(SCAN.kspace, repeats=again + 100 * SCAN.kspace[:, 60:68])
    assert found.method == "repeats" and off(found.matrix) < 0.12  # whatever the signal, which repeats share
    found = images.coil_covariance(SCAN.kspace)
    assert found.method == "outer samples" and off(found.matrix) < 0.3
    np.testing.assert_array_equal(found.matrix, images.estimate_noise(SCAN.kspace))


def test_repeats_have_no_bias():
    two = [images.coil_covariance(repeats=noise(2, 40).transpose(1, 0, 2) + 5).variance for _ in range(200)]
    error = np.std(two) / np.sqrt(len(two))
    assert abs(np.mean(two) - SCAN.noise_variance) < 4 * error and error < 0.02 * SCAN.noise_variance


# Compression ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["svd", "geometric"])
def test_all_virtual_coils_are_the_coils_turned(method):
    found = images.compress_coils(SCAN.kspace, 6, method=method)
    assert found.energy == pytest.approx(1.0, abs=1e-12)
    rows = np.atleast_3d(found.matrix) if found.matrix.ndim == 3 else found.matrix[None]
    for one in rows[:: max(1, len(rows) // 7)]:
        np.testing.assert_allclose(one @ one.conj().T, np.eye(6), atol=1e-10)
    again = images.whitened(found.samples, np.eye(6))
    np.testing.assert_allclose(np.linalg.norm(again), np.linalg.norm(SCAN.kspace))
    image = np.linalg.norm(FourierLines(HEAD.shape, range(128)).adjoint(found.samples), axis=0)
    wanted = np.linalg.norm(FourierLines(HEAD.shape, range(128)).adjoint(SCAN.kspace), axis=0)
    np.testing.assert_allclose(image, wanted, atol=1e-9)  # the sum of squares is that of every place


def test_few_virtual_coils_keep_the_most_energy():
    kept = [images.compress_coils(SCAN.kspace, n).energy for n in range(1, 7)]
    assert np.all(np.diff(kept) > 0)
    flat = SCAN.kspace.reshape(6, -1)
    values = np.linalg.svd(flat, compute_uv=False) ** 2
    np.testing.assert_allclose(kept, np.cumsum(values) / values.sum(), rtol=1e-10)
    chosen = images.compress_coils(SCAN.kspace)
    assert chosen.energy >= 0.99 and images.compress_coils(SCAN.kspace, len(chosen.samples) - 1).energy < 0.99
    for n in (2, 3):  # what changes along the read-out keeps more
        assert images.compress_coils(SCAN.kspace, n, method="geometric").energy > kept[n - 1]
    # orthonormal sums leave white noise white
    white = images.compress_coils(RNG.standard_normal((6, 64, 64)) + 0j, 3)
    np.testing.assert_allclose(white.matrix @ white.matrix.conj().T, np.eye(3), atol=1e-12)


def test_geometric_coils_change_smoothly():
    matrix = images.compress_coils(SCAN.kspace, 3, method="geometric").matrix
    aligned = np.linalg.norm(np.diff(matrix[30:66], axis=0), axis=(1, 2))  # where there is a head
    assert aligned.max() < 0.6  # two orthonormal triples are up to sqrt(6) apart


def test_samples_that_were_not_measured_stay_zero():
    kspace = SCAN.kspace.copy()
    kspace[:, ::2] = 0
    for method in ("svd", "geometric"):
        assert not images.compress_coils(kspace, 3, method=method).samples[:, ::2].any()


# Oversampling --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("n", "side"), [(16, 8), (15, 7), (16, 7), (15, 8), (9, 9)])
@pytest.mark.parametrize("axis", [0, -1])
def test_the_image_is_cropped(n, side, axis):
    shape = (n, 6) if axis == 0 else (6, n)
    picture = RNG.standard_normal(shape) + 1j * RNG.standard_normal(shape)
    kspace = FourierLines(shape, range(shape[0])).forward(picture)
    cropped = images.remove_oversampling(kspace, side, axis)
    start = n // 2 - side // 2
    wanted = np.take(picture, range(start, start + side), axis)
    np.testing.assert_allclose(FourierLines(wanted.shape, range(len(wanted))).adjoint(cropped), wanted, atol=1e-12)


def test_noise_keeps_its_variance_and_numbers_their_precision():
    drawn = (RNG.standard_normal((40, 400)) + 1j * RNG.standard_normal((40, 400))).astype(np.complex64)
    cropped = images.remove_oversampling(drawn)
    assert cropped.dtype == np.complex64 and cropped.shape == (40, 200)
    assert np.var(cropped) == pytest.approx(2, rel=0.05)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: images.coil_covariance(), "the noise is read from noise=, repeats= or kspace="),
        (lambda: images.coil_covariance(repeats=np.ones((1, 2, 9))), r"repeats must have shape \(two or more, coils"),
        (lambda: images.coil_covariance(repeats=np.ones((2, 9, 3))), "at least 18 samples for 9 coils, got 3"),
        (lambda: images.coil_covariance(noise=np.full((2, 9), np.nan)), "noise contains"),
        (lambda: images.compress_coils(np.zeros((4, 8, 8))), "samples must have shape .*not all zero"),
        (lambda: images.compress_coils(np.ones((4, 8, 8)), 5), "n_coils must be between 1 and 4"),
        (lambda: images.compress_coils(np.ones((4, 8, 8)), method="pca"), "method must be one of 'svd', 'geometric'"),
        (lambda: images.compress_coils(np.ones((4, 8)), method="geometric", readout=0), "axis 0 of samples is that of"),
        (lambda: images.remove_oversampling(np.ones(8), 9), "side must be at most 8"),
        (
            lambda: images.remove_oversampling(np.ones(8), 4, 1),
            r"axis 1 is not among the axes of samples of shape \(8,\)",
        ),
    ],
)
def test_bad_input_ends_in_one_sentence(call, message):
    with pytest.raises(ValueError, match=message):
        call()
