"""Counts as outcomes: mixtures over particles, their entropies by sums over few places.

    H(y) - E H(y | target),        p(y) = sum_k w_k p(y | mean_k),        E H(y | all) = sum_k w_k H(y | mean_k)

Errors are below 1e-4 nats, for means from .01 to a million (`inference.count_density`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.special import rel_entr

from adaptive.estimators.particles.count_noise import CountNoise
from adaptive.estimators.particles.inference.count_density import (
    CountMixture,
    Places,
    binomial_places,
    mixture_of_counts,
    poisson_places,
)
from adaptive.estimators.particles.inference.mixture_density import mixture_densities
from adaptive.estimators.particles.predictive import Kept, ParticlePredictive, Stated
from adaptive.estimators.particles.target import within

if TYPE_CHECKING:
    from adaptive.types import ArrayLike

__all__ = ["CountParticles"]

TINY = 1e-290
HARDLY = 1e-12  # of the largest weight: particles that no bound needs
FEW = 32.0  # counts up to which ranking adds them up one by one
LEAST_VARIANCE = 0.05  # of a count, where ranking takes it for Gaussian
N_BRANCHES = 16  # counts that stand for all, of a candidate whose count is not known yet


class _Block(NamedTuple):
    """Mean counts, or chances (k, b), and exposures or trials (b,)."""

    means: np.ndarray
    sizes: np.ndarray


class CountParticles(ParticlePredictive):
    """Predictive of the user's model with counts around it."""

    channels = 1

    @property
    def _coarse(self) -> type[ParticlePredictive]:
        """The class that ranks: where counts are many it looks at their roots."""
        return CoarseCounts

    @property
    def noise(self) -> CountNoise:
        """The likelihood."""
        assert isinstance(self.settings.likelihood, CountNoise)
        return self.settings.likelihood

    def _asked(self) -> Kept[_Block]:
        noise, values, X = self.noise, self.cloud.values, self.X
        self.spread = noise.spread(values)
        return Kept(lambda part: _Block(noise.means(values, X[part]), noise.sizes(X[part])), len(values), len(X), 1)

    def stated(self) -> Stated:
        """Entropies, and the moments of the mean count."""
        self.spread = self.noise.spread(self.cloud.values)
        return {
            "outcome_entropy": lambda: self._entropies[:, 0],
            "expected_entropy": self._expected_entropy,
            "mean": lambda: self.blockwise(lambda block: self.weights @ self._counts(block)),
            "variance": lambda: self.blockwise(self._variance),
        }

    def _counts(self, block: _Block) -> np.ndarray:
        return block.means * block.sizes if self.noise.family == "binomial" else block.means

    def _variance(self, block: _Block) -> np.ndarray:
        means = self._counts(block)
        return self.weights @ np.square(means - self.weights @ means)

    def covariance(self, i: ArrayLike, j: ArrayLike) -> np.ndarray:
        """Return the covariance (len i, len j) of the model's mean counts at candidates i and j."""
        means = np.concatenate([self._counts(self._kept(part)) for part in self._kept.parts], axis=1)
        return self._covariance(means, i, j)

    # -- entropies -----------------------------------------------------------------------------------------------------

    @property
    def _entropies(self) -> np.ndarray:
        """(m, 2) entropies of the counts, and what is left of them where all parameters are known."""
        if "_both" not in self.__dict__:
            self.__dict__["_both"] = self.blockwise(lambda block: self._of_all(block, self.weights))
        return self.__dict__["_both"]

    def _of_all(self, block: _Block, weights: np.ndarray, spread: np.ndarray | None = None) -> np.ndarray:
        mixtures = self._mixtures(block, weights, self.spread if spread is None else spread)
        return np.array([(one.entropy, one.part_entropy) for one in mixtures]).reshape(-1, 2)

    def _mixtures(self, block: _Block, weights: np.ndarray, spread: np.ndarray) -> list[CountMixture]:
        return [
            mixture_of_counts(self._places(block, j, spread), weights, block.means[:, j], spread)
            for j in range(block.means.shape[1])
        ]

    def _places(self, block: _Block, j: int, spread: np.ndarray) -> Places:
        if self.noise.family == "binomial":
            kept: dict[float, Places] = self.__dict__.setdefault("_by_trials", {})
            n = float(block.sizes[j])
            if n not in kept:
                kept[n] = binomial_places(n)
            return kept[n]
        means = block.means[:, j]
        return poisson_places(float(means.min()), float(means.max()), float(spread.min()), float(spread.max()))

    def _expected_entropy(self) -> np.ndarray:
        """E H(y | target): of counting, or of the mixtures within the cells of the target."""
        if self._target.cells is None:
            return self._entropies[:, 1]
        members = [np.flatnonzero(self._target.cells == cell) for cell in np.unique(self._target.cells)]
        members = [part for part in members if self.weights[part].sum() > 0]
        places = self._target.places
        assert places is not None

        def each_cell(block: _Block) -> np.ndarray:
            found = np.zeros(block.means.shape[1])
            for part in members:
                share = self.weights[part].sum()
                weights = self.weights[part] / share
                scale = within(self._scale(block.means[part]), places[part], weights)
                own = _Block(self._from_scale(scale), block.sizes)
                found += share * self._of_all(own, weights, self.spread[part])[:, 0]
            return found

        return np.minimum(self.blockwise(each_cell), self.outcome_entropy)  # what is known cannot teach less

    def _scale(self, means: np.ndarray) -> np.ndarray:
        """The scale in which counts are about as wide everywhere."""
        return np.arcsin(np.sqrt(means)) if self.noise.family == "binomial" else np.sqrt(means)

    def _from_scale(self, scale: np.ndarray) -> np.ndarray:
        if self.noise.family == "binomial":
            return np.square(np.sin(np.clip(scale, 0.0, 0.5 * np.pi)))
        return np.square(np.maximum(scale, 0.0))

    # -- outcomes ------------------------------------------------------------------------------------------------------

    def _mixture(self, i: int) -> CountMixture:
        block, at = self._kept.at(i)
        return self._mixtures(_Block(block.means[:, at : at + 1], block.sizes[at : at + 1]), self.weights, self.spread)[
            0
        ]

    def quantiles(self, probabilities: np.ndarray) -> np.ndarray:
        """Return (q, m) counts up to which at least these shares lie."""
        levels = np.asarray(probabilities, dtype=float)
        return np.stack([self._mixture(i).quantiles(levels) for i in range(len(self))], axis=1)

    def tail_probability(self, i: int, outcome: object) -> float:
        """Return how probable a count as far out is, both tails, itself counted in both."""
        mixture, y = self._mixture(range(len(self))[i]), float(np.asarray(outcome))
        counts, shares = mixture.shares
        return float(min(1.0, 2.0 * min(shares[counts <= y].sum(), shares[counts >= y].sum())))

    def likely_outcomes(self, i: int) -> list[tuple[object, float]] | None:
        """Return counts that stand for all, at most 16, and their probabilities: middles of strata of equal ones."""
        levels = (np.arange(N_BRANCHES) + 0.5) / N_BRANCHES
        counts, times = np.unique(self._mixture(range(len(self))[i]).quantiles(levels), return_counts=True)
        return [(float(y), float(n) / N_BRANCHES) for y, n in zip(counts, times, strict=True)]

    def bounds(self) -> np.ndarray:
        """Return (m, 4) bounds of the information about all parameters, as `information_bounds` has them."""
        return np.array([self._bounds(i) for i in range(len(self))]).reshape(-1, 4)

    def _bounds(self, i: int) -> tuple[float, float, float, float]:
        places = self._mixture(i).places
        some, likely = places.weights > 0, self.weights > HARDLY * self.weights.max()
        counts, sizes, weights = places.counts[some], places.weights[some], self.weights[likely]
        at = np.repeat(self.X[i : i + 1], len(counts), axis=0)
        table = np.exp(self.noise.of_rows(self.cloud.values[likely], at, counts))
        table[table < TINY] = 0.0  # whose share in a mean would be lost
        mean = weights @ table
        others = np.maximum(mean - weights[:, None] * table, 0.0) / (1.0 - weights[:, None])
        lower, upper = (float(weights @ (rel_entr(table, rest) @ sizes)) for rest in (mean[None], others))
        return lower, upper, 0.0, 0.0


