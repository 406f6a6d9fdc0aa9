"""Gaussian processes of low rank: the whole kernel matrix at full rank, its gradient, and no n x n matrix."""

from __future__ import annotations

import pickle
import tracemalloc

import numpy as np
import pytest
from sklearn.gaussian_process.kernels import RBF, WhiteKernel

from adaptive import GaussianProcessClassifier, GaussianProcessRegressor
from adaptive.gaussians import LowRankForm
from adaptive.means import Linear
from tests.estimators.conformance import check_conforms, in_one_line

ENGINES = ["laplace_approximation", "expectation_propagation", "variational_gaussian", "variational_bounds"]
METHODS = ["incomplete_cholesky", "nystroem"]


@pytest.mark.filterwarnings("ignore:y holds one class")
@pytest.mark.parametrize("estimator", [GaussianProcessClassifier(rank=5, low_rank="nystroem")], ids=in_one_line)
def test_scikit_learn_conformance(estimator):
    check_conforms(estimator)


@pytest.fixture(scope="module")
def labelled():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    return X, np.where(X[:, 0] + 0.3 * rng.normal(size=60) > 0, "right", "left")


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("method", METHODS)
def test_full_rank_is_the_whole_matrix(labelled, engine, method):
    X, y = labelled
    kernel = 2.0 * RBF(0.7)
    settings = {"inference": engine, "optimizer": None, "tol": 1e-9}
    whole = GaussianProcessClassifier(kernel, **settings).fit(X, y)
    low = GaussianProcessClassifier(kernel, rank=60, low_rank=method, **settings).fit(X, y)
    assert isinstance(low.posterior_.gaussian, LowRankForm)
    assert low.log_evidence_ == pytest.approx(whole.log_evidence_, abs=1e-5)
    new = np.random.default_rng(1).normal(size=(7, 2))
    np.testing.assert_allclose(low.predict_proba(new), whole.predict_proba(new), atol=1e-5)
    chosen = [model.select(new, n_select=3).tolist() for model in (low, whole)]
    assert chosen[0] == chosen[1]
    ours, dense = (model.predictive(new, target=X[:3]) for model in (low, whole))
    np.testing.assert_allclose(ours.covariance([0, 1], [2, 3]), dense.covariance([0, 1], [2, 3]), atol=1e-5)


@pytest.mark.parametrize("likelihood", ["gaussian", "student_t"])
def test_regression_at_full_rank(likelihood):
    rng = np.random.default_rng(3)
    X = rng.uniform(0, 5, (40, 1))
    y = np.stack([np.sin(X[:, 0]), np.cos(X[:, 0])], axis=1) + 0.1 * rng.normal(size=(40, 2))
    kernel = 1.0 * RBF(1.0) + WhiteKernel(0.01)
    settings = {"likelihood": likelihood, "optimizer": None, "alpha": 0.01, "likelihood_scale": 0.1, "tol": 1e-9}
    whole = GaussianProcessRegressor(kernel, **settings).fit(X, y)
    low = GaussianProcessRegressor(kernel, rank=40, **settings).fit(X, y)
    assert low.log_evidence_ == pytest.approx(whole.log_evidence_, abs=1e-3)
    ours, dense = (model.predict(X[:5] + 0.1, return_std=True) for model in (low, whole))
    for mine, other in zip(ours, dense, strict=True):
        np.testing.assert_allclose(mine, other, atol=1e-4)


