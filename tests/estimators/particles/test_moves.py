"""Metropolis moves leave a posterior as it is, and wrong rules are found out; Liu and West keep two moments."""

import numpy as np
import pytest
from scipy import stats

from adaptive.estimators.particles.inference import moves
from adaptive.estimators.particles.inference.cloud import systematic

K = 3000
EXACT = stats.beta(2.0, 5.0)  # on an interval, skew: steps out of it must be refused


def log_density(values):
    """Two parameters: Beta, and a Gaussian whose place and width depend on the first."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return EXACT.logpdf(values[:, 0]) + stats.norm.logpdf(values[:, 1], 2 * values[:, 0], 0.1 + values[:, 0])


def drawn(seed):
    rng = np.random.default_rng(seed)
    first = EXACT.rvs(K, random_state=rng)
    return np.column_stack([first, 2 * first + (0.1 + first) * rng.standard_normal(K)])


def apart(values):
    """Kolmogorov's distances of two independent variables from what they ought to be, in units of 1 / sqrt(k)."""
    with np.errstate(invalid="ignore"):
        second = (values[:, 1] - 2 * values[:, 0]) / (0.1 + values[:, 0])
    both = stats.kstest(values[:, 0], EXACT.cdf).statistic, stats.kstest(second, stats.norm.cdf).statistic
    return max(both) * np.sqrt(len(values))


def after_moves(seed=0):
    start = drawn(seed)
    root = moves.covariance_root(start, np.full(K, 1 / K))
    moved, share = moves.random_walk(start, log_density, root, np.random.default_rng(1))
    return start, moved, share


def test_the_posterior_stays_as_it_is_while_particles_move():
    start, moved, share = after_moves()
    assert apart(start) < 1.95 and apart(moved) < 1.95  # exceeded once in a thousand
    assert np.mean(np.all(start == moved, axis=1)) < 0.05 and 0.2 < share < 0.8


WRONG = {
    "all": lambda log_ratio, uniform: np.ones(len(log_ratio), bool),
    "all that are possible": lambda log_ratio, uniform: np.isfinite(log_ratio),
    "only better ones": lambda log_ratio, uniform: log_ratio > 0,
    "by the root of the ratio": lambda log_ratio, uniform: np.log1p(-uniform) < 0.5 * log_ratio,
    "by the square of the ratio": lambda log_ratio, uniform: np.log1p(-uniform) < 2.0 * log_ratio,
    "by Barker's rule without its tie": lambda log_ratio, uniform: uniform < 0.5 * np.exp(np.minimum(log_ratio, 50)),
}


@pytest.mark.parametrize("rule", WRONG)
def test_a_wrong_acceptance_rule_is_found_out(rule, monkeypatch):
    monkeypatch.setattr(moves, "accepted", WRONG[rule])
    assert not apart(after_moves()[1]) < 1.95


def test_moves_without_a_likelihood_keep_mean_and_covariance_and_stay_inside():
    start = drawn(3)
    weights = np.full(K, 1 / K)
    root = moves.covariance_root(start, weights)
    moved, inside = moves.liu_west(start, log_density, root, np.random.default_rng(0))
    assert np.isfinite(log_density(moved)).all() and 0.9 < inside < 1
    np.testing.assert_allclose(moved.mean(axis=0), start.mean(axis=0), atol=4 * 0.2 / np.sqrt(K) + 0.01)
    np.testing.assert_allclose(np.cov(moved.T), np.cov(start.T), rtol=0.05)


def test_the_root_of_a_singular_covariance_is_one():
    values = np.random.default_rng(0).standard_normal((50, 2)) @ [[1.0, 2.0, 0.0], [0.5, 1e6, 0.0]]
    weights = np.random.default_rng(1).dirichlet(np.ones(50))
    root = moves.covariance_root(values, weights)
    np.testing.assert_allclose(root @ root.T, np.cov(values.T, aweights=weights, ddof=0), rtol=1e-9, atol=1e-12)


def test_systematic_resampling_keeps_each_particle_as_often_as_its_weight_says():
    weights = np.random.default_rng(2).dirichlet(np.full(40, 0.3))
    weights[7] = 0.0
    weights /= weights.sum()
    counts = [np.bincount(systematic(weights, 40, u), minlength=40) for u in (np.arange(200) + 0.5) / 200]
    assert np.all(np.abs(np.array(counts) - 40 * weights) < 1)
    np.testing.assert_allclose(np.mean(counts, axis=0), 40 * weights, atol=0.011)
    assert np.mean(counts, axis=0)[7] == 0
