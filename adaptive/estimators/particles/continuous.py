"""Numbers as outcomes: a mixture over particles of Gaussians, one channel by quadrature, several by stratified draws.

    H(y) - E H(y | target),        H(y) of  sum_k w_k N(mean_k, noise_k),        E H(y | all)  =  sum_k w_k H(noise_k)

One channel: densities on grids (`inference.mixture_density`), errors below 1e-3 nats.  Several:
H(y) = E H(noise) + mean_s log [ p(y_s | value_s) / p(y_s) ]  over draws stratified in the particles, with the standard
error of that mean.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.special import ndtri
from scipy.stats import qmc

from adaptive.estimators.particles.inference.cloud import systematic
from adaptive.estimators.particles.inference.compiled import log_mixture
from adaptive.estimators.particles.inference.mixture_density import mixture_densities
from adaptive.estimators.particles.likelihood import joined, stacked
from adaptive.estimators.particles.predictive import Kept, ParticlePredictive, Stated
from adaptive.estimators.particles.target import within
from adaptive.predictive.surprise import tail_of_mixture

if TYPE_CHECKING:
    from adaptive.types import ArrayLike

__all__ = ["GaussianParticles"]

N_BRANCHES = 16  # outcomes that stand for all, of a candidate whose outcome is not known yet
N_STRATA = 256  # draws of several channels
FINE = 6.0  # grid points per deviation where quantiles are asked
_HALF_LOG = 0.5 * np.log(2.0 * np.pi * np.e)


class GaussianParticles(ParticlePredictive):
    """Predictive of the user's model with Gaussian noise."""

    def _asked(self) -> Kept[tuple[np.ndarray, np.ndarray]]:
        likelihood = self.settings.likelihood
        values, X = self.cloud.values, self.X
        channels, self.complex = likelihood.channels(values[:1], X[:1]) if len(X) else (1, False)
        self.channels = channels
        return Kept(lambda part: likelihood.moments(values, X[part]), len(values), len(X), channels)

    def stated(self) -> Stated:
        """Entropies; of one channel also the moments of the mean that the model gives."""
        self.channels = self.channels if "channels" in self.__dict__ else self._kept(self._kept.parts[0])[0].shape[2]
        fields: Stated = {
            "outcome_entropy": lambda: self._entropies[:, 0],
            "expected_entropy": self._expected_entropy,
        }
        if self.channels == 1:
            fields["mean"] = lambda: self.blockwise(lambda kept: self.weights @ kept[0][:, :, 0])
            fields["variance"] = lambda: self.blockwise(self._variance)
        return fields

    def _provides(self, name: str) -> bool:
        """Return whether this instance has the field: joint blocks of one channel only."""
        return super()._provides(name) and (name != "covariance" or self.channels == 1)

    def _variance(self, kept: tuple[np.ndarray, np.ndarray]) -> np.ndarray:
        means = kept[0][:, :, 0]
        return self.weights @ np.square(means - self.weights @ means)

    def covariance(self, i: ArrayLike, j: ArrayLike) -> np.ndarray:
        """Return the covariance (len i, len j) of the model's means at candidates i and j."""
        means = np.concatenate([self._kept(part)[0][:, :, 0] for part in self._kept.parts], axis=1)
        return self._covariance(means, i, j)

    # -- entropies -----------------------------------------------------------------------------------------------------

    @property
    def outcome_entropy_std(self) -> np.ndarray:
        """(m,) standard errors of ``outcome_entropy``; 0 of one channel, whose quadrature has errors below 1e-3."""
        return self._entropies[:, 1]

    @property
    def _entropies(self) -> np.ndarray:
        """(m, 2) entropies of the outcomes and their standard errors."""
        if "_both" not in self.__dict__:
            everyone = np.arange(len(self.weights))
            self.__dict__["_both"] = self.blockwise(lambda kept: self._mixture_entropy(kept, everyone))
        return self.__dict__["_both"]

    def _expected_entropy(self) -> np.ndarray:
        """E H(y | target): of the noise, or of the mixtures within the cells of the target."""
        if self._target.cells is None:
            return self.blockwise(self._noise_entropy)
        members = [np.flatnonzero(self._target.cells == cell) for cell in np.unique(self._target.cells)]
        members = [part for part in members if self.weights[part].sum() > 0]

        def each_cell(kept: tuple[np.ndarray, np.ndarray]) -> np.ndarray:
            shares = [self.weights[part].sum() for part in members]
            each = [self._mixture_entropy(kept, part)[:, 0] for part in members]
            return np.asarray(shares) @ np.asarray(each)

        return np.minimum(self.blockwise(each_cell), self.outcome_entropy)  # what is known cannot teach less

    def _noise_entropy(self, kept: tuple[np.ndarray, np.ndarray]) -> np.ndarray:
        means, deviations = kept
        logs = np.log(deviations) + _HALF_LOG
        if deviations.shape[0] == 1:
            each = logs[0]
        else:
            each = np.tensordot(self.weights, logs, axes=1)
        return np.broadcast_to(each, means.shape[1:]).sum(axis=1)

    def _mixture_entropy(self, kept: tuple[np.ndarray, np.ndarray], part: np.ndarray) -> np.ndarray:
        """(b, 2) entropies of the mixtures of the particles in ``part``, and their standard errors."""
        means, deviations = kept
        weights = self.weights[part] / self.weights[part].sum()
        if len(part) < len(means):
            assert self._target.places is not None
            means = within(means[part], self._target.places[part], weights)
            deviations = deviations if deviations.shape[0] == 1 else deviations[part]
        if self.channels == 1:
            entropies = mixture_densities(weights, means[:, :, 0], deviations[:, :, 0]).entropy
            return np.column_stack([entropies, np.zeros(len(entropies))])
        spread = np.broadcast_to(deviations, means.shape)
        each = [self._by_strata(weights, means[:, j], spread[:, j]) for j in range(means.shape[1])]
        return np.array(each).reshape(-1, 2)

    def _by_strata(self, weights: np.ndarray, means: np.ndarray, deviations: np.ndarray) -> tuple[float, float]:
        """Entropy and standard error of one mixture of Gaussians in several channels."""
        points, chosen = self.strata(weights, means, deviations, N_STRATA)
        with np.errstate(divide="ignore"):
            log_weights = np.log(weights)
        own = self.log_noise(points, means[chosen], deviations[chosen])
        terms = own - log_mixture(points, log_weights, means, deviations)
        noise = float(weights @ (np.log(deviations) + _HALF_LOG).sum(axis=1))
        return noise + float(terms.mean()), float(terms.std(ddof=1) / np.sqrt(len(terms)))

    @staticmethod
    def log_noise(points: np.ndarray, means: np.ndarray, deviations: np.ndarray) -> np.ndarray:
        """Return the log densities (n,) of points (n, c) under their own means and deviations."""
        z = (points - means) / deviations
        return (-0.5 * np.square(z) - np.log(deviations) - 0.5 * np.log(2.0 * np.pi)).sum(axis=1)

    def strata(
        self, weights: np.ndarray, means: np.ndarray, deviations: np.ndarray, n: int
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return n outcomes (n, c), one of each stratum of the particles sorted by mean, and whose they are."""
        order = np.argsort(means[:, 0], kind="stable")
        chosen = order[systematic(weights[order], n, 0.5)]
        return means[chosen] + deviations[chosen] * self._normals(n), chosen

    def _normals(self, n: int) -> np.ndarray:
        """(n, c) normal numbers, evenly spread; the same for all candidates, in every chunk."""
        kept: dict[int, np.ndarray] = self.__dict__.setdefault("_drawn_normals", {})
        if n not in kept:
            sobol = qmc.Sobol(self.channels, scramble=True, seed=np.random.default_rng(self.seed))
            unit = sobol.random_base2(int(np.ceil(np.log2(n))))[:n]
            kept[n] = ndtri(np.clip(unit, 1e-12, 1.0 - 1e-12))
        return kept[n]

    # -- outcomes ------------------------------------------------------------------------------------------------------

    def _one(self, i: int) -> tuple[np.ndarray, np.ndarray]:
        (means, deviations), at = self._kept.at(i)
        return means[:, at], np.broadcast_to(deviations, means.shape)[:, at]

    def quantiles(self, probabilities: np.ndarray) -> np.ndarray:
        """Return (q, m) outcomes, noise included, below which the outcome lies with the given probabilities."""
        levels = np.asarray(probabilities, dtype=float)
        found = [
            mixture_densities(self.weights, means[:, :, 0], deviations[:, :, 0], per_deviation=FINE).quantiles(levels)
            for means, deviations in map(self._kept, self._kept.parts)
        ]
        return np.concatenate(found, axis=1)

    def tail_probability(self, i: int, outcome: object) -> float:
        """Return how probable an outcome as far out is: both tails; of several channels the least times how many."""
        means, deviations = self._one(range(len(self))[i])
        numbers = stacked(np.ravel(np.asarray(outcome))).astype(float).tolist()
        each = [tail_of_mixture(self.weights, means[:, c], deviations[:, c], y) for c, y in enumerate(numbers)]
        return min(1.0, len(each) * min(each))

    def likely_outcomes(self, i: int) -> list[tuple[object, float]] | None:
        """Return 16 outcomes of equal probability: the middles of as many strata."""
        means, deviations = self._one(i)
        if self.channels > 1:
            points = self.strata(self.weights, means, deviations, N_BRANCHES)[0]
            points = joined(points) if self.complex else points
        else:
            levels = (np.arange(N_BRANCHES) + 0.5) / N_BRANCHES
            points = mixture_densities(self.weights, means, deviations, per_deviation=FINE).quantiles(levels)[:, 0]
        return [(point, 1.0 / N_BRANCHES) for point in points]
