"""Paired symbols: ids of any kind, streams and trials, forgetting, odds and ranks against sums over all, bad input."""

from __future__ import annotations

import copy
import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from scipy.special import entr, expit
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError

from adaptive import PairedSymbols, SequentialDesign, diagnostics, scorers, selection
from adaptive.estimators.pairs.factorization import shortlist
from adaptive.estimators.pairs.inference import pace
from adaptive.estimators.pairs.inference.censored import climb_censored
from adaptive.estimators.pairs.symbols.shortlist import gains
from designs.pool import Product


def stream(seed=0, n=3000):
    rng = np.random.default_rng(seed)
    u, v = rng.standard_normal((40, 2)), rng.standard_normal((25, 2))
    users, items = rng.integers(0, 40, n), rng.integers(0, 25, n)
    return np.column_stack([users, items])[rng.random(n) < 1 / (1 + np.exp(-2 * np.sum(u[users] * v[items], axis=1)))]


LEARNT = {"user_precision": None, "item_precision": None, "bias_precision": None}
SOURCE = {"censored_ratio": 1.0, "selection": "full", **LEARNT}


@pytest.fixture(scope="module")
def fitted():
    return PairedSymbols(2, random_state=0).fit(stream())


def test_ids_of_any_kind_and_a_sparse_table_give_one_posterior(fitted):
    pairs = stream()
    named = [(f"u{u}", int(i)) for u, i in pairs]
    table = sparse.csr_matrix((np.ones(len(pairs)), pairs.T), shape=(41, 26))  # two rows and columns without a pair
    texts = PairedSymbols(2, random_state=0).fit(named)
    frame = PairedSymbols(2, random_state=0).fit(pd.DataFrame(pairs, columns=["user", "item"]))
    for other, asked in ((texts, named[:9]), (frame, pairs[:9])):
        np.testing.assert_array_equal(other.predict_proba(asked), fitted.predict_proba(pairs[:9]))
    assert texts.recommend("u3", 5).tolist() == fitted.recommend(3, 5).tolist()
    of_table = PairedSymbols(2, random_state=0).fit(table)
    assert len(of_table.users_) == 41 and len(of_table.items_) == 26
    np.testing.assert_allclose(of_table.belief_.data.graph.total, len(pairs))
    np.testing.assert_allclose(of_table.predict_proba(pairs[:50]), fitted.predict_proba(pairs[:50]), atol=0.1)
    repeated = PairedSymbols(2, random_state=0).fit(np.repeat(pairs[:5], 3, axis=0))
    assert repeated.belief_.data.counts.sum() == 15 and len(repeated.belief_.data) == len({tuple(p) for p in pairs[:5]})


def test_components_that_vanish_are_said_and_kept_by_a_precision():
    rng = np.random.default_rng(0)
    pairs = np.column_stack([rng.integers(0, 30, 300), rng.integers(0, 20, 300)])  # who takes what is left to chance
    with pytest.warns(UserWarning, match="components tell nothing .* user_precision=1.0 and item_precision=1.0 keep"):
        PairedSymbols(2, **SOURCE, random_state=0).fit(pairs)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        PairedSymbols(2, random_state=0).fit(pairs)


def test_recommending_is_scoring_all_and_log_predictives_are_probabilities(fitted):
    items = fitted.items_.tolist()
    everything = np.array([(3, item) for item in items])
    p = np.exp(fitted.log_predictive(everything))
    assert p.sum() == pytest.approx(1.0)
    worth = fitted.item_scores([3], popularity=1.0)[0]
    np.testing.assert_allclose(worth / worth.sum(), p, rtol=1e-9)
    halved = fitted.item_scores([3])[0]
    np.testing.assert_allclose(halved**2, worth * fitted.item_scores([3], popularity=0.0)[0], rtol=1e-9)
    seen = {int(i) for u, i in stream() if u == 3}
    expected = [items[k] for k in np.argsort(-p, kind="stable") if items[k] not in seen]
    assert fitted.recommend(3, 100, popularity=1.0).tolist() == expected and set(fitted.seen(3).tolist()) == seen
    assert fitted.recommend(3, 2, exclude_seen=False, popularity=0.0).tolist() == [
        items[k] for k in np.argsort(-fitted.predict_proba(everything)[:, 1], kind="stable")[:2]
    ]
    answers = fitted.log_predictive(everything[:4], [1, 0, None, 1])
    odds = np.log(fitted.predict_proba(everything[:4]))
    np.testing.assert_allclose(answers[[0, 1, 3]], odds[[0, 1, 3], [1, 0, 1]])
    assert answers[2] == pytest.approx(np.log(p[2])) and fitted.score(everything) == pytest.approx(np.log(p).mean())
    new = fitted.log_predictive([(3, 777), (888, items[0])])
    assert np.isfinite(new).all() and np.exp(new[0]) < 0.01


