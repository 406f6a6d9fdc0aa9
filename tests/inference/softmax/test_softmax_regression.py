"""Softmax regression: the bound is below the evidence and never falls, Laplace's method is at the mode."""

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import logsumexp, softmax
from sklearn.exceptions import ConvergenceWarning

from adaptive.inference.softmax import softmax_posterior
from adaptive.inference.softmax.class_blocks import ClassBlocks, WholeMatrix
from adaptive.inference.softmax.softmax_posterior import SoftmaxPosterior, SoftmaxSites
from adaptive.inference.softmax.softmax_regression import METHODS, softmax_regression
from adaptive.potentials.softmax import contrasts


def problem(seed=0, m=25, r=2, c=3):
    rng = np.random.default_rng(seed)
    features = rng.standard_normal((m, r)) * 1.5
    scores = features @ rng.standard_normal((r, c)) * 1.5
    return features, np.argmax(scores + rng.gumbel(size=scores.shape), axis=1), c


def log_likelihood(beta, features, codes, c):
    """Of weights (..., (c - 1) r)."""
    weights = beta.reshape(*beta.shape[:-1], c - 1, features.shape[1])
    scores = np.einsum("ck,...kr,mr->...mc", contrasts(c), weights, features)
    return np.take_along_axis(scores, np.broadcast_to(codes, scores.shape[:-1])[..., None], -1)[..., 0].sum(-1) - (
        logsumexp(scores, axis=-1).sum(-1)
    )


def evidence_by_quadrature(features, codes, c, n=61, reach=7.0):
    """One feature, three classes: two unknowns."""
    z = np.linspace(-reach, reach, n)
    grid = np.stack(np.meshgrid(z, z, indexing="ij"), axis=-1).reshape(-1, 2)
    logs = log_likelihood(grid, features, codes, c) - 0.5 * np.sum(grid**2, axis=1) - np.log(2 * np.pi)
    return logsumexp(logs) + 2 * np.log(z[1] - z[0]), grid, logs


@pytest.mark.parametrize("m", [1, 6, 40])
def test_the_evidence_is_bounded_and_laplaces_is_near(m):
    features, codes, c = problem(1, m, r=1)
    exact, grid, logs = evidence_by_quadrature(features, codes, c)
    bound = softmax_regression(features, codes, c, tol=1e-12)
    mode = softmax_regression(features, codes, c, method="laplace_approximation", tol=1e-14)
    assert bound.evidence_kind == "lower_bound" and mode.evidence_kind == "approximation"
    assert exact - 1.0 < bound.log_evidence <= exact
    assert mode.log_evidence == pytest.approx(exact, abs=0.5)
    weights = np.exp(logs - logsumexp(logs))
    np.testing.assert_allclose(bound.mean, weights @ grid, atol=0.15)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("scale", [0.2, 3.0])
def test_the_objective_never_rises(method, scale):
    features, codes, c = problem(2, m=30, r=6, c=5)
    posterior = softmax_regression(scale * features, codes, c, method=method, tol=1e-7)
    assert posterior.converged and posterior.n_iter == len(posterior.objective_trace)
    assert np.diff(posterior.objective_trace).max(initial=0.0) <= 1e-9 * abs(posterior.objective_trace[0])


@pytest.mark.parametrize("scale", [1.0, 4.0])
def test_a_wide_prior_is_settled_within_a_hundred_steps_where_the_bound_ends(scale):
    rng = np.random.default_rng(3)
    features, c = scale * rng.standard_normal((40, 20)), 6
    codes = np.argmax(features @ rng.standard_normal((20, c)) + rng.gumbel(size=(40, c)), axis=1)
    found = softmax_regression(features, codes, c)
    least = softmax_regression(features, codes, c, max_iter=5000, tol=1e-9).log_evidence
    assert found.converged
    assert least - found.log_evidence < 0.05 * abs(least)


def test_laplaces_method_is_at_the_mode():
    features, codes, c = problem(3)
    posterior = softmax_regression(features, codes, c, method="laplace_approximation", tol=1e-14)
    found = minimize(lambda b: 0.5 * b @ b - log_likelihood(b, features, codes, c), np.zeros(4), tol=1e-10)
    np.testing.assert_allclose(posterior.mean, found.x, atol=1e-4)
    assert posterior.objective_trace[-1] == pytest.approx(found.fun, rel=1e-9)


@pytest.mark.parametrize("method", METHODS)
def test_a_weight_is_so_many_copies(method):
    features, codes, c = problem(4)
    weights = np.arange(len(codes)) % 3
    copies = np.repeat(np.arange(len(codes)), weights)
    a = softmax_regression(features, codes, c, weights=weights.astype(float), method=method, tol=1e-12)
    b = softmax_regression(features[copies], codes[copies], c, method=method, tol=1e-12)
    np.testing.assert_allclose(a.mean, b.mean, atol=1e-5)
    np.testing.assert_allclose(a.covariance(), b.covariance(), atol=1e-5)
    assert a.log_evidence == pytest.approx(b.log_evidence, abs=1e-7)