def test_what_a_smaller_rank_means(labelled):
    """Fewer pivots than rows: a posterior of the covariance V V' + diagonal, whose variances are the kernel's."""
    X, y = labelled
    kernel = 2.0 * RBF(0.7)
    model = GaussianProcessClassifier(kernel, rank=12, optimizer=None).fit(X, y)
    evidence = model.evidences_[0]
    assert len(evidence.pivots) == 12
    S = evidence.models()[0].prior_covariance.dense()
    np.testing.assert_allclose(np.diag(S), 2.0, rtol=1e-6)
    pivots = evidence.pivots
    np.testing.assert_allclose(S[pivots], kernel(X[pivots], X), atol=1e-6)  # exact in the pivots' rows
    chosen_well = np.linalg.norm(S - kernel(X))
    at_random = GaussianProcessClassifier(kernel, rank=12, low_rank="nystroem", optimizer=None).fit(X, y)
    assert chosen_well < np.linalg.norm(at_random.evidences_[0].models()[0].prior_covariance.dense() - kernel(X))


@pytest.mark.parametrize("engine", ["laplace_approximation", "expectation_propagation"])
@pytest.mark.parametrize("method", METHODS)
def test_the_gradient_is_that_of_the_evidence(labelled, engine, method):
    X, y = labelled
    kernel = 2.0 * RBF([0.7, 1.5]) + WhiteKernel(0.1)
    model = GaussianProcessClassifier(
        kernel, mean=Linear(), inference=engine, rank=10, low_rank=method, optimizer=None, tol=1e-10
    ).fit(X, y)
    theta = model.evidences_[0].theta
    _, gradient = model.log_marginal_likelihood(theta, eval_gradient=True)
    for k, step in enumerate(1e-4 * np.eye(len(theta))):
        high, low = (model.log_marginal_likelihood(theta + side * step) for side in (1, -1))
        assert gradient[k] == pytest.approx((high - low) / 2e-4, rel=1e-5, abs=1e-6)


def test_hyper_parameters_are_learnt_and_states_restored(labelled):
    X, y = labelled
    model = GaussianProcessClassifier(
        1.0 * RBF(3.0), rank=15, inference="laplace_approximation", hyperparameters="mode"
    ).fit(X, y)
    again = GaussianProcessClassifier(model.kernel_, rank=15, inference="laplace_approximation", optimizer=None).fit(
        X, y
    )
    assert again.log_evidence_ == pytest.approx(model.log_evidence_, abs=1e-4)  # whatever the path was
    start = GaussianProcessClassifier(1.0 * RBF(3.0), rank=15, inference="laplace_approximation", optimizer=None)
    assert model.log_evidence_ > start.fit(X, y).log_evidence_ + 1.0
    fresh = GaussianProcessClassifier(
        1.0 * RBF(3.0), rank=15, inference="laplace_approximation", hyperparameters="mode"
    )
    for copy in (pickle.loads(pickle.dumps(model)), fresh.restore(model.state())):
        np.testing.assert_array_equal(copy.predict_proba(X[:5]), model.predict_proba(X[:5]))
    more = model.partial_fit(X[:4] + 0.01, y[:4])
    assert more.posterior_.n == 64 and more.converged_


def test_memory_is_linear_in_the_rows():
    """Twice the rows take twice the memory, and far less than an n x n matrix."""
    rng = np.random.default_rng(0)
    peaks = []
    for n in (2_500, 5_000):
        X = rng.normal(size=(n, 2))
        y = X[:, 0] * X[:, 1] > 0
        model = GaussianProcessClassifier(
            2.0 * RBF(1.0), rank=40, inference="laplace_approximation", optimizer=None, copy_X_train=False
        )
        tracemalloc.start()
        model.fit(X, y).predict_proba(X)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
        assert np.mean(model.predict(X) == y) > 0.95
    assert peaks[1] < 2.3 * peaks[0]
    assert peaks[1] < 0.15 * 8 * 5_000**2


def test_what_is_refused(labelled):
    X, y = labelled
    with pytest.raises(ValueError, match="rank must be None"):
        GaussianProcessClassifier(rank=5, inference="mean_field").fit(X, y)
    with pytest.raises(ValueError, match="rank"):
        GaussianProcessClassifier(rank=0).fit(X, y)
    with pytest.raises(ValueError, match="low_rank"):
        GaussianProcessRegressor(rank=5, low_rank="svd").fit(X, X[:, 0])
