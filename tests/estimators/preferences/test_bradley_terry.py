"""Strengths from comparisons: the posterior beside a long run, ties, positions, judges, ranks, what to compare next."""

import itertools
from collections import Counter

import numpy as np
import pytest
from scipy.special import entr
from sklearn.gaussian_process.kernels import RBF

from adaptive import BradleyTerry, SequentialDesign
from adaptive.loop import MaxSteps, OrderKnown
from adaptive.scorers import information_gain
from experiments.preferences.rank_posterior import drawn, reference
from tests.culprits import naming

NAMES = ["ale", "beer", "cider", "mead"]
PAIRS = list(itertools.permutations(NAMES, 2))


def told(n=60, seed=0, ties=True):
    rng = np.random.default_rng(seed)
    rows, y = drawn(rng, n, len(NAMES), ties=ties, bias=0.5)
    return [(NAMES[i], NAMES[j]) for i, j in rows], y


@pytest.fixture(scope="module")
def fitted():
    return BradleyTerry(NAMES).fit(*told())


@pytest.mark.parametrize("n", [3, 60])
def test_the_posterior_is_that_of_a_long_run(n):
    """Strengths, bias, ties and scale of four systems, by importance sampling; `ours-rank-posterior` has more."""
    for ties in (True, False):
        with naming(f"ties {ties}"):
            rows, y = drawn(np.random.default_rng(1), n, 4, ties=ties, bias=0.5)
            model = BradleyTerry(range(4), ties=ties).fit(rows, y)
            known = reference(rows, y, 4, ties=ties, n_draws=60_000, seed=0)
            mean, covariance = model.strengths()
            assert np.abs(mean - known.mean).max() < 0.05 * np.sqrt(np.diag(known.covariance)).min()
            assert np.sqrt(np.diag(covariance)) == pytest.approx(np.sqrt(np.diag(known.covariance)), rel=0.05)
            assert model.log_evidence_ == pytest.approx(known.log_evidence, abs=0.05)
            assert model.converged_ and np.isfinite(model.objective_trace_).all()
            assert model.position_bias_[0] == pytest.approx(known.bias, abs=0.05)
            assert model.rank_probabilities()[:, 0] == pytest.approx(known.best, abs=0.025)


def test_the_other_way_round_is_the_same():
    rows, y = told()
    turned = [row[::-1] for row in rows]
    for bias in (True, False):
        one = BradleyTerry(NAMES, position_bias=bias).fit(rows, y)
        other = BradleyTerry(NAMES, position_bias=bias).fit(turned, -y)
        with naming(f"position_bias {bias}"):
            assert one.strengths()[0] == pytest.approx(other.strengths()[0], abs=1e-3)
            assert one.position_bias_[0] == pytest.approx(-other.position_bias_[0], abs=1e-3)
            assert bool(one.position_bias_[0]) == bias
            assert one.predict_proba(PAIRS)[:, ::-1] == pytest.approx(
                other.predict_proba([pair[::-1] for pair in PAIRS]), abs=1e-3
            )


def test_what_comes_next_adds_up_and_draws_agree_with_quadrature(fitted):
    probabilities = fitted.predict_proba([*PAIRS, ("ale", "never seen")])
    assert probabilities.sum(axis=1) == pytest.approx(np.ones(len(PAIRS) + 1))
    by_draws = fitted.predictive([*PAIRS, ("ale", "never seen")], random_state=0).probabilities
    assert np.abs(by_draws - probabilities).max() < 0.03
    assert np.exp(fitted.log_predictive(PAIRS, np.ones(len(PAIRS)))) == pytest.approx(probabilities[:-1, 2])
    assert set(fitted.predict(PAIRS)) <= {-1, 0, 1}


def test_answers_one_by_one_and_after_a_snapshot_are_those_of_fit(fitted):
    rows, y = told()
    model = BradleyTerry(NAMES)
    for row, outcome in zip(rows[:20], y[:20], strict=True):
        model.partial_fit([row], [outcome])
    model.partial_fit(rows[20:], y[20:])
    assert model.log_evidence_ == pytest.approx(fitted.log_evidence_, abs=1e-3)
    assert np.allclose(model.strengths()[0], fitted.strengths()[0], atol=1e-3)
    again = BradleyTerry(NAMES).restore(model.state())
    assert np.array_equal(again.strengths()[1], model.strengths()[1])
    assert again.order()[0].tolist() == model.order()[0].tolist() and again.order()[1] == model.order()[1]
    more = [PAIRS[0]], [1]
    assert np.array_equal(again.partial_fit(*more).strengths()[0], model.partial_fit(*more).strengths()[0])


