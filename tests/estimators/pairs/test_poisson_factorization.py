"""Poisson factorisation: synthetic data, ids of any kind, users as views, refined gains, and bad input."""

from __future__ import annotations

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from scipy.special import entr, gammaln
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError

from adaptive import PoissonFactorization, SequentialDesign, scorers, selection
from adaptive.estimators.pairs.factorization import shortlist
from adaptive.estimators.pairs.factorization.forecasts import log_probabilities
from adaptive.estimators.pairs.factorization.mixtures import sobol_normals
from adaptive.estimators.pairs.factorization.predictive import PairPredictive
from adaptive.estimators.pairs.inference import pace
from adaptive.estimators.pairs.inference.rounds import Entries, Factor, Factors, Kind, solved
from adaptive.potentials import Poisson
from adaptive.potentials.poisson_outcomes import poisson_entropy
from designs.pool import Product


def synthetic(seed=0, users=60, items=40, n=1200):
    rng = np.random.default_rng(seed)
    Z, W = rng.normal(size=(users, 2)), 0.7 * rng.normal(size=(items, 2))
    keys = rng.choice(users * items, n, replace=False)
    pairs = np.column_stack(np.divmod(keys, items))
    return pairs, rng.poisson(np.exp(0.3 + np.sum(Z[pairs[:, 0]] * W[pairs[:, 1]], axis=1))).astype(float)


@pytest.fixture(scope="module")
def fitted():
    pairs, y = synthetic()
    return PoissonFactorization(2, random_state=0).fit(pairs[:900], y[:900])


@pytest.mark.parametrize("inference", ["mean_field", "full", "em", "map"])
def test_every_inference_predicts_and_mean_field_beats_the_point(inference, fitted):
    pairs, y = synthetic()
    model = PoissonFactorization(2, inference=inference, random_state=0).fit(pairs[:900], y[:900])
    score, constant = model.score(pairs[900:], y[900:]), -2.4
    assert constant < score < -1.4
    assert model.evidence_kind_ == ("lower_bound" if inference in ("mean_field", "full") else "none")
    if inference == "map":
        assert fitted.score(pairs[900:], y[900:]) > score + 0.05
    low, high = model.interval(pairs[900:], 0.9)
    assert np.mean((low <= y[900:]) & (y[900:] <= high)) > (0.8 if inference == "map" else 0.88)


def test_ids_may_be_text_and_come_in_tuples_and_frames(fitted):
    pairs, y = synthetic()
    named = [(f"u{u}", int(i)) for u, i in pairs[:900]]
    text = PoissonFactorization(2, random_state=0).fit(named, y[:900])
    np.testing.assert_array_equal(text.predict(named[:9]), fitted.predict(pairs[:9]))
    frame = pd.DataFrame(pairs, columns=["user", "item"])
    of_frame = PoissonFactorization(2, random_state=0).fit(frame[:900], y[:900])
    np.testing.assert_array_equal(of_frame.predict(frame[:9]), fitted.predict(pairs[:9]))
    assert set(text.recommend("u3", 5).tolist()).isdisjoint(i for u, i in named if u == "u3")
    assert len(fitted.recommend(3, 10**6, exclude_seen=False)) == len(fitted.items_)


def test_duplicated_pairs_add_counts_and_exposures():
    twice = PoissonFactorization(1, item_variance=0.2, tol=1e-3, random_state=0).fit(
        [(0, 0), (0, 0), (1, 0)], [3, 4, 1]
    )
    entries = twice.belief_.entries
    np.testing.assert_array_equal(entries.y, [7, 1])
    np.testing.assert_array_equal(entries.exposure, [2, 1])


def test_five_starts_reach_the_best_known_bound_of_a_tiny_table():
    """Our specification: [[2], [0], [3]], log evidence -5.39868, best mean field -5.95091."""
    pairs = [(0, 0), (0, 1), (0, 2)]
    options = {"item_variance": 0.5, "fit_bias": False, "tol": 1e-9, "random_state": 0}
    model = PoissonFactorization(1, n_init=5, **options).fit(pairs, [2, 0, 3])
    assert -5.95091 - 0.02 < model.log_evidence_ < -5.39868 and model.evidence_kind_ == "lower_bound"


