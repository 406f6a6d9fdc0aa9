"""Answers that come one by one: items are climbed to from where they were, and from where ``fit`` starts."""

import numpy as np
import pytest

from adaptive import Questionnaire
from adaptive.estimators.questionnaires.answers import Answers
from adaptive.estimators.questionnaires.calibration import calibrate
from adaptive.estimators.questionnaires.curves import CURVES
from tests.estimators.questionnaires.test_item_response import drawn


def triples(n_people, n_items, seed=0):
    answers = drawn(n_people, n_items, seed)[0]
    every = np.random.default_rng(seed).permutation([(u, i) for u in range(n_people) for i in range(n_items)])
    return [(int(u), int(i), int(answers[u, i])) for u, i in every]


def test_an_item_that_comes_later_shares_the_slope_of_all():
    rows = triples(12, 5)
    old = [row for row in rows if row[1] < 4]
    parts = Questionnaire("rasch", categories=(0, 1)).fit(old)
    parts.partial_fit([row for row in rows if row[1] == 4][:3])
    slopes = parts.item_parameters_[:, 0]
    np.testing.assert_array_equal(slopes, slopes[0])


@pytest.mark.parametrize("model", ["two_parameter", "rasch"])
def test_a_trait_that_stands_upside_down_is_turned_round(model):
    """Both directions explain the answers as well; the prior of slopes says which is up."""
    rows = triples(60, 5)
    data = Answers.of_pairs([row[:2] for row in rows], [row[2] for row in rows], (0, 1))
    mask = np.ones((5, 1), dtype=bool)
    up = calibrate(CURVES[model], data, mask)
    again = calibrate(CURVES[model], data, mask, start=up.coordinates * [-1.0, 1.0])
    np.testing.assert_allclose(again.coordinates, up.coordinates, atol=2e-3)


def test_a_search_begins_anew_at_a_quarter_more_answers():
    model = "two_parameter"
    rows = triples(30, 5)
    parts = Questionnaire(model, categories=(0, 1)).fit(rows[:100])
    assert parts.partial_fit(rows[100:101]).belief_.searched == 100
    assert parts.partial_fit(rows[101:125]).belief_.searched == 125
    again = Questionnaire(model, categories=(0, 1)).restore(parts.state())
    assert again.belief_.searched == 125
    whole = Questionnaire(model, categories=(0, 1)).fit(rows[:125])
    assert parts.log_evidence_ > whole.log_evidence_ - 1e-3


def test_noises_of_the_ordinal_model_are_chosen_again():
    """The first answers told nothing of them: they stayed as these had them."""
    rng = np.random.default_rng(0)
    trait = rng.normal(size=20)
    rows = [
        (u, i, 1 + int(np.digitize(trait[u] + 0.1 * rng.normal(), [-0.5, 0.5]))) for u in range(20) for i in range(5)
    ]
    parts, whole = (Questionnaire(categories=(1, 2, 3)) for _ in range(2))
    parts.fit(rows[:1])
    for k in (10, 50, 100):
        parts.partial_fit(rows[len(parts.belief_.data) : k])
    assert parts.belief_.chosen == 100
    whole.fit(rows)
    np.testing.assert_array_equal(parts.bank_.trait_noise, whole.bank_.trait_noise)
    assert parts.log_evidence_ == whole.log_evidence_


@pytest.mark.parametrize("model", ["ordinal", "two_parameter"])
def test_a_trait_may_come_with_an_item_that_is_new(model):
    """It was an error, of ``predictive`` and of ``partial_fit``."""
    rows = triples(20, 4)
    traits = ["first", "first", "second", "second" if model == "ordinal" else ["first", "second"]]
    parts, whole = (Questionnaire(model, item_traits=dict(enumerate(traits)), categories=(0, 1)) for _ in range(2))
    rows.sort(key=lambda row: row[1])
    parts.fit(rows[:40])
    before = parts.predict_proba(np.full((1, 2), np.nan))
    said = parts.predictive([(3, 0), (3, 2), (99, 2)]).probabilities
    if model == "two_parameter":  # of the ordinal model the style of a person is known
        np.testing.assert_allclose(said[1], said[2])
    assert not np.allclose(said[0], before[0, 0])
    for low, high in ((40, 41), (41, 60), (60, 61), (61, 80)):
        parts.partial_fit(rows[low:high])
    whole.fit(rows)
    assert parts.bank_.traits == ("first", "second") and parts.log_evidence_ > whole.log_evidence_ - 0.1
