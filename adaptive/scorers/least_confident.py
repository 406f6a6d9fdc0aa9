"""Probability that the most probable answer is wrong."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from adaptive.scorers.record import require, scorer
from adaptive.scorers.uncertainty import uncertainty

if TYPE_CHECKING:
    from adaptive.predictive.base import Predictive
    from adaptive.types import RandomState

__all__ = ["least_confident"]


@scorer(monotone=True)
def least_confident(predictive: Predictive, random_state: RandomState = None) -> np.ndarray:
    """Return 1 - max_c p_c: the probability that the best guess is wrong.

    It is `uncertainty` by its other name; how the rest is spread it ignores, which `margin` and `entropy` see.

    Parameters
    ----------
    predictive : Predictive
        With ``probabilities``.
    random_state : ignored

    Returns
    -------
    (m,) array in [0, 1 - 1/c]

    References
    ----------
    D. Lewis and W. Gale (1994), A sequential algorithm for training text classifiers.

    Examples
    --------
    >>> from adaptive.predictive import StatedPredictive
    >>> least_confident(StatedPredictive(probabilities=[[0.5, 0.5], [0.0, 1.0]]))
    array([0.5, 0. ])
    """
    require("least_confident", predictive, "probabilities")
    return uncertainty(predictive)
