"""The factor of believed variances: right where it is known, one where bands hold, monotone, blind to order."""

from __future__ import annotations

import numpy as np
import pytest

from adaptive.diagnostics import variance_factor
from adaptive.potentials import BernoulliProbit, Poisson


def gaussian(y, variance=1.0, noise=0.0):
    return lambda gamma: -0.5 * (np.log(2 * np.pi * (gamma * variance + noise)) + y**2 / (gamma * variance + noise))


def test_the_best_factor_of_gaussian_outcomes_has_a_closed_form():
    """Without a prior gamma is the mean square: sum (y^2 / gamma - 1) = 0; a prior as wide as 1e6 leaves it there."""
    y = 2.5 * np.random.default_rng(0).standard_normal(400)
    found = variance_factor(gaussian(y), deviation=1e6)
    assert found.value == pytest.approx(np.mean(y**2), rel=2e-3)
    assert found.error == pytest.approx(np.sqrt(2 / len(y)), rel=0.03)  # curvature n / 2
    assert found.gain == pytest.approx(np.mean(gaussian(y)(found.value) - gaussian(y)(1.0)), rel=1e-12)
    assert found.n == 400


def test_where_bands_hold_or_are_too_wide_it_is_one():
    y = np.random.default_rng(1).standard_normal(300)
    assert variance_factor(gaussian(0.5 * y)).value == 1.0
    assert variance_factor(gaussian(y / np.sqrt(np.mean(y**2)))).value == pytest.approx(1.0, abs=2e-3)


def test_it_grows_with_how_wrong_the_variances_are():
    y = np.random.default_rng(2).standard_normal(100)
    values = [variance_factor(gaussian(scale * y, noise=0.1)).value for scale in (1.0, 1.5, 2.0, 4.0, 10.0)]
    assert values == sorted(values) and values[-1] > 30


def test_in_another_order_it_is_the_same_to_the_bit():
    y = 3 * np.random.default_rng(3).standard_normal(57)
    weights = np.arange(1.0, 58.0)
    order = np.random.default_rng(4).permutation(57)
    assert variance_factor(gaussian(y), weights=weights) == variance_factor(gaussian(y[order]), weights=weights[order])


def test_weights_count_outcomes():
    y = 2 * np.random.default_rng(5).standard_normal(40)
    twice = variance_factor(gaussian(np.repeat(y, 2)))
    assert variance_factor(gaussian(y), weights=np.full(40, 2.0))[:3] == pytest.approx(twice[:3], rel=1e-12)


@pytest.mark.parametrize("family", ["counts", "signs"])
def test_other_families_find_the_factor_that_drew_them(family):
    """Latents are off by sqrt(6) times what is said; thousands of outcomes show it where they see the latent."""
    rng = np.random.default_rng(6)
    c, v = rng.uniform(4, 8, 4000) if family == "counts" else rng.normal(0, 1, 4000), 0.5
    s = c + np.sqrt(6 * v) * rng.standard_normal(4000)
    if family == "counts":
        outcomes = Poisson(rng.poisson(10 * np.maximum(s, 0)), "rectified", exposure=10.0)
    else:
        outcomes = BernoulliProbit(np.where(s + rng.standard_normal(4000) > 0, 1, -1))
    found = variance_factor(lambda gamma: outcomes.tilted_moments(c, np.full(4000, gamma * v))[0])
    assert abs(np.log(found.value / 6)) < 3 * found.error and found.error < 0.5


def test_outcomes_that_say_nothing_leave_it_at_one_and_say_so():
    found = variance_factor(lambda gamma: np.zeros(5))
    assert found.value == 1.0 and found.error == 1.5 and found.gain == 0.0


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"log_score": lambda gamma: np.array([np.nan])}, "log_score"),
        ({"log_score": lambda gamma: np.zeros(3), "weights": [1.0]}, "weights must be one per outcome, 3"),
        ({"log_score": lambda gamma: np.zeros(3), "deviation": 0.0}, "deviation"),
    ],
)
def test_bad_input_is_named(arguments, sentence):
    with pytest.raises(ValueError, match=sentence):
        variance_factor(**arguments)
