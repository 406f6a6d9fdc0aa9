"""Sparse regression: its evidence climbs, its intervals cover, and it keeps the contract."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import BayesianRidge

from adaptive import SequentialDesign, SparseLinearRegression
from adaptive.estimators.linear.sparse_problem import SparseProblem, SparseSettings
from adaptive.estimators.rows.training import Rows
from tests.estimators.conformance import check_conforms, in_one_line


@pytest.mark.parametrize("estimator", [SparseLinearRegression()], ids=in_one_line)
def test_scikit_learn_conformance(estimator):
    check_conforms(estimator)


def sparse_problem(seed, rows=60, columns=90, used=4, noise=0.3, test=400):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows + test, columns))
    w = np.zeros(columns)
    w[rng.choice(columns, used, replace=False)] = rng.choice([-1, 1], used) * (0.5 + rng.uniform(size=used))
    y = X @ w + noise * rng.normal(size=len(X))
    return X[:rows], y[:rows], X[rows:], y[rows:], w


def test_intervals_cover_and_weights_are_found():
    covered, errors = [], []
    for seed in range(2):
        X, y, X_new, y_new, w = sparse_problem(seed, 100, 120, 4, 0.5, 1000)
        model = SparseLinearRegression().fit(X, y)
        mean, std = model.predict(X_new, return_std=True)
        covered.append(np.mean(np.abs(y_new - mean) < 1.96 * std))
        errors.append(np.sqrt(np.mean((model.coef_ - w) ** 2)))
        assert 0.08 < model.noise_variance_ < 0.5
        assert np.all(np.abs(model.coef_ - w) < 6 * model.coef_std_ + 0.1)
    assert 0.88 < np.mean(covered) < 0.99
    assert np.mean(errors) < 0.06


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize(
    ("prior", "inference"),
    [
        ("laplace", "expectation_propagation"),
        ("laplace", "variational_bounds"),
        ("laplace", "variational_gaussian"),
        ("student_t", "variational_bounds"),
        ("student_t", "variational_gaussian"),
        ("gaussian", None),
    ],
)
def test_slopes_are_those_of_the_evidence(prior, inference, fit_intercept):
    X, y, *_ = sparse_problem(0, 12, 6, 2)
    model = SparseLinearRegression(prior, inference=inference, fit_intercept=fit_intercept, tol=1e-12, max_iter=2000)
    problem = SparseProblem(SparseSettings.of(model), Rows(X, y))
    point = np.log([0.2, 0.4])
    slope = problem.slope(*problem.infer(point, None), point)
    for k, step in enumerate(1e-4 * np.eye(2)):
        high, low = (problem.infer(point + side * step, None)[1].log_evidence for side in (1, -1))
        assert slope[k] == pytest.approx((high - low) / 2e-4, rel=1e-4, abs=1e-4)


def test_a_gaussian_prior_is_bayesian_ridge_where_rows_outweigh_the_prior_of_the_scales():
    X, y, X_new, *_ = sparse_problem(0, 400, 40, 30)
    ours = SparseLinearRegression("gaussian", hyperparameters="mode").fit(X, y)
    theirs = BayesianRidge(alpha_1=0, alpha_2=0, lambda_1=0, lambda_2=0).fit(X, y)
    assert ours.noise_variance_ == pytest.approx(1 / theirs.alpha_, rel=0.02)
    assert ours.prior_scale_ == pytest.approx(theirs.lambda_**-0.5, rel=0.02)
    np.testing.assert_allclose(ours.predict(X_new), theirs.predict(X_new), atol=0.02)
    assert ours.evidence_kind_ == "exact"


@pytest.mark.parametrize("prior", ["laplace", "student_t", "gaussian"])
def test_the_mode_is_where_evidence_times_prior_is_largest(prior):
    X, y, *_ = sparse_problem(1, 40, 20, 3)
    model = SparseLinearRegression(prior, hyperparameters="mode").fit(X, y)
    problem, point = SparseProblem(SparseSettings.of(model), Rows(X, y)), model.belief_.point
    best = model.log_evidence_ + problem.log_prior(point)
    for step in 0.35 * np.array([(-1, 0), (1, 0), (0, -1), (0, 1)]):
        noise, scale = np.exp(point + step)
        moved = SparseLinearRegression(prior, noise_variance=noise, prior_scale=scale).fit(X, y)
        assert moved.log_evidence_ + problem.log_prior(point + step) < best + 1e-2


@pytest.mark.parametrize("options", [{}, {"noise_variance": 0.1}, {"prior_scale": 0.3}])
def test_integrated_moments_and_evidence_are_those_of_a_fine_integral(options):
    X, y, X_new, y_new, _ = sparse_problem(3, 12, 4, 2)
    model = SparseLinearRegression("gaussian", **options).fit(X, y)
    assert len(model.belief_.beliefs) == (3 if options else 9)
    problem = SparseProblem(SparseSettings.of(model), Rows(X, y))
    free = problem.settings.free
    grid = [low + np.linspace(-6, 6, 25) if one else [low] for low, one in zip(problem.start, free, strict=True)]
    points = np.array([(noise, scale) for noise in grid[0] for scale in grid[1]])
    fine = [SparseLinearRegression("gaussian", noise_variance=a, prior_scale=b).fit(X, y) for a, b in np.exp(points)]
    logs = np.array([one.log_evidence_ for one in fine]) + problem.log_prior(points[:, free])
    evidence = np.logaddexp.reduce(logs) + np.sum(free) * np.log(0.5)
    assert model.log_evidence_ == pytest.approx(evidence, abs=0.1)
    shares = np.exp(logs - np.logaddexp.reduce(logs))
    means, deviations = np.swapaxes([one.predict(X_new[:9], return_std=True) for one in fine], 0, 1)
    mean, deviation = model.predict(X_new[:9], return_std=True)
    np.testing.assert_allclose(mean, shares @ means, atol=0.1 * deviation.min())
    second = shares @ (deviations**2 + (means - mean) ** 2)
    np.testing.assert_allclose(deviation, np.sqrt(second), rtol=0.2)
    density = shares @ np.exp([one.log_predictive(X_new[:9], y_new[:9]) for one in fine])
    np.testing.assert_allclose(model.log_predictive(X_new[:9], y_new[:9]), np.log(density), atol=0.2)


@pytest.mark.parametrize("prior", ["student_t", "laplace", "gaussian"])
@pytest.mark.parametrize("hyperparameters", ["integrated", "mode"])
def test_ten_rows_of_ten_columns_are_not_explained_without_noise(prior, hyperparameters):
    """The evidence of these two draws of noise alone is highest without noise at all."""
    for seed in (1, 2):
        rng = np.random.default_rng(seed)
        X, y = rng.normal(size=(210, 10)), rng.normal(size=210)
        model = SparseLinearRegression(prior, hyperparameters=hyperparameters)
        for k in (slice(0, 5), slice(5, 8), slice(8, 10)):
            model.partial_fit(X[k], y[k])
        assert model.noise_variance_ > 0.01
        assert model.log_predictive(X[10:], y[10:]).mean() > -4.0


def test_units_do_not_matter():
    X, y, X_new, *_ = sparse_problem(2, 40, 20, 3)
    plain = SparseLinearRegression().fit(X, y)
    scaled = SparseLinearRegression().fit(1e3 * X, 1e4 * y + 5e4)
    np.testing.assert_allclose((scaled.predict(1e3 * X_new) - 5e4) / 1e4, plain.predict(X_new), atol=0.05)


def test_sparse_tables_and_further_rows():
    X, y, X_new, *_ = sparse_problem(0, 40, 20, 3)
    dense = SparseLinearRegression().fit(X, y)
    table = SparseLinearRegression().fit(sp.csr_array(X), y)
    np.testing.assert_allclose(table.predict(sp.csr_array(X_new)), dense.predict(X_new), atol=1e-4)
    parts = SparseLinearRegression(noise_variance=0.1, prior_scale=0.1).partial_fit(X[:20], y[:20])
    parts.partial_fit(X[20:], y[20:])
    whole = SparseLinearRegression(noise_variance=0.1, prior_scale=0.1).fit(X, y)
    np.testing.assert_allclose(parts.predict(X_new), whole.predict(X_new), atol=5e-3)


def test_designed_rows_teach_more_than_random_ones():
    """Twenty rows of a pool whose columns differ in size: the error of the weights."""
    errors = {"information_gain": [], "random": []}
    for seed in range(3):
        rng = np.random.default_rng(seed)
        pool = rng.normal(size=(200, 10)) * np.geomspace(0.1, 1, 10) * rng.lognormal(sigma=0.7, size=(200, 1))
        w = np.zeros(10)
        w[[1, 8]] = 2.0, -1.0
        y = pool @ w + 0.1 * rng.normal(size=200)
        for scorer, found in errors.items():
            model = SparseLinearRegression(noise_variance=0.01, prior_scale=0.3, fit_intercept=False)
            design = SequentialDesign(model, pool, scorer=scorer, initial=3, random_state=seed)
            for _ in range(3 + 12):
                query = design.ask()
                design.tell(query, y[query.positions])
            found.append(np.linalg.norm(design.estimator_.coef_ - w))
    assert np.mean(errors["information_gain"]) < np.mean(errors["random"])


def test_beliefs_survive_pickles_and_plain_state():
    X, y, X_new, *_ = sparse_problem(0, 30, 10, 2)
    model = SparseLinearRegression("laplace").fit(X, y)
    for again in (pickle.loads(pickle.dumps(model)), SparseLinearRegression("laplace").restore(model.state())):
        np.testing.assert_array_equal(again.predict(X_new, return_std=True), model.predict(X_new, return_std=True))
    belief = model.predictive(X_new[:5])
    mean, std = model.predict(X_new[:5], return_std=True)
    np.testing.assert_allclose(belief.mean, mean)
    np.testing.assert_allclose(belief.variance + model.noise_variance_, std**2)
    spread = np.sqrt(belief.variance + model.noise_variance_)
    grid = mean[0] + spread[0] * np.linspace(-12, 12, 4001)
    density = np.exp(model.log_predictive(np.repeat(X_new[:1], 4001, axis=0), grid))
    assert np.trapezoid(density, grid) == pytest.approx(1.0, abs=1e-3)


def test_bad_input_is_one_sentence():
    X, y, *_ = sparse_problem(0, 10, 5, 2)
    with pytest.raises(NotFittedError):
        SparseLinearRegression().predict(X)
    for options, message in (
        ({"prior": "horseshoe"}, "prior must be one of"),
        ({"noise_variance": 0.0}, "noise_variance must be > 0"),
        ({"prior_scale": -1.0}, "prior_scale must be > 0"),
        ({"inference": "laplace"}, "inference must be one of"),
    ):
        with pytest.raises(ValueError, match=message):
            SparseLinearRegression(**options).fit(X, y)
    model = SparseLinearRegression().fit(X, y)
    before = model.predict(X)
    with pytest.raises(ValueError, match="NaN"):
        model.partial_fit(X[:1] * np.nan, y[:1])
    np.testing.assert_array_equal(model.predict(X), before)
    assert len(SparseLinearRegression().select(X, 2)) == 2
    constant = SparseLinearRegression().fit(X, np.full(10, 3.0))
    assert np.isfinite(constant.predict(X)).all()
