"""Predictions of rows without themselves, from cavities, against refits without the row (two classes: `integrated`)."""

import numpy as np
import pytest
from sklearn.gaussian_process.kernels import RBF, WhiteKernel

from adaptive import (
    BayesianLogisticRegression,
    CoxProcess,
    GaussianProcessClassifier,
    GaussianProcessRegressor,
    PoissonRegression,
    SparseLinearRegression,
)
from adaptive.potentials import BernoulliLogit

RNG = np.random.default_rng(1)
X = RNG.standard_normal((14, 2))
Y = np.sin(2 * X[:, 0]) + 0.2 * RNG.standard_normal(14)
COUNTS = RNG.poisson(2.0, 14)

CASES = {  # estimator, outcomes, how far refits may be: exact but for what EP approximates
    "regression": (lambda: GaussianProcessRegressor(RBF(1.0), alpha=0.1, optimizer=None), Y, 1e-8),
    "regression in units": (
        lambda: GaussianProcessRegressor(RBF(1.0) + WhiteKernel(0.1), alpha=0.1, optimizer=None), 5 * Y, 1e-8,
    ),
    "robust regression": (
        lambda: GaussianProcessRegressor(
            RBF(1.0), likelihood="laplace", likelihood_scale=0.3, optimizer=None
        ), Y, 0.15,
    ),
    "over nodes": (
        lambda: GaussianProcessRegressor(RBF(1.0), alpha=0.1, hyperparameters="integrated"), Y, 0.02,
    ),
    "classification": (
        lambda: GaussianProcessClassifier(4.0 * RBF(1.0), optimizer=None, calibration=None), Y > 0, 0.03,
    ),
    "classification over nodes": (
        lambda: GaussianProcessClassifier(4.0 * RBF(1.0), hyperparameters="integrated", calibration=None), Y > 0, 0.05,
    ),
    "classification of three": (
        lambda: BayesianLogisticRegression(prior_scale=1.0, inference="laplace_approximation", tol=1e-8),
        np.digitize(Y, [-0.5, 0.5]), 0.05,
    ),
    "weights": (
        lambda: SparseLinearRegression("gaussian", noise_variance=0.2, prior_scale=0.7, fit_intercept=False), Y, 1e-8,
    ),
    "counts": (lambda: PoissonRegression("softplus", prior_scale=0.7, fit_intercept=False, tol=1e-8), COUNTS, 0.03),
    "rates": (lambda: CoxProcess(0.2 * RBF(1.0), mean=0.5, optimizer=None, tol=1e-8), COUNTS, 0.03),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_leave_one_out_is_what_refits_without_the_row_say(name):
    make, outcomes, apart = CASES[name]
    whole = make().fit(X, outcomes)
    found = whole.leave_one_out_
    for j in range(0, 14, 3):
        rest = np.delete(np.arange(14), j)
        refitted = make().fit(X[rest], outcomes[rest])
        if name == "counts":  # how counts scatter is learnt from all rows
            vars(refitted.belief_)["possible_scatters"] = whole.belief_.possible_scatters
        assert found.log_score[j] == pytest.approx(refitted.log_predictive(X[[j]], outcomes[[j]])[0], abs=apart)
        if name.startswith("classification"):
            np.testing.assert_allclose(found.probabilities[j], refitted.predict_proba(X[[j]])[0], atol=apart)


def test_a_factor_of_processes_is_fitted_where_it_is_asked_for():
    plain, factored = (
        GaussianProcessClassifier(4.0 * RBF(1.0), optimizer=None, calibration=how).fit(X, Y > 0)
        for how in (None, "leave_one_out")
    )
    gamma = factored.belief_.gamma
    assert plain.belief_.gamma == 1.0 and np.exp(-5) <= gamma <= np.e
    mean, variance = plain.latent_mean_and_variance(X)
    expected = BernoulliLogit().outcome_probabilities(mean, gamma * variance)[1]
    np.testing.assert_array_equal(factored.predict_proba(X), expected)
    np.testing.assert_array_equal(factored.predictive(X).probabilities, plain.predictive(X).probabilities)


def test_what_has_no_sites_says_nothing():
    for model in (
        GaussianProcessClassifier(4.0 * RBF(1.0), optimizer=None, inference="laplace_approximation").fit(X, Y > 0),
        GaussianProcessClassifier(4.0 * RBF(1.0), optimizer=None).fit(X, np.digitize(Y, [-0.5, 0.5])),
        PoissonRegression("exp", prior_scale=0.7).fit(X, COUNTS),
    ):
        assert model.leave_one_out_ is None