def test_renaming_classes_changes_nothing_but_names():
    features, codes, c = problem(5, m=40, r=3, c=4)
    order = np.array([2, 0, 3, 1])
    a = softmax_regression(features, codes, c, tol=1e-12)
    b = softmax_regression(features, order[codes], c, tol=1e-12)
    first, second = contrasts(c) @ a.weights, contrasts(c) @ b.weights
    np.testing.assert_allclose(first, second[order], atol=1e-5)
    assert a.log_evidence == pytest.approx(b.log_evidence, abs=1e-8)


def test_a_warm_start_ends_where_a_cold_one_does_and_sooner():
    features, codes, c = problem(6, m=60, r=5, c=4)
    earlier = softmax_regression(features[:-1], codes[:-1], c, tol=1e-10)
    cold = softmax_regression(features, codes, c, tol=1e-10)
    warm = softmax_regression(features, codes, c, tol=1e-10, warm_start=earlier)
    assert warm.n_iter < cold.n_iter
    assert warm.log_evidence == pytest.approx(cold.log_evidence, abs=1e-6)
    np.testing.assert_allclose(warm.mean, cold.mean, atol=1e-3)


def test_moments_and_draws_are_those_of_the_gaussian():
    features, codes, c = problem(7)
    posterior = softmax_regression(features, codes, c)
    mean, covariance = posterior.moments(features[:3])
    for i in range(3):
        loading = np.kron(np.eye(c - 1), features[i])
        np.testing.assert_allclose(mean[i], loading @ posterior.mean, atol=1e-12)
        np.testing.assert_allclose(covariance[i], loading @ posterior.covariance() @ loading.T, atol=1e-12)
    draws = posterior.sample(40_000, 0)
    np.testing.assert_allclose(np.cov(draws.T), posterior.covariance(), atol=0.02)


def test_what_cannot_be_is_said():
    features, codes, c = problem(8)
    with pytest.warns(ConvergenceWarning, match="has not converged after 1 iterations"):
        softmax_regression(features, codes, c, max_iter=1, tol=0.0)
    with pytest.raises(ValueError, match="joint posterior of 3 classes has 8002 unknowns"):
        softmax_regression(np.zeros((1, 4001)), np.zeros(1, int), c)
    posterior = softmax_regression(features, codes, c)
    assert "lower_bound" in repr(posterior) and isinstance(posterior, SoftmaxPosterior)


@pytest.mark.parametrize("shape", [(1, 1, 3), (8, 8, 2), (20, 19, 6), (30, 12, 8)])
@pytest.mark.parametrize("scale", [0.1, 3.0])
def test_the_algebra_by_class_is_that_of_the_whole_matrix(shape, scale):
    m, r, c = shape
    rng = np.random.default_rng(m)
    features = scale * rng.standard_normal((m, r))
    probabilities = softmax(3.0 * rng.standard_normal((m, c)), axis=1)
    masses = rng.integers(0, 3, m)[:, None] * probabilities  # rows of weight 0, 1 and 2
    curvature = probabilities[:, :, None] * (np.eye(c) - probabilities[:, None, :])
    precision = masses.sum(axis=1)[:, None, None] * (contrasts(c).T @ curvature @ contrasts(c))
    shift = rng.standard_normal((m, c - 1))
    by_class, whole = ClassBlocks(features, masses, shift), WholeMatrix(features, precision, shift)
    assert by_class.half_log_determinant == pytest.approx(whole.half_log_determinant, rel=1e-10, abs=1e-10)
    np.testing.assert_allclose(by_class.weights, whole.weights, rtol=1e-8, atol=1e-8)
    np.testing.assert_allclose(by_class.blocks, whole.blocks, rtol=1e-8, atol=1e-10)
    others = rng.standard_normal((5, r))
    np.testing.assert_allclose(by_class.variance(others), whole.variance(others), rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize("method", METHODS)
def test_a_fit_with_few_rows_is_the_same_by_class(method, monkeypatch):
    features, codes, c = problem(9, m=15, r=15, c=6)
    features = 0.3 * features
    by_class = softmax_regression(features, codes, c, method=method, tol=1e-10)
    assert isinstance(by_class._gaussian, ClassBlocks)
    monkeypatch.setattr(softmax_posterior, "_WORTH", np.inf)
    whole = softmax_regression(features, codes, c, method=method, tol=1e-10)
    assert isinstance(whole._gaussian, WholeMatrix) and whole.n_iter == by_class.n_iter
    assert by_class.log_evidence == pytest.approx(whole.log_evidence, rel=1e-10)
    assert by_class.determined == pytest.approx(whole.n - np.trace(whole.covariance()), rel=1e-8)
    np.testing.assert_allclose(by_class.mean, whole.mean, atol=1e-8)
    np.testing.assert_allclose(by_class.covariance(), whole.covariance(), atol=1e-8)


def test_where_the_difference_has_no_figures_left_the_whole_matrix_is_taken():
    sites = SoftmaxSites(np.eye(2)[None] * 1e18 / 3, np.zeros((1, 2)), np.full((1, 3), 1e18 / 3))
    posterior = SoftmaxPosterior(np.ones((1, 1)), sites)
    assert isinstance(posterior._gaussian, WholeMatrix)
    np.testing.assert_allclose(posterior.covariance(), np.eye(2) * 3e-18, atol=1e-24)