def test_zeros_observed_lists_every_pair():
    model = PoissonFactorization(1, zeros="observed", item_variance=0.2, tol=1e-3, random_state=0).fit(
        [(0, 0), (1, 1), (2, 0)], [3, 4, 1]
    )
    assert len(model.belief_.entries.y) == 6 and model.predict([(0, 1)])[0] < 2


def test_new_ids_begin_at_the_prior_and_of_a_large_table_touched_rows_alone_learn(fitted, monkeypatch):
    monkeypatch.setattr(pace, "SWEPT", 100.0)  # rounds over all 1,001 entries and 101 ids wait for 45 answers
    model = pickle.loads(pickle.dumps(fitted))
    before = model.predict([(3, 1000), (5, 1)])
    model.partial_fit([(3, 1000)] * 3, [9, 8, 9])
    after = model.predict([(3, 1000), (5, 1)])
    assert after[0] > before[0] + 1 and after[1] == before[1]
    assert model.log_evidence_ == fitted.log_evidence_ and not model.converged_
    again = clone(model).restore(model.state())
    np.testing.assert_array_equal(again.predict([(3, 1000), (5, 1)]), after)
    for one in (model, again):  # what waits is in the state
        one.partial_fit([(7, 2)] * 45, [1] * 45)
        assert one.converged_ and one.log_evidence_ != fitted.log_evidence_
    np.testing.assert_array_equal(again.predict([(3, 1000), (5, 1)]), model.predict([(3, 1000), (5, 1)]))
    assert model.predict([(5, 1)])[0] != after[1]


@pytest.mark.parametrize("searched", [0.0, pace.SEARCHED], ids=["from where it was", "from the start, too"])
def test_answers_one_by_one_reach_the_bound_of_a_fit(searched, monkeypatch):
    """The mean rate, item variances and rows that no answer touched, too; resumed in between, to the bit."""
    monkeypatch.setattr(pace, "SEARCHED", searched)
    pairs, y = synthetic(users=30, items=20, n=400)
    whole = PoissonFactorization(2, random_state=0).fit(pairs, y)
    parts = PoissonFactorization(2, random_state=0).fit(pairs[:380], y[:380])
    for k in range(380, 400):
        parts.partial_fit(pairs[[k]], y[[k]])
        if k == 390:
            again = clone(parts).restore(parts.state())
    assert parts.log_evidence_ >= whole.log_evidence_ - 0.1
    if parts.log_evidence_ <= whole.log_evidence_ + 0.1:
        np.testing.assert_allclose(parts.predict(pairs), whole.predict(pairs), rtol=0.05)
    assert parts.posterior_.offset == whole.posterior_.offset
    for k in range(391, 400):
        again.partial_fit(pairs[[k]], y[[k]])
    np.testing.assert_array_equal(again.predict(pairs), parts.predict(pairs))


def test_rounds_that_do_not_converge_are_said_once_and_not_at_every_answer():
    model = PoissonFactorization(1, max_iter=3, tol=0.0, random_state=0)
    with pytest.warns(ConvergenceWarning, match="stopped after 3 rounds"):
        model.fit([(0, 0), (0, 1), (1, 0)], [3, 0, 2])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.partial_fit([(1, 1)], [4]).partial_fit([(2, 1)], [1])
    assert not model.converged_
    converged = PoissonFactorization(1, tol=0.1, random_state=0).fit([(0, 0), (0, 1), (1, 0)], [3, 0, 2])
    with pytest.warns(ConvergenceWarning, match="stopped after 3 rounds") as said:
        converged.set_params(max_iter=3, tol=0.0).partial_fit([(1, 1)], [4])
    assert len(said) == 1


