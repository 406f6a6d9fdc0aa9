"""Errors against their definitions and scikit-image's; paired intervals against SciPy's test and by coverage."""

import numpy as np
import pytest
from scipy import stats

from adaptive import images


@pytest.fixture
def pair():
    rng = np.random.default_rng(0)
    truth = rng.uniform(0, 1, (20, 16))
    return truth, truth + 0.1 * (rng.standard_normal((20, 16)) + 1j * rng.standard_normal((20, 16)))


def test_errors_compare_magnitudes(pair):
    truth, estimate = pair
    for measure in (images.l2_error, images.nmse, images.psnr):
        phase = np.exp(1j * np.linspace(0, 6, 16))
        assert measure(truth, estimate * phase) == pytest.approx(measure(truth, np.abs(estimate)), rel=1e-12)
    assert images.l2_error(truth, truth) == images.nmse(truth, -truth) == 0
    assert images.psnr(truth, truth) == float("inf")
    assert images.l2_error(truth, 0 * truth) == pytest.approx(np.linalg.norm(truth))
    assert images.nmse(truth, 0 * truth) == 1


def test_errors_agree_with_scikit_image(pair):
    metrics = pytest.importorskip("skimage.metrics", reason="needs scikit-image: pip install 'adaptive-designs[mri]'")
    truth, estimate = pair[0], np.abs(pair[1])
    peak = truth.max()
    assert images.psnr(truth, estimate) == pytest.approx(
        metrics.peak_signal_noise_ratio(truth, estimate, data_range=peak)
    )
    assert images.psnr(truth, estimate, 2.0) == pytest.approx(
        metrics.peak_signal_noise_ratio(truth, estimate, data_range=2)
    )
    assert images.ssim(truth, pair[1]) == metrics.structural_similarity(truth, estimate, data_range=peak)
    assert images.ssim(truth, truth) == pytest.approx(1)
    assert images.nmse(truth, estimate) == pytest.approx(metrics.normalized_root_mse(truth, estimate) ** 2)
    assert images.ssim(truth.astype(np.float32), estimate.astype(np.float32)) == pytest.approx(
        images.ssim(truth, estimate), rel=1e-5
    )


def test_paired_intervals_are_students(pair):
    rng = np.random.default_rng(1)
    a, b = rng.normal(1.0, 0.2, 9), rng.normal(1.2, 0.2, 9)
    expected = stats.ttest_rel(a, b).confidence_interval(0.9)
    found = images.paired_interval(a, b, of="difference", level=0.9)
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high)) and found.n == 9
    ratio = images.paired_interval(a, b)
    assert ratio.mean == pytest.approx(np.mean(a / b)) and ratio.low < ratio.mean < ratio.high


def test_paired_intervals_cover():
    rng = np.random.default_rng(2)
    hits = 0
    for _ in range(400):
        size = rng.uniform(1, 10, 8)  # images of different difficulty: what pairing is for
        found = images.paired_interval(size * rng.normal(0.8, 0.1, 8), size, level=0.9)
        hits += found.low <= 0.8 <= found.high
    assert abs(hits / 400 - 0.9) < 4.5 * np.sqrt(0.09 / 400)


def test_bad_input_is_named(pair):
    truth, estimate = pair
    with pytest.raises(ValueError, match=r"truth and estimate must have one shape, got \(20, 16\) and \(16, 20\)"):
        images.l2_error(truth, estimate.T)
    with pytest.raises(ValueError, match="estimate contains nan"):
        images.psnr(truth, np.full_like(truth, np.nan))
    with pytest.raises(ValueError, match="truth is zero everywhere"):
        images.nmse(0 * truth, estimate)
    with pytest.raises(ValueError, match="data_range must be > 0"):
        images.psnr(0 * truth, estimate)
    with pytest.raises(ValueError, match=r"at least 7 x 7 pixels, got shape \(4, 4\)"):
        images.ssim(np.ones((4, 4)), np.ones((4, 4)))
    with pytest.raises(ValueError, match="pairs, two at least"):
        images.paired_interval([1.0], [1.0])
    with pytest.raises(ValueError, match="pairs, two at least"):
        images.paired_interval([1.0, 2.0], [1.0])
    with pytest.raises(ValueError, match="others holds 0"):
        images.paired_interval([1.0, 2.0], [1.0, 0.0])
    with pytest.raises(ValueError, match="level must lie between 0 and 1"):
        images.paired_interval([1.0, 2.0], [1.0, 1.0], level=95)
    with pytest.raises(ValueError, match="of must be one of 'ratio', 'difference'"):
        images.paired_interval([1.0, 2.0], [1.0, 1.0], of="quotient")
