"""Information gain by each of its routes, against integration, enumeration and closed forms."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import norm

from adaptive import scorers
from adaptive.potentials import BernoulliLogit, BernoulliProbit, Gaussian, Laplace, Poisson
from adaptive.predictive import GaussianProjections, MissingField, StatedPredictive, WeightedDraws
from tests.culprits import naming


def by_integration(likelihood, outcomes, mean, variance):
    """Mutual information of outcome and projection on a fine grid of both."""
    s = mean + np.sqrt(variance) * np.linspace(-10, 10, 8001)
    prior = norm.pdf(s, mean, np.sqrt(variance))
    prior /= prior.sum()
    table = np.exp([likelihood.log_density(s, y) for y in outcomes])
    marginal = table @ prior
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = np.where(table > 0, table * np.log(table / marginal[:, None]), 0.0)
    return float((terms @ prior).sum())


MOMENTS = [(0.0, 1.0), (1.5, 0.3), (-3.0, 4.0), (0.2, 30.0), (6.0, 0.01)]


@pytest.mark.parametrize("likelihood", [BernoulliLogit(), BernoulliProbit()], ids=lambda family: family.name)
@pytest.mark.parametrize(("mean", "variance"), MOMENTS)
def test_quadrature_route_of_two_classes(likelihood, mean, variance):
    belief = StatedPredictive(mean=np.array([mean]), variance=np.array([variance]), likelihood=likelihood)
    expected = by_integration(likelihood, [-1, 1], mean, variance)
    assert scorers.information_gain(belief)[0] == pytest.approx(expected, abs=2e-8)


@pytest.mark.parametrize(("mean", "variance"), [(0.0, 0.5), (2.0, 0.2), (-2.0, 1.0)])
def test_quadrature_route_of_counts(mean, variance):
    belief = StatedPredictive(mean=np.array([mean]), variance=np.array([variance]), likelihood=Poisson())
    expected = by_integration(Poisson(), range(400), mean, variance)
    assert scorers.information_gain(belief)[0] == pytest.approx(expected, abs=1e-6)


def test_quadrature_route_of_a_continuous_outcome():
    belief = StatedPredictive(mean=np.array([0.7]), variance=np.array([0.8]), likelihood=Laplace(0.5))
    s = 0.7 + np.sqrt(0.8) * np.linspace(-9, 9, 1201)
    y = np.linspace(-14, 15, 6001)
    prior = norm.pdf(s, 0.7, np.sqrt(0.8))
    prior /= prior.sum()
    density = np.exp(-abs(y[:, None] - s) / 0.5) / 1.0
    marginal = density @ prior
    step = y[1] - y[0]
    expected = -step * np.sum(marginal * np.log(marginal)) - (1 + np.log(2 * 0.5))
    assert scorers.information_gain(belief)[0] == pytest.approx(expected, abs=1e-4)


@settings(max_examples=30, deadline=None)
@given(variance=st.floats(1e-8, 1e8), noise=st.floats(1e-6, 1e6))
def test_gaussian_outcomes_teach_half_the_log_of_one_plus_signal_to_noise(variance, noise):
    belief = StatedPredictive(mean=np.zeros(1), variance=np.array([variance]), likelihood=Gaussian(noise))
    expected = 0.5 * np.log1p(variance / noise)
    assert scorers.information_gain(belief)[0] == pytest.approx(expected, rel=1e-12)
    difference = belief.outcome_entropy - belief.expected_entropy
    assert difference[0] == pytest.approx(expected, abs=1e-10)


def test_routes_of_a_gaussian_agree():
    rng = np.random.default_rng(0)
    root = rng.standard_normal((3, 3))
    belief = GaussianProjections.from_rows(
        rng.standard_normal((5, 3)), np.zeros(3), root=root, likelihood=Gaussian(0.3), target=np.eye(3)[:2]
    )
    joint = scorers.information_gain(belief)
    np.testing.assert_allclose(belief.outcome_entropy - belief.expected_entropy, joint, atol=1e-12)
    np.testing.assert_allclose(belief.target_entropy - belief.expected_target_entropy, joint, atol=1e-12)
    for i in range(5):  # by the definition: the entropy of the target before and after
        row = belief.target_covariance[i]
        after = belief.target_variance - np.outer(row, row) / (belief.variance[i] + 0.3)
        direct = 0.5 * (np.linalg.slogdet(belief.target_variance)[1] - np.linalg.slogdet(after)[1])
        assert joint[i] == pytest.approx(direct, abs=1e-12)


def test_draws_route_is_enumeration_and_agrees_with_what_ifs():
    rng = np.random.default_rng(1)
    weights, table = rng.dirichlet(np.ones(4)), rng.dirichlet(np.ones(3), size=(4, 5))
    belief = WeightedDraws(weights, table, [0, 1, 2])
    joint = weights[:, None, None] * table  # p(draw, outcome) of every candidate
    marginal = joint.sum(axis=0)
    expected = np.sum(joint * np.log(table / marginal), axis=(0, 2))
    np.testing.assert_allclose(scorers.information_gain(belief), expected, atol=1e-12)
    np.testing.assert_allclose(belief.target_entropy - belief.expected_target_entropy, expected, atol=1e-12)


def test_stated_log_determinants_of_blocks_are_halved():
    belief = StatedPredictive(2, log_determinant=lambda: (np.array([2.0, 4.0]), np.array([0.1, 0.1])))
    np.testing.assert_array_equal(scorers.information_gain(belief), [1.0, 2.0])


@pytest.mark.parametrize("likelihood", [BernoulliLogit(), BernoulliProbit()], ids=lambda family: family.name)
@settings(max_examples=50, deadline=None)
@given(mean=st.floats(-50, 50), log_variance=st.floats(-25, 15))
def test_never_negative_never_more_than_the_entropy(likelihood, mean, log_variance):
    belief = StatedPredictive(mean=np.array([mean]), variance=np.array([np.exp(log_variance)]), likelihood=likelihood)
    gain = scorers.information_gain(belief)[0]
    assert -1e-9 <= gain <= belief.outcome_entropy[0] + 1e-12 <= np.log(2) + 1e-9


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 1000), scale=st.floats(0.1, 10))
def test_permuting_candidates_and_rescaling_features_change_nothing(seed, scale):
    rng = np.random.default_rng(seed)
    rows, mean, root = rng.standard_normal((8, 3)), rng.standard_normal(3), rng.standard_normal((3, 3))
    gain = scorers.information_gain(GaussianProjections.from_rows(rows, mean, root=root, likelihood=BernoulliLogit()))
    order = rng.permutation(8)
    other = scorers.information_gain(
        GaussianProjections.from_rows(rows[order] * scale, mean / scale, root=root / scale, likelihood=BernoulliLogit())
    )
    np.testing.assert_allclose(other, gain[order], atol=1e-9)


def test_a_missing_field_is_named_with_scorer_and_predictive():
    with pytest.raises(MissingField, match="information_gain needs expected_entropy, which StatedPredictive does not"):
        scorers.information_gain(StatedPredictive(probabilities=[[0.5, 0.5]]))


def test_an_information_that_its_fields_make_negative_is_refused_by_name():
    belief = StatedPredictive(outcome_entropy=np.array([0.7, 0.2]), expected_entropy=np.array([0.1, 0.3]))
    with pytest.raises(
        ValueError, match="information_gain cannot be negative.*outcome_entropy 0.2 and expected_entropy"
    ):
        scorers.information_gain(belief)
    by_determinant = StatedPredictive(1, log_determinant=lambda: (np.array([-1.0]), np.array([0.01])))
    for name in ("information_gain", "d_optimality"):
        with naming(name), pytest.raises(ValueError, match=f"{name} cannot be negative.*log_determinant -1 "):
            scorers.get(name)(by_determinant, 0)
    by_what_ifs = StatedPredictive(1, target_entropy=1.0, expected_target_entropy=np.array([1.5]))
    with pytest.raises(ValueError, match="target_entropy 1 and expected_target_entropy 1.5 of candidate 0"):
        scorers.information_gain(by_what_ifs)
    growing = StatedPredictive(
        variance=[1.0], expected_variance=[1.5], target_covariance=[[1.0]], target_variance=[[2]]
    )
    for name in ("a_optimality", "d_optimality", "e_optimality"):
        with naming(name), pytest.raises(ValueError, match=f"{name} cannot be negative.*expected_variance 1.5"):
            scorers.get(name)(growing, 0)


def test_rounding_below_zero_is_zero():
    belief = StatedPredictive(outcome_entropy=np.array([0.7]), expected_entropy=np.array([0.7 + 1e-12]))
    assert scorers.information_gain(belief).tolist() == [0.0]
    estimated = StatedPredictive(1, log_determinant=lambda: (np.array([-0.02]), np.array([0.01])))
    assert scorers.information_gain(estimated).tolist() == [0.0]  # within its own error
