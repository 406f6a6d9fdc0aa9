"""Bands inside the object hold the energy that is believed of what was not measured; they are never narrowed."""

import numpy as np
import pytest

from adaptive import ImageReconstructor
from adaptive.estimators.imaging.reconstruction import INSIDE, SHARE
from adaptive.images import head_scan, padded, simulate_scan
from designs import kspace

HEAD = padded(head_scan()[12].image, 128).reshape(32, 4, 32, 4).mean(axis=(1, 3))
SCAN = simulate_scan(HEAD, snr=50, random_state=1)
POOL = kspace.lines((32, 32))
DESIGN = kspace.variable_density(32, 16, 6, random_state=0)


@pytest.fixture(scope="module")
def fitted():
    block = POOL.take(DESIGN)
    return ImageReconstructor((32, 32), check=False, n_samples=40).fit(block, SCAN.measure(block))


def test_bands_inside_the_object_hold_their_share_of_the_energy_that_was_not_measured(fitted):
    """By a plain Fourier transform of the posterior's samples, line by line."""
    reconstruction = fitted.belief_.reconstruction
    samples, phase = reconstruction.posterior.samples, np.exp(1j * reconstruction.model.phase)
    energy = 0.0
    for real, imaginary in samples:
        k = np.fft.fftshift(np.fft.fft2(np.fft.ifftshift((real + 1j * imaginary) * phase), norm="ortho"))
        energy += sum(np.sum(np.abs(k[line]) ** 2) for line in range(32) if line not in DESIGN) / len(samples)
    inside = fitted.image_ > INSIDE * fitted.image_.max()
    assert reconstruction.band_factor > 1
    assert np.sum(fitted.image_std_[inside] ** 2) == pytest.approx(SHARE * energy, rel=1e-5)


def test_bands_hold_the_head_and_more_than_without_the_factor(fitted):
    apart, head = np.abs(fitted.image_ - HEAD), HEAD > 0.05
    factor = fitted.belief_.reconstruction.band_factor
    covered = [np.mean(apart[head] < 1.645 * (fitted.image_std_ / f)[head]) for f in (1.0, factor)]
    assert covered[0] > max(0.85, covered[1])


def test_what_was_measured_whole_keeps_the_bands_of_the_posterior():
    block = POOL.take(np.arange(32))
    model = ImageReconstructor((32, 32), check=False).fit(block, SCAN.measure(block))
    assert model.belief_.reconstruction.band_factor == 1.0


def test_the_factor_changes_neither_image_nor_choice_and_comes_back(fitted):
    image, chosen = fitted.image_.copy(), fitted.select(POOL, random_state=0)
    assert np.all(fitted.image_std_ > 0)
    np.testing.assert_array_equal(fitted.image_, image)
    np.testing.assert_array_equal(fitted.select(POOL, random_state=0), chosen)
    again = ImageReconstructor((32, 32), check=False, n_samples=40).restore(fitted.state())
    np.testing.assert_allclose(again.image_std_, fitted.image_std_, rtol=1e-6)
