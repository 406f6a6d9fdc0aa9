"""Which predictive answers: of discrete outcomes, of numbers with Gaussian noise, of a density on an interval."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from adaptive.estimators.particles.continuous import GaussianParticles
from adaptive.estimators.particles.discrete import DiscreteParticles, IntervalParticles
from adaptive.estimators.particles.target import Target

if TYPE_CHECKING:
    from adaptive.estimators.particles.inference.cloud import Cloud
    from adaptive.estimators.particles.settings import ParticleSettings
    from adaptive.predictive import Predictive
    from adaptive.types import RandomState

__all__ = ["predictive_of"]


def predictive_of(
    settings: ParticleSettings,
    cloud: Cloud,
    X: np.ndarray,
    *,
    target: Any = None,
    random_state: RandomState = None,
) -> Predictive:
    """Return what a cloud says of the outcomes at settings X (m, f).

    Parameters
    ----------
    target : names of parameters, callable(parameters) -> (k, ...), or (t, f) settings; None: all parameters
    """
    about = Target.of(settings, cloud, target)
    if settings.model is not None:
        return GaussianParticles(settings, cloud, X, about, random_state=random_state)
    kind = DiscreteParticles if settings.interval is None else IntervalParticles
    return kind(settings, cloud, X, about, random_state=random_state)