def test_moments_and_entropies_are_those_of_quadrature():
    """One component, no biases: E a, Var a, E sigmoid(a) and both entropies by a grid over the two vectors."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = PairedSymbols(
            1, fit_bias=False, user_precision=1.0, item_precision=1.0, max_iter=30, random_state=1
        ).fit([(u, i) for u in range(4) for i in range(4) if (u < 2) == (i < 2)] * 3)
    belief = model.predictive([(0, 1), (0, 2)])
    (m, v), (mu, s) = model.factors()
    nodes, weights = np.polynomial.hermite_e.hermegauss(80)
    weights = np.multiply.outer(weights, weights) / weights.sum() ** 2
    exact = belief.refined(np.array([0, 1]))
    for k, item in enumerate((1, 2)):
        a = np.multiply.outer(m[0, 0] + np.sqrt(v[0, 0]) * nodes, mu[item, 0] + np.sqrt(s[item, 0]) * nodes)
        assert belief.mean[k] == pytest.approx(np.sum(weights * a), abs=1e-10)
        assert belief.variance[k] == pytest.approx(np.sum(weights * a**2) - belief.mean[k] ** 2, abs=1e-10)
        p = expit(a)
        entropies = np.sum(weights * (entr(p) + entr(expit(-a))))
        mean = np.sum(weights * p)
        assert exact.outcome_entropy[k] == pytest.approx(-mean * np.log(mean) - (1 - mean) * np.log1p(-mean), abs=2e-4)
        assert exact.expected_entropy[k] == pytest.approx(entropies, abs=2e-4)
    by_moments = scorers.information_gain(belief)
    assert np.all(abs(by_moments / scorers.information_gain(exact) - 1) < 0.2)


def test_covariances_are_those_of_draws_of_both_vectors(fitted):
    pairs = [(3, 4), (3, 5), (7, 4), (9, 2), (3, 4), (500, 4)]
    belief = fitted.predictive(pairs, random_state=0)
    every = np.arange(len(pairs))
    covariance = belief.covariance(every, every)
    drawn = belief._source.draw(40_000, np.random.default_rng(0))[0]
    np.testing.assert_allclose(np.cov(drawn.T), covariance, rtol=0.02, atol=0.02)
    assert covariance[0, 3] == 0.0 and covariance[0, 4] == pytest.approx(covariance[0, 0], rel=1e-12)
    other = fitted.predictive([(9, 9), (7, 4)], random_state=0)  # the same pair, the same draws, wherever it stands
    np.testing.assert_allclose(other.draws(3)[1][:, 1], belief.draws(3)[1][:, 2])


def test_what_is_shown_moves_the_odds_and_leaves_the_stream_alone(fitted, monkeypatch):
    """Of a large table also who is about, which odds do change in sweeps over everything."""
    monkeypatch.setattr(pace, "SWEPT", 1.0)
    before = copy.deepcopy(fitted)
    pair = [(3, 4)]
    odds = before.predict_proba(pair)[0, 1]
    for answer, sign in ((0, -1), (1, 1)):
        model = copy.deepcopy(fitted).partial_fit(pair * 15, [answer] * 15)
        assert sign * (model.predict_proba(pair)[0, 1] - odds) > 0.02
        where = [known[one] for known, one in zip(model.belief_.data.positions, pair[0], strict=True)]
        spreads = [
            sum(side[1][row].sum() for side, row in zip(m.factors(), where, strict=True)) for m in (before, model)
        ]
        assert spreads[1] < spreads[0]
        assert model.belief_.data.graph.total == before.belief_.data.graph.total
        for old, new in zip(before.posterior_.dirichlet, model.posterior_.dirichlet, strict=True):
            np.testing.assert_array_equal(old, new)
    mixed = copy.deepcopy(fitted).partial_fit([(3, 4), (3, 5), (3, 6)], [1, None, 0])
    assert mixed.belief_.data.graph.total == before.belief_.data.graph.total + 1
    assert mixed.belief_.data.taken.sum() == mixed.belief_.data.refused.sum() == 1


def test_further_pairs_touch_their_rows_and_reach_what_a_cold_fit_reaches(monkeypatch):
    monkeypatch.setattr(pace, "SWEPT", 1.0)  # so that this table is a large one
    pairs = stream()
    warm = PairedSymbols(2, **SOURCE, random_state=0).fit(pairs[:1000])
    untouched = warm.predict_proba([(5, 3)])
    later = copy.deepcopy(warm).partial_fit([(7, 2)])
    np.testing.assert_allclose(later.predict_proba([(5, 3)]), untouched, atol=1e-12)
    assert later.predict_proba([(7, 2)])[0, 1] > warm.predict_proba([(7, 2)])[0, 1]
    assert later.log_evidence_ == warm.log_evidence_ and warm.converged_ and not later.converged_
    warm.partial_fit(pairs[1000:]).partial_fit([(99, 2), (3, 98)])
    assert len(warm.users_) == 41 and len(warm.items_) == 26
    assert all(weights.sum() == pytest.approx(1.0) for weights in warm.posterior_.selection)
    cold = PairedSymbols(2, **SOURCE, random_state=0).fit(np.vstack([pairs, [(99, 2), (3, 98)]]))
    graph = warm.belief_.data.graph
    options = {"n_components": 2, "learns": (True, True, True), "max_iter": 200, "tol": 1e-6}
    on = climb_censored(graph, warm.posterior_, graph.total, **options)
    assert on.factors.bound == pytest.approx(cold.log_evidence_, rel=0.01)


@pytest.mark.parametrize("searched", [0.0, pace.SEARCHED], ids=["from where it was", "from the start, too"])
def test_pairs_one_by_one_reach_the_bound_of_a_fit(searched, monkeypatch):
    """Shown and of the stream; precisions, and rows that no pair touched, too; resumed in between, to the bit."""
    monkeypatch.setattr(pace, "SEARCHED", searched)
    pairs = stream(n=1500)
    y = [None if k % 3 else k % 2 for k in range(len(pairs))]
    whole = PairedSymbols(2, **SOURCE, tol=1e-6, max_iter=1000, random_state=0).fit(pairs, y)
    first = len(pairs) - 12
    parts = clone(whole).fit(pairs[:first], y[:first])
    for k in range(first, len(pairs)):
        parts.partial_fit(pairs[[k]], y[k : k + 1])
        if k == first + 6:
            again = clone(parts).restore(parts.state())
    assert parts.log_evidence_ >= whole.log_evidence_ - 0.1
    graph = parts.belief_.data.graph
    assert parts.log_evidence_ == pytest.approx(parts.posterior_.bound(graph, graph.total), abs=0.01)  # of all pairs
    if parts.log_evidence_ <= whole.log_evidence_ + 0.1:
        np.testing.assert_allclose(parts.predict_proba(pairs), whole.predict_proba(pairs), atol=0.01)
    for k in range(first + 7, len(pairs)):
        again.partial_fit(pairs[[k]], y[k : k + 1])
    np.testing.assert_array_equal(again.predict_proba(pairs), parts.predict_proba(pairs))


def test_what_decays_is_worth_less():
    model = PairedSymbols(1, random_state=0).fit([(0, 0), (0, 1), (1, 1)] * 4)
    model.partial_fit([(0, 0)], decay=0.25)
    data = model.belief_.data
    np.testing.assert_allclose(data.counts, [2.0, 1.0, 1.0])
    np.testing.assert_allclose(data.graph.sums(0), [3.0, 1.0])
    assert data.told == pytest.approx(1.0 + 0.75 * 12.0)  # what is forgotten of all pairs moves all rows
    with pytest.raises(ValueError, match="^decay must be above 0 and at most 1, got 1.5"):
        model.partial_fit([(0, 0)], decay=1.5)


@pytest.mark.parametrize("scorer", ["information_gain", "thompson", scorers.upper_confidence_bound(1.5)], ids=str)
def test_long_products_are_searched_and_give_what_scoring_all_gives(fitted, monkeypatch, scorer):
    monkeypatch.setattr(shortlist, "LONG", 100)
    monkeypatch.setattr(shortlist, "LISTED", (16, 40))
    pairs = Product([*fitted.users_[:22].tolist(), 777], fitted.items_[:17].tolist())
    rng = np.random.default_rng(0)
    cost, mask = rng.uniform(0.5, 2.0, len(pairs)), rng.random(len(pairs)) < 0.7
    for options in ({}, {"cost": cost, "mask": mask}, {"exclude": [3, 390]}):
        options |= {"scorer": scorer, "joint": False, "random_state": 5, "return_scores": True}
        found, scores = fitted.select(pairs, 2, **options)
        expected, theirs = selection.select(fitted, pairs.take(np.arange(len(pairs))), 2, **options)
        np.testing.assert_array_equal(found, expected)
        np.testing.assert_allclose(scores, theirs, rtol=1e-9)


def test_gains_fall_with_the_mean_and_grow_with_the_variance():
    """What the search over blocks of pairs rests on."""
    mean, variance = np.meshgrid(np.linspace(0.0, 6.0, 13), np.geomspace(1e-3, 6.0, 14), indexing="ij")
    found = gains(mean.ravel(), variance.ravel()).reshape(mean.shape)
    assert np.diff(found, axis=0).max() < 1e-9 and np.diff(found, axis=1).min() > -1e-9
    np.testing.assert_allclose(gains(-mean.ravel(), variance.ravel()), found.ravel(), atol=1e-9)


def test_a_loop_shows_pairs_and_learns(fitted):
    design = SequentialDesign(
        copy.deepcopy(fitted), Product(fitted.users_[:9].tolist(), fitted.items_[:5].tolist()),
        lambda query: np.ones(len(query.positions), dtype=int), scorer="thompson", random_state=0,
    ).run(4)  # fmt: skip
    assert len(set(design.history_["position"])) == 4 and design.estimator_.belief_.data.taken.sum() == 4


def test_mean_ranks_are_counted_one_by_one():
    pairs = stream()
    held_out = [tuple(pair) for pair in pairs[:30].tolist()]
    rest = np.array([pair for pair in pairs.tolist() if tuple(pair) not in set(held_out)])
    model = PairedSymbols(2, random_state=0).fit(rest)
    ranks = []
    for user, item in held_out:
        seen = {i for u, i in rest.tolist() if u == user}
        open_items = [i for i in range(25) if i not in seen]
        odds = dict(zip(open_items, model.item_scores([user], open_items)[0], strict=True))
        ranks.append(np.mean([odds[item] > odds[i] for i in open_items]))
    found = diagnostics.mean_rank(model, held_out, n_groups=3)
    assert found["mean_rank"][0] == pytest.approx(np.mean(ranks)) and found["n_pairs"][0] == 30
    assert sum(found["n_pairs"][1:]) == 30
    unknown = diagnostics.mean_rank(model, [(3, 1234)], n_groups=1)  # an item of which nothing is known
    assert 0.0 <= unknown["mean_rank"][0] < 1.0
    with pytest.raises(ValueError, match="^pairs must hold at least one pair"):
        diagnostics.mean_rank(model, [])


@pytest.mark.parametrize(
    ("X", "y", "match"),
    [
        ([(0, 1)], [2], "^y must be 1 .taken. or 0 .refused. where a pair was shown, else None; got 2"),
        ([(0, 1)], [-1], "^y must be 1"),
        ([(0, 1)], [np.nan], "^y must be 1"),
        ([(0, 1)], ["yes"], "^y must be 1"),
        ([(0, 1), (1, 1)], [1], "^y must have one entry per pair .2., got 1"),
        ([(0.5, 1)], None, "^users must be whole numbers or text"),
        (np.zeros((2, 3)), None, "two columns"),
        ([], None, "at least one pair"),
        (sparse.csr_matrix([[0.5, 1.0]]), None, "^X must hold counts, whole numbers from 0 on, got 0.5"),
        (sparse.csr_matrix([[-1.0, 1.0]]), None, "^X must hold counts, .* got -1"),
        (sparse.csr_matrix([[1.0, 1.0]]), [1], "^y must be None with a sparse X"),
    ],
)
def test_bad_input(X, y, match):
    model = PairedSymbols(2)
    with pytest.raises(ValueError, match=match):
        model.fit(X, y)
    assert not hasattr(model, "belief_")


def test_other_bad_input(fitted):
    with pytest.raises(NotFittedError):
        PairedSymbols().predict_proba([(0, 1)])
    for wrong, match in (
        ({"selection": "some"}, "^selection must be one of"),
        ({"censored_ratio": -1.0}, "^censored_ratio must be"),
        ({"user_precision": 0.0}, "^user_precision must be"),
        ({"n_components": 0}, "^n_components must be"),
    ):
        with pytest.raises(ValueError, match=match):
            PairedSymbols(**wrong).fit([(0, 1)])
    with pytest.raises(ValueError, match="one kind, numbers or text"):
        copy.deepcopy(fitted).partial_fit([("ann", 3)])
    with pytest.raises(ValueError, match="^target must hold at least one pair"):
        fitted.predictive([(0, 1)], target=[])
    with pytest.raises(ValueError, match="^level"):
        fitted.interval([(0, 1)], 1.0)
    only_shown = PairedSymbols(1, tol=1e-3, random_state=0).fit([(0, 0), (0, 1), (1, 1)], [1, 0, 1])  # an empty stream
    assert only_shown.belief_.data.graph.total == 0 and np.isfinite(only_shown.predict_proba([(0, 1)])).all()
    low, high = only_shown.interval([(0, 1)])
    assert low[0] < only_shown.predict_proba([(0, 1)])[0, 1] < high[0]
