"""The response model by which hidden answers of other people are predicted best.

Half of some people teach the items, the others show every other answer and the rest is predicted. Each model is taken
in turn, the simple first, where it predicts certainly better than the one taken: by more than a standard error.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from adaptive.estimators.questionnaires.answers import Label

__all__ = ["ModelChoice", "chosen_model"]

OF_TWO = ("rasch", "two_parameter", "three_parameter", "four_parameter", "ordinal")
OF_MORE = ("graded", "partial_credit", "ordinal")
PEOPLE, LEAST = 390, 60  # people at most, so that no half is looked at for a second trait; of fewer nothing is chosen


@dataclass(frozen=True)
class ModelChoice:
    """A choice, and what it was made by.

    Attributes
    ----------
    model : str
    log_scores : dict of str to float
        Nats of a hidden answer, by model; empty where people were too few to choose by.
    """

    model: str
    log_scores: dict[str, float]


def chosen_model(
    values: np.ndarray, categories: Sequence[int], reverse: Sequence[Label] = (), seed: int = 0,
    models: Sequence[str] | None = None,
) -> ModelChoice:  # fmt: skip
    """Choose a response model of one trait.

    Parameters
    ----------
    values : (people, items) array
        Answers, NaN where not asked.
    categories : sequence of int
        The answers there are.
    reverse : sequence of int
        Columns of which a higher answer means less.
    seed : int
        Of who teaches and who judges.
    models : sequence of str, optional
        Those that are tried, the simplest first.

    Examples
    --------
    >>> chosen_model(np.ones((3, 2)), (0, 1)).model  # three people: nothing to choose by
    'two_parameter'
    """
    from adaptive.estimators.questionnaires.questionnaire import Questionnaire  # it is made of what is here

    two = len(categories) == 2
    tried = tuple(models or (OF_TWO if two else OF_MORE))
    seen = ~np.isnan(values)
    people = np.flatnonzero(seen.sum(axis=1) >= 2)
    if len(people) < LEAST or values.shape[1] < 3:
        return ModelChoice("two_parameter" if two else "graded", {})
    people = np.random.default_rng(seed).permutation(people)[:PEOPLE]
    train, judge = values[people[::2]], values[people[1::2]]
    shown = np.arange(values.shape[1]) % 2 == 0
    revealed, hidden = np.where(shown, judge, np.nan), np.where(shown, np.nan, judge)
    there = ~np.isnan(hidden)
    places = np.searchsorted(np.asarray(categories), np.where(there, hidden, categories[0]))
    scores: dict[str, np.ndarray] = {}
    for model in tried:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            fitted = Questionnaire(model, categories=categories, reverse=reverse).fit(train)
            p = np.take_along_axis(fitted.predict_proba(revealed), places[..., None], axis=2)[..., 0]
        logs = np.where(there, np.log(np.maximum(p, 1e-12)), 0.0)
        scores[model] = logs.sum(axis=1) / np.maximum(there.sum(axis=1), 1)
    taken = tried[0]
    for model in tried[1:]:
        gain = scores[model] - scores[taken]
        if gain.mean() > gain.std(ddof=1) / np.sqrt(len(gain)):
            taken = model
    return ModelChoice(taken, {model: float(one.mean()) for model, one in scores.items()})
