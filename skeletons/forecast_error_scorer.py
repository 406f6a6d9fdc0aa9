"""A scorer: the squared error that the forecast of the outcome expects of itself,

    score = E_y |p - e_y|^2 = sum_c p_c (1 - p_c),        e_y the unit vector of the outcome.

To add a scorer, write a function ``(predictive, random_state) -> (m,)``: larger is better, zero means that there is
nothing to gain. It sees a predictive and nothing else - no estimator, batch or cost - and asks for the fields it needs
with ``require``, so that a predictive without them ends in one sentence.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from adaptive.scorers.record import require

if TYPE_CHECKING:
    from adaptive.predictive import Predictive
    from adaptive.types import RandomState

__all__ = ["forecast_error"]


def forecast_error(predictive: Predictive, random_state: RandomState = None) -> np.ndarray:
    """Return the expected squared error (Brier score) of the predictive distribution, per candidate.

    Parameters
    ----------
    predictive : Predictive
        With ``probabilities``.
    random_state : ignored

    Returns
    -------
    (m,) array in [0, 1 - 1/c]
        Zero where the outcome is certain.

    References
    ----------
    G. W. Brier (1950), Verification of forecasts expressed in terms of probability.

    Examples
    --------
    >>> from adaptive.predictive import StatedPredictive
    >>> forecast_error(StatedPredictive(probabilities=[[0.5, 0.5], [0.9, 0.1], [1.0, 0.0]])).round(2)
    array([0.5 , 0.18, 0.  ])
    """
    require("forecast_error", predictive, "probabilities")
    p = predictive.probabilities
    return (p * (1.0 - p)).sum(axis=1)
