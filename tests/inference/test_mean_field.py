"""The factorial approximation: exact where projections are independent, a bound where they are not."""

from __future__ import annotations

import numpy as np
import pytest

from adaptive.inference import (
    GLM,
    expectation_propagation,
    laplace_approximation,
    mean_field,
    posterior_state,
    restored_posterior,
    variational_gaussian,
)
from adaptive.potentials import BernoulliLogit, BernoulliProbit, Laplace, Poisson, Step, StudentT

POTENTIALS = [
    BernoulliLogit([1, -1, 1]),
    BernoulliProbit([1, -1, 1]),
    Laplace(0.4, [0.0, 1.0, -2.0]),
    StudentT(3.0, 0.5, [0.0, 1.0, -2.0]),
    Poisson([0, 3, 1]),
    Poisson([0, 3, 1], "rectified"),
    Step(0.2),
]


@pytest.mark.parametrize(
    ("family", "value"), [(BernoulliProbit, -1.874520), (BernoulliLogit, -1.828808)], ids=["probit", "logit"]
)
@pytest.mark.parametrize("form", ["precision", "covariance"])
def test_two_point_classification(family, value, form):
    """nickisch-gpc.md 6, regime 2."""
    x = np.array([np.sqrt(2), -np.sqrt(2)])
    K = np.exp(3.0) * np.exp(-0.5 * (x[:, None] - x) ** 2 / np.e**2)
    model = GLM(potentials=family([1, -1]), prior_covariance=K)
    assert mean_field(model, form=form, ridge=1e-10).log_evidence == pytest.approx(value, abs=1e-6)


@pytest.mark.parametrize("potential", POTENTIALS, ids=lambda p: p.name)
def test_independent_projections_are_exact(potential):
    """A diagonal prior: the evidence is the product of the single ones, and so are the moments."""
    mean, variance = np.array([0.3, 1.0, 0.5]), np.array([0.5, 1.0, 2.0])
    posterior = mean_field(GLM(potentials=potential, prior_mean=mean, prior_covariance=variance), ridge=1e-12)
    log_normaliser, tilted_mean, tilted_variance = potential.tilted_moments(mean, variance)
    assert posterior.log_evidence == pytest.approx(log_normaliser.sum(), abs=1e-8)
    np.testing.assert_allclose(posterior.mean, tilted_mean, atol=1e-6)
    np.testing.assert_allclose(posterior.variances(), tilted_variance, rtol=1e-6)


@pytest.mark.parametrize("potential", POTENTIALS, ids=lambda p: p.name)
def test_the_bound_is_its_definition_and_stationary(potential):
    """E_Q ln P(y, s) + H(Q) by sums over a grid per factor; below the exact evidence; lower beside the solution."""
    rng = np.random.default_rng(0)
    B, X, y = rng.normal(size=(3, 3)), rng.normal(size=(2, 3)), rng.normal(size=2)
    model = GLM(X, y, 0.5, B=B, potentials=potential, prior_mean=0.3, prior_covariance=[1.0, 2.0, 0.5])
    posterior = mean_field(model, tol=1e-10, ridge=1e-12)
    # the Gaussian part over the projections, by hand
    S = np.diag([1.0, 2.0, 0.5])
    gain = S @ X.T @ np.linalg.inv(X @ S @ X.T + 0.5 * np.eye(2))
    gap = y - X @ np.full(3, 0.3)
    m0, V0 = np.full(3, 0.3) + gain @ gap, S - gain @ X @ S
    log_base = -0.5 * gap @ np.linalg.solve(X @ S @ X.T + 0.5 * np.eye(2), gap)
    log_base -= 0.5 * np.linalg.slogdet(2 * np.pi * (X @ S @ X.T + 0.5 * np.eye(2)))[1]
    inverse, m0 = np.linalg.inv(B @ V0 @ B.T), B @ m0
    r = 1.0 / np.diag(inverse)

    def bound(m):
        mu = m - r * (inverse @ (m - m0))
        s = mu[:, None] + np.sqrt(r)[:, None] * np.linspace(-12, 12, 200_001)
        log_t = potential.log_density(s.T).T
        log_q = log_t - 0.5 * (s - mu[:, None]) ** 2 / r[:, None]
        q = np.exp(log_q - log_q.max(axis=1, keepdims=True))
        cell = (s[:, 1] - s[:, 0])[:, None]
        q /= (q * cell).sum(axis=1, keepdims=True)
        used = q > 0
        log_t, log_q = np.where(used, log_t, 0.0), np.log(np.where(used, q, 1.0))
        t = (q * s * cell).sum(axis=1)
        v = (q * (s - t[:, None]) ** 2 * cell).sum(axis=1)
        energy = 0.5 * ((t - m0) @ inverse @ (t - m0) + np.sum(v / r)) - 0.5 * np.linalg.slogdet(inverse)[1]
        return log_base + (q * (log_t - log_q) * cell).sum() - energy - 1.5 * np.log(2 * np.pi), t

    m, _ = posterior.projection_moments(B)
    value, t = bound(m)
    assert posterior.log_evidence == pytest.approx(value, abs=2e-3 if "ect" in repr(potential) else 1e-4)
    np.testing.assert_allclose(m, t, atol=1e-3)
    for direction in np.eye(3):
        assert bound(m + 0.3 * direction)[0] <= value + 1e-4
    if potential.log_concave:
        assert posterior.log_evidence <= expectation_propagation(model).log_evidence + 1e-2


