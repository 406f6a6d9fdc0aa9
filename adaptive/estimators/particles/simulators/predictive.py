"""Predictive of outcomes that are numbers: a mixture over particles of densities that were simulated.

    p(s | x) = sum_k w_k p_k(s | x),       I(s; target) by nested stratified draws, with a lower and an upper bound

Measuring reweights the particles by p_k(s | x), as learning does.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple, Self, cast

import numpy as np
from scipy.special import ndtri
from scipy.stats import qmc

from adaptive.estimators.particles.bounds import Bounds, nested_bounds
from adaptive.estimators.particles.inference.cloud import systematic
from adaptive.estimators.particles.predictive import Kept, ParticlePredictive, Stated

if TYPE_CHECKING:
    from adaptive.estimators.particles.simulators.densities import Density
    from adaptive.estimators.particles.simulators.settings import SimulatorSettings
    from adaptive.types import ArrayLike

__all__ = ["SimulatedParticles", "Summary"]

N_BRANCHES = 16  # outcomes that stand for all, of a candidate whose outcome is not known yet
HALVINGS = 60  # of the interval in which a quantile lies


class Summary(NamedTuple):
    """Imagined outcome: its projection alone, since no simulator says what the outcome itself would be."""

    values: tuple[float, ...]


class SimulatedParticles(ParticlePredictive):
    """Predictive of outcomes that are numbers, or of their summaries, by simulation."""

    settings: SimulatorSettings
    _imagined = False  # whether an answer was imagined, for which all particles were simulated everywhere

    def _asked(self) -> Kept[list[Density]]:
        likelihood, values, X = self.settings.new_likelihood(), self.cloud.values, self.X
        each = self.settings.n_simulations
        return Kept(lambda part: [likelihood.density_at(values, x) for x in X[part]], len(values), len(X), each)

    def stated(self) -> Stated:
        """Entropies whose difference is the lower bound of the information; moments of a single summary."""
        return {
            "outcome_entropy": lambda: self._informations[:, 4] + np.maximum(self._informations[:, 0], 0.0),
            "expected_entropy": lambda: self._informations[:, 4],
            "mean": lambda: self.weights @ self._means,
            "variance": lambda: self.weights @ np.square(self._means - self.weights @ self._means),
        }

    def _provides(self, name: str) -> bool:
        """Return whether this instance has the field; moments and joint blocks are of single summaries."""
        return super()._provides(name) and (name not in ("mean", "variance", "covariance") or self.channels == 1)

    @property
    def channels(self) -> int:
        """Number of numbers that are kept of an outcome: one particle says."""
        if "_channels" not in self.__dict__:
            replicates = self.settings.simulator.replicates
            self.__dict__["_channels"] = replicates(self.cloud.values[:1], self.X[0]).shape[2] if len(self) else 1
        return self.__dict__["_channels"]

    def _density(self, i: int) -> Density:
        densities, at = self._kept.at(range(len(self))[i])
        return densities[at]

    # -- information ---------------------------------------------------------------------------------------------------

    @property
    def _strata(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """N particles, one of each slice of the weights, with normal and uniform numbers: alike for all candidates."""
        if "_drawn" not in self.__dict__:
            rng, n = np.random.default_rng(self.seed), self.settings.n_nested
            particles = systematic(self.weights, n, rng.random())
            sobol = qmc.Sobol(self.channels + 1, scramble=True, seed=rng)
            unit = sobol.random_base2(int(np.ceil(np.log2(n))))[:n]
            unit = np.clip(unit[rng.permutation(n)], 1e-9, 1.0 - 1e-9)
            self.__dict__["_drawn"] = particles, ndtri(unit[:, 1:]), unit[:, 0]
        return self.__dict__["_drawn"]

    @property
    def _informations(self) -> np.ndarray:
        """(m, 5) lower, upper, their errors, and the mean of - log p(y_j | particle_j)."""
        if "_nested" not in self.__dict__:
            particles, normal, uniform = self._strata
            cells = None if self._target.cells is None else self._target.cells[particles]
            densities, which = self._simulated(particles)
            rows = []
            for density in densities:
                table = density.log_density(density.draw(which, normal, uniform), which)
                rows.append([*nested_bounds(table, cells), -np.diagonal(table).mean()])
            self.__dict__["_nested"] = np.reshape(rows, (-1, 5))
        return self.__dict__["_nested"]

    def _simulated(self, particles: np.ndarray) -> tuple[Iterable[Density], np.ndarray]:
        """Densities of all candidates, one by one, and where in them the particles (N,) stand.

        Only these particles are simulated, and nothing is kept; after an imagined answer all are there already.
        """
        if self._imagined:
            return (density for part in self._kept.parts for density in self._kept(part)), particles
        some, which = np.unique(particles, return_inverse=True)
        likelihood, values = self.settings.likelihood, self.cloud.values[some]
        return (cast("Density", likelihood.simulated(values, x)) for x in self.X), which

    def _reweighted(self, weights: np.ndarray) -> Self:
        after = super()._reweighted(weights)
        after._imagined = True
        return after

    def information_bounds(self) -> Bounds:
        """Return lower and upper bounds (m,) of I(outcome; target) in nats, and their standard errors.

        Notes
        -----
        In expectation over draws they enclose what the simulated densities tell about the particles. The lower one is
        what `information_gain` says; of N nested draws it is at most log N.
        """
        return Bounds(*self._informations[:, :4].T)

    # -- moments -------------------------------------------------------------------------------------------------------

    @property
    def _means(self) -> np.ndarray:
        """(k, m) means of the single summary given each particle."""
        if "_of_particles" not in self.__dict__:
            rows = self.blockwise(lambda block: np.stack([density.mean[:, 0] for density in block]))
            self.__dict__["_of_particles"] = rows.T
        return self.__dict__["_of_particles"]

    def covariance(self, i: ArrayLike, j: ArrayLike) -> np.ndarray:
        """Return the covariance (len i, len j) of the particles' mean summaries."""
        return self._covariance(self._means, i, j)

    def quantiles(self, probabilities: np.ndarray) -> np.ndarray:
        """Return (q, m) summaries below which a single one lies with the given probabilities (q,)."""
        return np.stack([self._quantiles_at(i, np.asarray(probabilities)) for i in range(len(self))], axis=1)

    def _quantiles_at(self, i: int, levels: np.ndarray) -> np.ndarray:
        density = self._density(i)
        reach = 40.0 * np.sqrt(density.variance[:, 0].max()) + np.ptp(density.mean[:, 0])
        low, high = (np.full(len(levels), density.mean[:, 0].mean() + side * reach) for side in (-1.0, 1.0))
        for _ in range(HALVINGS):
            middle = 0.5 * (low + high)
            below = np.array([self.weights @ density.beyond(np.array([place]))[0][:, 0] for place in middle])
            low, high = np.where(below < levels, middle, low), np.where(below < levels, high, middle)
        return density.possible(0.5 * (low + high))

    # -- outcomes ------------------------------------------------------------------------------------------------------

    def _summary(self, i: int, outcome: object) -> np.ndarray:
        if isinstance(outcome, Summary):
            return np.array(outcome.values)
        return self.settings.likelihood.summary(outcome, self._density(i))

    def log_density(self, i: int, outcome: object) -> np.ndarray:
        """Return log p(outcome | particle) (k,) at candidate i, of an outcome as it is measured, or a `Summary`."""
        return self._density(i).log_density(self._summary(i, outcome)[None])[:, 0]

    def tail_probability(self, i: int, outcome: object) -> float:
        """Return how probable a summary as far out is: both tails; of several the least, times their number."""
        below, above = self._density(i).beyond(self._summary(i, outcome))
        tails = np.minimum(self.weights @ below, self.weights @ above)
        return float(min(1.0, 2.0 * len(tails) * tails.min()))

    def likely_outcomes(self, i: int) -> list[tuple[object, float]] | None:
        """Return 16 outcomes of equal probability, drawn from as many slices of the weights."""
        particles, normal, uniform = self._strata
        at = np.linspace(0, len(particles) - 1, N_BRANCHES).astype(np.intp)
        drawn = self._density(i).draw(particles[at], normal[at], uniform[at])
        return [(Summary(tuple(row)), 1.0 / N_BRANCHES) for row in drawn.tolist()]
