"""Number of traits by which hidden answers of other people are predicted best.

Half of some people teach the items, the others show every other answer and the rest is predicted. Each number is taken
in turn where it predicts certainly better than the one taken: by more than a standard error.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from adaptive.estimators.questionnaires.answers import Answers
from adaptive.estimators.questionnaires.factors.bank import FactorBank
from adaptive.estimators.questionnaires.factors.fit import fit_factors

__all__ = ["held_out_scores", "number_of_traits"]

TRIED = (1, 2, 4, 8, 16)
PEOPLE, ITEMS, LEAST = 1000, 400, 20  # people and items at most, people at least


def number_of_traits(table: np.ndarray, categories: tuple[int, ...], seed: int = 0) -> int:
    """Choose how many traits.

    Parameters
    ----------
    table : (people, items) array of int
        Places of the answers, -1 where not asked; reversed items turned round.
    categories : tuple of int
    seed : int
        Of who teaches and who judges, and which items are looked at.

    Examples
    --------
    >>> number_of_traits(np.zeros((5, 3), dtype=int), (0, 1))  # five people: nothing to choose by
    1
    """
    rng = np.random.default_rng(seed)
    people = np.flatnonzero((table >= 0).sum(axis=1) >= 2)
    if len(people) < LEAST or table.shape[1] < 4:
        return 1
    people = rng.permutation(people)[:PEOPLE]
    items = rng.permutation(table.shape[1])[:ITEMS]  # in any order, of which every other one is hidden
    train, judge = table[np.ix_(people[::2], items)], table[np.ix_(people[1::2], items)]
    taken, best = 1, np.zeros(0)
    for k in TRIED:
        if k > min(len(items) // 2, len(train) // 2):
            break
        scores = held_out_scores(train, judge, categories, k)
        if k == 1:
            best = scores
        gain = scores - best
        if gain.mean() > gain.std(ddof=1) / np.sqrt(len(gain)):
            taken, best = k, scores
    return taken


def held_out_scores(train: np.ndarray, judge: np.ndarray, categories: tuple[int, ...], k: int) -> np.ndarray:
    """(people,) mean log probabilities of every other answer of those who judge, the rest being shown."""
    fit = fit_factors(train, len(categories), k)
    n = train.shape[1]
    bank = FactorBank(range(n), categories, fit.loadings, fit.steps, fit.doubt, np.zeros(n, dtype=bool))
    person, item = np.nonzero(judge >= 0)
    every = Answers(
        tuple(range(len(judge))), tuple(range(n)), person, item, judge[person, item].astype(np.intp), categories
    )
    shown = item % 2 == 0
    people = bank.people(replace(every, person=person[shown], item=item[shown], answer=every.answer[shown]))
    p = people.outlook(np.arange(n)).probabilities
    logs = np.log(np.maximum(p[person[~shown], item[~shown], every.answer[~shown]], 1e-12))
    counts = np.bincount(person[~shown], minlength=len(judge))
    return np.asarray(np.bincount(person[~shown], weights=logs, minlength=len(judge)) / np.maximum(counts, 1))
