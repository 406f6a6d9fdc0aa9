"""Scorers that look at features: k-centre cover, gradients that differ, density."""

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression

from adaptive import SequentialDesign, scorers
from adaptive.estimators import wrap
from adaptive.predictive import MissingField, Predictive, StatedPredictive
from adaptive.scorers import record_of
from adaptive.scorers.record import Record
from adaptive.selection import select


class Rows:
    """Knows rows, class probabilities and what was measured."""

    def __init__(self, measured=None):
        self.measured = measured

    def predictive(self, candidates, *, target=None, random_state=None):
        p = 1 / (1 + np.exp(-np.asarray(candidates @ np.arange(1.0, 1.0 + candidates.shape[1])).ravel()))
        return StatedPredictive(
            candidates.shape[0], features=candidates, measured=self.measured, probabilities=np.column_stack([1 - p, p])
        )


def rows(m=40, d=3, seed=0):
    return np.random.default_rng(seed).standard_normal((m, d))


def distance(a, b):
    return np.sqrt(((a[:, None] - b) ** 2).sum(axis=2))


# ----------------------------------------------------------------------------------------------------- core set


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 10**6), n=st.integers(1, 6), as_sparse=st.booleans())
def test_a_batch_is_the_greedy_cover(seed, n, as_sparse):
    X, known = rows(seed=seed), rows(4, seed=seed + 1)
    kind = sparse.csr_matrix if as_sparse else np.asarray
    centres, expected = list(known), []
    for _ in range(n):
        nearest = distance(X, np.array(centres)).min(axis=1)
        expected.append(int(nearest.argmax()))
        centres.append(X[expected[-1]])
    chosen, radii = select(Rows(kind(known)), kind(X), n, scorer="core_set", return_scores=True)
    assert chosen.tolist() == expected
    assert np.all(np.diff(radii) <= 1e-12)
    if n > 2:  # what is pending counts as asked
        rest = select(Rows(kind(known)), kind(X), n - 2, scorer="core_set", pending=kind(X[expected[:2]]))
        assert rest.tolist() == expected[2:]


def test_the_cover_is_at_most_twice_the_best_one():
    X = rows(12, 2)
    chosen = select(Rows(), X, 3, scorer="core_set")
    radius = distance(X, X[chosen]).min(axis=1).max()
    from itertools import combinations

    best = min(distance(X, X[list(three)]).min(axis=1).max() for three in combinations(range(12), 3))
    assert radius <= 2 * best + 1e-12


def test_with_nothing_measured_the_middle_comes_first():
    X = np.array([[0.0], [10.0], [4.0]])
    assert select(Rows(), X, scorer="core_set") == [2]
    assert select(Rows(), X, 3, scorer="core_set").tolist() == [2, 1, 0]


