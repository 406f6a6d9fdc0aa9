"""Densities of simulations that are made normal: the true ones of skewed summaries, plain ones of normal ones."""

import numpy as np
import pytest
from scipy import stats

from adaptive import SimulatorEstimator
from adaptive.estimators.particles.bounds import nested_bounds
from adaptive.estimators.particles.simulators.densities import Synthetic
from adaptive.estimators.particles.simulators.transformed import Transformed, transformed
from tests.culprits import naming

SCALES = np.exp(np.random.default_rng(3).normal(0.0, 0.5, 400))


def gammas(rng, n_simulations=50):
    """Two correlated skewed numbers, of particles of different scales."""
    parts = rng.gamma(2.0, 1.0, (len(SCALES), n_simulations, 3))
    return SCALES[:, None, None] * (parts[:, :, :2] + parts[:, :, 2:])


def test_simulations_that_are_normal_whole_tied_or_without_noise_stay_as_they_are():
    rng = np.random.default_rng(0)
    normal = rng.normal(SCALES[:, None, None], SCALES[:, None, None], (400, 50, 2))
    for name, found in {
        "normal": normal, "whole": rng.poisson(1.0, (400, 50, 2)).astype(float), "tied": np.round(gammas(rng), 1),
        "constant": np.broadcast_to(SCALES[:, None, None], (400, 50, 1)) + 0.0,
    }.items():  # fmt: skip
        with naming(name):
            assert type(transformed(found)) is Synthetic
    assert isinstance(transformed(gammas(rng)), Transformed)


def test_only_summaries_that_are_not_normal_are_transformed():
    rng = np.random.default_rng(0)
    both = np.concatenate([gammas(rng)[:, :, :1], rng.normal(0.0, 1.0, (400, 50, 1))], axis=2)
    density = transformed(both)
    x, slopes = density._forth(both[:, :3], np.arange(400))
    np.testing.assert_array_equal(x[:, :, 1], both[:, :3, 1])
    assert np.std(slopes) > 0


def test_a_skewed_density_is_the_true_one_on_average_over_particles():
    """Of a sum of four exponential numbers, in deviations below, at and above its mode."""
    scale = np.ones(2000)
    draws = np.random.default_rng(0).gamma(4.0, 1.0, (2000, 50, 1)) * scale[:, None, None]
    y = np.array([[0.8], [2.0], [3.0], [6.0], [9.0]])
    truth = stats.gamma.pdf(y[:, 0], 4.0)
    ours, plain = (np.exp(one.log_density(y)).mean(axis=0) for one in (transformed(draws), Synthetic(draws)))
    np.testing.assert_allclose(ours, truth, rtol=0.1)
    assert np.max(np.abs(plain / truth - 1)) > 0.3


def test_a_density_integrates_to_one_and_draws_follow_it():
    density = transformed(gammas(np.random.default_rng(0))[:, :, :1])
    y = np.linspace(-8.0, 60.0, 60_001)[:, None]
    few = np.array([0, 100, 399])
    integrals = np.trapezoid(np.exp(density.log_density(y, few)), y[:, 0], axis=1)
    np.testing.assert_allclose(integrals, 1.0, atol=2e-3)
    rng = np.random.default_rng(1)
    which = np.full(4000, 100)
    drawn = density.draw(which, rng.standard_normal((4000, 1)), rng.uniform(size=4000))
    below = np.array([density.beyond(one)[0][100, 0] for one in drawn[:400]])
    above = np.array([density.beyond(one)[1][100, 0] for one in drawn[:400]])
    np.testing.assert_allclose(below + above, 1.0, atol=1e-9)
    assert stats.kstest(below, "uniform").pvalue > 1e-3


def test_units_do_not_matter():
    draws, y = gammas(np.random.default_rng(0)), np.array([[2.0, 3.0], [5.0, 1.0]])
    here = transformed(draws).log_density(y)
    there = transformed(1e3 * draws - 7.0).log_density(1e3 * y - 7.0)
    np.testing.assert_allclose(there, here - 2 * np.log(1e3), atol=1e-6)


def test_posteriors_of_waiting_times_are_within_a_tenth_of_a_deviation():
    """Of exponential numbers, whose sums a Gaussian misses by more."""

    def waited(parameters, x, generator):
        return np.exp(parameters[:, 0]) * generator.gamma(4.0, 0.25, len(parameters))

    y = np.array([0.4, 1.7, 0.9, 0.5])
    grid = np.linspace(-6.0, 6.0, 20_001)
    log = stats.norm.logpdf(grid) + sum(stats.gamma.logpdf(one, 4.0, scale=np.exp(grid) / 4.0) for one in y)
    weights = np.exp(log - log.max()) / np.exp(log - log.max()).sum()
    mean = weights @ grid
    deviation = np.sqrt(weights @ (grid - mean) ** 2)
    off = {}
    for name in ("transformed", "synthetic"):
        model = SimulatorEstimator(waited, {"level": stats.norm(0.0, 1.0)}, density=name, random_state=0)
        with pytest.warns(UserWarning) if name == "synthetic" else naming(name):
            off[name] = abs(model.fit(np.zeros((4, 1)), y).parameters_.mean[0] - mean) / deviation
    assert off["transformed"] < 0.1 < off["synthetic"]


def test_the_information_of_a_skewed_outcome_is_the_simulators_own():
    """Exponential noise on a line: by quadrature of its density; the Gaussian surrogate's is another."""

    def simulate(parameters, x, generator):
        return parameters[:, 0] * x[0] + generator.exponential(1.0, len(parameters))

    prior = {"slope": stats.norm(0.0, 0.4)}
    y = np.linspace(-4.0, 25.0, 6001)
    slopes, dy = np.linspace(-2.4, 2.4, 2001), y[1] - y[0]
    weights = stats.norm.pdf(slopes, 0.0, 0.4) / stats.norm.pdf(slopes, 0.0, 0.4).sum()
    mixed = np.array([weights @ stats.expon.pdf(one - slopes) for one in y])
    exact = -np.sum(mixed * np.log(np.maximum(mixed, 1e-300))) * dy - 1.0
    found = {}
    for name in ("transformed", "synthetic"):
        model = SimulatorEstimator(
            simulate, prior, density=name, n_particles=1000, n_nested=1000, n_simulations=200, random_state=0
        )
        bounds = model.information_bounds(np.array([[1.0]]))
        found[name] = 0.5 * float(bounds.lower[0] + bounds.upper[0])
    assert abs(found["transformed"] - exact) < 0.5 * abs(found["synthetic"] - exact)


def test_bounds_of_nested_draws_are_those_of_the_density():
    density = transformed(gammas(np.random.default_rng(0)))
    rng = np.random.default_rng(2)
    which = np.arange(400)
    drawn = density.draw(which, rng.standard_normal((400, 2)), rng.uniform(size=400))
    table = density.log_density(drawn, which)
    assert np.isfinite(table).all()
    lower, upper, *_ = nested_bounds(table, None)
    assert 0.0 < lower <= upper
