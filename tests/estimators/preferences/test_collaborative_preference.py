"""People's utilities: moments by hand, symmetries, newcomers, what is refused, what to ask."""

import itertools
import warnings

import numpy as np
import pandas as pd
import pytest
from scipy.special import ndtr
from sklearn.exceptions import ConvergenceWarning
from sklearn.gaussian_process.kernels import RBF, DotProduct

from adaptive import CollaborativePreference, SequentialDesign, scorers

ITEMS = ["apple", "bread", "cheese", "dates", "eggs"]
FEATURES = pd.DataFrame({"sweet": [1.0, 0.2, 0.0, 1.2, 0.1], "price": [0.1, 0.2, 1.0, 0.9, 0.4]}, index=ITEMS)
PAIRS = list(itertools.combinations(ITEMS, 2))


def answers(n_users=12, n_each=5, seed=0):
    rng = np.random.default_rng(seed)
    rows, y = [], []
    for user in range(n_users):
        utility = (FEATURES["sweet"] * rng.normal(1.0, 1.0)).to_numpy()
        for k in rng.integers(0, len(PAIRS), n_each):
            first, second = PAIRS[k]
            rows.append((f"u{user}", first, second))
            gap = utility[ITEMS.index(first)] - utility[ITEMS.index(second)]
            y.append(1 if rng.random() < ndtr(gap) else -1)
    return rows, np.array(y)


def model(**options):
    known = {"n_components": 2, "kernel": RBF(1.0), "item_features": FEATURES}
    options = {**known, "random_state": 0, "tol": 1e-3, **options}
    return CollaborativePreference(options.pop("n_components"), options.pop("kernel"), **options)


@pytest.fixture(scope="module")
def fitted():
    return model().fit(*answers())


def test_probabilities_are_those_of_the_utilities(fitted):
    mean, covariance = fitted.utilities("u3")
    rows = [("u3", a, b) for a, b in PAIRS]
    d = np.array([np.eye(5)[ITEMS.index(a)] - np.eye(5)[ITEMS.index(b)] for a, b in PAIRS])
    by_hand = ndtr(d @ mean / np.sqrt(1.0 + np.sum((d @ covariance) * d, axis=1)))
    proba = fitted.predict_proba(rows)
    np.testing.assert_allclose(proba[:, 1], by_hand, atol=1e-7)
    np.testing.assert_allclose(fitted.log_predictive(rows, -np.ones(10)), np.log(1 - by_hand), atol=1e-6)
    np.testing.assert_array_equal(fitted.predict(rows), np.where(by_hand >= 0.5, 1, -1))
    assert fitted.score(rows, np.where(by_hand >= 0.5, 1, -1)) == 1.0
    draws = np.random.default_rng(0).multivariate_normal(mean, covariance, 200_000) @ d.T
    np.testing.assert_allclose(ndtr(draws).mean(axis=0), by_hand, atol=5e-3)
    order = sorted(ITEMS, key=lambda item: -mean[ITEMS.index(item)])
    assert fitted.recommend("u3", 3).tolist() == order[:3]
    assert fitted.recommend("u3", exclude=[order[0]]).tolist() == order[1:]


def test_a_comparison_written_the_other_way_round_says_the_same(fitted):
    rows, y = answers()
    turned = model().fit([(u, b, a) for u, a, b in rows], -y)
    for user in ("u0", "nobody"):
        for ours, theirs in zip(fitted.utilities(user), turned.utilities(user), strict=True):
            np.testing.assert_allclose(ours, theirs, atol=1e-9)


def test_leave_one_out_is_what_a_person_says_who_did_not_answer_that(fitted):
    rows, y = answers()
    found = fitted.leave_one_out_
    asked = [k for k, row in enumerate(rows) if row[0] == "u3"]
    for k in asked:
        rest = [other for other in asked if other != k]
        person = fitted.user("fresh").partial_fit([rows[other][1:] for other in rest], y[rest])
        expected = person.predict_proba([rows[k][1:]])[0]
        np.testing.assert_allclose(found.probabilities[k], expected, atol=0.02)
        assert found.log_score[k] == pytest.approx(np.log(expected[int(y[k] > 0)]), abs=0.03)
    assert model(inference="laplace_approximation").fit(rows, y).leave_one_out_ is None


