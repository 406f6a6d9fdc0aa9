"""Counts that scatter beyond Poisson's: bands of `PoissonRegression` know of it, means and choices do not."""

import warnings

import numpy as np
import pytest

from adaptive import PoissonFactorization, PoissonRegression
from adaptive.estimators.pairs.factorization.forecasts import intervals, log_probabilities
from adaptive.estimators.scatter import LeftOut
from adaptive.potentials import Poisson
from tests.culprits import naming


def rows(scatter, seed=0, n=400):
    """Rows, and counts whose log rates have so large a deviation of their own."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 3))
    log_rates = 1.5 + X @ [0.5, -0.3, 0.0] + scatter * rng.standard_normal(n) - 0.5 * scatter**2
    return X, rng.poisson(np.exp(log_rates)).astype(float)


def covered(model, X, y):
    low, high = model.interval(X, 0.9)
    return np.mean((low <= y) & (y <= high))


def test_intervals_hold_counts_that_scatter():
    X, y = rows(1.0)
    model = PoissonRegression().fit(X[:150], y[:150])
    assert 0.85 < covered(model, X[150:], y[150:]) < 0.97
    assert 0.6 < model.scatter_ < 1.5  # 1 is true
    assert model.variance_factor_.value > 4 and model.variance_factor_.gain > 0.5


def test_poisson_counts_are_left_as_they_are():
    X, y = rows(0.0)
    model = PoissonRegression().fit(X[:150], y[:150])
    assert model.scatter_ < 0.02
    assert 0.87 < covered(model, X[150:], y[150:]) < 0.97


def test_more_scatter_is_a_larger_variance():
    found = [PoissonRegression().fit(*rows(scatter)).scatter_ for scatter in (0.0, 0.3, 0.6, 1.2)]
    assert found == sorted(found)
    np.testing.assert_allclose(found, np.square([0.0, 0.3, 0.6, 1.2]), rtol=0.4, atol=0.03)


def test_means_ranks_and_choices_do_not_know_of_it():
    X, y = rows(1.0)
    model = PoissonRegression().fit(X[:100], y[:100])
    before = model.predict(X), model.select(X[100:], n_select=3), model.predictive(X).mean
    model.interval(X)
    np.testing.assert_array_equal(model.predict(X), before[0])
    np.testing.assert_array_equal(model.select(X[100:], n_select=3), before[1])


def test_it_is_found_again_in_another_order_and_after_a_snapshot():
    X, y = rows(0.8, n=60)
    model = PoissonRegression().fit(X, y)
    other = PoissonRegression().fit(X[::-1], y[::-1])
    again = PoissonRegression().restore(model.state())
    assert other.scatter_ == pytest.approx(model.scatter_, rel=2e-3)
    assert again.scatter_ == model.scatter_


def test_few_rows_leave_several_scatters_possible_and_many_tell():
    X, y = rows(0.8)
    few, many = (PoissonRegression().fit(X[:n], y[:n]) for n in (10, 300))
    for model in (few, many):
        weights, scatters = model.belief_.possible_scatters
        assert weights.sum() == pytest.approx(1.0) and len(weights) == len(scatters)
    deviations = []
    for model in (few, many):
        weights, scatters = model.belief_.possible_scatters
        t = np.array([one.variance for one in scatters])
        deviations.append(np.sqrt(weights @ (t - weights @ t) ** 2) / (weights @ t))
    assert deviations[1] < 0.5 * deviations[0]


@pytest.mark.parametrize("rate", ["exp", "softplus", "rectified"])
def test_intervals_are_those_of_the_mixture(rate):
    X, y = rows(0.6, n=40)
    model = PoissonRegression(rate, exposure=0).fit(np.abs(X[:12]), y[:12])
    new = np.abs(X[20:26])
    counts = np.arange(400.0)
    cumulative = np.cumsum(np.exp([model.log_predictive(np.repeat(x[None], 400, axis=0), counts) for x in new]), axis=1)
    for level in (0.5, 0.9):
        for end, share in zip(model.interval(new, level), (0.5 * (1 - level), 0.5 * (1 + level)), strict=True):
            np.testing.assert_array_equal(end, np.argmax(cumulative >= share, axis=1))


def test_few_rows_have_none_while_every_rate_and_prior_has_one():
    X, y = rows(0.8, n=60)
    few = PoissonRegression().fit(X[:4], y[:4])
    assert few.scatter_ == 0.0 and few.variance_factor_ is None

    for rate in ("exp", "softplus"):
        for prior in ("gaussian", "laplace", "student_t"):
            with naming((rate, prior)):
                model = PoissonRegression(rate, prior=prior).fit(X, y)
                assert model.variance_factor_.value >= 1.0 and np.isfinite(model.interval(X)).all()


def test_deviations_of_rates_say_what_they_do_not_know():
    X, y = rows(1.0)
    model = PoissonRegression().fit(X, y)
    with pytest.warns(UserWarning, match="scatter about their rates more than Poisson counts do"):
        model.predict(X, return_std=True)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        PoissonRegression().fit(*rows(0.0)).predict(X, return_std=True)
        model.predict(X)


def test_intervals_of_a_factorisation_hold_counts_that_its_factors_do_not_explain():
    rng = np.random.default_rng(0)
    users, items = rng.standard_normal((30, 2)), 0.7 * rng.standard_normal((20, 2))
    pairs = np.array([(u, i) for u in range(30) for i in range(20)])
    log_rates = (1.0 + users @ items.T).ravel() + 0.8 * rng.standard_normal(600)
    order, y = rng.permutation(600), rng.poisson(np.exp(log_rates)).astype(float)
    seen, new = order[:300], order[300:]
    learnt = PoissonFactorization(2, random_state=0).fit(pairs[seen], y[seen])
    low, high = learnt.interval(pairs[new])
    assert learnt.dispersion_ > 1.0 and np.mean((low <= y[new]) & (y[new] <= high)) > 0.8
    model = PoissonFactorization(2, random_state=0, dispersion=1.0).fit(pairs[seen], y[seen])  # scatter alone
    low, high = model.interval(pairs[new])
    bare = intervals(*model.belief_.located(*pairs[new].T), 0.9)
    assert np.mean((low <= y[new]) & (y[new] <= high)) > 0.8
    assert np.mean((bare[0] <= y[new]) & (y[new] <= bare[1])) < 0.7
    assert model.scatter_ > 0.1 and model.variance_factor_.gain > 0
    own = model.user(0)
    assert own.interval([0, 1])[1].tolist() == model.interval([(0, 0), (0, 1)])[1].tolist()
    assert PoissonFactorization(2, inference="map", random_state=0).fit(pairs[seen], y[seen]).variance_factor_ is None


def levels(n, share, seed=0):
    """Pairs, and counts about a user's level times an item's, with so large a share of Poisson's variance."""
    rng = np.random.default_rng(seed)
    pairs = np.array([(u, i) for u in range(30) for i in range(20)])[rng.permutation(600)[:n]]
    rates = np.exp(2.0 + 0.3 * rng.standard_normal(30)[pairs[:, 0]] + 0.3 * rng.standard_normal(20)[pairs[:, 1]])
    return pairs, np.maximum(np.round(rates + np.sqrt(share * rates) * rng.standard_normal(n)), 0.0)


