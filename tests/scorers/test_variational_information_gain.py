"""The source's score, against the minimisation of its criterion and the divergence of two Gaussians."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar

from adaptive import scorers
from adaptive.potentials import BernoulliLogit, BernoulliProbit, Gaussian
from adaptive.predictive import MissingField, StatedPredictive


def reference(mean, variance):
    """Spec 8.1 with sigma = tau = 1: minimise phi over ln gamma, then the divergence of the updated Gaussian."""
    total = 0.0
    belief = StatedPredictive(mean=np.array([mean]), variance=np.array([variance]), likelihood=BernoulliLogit())
    for c, probability in zip((-1, 1), belief.probabilities[0], strict=True):
        tilt = c / 2

        def phi(log_width, tilt=tilt, c=c):
            g = np.exp(log_width)
            k = 1 + variance / g
            height = BernoulliLogit(np.array([c])).height(np.array([g]))[0]
            return height + np.log(k) - (mean + variance * tilt) ** 2 / (variance * k)

        grid = np.linspace(np.log(4.0) - 1, np.log(4 * (2 + abs(mean) + variance)), 400)
        start = grid[np.argmin([phi(x) for x in grid])]
        g = np.exp(
            minimize_scalar(phi, bounds=(start - 0.2, start + 0.2), options={"xatol": 1e-11}, method="bounded").x
        )
        after_variance = variance / (1 + variance / g)
        after_mean = after_variance * (mean / variance + tilt)
        divergence = 0.5 * (
            after_variance / variance + (after_mean - mean) ** 2 / variance - 1 - np.log(after_variance / variance)
        )
        total += probability * divergence
    return total


@pytest.mark.parametrize(("mean", "variance"), [(0.0, 1.0), (0.3, 0.01), (2.0, 5.0), (-4.0, 1.0), (1.0, 60.0)])
def test_it_is_the_divergence_at_the_best_bound(mean, variance):
    belief = StatedPredictive(mean=np.array([mean]), variance=np.array([variance]), likelihood=BernoulliLogit())
    assert scorers.variational_information_gain(belief)[0] == pytest.approx(reference(mean, variance), rel=1e-6)


def test_it_is_the_divergence_of_given_by_the_bound_and_close_to_the_exact_one_where_little_is_unknown():
    variance = np.geomspace(1e-6, 1e-2, 5)
    belief = StatedPredictive(mean=np.zeros(5), variance=variance, likelihood=BernoulliLogit())
    np.testing.assert_allclose(scorers.variational_information_gain(belief), variance / 8, rtol=2e-2)
    np.testing.assert_allclose(scorers.information_gain(belief)[2:], variance[2:] / 8, rtol=2e-2)


@settings(max_examples=50, deadline=None)
@given(mean=st.floats(-100, 100), log_variance=st.floats(-20, 12))
def test_it_is_finite_never_negative_and_symmetric(mean, log_variance):
    belief = StatedPredictive(
        mean=np.array([mean, -mean]), variance=np.full(2, np.exp(log_variance)), likelihood=BernoulliLogit()
    )
    values = scorers.variational_information_gain(belief)
    assert np.all(np.isfinite(values)) and np.all(values >= -1e-9)
    assert values[0] == pytest.approx(values[1], rel=1e-6, abs=1e-12)


def test_gaussian_outcomes_have_the_exact_gain():
    belief = StatedPredictive(mean=np.zeros(1), variance=np.ones(1), likelihood=Gaussian(1.0))
    np.testing.assert_allclose(scorers.variational_information_gain(belief), scorers.information_gain(belief))


def test_a_likelihood_without_the_bound_is_named():
    belief = StatedPredictive(mean=np.zeros(1), variance=np.ones(1), likelihood=BernoulliProbit())
    with pytest.raises(MissingField, match="super-Gaussian bound, got BernoulliProbit"):
        scorers.variational_information_gain(belief)
