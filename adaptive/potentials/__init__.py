"""Potentials: scalar factors T(s) on projections, priors and likelihoods alike."""

from typing import TYPE_CHECKING as _TYPE_CHECKING

from adaptive.lazy import lazily as _lazily

if _TYPE_CHECKING:
    from adaptive.potentials.base import Potential, join
    from adaptive.potentials.bernoulli import BernoulliLogit, BernoulliProbit
    from adaptive.potentials.exponential_power import ExponentialPower
    from adaptive.potentials.flipped import Flipped
    from adaptive.potentials.gaussian import Gaussian
    from adaptive.potentials.laplace import Laplace
    from adaptive.potentials.likelihood import Likelihood
    from adaptive.potentials.location_family import LocationDensity
    from adaptive.potentials.logistic import Logistic
    from adaptive.potentials.poisson import Poisson
    from adaptive.potentials.step import Step
    from adaptive.potentials.student_t import StudentT
    from adaptive.potentials.truncated_gaussian import truncated_moments, two_slopes

__all__ = [
    "BernoulliLogit",
    "BernoulliProbit",
    "ExponentialPower",
    "Flipped",
    "Gaussian",
    "Laplace",
    "Likelihood",
    "LocationDensity",
    "Logistic",
    "Poisson",
    "Potential",
    "Step",
    "StudentT",
    "join",
    "truncated_moments",
    "two_slopes",
]

__getattr__, __dir__ = _lazily(__name__)
