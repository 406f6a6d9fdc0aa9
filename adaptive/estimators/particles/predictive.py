"""Predictive of candidates by weighted particles, block by block: only what has one entry per candidate is kept.

    p(y_i) = sum_k w_k p(y_i | value_k),        w_k | y_i  =  w_k p(y_i | value_k) / p(y_i)

What the user's functions returned is kept for the what-ifs where it is small enough, else asked again.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Generic, Self, TypeAlias, TypeVar

import numpy as np
from scipy.special import logsumexp

from adaptive.estimators.particles.inference.cloud import systematic
from adaptive.estimators.particles.likelihood import row_blocks
from adaptive.predictive import Predictive

if TYPE_CHECKING:
    from adaptive.estimators.particles.inference.cloud import Cloud
    from adaptive.estimators.particles.settings import CloudSettings
    from adaptive.estimators.particles.target import Target
    from adaptive.types import ArrayLike, RandomState

__all__ = ["Kept", "ParticlePredictive", "Stated"]

Stated: TypeAlias = dict[str, Callable[[], Any]]  # fields by name, as functions that are called once

T = TypeVar("T")

MOST_KEPT = 2**24  # numbers
FEWER = 3  # times fewer particles, at least, are worth a second look
OF_CELLS = 2  # times as many particles where the target has cells


class Kept(Generic[T]):
    """Values of a function at blocks of candidates, kept where all of it has at most `MOST_KEPT` numbers.

    Parameters
    ----------
    function : callable(slice) -> value
    n, m, each : int
        Particles, candidates, numbers for each pair.
    """

    def __init__(self, function: Callable[[slice], T], n: int, m: int, each: int) -> None:
        self._function, self._keep = function, n * m * each <= MOST_KEPT
        self.parts = row_blocks(n, m, each)
        self._kept: dict[int, T] = {}

    def __call__(self, part: slice) -> T:
        """Values of the block ``part``."""
        if part.start not in self._kept:
            value = self._function(part)
            if not self._keep:
                return value
            self._kept[part.start] = value
        return self._kept[part.start]

    def at(self, i: int) -> tuple[T, int]:
        """Values of the block that holds candidate i, and its place there."""
        for part in self.parts:
            if part.start <= i < part.stop:
                if self._keep:
                    return self(part), i - part.start
                return self._function(slice(i, i + 1)), 0
        raise IndexError(f"candidate must be below {self.parts[-1].stop}, got {i}.")


class ParticlePredictive(Predictive):
    """Predictive of m settings by k particles; a subclass says what outcomes are, and its ``stated`` fields.

    Parameters
    ----------
    settings : ParticleSettings
    cloud : Cloud
    X : (m, f) array
    target : Target
    random_state : None, int, Generator or RandomState

    Attributes
    ----------
    weights : (k,) array
    """

    def __init__(
        self,
        settings: CloudSettings,
        cloud: Cloud,
        X: np.ndarray,
        target: Target,
        *,
        random_state: RandomState = None,
    ) -> None:
        super().__init__(len(X), random_state=random_state)
        self.settings, self.cloud, self.X, self._target = settings, cloud, X, target
        self.weights = cloud.weights
        self._kept = self._asked()
        self._about: ParticlePredictive | None = None
        if target.settings is not None:
            no_target = type(target)(None, None, cloud.values)
            self._about = type(self)(settings, cloud, target.settings, no_target, random_state=self.seed)
        self._state_fields()

    # -- what a subclass says ------------------------------------------------------------------------------------------

    def _asked(self) -> Kept[Any]:
        """Values of the user's functions, by blocks."""
        raise NotImplementedError  # pragma: no cover

    def stated(self) -> Stated:
        """Fields by name, as functions that are called once."""
        raise NotImplementedError  # pragma: no cover

    # -- what all have in common ---------------------------------------------------------------------------------------

    def _state_fields(self) -> None:
        self._fields = dict(self.stated())
        if self._target.values is not None:
            self._fields["target_deviation"] = self._target_deviation
        if self._about is not None:
            self._fields["target"] = self._about

    def blockwise(self, function: Callable[[Any], np.ndarray]) -> np.ndarray:
        """Return function(what is kept of a block) of all blocks, one after the other."""
        if not len(self):
            return function(self._kept(slice(0, 0)))
        return np.concatenate([function(self._kept(part)) for part in self._kept.parts])

    def _covariance(self, means: np.ndarray, i: ArrayLike, j: ArrayLike) -> np.ndarray:
        """Covariance (len i, len j) of the particles' means (k, m) at candidates i and j."""
        apart = means - self.weights @ means
        return (apart[:, np.atleast_1d(i)] * self.weights[:, None]).T @ apart[:, np.atleast_1d(j)]

    def _target_deviation(self) -> np.ndarray:
        values = self._target.values
        assert values is not None
        mean = self.weights @ values
        return np.sqrt(self.weights @ np.square(values - mean))

    def log_density(self, i: int, outcome: object) -> np.ndarray:
        """Return log p(outcome | value_k) (k,) at candidate i."""
        at = self.X[i : i + 1]
        return self.settings.likelihood.of_rows(self.cloud.values, at, np.asarray([outcome]))[:, 0]

    def _provides(self, name: str) -> bool:
        """Return whether this instance has the field: by itself it is as close as `refined`."""
        return name != "refined" and super()._provides(name)

    def refined(self, positions: np.ndarray) -> ParticlePredictive:
        """Return the candidates at ``positions`` (k,) alone, by all particles."""
        few = type(self)(self.settings, self.cloud, self.X[positions], self._target, random_state=self.seed)
        return few if self.weights is self.cloud.weights else few._reweighted(self.weights)

    def coarse(self) -> ParticlePredictive | None:
        """Return the same by few particles of equal weight, one of each stratum along the target; None: by all."""
        if "_few" not in self.__dict__:
            self.__dict__["_few"] = self._by_few()
        return self.__dict__["_few"]

    def _by_few(self) -> ParticlePredictive | None:
        n = getattr(self.settings, "screening", 0) * (1 if self._target.cells is None else OF_CELLS)
        if not n or len(self.weights) < FEWER * n or self._target.settings is not None:
            return None
        along = self.cloud.values if self._target.values is None else self._target.values
        order = np.argsort(along[:, 0], kind="stable")
        chosen = np.sort(order[systematic(self.weights[order], n, 0.5)])
        cloud = replace(self.cloud, values=self.cloud.values[chosen], log_weights=np.full(n, -np.log(n)))
        target = self._target.of_some(cloud, chosen)
        return self._coarse(self.settings, cloud, self.X, target, random_state=self.seed)

    @property
    def _coarse(self) -> type[ParticlePredictive]:
        """The class that ranks."""
        return type(self)

    def outcome_probability(self, i: int, outcome: object) -> float:
        """Return the probability (density) of ``outcome`` at candidate ``i``."""
        return float(np.exp(logsumexp(self.log_density(range(len(self))[i], outcome), b=self.weights)))

    def given(self, i: int, outcome: object = None) -> Predictive:
        """Return the particles reweighted by ``outcome`` at candidate i."""
        i = range(len(self))[i]
        if outcome is None:
            raise self._unknown(i)
        found = self.log_density(i, outcome)
        with np.errstate(divide="ignore"):
            log_weights = np.log(self.weights) + found
        if not np.isfinite(log_weights.max()):
            raise ValueError(f"outcome {outcome!r} of candidate {i} is impossible under every particle.")
        weights = np.exp(log_weights - log_weights.max())
        return self._reweighted(weights / weights.sum())

    def _reweighted(self, weights: np.ndarray) -> Self:
        after = object.__new__(type(self))
        Predictive.__init__(after, len(self), random_state=self.seed)
        after.settings, after.cloud, after.X, after._target = self.settings, self.cloud, self.X, self._target
        after._kept, after.weights, after.asked = self._kept, weights, self.asked
        after._about = None if self._about is None else self._about._reweighted(weights)
        after._state_fields()
        return after
