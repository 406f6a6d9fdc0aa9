"""Every kernel: positive semi-definite, its diagonal, its gradient against differences, clones, sums and products."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
import scipy.integrate
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import erf
from sklearn.base import clone
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, DotProduct, Matern

from adaptive.kernels import Additive, Masked, NeuralNetwork, PiecewisePolynomial, WeightedSum

KERNELS = [
    NeuralNetwork(0.7),
    *(PiecewisePolynomial(2.5, q) for q in range(4)),
    Additive(0.8, [1.0, 0.5]),
    Additive([0.5, 1.0, 2.0], [0.3, 1.0, 2.0]),
    Masked(RBF([0.5, 2.0]), [0, 2]),
    Masked(ConstantKernel(2.0) * Matern(1.0, nu=1.5), [False, True, True]),
    WeightedSum([RBF(0.5), DotProduct(1.0), NeuralNetwork(1.0)], [0.5, 1.0, 2.0]),
    ConstantKernel(3.0) * NeuralNetwork(1.0) + Additive(1.0, [1.0]),
]


@pytest.fixture
def X():
    return np.random.default_rng(0).normal(size=(12, 3))


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_a_kernel_is_one(kernel, X):
    K = kernel(X)
    np.testing.assert_allclose(K, K.T)
    assert np.linalg.eigvalsh(K)[0] > -1e-9
    np.testing.assert_allclose(kernel.diag(X), np.diag(K), rtol=1e-12)
    np.testing.assert_allclose(kernel(X[:5], X[5:]), K[:5, 5:], rtol=1e-12, atol=1e-14)
    assert isinstance(kernel.is_stationary(), bool)


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_gradients_are_those_of_the_logarithms(kernel, X):
    K, gradient = kernel(X, eval_gradient=True)
    theta = kernel.theta
    assert gradient.shape == (12, 12, len(theta)) == (12, 12, len(kernel.bounds))
    for j, step in enumerate(1e-6 * np.eye(len(theta))):
        slope = (kernel.clone_with_theta(theta + step)(X) - kernel.clone_with_theta(theta - step)(X)) / 2e-6
        np.testing.assert_allclose(gradient[:, :, j], slope, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(kernel.clone_with_theta(theta)(X), K, rtol=1e-12)
    with pytest.raises(ValueError, match="Gradient"):
        kernel(X, X, eval_gradient=True)


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_kernels_are_cloned_and_learnt_by_scikit_learn(kernel, X):
    assert clone(kernel) == kernel
    y = np.sin(X[:, 0]) + X[:, 1]
    model = GaussianProcessRegressor(ConstantKernel() * kernel, alpha=0.1).fit(X, y)
    before = GaussianProcessRegressor(ConstantKernel() * kernel, alpha=0.1, optimizer=None).fit(X, y)
    assert model.log_marginal_likelihood_value_ >= before.log_marginal_likelihood_value_


@pytest.mark.parametrize("kernel", [NeuralNetwork(1.0, "fixed"), PiecewisePolynomial(1.0, 1, "fixed")], ids=repr)
def test_fixed_hyperparameters_have_no_gradient(kernel, X):
    assert kernel(X, eval_gradient=True)[1].shape == (12, 12, 0)
    assert len(kernel.theta) == 0


def test_neural_network_is_its_expectation():
    """(pi/2) E[erf(a) erf(b)] over the weights of one unit."""
    x, z, scale = 0.4, -1.3, 0.8
    kernel = NeuralNetwork(scale)
    sd = 1 / (np.sqrt(2) * scale)

    def integrand(v, w):
        density = np.exp(-0.5 * (v**2 + w**2) / sd**2) / (2 * np.pi * sd**2)
        return erf(v + w * x) * erf(v + w * z) * density

    value = scipy.integrate.dblquad(integrand, -8 * sd, 8 * sd, -8 * sd, 8 * sd, epsabs=1e-8)[0]
    assert kernel(np.array([[x]]), np.array([[z]]))[0, 0] == pytest.approx(0.5 * np.pi * value, abs=1e-6)


@settings(max_examples=30, deadline=None)
@given(st.integers(1, 6), st.integers(0, 3), st.integers(0, 1000))
def test_finite_support_is_exact_positive_and_sparse(dimensions, smoothness, seed):
    X = np.random.default_rng(seed).uniform(-2, 2, (15, dimensions))
    kernel = PiecewisePolynomial(1.7, smoothness)
    K = kernel(X)
    far = np.linalg.norm(X[:, None] - X, axis=-1) >= 1.7
    assert np.all(K[far] == 0)
    assert np.linalg.eigvalsh(K)[0] > -1e-10
    np.testing.assert_allclose(kernel.sparse(X).toarray(), K, atol=1e-13)


def test_additive_is_the_sum_over_subsets(X):
    scale, variance = np.array([0.5, 1.0, 2.0]), [0.3, 1.0, 2.0]
    z = np.exp(-0.5 * (X[:, None] - X) ** 2 / scale**2)
    total = sum(
        variance[d - 1] * np.prod(z[..., list(subset)], axis=-1)
        for d in (1, 2, 3)
        for subset in combinations(range(3), d)
    )
    np.testing.assert_allclose(Additive(scale, variance)(X), total, rtol=1e-12)


def test_sixty_inputs_of_high_degree_do_not_cancel():
    X = np.random.default_rng(0).normal(size=(4, 60))
    K = Additive(1.0, np.full(60, 1e-6))(X)
    assert np.all(K > 0)
    assert np.linalg.eigvalsh(K)[0] > 0


def test_more_degrees_than_inputs_are_refused(X):
    with pytest.raises(ValueError, match="variance has 4 degrees, but the inputs have 3 columns"):
        Additive(1.0, np.ones(4))(X)
    with pytest.raises(ValueError, match="smoothness must be 0, 1, 2 or 3, got 5"):
        PiecewisePolynomial(1.0, 5)(X)
