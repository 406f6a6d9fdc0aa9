"""Compiled ways of expectation propagation for logit labels against the engine, and cold fits at large prior scales."""

import numpy as np
import pytest
from sklearn.gaussian_process.kernels import RBF

from adaptive.estimators.gaussian_process.logit_latents import logit_latents
from adaptive.inference import GLM, evidence_sensitivity, expectation_propagation
from adaptive.inference.dense.logit_sequence import logit_sequence
from adaptive.potentials import BernoulliLogit, BernoulliProbit
from adaptive.potentials.logit_moments import FEW, moments, roughly

RNG = np.random.default_rng(0)
X = RNG.standard_normal((300, 5))
SIGNS = np.where(RNG.random(300) < 1 / (1 + np.exp(-4 * np.sin(X[:, 0]) - 2 * X[:, 1])), 1.0, -1.0)


def covariance(n, height, length=2.5):
    K = height**2 * RBF(length)(X[:n])
    return K + 1e-10 * height**2 * np.eye(n)


@pytest.mark.parametrize("height", [0.3, 3.0, 300.0])
def test_latents_of_a_search_are_those_of_the_engine(height):
    K, mean = covariance(40, height), np.linspace(-0.5, 0.5, 40)
    model = GLM(potentials=BernoulliLogit(SIGNS[:40]), prior_mean=mean, prior_covariance=K)
    exact = expectation_propagation(model, form="covariance", tol=1e-9)
    found = logit_latents(K, mean, SIGNS[:40], tol=1e-7, max_iter=100)
    assert found.log_evidence == pytest.approx(exact.log_evidence, abs=1e-7)
    np.testing.assert_allclose(found.mean, exact.mean, atol=1e-5 * height)
    rough = logit_latents(K, mean, SIGNS[:40], tol=1e-3, max_iter=100)
    assert rough.n_iter < found.n_iter and rough.log_evidence == pytest.approx(exact.log_evidence, abs=1e-3)
    fewer = logit_latents(K[:35, :35], mean[:35], SIGNS[:35], tol=1e-7, max_iter=100)
    again = logit_latents(K, mean, SIGNS[:40], tol=1e-7, max_iter=100, start=fewer.sites)
    assert again.log_evidence == pytest.approx(exact.log_evidence, abs=1e-7)
    assert logit_latents(K, mean, SIGNS[:40], tol=1e-12, max_iter=1) is None


def test_slopes_of_the_evidence_are_those_of_the_engine():
    """Of 150 rows: their factor is inverted in three blocks."""
    K, mean = covariance(150, 20.0), np.linspace(-0.5, 0.5, 150)
    model = GLM(potentials=BernoulliLogit(SIGNS[:150]), prior_mean=mean, prior_covariance=K)
    by_entry, by_mean = evidence_sensitivity(model, expectation_propagation(model, form="covariance", tol=1e-9))
    found, slope = logit_latents(K, mean, SIGNS[:150], tol=1e-7, max_iter=100).sensitivity()
    np.testing.assert_allclose(slope, by_mean, atol=1e-5)
    np.testing.assert_allclose(0.5 * (found + found.T), by_entry, atol=1e-6)


def test_moments_by_few_nodes_are_those_by_many():
    c, v = RNG.normal(size=500), np.exp(RNG.uniform(np.log(1.0), np.log(1e6), 500))
    c, found = c * 2.0 * np.sqrt(v), np.empty((3, 500))
    roughly(c, v, FEW, found, 30.0)
    exact = np.array(moments(c, v, 1.0))
    np.testing.assert_allclose(found[0], exact[0], atol=2e-9, rtol=1e-13)
    np.testing.assert_allclose((found[1] - exact[1]) / np.sqrt(exact[2]), 0.0, atol=2e-9)
    np.testing.assert_allclose(found[2], exact[2], rtol=2e-9)


def test_a_sequence_of_updates_ends_at_the_same_sites():
    K = covariance(30, 5.0)
    exact = expectation_propagation(GLM(potentials=BernoulliLogit(SIGNS[:30]), prior_covariance=K), tol=1e-9)
    pi, nu = np.zeros((2, 30))
    for _ in range(12):
        joint = np.linalg.inv(np.linalg.inv(K) + np.diag(pi))
        pi, nu = logit_sequence(joint, joint @ nu, SIGNS[:30], pi, nu, RNG.permutation(30))
    np.testing.assert_allclose(pi, exact.sites[0], rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(nu, exact.sites[1], rtol=1e-4, atol=1e-6)
    by_engine = expectation_propagation(
        GLM(potentials=BernoulliLogit(SIGNS[:30]), prior_covariance=K), update="sequential", tol=1e-9
    )
    assert by_engine.log_evidence == pytest.approx(exact.log_evidence, abs=1e-8) and by_engine.n_iter < 15


@pytest.mark.parametrize("potential", [BernoulliLogit, BernoulliProbit])
@pytest.mark.parametrize(("height", "length"), [(30.0, 10.0), (3000.0, 10.0), (316.0, 3.0)])
def test_a_cold_fit_at_a_large_scale_settles_in_parallel_sweeps(potential, height, length):
    K = covariance(300, height, length)
    found = expectation_propagation(
        GLM(potentials=potential(SIGNS), prior_covariance=K), form="covariance", tol=1e-4, random_state=0
    )
    assert found.converged and found.n_iter < 20  # the sites of the mode stand in where sweeps wander
