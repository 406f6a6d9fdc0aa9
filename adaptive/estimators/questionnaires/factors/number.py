"""Number of traits by which hidden answers of other people are predicted best.

Half of some people teach the items, the others show every other answer and the rest is predicted. Each number is taken
in turn where it predicts certainly better than the one taken: by more than a standard error.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from adaptive.estimators.questionnaires.answers import Answers, log_of
from adaptive.estimators.questionnaires.factors.bank import FactorBank
from adaptive.estimators.questionnaires.factors.fit import fit_factors

__all__ = ["held_out_scores", "number_of_traits"]

TRIED = (1, 2, 4, 8, 16)
PEOPLE, ITEMS, LEAST = 1000, 400, 20  # people and items at most, people at least


def number_of_traits(answers: Answers, seed: int = 0) -> int:
    """Choose how many traits.

    Parameters
    ----------
    answers : Answers
        Those to reversed items turned round.
    seed : int
        Of who teaches and who judges, and which items are looked at.

    Examples
    --------
    >>> number_of_traits(Answers.of_table(np.eye(5), None))  # five people: nothing to choose by
    1
    """
    rng = np.random.default_rng(seed)
    people = np.flatnonzero(np.bincount(answers.person, minlength=len(answers.people)) >= 2)
    if len(people) < LEAST or len(answers.items) < 4:
        return 1
    people = rng.permutation(people)[:PEOPLE]
    few = answers.of_items(rng.permutation(len(answers.items))[:ITEMS])  # in any order: every other one is hidden
    train, judge = few.of_people(people[::2]), few.of_people(people[1::2])
    taken, best = 1, np.zeros(0)
    for k in TRIED:
        if k > min(len(few.items) // 2, len(train.people) // 2):
            break
        scores = held_out_scores(train, judge, k)
        if k == 1:
            best = scores
        gain = scores - best
        if gain.mean() > gain.std(ddof=1) / np.sqrt(len(gain)):
            taken, best = k, scores
    return taken


def held_out_scores(train: Answers, judge: Answers, k: int) -> np.ndarray:
    """(people,) mean log probabilities of every other answer of those who judge, the rest being shown."""
    fit = fit_factors(train, k)
    n = len(train.items)
    none = np.zeros(n, dtype=bool)
    bank = FactorBank(train.items, train.categories, fit.loadings, fit.steps, fit.doubt, none, fit.asymptotes)
    shown = judge.item % 2 == 0
    seen = replace(judge, person=judge.person[shown], item=judge.item[shown], answer=judge.answer[shown])
    person, item, answer = (of[~shown] for of in (judge.person, judge.item, judge.answer))
    p = bank.people(seen).outlook(np.arange(n)).probabilities
    logs = log_of(p[person, item], answer, 1e-12)
    counts = np.bincount(person, minlength=len(judge.people))
    return np.asarray(np.bincount(person, weights=logs, minlength=len(judge.people)) / np.maximum(counts, 1))