def test_judges_are_told_apart():
    """One is right, one says anything, one is known; whoever errs counts less."""
    rng = np.random.default_rng(0)
    rows, y = drawn(rng, 360, 4, ties=True, bias=0.0)
    who = np.array(["right", "anything", "known"])[np.arange(360) % 3]
    y = np.where((who == "anything") & (rng.random(360) < 0.5), -y, y)
    judged = [(int(i), int(j), str(judge)) for (i, j), judge in zip(rows, who, strict=True)]
    model = BradleyTerry(range(4), judges={"known": 0.9}).fit(judged, y)
    skills = model.judges_
    assert skills["right"].skill_low > skills["anything"].skill_high
    assert skills["known"].skill == skills["known"].skill_low == 0.9 and skills["known"].comparisons == 120
    asked = [(0, 1, "right"), (0, 1, "anything")]
    model = BradleyTerry(range(4), judges=True, position_bias=False).fit(judged, y)
    chosen, gains = model.select(asked, 2, joint=False, return_scores=True, random_state=0)
    assert chosen[0] == 0 and gains[0] > 2 * gains[1]
    stranger = model.predict_proba([(0, 3, "a stranger")])
    assert 0.5 < stranger[0, 2] < model.predict_proba([(0, 3, "right")])[0, 2]


def test_features_say_what_was_never_compared():
    features = np.linspace(-1.0, 1.0, 6)[:, None]
    rows = [(i, j) for i, j in itertools.permutations((0, 1, 4, 5), 2)] * 3
    y = [1 if i > j else -1 for i, j in rows]
    model = BradleyTerry(kernel=RBF(2.0), item_features=features, alpha=0.01).fit(rows, y)
    assert model.items_.tolist() == list(range(6)) and model.predict_proba([(3, 2)])[0, 2] > 0.6
    assert BradleyTerry(range(6)).fit(rows, y).predict_proba([(3, 2)])[0, 2] < 0.5


def test_ranks(fitted):
    ranks = fitted.rank_probabilities()
    assert ranks.sum(axis=0) == pytest.approx(np.ones(4)) and ranks.sum(axis=1) == pytest.approx(np.ones(4))
    ranking = fitted.ranking(2)
    place = [NAMES.index(item) for item in ranking["item"]]
    assert ranking["best"] == pytest.approx(ranks[place, 0]) and sum(ranking["among_best"]) == pytest.approx(2.0)
    assert all(low <= high for low, high in zip(ranking["rank_low"], ranking["rank_high"], strict=True))
    best, probability = fitted.order("best")
    assert probability == pytest.approx(ranks[NAMES.index(best[0]), 0])
    chances = [fitted.order(k)[1] for k in (1, 2, 3)]
    assert chances == sorted(chances, reverse=True)
    assert fitted.order(3)[1] == fitted.order("order")[1] == fitted.order(9)[1]  # who is left is last


def test_the_set_of_the_best_is_counted_over_all_its_orders(fitted):
    ranked = fitted.belief_.ranked
    for k in (1, 2, 3):
        sets = Counter(frozenset(row) for row in ranked[:, :k].tolist())
        likeliest, count = sets.most_common(1)[0]
        ids, probability = fitted.top_set(k)
        assert set(ids.tolist()) == {NAMES[place] for place in likeliest} and probability == count / len(ranked)
        assert probability >= fitted.order(k)[1]
        assert fitted.order(f"top-{k}")[1] == probability
    mean, covariance = fitted.strengths()
    drawn = np.random.default_rng(0).multivariate_normal(mean, covariance, 20_000)
    best = np.sort(np.argsort(-drawn, axis=1)[:, :2], axis=1)
    ids, probability = fitted.top_set(2)
    own = np.sort([fitted.items_.tolist().index(one) for one in ids])
    assert probability == pytest.approx(np.mean(np.all(best == own, axis=1)), abs=0.05)
    order = fitted.ranking()["item"]
    assert ids.tolist() == [one for one in order if one in ids]  # the best first
    assert fitted.top_set(9)[1] == fitted.top_set(4)[1] == 1.0 and fitted.top_set(1)[1] == fitted.order("best")[1]


def test_the_information_about_a_set_is_the_mean_of_what_is_learnt_of_each_item_in_doubt(fitted):
    predictive = fitted.predictive(PAIRS, target="top-2", random_state=3)
    weights, table = predictive.draws()
    best = np.argsort(-fitted.belief_.draws(1024, 3).strengths, axis=1, kind="stable")[:, :2]
    inside = [np.any(best == item, axis=1) for item in range(4)]
    doubtful = [one for one in inside if 0 < one.sum() < len(one)]
    wanted = np.zeros(len(PAIRS))
    for one in doubtful:
        for own in (one, ~one):
            share = weights[own].sum()
            wanted += share * entr(np.einsum("k,kmc->mc", weights[own], table[own]) / share).sum(axis=1)
    assert predictive.expected_entropy == pytest.approx(wanted / len(doubtful))
    assert np.all(predictive.outcome_entropy - predictive.expected_entropy > -1e-12)
    one, best = (fitted.predictive(PAIRS, target=target, random_state=3) for target in ("top-1", "best"))
    assert np.array_equal(one.expected_entropy, best.expected_entropy)


