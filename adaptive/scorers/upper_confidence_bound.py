"""Probability of the second of two outcomes, by a hopeful belief."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from adaptive import checks
from adaptive.predictive.base import MissingField
from adaptive.scorers.configured import Configured

if TYPE_CHECKING:
    from adaptive.predictive.base import Predictive
    from adaptive.types import RandomState

__all__ = ["has_two_outcomes", "optimistic", "upper_confidence_bound"]


def upper_confidence_bound(deviations: float = 1.0) -> Configured:
    """Return a scorer: the probability of the second outcome where the projection is its mean + ``deviations`` sd.

    It rewards an outcome and does not only learn: what is shown is what may well be taken, because it probably is or
    because nobody knows. Of a belief by draws (members, a grid) it is the mean plus deviations of the draws'
    probabilities, at most 1.

    Parameters
    ----------
    deviations : float >= 0, default 1
        0 is the present best guess.

    Returns
    -------
    scorer
        (m,) in [0, 1]; of two outcomes, in the order of the predictive's ``outcomes``.

    References
    ----------
    T. Lai and H. Robbins (1985), Asymptotically efficient adaptive allocation rules.  N. Srinivas, A. Krause,
    S. Kakade, M. Seeger (2010), Gaussian process optimization in the bandit setting.

    Examples
    --------
    >>> from adaptive.potentials import BernoulliLogit
    >>> from adaptive.predictive import StatedPredictive
    >>> belief = StatedPredictive(mean=[0.0, 0.0], variance=[0.0, 1.0], likelihood=BernoulliLogit())
    >>> upper_confidence_bound(2.0)(belief).round(3)
    array([0.5  , 0.881])
    """
    deviations = float(checks.positive("deviations", deviations, or_zero=True))
    return Configured(optimistic, f"upper_confidence_bound({deviations:g})", deviations=deviations)


def optimistic(predictive: Predictive, random_state: RandomState, deviations: float) -> np.ndarray:
    """The score of `upper_confidence_bound`."""
    total = np.zeros(len(predictive))
    for weight, component in predictive.components:  # of a mixture each one is hopeful
        total += weight * _of_one(component, deviations)
    return total


def _of_one(predictive: Predictive, deviations: float) -> np.ndarray:
    if all(predictive.provides(field) for field in ("mean", "variance", "likelihood")):
        family = predictive.likelihood
        if family.outcomes is not None and len(family.outcomes) == 2 and family.size is None:
            reach = deviations * np.sqrt(np.maximum(predictive.variance, 0.0))
            ends = (predictive.mean + reach, predictive.mean - reach)  # whichever of them favours it
            return np.exp(np.max([family.log_density(s, family.outcomes[1]) for s in ends], axis=0))
    if not has_two_outcomes(predictive) or not predictive.provides("draws"):
        raise MissingField(
            f"upper_confidence_bound needs a likelihood, or draws, of two outcomes, which {type(predictive).__name__} "
            "does not provide."
        )
    weights, table = predictive.draws()
    mean = weights @ table[:, :, 1]
    variance = np.maximum(weights @ (table[:, :, 1] - mean) ** 2, 0.0)
    return np.clip(mean + deviations * np.sqrt(variance), 0.0, 1.0)


def has_two_outcomes(predictive: Predictive) -> bool:
    """Return whether what comes back is one of two."""
    if predictive.provides("likelihood") and (
        predictive.likelihood.outcomes is None or not predictive.likelihood.discrete
    ):
        return False  # counts are not listed
    return bool(predictive.provides("outcomes")) and len(predictive.outcomes) == 2