def test_a_user_is_the_row_of_a_fit_with_items_frozen(fitted):
    """The view learns what the kernel gives that row with the same items."""
    view = fitted.user(10**6)  # never seen
    np.testing.assert_array_equal(view.factors.sides[0].mean[0, :2], 0.0)
    items = fitted.items_[:6]
    view.partial_fit(items, [2, 0, 1, 5, 0, 1])
    own = view.factors.sides[0]
    entries, kind = view.entries, Kind("mean_field")
    once, _ = solved(entries, view.factors, 0, kind, rows=[0], steps=200, tol=1e-13)
    np.testing.assert_allclose(own.mean, once.mean, atol=1e-5)
    known = fitted.user(3)
    np.testing.assert_allclose(known.predict(items), fitted.predict([(3, i) for i in items]), rtol=1e-12)
    counts = [2, 0, 1, 5, 0, 1]  # what the view says of counts is what the factorisation says
    np.testing.assert_array_equal(
        known.log_predictive(items, counts), fitted.log_predictive([(3, i) for i in items], counts)
    )
    np.testing.assert_array_equal(known.interval(items, 0.8), fitted.interval([(3, i) for i in items], 0.8))
    with pytest.raises(ValueError, match="^level must lie"):
        known.interval(items, 1.0)
    known.partial_fit(items, counts)  # as the same row of the whole table, its items frozen
    whole, row = fitted.belief_.entries, fitted.belief_.data.positions[0][3]
    added = np.array([fitted.belief_.data.positions[1][item] for item in items])
    rows = np.append(whole.rows[0], np.full(6, row)), np.append(whole.rows[1], added)
    longer = Entries(
        rows, np.append(whole.y, [2.0, 0, 1, 5, 0, 1]), np.append(whole.exposure, np.ones(6)), whole.lengths
    )
    frozen, _ = solved(longer, fitted.posterior_, 0, kind, rows=[row], steps=200, tol=1e-13)
    np.testing.assert_allclose(known.factors.sides[0].mean[0], frozen.mean[row], atol=1e-5)
    np.testing.assert_allclose(known.factors.sides[0].spread[0], frozen.spread[row], rtol=1e-4)
    assert view.restore(view.state()) is view
    with pytest.raises(ValueError, match="was not in the fit"):
        view.partial_fit([10**7], [1])


def test_a_user_in_the_loop(fitted):
    truth = np.random.default_rng(0).poisson(2.0, len(fitted.items_)).astype(float)
    items = fitted.items_.tolist()
    design = SequentialDesign(fitted.user(10**6), items,
                              lambda query: truth[query.positions], random_state=0)  # fmt: skip
    design.run(4)
    assert len(set(design.history_["position"])) == 4 and len(design.estimator_.entries.y) == 4


def one_pair():
    """The spec's pair: mu = .5, s = .2, m = 1, v = .3; I = .27780 nats, by moments .24083."""
    sides = (
        Factor(np.array([[1.0]]), np.array([[0.3]]), np.zeros(1), np.ones(1)),
        Factor(np.array([[0.5]]), np.array([[0.2]]), np.zeros(1), np.ones(1)),
    )
    zero = np.zeros(1, dtype=np.int64)
    none = Entries((zero[:0], zero[:0]), np.zeros(0), np.zeros(0), (1, 1))
    return PairPredictive(Factors(sides, 0.0), none, zero, zero, Kind("mean_field"))


def test_refined_gains_are_those_of_quadrature():
    belief = one_pair()
    assert belief.outcome_entropy[0] - belief.expected_entropy[0] == pytest.approx(0.24083, abs=2e-5)
    refined = belief.refined(np.array([0]))
    assert refined.outcome_entropy[0] - refined.expected_entropy[0] == pytest.approx(0.27780, abs=1e-4)


def many_components(k):
    """A pair of k components, no two alike."""
    rng = np.random.default_rng(k)
    sides = [
        Factor(rng.normal(0, 0.7, (1, k)), rng.uniform(0.1, 0.4, (1, k)), np.zeros(k), np.ones(k)) for _ in range(2)
    ]
    zero = np.zeros(1, dtype=np.int64)
    none = Entries((zero[:0], zero[:0]), np.zeros(0), np.zeros(0), (1, 1))
    return PairPredictive(Factors((sides[0], sides[1]), 0.2), none, zero, zero, Kind("mean_field"), random_state=0)


