"""Priors: quantiles of the stated ones, what only draws has a density fitted to it; wrong ones are refused."""

import numpy as np
import pytest
from scipy import stats

from adaptive.estimators.particles.inference.fitted_density import FittedDensity
from adaptive.estimators.particles.inference.prior import checked_draws, prior_of


def test_stated_distributions_are_drawn_evenly():
    prior = prior_of({"a": stats.norm(1, 2), "b": stats.gamma(3)})
    values = prior.draw(1000, 0)
    assert prior.names == ("a", "b") and np.array_equal(values, prior.draw(1000, 0))
    assert not np.array_equal(values, prior.draw(1000, 1))
    np.testing.assert_allclose(values.mean(axis=0), [1, 3], atol=0.01)  # independent draws are off by .06
    exact = stats.norm(1, 2).logpdf(values[:, 0]) + stats.gamma(3).logpdf(values[:, 1])
    np.testing.assert_allclose(prior.log_density(values), exact)
    assert prior.log_density(np.array([[0.0, -1.0]]))[0] == -np.inf


def test_a_density_fitted_to_draws():
    """Of correlated log-normals, which a change of scale makes Gaussian: within a tenth where the draws are."""
    rng, covariance = np.random.default_rng(0), np.array([[1.0, 0.7], [0.7, 1.0]])
    fitted = FittedDensity(np.exp(rng.multivariate_normal([0, 0], covariance, 2**14)))
    logs = rng.multivariate_normal([0, 0], covariance, 400)
    exact = stats.multivariate_normal([0, 0], covariance).logpdf(logs) - logs.sum(axis=1)
    error = fitted(np.exp(logs)) - exact
    inner = np.abs(logs).max(axis=1) < 2
    assert np.sqrt(np.mean(error[inner] ** 2)) < 0.1
    assert fitted(np.array([[-0.1, 1.0], [1.0, 1e4]])).tolist() == [-np.inf, -np.inf]


def test_a_function_with_names_and_a_density():
    def draw(n, random_state):
        return random_state.normal(size=(n, 2))

    draw.names, draw.logpdf = ("x", "y"), lambda values: -0.5 * np.square(values).sum(axis=1)
    prior = prior_of(draw)
    assert prior.names == ("x", "y") and prior.log_density(np.ones((1, 2))) == [-1.0]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (None, "prior must be a function .*, got NoneType"),
        ([], "per parameter, got none"),
        ([stats.poisson(3)], "frozen continuous distribution .* got rv_discrete_frozen for 'parameter_0'"),
        ({"a": 3.0}, "got float for 'a'"),
        (lambda n, random_state: np.zeros(n), r"must return \(2, d\) draws for n = 2, got shape \(2,\)"),
        (lambda n, random_state: np.full((n, 1), np.nan), "contains nan"),
        (lambda n, random_state: np.ones((n, 2)), r"prior must draw different points, got 9 times \[1.0, 1.0\]"),
    ],
)
def test_what_is_no_prior(given, said):
    with pytest.raises(ValueError, match=said):
        checked_draws(prior_of(given), 9, 0)