def test_counts_that_scatter_less_than_poissons_are_predicted_by_surer_rates():
    pairs, y = levels(400, 0.1)
    model = PoissonFactorization(1, random_state=0).fit(pairs[:200], y[:200])
    new = pairs[200:], y[200:]
    bare = log_probabilities(*model.belief_.located(*new[0].T), new[1])
    assert model.poisson_share_ < 1.0 and model.scatter_ < 1e-3
    assert np.mean(model.log_predictive(*new)) > np.mean(bare) + 0.005
    own = model.user(0)
    np.testing.assert_array_equal(own.log_predictive([0, 1], [7, 7]), model.log_predictive([(0, 0), (0, 1)], [7, 7]))
    below = intervals(*model.belief_.located(*new[0].T), 0.9)
    assert np.all(np.concatenate(model.interval(new[0])) == np.concatenate(below))  # bands are not narrowed
    most = [np.max(model.log_predictive([pair] * 20, np.arange(20))) for pair in ((99, 99), (0, 0))]
    assert most[0] < most[1] - 0.1  # who is not known stays uncertain


def test_what_probabilities_lose_of_their_spread_keeps_their_means_and_adds_up_to_one():
    pairs, y = levels(200, 0.1)
    model = PoissonFactorization(1, random_state=0).fit(pairs, y)
    counts = np.arange(60.0)
    for pair in ((0, 0), (5, 7)):
        p = np.exp(model.log_predictive([pair] * 60, counts))
        assert p.sum() == pytest.approx(1.0, abs=1e-6)
        assert p @ counts == pytest.approx(model.predict([pair])[0], rel=0.01)


def test_the_largest_scatter_that_is_sought_leaves_weights_of_one():
    y = np.tile([0.0, 1e6], 50)  # about a rate that seems to be known
    rows = LeftOut(Poisson(y, "exp"), (np.full(100, 7.0), np.full(100, 1e-4)))
    assert np.log(rows.scatter.factor.value) > 8.5
    weights, scatters = rows.possible()
    assert weights.sum() == pytest.approx(1.0) and np.isfinite([one.variance for one in scatters]).all()


def test_half_of_the_prior_is_on_the_model_as_it_is():
    y = np.random.default_rng(0).poisson(20.0, 40).astype(float)
    rows = LeftOut(Poisson(y, "exp"), (np.full(40, np.log(20.0)), np.full(40, 1e-2)))
    weights, scatters = rows.possible()
    none = sum(weight for weight, one in zip(weights, scatters, strict=True) if one.variance == 0)
    assert 0.5 < none < 1  # rows of the model speak for it, and cannot rule out a little
    wide = LeftOut(Poisson(np.tile([2.0, 60.0], 20), "exp"), rows.cavities).possible()
    assert all(one.variance > 0 for one in wide[1])