def test_somebody_without_answers_keeps_the_prior_and_so_does_an_item_without_features(fitted):
    prior = fitted.posterior_
    mean, covariance = fitted.utilities("nobody")
    np.testing.assert_allclose(mean, prior.mean)
    np.testing.assert_allclose(covariance, prior.dense())
    believed = fitted.predictive([("u1", "apple", "unheard of"), ("u1", "bread", "unheard of")])
    _, own = fitted.utilities("u1")
    assert believed.variance[0] == pytest.approx(own[0, 0] + np.trace(prior.dense()) / 5)
    assert believed.covariance([0], [1])[0, 0] == pytest.approx(own[0, 1] + np.trace(prior.dense()) / 5)
    two = fitted.predictive([("u1", "apple", "bread"), ("u2", "apple", "bread")])
    assert two.covariance([0], [1])[0, 0] == 0.0


def test_items_that_nobody_compared_are_known_by_their_features():
    rows, y = answers(40)
    kept = [k for k, row in enumerate(rows) if "dates" not in row]
    learnt = model().fit([rows[k] for k in kept], y[kept])
    assert learnt.items_.tolist() == ITEMS
    _, covariance = learnt.utilities("u0")
    prior = learnt.posterior_.dense()
    assert covariance[3, 3] < prior[3, 3] - 1e-3  # the sweet apple told something of the sweet dates


@pytest.mark.parametrize("inference", ["expectation_propagation", "laplace_approximation", "variational_bounds"])
def test_an_answer_beside_many_is_learnt_beside_the_same_prior(inference):
    """Of 200 comparisons one more solves again for its user, and leaves what all people share."""
    rows, y = answers(20, 10)
    learnt = model(inference=inference, tol=1e-2).fit(rows, y)
    evidence, before = learnt.log_evidence_, learnt.utilities("u0")
    learnt.partial_fit([("new", "apple", "olives")], [1])
    assert learnt.users_[-1] == "new" and learnt.items_[-1] == "olives" and learnt.log_evidence_ < evidence
    for ours, theirs in zip(learnt.utilities("u0"), before, strict=True):
        np.testing.assert_array_equal(ours[:5] if ours.ndim == 1 else ours[:5, :5], theirs)
    person = learnt.user("fresh").partial_fit([("apple", "olives")], [1])
    for ours, theirs in zip(person.utilities(), learnt.utilities("new"), strict=True):
        np.testing.assert_allclose(ours, theirs, atol=1e-7)
    assert learnt.user("new").recommend(2).tolist() == learnt.recommend("new", 2).tolist()
    more = ([("new", "apple", "bread"), ("u0", "dates", "eggs")], [1, 1])
    again = model(inference=inference, tol=1e-2).restore(learnt.state())
    for one in (learnt, again):
        one.partial_fit(*more)  # a hundredth more: what people share is learnt, too
    assert not np.array_equal(learnt.utilities("u0")[1][:5, :5], before[1])
    assert again.predict_proba(rows[:3]).tobytes() == learnt.predict_proba(rows[:3]).tobytes()


@pytest.mark.parametrize(("covariance", "kernel"), [("low_rank", None), ("low_rank", "matrix"), ("full", None)])
def test_new_people_and_items_lead_to_the_fit_on_all(covariance, kernel):
    rows, y = answers(8, 6)
    numbers = [(u, ITEMS.index(a), ITEMS.index(b)) for u, a, b in rows]  # of a matrix the last two items are unknown
    matrix = RBF(1.0)(FEATURES.to_numpy()[:3]) + 0.1 * np.eye(3) if kernel else None
    whole, parts = (CollaborativePreference(2, matrix, covariance=covariance, random_state=0) for _ in range(2))
    whole.fit(numbers, y)
    for low, high in itertools.pairwise([0, 1, 2, 11, 30, 47, 48]):
        parts.partial_fit(numbers[low:high], y[low:high])
    assert parts.log_evidence_ > whole.log_evidence_ - 0.1
    np.testing.assert_allclose(parts.predict_proba(numbers), whole.predict_proba(numbers), atol=0.02)


