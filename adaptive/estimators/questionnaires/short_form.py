"""Fixed items from which the total is predicted best, and the error that they leave for people of other families.

    next item  =  argmax_i  c_i^2 / C_ii,      C the covariance of answers, c that of answers with the total,

both given the items taken: each the one that lowers the error of a ridge regression most. The error is that of people
whose families taught neither items nor weights.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from sklearn.linear_model import RidgeCV

from adaptive import checks
from adaptive.estimators.questionnaires.families import family_folds

if TYPE_CHECKING:
    from adaptive.estimators.questionnaires.answers import Label

__all__ = ["ShortForm", "short_form"]

PENALTIES = np.logspace(-1, 4, 12)
STEADY = 10.0  # added to the squares of an item's answers, so that few people do not decide
FOLDS, DRAWS = 5, 10


class ShortForm(NamedTuple):
    """Items that stand for all.

    Attributes
    ----------
    items : (n,) array of int
        Positions, the best first.
    weights : (n,) array, intercept : float
        The total is predicted as intercept + answers @ weights.
    error, random_error : float
        Root mean square error of that total for people of other families, and that of as many random items.
    squares : (people, 2) array
        The square errors of each person by both, NaN of those whom nobody judged.
    """

    items: np.ndarray
    weights: np.ndarray
    intercept: float
    error: float
    random_error: float
    squares: np.ndarray


def short_form(
    answers: np.ndarray, n: int, families: Sequence[Label] | None = None, random_state: int = 0
) -> ShortForm:
    """Choose items one by one; where an answer is missing the item's mean stands for it.

    Parameters
    ----------
    answers : (people, items) array
        NaN where not asked; those to reversed items turned round.
    n : int
        Fewer than there are items.
    families : sequence of labels, optional
        One for each person, at least five different ones; default: nobody is related.
    random_state : int
        Of the folds, and of the random items beside.

    Raises
    ------
    ValueError
        If there are too few families, or not fewer items than asked for.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> answers = (rng.random((300, 12)) < 1 / (1 + np.exp(-2 * rng.standard_normal((300, 1))))).astype(float)
    >>> found = short_form(answers, 4)
    >>> len(found.items), bool(found.error < found.random_error)
    (4, True)
    """
    if not 1 <= checks.integer("n", n) < answers.shape[1]:
        raise ValueError(f"n must be from 1 to {answers.shape[1] - 1}, fewer than the items, got {n}.")
    mean = np.nanmean(answers, axis=0)
    filled = np.where(np.isnan(answers), mean, answers)
    units = list(range(len(answers))) if families is None else list(families)
    table = np.where(np.isnan(answers), -1, answers).astype(int)
    squares = np.full((len(answers), 2), np.nan)
    rng = np.random.default_rng(random_state)
    for teach, judged in family_folds(table, units, FOLDS, random_state):
        truth = filled[judged].sum(axis=1)
        forms = [_greedy(filled[teach], n)] + [rng.permutation(answers.shape[1])[:n] for _ in range(DRAWS)]
        wrong = [_fitted(filled[teach], form).predict(filled[np.ix_(judged, form)]) - truth for form in forms]
        squares[judged] = np.stack([wrong[0] ** 2, np.mean(np.square(wrong[1:]), axis=0)], axis=1)
    items = _greedy(filled, n)
    fit = _fitted(filled, items)
    error, random_error = np.sqrt(np.nanmean(squares, axis=0)).tolist()
    return ShortForm(items, np.asarray(fit.coef_), float(fit.intercept_), error, random_error, squares)


def _fitted(filled: np.ndarray, items: np.ndarray) -> RidgeCV:
    return RidgeCV(PENALTIES).fit(filled[:, items], filled.sum(axis=1))


def _greedy(filled: np.ndarray, n: int) -> np.ndarray:
    """(n,) items, the best first."""
    centred = filled - filled.mean(axis=0)
    covariance = centred.T @ centred
    total, left = covariance.sum(axis=1), covariance + STEADY * np.eye(len(covariance))
    open_, chosen = np.ones(len(left), dtype=bool), []
    for _ in range(n):
        gain = np.where(open_, total**2 / np.maximum(np.diagonal(left), 1e-12), -1.0)
        k = int(gain.argmax())
        chosen.append(k)
        open_[k] = False
        column = left[:, k] / left[k, k]
        total = total - column * total[k]
        left = left - np.outer(column, left[k])
    return np.array(chosen)
