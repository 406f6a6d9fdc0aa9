"""Drop of the target's total variance."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from adaptive.scorers.record import require
from adaptive.scorers.rows import blocks

if TYPE_CHECKING:
    from adaptive.predictive.base import Predictive
    from adaptive.types import RandomState

__all__ = ["a_optimality", "covariance_drop"]


def a_optimality(predictive: Predictive, random_state: RandomState = None) -> np.ndarray:
    """Return tr C - E tr C', the expected drop of the trace of the target's covariance.

        C' = C - c c' (v - E v') / v^2        c = Cov(target, s),  v = Var(s),  E v' = its mean after the outcome

    Exact for a Gaussian likelihood; otherwise the mean over outcomes of one moment-matching step.

    Parameters
    ----------
    predictive : Predictive
        With ``target_covariance``, ``variance`` and ``expected_variance``.
    random_state : ignored

    Returns
    -------
    (m,) array, in squared units of the target

    References
    ----------
    K. Chaloner and I. Verdinelli (1995), Bayesian experimental design: a review, section 2.3.  H. Nickisch (2010),
    table 2.4 (A: the trace of the covariance).

    Examples
    --------
    >>> from adaptive.predictive import StatedPredictive
    >>> belief = StatedPredictive(variance=[1.0], expected_variance=[0.5], target_covariance=[[1.0, 0.2]])
    >>> a_optimality(belief).round(3)
    array([0.52])
    """
    drop = covariance_drop("a_optimality", predictive)
    squares = np.empty(len(predictive))
    for part in blocks(len(predictive), predictive.target_block(slice(0, 1)).shape[1]):
        squares[part] = np.square(predictive.target_block(part)).sum(axis=1)
    return drop * squares


def covariance_drop(scorer: str, predictive: Predictive) -> np.ndarray:
    """Return (v - E v') / v^2, the factor of the rank-one correction that a measurement is expected to make."""
    require(scorer, predictive, "target_covariance", "variance", "expected_variance")
    variance = np.asarray(predictive.variance)
    known = variance <= 0
    return np.where(known, 0.0, (variance - predictive.expected_variance) / np.where(known, 1.0, variance) ** 2)
