"""The likelihood of a simulator, answer by answer, from simulations of every particle at the answer's setting."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy import stats

from adaptive.estimators.particles.likelihood import Likelihood
from adaptive.estimators.particles.simulators.densities import Density, Frequencies, Kernel, Synthetic, whole
from adaptive.estimators.particles.simulators.lattice import MOST, Lattice
from adaptive.estimators.particles.simulators.simulations import Simulator
from adaptive.estimators.particles.simulators.transformed import transformed

if TYPE_CHECKING:
    from adaptive.types import State

__all__ = ["DENSITIES", "SimulatedLikelihood"]

DENSITIES = {"transformed": transformed, "synthetic": Synthetic, "kernel": Kernel}
LIKELY = 20  # particles whose simulations are looked at for normality
ODD = 1e-6  # of a test of normality: what it takes to be told
KEPT = 2**23  # numbers that are kept of the same particles: of some settings, the latest ones


class SimulatedLikelihood(Likelihood):
    """log p(y | parameters, X) by simulation.

    Parameters
    ----------
    simulator : Simulator
    density : {"transformed", "synthetic", "kernel"}
        Of numbers, unless a single one is whole in every simulation at a setting: then its shares are smoothed.
    outcomes : (c,) array or None
        Labels, where outcomes are no numbers.
    """

    def __init__(self, simulator: Simulator, density: str, outcomes: np.ndarray | None) -> None:
        self.simulator, self.density, self.outcomes = simulator, density, outcomes
        self.forget()

    def forget(self) -> None:
        """Keep nothing of what was simulated."""
        self._values: np.ndarray | None = None
        self._kept: dict[bytes, Density | Frequencies] = {}

    def __getstate__(self) -> State:
        return self.__dict__ | {"_values": None, "_kept": {}}

    def at(self, values: np.ndarray, x: np.ndarray) -> Density | Frequencies:
        """Return the density given each of the particles (n, d) at setting x (f,): a `Density`, or `Frequencies`."""
        if self._values is not values and not (self._values is not None and np.array_equal(self._values, values)):
            self._values, self._kept = values, {}
        key = np.ascontiguousarray(x).tobytes()
        if key not in self._kept:
            each = len(values) * (self.simulator.n_simulations if self.outcomes is None else len(self.outcomes))
            while self._kept and (len(self._kept) + 1) * each > KEPT:
                self._kept.pop(next(iter(self._kept)))
            self._kept[key] = self.simulated(values, x)
        return self._kept[key]

    def density_at(self, values: np.ndarray, x: np.ndarray) -> Density:
        """Return the density of numbers given each of the particles (n, d) at setting x (f,)."""
        found = self.at(values, x)
        assert not isinstance(found, Frequencies)
        return found

    def simulated(self, values: np.ndarray, x: np.ndarray) -> Density | Frequencies:
        """Return the same without a memory."""
        found = self.simulator.replicates(values, x)
        if self.outcomes is not None:
            return Frequencies(found, self.outcomes, x)
        counts = found.shape[2] == 1 and np.ptp(found) < MOST and bool(whole(found)[0])
        return Lattice(found) if counts else DENSITIES[self.density](found)

    def summary(self, y: object, density: Density) -> np.ndarray:
        """Return what is kept of an outcome as it was measured, (s,)."""
        found = self.simulator.summaries(np.asarray(y, dtype=float).reshape(1, -1))[0]
        if found.shape != density.mean.shape[1:]:
            raise ValueError(
                f"y must hold outcomes like those of simulate, of which {density.mean.shape[1]} numbers are kept, got "
                f"one of {len(found)}."
            )
        return found

    def moments(self, values: np.ndarray, X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return means and standard deviations (n, m, s) of the summaries of each particle."""
        each = [self.density_at(values, x) for x in X]
        means = np.stack([density.mean for density in each], axis=1)
        return means, np.sqrt(np.stack([density.variance for density in each], axis=1))

    def of_rows(self, values: np.ndarray, X: np.ndarray, y: np.ndarray) -> np.ndarray:
        """Return log p(y_j | values_i, X_j), (n, m)."""
        columns = []
        for x, outcome in zip(X, y, strict=True):
            density = self.at(values, x)
            if isinstance(density, Frequencies):
                columns.append(density.log_probability(outcome))
            else:
                columns.append(density.log_density(self.summary(outcome, density)[None])[:, 0])
        return np.stack(columns, axis=1) if columns else np.zeros((len(values), 0))

    def total(self, values: np.ndarray, X: np.ndarray, y: np.ndarray) -> np.ndarray:
        """Return sum_j log p(y_j | values_i, X_j), (n,)."""
        return self.of_rows(values, X, y).sum(axis=1)

    def looks_normal(self, values: np.ndarray, weights: np.ndarray, x: np.ndarray, y: object) -> bool:
        """Return whether summaries at x may be normal given the particles that may have given the answer y.

        Each number's simulations, in deviations from its particle's mean, are put together and tested by their skewness
        and kurtosis (D'Agostino and Pearson 1973), at a level that normal ones fail once in a million.
        """
        density = self.at(values, x)
        if self.density != "synthetic" or not isinstance(density, Synthetic):
            return True
        told = density.log_density(self.summary(y, density)[None])[:, 0] + np.log(np.maximum(weights, 1e-300))
        some = np.argsort(-told, kind="stable")[:LIKELY]
        found = self.simulator.replicates(values[some], x)
        centre, spread = found.mean(axis=1, keepdims=True), found.std(axis=1, ddof=1, keepdims=True)
        scattered = spread > 1e-6 * np.maximum(np.abs(centre), 1e-9)  # else rounding is all that there is
        apart = (found - centre) / np.where(scattered, spread, 1.0)
        numbers = apart.reshape(-1, apart.shape[2])[:, scattered.all(axis=(0, 1))]
        if len(numbers) < 50 or not numbers.shape[1]:
            return True  # too few to say
        return bool(stats.normaltest(numbers).pvalue.min() > ODD)

    def speaking(self, values: np.ndarray, weights: np.ndarray, x: np.ndarray, y: object) -> float:
        """Return how many simulations of equal weight say as much about the answer y at x as all of them do."""
        density = self.at(values, x)
        if isinstance(density, Frequencies):
            return density.speaking(y, weights)
        return density.speaking(self.summary(y, density), weights)
