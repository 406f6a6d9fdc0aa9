"""Drop of the target's joint uncertainty, a log-determinant."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy import linalg

from adaptive.scorers.a_optimality import require_drop
from adaptive.scorers.record import by_determinant, nonnegative, require
from adaptive.scorers.rows import blocks

if TYPE_CHECKING:
    from adaptive.predictive.base import Predictive
    from adaptive.types import RandomState

__all__ = ["d_optimality"]

_SUPPORT = 1e-11  # eigenvalues below this share of the largest are zero but for rounding


def d_optimality(predictive: Predictive, random_state: RandomState = None) -> np.ndarray:
    """Return 1/2 (log|C| - log|C'|), the drop of half the log-determinant of the target's expected covariance.

        = - 1/2 log(1 - (1 - E v' / v) q / v)        q = c' C^-1 c, the variance of s that the target explains

    Equal to `information_gain` if the likelihood is Gaussian, where it is exact. Otherwise C' is the mean over
    outcomes of one moment-matching step. Of a mixture C and C' are the covariances of the mixture, the spread of its
    components' means included; where the target is a function, not a list of components, those of the projection.

    Parameters
    ----------
    predictive : Predictive
        With ``log_determinant``, or ``variance``, ``expected_variance`` and ``explained_variance``; a mixture with
        ``target_variance``.
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
        return by_determinant("d_optimality", predictive)
    if len(predictive.components) > 1 and predictive.provides("target_variance"):
        require_drop("d_optimality", predictive)
        return _by_shifts(predictive)
    require("d_optimality", predictive, "variance", "expected_variance", "explained_variance")
    variance = np.asarray(predictive.variance)
    fields = {"variance": variance, "expected_variance": predictive.expected_variance}
    nonnegative("d_optimality", predictive, variance - predictive.expected_variance, **fields)
    scale = np.where(variance > 0, variance, 1.0)
    lost = (1.0 - predictive.expected_variance / scale) * (predictive.explained_variance / scale)
    return -0.5 * np.log1p(-np.where(variance > 0, np.maximum(lost, 0.0), 0.0))


def _by_shifts(predictive: Predictive) -> np.ndarray:
    """Return - 1/2 log|I - S C^-1 S'|  with  C - C' = S' S, on the support of C."""
    values, vectors = linalg.eigh(predictive.target_variance)
    kept = values > _SUPPORT * max(values[-1], 0.0)
    whitening = vectors[:, kept] / np.sqrt(values[kept])
    scores = np.empty(len(predictive))
    for part in blocks(len(predictive), 2 * len(values)):
        shifts = predictive.target_shifts(part) @ whitening
        left = np.eye(shifts.shape[1]) - shifts @ shifts.transpose(0, 2, 1)
        scores[part] = -0.5 * np.linalg.slogdet(left)[1]
    return np.maximum(scores, 0.0)
