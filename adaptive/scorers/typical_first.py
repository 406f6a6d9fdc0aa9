"""A cold start that asks typical rows, before any other score can know better."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from adaptive import checks
from adaptive.scorers.configured import Configured, wrapped
from adaptive.scorers.record import require
from adaptive.scorers.rows import blocks, products, squared_distances, squared_norms

if TYPE_CHECKING:
    from adaptive.predictive.base import Predictive
    from adaptive.types import RandomState, Scorer

__all__ = ["typical_first"]

N_REFERENCES = 1024  # rows of the pool, evenly spaced, that are to be near to what is asked


def typical_first(scorer: Scorer = "query_by_committee", *, n: int = 10) -> Configured:
    """Return a scorer: typical rows until ``n`` were measured, then ``scorer``.

        score(x) = mean over the pool of  max(0, d(x') - |x - x'|)

    with d(x') the distance to the nearest row measured or asked, at first the largest there is: by how much the pool
    comes nearer to what is known, the greedy step of k-medoids. The first rows that a model asks are the far ones,
    whose labels say little about all others. What is asked counts as measured, so that batches are spread, too; after
    the first ``n`` a batch is the highest single scores.

    Parameters
    ----------
    scorer : str or callable, default "query_by_committee"
    n : int, default 10

    Returns
    -------
    scorer

    Examples
    --------
    >>> from adaptive.predictive import StatedPredictive
    >>> belief = StatedPredictive(probabilities=[[0.5, 0.5]] * 4, features=np.array([[0.0], [0.1], [0.2], [9.0]]))
    >>> int(np.argmax(typical_first("margin")(belief)))
    1
    """
    n = checks.integer("n", n, minimum=0)
    record = {"whole_pool": True, "sees_asked": True, "ignores_outcomes": False}
    return wrapped(_typical, "typical_first", scorer, f"n={n}", record, n=n)


def _typical(predictive: Predictive, random_state: RandomState, base: Callable[..., np.ndarray], n: int) -> np.ndarray:
    measured = predictive.measured.shape[0] if predictive.provides("measured") else 0
    asked = sorted(set(predictive.asked))
    if measured + len(asked) >= n:
        return np.asarray(base(predictive, random_state))
    require("typical_first", predictive, "features")
    rows = predictive.features
    references = rows[np.unique(np.linspace(0, len(predictive) - 1, N_REFERENCES).astype(int))]
    centred = squared_distances(references, references.mean(axis=0).reshape(1, -1))
    nearest = np.full(references.shape[0], 2.0 * np.sqrt(centred.max(initial=0.0)))  # no two rows are farther apart
    if measured:
        nearest = np.minimum(nearest, np.sqrt(np.maximum(squared_distances(references, predictive.measured), 0.0)))
    if asked:
        nearest = np.minimum(nearest, np.sqrt(np.maximum(squared_distances(references, rows[asked]), 0.0)))
    own, theirs = squared_norms(rows), squared_norms(references)
    gains = np.empty(len(predictive))
    for part in blocks(len(predictive), len(theirs)):
        apart = np.sqrt(np.maximum(own[part, None] + theirs - 2 * products(rows[part], references), 0.0))
        gains[part] = np.maximum(nearest - apart, 0.0).mean(axis=1)
    gains[asked] = 0.0
    return gains
