"""The posterior's methods agree with its dense mean and covariance."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest
import scipy.sparse

from adaptive.inference import GLM, expectation_propagation, laplace_approximation, map_estimate
from adaptive.potentials import BernoulliLogit, Laplace

RNG = np.random.default_rng(0)
B, Y = RNG.normal(size=(4, 6)), np.array([1, -1, 1, 1])
NEW = RNG.normal(size=(3, 6))


@pytest.fixture(params=["precision", "covariance"])
def posterior(request):
    model = GLM(B=B, potentials=BernoulliLogit(Y), prior_covariance=np.linspace(0.5, 2, 6), prior_mean=np.ones(6))
    return expectation_propagation(model, form=request.param)


def test_moments_of_projections(posterior):
    V = posterior.covariance()
    assert V.shape == (6, 6)
    np.testing.assert_allclose(V, V.T, atol=1e-14)
    np.testing.assert_allclose(posterior.variances(), np.diag(V))
    value, error = posterior.variances(NEW, return_error=True)
    np.testing.assert_allclose(value, np.diag(NEW @ V @ NEW.T))
    np.testing.assert_array_equal(error, 0)
    for rows in (NEW, scipy.sparse.csr_array(NEW)):
        mean, variance = posterior.projection_moments(rows)
        np.testing.assert_allclose(mean, NEW @ posterior.mean)
        np.testing.assert_allclose(variance, np.diag(NEW @ V @ NEW.T))
        np.testing.assert_allclose(posterior.projection_covariance(rows, B), NEW @ V @ B.T, atol=1e-13)
        np.testing.assert_allclose(posterior.projection_covariance(rows), NEW @ V @ NEW.T, atol=1e-13)
        root = posterior.projection_root(rows)
        assert root is None or np.allclose(root @ root.T, NEW @ V @ NEW.T)
    np.testing.assert_allclose(posterior.covariance_operator() @ NEW.T, V @ NEW.T, atol=1e-13)


def test_information_gain(posterior):
    V = posterior.covariance()
    for rows in (NEW, np.vstack([NEW, NEW, NEW]), NEW[:1]):
        expected = 0.5 * np.linalg.slogdet(np.eye(len(rows)) + rows @ V @ rows.T / 0.3)[1]
        assert posterior.information_gain(rows, 0.3) == pytest.approx(expected)
    assert posterior.information_gain(NEW[0], 0.3) == pytest.approx(posterior.information_gain(NEW[:1], 0.3))
    two = posterior.information_gain(1j * NEW[0] + NEW[1], 0.3)
    assert two == pytest.approx(posterior.information_gain(NEW[[1, 0]], 0.3))
    with pytest.raises(ValueError, match="noise_variance must be > 0"):
        posterior.information_gain(NEW, 0.0)


def test_samples_are_seeded_and_have_the_moments(posterior):
    a, b = posterior.sample(5, random_state=3), posterior.sample(5, random_state=3)
    np.testing.assert_array_equal(a, b)
    draws = posterior.sample(40_000, random_state=0)
    np.testing.assert_allclose(draws.mean(0), posterior.mean, atol=0.05)
    np.testing.assert_allclose(np.cov(draws.T), posterior.covariance(), atol=0.05)


def test_wrong_rows_are_named(posterior):
    with pytest.raises(ValueError, match=r"rows must have shape \(any, 6\), got \(3, 5\)"):
        posterior.variances(NEW[:, :5])
    with pytest.raises(ValueError, match="rows contains nan"):
        posterior.variances(NEW * np.nan)
    with pytest.raises(ValueError, match="n must be an integer"):
        posterior.sample(2.5)


def test_covariance_is_refused_where_it_would_be_large():
    rows = scipy.sparse.random_array((5, 9000), density=0.01, random_state=0, format="csr")
    posterior = laplace_approximation(GLM(B=rows, potentials=BernoulliLogit([1, -1, 1, 1, -1]), prior_covariance=1.0))
    with pytest.raises(ValueError, match="covariance_operator"):
        posterior.covariance()
    assert posterior.variances().shape == (9000,)
    assert np.all(posterior.variances() <= 1 + 1e-12)


def test_a_point_estimate_has_no_variances():
    posterior = map_estimate(GLM(NEW, np.ones(3), potentials=Laplace(1.0)))
    assert np.isnan(posterior.log_evidence)
    assert posterior.evidence_kind == "none"
    for method in (posterior.variances, posterior.covariance, posterior.sample, posterior.covariance_operator):
        with pytest.raises(ValueError, match="map_estimate gives a point estimate"):
            method()


def test_copies_and_pickles(posterior):
    for other in (copy.deepcopy(posterior), pickle.loads(pickle.dumps(posterior))):
        np.testing.assert_array_equal(other.variances(NEW), posterior.variances(NEW))
        assert repr(other) == repr(posterior)
