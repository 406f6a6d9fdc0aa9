"""Beliefs of an estimator about candidates: outcomes, projections, joint blocks, what-ifs.

Scorers look at nothing else.  Four classes serve nearly every estimator: :class:`GaussianProjections` (a linear or
Gaussian-process posterior), :class:`WeightedDraws` (samples, members, a grid), :class:`Mixture` (weighted predictives:
hyper-parameters integrated over nodes) and :class:`StatedPredictive` (fields stated by hand); all are a
:class:`Predictive`, which derives from the stated fields what follows from them.
"""

from adaptive.predictive.base import FIELDS, MissingField, Predictive, StatedPredictive, Undecided
from adaptive.predictive.gaussian import GaussianProjections, GaussianTarget
from adaptive.predictive.mixture import Mixture
from adaptive.predictive.softmax import SoftmaxLikelihood, SoftmaxProjections
from adaptive.predictive.summed import SummedPredictive
from adaptive.predictive.weighted_draws import WeightedDraws

__all__ = [
    "FIELDS",
    "GaussianProjections",
    "GaussianTarget",
    "MissingField",
    "Mixture",
    "Predictive",
    "SoftmaxLikelihood",
    "SoftmaxProjections",
    "StatedPredictive",
    "SummedPredictive",
    "Undecided",
    "WeightedDraws",
]
