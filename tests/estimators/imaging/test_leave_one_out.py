"""What an image would have said of each sample without it, by expectation propagation, is what refits say."""

import numpy as np
import pytest

from adaptive import ImageReconstructor

PICTURE = np.add.outer(np.linspace(-1, 1, 8) ** 2, np.linspace(-1, 1, 8) ** 2) < 0.7
RNG = np.random.default_rng(0)
PATTERNS = RNG.standard_normal((16, 64))
NOISY = 0.25  # so much that the sites of the prior hardly move for one sample
NOISE = 0.5 * RNG.standard_normal(16)


def of_photons():
    return ImageReconstructor((8, 8), likelihood="poisson", prior="tv", prior_scales=0.2)


def of_samples(inference="expectation_propagation"):
    return ImageReconstructor((8, 8), prior_scales=0.2, noise_variance=NOISY, inference=inference)


def density(model, row, sample):
    """Of one real sample, noise included."""
    mean, variance = model.design_posterior_.projection_moments(row)
    return -0.5 * (sample - mean) ** 2 / (variance + NOISY) - 0.5 * np.log(2 * np.pi * (variance + NOISY))


@pytest.mark.parametrize("counts", [True, False], ids=["photons", "samples"])
def test_leave_one_out_is_what_refits_say(counts):
    rows = 0.15 * (PATTERNS > 0) if counts else PATTERNS / 8
    seen = rows @ PICTURE.ravel()
    y = np.round(seen) if counts else seen + NOISE
    make = of_photons if counts else of_samples
    refits = []
    for k in range(6):
        without = make().fit(np.delete(rows, k, 0), np.delete(y, k))
        one, own = rows[k : k + 1], y[k : k + 1]
        refits.append((without.log_predictive(one, own) if counts else density(without, one, own))[0])
    found = make().fit(rows, y).leave_one_out_
    assert found.probabilities is None and found.log_score.shape == (16,)
    np.testing.assert_allclose(found.log_score[:6], refits, atol=0.02)


def test_bounds_leave_nothing_out():
    model = of_samples("variational_bounds").fit(PATTERNS / 8, PATTERNS / 8 @ PICTURE.ravel())
    assert model.leave_one_out_ is None
