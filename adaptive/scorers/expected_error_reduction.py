"""Errors of prediction that a measurement is expected to save."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from adaptive.scorers.joint_outcomes import joint_tables

if TYPE_CHECKING:
    from adaptive.predictive.base import Predictive
    from adaptive.types import RandomState

__all__ = ["expected_error_reduction", "expected_saving"]


def expected_error_reduction(predictive: Predictive, random_state: RandomState = None) -> np.ndarray:
    """Return the mean over the target inputs of  sum_y max_y* p(y, y*)  -  max_y* p(y*), the errors saved.

    The probability that the best guess at a target input is wrong, now and after the outcome, under the belief of
    today: joint probabilities, and no refits. Many candidates change no guess and score zero; with log loss
    the same construction is `predictive_information_gain`, which has no such ties, and with other losses
    `value_of_information`.

    Parameters
    ----------
    predictive : Predictive
        With ``target`` (the inputs whose errors count: the pool, or a sample of it), discrete outcomes, and
        ``target_covariance`` or joint ``draws``.
    random_state : ignored

    Returns
    -------
    (m,) array in [0, 1]
        Values below 1e-10 per target input, the rounding of the series, are zero.

    References
    ----------
    N. Roy and A. McCallum (2001), Toward optimal active learning through sampling estimation of error reduction.

    Examples
    --------
    >>> from adaptive.potentials import BernoulliLogit
    >>> from adaptive.predictive import GaussianProjections
    >>> belief = GaussianProjections.from_rows(
    ...     2 * np.eye(2), np.zeros(2), covariance=np.eye(2), likelihood=BernoulliLogit(), target=[[1.0, 0.0]])
    >>> expected_error_reduction(belief).round(3)
    array([0.129, 0.   ])
    """
    return expected_saving("expected_error_reduction", predictive, None)


def expected_saving(scorer: str, predictive: Predictive, losses: np.ndarray | None) -> np.ndarray:
    """Return the mean over target inputs of  min_a sum_y* p(y*) l(y*, a) - sum_y min_a sum_y* p(y, y*) l(y*, a).

    ``losses`` is l (d, decisions); None stands for 1 - identity: a decision is a guess, and a wrong one costs 1.
    """
    saved = np.empty(len(predictive))
    smallest = 1e-10 * (1.0 if losses is None else float(np.abs(losses).max(initial=0.0)))
    for part, joint in joint_tables(scorer, predictive):
        merits = joint if losses is None else -np.tensordot(joint, losses, axes=(1, 0)).transpose(0, 3, 1, 2)
        gain = merits.max(axis=1).sum(axis=0) - merits.sum(axis=0).max(axis=0)
        saved[part] = np.where(gain > smallest, gain, 0.0).mean(axis=1)
    return saved
