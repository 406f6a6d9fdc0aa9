"""Worlds in which everything that is pending was answered: copies of an estimator that learnt the answers at once.

The answers of a world come from one joint draw, so that they go together as the belief says; eight worlds stand for
all, however many candidates are pending.  To learn them costs one `partial_fit` a world, where going through the
outcomes of one candidate after the other costs as many what-ifs as there are cases.
"""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

import numpy as np

from adaptive.selection.futures import N_FUTURES

if TYPE_CHECKING:
    from adaptive.predictive.base import Predictive
    from adaptive.types import Pool

__all__ = ["LISTED", "are_many", "worlds"]

LISTED = 2  # pending candidates that are gone through by their outcomes


def are_many(predictive: Predictive) -> bool:
    """Return whether the outcomes of the candidates, all pending, are too many to go through one by one."""
    return sum(predictive.likely_outcomes(k) is not None for k in range(len(predictive))) > LISTED


def worlds(estimator: Any, pending: Pool, predictive: Predictive, seed: int) -> list[tuple[float, Any]]:
    """Return 8 (weight, estimator), each of which learnt the outcomes that ``pending`` have in one joint draw.

    Parameters
    ----------
    estimator : object with ``partial_fit``
        It is not changed.
    pending : pool of n candidates
    predictive : Predictive
        Of these, with ``draws`` and ``outcomes``.
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
    found: list[tuple[float, Any]] = []
    for answers in codes:
        world = copy.deepcopy(estimator)
        world.partial_fit(pending, _listed(predictive.outcomes, answers))
        found.append((1.0 / N_FUTURES, world))
    return found


def _listed(outcomes: Any, codes: np.ndarray) -> Any:
    """An array of scalars, or a list with one entry for each candidate."""
    values = [outcomes[code] for code in codes]
    return (
        np.asarray(values) if all(np.ndim(value) == 0 and not isinstance(value, tuple) for value in values) else values
    )
