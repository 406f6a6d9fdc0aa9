"""Drop of the variance of the target's most uncertain direction."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy import linalg

from adaptive.scorers.a_optimality import require_drop
from adaptive.scorers.record import require
from adaptive.scorers.rows import blocks

if TYPE_CHECKING:
    from adaptive.predictive.base import Predictive
    from adaptive.types import RandomState

__all__ = ["e_optimality"]


def e_optimality(predictive: Predictive, random_state: RandomState = None) -> np.ndarray:
    """Return the drop of the largest eigenvalue of the target's expected covariance.

        lambda_max(C) - lambda_max(C - r c c'),        r = (v - E v') / v^2

    Of a mixture C and C' are the covariances of the mixture, the spread of its components' means included.

    Parameters
    ----------
    predictive : Predictive
        With ``target_covariance``, ``target_variance``, ``variance`` and ``expected_variance``.
    random_state : ignored

    Returns
    -------
    (m,) array, in squared units of the target

    References
    ----------
    H. Nickisch (2010), table 2.4 (E: the largest eigenvalue of the covariance).  G. Golub (1973), Some modified matrix
    eigenvalue problems (the secular equation).

    Examples
    --------
    >>> from adaptive.predictive import StatedPredictive
    >>> belief = StatedPredictive(
    ...     variance=[2.0, 1.0], expected_variance=[1.0, 0.5],
    ...     target_covariance=[[2.0, 0.0], [0.0, 1.0]], target_variance=np.diag([2.0, 1.0]))
    >>> e_optimality(belief).round(3)
    array([1., 0.])
    """
    require_drop("e_optimality", predictive)
    require("e_optimality", predictive, "target_variance")
    values, vectors = linalg.eigh(predictive.target_variance)
    values, vectors = values[::-1], vectors[:, ::-1]
    scores = np.empty(len(predictive))
    for part in blocks(len(predictive), len(values)):
        shifts = predictive.target_shifts(part) @ vectors
        if shifts.shape[1] == 1:
            scores[part] = _top_eigenvalue_drop(values, shifts[:, 0] ** 2)
        else:
            after = np.diag(values) - shifts.transpose(0, 2, 1) @ shifts
            scores[part] = np.maximum(values[0] - np.linalg.eigvalsh(after)[:, -1], 0.0)
    return scores


def _top_eigenvalue_drop(values: np.ndarray, squares: np.ndarray) -> np.ndarray:
    """Return d = l_1 - lambda_max(diag(l) - z z') for every row z, given its squares.

    d solves  d (1 + sum_{j>1} z_j^2 / (l_1 - l_j - d)) = z_1^2,  whose left side is convex and increasing up to the
    gap l_1 - l_2: Newton's method inside a shrinking bracket.
    """
    if len(values) == 1:
        return squares[:, 0]
    first, others = squares[:, 0], squares[:, 1:]
    gaps = values[0] - values[1:]
    if gaps[0] <= 1e-15 * values[0]:
        return np.zeros(len(squares))  # the largest eigenvalue is there twice: one direction less leaves the other
    lower, upper = np.zeros(len(squares)), np.clip(first, 0.0, gaps[0])
    guess = 0.5 * upper
    for _ in range(100):
        distance = np.maximum(gaps - guess[:, None], 1e-16 * values[0])
        pull = others / distance
        excess = guess * (1.0 + pull.sum(axis=1)) - first
        slope = 1.0 + pull.sum(axis=1) + guess * (pull / distance).sum(axis=1)
        lower, upper = np.where(excess < 0, guess, lower), np.where(excess < 0, upper, guess)
        newton = guess - excess / slope
        guess = np.where((newton >= lower) & (newton <= upper), newton, 0.5 * (lower + upper))
        if np.all((upper - lower <= 1e-14 * values[0]) | (np.abs(excess) <= 1e-15 * values[0])):
            break
    return guess
