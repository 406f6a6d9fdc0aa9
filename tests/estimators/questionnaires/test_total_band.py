"""Bands of totals by people who were asked in the same way: they hold where the model's do not."""

import numpy as np
import pytest
from scipy.special import expit

from adaptive import Questionnaire

N = 24


def people(n, seed):
    """Answers to a scale whose items measure two traits in turn."""
    rng = np.random.default_rng(seed)
    traits = rng.standard_normal((n, 2))
    slopes, difficulty = np.where(np.arange(N) % 2, 1.2, 2.0), np.linspace(-1.5, 1.5, N)
    return (rng.random((n, N)) < expit(slopes * (traits[:, np.arange(N) % 2] - difficulty))).astype(float)


@pytest.fixture(scope="module")
def items():
    with pytest.warns(UserWarning):  # that this is more than one trait
        return Questionnaire("two_parameter").fit(people(400, 0))


@pytest.fixture(scope="module")
def band(items):
    return items.total_band(people(150, 1), 5)


def covered(items, answers, band):
    inside = []
    for asked, one in zip(items.simulate(answers, 5).items, answers, strict=True):
        person = items.respondent().fit(list(asked), [one[item] for item in asked])
        low, high = person.predict_total(level=0.9, band=band).interval
        inside.append(low <= one.sum() <= high)
    return np.mean(inside)


def test_totals_are_held_after_chosen_items_of_two_traits(items, band):
    answers = people(200, 2)
    assert covered(items, answers, None) < 0.8
    assert 0.84 < covered(items, answers, band) < 0.96


def test_only_the_interval_is_another(items, band):
    person = items.respondent().fit([3, 4], [1, 0])
    before, after = person.predict_total(), person.predict_total(band=band)
    assert after[:2] == before[:2] and after.probabilities.tolist() == before.probabilities.tolist()
    assert after.interval.tolist() != before.interval.tolist() and set(after.interval) <= set(before.values)


def test_the_ends_are_the_conformal_quantile_of_those_asked(band):
    """Of 150 people the 136th smallest is the one of level .9: 151 times .9, rounded up."""
    half = band.deviations(3, 0.9)
    assert half == np.sort(band.off[:, 2])[135]
    assert np.sum(band.off[:, 2] <= half) >= 136 and np.sum(band.off[:, 2] < half) <= 135


def test_people_in_another_order_give_the_same_band(items, band):
    again = items.total_band(people(150, 1)[::-1], 5)
    np.testing.assert_array_equal(again.off[::-1], band.off)


def test_what_the_band_does_not_speak_of_is_refused(items, band):
    person = items.respondent()
    with pytest.raises(ValueError, match="after 1 to 5 answers; this person has given 0"):
        person.predict_total(band=band)
    person.fit([0], [1])
    with pytest.raises(ValueError, match="level 0.995 needs 199 people or more"):
        person.predict_total(level=0.995, band=band)
    with pytest.raises(ValueError, match="band must count the items that make this total"):
        person.predict_total([1, 2], band=band)
    missing = np.where(np.eye(N, dtype=bool), np.nan, people(N, 3))
    with pytest.raises(ValueError, match="there is none"):
        items.total_band(missing, 3)
    assert len(items.total_band(missing, 2, counted=[0, 1]).off) == N - 2