@pytest.mark.parametrize("k", [3, 8])
def test_refined_gains_of_many_components_are_those_of_draws_of_both_vectors(k):
    """And nearer than the moments are; in a what-if to a hundredth."""
    belief, y = many_components(k), np.arange(3000.0)
    for one, tolerance in ((belief, 3e-3), (belief.given(0, 4), 1e-2)):
        normals = sobol_normals(2**16, 2 * k, 1)
        own, other = one.factors.sides
        z, w = own.mean + np.sqrt(own.spread) * normals[:, :k], other.mean + np.sqrt(other.spread) * normals[:, k:]
        counted, edges = np.histogram(0.2 + np.sum(z * w, axis=1), bins=1000)
        eta, share = 0.5 * (edges[1:] + edges[:-1]), counted / counted.sum()
        mass = np.exp(np.outer(y, eta) - np.exp(eta) - gammaln(y + 1.0)[:, None]) @ share
        expected = entr(mass).sum() - share @ poisson_entropy(np.exp(eta))
        assert mass.sum() > 1 - 1e-4
        refined = one.refined(np.array([0]))
        assert scorers.information_gain(refined)[0] == pytest.approx(expected, abs=tolerance)


def test_refined_gains_of_moderate_variances_are_within_13_percent_of_those_by_moments(fitted):
    belief = fitted.predictive([(u, i) for u in range(4) for i in range(3)])
    by_moments = scorers.information_gain(belief)
    exact = scorers.information_gain(belief.refined(np.arange(len(belief))))
    assert 0.005 < np.max(abs(by_moments / exact - 1)) < 0.13


def test_long_products_are_searched_and_give_what_scoring_all_gives(fitted, monkeypatch):
    """Exclusions, masks and costs included; the pairs themselves are never listed."""
    users, items = fitted.users_[:23].tolist(), fitted.items_[:17].tolist()
    pairs = Product(users, items)
    monkeypatch.setattr(shortlist, "LONG", 100)
    monkeypatch.setattr(shortlist, "LISTED", (16, 40))
    rng = np.random.default_rng(0)
    cost, mask = rng.uniform(0.5, 2.0, len(pairs)), rng.random(len(pairs)) < 0.7
    for options in (
        {},
        {"cost": cost},
        {"mask": mask, "cost": lambda pool: cost[: len(pool)]},
        {"exclude": [3, 391 - 1]},
    ):
        options["random_state"] = 0
        found, scores = fitted.select(pairs, 2, joint=False, return_scores=True, **options)
        options = {**options, **({"cost": cost} if "cost" in options else {})}
        expected = selection.select(fitted, pairs.take(np.arange(len(pairs))), 2, joint=False, **options)
        np.testing.assert_array_equal(found, expected)
        assert scores.shape == (2,) and np.all(scores > 0)
    together = fitted.select(pairs, 2, exclude=[3], random_state=0)
    assert len(set(together.tolist())) == 2 and 3 not in together
    options = {"pending": [pairs[int(together[0])]], "mask": mask, "random_state": 0}
    listed = pairs.take(np.arange(len(pairs)))
    np.testing.assert_array_equal(fitted.select(pairs, **options), selection.select(fitted, listed, **options))
    for target in ({"users": [users[2]]}, {"users": [users[2]], "items": items[:2]}):
        options = {"target": target, "cost": cost, "mask": mask, "joint": False, "random_state": 0}
        found, scores = fitted.select(pairs, 2, return_scores=True, **options)  # the third and fourth are near a tie
        np.testing.assert_array_equal(found, selection.select(fitted, listed, 2, **options))
        assert np.all(scores > 0) and mask[found].all()
    few = fitted.select(pairs, 20, target={"users": [users[2]]}, joint=False)  # it has 17 items
    assert len(set(few.tolist())) == 20 and set(range(34, 51)) <= set(few.tolist())


