"""The source's ten lines: a kernel, a mean, a likelihood and an inference, fitted by the evidence's gradient."""

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.gaussian_process.kernels import (
    RBF,
    ConstantKernel,
    DotProduct,
    ExpSineSquared,
    Matern,
    RationalQuadratic,
    WhiteKernel,
)

from adaptive import GaussianProcessClassifier, GaussianProcessRegressor
from adaptive.kernels import WeightedSum
from adaptive.means import Constant, Linear


def conjugate_gradients(objective, initial_theta, bounds):
    """Fifty steps of the source's kind; L-BFGS is the default."""
    found = minimize(objective, initial_theta, jac=True, method="CG", options={"maxiter": 50})
    return found.x, found.fun


@pytest.mark.parametrize("draw", range(3))
def test_ten_lines(draw):
    """Squared exponential, linear plus constant mean, Laplace noise, EP, 50 CG steps, then mean and variance."""
    rng = np.random.default_rng(draw)
    X = rng.uniform(-3, 3, (25, 1))
    y = 2 * X[:, 0] + 1 + np.sin(2 * X[:, 0]) + 0.1 * rng.laplace(size=25)
    settings = {
        "kernel": ConstantKernel(1.0) * RBF(0.7),
        "mean": Linear(2.0) + Constant(1.0),
        "likelihood": "laplace",
        "likelihood_scale": 0.2 / np.sqrt(2),
        "inference": "expectation_propagation",
    }
    start = GaussianProcessRegressor(**settings, optimizer=None).fit(X, y)
    settings["likelihood_scale"] = None
    by_conjugate_gradients = GaussianProcessRegressor(**settings, optimizer=conjugate_gradients).fit(X, y)
    model = GaussianProcessRegressor(**settings).fit(X, y)
    assert by_conjugate_gradients.log_evidence_ > start.log_evidence_
    assert abs(model.log_evidence_ - by_conjugate_gradients.log_evidence_) < 1.0  # fifty steps end before convergence
    new = np.linspace(-2.5, 2.5, 41)[:, None]
    mean, std = by_conjugate_gradients.predict(new, return_std=True)
    truth = 2 * new[:, 0] + 1 + np.sin(2 * new[:, 0])
    assert np.sqrt(np.mean((mean - truth) ** 2)) < 0.2
    assert np.mean(np.abs(mean - truth) < 3 * std) > 0.9
    far = by_conjugate_gradients.predict([[40.0]])[0]
    assert abs(far - 81) < 20  # the mean function takes over


KERNELS = [
    DotProduct(1.0),
    DotProduct(1.0) ** 3,
    ConstantKernel(2.0) + RBF(1.0) + WhiteKernel(0.1),
    Matern(1.0, nu=1.5),
    ExpSineSquared(1.0, 6.0),
    RationalQuadratic(1.0, 1.0),
    WeightedSum([RBF(0.5), DotProduct(1.0)], [1.0, 1.0]),
]


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_kernels_of_scikit_learn_serve(kernel):
    rng = np.random.default_rng(0)
    X = rng.uniform(-3, 3, (20, 1))
    y = np.where(X[:, 0] + 0.3 * rng.normal(size=20) > 0, 1, 0)
    start = GaussianProcessClassifier(kernel, optimizer=None).fit(X, y)
    _, gradient = start.log_marginal_likelihood(start.kernel_.theta, eval_gradient=True)
    for j, step in enumerate(1e-4 * np.eye(len(gradient))):
        above, below = (start.log_marginal_likelihood(start.kernel_.theta + sign * step) for sign in (1, -1))
        assert gradient[j] == pytest.approx((above - below) / 2e-4, rel=1e-3, abs=1e-4)
    assert start.score(X, y) >= 0.75
