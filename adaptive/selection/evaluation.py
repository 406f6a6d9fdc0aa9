"""Scores of one predictive: the scorer called with a generator that no chunk changes."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from adaptive.predictive.base import Predictive
    from adaptive.types import ArrayLike

__all__ = ["checked", "evaluate"]


def evaluate(scorer: Callable[..., ArrayLike], predictive: Predictive, seed: int, start: int = 0) -> np.ndarray:
    """Return what ``scorer`` says of the candidates of ``predictive``.

    Each call of the scorer gets a generator of the same seed; one that draws one uniform number per candidate draws the
    numbers from ``start`` on, so that chunks do not change them.

    Parameters
    ----------
    scorer : callable
        (predictive, random_state) -> (m,).
    predictive : Predictive
        Of m candidates.
    seed : int
        Of the generator that each call gets.
    start : int, default 0
        Number of the first candidate in its pool.

    Returns
    -------
    ndarray (m,)

    Raises
    ------
    ValueError
        If the scorer returns another number of scores than there are candidates.

    Examples
    --------
    >>> from adaptive.predictive import StatedPredictive
    >>> stated = StatedPredictive(probabilities=np.array([[0.5, 0.5], [0.9, 0.1]]))
    >>> evaluate(lambda predictive, random_state: 1 - predictive.probabilities.max(axis=1), stated, seed=0)
    array([0.5, 0.1])
    """
    stream = np.random.Generator(np.random.PCG64(seed).advance(start))
    values = np.asarray(scorer(predictive, stream), dtype=float)
    if values.shape != (len(predictive),):
        name = getattr(scorer, "__name__", repr(scorer))
        raise ValueError(
            f"scorer {name} must return {len(predictive)} scores, one per candidate, got shape {values.shape}."
        )
    return values


def checked(scores: np.ndarray, score: Callable[..., ArrayLike], size: int, allowed: np.ndarray | None) -> np.ndarray:
    """Return the scores; NaN is refused, naming the scorer and the first such candidate."""
    wrong = np.isnan(scores)
    if wrong.any():
        at = int(np.flatnonzero(wrong)[0])
        position = at if allowed is None else int(allowed[at])
        raise ValueError(
            f"scorer {getattr(score, '__name__', score)} returned NaN for the candidate at position {position}."
        )
    return scores
