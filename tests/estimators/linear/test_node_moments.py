"""Moments at all nodes together are those that each posterior says, from rows in any precision and at any place."""

import tracemalloc

import numpy as np
import pytest
import scipy.sparse as sp

from adaptive import BayesianLogisticRegression
from adaptive.estimators.linear.node_moments import FewRowsMoments, NodeMoments, times


def fitted(n, d, included=0, **options):
    rng = np.random.default_rng(d)
    X = rng.standard_normal((n + included, d))
    y = X[:, 0] + 0.5 * rng.logistic(size=len(X)) > 0
    model = BayesianLogisticRegression(classes=[False, True], **options).fit(X[:n], y[:n])
    for k in range(n, n + included):
        model.partial_fit(X[[k]], y[[k]])
    return model


CASES = {
    "many rows": (fitted(40, 5), NodeMoments),
    "few rows": (fitted(12, 30), FewRowsMoments),
    "many rows, three included": (fitted(40, 5, 3), NodeMoments),
    "few rows, three included": (fitted(20, 40, 3), FewRowsMoments),
    "few rows without intercept": (fitted(12, 30, fit_intercept=False), FewRowsMoments),
    "wide": (fitted(320, 300, prior_scale=0.3), NodeMoments),
}


@pytest.mark.parametrize("name", CASES)
def test_moments_are_those_of_each_posterior(name):
    model, kind = CASES[name]
    posteriors = [belief.posterior for belief in getattr(model.belief_, "beliefs", [model.belief_])]
    together = NodeMoments.of(posteriors, model.fit_intercept)
    assert isinstance(together, kind)
    rows = np.random.default_rng(0).standard_normal((700, model.n_features_in_)).astype(np.float32)
    mean, variance = together(rows)
    features = rows.astype(float)
    features = np.hstack([features, np.ones((700, 1))]) if model.fit_intercept else features
    for k, posterior in enumerate(posteriors):
        wanted = posterior.projection_moments(features)
        np.testing.assert_allclose(mean[k], wanted[0], atol=1e-9 * np.abs(wanted[0]).max())
        np.testing.assert_allclose(variance[k], wanted[1], rtol=1e-7, atol=1e-10 * wanted[1].max())
    some = [3, 650, 699, 12]
    for found, whole in zip(together(rows[some]), (mean, variance), strict=True):
        np.testing.assert_allclose(found, whole[:, some], rtol=1e-11, atol=1e-12)


def test_predictions_of_single_precision_are_those_of_double():
    for model, _ in CASES.values():
        rows = np.random.default_rng(1).standard_normal((50, model.n_features_in_)).astype(np.float32)
        np.testing.assert_allclose(model.predict_proba(rows), model.predict_proba(rows.astype(float)), rtol=1e-9)
        one, other = (model.predictive(part, random_state=0) for part in (rows, rows.astype(float)))
        for field in ("probabilities", "expected_entropy"):
            np.testing.assert_allclose(getattr(one, field), getattr(other, field), rtol=1e-8)
        np.testing.assert_allclose(one.covariance([0, 1], [2]), other.covariance([0, 1], [2]), rtol=1e-7, atol=1e-10)


def test_a_row_of_single_precision_has_the_same_products_wherever_it_stands():
    rng = np.random.default_rng(2)
    rows, vectors = rng.standard_normal((8_200, 30)).astype(np.float32), rng.standard_normal((31, 5))
    rows[[1, 5_000, 8_198, 8_199]] = rows[0]
    found = times(rows, vectors, True)
    np.testing.assert_allclose(found, rows.astype(float) @ vectors[:-1] + vectors[-1], rtol=1e-12, atol=1e-12)
    assert np.all(found[[1, 5_000, 8_198, 8_199]] == found[0])


def test_wide_rows_are_held_once_for_all_nodes():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((60, 6_000)), np.arange(60) % 2
    BayesianLogisticRegression().fit(X[:, :70], y)  # what is imported and compiled stays
    tracemalloc.start()
    model = BayesianLogisticRegression().fit(X, y)
    held, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(model.belief_.beliefs) > 1
    assert held < 4 * X.nbytes  # 19 times, when each node had its own


def test_products_of_sparse_rows():
    rows, vectors = sp.random_array((30, 6), density=0.3, format="csr", rng=0), np.ones((7, 2))
    np.testing.assert_allclose(times(rows, vectors, True), times(rows.toarray(), vectors, True), rtol=1e-12)
