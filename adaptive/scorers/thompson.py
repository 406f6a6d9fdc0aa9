"""Probability of the second of two outcomes under one draw of what is unknown."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from adaptive.predictive.base import MissingField
from adaptive.scorers.record import scorer
from adaptive.scorers.upper_confidence_bound import has_two_outcomes

if TYPE_CHECKING:
    from adaptive.predictive.base import Predictive
    from adaptive.types import RandomState

__all__ = ["thompson"]


@scorer(whole_pool=True)  # of a process each chunk would have a draw of its own
def thompson(predictive: Predictive, random_state: RandomState = None) -> np.ndarray:
    """Return p(second outcome | one joint draw): each candidate is best as often as it is believed to be.

    The draw is the predictive's own, one for all candidates of a pool, and another at every step of a loop. It sees the
    whole pool at once: a process is drawn jointly only where it is drawn together. It rewards an outcome, as
    `upper_confidence_bound` does.

    Parameters
    ----------
    predictive : Predictive
        With ``draws`` of two outcomes.
    random_state : ignored
        The seed is the predictive's.

    Returns
    -------
    (m,) array in [0, 1]

    Raises
    ------
    MissingField
        If the predictive has neither a likelihood nor draws of two outcomes.

    References
    ----------
    W. Thompson (1933), On the likelihood that one unknown probability exceeds another.

    Examples
    --------
    >>> from adaptive.predictive import WeightedDraws
    >>> members = [[[0.6, 0.4], [0.9, 0.1]], [[0.4, 0.6], [0.6, 0.4]]]
    >>> thompson(WeightedDraws([0.5, 0.5], members, ["no", "yes"], random_state=0)).tolist() in ([0.4, 0.1], [0.6, 0.4])
    True
    """
    if not predictive.provides("draws") or not has_two_outcomes(predictive):
        raise MissingField(
            f"thompson needs a likelihood, or draws, of two outcomes, which {type(predictive).__name__} does not "
            "provide."
        )
    return np.array(predictive.draws(1)[1][0, :, 1], dtype=float)
