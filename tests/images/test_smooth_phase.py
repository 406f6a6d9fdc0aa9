"""Smooth phases from images of low resolution: nearer to the truth than angles, and they say how near."""

import numpy as np
import pytest

from adaptive.images import head_scan, low_resolution, padded, polynomial_phase, simulate_scan, smooth_phase
from adaptive.images.smooth_phase import _cosines

HEAD = padded(head_scan()[12].image, 128).reshape(64, 2, 64, 2).mean(axis=(1, 3))
WEIGHT = HEAD**2 / np.sum(HEAD**2)


def off(phase, true):
    """Root mean square error, weighted by energy, in radians."""
    return float(np.sqrt(np.sum(WEIGHT * np.angle(np.exp(1j * (phase - true))) ** 2)))


def test_it_is_closer_than_the_angle_of_the_same_lines_and_states_its_scatter():
    ratios, stated = [], []
    for seed in range(4):
        scan = simulate_scan(HEAD, snr=50, random_state=seed)
        image = low_resolution(scan.kspace, 16)
        found = smooth_phase(image)
        ratios.append(off(found.phase, scan.phase) / off(np.angle(image), scan.phase))
        stated.append(np.sqrt(np.sum(WEIGHT * found.std**2)) / off(found.phase, scan.phase))
    assert np.mean(ratios) < 0.7 and max(ratios) < 1
    assert 0.3 < np.mean(stated) < 2  # what low resolution bends is not in it


def test_it_does_not_wrap_and_the_scale_of_the_image_does_not_matter():
    true = polynomial_phase((40, 24), 1, 12.0, random_state=1)
    found = smooth_phase(1e3 * np.exp(1j * true))
    apart = found.phase - true
    assert np.abs(apart - 2 * np.pi * np.round(apart.mean() / (2 * np.pi))).mean() < 0.1 and found.left < 0.15
    np.testing.assert_allclose(smooth_phase(np.exp(1j * true)).phase, found.phase, atol=1e-6)


def test_a_volume_has_one_too_and_noise_is_not_smooth():
    true = polynomial_phase((16, 16, 16), random_state=0)
    found = smooth_phase(np.exp(1j * true), 6)
    assert np.abs(np.angle(np.exp(1j * (found.phase - true)))).mean() < 0.1 and found.std.shape == true.shape
    noise = np.random.default_rng(0).standard_normal((2, 32, 32))
    assert smooth_phase(noise[0] + 1j * noise[1]).left > 1


@pytest.mark.parametrize(
    ("image", "message"),
    [
        (np.ones((4, 4)), "image must be complex, of two or three axes, got float64"),
        (np.ones(4, complex), r"two or three axes, got complex128 of shape \(4,\)"),
        (np.zeros((4, 4), complex), "image is zero everywhere: it has no phase"),
        (np.full((4, 4), np.nan + 0j), r"image contains \(nan"),
    ],
)
def test_bad_images_are_refused(image, message):
    with pytest.raises(ValueError, match=message):
        smooth_phase(image)


def test_every_wave_of_the_prior_has_the_same_mean_square():
    """So that the prior's phase has the variance that its coefficients have, whatever their wave."""
    for side, n in ((16, 16), (33, 10), (8, 1)):
        waves = _cosines(side, n)
        np.testing.assert_allclose(waves.T @ waves / side, np.eye(n), atol=1e-12)
