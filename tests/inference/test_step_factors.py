"""Compiled step factors: EP of the GLM, exact where there is one, probabilities of orders and orthants."""

import warnings
from math import factorial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning

from adaptive.inference import GLM, expectation_propagation, step_factors
from adaptive.potentials import Step


def problem(seed, d=4, n=3):
    rng = np.random.default_rng(seed)
    root = rng.standard_normal((d, d))
    return rng.standard_normal(d), root @ root.T + 0.3 * np.eye(d), rng.standard_normal((n, d)), rng.normal(size=n)


@pytest.mark.parametrize("seed", range(5))
def test_equals_expectation_propagation_of_the_model(seed):
    mean, covariance, directions, offsets = problem(seed)
    log_z, m, V = step_factors(mean, covariance, directions, offsets, tol=1e-13, max_iter=500)
    model = GLM(B=directions, potentials=Step(offsets), prior_mean=mean, prior_covariance=covariance)
    posterior = expectation_propagation(model, tol=1e-13, max_iter=500)
    np.testing.assert_allclose(m, posterior.mean, rtol=0, atol=1e-10)
    np.testing.assert_allclose(V, posterior.covariance(), rtol=0, atol=1e-10)
    assert log_z == pytest.approx(posterior.log_evidence, abs=1e-10)


def test_orders_and_orthants():
    for d in (2, 3, 4):
        chain = np.eye(d)[1:] - np.eye(d)[:-1]
        assert np.exp(step_factors(np.zeros(d), np.eye(d), chain)[0]) == pytest.approx(1 / factorial(d), rel=5e-3)
    correlation = 0.5  # P(x > 0, y > 0) = 1/4 + arcsin(rho) / (2 pi)
    log_z, _, _ = step_factors(np.zeros(2), [[1, correlation], [correlation, 1]], np.eye(2))
    assert np.exp(log_z) == pytest.approx(0.25 + np.arcsin(correlation) / (2 * np.pi), rel=5e-3)


def test_a_batch_is_its_problems():
    parts = [problem(seed) for seed in range(3)]
    together = step_factors(*(np.stack(column) for column in zip(*parts, strict=True)))
    for j, part in enumerate(parts):
        for one, all_of_them in zip(step_factors(*part), together, strict=True):
            np.testing.assert_array_equal(one, all_of_them[j])


@given(st.floats(-200, 40), st.floats(1e-3, 1e3))
def test_one_factor_is_exact_far_out(distance, scale):
    """Against the moments of the potential itself, with everything in units of ``scale``."""
    mean = distance * scale
    log_z, m, V = step_factors([mean], [[scale**2]], [[1.0]])
    log_mass, centre, spread = Step().tilted_moments(mean, scale**2)
    assert log_z == pytest.approx(float(log_mass), rel=1e-9, abs=1e-12)
    assert m[0] == pytest.approx(float(centre), rel=1e-6) and V[0, 0] == pytest.approx(float(spread), rel=1e-4)


def test_shift_and_scale():
    mean, covariance, directions, offsets = problem(7)
    log_z, m, V = step_factors(mean, covariance, directions, offsets)
    shifted = step_factors(mean + 2.0, covariance, directions, offsets + 2.0 * directions.sum(axis=1))
    np.testing.assert_allclose(shifted[1], m + 2.0, atol=1e-8)
    scaled = step_factors(3 * mean, 9 * covariance, 5 * directions, 15 * offsets)
    np.testing.assert_allclose(scaled[0], log_z, atol=1e-8)
    np.testing.assert_allclose(scaled[2], 9 * V, atol=1e-7)


def test_bad_input_and_too_few_sweeps():
    with pytest.raises(ValueError, match="may each have one more axis"):
        step_factors(np.zeros(2), np.eye(2), np.ones(2))
    with pytest.raises(ValueError, match="covariance"):
        step_factors(np.zeros(2), np.eye(3), np.ones((1, 2)))
    with pytest.warns(ConvergenceWarning, match="did not converge in 1 sweeps"):
        step_factors(*problem(0), max_iter=1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        step_factors(*problem(0))
