"""Pending candidates: two by their outcomes, more by eight joint draws of all their answers."""

import copy
from typing import ClassVar

import numpy as np
import pytest

from adaptive import BayesianLogisticRegression, SequentialDesign, selection
from adaptive.potentials import BernoulliLogit, Gaussian
from adaptive.predictive import GaussianProjections, WeightedDraws
from adaptive.scorers import information_gain
from adaptive.selection.futures import Futures
from adaptive.selection.worlds import are_many, drawn_answers, worlds

X = np.random.default_rng(0).standard_normal((60, 3))
Y = (X @ [2.0, -1.0, 0.5] > 0).astype(int)


def model():
    return BayesianLogisticRegression(classes=[0, 1], hyperparameters="mode").fit(X[:9], Y[:9])


class Told:
    """An estimator that remembers what its copies were told."""

    told: ClassVar[list] = []

    def __init__(self):
        self.root = 1.5 * np.eye(3)

    def predictive(self, candidates, *, target=None, random_state=None):
        believed = GaussianProjections.from_rows(
            candidates, np.zeros(3), root=self.root, likelihood=BernoulliLogit(), random_state=random_state
        )
        weights, table = believed.draws()
        return WeightedDraws(weights, table, believed.outcomes, random_state=random_state)

    def partial_fit(self, candidates, outcomes):
        self.told.append(np.asarray(outcomes).tolist())
        self.root = 0.5 * self.root


def gaussian(rows, seed=0):
    return GaussianProjections.from_rows(
        rows, np.zeros(3), root=1.5 * np.eye(3), likelihood=BernoulliLogit(), random_state=seed
    )


def test_two_are_gone_through_by_their_outcomes_and_three_are_learnt(monkeypatch):
    monkeypatch.setattr(Told, "told", [])
    before = Told()
    for n, expected in ((1, 0), (2, 0), (3, 8), (7, 8)):
        Told.told.clear()
        selection.select(before, X, pending=X[:n], random_state=0, chunk_size=20)
        assert [len(answers) for answers in Told.told] == [n] * expected  # once, whatever the number of chunks
    np.testing.assert_array_equal(before.root, 1.5 * np.eye(3))


def test_gaussian_projections_and_class_scores_are_answered_without_a_copy(monkeypatch):
    """Nobody is fitted; a softmax conditions its members, by the same answers in every chunk."""
    for classes, target in ((2, None), (2, X[20:24]), (3, None)):
        y = np.arange(9) % classes
        estimator = BayesianLogisticRegression(classes=range(classes), prior_scale=1.0).fit(X[:9], y)
        monkeypatch.setattr(BayesianLogisticRegression, "partial_fit", None)
        options = {"pending": X[10:16], "random_state": 1, "return_scores": True, "target": target}
        options |= {"scorer": "information_gain" if target is None else "predictive_information_gain"}
        whole = selection.select(estimator, X[16:], 3, **options)
        parts = selection.select(estimator, X[16:], 3, chunk_size=11, **options)
        np.testing.assert_array_equal(whole[0], parts[0])
        np.testing.assert_allclose(whole[1], parts[1], rtol=1e-5 if classes == 3 else 1e-10)
        assert (whole[1] > 0).all()
        monkeypatch.undo()


def test_answers_are_joint_draws():
    """Twins are answered alike as often as one latent says, and each class as often as is believed."""
    pair = np.array([[0.0, 4.0, 0.0], [0.0, 4.0, 0.0], [1.0, 0.0, 0.0]])
    alike, positive = 0, 0.0
    for seed in range(100):
        answers = np.array(drawn_answers(gaussian(pair, seed), seed))
        assert answers.shape == (8, 3)
        alike += (answers[:, 0] == answers[:, 1]).sum()
        positive += (answers > 0).sum(axis=0)
    weights, table = gaussian(pair).draws()
    expected = weights @ (table[:, 0] * table[:, 1]).sum(axis=1)
    assert expected > 0.75 and alike / 800 == pytest.approx(expected, abs=0.05)
    np.testing.assert_allclose(positive / 800, 0.5, atol=0.06)


