"""Answers of people to items, and of one of them."""

from __future__ import annotations

import numpy as np

from adaptive import Questionnaire
from tests.contract.case import Case

RNG = np.random.default_rng(0)
KNOWN_ITEMS = Questionnaire.from_parameters(
    RNG.uniform(0.7, 2.0, 25), thresholds=np.sort(RNG.uniform(-2, 2, (25, 2)), axis=1), response_model="graded"
)
ANSWERED = RNG.integers(1, 4, (12, 13)).astype(float)
LEARN = [(p, i) for p in range(12) for i in range(6) if (p + i) % 6]
WHO = [(p, i) for p in range(12) for i in range(6) if (p + i) % 6 == 0]  # not asked so far
WHO += [("new", i) for i in range(6)]


def ordinal():
    return Questionnaire(trait_noise=1.0, categories=(1, 2, 3))


def many_traits():
    return Questionnaire("partial_credit", n_traits=4, categories=(1, 2, 3)).fit(ANSWERED)


def item_response(name):
    return lambda: Questionnaire(name, categories=(1, 2, 3))


def of_pairs(name, make, answers):
    given = np.array([answers[p, i] for p, i in LEARN])

    def measure(pairs):
        return np.array([given[len(str(pair)) % 7] for pair in pairs])

    return Case(f"Questionnaire {name}", make, WHO, (LEARN, given), measure, given=None, once=True)


def answers(items):
    return np.array([1 + item % 3 for item in items])


CASES = [
    *(
        of_pairs(name, lambda name=name: Questionnaire(name), ANSWERED // 2 * 1.0)
        for name in ("rasch", "two_parameter", "three_parameter")
    ),
    *(of_pairs(name, item_response(name), ANSWERED) for name in ("graded", "partial_credit")),
    of_pairs("ordinal", ordinal, ANSWERED),
    of_pairs("of many traits", lambda: Questionnaire("partial_credit", n_traits=4, categories=(1, 2, 3)), ANSWERED),
    Case(
        "Respondent", KNOWN_ITEMS.respondent, list(range(23)), ([23, 24], np.array([2, 3])), answers, target=[23, 24],
        once=True,
    ),
    Case(
        "Respondent ordinal", lambda: ordinal().fit(ANSWERED).respondent(), list(range(12)), ([12], np.array([2])),
        answers, given="direction", once=True,
    ),
    Case(
        "Respondent of many traits", lambda: many_traits().respondent(), list(range(12)), ([12], np.array([2])),
        answers, given="direction", once=True,
    ),
    Case(
        "Respondent of many traits about the total", lambda: many_traits().respondent("total"), list(range(12)),
        ([12], np.array([2])), answers, given="direction", once=True,
    ),
]  # fmt: skip
