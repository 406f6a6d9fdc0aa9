"""The tilted bound of a softmax is a bound, at any Gaussian and any tilt, and never above Boehning's."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import logsumexp, softmax

from adaptive.potentials.softmax import contrasts, softmax_bound, softmax_mode


def gaussians(seed, m, c, spread):
    rng = np.random.default_rng(seed)
    root = rng.standard_normal((m, c, c)) * spread
    return rng.standard_normal((m, c)) * 3, root @ root.transpose(0, 2, 1)


def expected_log_sum_exp(mean, covariance, nodes=80_000, seed=0):
    """By antithetic draws; with the standard error."""
    rng = np.random.default_rng(seed)
    values, vectors = np.linalg.eigh(covariance)
    noise = rng.standard_normal((nodes // 2, len(mean))) @ (vectors * np.sqrt(np.maximum(values, 0))).T
    pairs = 0.5 * (logsumexp(mean + noise, axis=1) + logsumexp(mean - noise, axis=1))
    return pairs.mean(), pairs.std() / np.sqrt(len(pairs))


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10_000), st.integers(2, 8), st.floats(0.01, 4.0))
def test_it_is_a_bound_of_the_expectation(seed, c, spread):
    mean, covariance = gaussians(seed, 1, c, spread)
    exact, error = expected_log_sum_exp(mean[0], covariance[0])
    assert softmax_bound(mean, covariance).value[0] >= exact - 5 * error
    rough = softmax_bound(mean, covariance, start=np.full((1, c), 1 / c), tol=1e9)  # it is one at any tilt
    assert rough.value[0] >= softmax_bound(mean, covariance).value[0] - 1e-9


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10_000), st.integers(2, 12), st.floats(0.01, 4.0))
def test_it_is_never_above_boehnings_and_tight_where_nothing_is_unknown(seed, c, spread):
    mean, covariance = gaussians(seed, 5, c, spread)
    trace = np.einsum("ikk->i", covariance) - covariance.sum(axis=(1, 2)) / c
    boehning = logsumexp(mean, axis=1) + 0.25 * trace
    assert np.all(softmax_bound(mean, covariance).value <= boehning + 1e-9 * (1 + np.abs(boehning)))
    known = softmax_bound(mean, np.zeros_like(covariance))
    np.testing.assert_allclose(known.value, logsumexp(mean, axis=1), rtol=1e-12)
    np.testing.assert_allclose(known.tilt, softmax(mean, axis=1), atol=1e-12)
    np.testing.assert_allclose(known.curvature, softmax_mode(mean, covariance).curvature, atol=1e-12)


def test_slopes_are_those_of_the_bound():
    mean, covariance = gaussians(1, 4, 4, 0.8)
    bound = softmax_bound(mean, covariance, tol=1e-12)
    rng = np.random.default_rng(2)
    direction, turn = rng.standard_normal(mean.shape), rng.standard_normal(covariance.shape)
    turn = turn + turn.transpose(0, 2, 1)
    step = 1e-5
    for change, slope in [
        ((direction, 0 * turn), np.einsum("ik,ik->i", bound.tilt, direction)),
        ((0 * direction, turn), 0.5 * np.einsum("ikl,ikl->i", bound.curvature, turn)),
    ]:
        above = softmax_bound(mean + step * change[0], covariance + step * change[1], tol=1e-12).value
        below = softmax_bound(mean - step * change[0], covariance - step * change[1], tol=1e-12).value
        np.testing.assert_allclose((above - below) / (2 * step), slope, rtol=1e-6, atol=1e-8)


def test_the_tilt_is_the_fixed_point():
    mean, covariance = gaussians(3, 20, 6, 3.0)
    tilt = softmax_bound(mean, covariance).tilt
    half = mean + 0.5 * np.einsum("ikk->ik", covariance)
    np.testing.assert_allclose(tilt, softmax(half - np.einsum("ikl,il->ik", covariance, tilt), axis=1), atol=1e-7)


@pytest.mark.parametrize("c", [2, 5, 20])
def test_contrasts_are_orthonormal_and_add_up_to_zero(c):
    basis = contrasts(c)
    np.testing.assert_allclose(basis.T @ basis, np.eye(c - 1), atol=1e-14)
    np.testing.assert_allclose(basis.sum(axis=0), 0.0, atol=1e-14)
