"""A-, D- and E-optimality against dense algebra, and the toys of Bayesian against classical design."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adaptive import scorers
from adaptive.potentials import BernoulliLogit, Gaussian
from adaptive.predictive import GaussianProjections, MissingField, StatedPredictive


def belief_of(likelihood, seed=0, m=12, n=4, target=None):
    rng = np.random.default_rng(seed)
    return GaussianProjections.from_rows(
        rng.standard_normal((m, n)), rng.standard_normal(n), root=rng.standard_normal((n, n)), likelihood=likelihood,
        target=None if target is None else rng.standard_normal((target, n)),
    )  # fmt: skip


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 10**6), target=st.sampled_from([None, 1, 2, 6]))
def test_gaussian_outcomes_by_dense_algebra(seed, target):
    belief = belief_of(Gaussian(0.5), seed, target=target)
    covariance = belief.target_variance
    for i, c in enumerate(belief.target_covariance):
        after = covariance - np.outer(c, c) / (belief.variance[i] + 0.5)
        before_values, after_values = np.linalg.eigvalsh(covariance), np.linalg.eigvalsh(after)
        assert scorers.a_optimality(belief)[i] == pytest.approx(before_values.sum() - after_values.sum(), rel=1e-8)
        drop = before_values[-1] - after_values[-1]
        assert scorers.e_optimality(belief)[i] == pytest.approx(drop, rel=1e-8, abs=1e-10 * before_values[-1])
        if target != 6:  # six inputs of four unknowns: the determinant is zero before and after
            log_ratio = np.linalg.slogdet(covariance)[1] - np.linalg.slogdet(after)[1]
            assert scorers.d_optimality(belief)[i] == pytest.approx(0.5 * log_ratio, rel=1e-7)


@pytest.mark.parametrize("target", [None, 2])
def test_classes_by_the_mean_covariance_over_given(target):
    belief = belief_of(BernoulliLogit(), m=4, target=target)
    covariance = belief.target_variance
    for i in range(4):
        after = sum(p * scenario.target_variance for p, scenario in belief.scenarios(i))
        assert scorers.a_optimality(belief)[i] == pytest.approx(np.trace(covariance - after), rel=1e-8)
        drop = np.linalg.eigvalsh(covariance)[-1] - np.linalg.eigvalsh(after)[-1]
        assert scorers.e_optimality(belief)[i] == pytest.approx(drop, rel=1e-7, abs=1e-10)
        log_ratio = np.linalg.slogdet(covariance)[1] - np.linalg.slogdet(after)[1]
        assert scorers.d_optimality(belief)[i] == pytest.approx(0.5 * log_ratio, rel=1e-7)


def test_d_optimality_is_information_gain_for_gaussian_outcomes():
    for target in (None, 2):
        belief = belief_of(Gaussian(2.0), target=target)
        np.testing.assert_allclose(scorers.d_optimality(belief), scorers.information_gain(belief), atol=1e-12)


def test_an_eigenvalue_of_multiplicity_two_cannot_be_lowered_by_one_measurement():
    belief = GaussianProjections.from_rows(
        np.eye(3), np.zeros(3), covariance=np.array([2.0, 2.0, 1.0]), likelihood=Gaussian(0.1)
    )
    np.testing.assert_allclose(scorers.e_optimality(belief), 0.0, atol=1e-14)


@settings(max_examples=20, deadline=None)
@given(scale=st.floats(1e-3, 1e3))
def test_a_and_e_scale_with_the_square_of_the_target_and_d_not_at_all(scale):
    small, large = (
        GaussianProjections.from_rows(
            np.array([[1.0, 0.2], [0.3, 2.0]]) / s, np.zeros(2), root=s * np.array([[1.0, 0.0], [0.5, 0.3]]),
            likelihood=BernoulliLogit(),
        )
        for s in (1.0, scale)
    )  # fmt: skip
    np.testing.assert_allclose(scorers.a_optimality(large), scale**2 * scorers.a_optimality(small), rtol=1e-7)
    np.testing.assert_allclose(scorers.e_optimality(large), scale**2 * scorers.e_optimality(small), rtol=1e-7)
    np.testing.assert_allclose(scorers.d_optimality(large), scorers.d_optimality(small), rtol=1e-7)


@pytest.mark.parametrize("width", [0.1, 1.0, 10.0])
def test_the_bayesian_toy_of_two_unknowns(width):
    """Spec 8: X = [1, 1], B = [1, 0] with site width gamma; the best direction is proportional to [-xi, 1]."""
    noise = 0.7
    precision = (np.ones((2, 2)) + np.diag([1 / width, 0.0])) / noise
    angles = np.linspace(0, np.pi, 20_000, endpoint=False)
    rows = np.column_stack([np.cos(angles), np.sin(angles)])
    belief = GaussianProjections.from_rows(
        rows, np.zeros(2), covariance=np.linalg.inv(precision), likelihood=Gaussian(noise)
    )
    best = rows[np.argmax(scorers.d_optimality(belief))]
    xi = (np.sqrt(width**-2 + 4) - 1 / width) / 2
    expected = np.array([-xi, 1.0]) / np.hypot(xi, 1.0)
    assert abs(best @ expected) == pytest.approx(1.0, abs=1e-6)


def test_missing_fields_are_named():
    belief = StatedPredictive(mean=np.zeros(1), variance=np.ones(1), likelihood=BernoulliLogit())
    assert scorers.d_optimality(belief)[0] > 0
    with pytest.raises(MissingField, match="a_optimality needs target_covariance, which StatedPredictive does not"):
        scorers.a_optimality(belief)
    with pytest.raises(MissingField, match="e_optimality needs target_covariance"):
        scorers.e_optimality(belief)
