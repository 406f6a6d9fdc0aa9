"""Belief about a simulator's parameters: a cloud of particles, weighted by what was simulated for them."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Self

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from adaptive.estimators.particles.belief import ParticleBelief, prior_cloud
from adaptive.estimators.particles.discrete import DiscreteParticles
from adaptive.estimators.particles.predictive import ParticlePredictive
from adaptive.estimators.particles.simulators.predictive import SimulatedParticles
from adaptive.estimators.particles.simulators.settings import SimulatorSettings
from adaptive.estimators.particles.target import Target
from adaptive.estimators.rows.training import Rows

if TYPE_CHECKING:
    from adaptive.estimators.particles.inference.cloud import Cloud
    from adaptive.estimators.particles.target import Named
    from adaptive.predictive import Predictive
    from adaptive.types import RandomState, State

__all__ = ["SimulatorBelief"]

FEW = 30  # simulations that speak of an answer, below which its likelihood is a guess


@dataclass(frozen=True, eq=False)
class SimulatorBelief(ParticleBelief[SimulatorSettings]):
    """Cloud after all answers.

    Attributes
    ----------
    speaking : tuple of float
        Of each answer how many simulations of equal weight said as much about it as all that were made.
    """

    speaking: tuple[float, ...] = ()

    @classmethod
    def learnt(cls, settings: SimulatorSettings, data: Rows, earlier: Self | None = None) -> Self:
        """The belief after ``data``; warnings where few simulations come near an answer, or are far from normal."""
        known = 0 if earlier is None else len(earlier.data)
        likelihood, found = settings.likelihood, [] if earlier is None else list(earlier.speaking)
        made, odd, few = earlier, None, None
        for row in range(known, len(data)):
            cloud = prior_cloud(settings) if made is None else made.posterior
            if odd is None and not likelihood.looks_normal(cloud.values, cloud.weights, data.X[row], data.y[row]):
                odd = row
            found.append(likelihood.speaking(cloud.values, cloud.weights, data.X[row], data.y[row]))
            few = row if few is None and found[-1] < FEW else few
            made = super().learnt(settings, Rows(data.X[: row + 1], data.y[: row + 1]), made)
        if few is not None:
            warnings.warn(
                f"only {found[few]:.3g} simulations say anything about the answer {data.y[few].tolist()!r} at setting "
                f"{data.X[few].tolist()}: its likelihood is a guess. Raise n_particles or n_simulations, give a "
                "coarser summary, or check if the simulator can give such an answer.",
                ConvergenceWarning,
                stacklevel=2,
            )
        if odd is not None:
            warnings.warn(
                f"simulated summaries at setting {data.X[odd].tolist()} are not normal where the answer "
                f"{data.y[odd].tolist()!r} may come from, but density='synthetic' takes them to be: the posterior and "
                "the information may be off; density='transformed' does not assume it.",
                UserWarning,
                stacklevel=2,
            )
        likelihood.forget()
        made = super().learnt(settings, data, made) if made is None else replace(made, data=data)
        return replace(made, speaking=tuple(found))

    @property
    def effective_simulations(self) -> np.ndarray:
        """(n,) array of ``speaking``."""
        return np.array(self.speaking)

    @staticmethod
    def _of(
        settings: SimulatorSettings, cloud: Cloud, X: np.ndarray, target: Named, random_state: RandomState
    ) -> Predictive:
        """Predictive of numbers by simulation, or of labels by how often they came."""
        kind: type[ParticlePredictive] = SimulatedParticles if settings.known_outcomes is None else DiscreteParticles
        return kind(settings, cloud, X, Target.of(settings, cloud, target), random_state=random_state)

    def state(self) -> State:
        """Plain data, without what was measured."""
        return {**super().state(), "speaking": list(self.speaking)}

    @classmethod
    def from_state(cls, settings: SimulatorSettings, data: Rows, state: State) -> Self:
        """The belief that ``state`` described."""
        return replace(super().from_state(settings, data, state), speaking=tuple(state["speaking"]))
