"""Drop of the target's joint uncertainty, a log-determinant."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from adaptive.scorers.record import require

if TYPE_CHECKING:
    from adaptive.predictive.base import Predictive
    from adaptive.types import RandomState

__all__ = ["d_optimality"]


def d_optimality(predictive: Predictive, random_state: RandomState = None) -> np.ndarray:
    """Return 1/2 (log|C| - log|C'|), the drop of half the log-determinant of the target's expected covariance.

        = - 1/2 log(1 - (1 - E v' / v) q / v)        q = c' C^-1 c, the variance of s that the target explains

    Equal to `information_gain` if the likelihood is Gaussian, where it is exact. Otherwise C' is the mean over
    outcomes of one moment-matching step.

    Parameters
    ----------
    predictive : Predictive
        With ``log_determinant``, or ``variance``, ``expected_variance`` and ``explained_variance``.
    random_state : ignored

    Returns
    -------
    (m,) array, nats

    References
    ----------
    K. Chaloner and I. Verdinelli (1995), Bayesian experimental design: a review, section 2.2.  H. Nickisch (2010),
    table 2.4 (D: the determinant of the covariance).

    Examples
    --------
    >>> from adaptive.predictive import StatedPredictive
    >>> d_optimality(StatedPredictive(variance=[1.0], expected_variance=[0.25])).round(3)
    array([0.693])
    """
    if predictive.provides("log_determinant"):
        return 0.5 * predictive.log_determinant()[0]
    require("d_optimality", predictive, "variance", "expected_variance", "explained_variance")
    variance = np.asarray(predictive.variance)
    scale = np.where(variance > 0, variance, 1.0)
    lost = (1.0 - predictive.expected_variance / scale) * (predictive.explained_variance / scale)
    return -0.5 * np.log1p(-np.where(variance > 0, lost, 0.0))
