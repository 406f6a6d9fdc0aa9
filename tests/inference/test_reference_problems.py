"""Values that the specifications give: two points of Gaussian process classification, and the n = 32 image problem."""

from __future__ import annotations

import numpy as np
import pytest

from adaptive.inference import (
    GLM,
    expectation_propagation,
    laplace_approximation,
    variational_bounds,
    variational_gaussian,
)
from adaptive.potentials import BernoulliLogit, BernoulliProbit


# ---------------------------------------------------------------------- nickisch-gpc.md 6: regime 2, two points
@pytest.mark.parametrize(
    ("family", "ep", "kl", "laplace", "bounds"),
    [
        (BernoulliProbit, -1.853917, -1.979201, -2.085767, -3.266794),
        (BernoulliLogit, -1.794534, -1.826005, -1.944161, -2.096814),
    ],
)
@pytest.mark.parametrize("form", ["covariance", "precision"])
def test_two_point_classification(family, ep, kl, laplace, bounds, form):
    x = np.array([np.sqrt(2), -np.sqrt(2)])
    K = np.exp(3.0) * np.exp(-0.5 * (x[:, None] - x) ** 2 / np.e**2)
    model = GLM(potentials=family([1, -1]), prior_covariance=K)
    assert expectation_propagation(model, tol=1e-9, form=form).log_evidence == pytest.approx(ep, abs=1e-6)
    assert variational_gaussian(model, form=form).log_evidence == pytest.approx(kl, abs=1e-6)
    assert laplace_approximation(model, form=form).log_evidence == pytest.approx(laplace, abs=1e-6)
    for bound in (1, 2):
        posterior = variational_bounds(model, tol=1e-13, logdet_bound=bound, form=form)
        assert posterior.log_evidence == pytest.approx(bounds, abs=1e-6)
        assert posterior.log_evidence <= posterior.jensen_evidence


def test_probit_bound_has_the_mode_of_laplace_and_unit_sites():
    """nickisch-gpc.md 3.4."""
    K = np.array([[2.0, 0.5], [0.5, 1.0]])
    model = GLM(potentials=BernoulliProbit([1, -1]), prior_covariance=K)
    posterior = variational_bounds(model, tol=1e-14)
    np.testing.assert_allclose(posterior.mean, laplace_approximation(model).mean, atol=1e-7)
    np.testing.assert_allclose(posterior.covariance(), np.linalg.inv(np.linalg.inv(K) + np.eye(2)), atol=1e-12)


def test_limits_of_kernels():
    """Scale to 0 or length to 0: Z = 2^-n; length to infinity: Z = E prod sig(y z) over one z (F.4, corrected)."""
    for family in (BernoulliLogit, BernoulliProbit):
        small = GLM(potentials=family([1, -1, 1]), prior_covariance=1e-10 * np.eye(3))
        independent = GLM(potentials=family([1, -1, 1]), prior_covariance=9.0 * np.eye(3))
        for model in (small, independent):
            assert expectation_propagation(model).log_evidence == pytest.approx(-3 * np.log(2), abs=1e-6)
    for y, value in (([1, 1], 0.3486), ([1, -1], 0.1514)):
        model = GLM(potentials=BernoulliLogit(y), prior_covariance=4.0 * np.ones((2, 2)))
        assert np.exp(expectation_propagation(model).log_evidence) == pytest.approx(value, rel=0.01)


# ---------------------------------------------------------------------- nickisch-adaptive-cs.md 16
@pytest.mark.parametrize("update", ["parallel", "sequential"])
def test_image_problem_by_fractional_ep(image, update):
    posterior = expectation_propagation(image.model(image.X, image.y), fraction=0.9, update=update, tol=1e-11)
    V = posterior.covariance()
    assert posterior.log_evidence - image.log_constant == pytest.approx(-40.40160242, abs=1e-7)
    assert np.linalg.norm(posterior.mean) == pytest.approx(3.26436412, abs=1e-6)
    assert np.linalg.norm(posterior.mean - image.u) == pytest.approx(1.91373950, abs=1e-6)
    picked = [0, 8, 16, 24]
    np.testing.assert_allclose(posterior.mean[picked], [0.4154683, 0.4521965, 0.5474489, 0.4718624], atol=1e-6)
    np.testing.assert_allclose(posterior.variances()[picked], [0.1229212, 0.0498216, 0.0501273, 0.0429500], atol=1e-6)
    assert posterior.gaussian.log_determinant == pytest.approx(-122.82797802, abs=1e-4)
    values, vectors = np.linalg.eigh(V)
    np.testing.assert_allclose(values[::-1][:4], [0.5540065, 0.2049522, 0.1757570, 0.1362181], atol=1e-6)
    x = vectors[:, -1]
    x = x * np.sign(x[np.argmax(np.abs(x))])
    assert posterior.information_gain(x, 0.005) == pytest.approx(2.35836164, abs=1e-6)
    # one designed measurement, without noise; a warm start ends where a cold one does
    longer = image.model(np.vstack([image.X, x]), np.r_[image.y, x @ image.u])
    warm = expectation_propagation(longer, fraction=0.9, update=update, tol=1e-11, warm_start=posterior)
    assert np.linalg.norm(warm.mean - image.u) == pytest.approx(1.16292786, abs=1e-6)
    np.testing.assert_allclose(warm.mean, expectation_propagation(longer, fraction=0.9, tol=1e-11).mean, atol=2e-7)


def test_image_problem_by_ep(image):
    posterior = expectation_propagation(image.model(image.X, image.y), tol=1e-10)
    assert posterior.log_evidence - image.log_constant == pytest.approx(-40.30462719, abs=1e-7)
    assert np.linalg.norm(posterior.mean - image.u) == pytest.approx(1.91384735, abs=1e-6)


def test_both_bounds_reach_the_same_minimum(image):
    one, two = (
        variational_bounds(image.model(image.X, image.y), logdet_bound=bound, tol=1e-13, max_iter=1000)
        for bound in (1, 2)
    )
    assert one.log_evidence == pytest.approx(two.log_evidence, abs=1e-8)
    np.testing.assert_allclose(one.mean, two.mean, atol=1e-5)
    for posterior in (one, two):
        assert np.diff(posterior.objective_trace).max() <= 0
        assert posterior.log_evidence <= posterior.jensen_evidence
        assert posterior.jensen_evidence <= -40.3046 + image.log_constant
    assert two.n_iter < one.n_iter
