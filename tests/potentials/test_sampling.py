"""Draws have the distribution they claim: densities by Kolmogorov-Smirnov, outcomes by their probabilities."""

import numpy as np
import pytest
from scipy.stats import chisquare, kstest

from adaptive.potentials import Laplace, Step


def test_draws_follow_the_density(density, rng):
    draws = density.sample(size=20000, random_state=rng)
    # the distribution function on a fine grid graded about the location
    x = np.concatenate([-(10.0 ** np.linspace(7, -8, 60001)), 10.0 ** np.linspace(-8, 7, 60001)])
    p = np.exp(density.log_density(x + density.location))
    cdf = np.concatenate([[0.0], np.cumsum(0.5 * (p[1:] + p[:-1]) * np.diff(x))])
    assert cdf[-1] == pytest.approx(1.0, abs=2e-3)
    levels = np.interp(draws - density.location, x, cdf / cdf[-1])
    assert kstest(levels, "uniform").pvalue > 1e-4
    far = np.abs(2.0 * levels - 1.0)
    assert kstest((far[far > 0.8] - 0.8) / 0.2, "uniform").pvalue > 1e-4  # a fifth of all alone, the tails


def test_outcomes_follow_their_probabilities(family, rng):
    s = 1.3
    outcomes = family.sample(np.full(20000, s), random_state=rng)
    support = family.outcomes if family.outcomes is not None else np.arange(8.0)
    expected = 20000 * np.exp(family.log_density(s, support))
    observed = np.array([(outcomes == y).sum() for y in support], dtype=float)
    rest = 20000 - expected.sum()
    if rest > 1:
        expected, observed = np.append(expected, rest), np.append(observed, 20000 - observed.sum())
    assert chisquare(observed, expected * (observed.sum() / expected.sum())).pvalue > 1e-4


def test_noise_is_added_to_the_projections(density):
    s = np.array([[0.0, 10.0], [20.0, 30.0]])
    noise = density.sample(np.zeros((2, 2)), random_state=3)
    np.testing.assert_allclose(density.sample(s, random_state=3), s + noise, rtol=1e-12)


def test_seeds_repeat_and_shapes_follow():
    a = Laplace([1.0, 2.0, 3.0])
    np.testing.assert_array_equal(a.sample(random_state=0), a.sample(random_state=0))
    assert a.sample(random_state=0).shape == (3,)
    assert Laplace(1.0).sample(size=(4, 2), random_state=0).shape == (4, 2)


def test_a_constraint_draws_nothing():
    with pytest.raises(ValueError, match="Step is neither a density nor a likelihood"):
        Step().sample(0.0)