def test_factors_are_independent_and_the_rest_follows_the_base():
    rng = np.random.default_rng(1)
    B = rng.normal(size=(2, 4))
    model = GLM(B=B, potentials=BernoulliLogit([1, -1]), prior_covariance=3.0)
    for form in ("precision", "covariance"):
        posterior = mean_field(model, form=form)
        assert posterior.projection_covariance(B)[0, 1] == pytest.approx(0.0, abs=1e-4)
        np.testing.assert_allclose(posterior.gaussian.marginals()[1], posterior.variances(B), rtol=1e-4)
        V = posterior.covariance()
        np.testing.assert_allclose(posterior.covariance_operator() @ np.eye(4), V, atol=1e-10)
        np.testing.assert_allclose(posterior.variances(), np.diag(V), rtol=1e-9)
        orthogonal = np.linalg.svd(B)[2][2:]
        np.testing.assert_allclose(orthogonal @ V @ orthogonal.T, 3.0 * np.eye(2), atol=1e-9)
        draws = posterior.sample(20_000, 0)
        np.testing.assert_allclose(np.cov(draws.T), V, atol=0.15)
        assert posterior.jensen_evidence <= variational_gaussian(model).log_evidence + 1e-9


def test_warm_starts_and_plain_data():
    rng = np.random.default_rng(2)
    B, y = rng.normal(size=(12, 4)), rng.choice([-1, 1], 12)

    def model(q):
        return GLM(B=B[:q, :3], potentials=BernoulliProbit(y[:q]), prior_covariance=2.0)

    short, cold = mean_field(model(2), tol=1e-9), mean_field(model(3), tol=1e-9)
    warm = mean_field(model(3), warm_start=short, tol=1e-9)
    np.testing.assert_allclose(warm.mean, cold.mean, atol=1e-7)
    again = restored_posterior(model(3), posterior_state(cold))
    np.testing.assert_array_equal(again.mean, cold.mean)
    np.testing.assert_array_equal(again.variances(), cold.variances())
    assert again.log_evidence == cold.log_evidence
    assert np.diff(cold.objective_trace).max(initial=0) <= 1e-12


def test_projections_that_depend_on_one_another_are_finite_and_far_below():
    """Twenty copies of one input: independence is wrong, the ridge keeps it finite."""
    model = GLM(potentials=BernoulliLogit(np.ones(20)), prior_covariance=4.0 * np.ones((20, 20)))
    posterior = mean_field(model)
    assert np.isfinite(posterior.log_evidence)
    assert posterior.converged
    assert posterior.log_evidence < laplace_approximation(model).log_evidence - 5


def test_a_model_without_a_gaussian_part_is_refused():
    with pytest.raises(ValueError, match="mean_field needs a Gaussian part that determines every unknown"):
        mean_field(GLM(B=np.eye(2), potentials=Laplace(1.0)))
