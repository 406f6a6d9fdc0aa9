"""The source's information gain: the divergence that the variational bound expects of its own update."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from adaptive.predictive.base import MissingField
from adaptive.predictive.conditional_variance import is_gaussian
from adaptive.scorers.record import by_determinant, nonnegative, require

if TYPE_CHECKING:
    from adaptive.potentials.base import Potential  # house: a type only
    from adaptive.predictive.base import Predictive
    from adaptive.types import RandomState

__all__ = ["variational_information_gain"]

_NAME = "variational_information_gain"


def variational_information_gain(predictive: Predictive, random_state: RandomState = None) -> np.ndarray:
    """Return sum_y p(y) KL( Q(s | y) || Q(s) ), with Q(s | y) by the super-Gaussian bound of p(y | s).

    With s ~ N(m, v), tilt b, width g and k = 1 + v / g, all in units of the bound  exp(b s - s^2 / (2 g) - h(g) / 2):

        KL = 1/2 ( log k + (v / k) ((b - m / g)^2 / k - 1 / g) )

    at the width that maximises the bound on the evidence, which is tight where s^2 has its mean under Q(s | y).  It
    agrees with `information_gain` for Gaussian outcomes, and to first order where little is unknown; where much is,
    it grows with log v beyond any entropy of the outcome.

    Of a mixture the number k of the right component is unknown as well as s, and it is the same divergence of (k, s):

        sum_y p(y) KL( Q(k, s | y) || Q(k, s) )  =  I(y; k)  +  sum_k w_k  (the divergence of component k),

    so that it agrees with `information_gain` where the components do; the mean over components alone would leave out
    what the outcome says about which of them is right.

    Parameters
    ----------
    predictive : Predictive
        With ``mean``, ``variance``, ``probabilities`` and a ``likelihood`` that has such a bound (logistic), or a
        mixture of such.
    random_state : ignored

    Returns
    -------
    (m,) array, nats

    Raises
    ------
    MissingField
        If the likelihood has no super-Gaussian bound.

    References
    ----------
    H. Nickisch (2010), section 3.7 and figure 3.7.

    Examples
    --------
    >>> from adaptive.potentials import BernoulliLogit
    >>> from adaptive.predictive import StatedPredictive
    >>> variational_information_gain(StatedPredictive(mean=[0.0], variance=[1.0], likelihood=BernoulliLogit())).round(3)
    array([0.093])
    """
    total: Any = 0.0
    for weight, component in predictive.components:
        total = total + weight * _of_one(component)
    if len(predictive.components) == 1:
        return total
    require(_NAME, predictive, "outcome_entropy")
    within = sum(weight * component.outcome_entropy for weight, component in predictive.components)
    mixed = predictive.outcome_entropy
    fields = {"outcome_entropy": mixed, "its components' outcome_entropy": within}
    return total + nonnegative(_NAME, predictive, mixed - within, **fields)


def _of_one(predictive: Predictive) -> np.ndarray:
    require(_NAME, predictive, "mean", "variance", "likelihood")
    likelihood = predictive.likelihood
    if is_gaussian(likelihood):
        require(_NAME, predictive, "log_determinant")
        return by_determinant(_NAME, predictive)
    if likelihood.outcomes is None or not np.all(likelihood.super_gaussian):
        name = type(likelihood).__name__
        raise MissingField(f"{_NAME} needs a likelihood with a super-Gaussian bound, got {name}.")
    total = np.zeros(len(predictive))
    for outcome, probability in zip(predictive.outcomes, predictive.probabilities.T, strict=True):
        potential = likelihood.observe(np.full(len(predictive), outcome))
        total += probability * _divergence(potential, np.asarray(predictive.mean), np.asarray(predictive.variance))
    return total


def _divergence(potential: Potential, mean: np.ndarray, variance: np.ndarray) -> np.ndarray:
    width = potential.best_width(mean, variance)
    mean, tilt = mean - potential.location, potential.tilt
    shrink = 1.0 + variance / width
    # log k - (v / k) / g = log k + 1 / k - 1, which is >= 0 but for rounding
    spread = np.where(shrink < 2.0, np.log1p(shrink - 1.0), np.log(shrink)) - (shrink - 1.0) / shrink
    return 0.5 * (np.maximum(spread, 0.0) + variance * ((tilt - mean / width) / shrink) ** 2)