def test_expected_variances_are_those_of_the_curvature_that_a_count_adds(fitted):
    """Ko (2017), section 4.7 of our specification: 1/2 log(1 + Var E exp) is what d_optimality then is."""
    belief = fitted.predictive([(3, 4), (5, 1)])
    rate = np.exp(belief.mean + 0.5 * belief.variance)
    np.testing.assert_allclose(scorers.d_optimality(belief), 0.5 * np.log1p(belief.variance * rate), rtol=1e-10)


def test_gains_grow_with_mean_and_variance():
    """What the search over blocks of pairs rests on."""
    mean, variance = np.meshgrid(np.linspace(-4.0, 3.0, 15), np.geomspace(1e-3, 3.0, 12), indexing="ij")
    gains = shortlist.gains(mean.ravel(), variance.ravel()).reshape(mean.shape)
    assert np.diff(gains, axis=0).min() > 0 and np.diff(gains, axis=1).min() > 0
    found = shortlist.ranking_gains(mean.ravel(), variance.ravel()).reshape(mean.shape)
    np.testing.assert_allclose(found, gains, rtol=0.015)
    assert np.diff(found, axis=0).min() >= 0 and np.diff(found, axis=1).min() >= 0
    assert shortlist.ranking_gains(np.array([30.0]), np.array([50.0]))[0] >= found.max()


def test_a_target_of_users_is_what_the_count_says_of_them_alone(fitted):
    """Against draws of the user, the item integrated out; other users' pairs say nothing of them."""
    pairs = [(3, 4), (5, 4), (3, 9)]
    belief = fitted.predictive(pairs, target={"users": [3]})
    assert not belief.provides("draws")
    gain = scorers.information_gain(belief)
    assert gain[1] == 0 and np.all(gain[[0, 2]] > 0)
    everything = scorers.information_gain(fitted.predictive(pairs))
    of_item = scorers.information_gain(fitted.predictive(pairs, target={"items": [4]}))
    assert np.all(gain[[0, 2]] < everything[[0, 2]]) and of_item[0] < everything[0] and of_item[2] == 0
    both = scorers.information_gain(fitted.predictive(pairs, target={"users": [3], "items": [4]}))
    assert both[0] == pytest.approx(everything[0], rel=1e-9)
    refined = scorers.information_gain(belief.refined(np.arange(3)))
    factors, (user,), (item,) = fitted.belief_.located(np.array([3]), np.array([4]))
    own, other = factors.sides
    rng = np.random.default_rng(0)
    z = own.mean[user] + np.sqrt(own.spread[user]) * rng.standard_normal((4000, own.mean.shape[1]))
    moments = factors.offset + z @ other.mean[item], z**2 @ other.spread[item]
    after = Poisson().outcome_entropy(*moments)
    outcome = belief.refined(np.array([0])).outcome_entropy[0]
    assert refined[0] == pytest.approx(outcome - after.mean(), abs=4 * after.std() / np.sqrt(4000) + 2e-3)
    assert refined[1] == 0
    with pytest.raises(ValueError, match="^target must name users of the fit"):
        fitted.predictive(pairs, target={"users": [10**6]})
    with pytest.raises(ValueError, match="^target must be None or like"):
        fitted.predictive(pairs, target=[3])


def test_draws_are_for_short_lists_and_points_have_no_what_ifs(fitted):
    short, long = fitted.predictive([(3, 4)] * 2), fitted.predictive([(3, 4)] * 20)
    assert short.provides("draws") and not long.provides("draws")
    weights, table = short.draws(4000)
    np.testing.assert_allclose(weights @ table[:, 0], short.probabilities[0], atol=0.03)
    point = PoissonFactorization(2, inference="map", random_state=0).fit([(0, 0), (1, 1), (0, 1)], [1, 2, 3])
    assert not point.predictive([(0, 0)]).provides("given") and np.all(point.predictive([(0, 0)]).variance == 0)


def test_predictive_probabilities_add_up_to_the_log_predictive(fitted):
    pair = np.array([[3, 4]])
    total = np.exp(fitted.log_predictive(np.repeat(pair, 300, axis=0), np.arange(300.0))).sum()
    assert total == pytest.approx(1.0, abs=1e-6)
    bare = fitted.belief_.located(*np.repeat(pair, 60, axis=0).T)
    log_p = log_probabilities(*bare, np.arange(60.0))  # without what counts scatter: the factors' own
    refined = fitted.predictive(pair).refined(np.array([0]))
    assert refined.outcome_entropy[0] == pytest.approx(-np.sum(np.exp(log_p) * log_p), abs=2e-3)


