"""Rankings that stand beside a model of pairs."""

import sys

import numpy as np
import pytest
from sklearn.linear_model import Ridge

from adaptive import PairedSymbols, PoissonFactorization
from adaptive.diagnostics import beside_rival, rankings, rival_in_words
from adaptive.diagnostics.mean_rank import placed
from adaptive.diagnostics.rankings import ItemRegression, Popularity, held_out_items

RNG = np.random.default_rng(0)
TABLE = (RNG.random((14, 9)) < 0.4) | (np.arange(14)[:, None] % 9 == np.arange(9))
PAIRS = [(f"u{u}", f"i{i}") for u, i in zip(*np.nonzero(TABLE), strict=True)]


def by_hand(X, strength):
    """Each item from the others, one regression at a time."""
    said = np.zeros(X.shape)
    for item in range(X.shape[1]):
        others = np.delete(X, item, axis=1).astype(float)
        said[:, item] = Ridge(alpha=strength, fit_intercept=False).fit(others, X[:, item]).predict(others)
    return said


@pytest.mark.parametrize("table", [TABLE, TABLE.T])
def test_each_item_is_a_ridge_regression_on_all_others(table, monkeypatch):
    monkeypatch.setattr(rankings, "TOGETHER", 28)  # two or three items a block
    model = ItemRegression(2.0).fit(np.argwhere(table))
    assert model.by_items_ == (table is TABLE)  # otherwise through the users, who are fewer
    assert np.allclose(model.item_scores(range(len(table))), by_hand(table, 2.0), atol=1e-6)


def test_of_very_many_users_some_speak_for_all(monkeypatch):
    monkeypatch.setattr(rankings, "MOST", 8)
    model = ItemRegression(2.0).fit(np.argwhere(TABLE))
    some = np.sort(np.random.default_rng(0).permutation(14)[:8])
    assert np.allclose(model.item_scores(some), by_hand(TABLE[some], 2.0), atol=1e-6)
    assert np.isfinite(model.item_scores(range(14))).all()


def test_what_was_refused_is_seen_and_not_taken():
    pairs = [("a", "x"), ("a", "y"), ("b", "y"), ("b", "z")]
    model = Popularity().fit(pairs, [None, 0, 1, None])
    assert model.recommend("b", 3).tolist() == ["x"] and set(model.seen("a")) == {"x", "y"}
    assert model.counts_.tolist() == [1, 1, 1]
    assert model.item_scores(["c"], ["x", "not there"]).tolist() == [[1.0, 0.0]]
    known = ItemRegression(1.0).fit(pairs, [None, 0, 1, None])
    assert known.item_scores(["c"], ["not there"]).tolist() == [[0.0]] and len(known.recommend("c", 5)) == 3


def test_the_strength_is_the_one_that_ranks_further_pairs_highest():
    pairs = [(u, i) for u in range(60) for i in range(20) if (u % 4) == (i % 4) and RNG.random() < 0.8]
    model = ItemRegression().fit(pairs)
    assert model.strength_ in rankings.STRENGTHS and ItemRegression().fit(pairs).strength_ == model.strength_
    own = [item for item in model.recommend(0, 20).tolist() if item % 4 == 0]
    assert model.recommend(0, len(own)).tolist() == own  # what goes with what user 0 has comes first


def test_a_model_of_pairs_stands_beside_the_better_of_its_rivals():
    kinds = [RNG.choice(30, 4, replace=False) for _ in range(120)]
    pairs = [(u, 2 * k + one) for u, of in enumerate(kinds) for k in of for one in (0, 1)]
    found = beside_rival(PairedSymbols(1, random_state=0), (pairs, [None] * len(pairs)))
    assert found["rival"] == "a regression of each item on the others" and found["n"] == 120
    assert found["difference"] > found["margin"] and "Certainly better here: " in rival_in_words(found)
    popular = beside_rival(PairedSymbols(1, random_state=0), (pairs, [None] * len(pairs)), rival=Popularity())
    assert popular["rival"] == "popularity" and popular["rival_mean_rank"] < found["rival_mean_rank"]
    assert beside_rival(PairedSymbols(1), (pairs[:10], [None] * 10)) is None  # too few to tell


def test_one_item_of_each_user_with_three_is_held_out():
    held_out = held_out_items(PAIRS, 0)
    assert len({user for user, _ in held_out}) == len(held_out) and set(held_out) <= set(PAIRS)
    assert {user for user, _ in held_out} == {f"u{u}" for u in range(14) if TABLE[u].sum() >= 3}


def test_a_fifth_of_the_items_of_each_user_is_held_out_one_at_least():
    pairs = [("many", k) for k in range(12)] + [("three", k) for k in range(3)] + [("two", k) for k in range(2)]
    held_out = held_out_items(pairs, 0, 0.2)
    assert sorted(user for user, _ in held_out) == ["many", "many", "three"]
    assert len(set(held_out)) == 3 and set(held_out) <= set(pairs)


@pytest.mark.parametrize("ties", [0.0, 0.5])
def test_ranks_and_hits_are_those_counted_by_hand(ties, monkeypatch):
    monkeypatch.setattr(sys.modules[placed.__module__], "TOGETHER", 3)
    held_out = [*held_out_items(PAIRS, 0, 0.5), ("u3", "nowhere")]
    model = Popularity().fit([pair for pair in PAIRS if pair not in held_out])
    found, users = placed(model, held_out, 2, ties=ties), list(dict.fromkeys(user for user, _ in held_out))
    scores = dict(zip(model.items_.tolist(), model.counts_.tolist(), strict=True))
    for k, (user, item) in enumerate(held_out):
        fresh = {one: value for one, value in scores.items() if one not in model.seen(user)} | {
            item: scores.get(item, 0)
        }
        own = [
            ties if value == fresh[item] else float(value < fresh[item]) for one, value in fresh.items() if one != item
        ]
        assert found.ranks[k] == pytest.approx(sum(own) / len(fresh))
        assert users[found.users[k]] == user and found.seen[k] == len(model.seen(user))
    for user, hits in zip(users, found.hits, strict=True):
        assert hits == np.mean([(user, item) in held_out for item in model.recommend(user, 2).tolist()])
    first = [
        np.mean([rank for (one, _), rank in zip(held_out, found.ranks, strict=True) if one == user]) for user in users
    ]
    assert found.by_user() == pytest.approx(first)


def test_where_zeros_are_observed_counts_are_ranked_beside_the_same_rivals():
    counts = RNG.poisson(np.where(np.arange(24)[:, None] % 2 == np.arange(9) % 2, 3.0, 0.1))
    pairs = [tuple(pair) for pair in np.argwhere(counts).tolist()]
    model = PoissonFactorization(1, zeros="observed", random_state=0)
    found = beside_rival(model, (pairs, counts[counts > 0]))
    assert found["judge"] == "mean_rank" and found["n"] == 24 and found["of"] == "pairs"