def test_few_people_are_not_known_exactly_and_answers_that_a_plane_separates_end():
    rows = [(u, i, j) for u in range(3) for i in range(4) for j in range(i)]
    y = [1 if (i > j) == (u < 2) else -1 for u, i, j in rows]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        learnt = CollaborativePreference(1, random_state=0).fit(rows, y)
    assert learnt.posterior_.scale > 0.25 and abs(learnt.posterior_.loadings).max() < 20.0
    loose = CollaborativePreference(1, prior_people=0.0, random_state=0).fit(rows, y)  # maximum likelihood
    assert loose.posterior_.scale < 0.05 or abs(loose.posterior_.loadings).max() > 50.0


def test_any_number_of_workers_and_a_full_covariance_and_caps():
    rows, y = answers(30)
    alone, together = (model(n_jobs=n).fit(rows, y) for n in (1, 2))
    assert alone.posterior_.dense().tobytes() == together.posterior_.dense().tobytes()
    whole = model(covariance="full", kernel=None, item_features=None).fit(rows, y)
    assert whole.posterior_.loadings.shape == (5, 0) and whole.log_evidence_ > whole.objective_trace_[0]
    capped = model(max_pairs=2, max_iter=60).fit(rows, y)
    assert abs(capped.log_evidence_ - alone.log_evidence_) < 0.1 * abs(alone.log_evidence_)
    with pytest.warns(ConvergenceWarning, match="not converged after 1 iterations"):
        model(max_iter=1).fit(rows, y)


def test_features_only_and_a_matrix_and_start_loadings():
    rows, y = answers()
    numbers = [(u, ITEMS.index(a), ITEMS.index(b)) for u, a, b in rows]
    matrix = RBF(1.0)(FEATURES.to_numpy()) + 0.1 * np.eye(5)
    by_matrix = CollaborativePreference(0, matrix, tol=1e-3).fit(numbers, y)
    by_features = model(n_components=0).fit(rows, y)
    np.testing.assert_allclose(by_matrix.posterior_.dense(), by_features.posterior_.dense())
    framed = CollaborativePreference(0, pd.DataFrame(matrix, index=ITEMS), tol=1e-3).fit(rows, y)
    np.testing.assert_allclose(framed.posterior_.dense(), by_matrix.posterior_.dense())
    named = model(n_components=0, item_features=dict(zip(ITEMS, FEATURES.to_numpy(), strict=True))).fit(rows, y)
    np.testing.assert_allclose(named.posterior_.dense(), by_features.posterior_.dense())
    start = np.random.default_rng(5).standard_normal((5, 1))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        began = CollaborativePreference(1, init=start, max_iter=1, tol=0.0).fit(numbers, y)
    assert began.posterior_.loadings.shape == (5, 1)


ROW = [("u0", "apple", "bread")]
REFUSED = [
    (model(), [("u0", "apple", "apple")], [1], "is compared with itself"),
    (model(), ROW, [0], r"y must be \+1 .* got 0"),
    (model(), ROW, [1, 1], "one entry per comparison"),
    (model(), [("u0", "apple")], [1], "three ids each"),
    (model(), [("u0", 1, 2)], [1], "items must be of one kind"),
    (model(), [(0.5, "apple", "bread")], [1], "users must be whole numbers or text"),
    (model(item_features=FEATURES.mask(FEATURES == 0.9)), ROW, [1], "item_features contains nan"),
    (model(kernel=DotProduct(0.0), alpha=0.0), ROW, [1], "kernel must be positive definite"),
    (model(kernel="rbf", item_features=None), ROW, [1], "kernel must be None, a kernel of scikit-learn or a matrix"),
    (model(kernel=None), ROW, [1], "item_features needs a kernel"),
    (model(item_features=None), ROW, [1], "give item_features"),
    (model(n_components=-1), ROW, [1], "n_components"),
    (model(inference="annealing"), ROW, [1], "inference"),
    (model(init=np.ones((2, 2))), ROW, [1], "init must be loadings of shape"),
    (model(), np.zeros((0, 3)), [], "at least one"),
]


