"""The compiled loop over priors against the general engine, one prior at a time."""

import numpy as np
import pytest

from adaptive.estimators.linear.logit_nodes import logit_nodes
from adaptive.inference import GLM, expectation_propagation
from adaptive.potentials import BernoulliLogit

SCALES = np.exp(0.75 * np.arange(-4, 5))


@pytest.mark.parametrize(("m", "n"), [(1, 1), (12, 3), (60, 8), (10, 25)])
@pytest.mark.parametrize("warm", [False, True])
def test_sites_and_evidence_are_those_of_the_engine(m, n, warm):
    rng = np.random.default_rng(m + n)
    features = rng.standard_normal((m, n))
    features[m // 2] = 0.0 if m > 1 else 1.0
    signs = np.where(rng.random(m) < 0.5, 1.0, -1.0)
    variances = np.multiply.outer(SCALES**2, np.ones(n))
    start = rng.random((2, len(SCALES), m)) * [[[0.1]], [[0.05]]] if warm else np.zeros((2, len(SCALES), m))
    found = logit_nodes(features, signs, variances, *start, tol=1e-7, max_iter=200)
    assert found.converged.all()
    for k, variance in enumerate(variances):
        model = GLM(B=features, potentials=BernoulliLogit(signs), prior_covariance=variance)
        posterior = expectation_propagation(model, tol=1e-8)
        np.testing.assert_allclose(found.pi[k], posterior.sites[0], atol=1e-5)
        np.testing.assert_allclose(found.nu[k], posterior.sites[1], atol=1e-5)
        assert found.log_evidence[k] == pytest.approx(posterior.log_evidence, abs=1e-7)


def test_what_does_not_settle_says_so():
    rng = np.random.default_rng(0)
    features, signs = rng.standard_normal((30, 4)), np.where(np.arange(30) % 3, 1.0, -1.0)
    found = logit_nodes(features, signs, np.ones((1, 4)), *np.zeros((2, 1, 30)), tol=1e-9, max_iter=2)
    assert not found.converged[0] and np.isnan(found.log_evidence[0])
