"""Outcomes of a list, or of an interval cut into 128: every block of candidates is a table of joint draws.

p(y | particle) (k, m, c)        `WeightedDraws`, exact by enumeration; of a density its midpoints times the width
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from adaptive.estimators.particles.predictive import Kept, ParticlePredictive, Stated
from adaptive.predictive import WeightedDraws

if TYPE_CHECKING:
    from adaptive.estimators.particles.inference.cloud import Cloud
    from adaptive.estimators.particles.settings import CloudSettings
    from adaptive.types import ArrayLike

__all__ = ["DiscreteParticles", "IntervalParticles", "outcome_table"]

LEFT_OUT = {True: 1e-2, False: 1e-3}  # probability that is missed at most: by an interval, by a list
N_PARTS = 128  # of an interval
N_BRANCHES = 16  # outcomes that stand for all of an interval


def listed(settings: CloudSettings) -> tuple[np.ndarray, float]:
    """Return the outcomes (c,) that the user listed, or midpoints of the interval, and what each stands for."""
    if settings.interval is not None:
        low, high = settings.interval
        width = (high - low) / N_PARTS
        return low + width * (np.arange(N_PARTS) + 0.5), width
    if settings.known_outcomes is None:
        raise ValueError(
            "outcomes must be given with log_likelihood to say what may come back: a list of values, or a tuple "
            "(low, high) between which a continuous outcome lies."
        )
    return settings.known_outcomes, 1.0


def outcome_table(settings: CloudSettings, cloud: Cloud, X: np.ndarray) -> np.ndarray:
    """Return p(outcome | particle) (k, m, c) at settings X (m, f), normalised over the outcomes listed."""
    outcomes, width = listed(settings)
    of_rows, values = settings.likelihood.of_rows, cloud.values
    planes = np.stack([np.exp(of_rows(values, X, np.full(len(X), outcome))) for outcome in outcomes])
    total = planes.sum(axis=0)
    found = width * (cloud.weights @ total)
    wrong = np.flatnonzero(np.abs(found - 1.0) > LEFT_OUT[settings.interval is not None])
    if len(wrong):
        j = int(wrong[0])
        raise ValueError(
            f"outcomes must hold all that may come back, but exp(log_likelihood) adds up to {found[j]:.4g} over them "
            f"at setting {X[j].tolist()}; expected 1."
        )
    empty = total == 0
    planes[:, empty], total[empty] = 1.0, float(len(outcomes))
    planes /= total
    return np.moveaxis(planes, 0, 2)  # outcomes first in memory, as `WeightedDraws` takes them


class DiscreteParticles(ParticlePredictive):
    """Predictive of an outcome that is one of a list."""

    def _asked(self) -> Kept[WeightedDraws]:
        weights, seed = self.weights, self.seed  # of the first of those that share what is kept: see _of

        def draws(part: slice) -> WeightedDraws:
            table, outcomes = outcome_table(self.settings, self.cloud, self.X[part]), listed(self.settings)[0]
            return WeightedDraws(weights, table, outcomes, target=self._target.cells, random_state=seed)

        return Kept(draws, len(self.cloud), len(self), len(listed(self.settings)[0]))

    def _of(self, draws: WeightedDraws) -> WeightedDraws:
        """The draws of a block with the present weights."""
        return draws.reweighted(self.weights)

    def _field(self, name: str) -> Callable[[], np.ndarray]:
        return lambda: self.blockwise(lambda draws: getattr(self._of(draws), name))

    def stated(self) -> Stated:
        """Entropies of each block by its draws."""

        def target_entropy() -> float:
            n_outcomes = len(listed(self.settings)[0])
            table = np.ones((len(self.weights), 0, n_outcomes))
            return WeightedDraws(self.weights, table, range(n_outcomes), target=self._target.cells).target_entropy

        return {
            **{name: self._field(name) for name in ("probabilities", "expected_entropy", "expected_target_entropy")},
            "outcomes": lambda: listed(self.settings)[0],
            "target_entropy": target_entropy,
        }

    def draws(self, n: int | None = None) -> tuple[np.ndarray, np.ndarray]:
        """Return weights (k,) and p(outcome | draw) (k, m, c); ``n`` of equal weight, resampled, where it is given."""
        table = np.concatenate([self._kept(part).draws()[1] for part in self._kept.parts], axis=1)
        return WeightedDraws(self.weights, table, self.outcomes, random_state=self.seed).draws(n)

    def likely_outcomes(self, i: int) -> list[tuple[object, float]] | None:
        """Return [(outcome, probability)] of candidate ``i``."""
        draws, at = self._kept.at(i)
        return self._of(draws).likely_outcomes(at)

    def log_density(self, i: int, outcome: object) -> np.ndarray:
        """Return log p(outcome | value_k) (k,) at candidate i, one of those listed."""
        column = [c for c, known in enumerate(self.outcomes) if known == outcome]
        if not column:
            raise ValueError(f"outcome must be one of {np.asarray(self.outcomes).tolist()}, got {outcome!r}.")
        draws, at = self._kept.at(i)
        with np.errstate(divide="ignore"):
            return np.log(draws.draws()[1][:, at, column[0]])


class IntervalParticles(DiscreteParticles):
    """Predictive of a number with a stated density: entropies of its histogram, less what the width of a bar is."""

    draws = None  # type: ignore[assignment]  # of no list of outcomes

    def stated(self) -> Stated:
        """Entropies and the moments of the mean outcome."""
        places, width = listed(self.settings)

        def variance(draws: WeightedDraws) -> np.ndarray:
            means = _means(draws, places)
            return self.weights @ np.square(means - self.weights @ means)

        return {
            "outcome_entropy": lambda: self._field("outcome_entropy")() + np.log(width),
            "expected_entropy": lambda: self._field("expected_entropy")() + np.log(width),
            "mean": lambda: self.blockwise(lambda draws: self.weights @ _means(draws, places)),
            "variance": lambda: self.blockwise(variance),
        }

    def covariance(self, i: ArrayLike, j: ArrayLike) -> np.ndarray:
        """Return the covariance (len i, len j) of the mean outcomes at candidates i and j."""
        places = listed(self.settings)[0]
        means = np.concatenate([_means(self._kept(part), places) for part in self._kept.parts], axis=1)
        return self._covariance(means, i, j)

    def quantiles(self, probabilities: np.ndarray) -> np.ndarray:
        """Return (q, m) outcomes below which the outcome lies with the given probabilities (q,)."""
        places, width = listed(self.settings)
        shares = self.blockwise(lambda draws: self._of(draws).probabilities)
        return np.stack([np.interp(probabilities, np.cumsum(row), places + 0.5 * width) for row in shares], axis=1)

    def likely_outcomes(self, i: int) -> list[tuple[object, float]] | None:
        """Return 16 outcomes of equal probability: the middles of as many strata."""
        draws, at = self._kept.at(i)
        places, width = listed(self.settings)
        levels = (np.arange(N_BRANCHES) + 0.5) / N_BRANCHES
        below = np.cumsum(self.weights @ draws.draws()[1][:, at])
        return [(point, 1.0 / N_BRANCHES) for point in np.interp(levels, below, places + 0.5 * width)]

    def tail_probability(self, i: int, outcome: object) -> float:
        """Return how probable an outcome as far out is, both tails, to the width of a bar."""
        draws, at = self._kept.at(i)
        places, width = listed(self.settings)
        shares = self.weights @ draws.draws()[1][:, at]
        below = float(np.interp(np.asarray(outcome, dtype=float), places + 0.5 * width, np.cumsum(shares)))
        return min(1.0, 2.0 * min(below, 1.0 - below))

    def log_density(self, i: int, outcome: object) -> np.ndarray:
        """Return log p(outcome | value_k) (k,) at candidate i."""
        return ParticlePredictive.log_density(self, i, outcome)


def _means(draws: WeightedDraws, places: np.ndarray) -> np.ndarray:
    """Return the mean outcome (k, m) of each draw."""
    return draws.draws()[1] @ places
