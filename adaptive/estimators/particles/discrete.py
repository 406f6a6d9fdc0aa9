"""Outcomes of a list, or of an interval cut into 128: every block of candidates is a table of joint draws.

p(y | particle) (k, m, c)        `WeightedDraws`, exact by enumeration; of a density its midpoints times the width
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from adaptive.estimators.particles.predictive import Kept, ParticlePredictive, Stated
from adaptive.predictive import WeightedDraws
from adaptive.predictive.derivations import likely

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
    table = np.stack([np.exp(of_rows(values, X, np.full(len(X), outcome))) for outcome in outcomes], axis=2)
    total = width * table.sum(axis=2)
    found = cloud.weights @ total
    wrong = np.flatnonzero(np.abs(found - 1.0) > LEFT_OUT[settings.interval is not None])
    if len(wrong):
        j = int(wrong[0])
        raise ValueError(
            f"outcomes must hold all that may come back, but exp(log_likelihood) adds up to {found[j]:.4g} over them "
            f"at setting {X[j].tolist()}; expected 1."
        )
    empty = total == 0
    table[empty] = 1.0
    return table / table.sum(axis=2, keepdims=True)


class DiscreteParticles(ParticlePredictive):
    """Predictive of an outcome that is one of a list."""

    def _asked(self) -> Kept[np.ndarray]:
        def table(part: slice) -> np.ndarray:
            return outcome_table(self.settings, self.cloud, self.X[part])

        return Kept(table, len(self.cloud), len(self), len(listed(self.settings)[0]))

    def _of(self, table: np.ndarray) -> WeightedDraws:
        outcomes = listed(self.settings)[0]
        return WeightedDraws(self.weights, table, outcomes, target=self._target.cells, random_state=self.seed)

    def _field(self, name: str) -> Callable[[], np.ndarray]:
        return lambda: self.blockwise(lambda table: getattr(self._of(table), name))

    def stated(self) -> Stated:
        """Entropies of each block by its draws."""
        nothing = np.ones((len(self.weights), 0, len(listed(self.settings)[0])))
        return {
            **{name: self._field(name) for name in ("probabilities", "expected_entropy", "expected_target_entropy")},
            "outcomes": lambda: listed(self.settings)[0],
            "target_entropy": lambda: self._of(nothing).target_entropy,
        }

    def draws(self, n: int | None = None) -> tuple[np.ndarray, np.ndarray]:
        """Return weights (k,) and p(outcome | draw) (k, m, c); ``n`` of equal weight, resampled, where it is given."""
        tables = [self._kept(part) for part in self._kept.parts]
        return self._of(np.concatenate(tables, axis=1)).draws(n)

    def likely_outcomes(self, i: int) -> list[tuple[object, float]] | None:
        """Return [(outcome, probability)] of candidate ``i``."""
        table, at = self._kept.at(i)
        return likely(self.outcomes, self.weights @ table[:, at])

    def log_density(self, i: int, outcome: object) -> np.ndarray:
        """Return log p(outcome | value_k) (k,) at candidate i, one of those listed."""
        column = [c for c, known in enumerate(self.outcomes) if known == outcome]
        if not column:
            raise ValueError(f"outcome must be one of {np.asarray(self.outcomes).tolist()}, got {outcome!r}.")
        table, at = self._kept.at(i)
        with np.errstate(divide="ignore"):
            return np.log(table[:, at, column[0]])


class IntervalParticles(DiscreteParticles):
    """Predictive of a number with a stated density: entropies of its histogram, less what the width of a bar is."""

    draws = None  # type: ignore[assignment]  # of no list of outcomes

    def stated(self) -> Stated:
        """Entropies and the moments of the mean outcome."""
        places, width = listed(self.settings)

        def mean_of(table: np.ndarray) -> np.ndarray:
            return table @ places

        def variance(table: np.ndarray) -> np.ndarray:
            means = mean_of(table)
            return self.weights @ np.square(means - self.weights @ means)

        return {
            "outcome_entropy": lambda: self._field("outcome_entropy")() + np.log(width),
            "expected_entropy": lambda: self._field("expected_entropy")() + np.log(width),
            "mean": lambda: self.blockwise(lambda table: self.weights @ mean_of(table)),
            "variance": lambda: self.blockwise(variance),
        }

    def covariance(self, i: ArrayLike, j: ArrayLike) -> np.ndarray:
        """Return the covariance (len i, len j) of the mean outcomes at candidates i and j."""
        means = np.concatenate([self._kept(part) @ listed(self.settings)[0] for part in self._kept.parts], axis=1)
        return self._covariance(means, i, j)

    def quantiles(self, probabilities: np.ndarray) -> np.ndarray:
        """Return (q, m) outcomes below which the outcome lies with the given probabilities (q,)."""
        places, width = listed(self.settings)
        shares = self.blockwise(lambda table: np.tensordot(self.weights, table, axes=1))
        return np.stack([np.interp(probabilities, np.cumsum(row), places + 0.5 * width) for row in shares], axis=1)

    def likely_outcomes(self, i: int) -> list[tuple[object, float]] | None:
        """Return 16 outcomes of equal probability: the middles of as many strata."""
        table, at = self._kept.at(i)
        places, width = listed(self.settings)
        levels = (np.arange(N_BRANCHES) + 0.5) / N_BRANCHES
        below = np.cumsum(self.weights @ table[:, at])
        return [(point, 1.0 / N_BRANCHES) for point in np.interp(levels, below, places + 0.5 * width)]

    def tail_probability(self, i: int, outcome: object) -> float:
        """Return how probable an outcome as far out is, both tails, to the width of a bar."""
        table, at = self._kept.at(i)
        places, width = listed(self.settings)
        below = float(
            np.interp(np.asarray(outcome, dtype=float), places + 0.5 * width, np.cumsum(self.weights @ table[:, at]))
        )
        return min(1.0, 2.0 * min(below, 1.0 - below))

    def log_density(self, i: int, outcome: object) -> np.ndarray:
        """Return log p(outcome | value_k) (k,) at candidate i."""
        return ParticlePredictive.log_density(self, i, outcome)