@pytest.mark.parametrize(("refusing", "rows", "y", "sentence"), REFUSED, ids=[case[3][:20] for case in REFUSED])
def test_what_is_wrong_is_refused_in_one_sentence(refusing, rows, y, sentence):
    with pytest.raises(ValueError, match=sentence) as problem:
        refusing.fit(rows, y)
    assert "\n" not in str(problem.value) and not hasattr(refusing, "belief_")


def test_what_a_person_is_asked(fitted):
    """About all utilities, about given comparisons, about the best item: each by its definition."""
    person = fitted.user("u5")
    before = person.state()
    everything = person.predictive(PAIRS)
    gains = scorers.information_gain(everything, 0)
    nodes, weights = np.polynomial.hermite_e.hermegauss(80)
    p = ndtr(everything.mean[:, None] + np.sqrt(everything.variance)[:, None] * nodes)
    weights = weights / weights.sum()

    def entropy(q):
        return -q * np.log(q) - (1 - q) * np.log1p(-q)

    left = entropy(np.clip(p, 1e-300, 1 - 1e-16)) @ weights
    np.testing.assert_allclose(gains, entropy(p @ weights) - left, atol=1e-7)
    about = person.predictive(PAIRS, target=[("apple", "eggs")])
    some = scorers.information_gain(about, 0)
    assert np.all(some <= gains + 1e-9) and some[PAIRS.index(("apple", "eggs"))] == pytest.approx(gains[3], abs=1e-9)
    best = person.predictive(PAIRS, target="best", random_state=0)
    weights, table = best.draws()
    np.testing.assert_allclose(weights @ table[:, :, 1], everything.probabilities[:, 1], atol=0.06)
    shares = np.array(person.ranking()["best"])
    entropy_of_best = -np.sum(shares[shares > 0] * np.log(shares[shares > 0]))
    assert best.target_entropy == pytest.approx(entropy_of_best, abs=0.06)
    assert np.all(scorers.information_gain(best, 0) <= gains + 0.02)
    with pytest.raises(ValueError, match="one person"):
        fitted.predictive([("u1", "apple", "bread"), ("u2", "apple", "bread")], target="best")
    with pytest.raises(ValueError, match="olives.* was not in the fit"):
        person.partial_fit([("apple", "olives")], [1])
    assert all(np.array_equal(before[key], value) for key, value in person.state().items())


@pytest.mark.parametrize("target", [None, "best", [("apple", "dates")]])
def test_a_person_in_the_loop_is_known_after_some_answers(fitted, target, tmp_path):
    rng = np.random.default_rng(0)
    likes = 2.0 * FEATURES["sweet"]

    def answer(query):
        return [1 if rng.random() < ndtr(likes[a] - likes[b]) else -1 for a, b in query.candidates]

    options = {"target": target, "repeat": True, "random_state": 0, "log": tmp_path / "log.jsonl"}
    design = SequentialDesign(fitted.user("somebody"), PAIRS, answer, **options)
    with design:
        design.run(25)
    ranking = design.estimator_.ranking()
    assert ranking["item"][0] in ("apple", "dates") and sum(ranking["best"]) == pytest.approx(1.0)
    assert all(a < u < b for a, u, b in zip(ranking["lower"], ranking["utility"], ranking["upper"], strict=True))
    again = SequentialDesign.load(tmp_path / "log.jsonl", fitted.user("somebody"), PAIRS, answer, target=target)
    with again:
        assert again.estimator_.utilities()[0].tobytes() == design.estimator_.utilities()[0].tobytes()
