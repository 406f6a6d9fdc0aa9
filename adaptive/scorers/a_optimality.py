"""Drop of the target's total variance."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from adaptive.scorers.record import nonnegative, require
from adaptive.scorers.rows import blocks

if TYPE_CHECKING:
    from adaptive.predictive.base import Predictive
    from adaptive.types import RandomState

__all__ = ["a_optimality", "require_drop"]


def a_optimality(predictive: Predictive, random_state: RandomState = None) -> np.ndarray:
    """Return tr C - E tr C', the expected drop of the trace of the target's covariance.

        C' = C - c c' (v - E v') / v^2        c = Cov(target, s),  v = Var(s),  E v' = its mean after the outcome

    Exact for a Gaussian likelihood; otherwise the mean over outcomes of one moment-matching step. Of a mixture C and C'
    are the covariances of the mixture, the spread of its components' means included:  tr C - E tr C' is the expected
    squared step of the target's mean.

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
    require_drop("a_optimality", predictive)
    drop = np.empty(len(predictive))
    for part in blocks(len(predictive), predictive.target_block(slice(0, 1)).shape[1]):
        drop[part] = np.square(predictive.target_shifts(part)).sum(axis=(1, 2))
    return drop


def require_drop(scorer: str, predictive: Predictive) -> None:
    """Require what the target's expected covariance follows from, and that no variance is expected to grow."""
    require(scorer, predictive, "target_covariance", "variance", "expected_variance")
    now, then = np.asarray(predictive.variance), np.asarray(predictive.expected_variance)
    nonnegative(scorer, predictive, now - then, variance=now, expected_variance=then)