def test_learnt_at_once_is_near_what_outcomes_one_by_one_say():
    estimator = BayesianLogisticRegression(classes=[0, 1], hyperparameters="mode", prior_scale=2.0).fit(X[:9], Y[:9])
    order = np.argsort(np.abs(estimator.predict_proba(X[9:])[:, 1] - 0.5)) + 9
    pending, rest = X[order[:3]], X[order[3:20]]
    belief = estimator.predictive(np.concatenate([pending, rest]), random_state=0)
    cases = [(1.0, belief)]
    for k in range(3):
        cases = [(p * q, after) for p, one in cases for q, after in one.scenarios(k)]
    exact = sum(p * information_gain(one) for p, one in cases)[3:]
    now = information_gain(belief)[3:]
    means = {"copies": [], "at once": []}
    for seed in range(8):
        answers = drawn_answers(estimator.predictive(pending, random_state=seed), seed)
        copies = sum(p * information_gain(one.predictive(rest)) for p, one in worlds(estimator, pending, answers))
        at_once = Futures([(1.0, belief)], seed).after_answers(answers).score(information_gain, 0)[3:]
        for way, mean in (("copies", copies), ("at once", at_once)):
            assert np.abs(mean - exact).mean() < 0.5 * np.abs(now - exact).mean(), way
            means[way].append(mean)
    for way, found in means.items():
        assert np.abs(np.mean(found, axis=0) - exact).mean() < 0.15 * np.abs(now - exact).mean(), way


def test_chunks_pickles_and_seeds_agree():
    estimator = model()
    options = {"pending": X[10:16], "return_scores": True, "random_state": 5, "scorer": "information_gain"}
    whole = selection.select(estimator, X[16:], **options)
    for other in (
        selection.select(estimator, X[16:], chunk_size=7, **options),
        selection.select(copy.deepcopy(estimator), X[16:], n_jobs=2, chunk_size=20, **options),
    ):
        np.testing.assert_array_equal(other[0], whole[0])
        np.testing.assert_allclose(other[1], whole[1], rtol=1e-10)
    several = selection.select(estimator, X[16:], 5, **options)
    assert len(set(several[0].tolist())) == 5


def test_asks_beside_pending_ones_are_the_same_after_a_restart(tmp_path):
    with SequentialDesign(model(), X[9:], random_state=3, log=tmp_path / "log") as first:
        asked = [first.ask(another=True) for _ in range(4)]
    unbroken = SequentialDesign(model(), X[9:], random_state=3)
    *_, ahead = (unbroken.ask(another=True) for _ in range(5))
    with SequentialDesign.load(tmp_path / "log", model(), X[9:]) as again:
        assert [q.positions.tolist() for q in again.pending] == [q.positions.tolist() for q in asked]
        assert again.ask(another=True).positions.tolist() == ahead.positions.tolist()


def test_what_no_outcome_changes_is_not_learnt():
    belief = GaussianProjections.from_rows(X[:5], np.zeros(3), covariance=1.0, likelihood=Gaussian(1.0))
    assert not are_many(belief) and are_many(gaussian(X[:3])) and not are_many(gaussian(X[:2]))


def test_marginals_kept_for_a_pool_say_the_same_with_rows_pending():
    """`select` of the estimator keeps marginals of its pool from call to call; answers come on top of these."""
    estimator = BayesianLogisticRegression(classes=[0, 1]).fit(X[:9], Y[:9])
    options = {"pending": X[10:16], "return_scores": True, "random_state": 5, "scorer": "information_gain"}
    estimator.select(X[16:])
    mine, plain = estimator.select(X[16:], **options), selection.select(estimator, X[16:], **options)
    np.testing.assert_array_equal(mine[0], plain[0])
    np.testing.assert_allclose(mine[1], plain[1], rtol=1e-9)
