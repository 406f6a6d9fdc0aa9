"""The source's information gain: the divergence that the variational bound expects of its own update."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from adaptive.predictive.base import MissingField
from adaptive.predictive.conditional_variance import is_gaussian
from adaptive.scorers.record import require

if TYPE_CHECKING:
    from adaptive.potentials.base import Potential  # house: a type only
    from adaptive.predictive.base import Predictive
    from adaptive.types import RandomState

__all__ = ["variational_information_gain"]


def variational_information_gain(predictive: Predictive, random_state: RandomState = None) -> np.ndarray:
    """Return sum_y p(y) KL( Q(s | y) || Q(s) ), with Q(s | y) by the super-Gaussian bound of p(y | s).

    With s ~ N(m, v), tilt b, width g and k = 1 + v / g, all in units of the bound  exp(b s - s^2 / (2 g) - h(g) / 2):

        KL = 1/2 ( log k + (v / k) ((b - m / g)^2 / k - 1 / g) )

    at the width that maximises the bound on the evidence, which is tight where s^2 has its mean under Q(s | y).  It
    agrees with `information_gain` for Gaussian outcomes, and to first order where little is unknown; where much is,
    it grows with log v beyond any entropy of the outcome.

    Parameters
    ----------
    predictive : Predictive
        With ``mean``, ``variance``, ``probabilities`` and a ``likelihood`` that has such a bound (logistic).
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
    require("variational_information_gain", predictive, "mean", "variance", "likelihood")
    likelihood = predictive.likelihood
    if is_gaussian(likelihood):
        require("variational_information_gain", predictive, "log_determinant")
        return 0.5 * predictive.log_determinant()[0]
    if likelihood.outcomes is None or not np.all(likelihood.super_gaussian):
        name = type(likelihood).__name__
        raise MissingField(f"variational_information_gain needs a likelihood with a super-Gaussian bound, got {name}.")
    total = np.zeros(len(predictive))
    for outcome, probability in zip(predictive.outcomes, predictive.probabilities.T, strict=True):
        potential = likelihood.observe(np.full(len(predictive), outcome))
        total += probability * _divergence(potential, np.asarray(predictive.mean), np.asarray(predictive.variance))
    return total


def _divergence(potential: Potential, mean: np.ndarray, variance: np.ndarray) -> np.ndarray:
    width = potential.best_width(mean, variance)
    mean, tilt = mean - potential.location, potential.tilt
    shrink = 1.0 + variance / width
    return 0.5 * (np.log(shrink) + (variance / shrink) * ((tilt - mean / width) ** 2 / shrink - 1.0 / width))
