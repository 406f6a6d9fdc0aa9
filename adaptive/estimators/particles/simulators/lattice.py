"""Summaries that are whole numbers: a rounded Gaussian for each particle, corrected by what was counted.

    q_i(y)  =  Phi((y + 1/2 - mean_i) / deviation_i) - Phi((y - 1/2 - mean_i) / deviation_i),   all below at the least
    r_i(y)  ~  q_i(y) (1/2 + counts of y) / (1/2 + R sum of q(y)),      both over the particles of nearly the same mean
    P_i(y)  =  (counts of y by particle i + a r_i(y)) / (R + a)

q is smooth, and off where counts are small; the counts of many particles say by how much, so that in the mean over
particles that are alike r is the share that was simulated. Where shapes differ all the same, a particle's own counts
show it: the concentration a of this Dirichlet prior is the one of highest evidence at the setting. A count that is the
same in every simulation is no special case: it has probability one; an answer that no simulation comes near has the
same small one everywhere.
"""

from __future__ import annotations

import numpy as np
from scipy.special import gammaln, ndtr

from adaptive.estimators.particles.simulators.densities import Density, effective

__all__ = ["MOST", "Lattice"]

MOST = 256  # different values, beyond which whole numbers are taken for numbers
ALIKE = 16  # groups of particles of nearly the same mean
CONCENTRATIONS = 2.0 ** np.arange(-1, 13)
_NEVER = 1e-300


class Lattice(Density):
    """Probabilities of whole numbers.

    Parameters
    ----------
    replicates : (n, R, 1) array of whole numbers, at most `MOST` apart

    Attributes
    ----------
    least : float
        The smallest number simulated.
    counts, table : (n, c) arrays
        How many simulations gave each number from the least on, and its probability.
    concentration : float
        a, in simulations.
    """

    def __init__(self, replicates: np.ndarray) -> None:
        super().__init__(replicates)
        n, R, _ = replicates.shape
        self.variance = np.where(self.variance > 0, self.variance, 1.0 / R)
        self.deviation = np.sqrt(self.variance)
        self.least = replicates.min()
        c = int(replicates.max() - self.least) + 1
        cells = (replicates[:, :, 0] - self.least).astype(np.intp) + c * np.arange(n)[:, None]
        self.counts = np.bincount(cells.ravel(), minlength=n * c).reshape(n, c).astype(np.int32)
        smooth = np.maximum(self._corrected(self._smooth(c)), _NEVER)
        self.concentration = self._fitting(smooth)
        table = (self.counts + self.concentration * smooth) / (R + self.concentration)
        self.table = table.astype(np.float32)
        self._below = np.cumsum(table, axis=1).astype(np.float32)

    def _smooth(self, c: int) -> np.ndarray:
        """q of the numbers simulated, (n, c)."""
        edges = (self.least - 0.5 + np.arange(1, c + 1) - self.mean) / self.deviation
        tail, inside = ndtr(-np.abs(edges)), np.ones((len(self), c))
        tail[:, -1], edges[:, -1] = 0.0, np.inf  # ends where the simulations do
        # differences of tails on the side where they are small
        upper, lower = edges[:, 1:] < 0, edges[:, :-1] > 0
        both = np.where(upper, tail[:, 1:] - tail[:, :-1], np.where(lower, tail[:, :-1] - tail[:, 1:], 0.0))
        across = 1.0 - tail[:, :-1] - tail[:, 1:]
        inside[:, 1:] = np.where(upper | lower, both, across)
        inside[:, 0] = np.where(edges[:, 0] < 0, tail[:, 0], 1.0 - tail[:, 0])
        return inside

    def _outside(self, values: np.ndarray, particles: np.ndarray | slice) -> np.ndarray:
        """q of values (j,) that were never simulated, (i, j)."""
        mean, deviation = self.mean[particles], self.deviation[particles]
        near, far = ((np.abs(values - mean) + side) / deviation for side in (-0.5, 0.5))
        share = self.concentration / (self.n_simulations + self.concentration)
        return share * (ndtr(-near) - ndtr(-far))

    def _corrected(self, cells: np.ndarray) -> np.ndarray:
        """r, from q of all numbers (n, c); what q says of larger ones stays."""
        order = np.argsort(self.mean[:, 0], kind="stable")
        starts = np.linspace(0, len(order), min(ALIKE, len(order)), endpoint=False).astype(np.intp)
        counted, expected = (np.add.reduceat(part[order], starts, axis=0) for part in (self.counts, cells))
        ratio = (counted + 0.5) / (self.n_simulations * expected + 0.5)
        found = np.empty_like(cells)
        found[order] = cells[order] * np.repeat(ratio, np.diff(starts, append=len(order)), axis=0)
        top = self.least + cells.shape[1] - 0.5
        return found * (ndtr((top - self.mean) / self.deviation) / found.sum(axis=1, keepdims=True))

    def _fitting(self, smooth: np.ndarray) -> float:
        """The concentration of highest evidence."""
        some = slice(None, None, max(1, len(self) // 64))
        at = np.nonzero(self.counts[some])
        counts, prior = self.counts[some][at], CONCENTRATIONS[:, None] * smooth[some][at]
        evidence = (gammaln(counts + prior) - gammaln(prior)).sum(axis=1)
        each = gammaln(CONCENTRATIONS) - gammaln(CONCENTRATIONS + self.n_simulations)
        return float(CONCENTRATIONS[np.argmax(evidence + len(self.counts[some]) * each)])

    def _at(self, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The columns of values, and whether they are among those simulated."""
        columns = values - self.least
        known = (columns >= 0) & (columns < self.table.shape[1]) & (columns == np.rint(columns))
        return np.where(known, columns, 0.0).astype(np.intp), known

    def log_density(self, outcomes: np.ndarray, particles: np.ndarray | slice = slice(None)) -> np.ndarray:
        values = outcomes[:, 0]
        columns, known = self._at(values)
        found = self.table[particles][:, columns].astype(float)
        if not known.all():
            found[:, ~known] = self._outside(values[~known], particles)
        return np.log(np.maximum(found, _NEVER))

    def draw(self, particles: np.ndarray, normal: np.ndarray, uniform: np.ndarray) -> np.ndarray:
        below = self._below[particles]
        return self.least + (below[:, :-1] <= uniform[:, None]).sum(axis=1, keepdims=True)

    def speaking(self, outcome: np.ndarray, weights: np.ndarray) -> float:
        columns, known = self._at(outcome)
        if not known[0]:
            return 0.0
        counts, table = self.counts[:, columns[0]], self.table[:, columns[0]].astype(float)
        shape = np.maximum(table * (self.n_simulations + self.concentration) - counts, 0.0)  # what smoothing adds
        shares = weights @ counts, weights @ shape
        each = (
            shares[0] ** 2 / max(np.square(weights) @ counts, _NEVER),
            effective(weights * shape) * self.n_simulations,
        )
        return float(np.average(each, weights=shares))

    def beyond(self, outcome: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        c, column = self.table.shape[1], outcome[0] - self.least
        below = np.concatenate([np.zeros((len(self), 1)), self._below[:, :-1], np.ones((len(self), 1))], axis=1)
        at_most, less = (int(np.clip(np.floor(place), 0, c)) for place in (column + 1.0, np.ceil(column)))
        above = 1.0 - below[:, [less]] if column < c else ndtr((self.mean - outcome + 0.5) / self.deviation)
        return below[:, [at_most]], above

    def possible(self, outcomes: np.ndarray) -> np.ndarray:
        return np.rint(outcomes)