class CoarseCounts(CountParticles):
    """The same where many counts are told by their roots, which are about Gaussian: entropies are off by a constant.

        y of mean m and variance v:    sqrt(y + 3/8)  ~  N( sqrt(m + 3/8),  v / (4 m + 3/2) )

    References
    ----------
    Anscombe (1948), The transformation of Poisson, binomial and negative-binomial data.
    """

    def _of_all(self, block: _Block, weights: np.ndarray, spread: np.ndarray | None = None) -> np.ndarray:
        spread = self.spread if spread is None else spread
        binomial = self.noise.family == "binomial"
        many = (block.sizes if binomial else block.means.max(axis=0)) > FEW
        found = np.empty((len(many), 2))
        if not many.all():
            found[~many] = super()._of_all(_Block(block.means[:, ~many], block.sizes[~many]), weights, spread)
        if many.any():
            means = block.means[:, many] * (block.sizes[many] if binomial else 1.0)
            own = -means / block.sizes[many] if binomial else spread[:, None] * means
            roots = np.sqrt(means + 0.375)
            deviations = np.sqrt(means * (1.0 + own) + LEAST_VARIANCE) / (2.0 * roots)
            found[many, 0] = mixture_densities(weights, roots, deviations).entropy
            found[many, 1] = weights @ np.log(deviations) + 0.5 * np.log(2.0 * np.pi * np.e)
        return found