@pytest.mark.parametrize(
    ("pairs", "y", "match"),
    [
        ([(0, 1)], [-1], "^y must hold counts"),
        ([(0, 1)], [0.5], "^y must hold counts"),
        ([(0, 1)], [np.nan], "^y "),
        ([(0, 1)], [1e12], "^y must hold counts up to 1e"),
        ([(0, 1), (1, 1)], [1], "one count per pair"),
        ([(0.5, 1)], [1], "^users must be whole numbers or text"),
        (np.zeros((2, 3)), [1, 1], "two columns"),
        ([], [], "at least one pair"),
    ],
)
def test_bad_input(pairs, y, match):
    model = PoissonFactorization(2)
    with pytest.raises(ValueError, match=match):
        model.fit(pairs, y)
    assert not hasattr(model, "belief_")


def test_other_bad_input(fitted):
    with pytest.raises(NotFittedError):
        PoissonFactorization().predict([(0, 1)])
    with pytest.raises(ValueError, match="^n_components=.* GB; use fewer, or inference"):
        PoissonFactorization(30_000, inference="full").fit([(0, 1)], [1])
    with pytest.raises(ValueError, match="one kind, numbers or text"):
        pickle.loads(pickle.dumps(fitted)).partial_fit([("ann", 3)], [1])
    with pytest.raises(ValueError, match="^level"):
        fitted.interval([(0, 1)], 0)
    silent = PoissonFactorization(1, item_variance=0.2, tol=1e-3, random_state=0).fit(
        [(0, 0), (0, 1), (1, 0), (1, 1)], [0, 0, 4, 6]
    )  # a user whose counts are all zero
    assert silent.predict([(0, 0)])[0] < 0.6 * silent.predict([(1, 0)])[0]
    huge = PoissonFactorization(1, item_variance=0.2, tol=1e-3, random_state=0).fit(
        [(0, 0), (1, 0), (0, 1)], [10_000, 3, 0]
    )
    assert np.isfinite(huge.posterior_.sides[0].mean).all()


def test_the_variances_of_biases_are_where_the_bound_is_largest():
    """Counts that hardly differ say that biases do not either, and somebody new is predicted like the others."""
    rng = np.random.default_rng(0)
    pairs = np.array([(u, i) for u in range(30) for i in range(20) if rng.random() < 0.5])
    y = rng.binomial(30, 0.5, len(pairs))
    learnt, given = (PoissonFactorization(1, item_variance=v, random_state=0).fit(pairs, y) for v in (None, 0.2))
    for side in (0, 1):
        variance = learnt.posterior_.sides[side].variance
        column = 2 - side
        assert variance[column] < 0.05 and given.posterior_.sides[side].variance[column] == 1.0
        assert variance[1 + side] == 0.0  # the constant
    assert np.ptp(learnt.interval([(99, 99)])) < np.ptp(given.interval([(99, 99)]))


def test_items_are_scored_by_their_mean_counts_for_users_known_and_new():
    rng = np.random.default_rng(0)
    pairs = [(f"u{k % 7}", f"i{k % 5}") for k in range(28)]
    model = PoissonFactorization(1, random_state=0).fit(pairs, rng.poisson(2.0, 28))
    users, items = ["u3", "new"], model.items_.tolist()
    found = model.item_scores(users)
    wanted = model.predict([(user, item) for user in users for item in items]).reshape(2, -1)
    np.testing.assert_allclose(np.exp(found), wanted, rtol=1e-10)
    np.testing.assert_array_equal(model.item_scores(users, items[3:]), found[:, 3:])
    assert sorted(model.seen("u3").tolist()) == sorted({item for user, item in pairs if user == "u3"})
    assert model.seen("new").tolist() == []
    assert set(model.recommend("u3", 5).tolist()).isdisjoint(model.seen("u3").tolist())
