"""Worlds in which everything that is pending was answered.

The answers of a world come from one joint draw, so that they go together as the belief says; eight worlds stand for
all, however many candidates are pending, where going through the outcomes of one candidate after the other costs as
many what-ifs as there are cases.  Gaussian projections and class scores learn the answers at once
(:mod:`adaptive.predictive.answers`); of what has no such way copies of the estimator do, by one `partial_fit` a world.
"""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

import numpy as np

from adaptive.selection.futures import N_FUTURES

if TYPE_CHECKING:
    from adaptive.predictive.base import Predictive
    from adaptive.types import Pool

__all__ = ["are_many", "drawn_answers", "worlds"]

LISTED = 2  # pending candidates that are gone through by their outcomes


def are_many(predictive: Predictive) -> bool:
    """Return whether the outcomes of the candidates, all pending, are too many to go through one by one."""
    return sum(predictive.likely_outcomes(k) is not None for k in range(len(predictive))) > LISTED


def drawn_answers(predictive: Predictive, seed: int) -> list[Any]:
    """Return 8 sets of answers of the n candidates of ``predictive``, each from one joint draw of all.

    Parameters
    ----------
    predictive : Predictive
        Of what is pending, with ``draws`` and ``outcomes``.
    seed : int
    """
    rng = np.random.default_rng([seed, N_FUTURES])
    weights, table = predictive.draws()
    strata = (rng.permutation(N_FUTURES) + rng.random()) / N_FUTURES
    ends = np.cumsum(weights)
    drawn = table[np.minimum(np.searchsorted(ends / ends[-1], strata, side="right"), len(weights) - 1)]
    codes = np.empty(drawn.shape[:2], dtype=np.intp)
    for k in range(drawn.shape[1]):  # of each candidate the outcomes are stratified over the worlds
        levels = (rng.permutation(N_FUTURES) + rng.random()) / N_FUTURES
        below = np.cumsum(drawn[:, k], axis=1)
        codes[:, k] = np.minimum((below <= (levels * below[:, -1])[:, None]).sum(axis=1), drawn.shape[2] - 1)
    return [_listed(predictive.outcomes, answers) for answers in codes]


def worlds(estimator: Any, pending: Pool, answers: list[Any]) -> list[tuple[float, Any]]:
    """Return a (weight, estimator) for each set of answers, which has learnt them; ``estimator`` is not changed.

    Parameters
    ----------
    estimator : object with ``partial_fit``
    pending : pool of n candidates
    answers : list of their outcomes
    """
    found: list[tuple[float, Any]] = []
    for outcomes in answers:
        world = copy.deepcopy(estimator)
        world.partial_fit(pending, outcomes)
        found.append((1.0 / len(answers), world))
    return found


def _listed(outcomes: Any, codes: np.ndarray) -> Any:
    """An array of scalars, or a list with one entry for each candidate."""
    values = [outcomes[code] for code in codes]
    return (
        np.asarray(values) if all(np.ndim(value) == 0 and not isinstance(value, tuple) for value in values) else values
    )
