"""Poisson regression: its evidence climbs, its intervals cover, exposures count, and bad input ends in a sentence."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import PoissonRegressor

from adaptive import PoissonRegression
from adaptive.estimators.counts.exposure import CountRows
from adaptive.estimators.counts.regression_belief import RegressionSettings, _Problem
from tests.estimators.conformance import check_conforms, in_one_line

LINKS = {"exp": np.exp, "softplus": lambda s: np.logaddexp(0, s), "rectified": lambda s: np.maximum(s, 0.0)}


@pytest.mark.parametrize("estimator", [PoissonRegression("softplus", prior="laplace")], ids=in_one_line)
def test_scikit_learn_conformance(estimator):
    check_conforms(estimator)


def problem(seed=0, m=60, n=3, rate="exp", offset=1.0):
    rng = np.random.default_rng(seed)
    X, exposure = rng.normal(size=(m, n)), rng.uniform(0.5, 3.0, m)
    w = np.array([0.6, -0.4] + [0.0] * (n - 2))
    y = rng.poisson(exposure * LINKS[rate](X @ w + offset)).astype(float)
    return np.column_stack([X, exposure]), y, w


@pytest.mark.parametrize("rate", LINKS)
def test_weights_are_found_and_intervals_cover(rate):
    X, y, w = problem(0, 150, 3, rate, 2.0)
    model = PoissonRegression(rate, exposure=-1).fit(X, y)
    assert np.all(np.abs(model.coef_ - w) < 4 * model.coef_std_ + 0.02)
    X_new, y_new, _ = problem(1, 1000, 3, rate, 2.0)
    low, high = model.interval(X_new, 0.9)
    assert 0.88 < np.mean((low <= y_new) & (y_new <= high)) < 0.99
    assert model.score(X_new, y_new) > 0.2


@pytest.mark.parametrize("rate", LINKS)
def test_mean_and_deviation_are_those_of_the_predictive(rate):
    X, y, _ = problem(0, 30, 3, rate)
    model = PoissonRegression(rate, exposure=3).fit(X, y)
    predictive = model.predictive(X[:7])
    mean, std = model.predict(X[:7], return_std=True)
    np.testing.assert_allclose(mean, predictive.probabilities @ predictive.outcomes, rtol=1e-6)
    second = predictive.probabilities @ predictive.outcomes**2
    np.testing.assert_allclose(std**2, second - mean**2 - mean, rtol=1e-4, atol=1e-7)


@pytest.mark.parametrize("prior", ["gaussian", "laplace", "student_t"])
@pytest.mark.parametrize("rate", ["exp", "softplus"])
def test_slopes_are_those_of_the_evidence(rate, prior):
    X, y, _ = problem(0, 12)
    model = PoissonRegression(rate, prior=prior, exposure=3, tol=1e-12, max_iter=2000)
    at = _Problem(RegressionSettings.of(model), CountRows(X, y, 3))
    slope = at.evaluate(-0.5, None, False).slope
    high, low = (at.evaluate(-0.5 + side, None, False).value for side in (1e-3, -1e-3))
    assert slope == pytest.approx((high - low) / 2e-3, rel=2e-3, abs=2e-4)


def test_a_weak_prior_is_maximum_likelihood():
    X, y, _ = problem(0, 400)
    ours = PoissonRegression(prior_scale=30.0, exposure=3).fit(X, y)
    theirs = PoissonRegressor(alpha=0, tol=1e-8).fit(X[:, :3], y / X[:, 3], sample_weight=X[:, 3])
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=0.02)
    assert ours.intercept_ == pytest.approx(theirs.intercept_, abs=0.02)


def test_thirty_rows_do_not_overfit():
    gains = []
    for seed in range(4):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(1030, 20))
        y = rng.poisson(np.exp(0.5 * X[:, 0] + 0.5))
        model = PoissonRegression().fit(X[:30], y[:30])
        constant = PoissonRegression().fit(np.zeros((30, 1)), y[:30])
        gains.append(
            np.mean(model.log_predictive(X[30:], y[30:]) - constant.log_predictive(np.zeros((1000, 1)), y[30:]))
        )
    assert np.mean(gains) > 0 and min(gains) > -0.1


def test_twice_the_exposure_is_twice_the_same_row():
    """Two rows at equal rate equal one with the sum of counts and exposures."""
    X, y, _ = problem(0, 20)
    doubled = np.vstack([X, X])
    merged = X.copy()
    merged[:, 3] *= 2
    options = {"prior_scale": 0.7, "exposure": 3, "tol": 1e-10}
    apart = PoissonRegression(**options).fit(doubled, np.concatenate([y, y + 1]))
    together = PoissonRegression(**options).fit(merged, 2 * y + 1)
    np.testing.assert_allclose(apart.coef_, together.coef_, atol=1e-3)
    np.testing.assert_allclose(apart.coef_std_, together.coef_std_, rtol=1e-3)


def test_longer_counting_tells_more_and_may_cost_more():
    X, y, _ = problem(0, 10)
    model = PoissonRegression(exposure=3).fit(X, y)
    same = np.repeat(X[:1], 4, axis=0)
    same[:, 3] = [0.1, 1.0, 10.0, 100.0]
    gains = model.select(same, 4, joint=False, return_scores=True)
    assert gains[0].tolist() == [3, 2, 1, 0] and np.all(np.diff(gains[1]) < 0)
    assert model.select(same, cost=lambda rows: rows[:, 3])[0] == 0  # gains are concave in time


def test_fewer_rows_than_weights_choose_as_well():
    """The posterior is kept by its rows then; a target has exposures of its own."""
    X = np.random.default_rng(0).standard_normal((30, 8))
    model = PoissonRegression(prior_scale=0.5, fit_intercept=False, exposure=7).fit(abs(X[:4]) + 0.1, [0, 1, 2, 1])
    rows = abs(X[4:]) + 0.1
    assert 0 <= model.select(rows)[0] < 26
    belief = model.predictive(rows, target=rows[:3])
    assert belief.target.mean.shape == (3,) and np.all(np.isfinite(belief.target.probabilities))


def test_frames_and_sparse_rows():
    X, y, _ = problem(0, 40)
    dense = PoissonRegression(exposure=3).fit(X, y)
    frame = pd.DataFrame(X, columns=["a", "b", "c", "hours"])
    named = PoissonRegression(exposure="hours").fit(frame, y)
    np.testing.assert_array_equal(named.coef_, dense.coef_)
    np.testing.assert_array_equal(named.predict(frame[:5]), dense.predict(X[:5]))
    assert PoissonRegression(exposure="hours").select(frame).shape == (1,)  # the prior answers
    thin = PoissonRegression(exposure=3).fit(sp.csr_array(X), y)
    np.testing.assert_allclose(thin.predict(sp.csr_array(X[:5])), dense.predict(X[:5]), rtol=1e-6)


def test_learning_in_parts_is_learning_at_once():
    X, y, _ = problem(0, 40)
    parts = PoissonRegression(prior_scale=0.5, exposure=3, tol=1e-9).fit(X[:25], y[:25]).partial_fit(X[25:], y[25:])
    whole = PoissonRegression(prior_scale=0.5, exposure=3, tol=1e-9).fit(X, y)
    np.testing.assert_allclose(parts.coef_, whole.coef_, atol=1e-4)
    again = PoissonRegression(prior_scale=0.5, exposure=3, tol=1e-9).restore(parts.state())
    np.testing.assert_array_equal(again.predict(X), parts.predict(X))
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(parts)).predict(X), parts.predict(X))


@pytest.mark.parametrize(
    ("rate", "y", "match"),
    [
        ("exp", [-1.0, 2.0], "^y must be >= 0"),
        ("rectified", [0.5, 2.0], "^y must hold counts"),
        ("rectified", [1e12, 2.0], "^y must hold counts up to"),
        ("exp", [np.nan, 2.0], "NaN"),
    ],
)
def test_bad_counts(rate, y, match):
    model = PoissonRegression(rate)
    with pytest.raises(ValueError, match=match):
        model.fit(np.eye(2), y)
    assert not hasattr(model, "belief_")


def test_bad_parameters():
    X, y, _ = problem(0, 5)
    X[2, 3] = 0.0
    with pytest.raises(ValueError, match="^exposure must be positive, got 0 in row 2"):
        PoissonRegression(exposure=3).fit(X, y)
    with pytest.raises(ValueError, match="^exposure is column 9, but X has 4"):
        PoissonRegression(exposure=9).fit(X, y)
    with pytest.raises(ValueError, match="^variational_gaussian refuses Poisson"):
        PoissonRegression("rectified", inference="variational_gaussian").fit(X, y)
    with pytest.raises(ValueError, match='^rate="rectified" and prior="student_t" cannot be used together'):
        PoissonRegression("rectified", prior="student_t").fit(X, y)
    with pytest.raises(ValueError, match="^level must lie"):
        PoissonRegression().fit(X, y).interval(X, 1.5)
    with pytest.raises(ValueError, match="^y must have shape"):
        PoissonRegression().fit(X, y).log_predictive(X, y[:1])
    with pytest.raises(NotFittedError):
        PoissonRegression().predict(X)


def test_softplus_rates_far_below_one_are_those_of_exp():
    """Where f is very negative log(1 + exp(f)) is exp(f): so are rates, and the intercept's prior allows for that."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 2))
    y = rng.poisson(0.02 * np.exp(X @ [1.0, -1.0])).astype(float)
    rates = [PoissonRegression(rate, prior_scale=1.0).fit(X, y).predict(X) for rate in ("softplus", "exp")]
    np.testing.assert_allclose(*rates, rtol=0.3, atol=0.005)


def test_no_event_at_all_has_an_answer():
    model = PoissonRegression().fit(np.eye(4), np.zeros(4))
    assert np.all(model.predict(np.eye(4)) < 2) and np.isfinite(model.log_evidence_)


def test_the_mean_rate_that_centres_the_prior_is_per_unit_of_exposure():
    """Ten times as long at each row, ten times as many counts: the same rate, where half a count does not matter."""
    rows, exposure = np.random.default_rng(0).standard_normal((40, 2)), np.repeat([1.0, 9.0], 20)
    counts = np.tile([3000.0, 5000.0], 20) * exposure
    rates = []
    for longer in (1.0, 10.0):
        X = np.column_stack([rows, longer * exposure])
        rates.append(PoissonRegression(exposure=2).fit(X, longer * counts).belief_.data.mean_rate)
    assert rates == pytest.approx([4000.0, 4000.0], rel=1e-4)
    assert rates[0] == pytest.approx((counts.sum() + 0.5) / exposure.sum(), rel=1e-12)
