"""Exact search with bounds: the same answer as scoring everything, and few scored where lengths differ."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from adaptive import scorers
from adaptive.estimators import BayesianLogisticRegression
from adaptive.potentials import BernoulliLogit, BernoulliProbit, Gaussian
from adaptive.predictive import GaussianProjections, StatedPredictive
from adaptive.scorers import record_of
from adaptive.search import Balls, best_pairs, best_rows
from adaptive.search.balls import largest_products
from adaptive.selection import select
from designs.pool import Product

pytestmark = pytest.mark.filterwarnings("ignore:best .* a search with bounds does not help")


def vectors(m, r=4, seed=0, sigma=0.7, kind="variances"):
    rng = np.random.default_rng(seed)
    mean = rng.standard_normal((m, r)) * rng.lognormal(0, sigma, (m, 1))
    if kind == "none":
        return mean
    if kind == "variances":
        return mean, rng.gamma(1.0, 0.3, (m, r))
    root = 0.4 * rng.standard_normal((m, r, r))
    return mean, root @ root.transpose(0, 2, 1)


def everything(users, items, deviations):
    """Scores of all pairs from the formula, one pair at a time."""
    (m, S), (n, T) = (pair if isinstance(pair, tuple) else (pair, np.zeros_like(pair)) for pair in (users, items))
    S, T = (c if c.ndim == 3 else np.stack([np.diag(v) for v in c]) for c in (S, T))
    mean = m @ n.T
    variance = (
        np.einsum("ir,jrs,is->ij", m, T, m) + np.einsum("jr,irs,js->ij", n, S, n) + np.einsum("irs,jsr->ij", S, T)
    )
    return mean + deviations * np.sqrt(variance)


def best_of(scores, n, cost=1.0):
    """By sorting everything; values are rounded so that only true ties are ties."""
    worths = np.round((scores / cost).ravel(), 9)
    return np.lexsort((np.arange(worths.size), -worths))[:n]


# -------------------------------------------------------------------------------------------------------- pairs


@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 10**6), n=st.integers(1, 12), deviations=st.sampled_from([0.0, 0.5, 2.0, 50.0]),
    kinds=st.tuples(*[st.sampled_from(["none", "variances", "covariances"])] * 2), size=st.sampled_from([1, 3, 8, 100]),
    shift=st.sampled_from([0.0, -8.0]),
)  # fmt: skip
def test_the_best_pairs_are_those_of_scoring_everything(seed, n, deviations, kinds, size, shift):
    users, items = vectors(31, 3, seed, kind=kinds[0]), vectors(47, 3, seed + 1, kind=kinds[1])
    if shift:  # all scores far below zero
        users = (abs(users[0]) - shift, users[1]) if isinstance(users, tuple) else abs(users) - shift
        items = (-abs(items[0]), items[1]) if isinstance(items, tuple) else -abs(items)
    rng = np.random.default_rng(seed)
    scores = everything(users, items, deviations)
    cost = {0: None, 1: rng.uniform(0.5, 2, 47), 2: rng.uniform(0.5, 2, (31, 1)), 3: rng.uniform(0.5, 2, (31, 47))}[
        seed % 4
    ]
    excluded = rng.random((31, 47)) < (0.5 if seed % 3 else 0.0)
    allowed = np.where(excluded, -np.inf, scores)
    listed = sparse.csr_matrix(excluded) if seed % 2 else np.argwhere(excluded)
    found = best_pairs(users, items, n, deviations=deviations, exclude=listed, cost=cost, size=size)
    expected = best_of(allowed, n, 1.0 if cost is None else cost)
    np.testing.assert_array_equal(found.positions, expected)
    np.testing.assert_allclose(found.scores, scores.ravel()[expected], rtol=1e-10)
    assert [tuple(pair) for pair in found.pairs] == Product(range(31), range(47)).take(expected)
    assert found.n_candidates == 31 * 47 and found.n_scored <= found.n_candidates


def test_the_best_by_another_score_are_those_of_scoring_everything():
    """One that grows with mean and variance, as what a count teaches does."""
    users, items = vectors(40, 3, 0), vectors(50, 3, 1)
    (m, s), (n, t) = users, items
    mean, variance = m @ n.T, (m**2 + s) @ t.T + s @ (n**2).T

    def score(mean, variance):
        return np.log1p(variance * np.exp(np.minimum(mean + 0.5 * variance, 30.0)))

    cost = np.random.default_rng(2).uniform(0.5, 2.0, 50)
    found = best_pairs(users, items, 9, score=score, exclude=[(0, 1)], cost=cost, size=4)
    everything_ = score(mean, variance)
    everything_[0, 1] = -np.inf
    np.testing.assert_array_equal(found.positions, best_of(everything_, 9, cost))
    np.testing.assert_allclose(found.scores, everything_.ravel()[found.positions], rtol=1e-10)
    assert found.share < 0.9


def test_ties_go_to_the_lowest_position():
    users, items = np.repeat(vectors(3, kind="none"), 4, axis=0), np.repeat(vectors(4, kind="none"), 5, axis=0)
    order = np.random.default_rng(0).permutation(20)
    found = best_pairs(users, items[order], 9, deviations=0, size=2)
    np.testing.assert_array_equal(found.positions, best_of(users @ items[order].T, 9))
    nothing = best_pairs(np.zeros((5, 2)), np.ones((6, 2)), 4)
    assert nothing.positions.tolist() == [0, 1, 2, 3] and np.all(nothing.scores == 0)


def test_long_vectors_are_found_without_scoring_the_others():
    users, items = vectors(2000, 16, 0, sigma=0.5), vectors(1500, 16, 1, sigma=0.5)
    found = best_pairs(users, items, 10)
    assert found.share < 0.05 and not found.useless
    assert f"({found.share:.2%})" in str(found)
    np.testing.assert_array_equal(found.positions, best_of(everything_fast(users, items), 10))


def everything_fast(users, items):
    (m, s), (n, t) = users, items
    return m @ n.T + 2 * np.sqrt((m**2 + s) @ t.T + s @ (n**2).T)


def test_where_bounds_exclude_nothing_it_is_said():
    rng = np.random.default_rng(0)
    users, items = (v / np.linalg.norm(v, axis=1, keepdims=True) for v in rng.standard_normal((2, 60, 40)))
    with pytest.warns(UserWarning, match="3,600 of 3,600 candidates scored .* does not help here"):
        found = best_pairs(users, items, 3, deviations=0)
    assert found.useless and found.share == 1.0
    np.testing.assert_array_equal(found.positions, best_of(users @ items.T, 3))


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 10**6), size=st.integers(1, 9), r=st.integers(1, 6))
def test_bounds_are_bounds(seed, size, r):
    x, y = vectors(40, r, seed, kind="none"), vectors(30, r, seed + 1, kind="none")
    x[seed % 40] = 0.0
    ours, theirs = Balls(x, size, shells=bool(seed % 2)), Balls(y, size, shells=True)
    bounds = largest_products(ours, theirs)
    for a in range(len(ours.starts)):
        for b in range(len(theirs.starts)):
            assert (x[ours.block(a)] @ y[theirs.block(b)].T).max() <= bounds[a, b] + 1e-9
    assert sorted(ours.order) == list(range(40)) and max(len(ours.block(k)) for k in range(len(ours.starts))) <= size


def test_bad_pairs_are_refused():
    good = vectors(4)
    for users, items, options, message in [
        (np.ones(3), good, {}, r"users must be an array \(m, factors\)"),
        (good, (np.ones((4, 3)), None), {}, "users have 4 factors and items 3"),
        (
            good,
            (good[0], np.ones((2, 4))),
            {},
            r"items covariances must have shape \(4, 4\) or \(4, 4, 4\), got \(2, 4\)",
        ),
        (good, (good[0], -good[1]), {}, "items covariances must be positive semi-definite"),
        (good, good, {"n": 17}, "n is 17, but only 16 of 16 pairs are allowed"),
        (good, good, {"exclude": np.array([[0, 4]])}, r"exclude holds the pair \[0, 4\], outside \(4, 4\)"),
        (good, good, {"exclude": sparse.eye(3)}, r"exclude must have shape \(4, 4\)"),
        (good, good, {"exclude": [1, 2]}, "exclude must be a sparse matrix or"),
        (good, good, {"cost": np.ones(3)}, r"cost must broadcast to \(4, 4\)"),
        (good, good, {"cost": [1, 1, 0, 1]}, "cost must be > 0"),
        (good, good, {"deviations": -1}, "deviations must be >= 0"),
        ((np.full((2, 2), np.nan), None), good, {}, "users contains nan"),
    ]:
        with pytest.raises(ValueError, match=message):
            best_pairs(users, items, **options)


# --------------------------------------------------------------------------------------------------------- rows


class Linear:
    def __init__(self, d, likelihood, seed=0, scale=1.0):
        rng = np.random.default_rng(seed)
        self.mean, self.root = rng.standard_normal(d), scale * rng.standard_normal((d, d))
        self.likelihood, self.looked_at = likelihood, 0

    def predictive(self, candidates, *, target=None, random_state=None):
        self.looked_at += len(candidates)
        return GaussianProjections.from_rows(
            candidates, self.mean, root=self.root, likelihood=self.likelihood, random_state=random_state
        )


MONOTONE = [name for name in scorers.__all__ if record_of(scorers.get(name)).monotone]


@pytest.mark.parametrize("name", MONOTONE)
@pytest.mark.parametrize("family", [BernoulliLogit(), BernoulliProbit()], ids=lambda family: family.name)
def test_scores_fall_with_the_mean_and_grow_with_the_variance(name, family):
    mean, variance = np.meshgrid(np.linspace(0, 30, 31), np.logspace(-4, 4, 41), indexing="ij")
    for sign in (1, -1):
        belief = StatedPredictive(mean=sign * mean.ravel(), variance=variance.ravel(), likelihood=family)
        scores = scorers.get(name)(belief).reshape(mean.shape)
        assert np.diff(scores, axis=0).max() <= 1e-9 and np.diff(scores, axis=1).min() >= -1e-9


@settings(max_examples=25, deadline=None)
@given(
    seed=st.integers(0, 10**6), n=st.integers(1, 9), name=st.sampled_from(MONOTONE), d=st.integers(1, 4),
    family=st.sampled_from([BernoulliLogit(), BernoulliProbit()]), size=st.sampled_from([1, 4, 32]),
)  # fmt: skip
def test_the_best_rows_are_those_of_select(seed, n, name, d, family, size):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((150, d)) * rng.lognormal(0, 0.8, (150, 1))
    X[100:110] = X[20:30]  # ties
    options = {
        "scorer": name,
        "cost": rng.uniform(0.5, 2, 150) if seed % 2 else None,
        "mask": rng.random(150) < 0.6 if seed % 3 else None,
        "exclude": [3, 4],
        "random_state": 0,
    }
    model = Linear(d, family, seed)
    expected, scores = select(model, X, n, joint=False, return_scores=True, **options)
    found = best_rows(model, Balls(X, size), n, **options)
    np.testing.assert_array_equal(found.positions, expected)
    np.testing.assert_allclose(found.scores, scores, rtol=1e-8, atol=1e-12)


def test_gaussian_outcomes_and_an_intercept():
    X = np.random.default_rng(0).standard_normal((3000, 2))
    model = Linear(2, Gaussian(0.5))
    found = best_rows(model, Balls(X), 5)
    np.testing.assert_array_equal(found.positions, select(model, X, 5, joint=False))
    assert found.share < 0.3
    fitted = BayesianLogisticRegression(prior_scale=1.0).fit(X[:40] + 1, X[:40, 0] > 0.3)
    for model in (fitted, BayesianLogisticRegression(prior_scale=1.0, classes=[0, 1])):  # before any fit, too
        found = best_rows(model, X, 5)
        np.testing.assert_array_equal(found.positions, model.select(X, 5, scorer="information_gain", joint=False))


def test_rows_outside_the_blocks_looked_at_are_never_scored():
    X = np.random.default_rng(0).standard_normal((5000, 2))
    model, balls = Linear(2, BernoulliLogit()), Balls(X)
    found = best_rows(model, balls, 3)
    assert model.looked_at == found.n_scored + len(balls.starts) and found.share < 0.2


@pytest.mark.parametrize("case", ["scorer", "counts", "draws"])
def test_without_a_bound_all_rows_are_scored_and_it_is_said(case):
    from sklearn.linear_model import LogisticRegression

    from adaptive.estimators import wrap
    from adaptive.potentials import Poisson

    X = np.random.default_rng(0).standard_normal((60, 2))
    model = Linear(2, Poisson() if case == "counts" else BernoulliLogit(), scale=0.3)
    if case == "draws":
        model = wrap(LogisticRegression()).partial_fit(X[:9], X[:9, 0] > 0)
    scorer = {"scorer": "a_optimality", "counts": "information_gain", "draws": "margin"}[case]
    with pytest.warns(UserWarning, match=f"{scorer} has no bound over blocks of rows here: all 60 rows are scored"):
        found = best_rows(model, X, 3, scorer=scorer)
    assert found.useless
    np.testing.assert_array_equal(found.positions, select(model, X, 3, scorer=scorer, joint=False))


def test_high_dimensions_are_said_to_be_of_no_use():
    X = np.random.default_rng(0).standard_normal((2000, 60))
    with pytest.warns(UserWarning, match="2,000 of 2,000 candidates scored"):
        found = best_rows(Linear(60, BernoulliLogit()), X, 3, scorer="uncertainty")
    np.testing.assert_array_equal(
        found.positions, select(Linear(60, BernoulliLogit()), X, 3, scorer="uncertainty", joint=False)
    )


def test_bad_rows_are_refused():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(ValueError, match="points contains nan at position"):
            Balls([[np.nan]])
        with pytest.raises(ValueError, match="points must hold at least one row"):
            Balls(np.empty((0, 2)))
        with pytest.raises(ValueError, match="mask must be 3 booleans"):
            best_rows(Linear(1, BernoulliLogit()), np.ones((3, 1)), mask=[1, 2, 3])
        with pytest.raises(ValueError, match="n_select is 4, but only 3 of 3"):
            best_rows(Linear(1, BernoulliLogit()), np.ones((3, 1)), 4)


def test_pairs_whose_answer_teaches_most_are_found():
    """A score that falls with |mean|: exactly, with few of the pairs scored where products are long."""
    rng = np.random.default_rng(0)
    users, items = (rng.standard_normal((n, 3)) * rng.lognormal(0, 1, (n, 1)) for n in (400, 300))
    spreads = [rng.uniform(0.0, 0.02, rows.shape) for rows in (users, items)]

    def score(mean, variance):
        return variance / (1.0 + 4.0 * mean**2)

    found = best_pairs((users, spreads[0]), (items, spreads[1]), 12, score=score, symmetric=True, size=8)
    mean = users @ items.T
    variance = (users**2 + spreads[0]) @ spreads[1].T + spreads[0] @ (items**2).T
    everything = score(mean, variance).ravel()
    np.testing.assert_allclose(found.scores, np.sort(everything)[::-1][:12], rtol=1e-10)
    assert found.share < 0.7
    with pytest.raises(ValueError, match="^symmetric=True is about a score"):
        best_pairs(users, items, 2, symmetric=True)
