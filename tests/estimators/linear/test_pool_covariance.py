"""Weights that vary as the rows of a pool do: against the dense formula, and what is refused."""

import copy
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.special import expit

from adaptive import BayesianLogisticRegression, SequentialDesign
from adaptive.estimators.linear import bayesian_logistic_regression as regression
from adaptive.inference import GLM, expectation_propagation
from adaptive.potentials import BernoulliLogit

RNG = np.random.default_rng(2)
POOL = sp.csr_array(RNG.poisson(0.4, (60, 12)) * RNG.random((60, 12)))
LABELS = (RNG.random(60) < expit(3 * POOL[:, [0]].toarray()[:, 0] - 0.5)).astype(int)


def model(**options):
    return BayesianLogisticRegression(classes=[0, 1], prior_covariance="pool", pool=POOL, **options)


def test_it_is_the_dense_formula():
    dense = POOL.toarray()
    covariance = dense.T @ dense / 60
    covariance /= np.mean(np.einsum("ij,jk,ik->i", dense, covariance, dense))
    fitted = model(prior_scale=2.0, tol=1e-9, fit_intercept=False).fit(POOL[:20], LABELS[:20])
    prior = 4.0 * covariance + 1e-12 * np.eye(12)
    truth = expectation_propagation(
        GLM(B=dense[:20], potentials=BernoulliLogit(2.0 * LABELS[:20] - 1), prior_covariance=prior), tol=1e-9
    )
    mean, variance = truth.projection_moments(dense)
    np.testing.assert_allclose(fitted.coef_[0], truth.mean, atol=1e-5)
    np.testing.assert_allclose(fitted.predictive(POOL).mean, mean, atol=1e-5)
    np.testing.assert_allclose(fitted.predictive(POOL).variance, variance, rtol=1e-4)
    assert fitted.log_evidence_ == pytest.approx(truth.log_evidence, abs=1e-6)


def test_a_large_pool_is_decomposed_by_products(monkeypatch):
    rows = sp.csr_array(RNG.standard_normal((80, 5)) @ RNG.standard_normal((5, 30)))
    exact = regression.pool_directions(rows)
    monkeypatch.setattr(regression, "_DENSE", 0)
    by_products = regression.pool_directions(rows)
    np.testing.assert_allclose(by_products @ by_products.T, exact @ exact.T, atol=1e-10)


@pytest.mark.parametrize("options", [{}, {"update": "inclusion"}, {"multi_class": "one_vs_rest"}], ids=str)
def test_designs_states_and_tables_go_on(options):
    design = SequentialDesign(model(**options), POOL, lambda query: LABELS[query.positions], initial=6, random_state=0)
    learnt = design.run(10).estimator_
    again = model(**options).restore(copy.deepcopy(learnt.state()))
    np.testing.assert_array_equal(again.predict_proba(POOL), learnt.predict_proba(POOL))
    assert again.n_features_in_ == 12 and learnt.coef_.shape == (1, 12)
    np.testing.assert_allclose(model(**options).fit(POOL, LABELS).predict_proba(POOL.toarray()).sum(axis=1), 1.0)


def test_directions_of_different_scales_are_no_mistake_of_the_user():
    rows = POOL.toarray() * np.logspace(0, 3, 12)
    with warnings.catch_warnings():
        warnings.filterwarnings("error", message=".*differ in scale")
        BayesianLogisticRegression(classes=[0, 1], prior_covariance="pool", pool=rows).fit(rows[:20], LABELS[:20])
    with pytest.warns(UserWarning, match="columns of X differ in scale"):
        BayesianLogisticRegression(classes=[0, 1]).fit(rows[:20], LABELS[:20])


def test_what_is_wrong_is_said_in_one_sentence():
    beyond = POOL.copy()
    beyond.indices[-1] = 99  # SciPy would follow it out of the table
    for options, words in (
        ({"pool": None}, 'prior_covariance="pool" needs pool'),
        ({"prior": "laplace"}, 'goes with prior="gaussian"'),
        ({"prior_covariance": "rows"}, "prior_covariance must be"),
        ({"pool": POOL * np.nan}, r"pool must hold rows of features: .* contains NaN, first in row 0"),
        ({"pool": POOL[:0]}, "pool must hold rows of features: .* 0 sample"),
        ({"pool": beyond}, "pool must hold rows of features: .* broken sparse matrix"),
    ):
        with pytest.raises(ValueError, match=words):
            model().set_params(**options).fit(POOL, LABELS)
    with pytest.raises(ValueError, match="X has 3 features, but pool has 12"):
        model().fit(POOL[:, :3], LABELS)
