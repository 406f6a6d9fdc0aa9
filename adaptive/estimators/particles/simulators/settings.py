"""Parameters of a simulator estimator: prior, simulator, what is looked at, how many simulations and particles."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from adaptive import checks
from adaptive.estimators.particles.settings import CloudSettings
from adaptive.estimators.particles.simulators.likelihood import DENSITIES, SimulatedLikelihood
from adaptive.estimators.particles.simulators.simulations import Simulator

if TYPE_CHECKING:
    from adaptive.estimators.particles.likelihood import Function

__all__ = ["SimulatorSettings"]


@dataclass(frozen=True, eq=False)
class SimulatorSettings(CloudSettings):
    """Parameters of :class:`~adaptive.SimulatorEstimator`, under the same names."""

    simulate: Function
    summary: Function | None
    density: str
    n_simulations: int
    n_nested: int

    interval = None  # of a continuous outcome: simulations say where it lies

    def check(self) -> None:
        """Refuse what is wrong in one sentence."""
        super().check()
        if not callable(self.simulate):
            raise ValueError(
                "simulate must be a function (parameters, x, generator) -> outcomes, got "
                f"{type(self.simulate).__name__}."
            )
        if self.summary is not None and not callable(self.summary):
            raise ValueError(f"summary must be a function of outcomes, or None, got {type(self.summary).__name__}.")
        checks.choice("density", self.density, DENSITIES)
        checks.integer("n_simulations", self.n_simulations, minimum=4)
        checks.integer("n_nested", self.n_nested, minimum=8)
        if self.summary is not None and self.outcomes is not None:
            raise ValueError("summary goes with outcomes that are numbers; labels are counted, so leave it out.")
        if isinstance(self.outcomes, tuple):
            raise ValueError("outcomes must be a list of labels, or None: simulations say where numbers lie.")

    @property
    def model(self) -> Function | None:
        """The simulator, where outcomes are numbers, which have means."""
        return self.simulate if self.known_outcomes is None else None

    @cached_property
    def simulator(self) -> Simulator:
        """The user's function and what is kept of its outcomes."""
        labels = self.known_outcomes is not None
        return Simulator(self.simulate, self.summary, self.n_simulations, self.seed, labels)

    @cached_property
    def likelihood(self) -> SimulatedLikelihood:
        """p(y | parameters, X) by simulation."""
        return self.new_likelihood()

    def new_likelihood(self) -> SimulatedLikelihood:
        """The same with a memory of its own."""
        return SimulatedLikelihood(self.simulator, self.density, self.known_outcomes)
