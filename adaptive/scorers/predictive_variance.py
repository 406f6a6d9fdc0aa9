"""Variance of the projection that decides the outcome."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from adaptive.scorers.record import require, scorer

if TYPE_CHECKING:
    from adaptive.predictive.base import Predictive
    from adaptive.types import RandomState

__all__ = ["predictive_variance"]


@scorer(monotone=True)
def predictive_variance(predictive: Predictive, random_state: RandomState = None) -> np.ndarray:
    """Return Var(s) of each candidate's projection.

    For equal Gaussian noise it ranks single candidates as `information_gain` does, log(1 + v / noise) being monotone;
    for a classifier it forgets that an outcome far from the boundary teaches little.

    Parameters
    ----------
    predictive : Predictive
        With ``variance``.
    random_state : ignored

    Returns
    -------
    (m,) array

    References
    ----------
    D. MacKay (1992), Information-based objective functions for active data selection.

    Examples
    --------
    >>> from adaptive.predictive import StatedPredictive
    >>> predictive_variance(StatedPredictive(variance=[2.0, 0.5]))
    array([2. , 0.5])
    """
    require("predictive_variance", predictive, "variance")
    return np.array(predictive.variance)
