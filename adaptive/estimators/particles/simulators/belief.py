"""Belief about a simulator's parameters: a cloud of particles, weighted by what was simulated for them."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from adaptive.estimators.particles.belief import ParticleBelief, prior_cloud
from adaptive.estimators.particles.discrete import DiscreteParticles
from adaptive.estimators.particles.simulators.predictive import SimulatedParticles
from adaptive.estimators.particles.target import Target
from adaptive.estimators.rows.training import Rows

if TYPE_CHECKING:
    from adaptive.estimators.particles.inference.cloud import Cloud
    from adaptive.predictive import Predictive
    from adaptive.types import RandomState

__all__ = ["SimulatorBelief"]

FEW = 30  # simulations that speak of an answer, below which its likelihood is a guess


@dataclass(frozen=True, eq=False)
class SimulatorBelief(ParticleBelief):
    """The cloud after all answers.

    Attributes
    ----------
    speaking : tuple of float
        Of each answer how many simulations of equal weight said as much about it as all that were made.
    """

    speaking: tuple[float, ...] = ()

    @classmethod
    def learnt(cls, settings: Any, data: Rows, earlier: Any = None) -> SimulatorBelief:
        """The belief after ``data``; a warning where few simulations come near an answer."""
        known = 0 if earlier is None else len(earlier.data)
        cloud = prior_cloud(settings) if earlier is None else earlier.posterior
        likelihood, found = settings.likelihood, [] if earlier is None else list(earlier.speaking)
        for row in range(known, len(data)):
            spoke = likelihood.speaking(cloud.values, cloud.weights, data.X[row], data.y[row])
            found.append(spoke)
            if spoke < FEW:
                warnings.warn(
                    f"only {spoke:.3g} simulations say anything about the answer {data.y[row].tolist()!r} at setting "
                    f"{data.X[row].tolist()}: its likelihood is a guess; more n_particles or n_simulations, a coarser "
                    "summary, or the simulator cannot give such an answer.",
                    ConvergenceWarning,
                    stacklevel=2,
                )
        made: Any = super().learnt(settings, data, earlier)
        likelihood.forget()
        return replace(made, speaking=tuple(found))

    @property
    def effective_simulations(self) -> np.ndarray:
        """(n,) array of ``speaking``."""
        return np.array(self.speaking)

    def predictive(self, candidates: np.ndarray, *, target: Any = None, random_state: RandomState = None) -> Predictive:
        """Predictive of the outcomes at settings."""
        return _predictive(self.settings, self.posterior, candidates, target, random_state)

    @classmethod
    def prior_predictive(
        cls, settings: Any, candidates: np.ndarray, *, target: Any = None, random_state: RandomState = None
    ) -> Predictive:
        """The same before any answer."""
        return _predictive(settings, prior_cloud(settings), candidates, target, random_state)

    def state(self) -> dict[str, Any]:
        """Plain data, without what was measured."""
        return {**super().state(), "speaking": list(self.speaking)}

    @classmethod
    def from_state(cls, settings: Any, data: Rows, state: dict[str, Any]) -> SimulatorBelief:
        """The belief that ``state`` described."""
        made: Any = super().from_state(settings, data, state)
        return replace(made, speaking=tuple(state["speaking"]))


def _predictive(settings: Any, cloud: Cloud, X: np.ndarray, target: Any, random_state: RandomState) -> Predictive:
    kind = SimulatedParticles if settings.known_outcomes is None else DiscreteParticles
    return kind(settings, cloud, X, Target.of(settings, cloud, target), random_state=random_state)
