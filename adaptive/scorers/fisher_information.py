"""The classical criterion of adaptive tests: Fisher information at the estimate."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from adaptive.scorers.record import require

if TYPE_CHECKING:
    from adaptive.predictive.base import Predictive
    from adaptive.types import RandomState

__all__ = ["fisher_information"]


def fisher_information(predictive: Predictive, random_state: RandomState = None) -> np.ndarray:
    """Return  sum_y (d p(y | x) / dx)^2 / p(y | x)  at the mean of a scalar target x.

    It trusts the estimate: early in a test, when that is off, `information_gain` chooses better.

    Parameters
    ----------
    predictive : Predictive
        With ``fisher_information``.
    random_state : ignored

    Returns
    -------
    (m,) array

    References
    ----------
    F. Lord (1980), Applications of item response theory to practical testing problems.

    Examples
    --------
    >>> from adaptive.predictive import StatedPredictive
    >>> fisher_information(StatedPredictive(fisher_information=[0.25, 0.1]))
    array([0.25, 0.1 ])
    """
    require("fisher_information", predictive, "fisher_information")
    return np.array(predictive.fisher_information, dtype=float)
