"""Mutual information of the outcome and what is to be learnt, in nats."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from adaptive.scorers.record import by_determinant, nonnegative, require, scorer

if TYPE_CHECKING:
    from adaptive.predictive.base import Predictive
    from adaptive.types import RandomState

__all__ = ["information_gain"]


@scorer(monotone=True)
def information_gain(predictive: Predictive, random_state: RandomState = None) -> np.ndarray:
    """Return I(y; target), by the first way that the predictive allows.

        1/2 log|I + Cov / noise|            Gaussian outcomes, single or blocks
        H(y) - E H(y | target)              (BALD)
        H(target) - E H(target | y)

    The three are equal where they are exact. A noisy outcome is entropic without teaching anything; this score sees the
    difference, `entropy` does not. A joint batch by `select` is chosen one after the other, each given the earlier ones
    with their outcomes averaged over: that is BatchBALD (Kirsch, van Amersfoort, Gal, 2019), by the chain rule and so
    without any joint entropy; exact while the earlier ones have at most 16 joint outcomes, over 8 sampled ones beyond.

    Parameters
    ----------
    predictive : Predictive
        With ``log_determinant``, or ``outcome_entropy`` and ``expected_entropy``, or ``target_entropy`` and
        ``expected_target_entropy``.
    random_state : ignored

    Returns
    -------
    (m,) array, nats, none negative

    Raises
    ------
    ValueError
        If a field is wrong, so that the difference is negative by more than rounding: it is named.

    References
    ----------
    D. Lindley (1956), On a measure of the information provided by an experiment.
    N. Houlsby, F. Huszar, Z. Ghahramani, M. Lengyel (2011), Bayesian active learning for classification and preference
    learning.  H. Nickisch (2010), section 2.6.

    Examples
    --------
    >>> from adaptive.predictive import StatedPredictive
    >>> belief = StatedPredictive(outcome_entropy=np.array([0.7, 0.7]), expected_entropy=np.array([0.7, 0.2]))
    >>> information_gain(belief)
    array([0. , 0.5])
    """
    if predictive.provides("log_determinant"):
        return by_determinant("information_gain", predictive)
    by_outcome = predictive.provides("outcome_entropy") and predictive.provides("expected_entropy")
    if not by_outcome and predictive.provides("target_entropy") and predictive.provides("expected_target_entropy"):
        before, after = predictive.target_entropy, predictive.expected_target_entropy
        return nonnegative(
            "information_gain", predictive, before - after, target_entropy=before, expected_target_entropy=after
        )
    require("information_gain", predictive, "outcome_entropy", "expected_entropy")
    uncertain, noise = predictive.outcome_entropy, predictive.expected_entropy
    return nonnegative(
        "information_gain", predictive, uncertain - noise, outcome_entropy=uncertain, expected_entropy=noise
    )