def test_equal_rows_are_not_taken_twice_while_others_are_left():
    X = np.repeat(rows(5, seed=3) + 1e3, 4, axis=0)
    chosen = select(Rows(), X, 5, scorer="core_set")
    assert len(set(chosen // 4)) == 5
    chosen = select(Rows(), X - 1e3, 5, scorer="badge", random_state=0)
    assert len(set(chosen // 4)) == 5


# -------------------------------------------------------------------------------------------------------- badge


def test_the_first_is_drawn_by_the_length_of_its_gradient_and_the_next_by_distance():
    X = np.array([[1.0, 0.0], [0.1, 0.3], [-0.5, 0.2], [3.0, -1.4]])
    belief = Rows().predictive(X)
    errors = belief.probabilities - np.eye(2)[belief.probabilities.argmax(axis=1)]
    gradients = np.einsum("ic,id->icd", errors, X).reshape(4, -1)
    first, second = np.zeros(4), np.zeros(4)
    n = 3000
    after = belief.after_asking(2)
    for seed in range(n):
        first[scorers.badge(belief, seed).argmax()] += 1
        second[scorers.badge(after, seed).argmax()] += 1
    for counts, squares in (
        (first, (gradients**2).sum(axis=1)), (second, ((gradients - gradients[2]) ** 2).sum(axis=1))
    ):  # fmt: skip
        expected = n * squares / squares.sum()
        assert np.all(abs(counts - expected) <= 4 * np.sqrt(expected) + 1e-9)


def test_a_batch_is_seeded_and_each_choice_has_its_own_draw():
    X = rows(60)
    batches = [select(Rows(), kind(X), 6, scorer="badge", random_state=1) for kind in (np.asarray, sparse.csr_matrix)]
    np.testing.assert_array_equal(*batches)
    assert len(set(batches[0])) == 6
    assert not np.array_equal(batches[0], select(Rows(), X, 6, scorer="badge", random_state=2))


# ------------------------------------------------------------------------------------------------------ density


def test_density_is_the_mean_similarity_to_the_power():
    X = rows(15)
    unit = X / np.linalg.norm(X, axis=1, keepdims=True)
    density = ((1 + unit @ unit.T) / 2).mean(axis=1)
    for kind in (np.asarray, sparse.csr_matrix):
        belief = Rows().predictive(kind(X))
        for base in ("margin", scorers.entropy):
            plain = scorers.get(base)(belief)
            np.testing.assert_allclose(scorers.density_weighted(base, beta=2)(belief), plain * density**2)
            np.testing.assert_allclose(scorers.density_weighted(base, beta=0)(belief), plain)
    zero = StatedPredictive(features=np.zeros((2, 3)), probabilities=np.full((2, 2), 0.5))
    assert np.isfinite(scorers.density_weighted()(zero)).all()


def test_made_scorers_have_stable_names_and_keep_what_their_base_needs():
    made = scorers.density_weighted("information_gain", beta=0.5)
    assert made.__name__ == "density_weighted(information_gain, beta=0.5)" == repr(made)
    assert record_of(made) == Record(whole_pool=True)
    assert record_of(scorers.density_weighted("badge")).sees_asked
    assert record_of(scorers.density_weighted("random")).ignores_outcomes
    assert scorers.value_of_information([[0, 1], [5, 0]]).__name__ == "value_of_information([[0.0, 1.0], [5.0, 0.0]])"
    again = pickle.loads(pickle.dumps(made))
    belief = Rows().predictive(rows())
    uncertain = scorers.density_weighted("uncertainty")
    assert again.__name__ == made.__name__
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(uncertain))(belief), uncertain(belief))


def test_a_run_with_a_made_scorer_goes_on_from_its_log(tmp_path):
    X, log = rows(60), tmp_path / "run.log"
    y = (X[:, 0] > 0).astype(int)

    def design(beta):
        return SequentialDesign.load(
            log, LogisticRegression(), X, lambda query: y[query.positions], scorer=scorers.density_weighted(beta=beta)
        )

    first = SequentialDesign(
        LogisticRegression(), X, lambda query: y[query.positions], scorer=scorers.density_weighted(), initial=4,
        log=log, random_state=0,
    )  # fmt: skip
    first.run(6)
    first.close()
    again = design(1.0)
    assert again.history_["position"] == first.history_["position"]
    again.close()
    with pytest.raises(ValueError, match="scorer is not that of log"):
        design(2.0)


# ---------------------------------------------------------------------------------- with plain classifiers, refusals


@pytest.mark.parametrize("scorer", ["core_set", "badge", scorers.density_weighted("margin")], ids=str)
@pytest.mark.parametrize("classifier", [LogisticRegression(), RandomForestClassifier(5, random_state=0)], ids=str)
def test_plain_classifiers_are_asked_in_batches_with_cost_and_mask(scorer, classifier):
    X = rows(50)
    y = (X[:, 0] > 0).astype(int)
    view = wrap(classifier).partial_fit(X[:10], y[:10])
    mask = np.arange(50) >= 10
    joint = not hasattr(scorer, "settings") or hasattr(classifier, "n_estimators")
    chosen = view.select(X, 4, scorer=scorer, mask=mask, cost=np.linspace(1, 2, 50), joint=joint, random_state=0)
    assert len(set(chosen)) == 4 and chosen.min() >= 10


@pytest.mark.parametrize("name", ["core_set", "badge", "density_weighted"])
def test_missing_features_are_named(name):
    scorer = scorers.density_weighted() if name == "density_weighted" else scorers.get(name)
    with pytest.raises(MissingField, match=f"{name} needs features, which Predictive does not provide"):
        scorer(Predictive(2, probabilities=np.full((2, 2), 0.5)), 0)


def test_names_used_elsewhere_and_functions_that_make_scorers_are_explained():
    with pytest.raises(ValueError, match="scorer 'BatchBALD' is called information_gain .of a joint batch"):
        scorers.get("BatchBALD")
    with pytest.raises(ValueError, match="scorer 'qbc' is called query_by_committee here"):
        scorers.get("qbc")
    for given_scorer in ("density_weighted", scorers.density_weighted, scorers.value_of_information):
        with pytest.raises(ValueError, match="makes a scorer: call it, and pass what it returns"):
            scorers.get(given_scorer)
    with pytest.raises(ValueError, match="beta must be >= 0"):
        scorers.density_weighted(beta=-1)
