"""Margin between the two most probable answers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from adaptive.scorers.record import require, scorer

if TYPE_CHECKING:
    from adaptive.predictive.base import Predictive
    from adaptive.types import RandomState

__all__ = ["margin"]


@scorer(monotone=True)
def margin(predictive: Predictive, random_state: RandomState = None) -> np.ndarray:
    """Return 1 - (p_first - p_second), between 0 (certain) and 1 (the two most probable outcomes tie).

    Parameters
    ----------
    predictive : Predictive
        With ``probabilities``.
    random_state : ignored

    Returns
    -------
    (m,) array in [0, 1]

    References
    ----------
    T. Scheffer, C. Decomain, S. Wrobel (2001), Active hidden Markov models for information extraction.

    Examples
    --------
    >>> from adaptive.predictive import StatedPredictive
    >>> margin(StatedPredictive(probabilities=[[0.4, 0.4, 0.2], [0.0, 0.75, 0.25]]))
    array([1. , 0.5])
    """
    require("margin", predictive, "probabilities")
    probabilities = predictive.probabilities
    if probabilities.shape[1] == 1:
        return np.zeros(len(probabilities))
    second, first = np.partition(probabilities, -2, axis=1)[:, -2:].T
    return 1.0 - (first - second)
