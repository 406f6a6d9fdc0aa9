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


RNG = np.random.default_rng(0)
PICTURE = np.kron(np.tri(4), np.ones((2, 2)))
ROWS = RNG.standard_normal((24, 64)) / 8
SEEN = ROWS @ PICTURE.ravel() + 0.05 * RNG.standard_normal(24)
ENGINES = ("variational_bounds", "expectation_propagation")


def pictured(inference="variational_bounds", scale=0.3, rows=ROWS, seen=SEEN):
    settings = {"prior": "tv", "noise_variance": 0.0025, "inference": inference, "n_samples": 8}
    return ImageReconstructor((8, 8), prior_scales=scale, **settings).fit(rows, seen)


@pytest.mark.parametrize("inference", ENGINES)
def test_samples_of_a_picture_are_left_out_exactly(inference):
    """By dense algebra on the Gaussian: the precision without the row of each, the other sites as they are."""
    reconstruction = pictured(inference).belief_.reconstruction
    posterior, model = reconstruction.posterior, reconstruction.model
    log_scores = model.left_out(posterior)(2.0)
    covariance = posterior.projection_covariance(np.eye(64))
    mean, noise, found = posterior.mean.ravel(), model.noise_variance, []
    for row, y in zip(ROWS, SEEN, strict=True):
        precision = np.linalg.inv(covariance)
        without = np.linalg.inv(precision - np.outer(row, row) / noise)
        centre = row @ (without @ (precision @ mean - row * y / noise))
        total = 2.0 * row @ without @ row + noise
        found.append(-0.5 * (np.log(2 * np.pi * total) + (y - centre) ** 2 / total))
    np.testing.assert_allclose(np.sort(log_scores), np.sort(found), rtol=2e-4, atol=2e-4)


def test_the_factor_of_a_picture_is_one_where_scales_fit_and_grows_with_what_is_wrong():
    factors = [pictured(scale=scale).variance_factor_.value for scale in (0.3, 0.01, 0.001)]
    assert factors[0] == pytest.approx(1.0, abs=0.01) and factors[0] < factors[1] < factors[2]
    small = pictured(scale=0.001)
    with pytest.warns(UserWarning, match="Larger prior_scales suit the measurements better"):
        wide = small.image_std_
    own = small.belief_.reconstruction._own_std
    np.testing.assert_allclose(wide, own * np.sqrt(small.variance_factor_.value))


@pytest.mark.parametrize("inference", ENGINES)
def test_the_factor_of_a_picture_is_the_same_in_any_order_and_after_save_and_load(inference):
    model = pictured(inference, scale=0.01)
    order = RNG.permutation(24)
    turned = pictured(inference, scale=0.01, rows=ROWS[order], seen=SEEN[order])
    again = ImageReconstructor(**model.get_params()).restore(model.state())
    assert turned.variance_factor_.value == pytest.approx(model.variance_factor_.value, rel=1e-2)
    assert again.variance_factor_.value == pytest.approx(model.variance_factor_.value, rel=1e-4)


def test_bands_of_pictures_that_are_too_narrow_say_so():
    few = slice(0, 16)
    with pytest.warns(UserWarning, match=r"by given prior_scales is too small.*ours-bands-photographs-told"):
        assert np.all(pictured(rows=ROWS[few], seen=SEEN[few]).image_std_ > 0)
    tree = ImageReconstructor((8, 8), prior="tree", noise_variance=0.0025, n_samples=8).fit(ROWS[few], SEEN[few])
    with pytest.warns(UserWarning, match=r"of a tree by 25% as many rows as pixels.*ours-bands-photographs-tree"):
        assert np.all(tree.predict(return_std=True)[1] > 0)


@pytest.mark.parametrize("options", [{"inference": "expectation_propagation", "scale": 0.3}, {"scale": None}])
def test_bands_of_pictures_that_hold_say_nothing(options, recwarn):
    assert np.all(pictured(rows=ROWS[:16], seen=SEEN[:16], **options).image_std_ > 0)
    assert not [one for one in recwarn if "too small" in str(one.message)]
