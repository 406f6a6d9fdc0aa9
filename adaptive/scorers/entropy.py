"""Entropy of the outcome, in nats."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from adaptive.scorers.record import require, scorer

if TYPE_CHECKING:
    from adaptive.predictive.base import Predictive
    from adaptive.types import RandomState

__all__ = ["entropy"]


@scorer(monotone=True)
def entropy(predictive: Predictive, random_state: RandomState = None) -> np.ndarray:
    """Return H(y) = - sum_c p_c log p_c of a discrete outcome.

    An upper bound of `information_gain`; equal to it where the target decides the outcome. A continuous outcome has no
    entropy in this sense (its differential entropy may be negative): use `information_gain`.

    Parameters
    ----------
    predictive : Predictive
        With ``probabilities``.
    random_state : ignored

    Returns
    -------
    (m,) array, nats

    References
    ----------
    C. Shannon (1948), A mathematical theory of communication; as a scorer: B. Settles (2009), Active learning
    literature survey, section 3.1.

    Examples
    --------
    >>> from adaptive.predictive import StatedPredictive
    >>> entropy(StatedPredictive(probabilities=[[0.5, 0.5], [1.0, 0.0]])).round(3)
    array([0.693, 0.   ])
    """
    require("entropy", predictive, "probabilities")
    return predictive.outcome_entropy