def test_the_information_about_places_is_the_mean_of_what_each_place_teaches(fitted):
    predictive = fitted.predictive(PAIRS, target=2, random_state=3)
    weights, table = predictive.draws()
    holders = np.argsort(-fitted.belief_.draws(1024, 3).strengths, axis=1, kind="stable")[:, :2]
    wanted = np.zeros(len(PAIRS))
    for r in range(2):
        for item in range(4):
            own = holders[:, r] == item
            if own.any():
                share = weights[own].sum()
                wanted += (
                    0.5
                    * share
                    * entr((weights[own] @ table[own].reshape(own.sum(), -1)) / share)
                    .reshape(len(PAIRS), -1)
                    .sum(axis=1)
                )
    assert predictive.expected_entropy == pytest.approx(wanted)
    gain = predictive.outcome_entropy - predictive.expected_entropy
    assert np.all(gain > -1e-12)
    one = fitted.predictive(PAIRS, target=1, random_state=3)
    best = fitted.predictive(PAIRS, target="best", random_state=3)
    assert np.array_equal(one.expected_entropy, best.expected_entropy)
    after = predictive.given(0, 1)
    assert after.expected_entropy.shape == (len(PAIRS),) and after.target_entropy < predictive.target_entropy + 1.0


@pytest.mark.parametrize("target", [1, 3, "order", "top-3", None])
def test_where_items_are_many_some_of_the_draws_say_which_pairs_all_look_at(target, monkeypatch):
    rng, names = np.random.default_rng(0), list(range(12))
    rows = [(int(i), int(j)) for i, j in rng.integers(0, 12, (60, 2)) if i != j]
    model = BradleyTerry(names).fit(rows, rng.choice([1, -1], len(rows)))
    pairs = list(itertools.permutations(names, 2))
    assert model.predictive(pairs, target=target).coarse() is None
    by_all = int(model.select(pairs, target=target, random_state=0)[0])
    monkeypatch.setattr("adaptive.estimators.preferences.strengths.belief.MANY", 11)
    looked_at = model.predictive(pairs, target=target, random_state=1)
    assert len(looked_at.coarse().weights) == len(looked_at.weights) // 4
    few = looked_at.refined(np.array([3, 40]))
    np.testing.assert_allclose(information_gain(few, None), information_gain(looked_at, None)[[3, 40]], rtol=1e-9)
    chosen = [int(model.select(pairs, target=target, random_state=0, chunk_size=size)[0]) for size in (None, 50)]
    assert chosen[0] == chosen[1]
    told = np.mean([
        information_gain(model.predictive([pairs[chosen[0]], pairs[by_all]], target=target, random_state=seed), None)
        for seed in range(5, 10)
    ], axis=0)  # fmt: skip
    assert told[0] > 0.9 * told[1]


def test_a_loop_stops_when_the_order_is_known_and_is_replayed_to_the_bit(tmp_path):
    strength = dict(zip(NAMES, (3.0, 1.0, -1.0, -3.0), strict=True))

    def compared(query):
        rng = np.random.default_rng(query.id)
        return [1 if strength[a] - strength[b] + rng.logistic() > 0 else -1 for a, b in query.labels]

    options = {"target": 2, "repeat": True, "stop": OrderKnown(0.8) | MaxSteps(40), "random_state": 0}
    with SequentialDesign(BradleyTerry(NAMES, ties=False), PAIRS, compared, log=tmp_path / "log", **options) as design:
        design.run()
    assert design.iteration < 40 and design.estimator_.order(2)[0].tolist() == ["ale", "beer"]
    assert design.estimator_.order(2)[1] >= 0.8 and repr(OrderKnown(0.8, best=1)) == "OrderKnown(0.8, best=1)"
    with SequentialDesign.load(tmp_path / "log", BradleyTerry(NAMES, ties=False), PAIRS, **options) as again:
        assert np.array_equal(again.estimator_.strengths()[1], design.estimator_.strengths()[1])


@pytest.mark.parametrize(
    ("options", "call", "says"),
    [
        ({}, lambda m: m.fit([("a", "a")], [1]), "at position 0 a is compared with itself"),
        ({}, lambda m: m.fit([("a", "b")], [2]), "0 at a tie, got 2"),
        ({"ties": False}, lambda m: m.fit([("a", "b")], [0]), r"\(ties=False\), got 0"),
        ({}, lambda m: m.fit([("a", 3)], [1]), "items must be of one kind"),
        ({"items": ["a", "b", "a"]}, lambda m: m.fit([("a", "b")], [1]), "items must differ: 'a' is listed twice"),
        ({"judges": True}, lambda m: m.fit([("a", "b")], [1]), "the two items that are compared, and the judge"),
        ({"judges": {"x": 1.5}}, lambda m: m.fit([("a", "b", "x")], [1]), "judges must be right with probabilities"),
        ({"scale": -1.0}, lambda m: m.fit([("a", "b")], [1]), "scale must be"),
        ({}, lambda m: m.predictive([("a", "b")], target="worst"), "target must be"),
        ({}, lambda m: m.predictive([("a", "b")], target="top-0"), "target must be"),
        ({}, lambda m: m.fit([("a", "b")], [1]).top_set(0), "k must be"),
        ({}, lambda m: m.predictive([("a", "b")], target=1), "name the items, or fit first"),
        ({}, lambda m: OrderKnown(1.0), "probability must lie between 0 and 1"),
    ],
)
def test_what_is_wrong_is_said(options, call, says):
    with pytest.raises(ValueError, match=says):
        call(BradleyTerry(**options))
