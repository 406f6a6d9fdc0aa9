"""Penalties are their derivatives' integrals; solvers agree, and find what is known in closed form."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import Lasso

from adaptive.inference import (
    GLM,
    FromPotential,
    Logarithmic,
    Power,
    Quadratic,
    Zero,
    laplace_approximation,
    map_estimate,
)
from adaptive.operators import Operator
from adaptive.potentials import BernoulliLogit, BernoulliProbit, ExponentialPower, Laplace, Logistic, Poisson, StudentT

SOLVERS = ("newton", "lbfgs", "cg")


# ---------------------------------------------------------------------- penalties
PENALTIES = [
    Zero(),
    Quadratic(1.7),
    Power(1.0, 0.6),
    Power(0.5),
    Power(3.0, 2.0),
    Logarithmic(0.3, 2.0),
    FromPotential(Laplace(0.7, 0.2)),
    FromPotential(Logistic(0.7)),
    FromPotential(StudentT(3.0, 0.5)),
    FromPotential(ExponentialPower(0.7, 0.5)),
    FromPotential(BernoulliLogit([1, -1, 1])),
    FromPotential(BernoulliProbit([1, -1, 1])),
    FromPotential(Poisson([0, 2, 5], "rectified")),
]


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10_000), st.sampled_from(PENALTIES), st.sampled_from([0.0, 1e-4, 1e-2]))
def test_derivatives(seed, penalty, smoothing):
    s = np.random.default_rng(seed).normal(size=3)
    if smoothing == 0.0:
        s = np.abs(s) + 0.5  # away from kinks and inside supports
    step = 1e-6
    value, first, second = penalty(s, smoothing)
    (above, up, _), (below, down, _) = penalty(s + step, smoothing), penalty(s - step, smoothing)
    assert np.isfinite(value).all()
    np.testing.assert_allclose((above - below) / (2 * step), first, rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose((up - down) / (2 * step), second, rtol=1e-3, atol=1e-3 * (1 + np.abs(second).max()))


def test_smoothing_vanishes_from_above():
    s = np.array([-1.0, 0.3, 2.0])
    for penalty in PENALTIES:
        if penalty.kinked:
            gap = penalty(s + 0.5, 1e-12)[0] - penalty(s + 0.5, 0.0)[0]
            finite = np.isfinite(gap)
            assert np.abs(gap[finite]).max() < 1e-5
    assert penalty(np.array([0.0]), 0.0)[0].shape == (3,)
    value, first, second = Power(1.0)(np.array([0.0]), 0.0)
    assert (value[0], first[0]) == (0, 0)
    assert second[0] >= 0


def test_bad_parameters_are_named():
    with pytest.raises(ValueError, match="power must be > 0"):
        Power(0.0)
    with pytest.raises(ValueError, match="weight must be >= 0"):
        Quadratic(-1.0)
    with pytest.raises(ValueError, match="epsilon must be > 0"):
        Logarithmic(0.0)


# ---------------------------------------------------------------------- solvers
def problems():
    rng = np.random.default_rng(1)
    n, q = 6, 30
    X, u = rng.normal(size=(q, n)), rng.normal(size=n)
    y, root = np.where(X @ u > 0, 1, -1), rng.normal(size=(n, n))
    data = (X @ u + 0.1 * rng.normal(size=q))[:10]
    counts = rng.poisson(np.maximum(X @ u, 0.0))
    return {
        "logit": GLM(B=X, potentials=BernoulliLogit(y), prior_covariance=root @ root.T, prior_mean=np.ones(n)),
        "student": GLM(X[:10], data, 0.1, potentials=StudentT(3.0, 0.3), prior_covariance=5.0),
        "laplace": GLM(X[:4], data[:4], 0.1, potentials=Laplace(0.3)),
        "exponential power": GLM(X[:4], data[:4], 0.1, potentials=ExponentialPower(1.3, 0.3)),
        "poisson": GLM(B=X, potentials=Poisson(counts), prior_covariance=np.linspace(0.5, 2, n)),
        "rectified": GLM(B=X, potentials=Poisson(counts, "rectified"), prior_covariance=1.0),
        "mixed": GLM(X[:4], data[:4], 0.1, B=[None, X], potentials=[Laplace(0.3), BernoulliLogit(y)]),
    }


PROBLEMS = problems()


def negative_log_joint(model, u, penalty=None):
    penalty = penalty or FromPotential(model.potential)
    total = penalty(model.project(u))[0].sum()
    if model.X is not None:
        total += ((model.measure(u) - model.y) ** 2).sum() / (2 * model.noise_variance)
    if model.has_prior:
        S = model.prior_covariance
        gap = u - model.prior_mean
        total += 0.5 * gap @ (np.linalg.solve(S, gap) if np.ndim(S) == 2 else gap / S)
    return total


@pytest.mark.parametrize("name", PROBLEMS)
def test_solvers_agree_on_a_minimum(name):
    model = PROBLEMS[name]
    runs = [map_estimate(model, solver=solver, tol=1e-7) for solver in SOLVERS]
    rng = np.random.default_rng(0)
    for run in runs:
        assert run.converged
        assert run.n_products > 0
        assert run.n_iter == len(run.objective_trace)
        assert np.diff(run.objective_trace).max() <= 1e-9
        np.testing.assert_allclose(run.mean, runs[0].mean, atol=1e-5)
    lowest = negative_log_joint(model, runs[0].mean)
    for size in (1e-3, 1e-1, 1.0):
        others = [negative_log_joint(model, runs[0].mean + size * d) for d in rng.normal(size=(50, model.n))]
        assert np.min(others) >= lowest - 1e-6


@pytest.mark.parametrize("solver", SOLVERS)
def test_penalties_with_closed_solutions(solver):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20, 4))
    y = X @ [1.0, 0.0, 0.0, -0.7] + 0.7 * rng.normal(size=20)
    model = GLM(X, y, 0.5, potentials=Laplace(1.0))
    options = {"solver": solver, "tol": 1e-9}
    least = np.linalg.lstsq(X, y, rcond=None)[0]
    np.testing.assert_allclose(map_estimate(model, penalty=Zero(), **options).mean, least, atol=1e-6)
    ridge = np.linalg.solve(X.T @ X / 0.5 + 3 * np.eye(4), X.T @ y / 0.5)
    np.testing.assert_allclose(map_estimate(model, penalty=Quadratic(3.0), **options).mean, ridge, atol=1e-6)
    np.testing.assert_allclose(map_estimate(model, penalty=Power(2.0, 1.5), **options).mean, ridge, atol=1e-6)
    lasso = Lasso(alpha=8.0 * 0.5 / 20, fit_intercept=False, tol=1e-12, max_iter=100_000).fit(X, y).coef_
    assert 0 < np.sum(lasso == 0) < 4
    found = map_estimate(model, penalty=Power(1.0, 8.0), solver=solver)
    np.testing.assert_allclose(found.mean, lasso, atol=2e-4)
    logarithmic = map_estimate(model, penalty=Logarithmic(0.1, 2.0), **options)
    best = negative_log_joint(model, logarithmic.mean, Logarithmic(0.1, 2.0))
    nearby = logarithmic.mean + 1e-3 * rng.normal(size=(50, 4))
    assert min(negative_log_joint(model, u, Logarithmic(0.1, 2.0)) for u in nearby) >= best - 1e-9


def test_the_mode_is_that_of_laplace():
    for name in ("logit", "student", "poisson"):
        model = PROBLEMS[name]
        np.testing.assert_allclose(map_estimate(model, tol=1e-10).mean, laplace_approximation(model).mean, atol=1e-6)


def test_smoothing_bounds_how_far_zeros_are_from_zero():
    model = GLM(np.eye(2), [1.0, 0.2], 0.5, potentials=Laplace(1.0))
    for smoothing in (1e-6, 1e-10):
        mean = map_estimate(model, smoothing=smoothing).mean
        assert mean[0] == pytest.approx(0.5, abs=1e-5)
        assert 0 < mean[1] < 2 * np.sqrt(smoothing)


class Blur(Operator):
    """A matrix-free circular blur with a complex kernel, of images."""

    def __init__(self, shape, seed=0):
        super().__init__(shape, shape, complex)
        rng = np.random.default_rng(seed)
        self.transfer = np.exp(-rng.uniform(0, 3, shape)) * np.exp(1j * rng.uniform(0, 6, shape))

    def _forward(self, u):
        return np.fft.fft2(u, norm="ortho") * self.transfer

    def _adjoint(self, v):
        return np.fft.ifft2(v * self.transfer.conj(), norm="ortho")


@pytest.mark.parametrize("solver", SOLVERS)
def test_matrix_free_images(solver):
    """A complex instrument on a real image, never made a matrix: the same mode as through the matrix."""
    rng = np.random.default_rng(0)
    blur = Blur((6, 5))
    image = np.zeros((6, 5))
    image[2:4, 1:3] = 1.0
    noise = rng.normal(size=(2, 6, 5))
    y = blur.forward(image) + 0.05 * (noise[0] + 1j * noise[1])
    model = GLM(blur, y, 0.05**2, potentials=Laplace(0.2))
    assert model.latent_shape == (6, 5)
    posterior = map_estimate(model, solver=solver)
    dense = map_estimate(GLM(blur.to_dense(), y.ravel(), 0.05**2, potentials=Laplace(0.2)), solver=solver)
    np.testing.assert_allclose(posterior.mean, dense.mean, atol=1e-6)
    assert np.linalg.norm(posterior.mean - image.ravel()) < 0.5 * np.linalg.norm(image)


def test_products_are_counted():
    calls = {"forward": 0, "adjoint": 0}

    class Counted(Blur):
        def _forward(self, u):
            calls["forward"] += 1
            return super()._forward(u)

        def _adjoint(self, v):
            calls["adjoint"] += 1
            return super()._adjoint(v)

    model = GLM(Counted((4, 4)), np.ones((4, 4)), 0.1, potentials=Logistic(1.0))
    for solver in SOLVERS:
        calls.update(forward=0, adjoint=0)
        posterior = map_estimate(model, solver=solver)
        assert posterior.n_products == pytest.approx((calls["forward"] + calls["adjoint"]) / 2, abs=1)


def test_contradictory_constraints_warn():
    model = GLM(B=[[1.0], [-1.0]], potentials=Poisson([2, 2], "rectified"), prior_covariance=1.0)
    with pytest.warns(ConvergenceWarning, match="the density is zero there"):
        assert not map_estimate(model).converged


def test_starts():
    model = PROBLEMS["laplace"]
    cold = map_estimate(model)
    warm = map_estimate(model, warm_start=cold)
    np.testing.assert_allclose(warm.mean, cold.mean, atol=1e-5)
    with pytest.raises(ValueError, match="warm_start must be a Posterior over 6 unknowns"):
        map_estimate(model, warm_start=map_estimate(GLM([[1.0]], [1.0], potentials=Laplace(1.0))))
    with pytest.raises(ValueError, match="model must be a GLM"):
        map_estimate(np.eye(2))
