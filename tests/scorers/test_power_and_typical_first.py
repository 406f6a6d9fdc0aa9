"""Scores as lotteries, and a cold start by typical rows."""

import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.spatial.distance import cdist

from adaptive import BayesianLogisticRegression, SequentialDesign, scorers, selection
from adaptive.predictive import StatedPredictive
from adaptive.scorers import record_of
from adaptive.scorers.record import Record
from adaptive.scorers.record import scorer as declared

P = np.array([0.5, 0.4, 0.2, 0.0])


class Coin:
    def predictive(self, candidates, *, target=None, random_state=None):
        return StatedPredictive(probabilities=np.column_stack([candidates, 1 - np.asarray(candidates)]))


@pytest.mark.parametrize("exponent", [0.0, 1.0, 2.0])
def test_candidates_are_drawn_in_proportion(exponent):
    scorer = scorers.power("uncertainty", exponent=exponent)
    drawn = [int(selection.select(Coin(), P, scorer=scorer, random_state=seed)[0]) for seed in range(3000)]
    shares = np.where(P > 0, P**exponent, 0.0)
    expected = shares / shares.sum()
    np.testing.assert_allclose(np.bincount(drawn, minlength=4) / 3000, expected, atol=0.035)


def test_a_lottery_does_not_depend_on_chunks():
    belief = np.random.default_rng(0).random(50)
    scorer = scorers.power("uncertainty")
    whole, parts = (
        selection.select(Coin(), belief, 5, scorer=scorer, random_state=3, joint=False, chunk_size=size)
        for size in (50, 7)
    )
    np.testing.assert_array_equal(whole, parts)


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array])
def test_typical_rows_are_the_greedy_medoids(kind):
    rows = np.random.default_rng(1).standard_normal((60, 2))
    belief = StatedPredictive(60, probabilities=np.full((60, 2), 0.5), features=kind(rows))
    apart = cdist(rows, rows)
    nearest = np.full(60, 2 * np.linalg.norm(rows - rows.mean(axis=0), axis=1).max())
    for _ in range(3):
        gain = np.maximum(nearest - apart, 0).mean(axis=1)
        gain[list(belief.asked)] = 0.0
        found = scorers.typical_first("margin")(belief)
        np.testing.assert_allclose(found, gain, atol=1e-7)
        best = int(np.argmax(found))
        assert np.argsort(np.linalg.norm(rows, axis=1)).tolist().index(best) < 50
        nearest, belief = np.minimum(nearest, apart[best]), belief.after_asking(best)


def test_the_first_rows_are_typical_and_then_the_scorer_asks():
    rows = np.random.default_rng(2).standard_normal((200, 5))
    model = BayesianLogisticRegression(prior_scale=1.0, classes=[0, 1])
    scorer = scorers.typical_first("margin", n=6)
    design = SequentialDesign(
        model, rows, lambda q: (q.candidates[:, 0] > 0).astype(int), scorer=scorer, exploration=0, random_state=0
    ).run(9)
    first, later = np.split(np.linalg.norm(rows[design.history_["position"]], axis=1), [6])
    assert first.mean() < np.median(np.linalg.norm(rows, axis=1)) and len(later) == 3
    six = design.start_.partial_fit(
        rows[design.history_["position"][:6]], (rows[design.history_["position"][:6], 0] > 0).astype(int)
    )
    left = np.setdiff1d(np.arange(200), design.history_["position"][:6])
    margins = scorers.margin(six.predictive(rows[left]))
    assert left[np.argmax(margins)] == design.history_["position"][6]


def test_factories_say_that_they_are_to_be_called():
    for name in ("power", "typical_first"):
        with pytest.raises(ValueError, match=f"{name} makes a scorer"):
            scorers.get(name)
    with pytest.raises(ValueError, match="exponent"):
        scorers.power(exponent=-1)


def test_wrappers_carry_what_their_scorer_needs_and_promises():
    for made in (
        scorers.density_weighted, scorers.power, scorers.typical_first, scorers.randomesque,
        lambda base: scorers.stratified(base, 2),
    ):  # fmt: skip
        assert record_of(made("predictive_information_gain")).about_inputs
        assert record_of(made("badge")).sees_asked and record_of(made("badge")).whole_pool
        assert not record_of(made("margin")).monotone
    assert record_of(scorers.power("random")).ignores_outcomes and not record_of(scorers.power("random")).whole_pool
    assert not record_of(scorers.typical_first("random")).ignores_outcomes  # it looks at what was asked


def test_a_wrapped_scorer_about_inputs_takes_a_sample_of_the_pool_as_these():
    X = np.random.default_rng(0).standard_normal((30, 2))
    model = BayesianLogisticRegression(prior_scale=1.0).fit(X, X[:, 0] > 0)
    assert 0 <= model.select(X, scorer=scorers.power("predictive_information_gain"), random_state=0)[0] < 30


def test_a_record_is_frozen_and_knows_its_words():
    with pytest.raises(TypeError, match="monoton"):
        declared(monoton=True)
    with pytest.raises(AttributeError):
        record_of(scorers.margin).monotone = False
    assert record_of(lambda predictive, random_state: 0) == Record()
    assert pickle.loads(pickle.dumps(scorers.margin)) is scorers.margin
