"""Belief about the parameters after answers: a cloud of weighted particles."""

from __future__ import annotations

import warnings
from dataclasses import asdict, dataclass, fields, replace
from typing import TYPE_CHECKING, Generic, Self, TypeVar

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from adaptive.estimators.belief import FromPrior, Traced
from adaptive.estimators.particles.continuous import GaussianParticles
from adaptive.estimators.particles.discrete import DiscreteParticles, IntervalParticles
from adaptive.estimators.particles.inference.cloud import Cloud
from adaptive.estimators.particles.inference.learning import Problem, learnt
from adaptive.estimators.particles.inference.prior import checked_draws
from adaptive.estimators.particles.likelihood import row_blocks
from adaptive.estimators.particles.predictive import ParticlePredictive
from adaptive.estimators.particles.settings import CloudSettings
from adaptive.estimators.particles.target import Target
from adaptive.estimators.rows.training import Rows

if TYPE_CHECKING:
    from adaptive.estimators.particles.target import Named
    from adaptive.predictive import Predictive
    from adaptive.types import RandomState, State

__all__ = ["ParticleBelief", "prior_cloud"]

S = TypeVar("S", bound=CloudSettings)

HARDLY = 0.02  # share of accepted proposals below which moves do not move


def prior_cloud(settings: CloudSettings) -> Cloud:
    """Return the particles before any answer, of equal weight; the same for the same seed."""
    k = settings.n_particles
    values = checked_draws(settings.stated_prior, k, settings.seed)
    return Cloud(settings.stated_prior.names, values, np.full(k, -np.log(k)))


@dataclass(frozen=True, eq=False)
class ParticleBelief(FromPrior, Traced, Generic[S]):
    """Cloud after all answers.

    Attributes
    ----------
    settings : ParticleSettings
    data : Rows
        Settings and outcomes, as they were given.
    posterior : Cloud
    """

    settings: S
    data: Rows
    posterior: Cloud

    @classmethod
    def learnt(cls, settings: S, data: Rows, earlier: Self | None = None) -> Self:
        """The belief after ``data``, of which an ``earlier`` one knows the first rows."""
        cloud = prior_cloud(settings) if earlier is None else earlier.posterior
        known, likelihood = 0 if earlier is None else len(earlier.data), settings.likelihood
        problem = Problem(
            settings.stated_prior.log_density,
            lambda values: likelihood.total(values, data.X[:known], data.y[:known]),
            lambda values: likelihood.total(values, data.X[known:], data.y[known:]),
        )
        if len(data) == known:
            return cls(settings, data, cloud)
        after = learnt(
            cloud,
            problem,
            increments=possible_increments(cloud, settings, data, known),
            resample=float(settings.resample),
            move=settings.move,
            seed=settings.seed,
            n_answers=len(data),
        )
        if after.n_moves > cloud.n_moves and after.acceptance < HARDLY:
            warnings.warn(
                f"the particles hardly move ({after.acceptance:.1%} of proposals accepted): after {len(data)} answers "
                "they may stand for fewer than they are; more n_particles, or other parameters of the model, help.",
                ConvergenceWarning,
                stacklevel=5,
            )
        return cls(settings, data, after)

    # -- inference -----------------------------------------------------------------------------------------------------

    evidence_kind = "approximation"

    @property
    def trace(self) -> tuple[float, ...]:
        """Effective sample size after each fit."""
        return self.posterior.sizes

    @property
    def converged(self) -> bool:
        """Success of the last moves: the particles moved."""
        return not self.posterior.acceptance < HARDLY

    @property
    def log_evidence(self) -> float:
        """Log evidence of all answers, by the mean weights."""
        return self.posterior.log_evidence

    @property
    def n_iter(self) -> int:
        """Number of times the particles were resampled and moved."""
        return self.posterior.n_moves

    # -- what is believed ----------------------------------------------------------------------------------------------

    def predictive(
        self, candidates: np.ndarray, *, target: Named = None, random_state: RandomState = None
    ) -> Predictive:
        """Predictive of the outcomes at settings."""
        return self._of(self.settings, self.posterior, candidates, target, random_state)

    @classmethod
    def prior(cls, settings: S) -> Self:
        """Belief before any answer."""
        return cls(settings, Rows(np.zeros((0, 0)), np.zeros(0)), prior_cloud(settings))

    @staticmethod
    def _of(settings: S, cloud: Cloud, X: np.ndarray, target: Named, random_state: RandomState) -> Predictive:
        """Predictive of numbers with Gaussian noise, of outcomes that are listed, or of a density on an interval."""
        kind: type[ParticlePredictive] = GaussianParticles
        if settings.model is None:
            kind = DiscreteParticles if settings.interval is None else IntervalParticles
        return kind(settings, cloud, X, Target.of(settings, cloud, target), random_state=random_state)

    def state(self) -> State:
        """Plain data, without what was measured."""
        return {"cloud": {**asdict(self.posterior), "names": list(self.posterior.names)}}

    @classmethod
    def from_state(cls, settings: S, data: Rows, state: State) -> Self:
        """The belief that ``state`` described."""
        kept = {field.name: state["cloud"][field.name] for field in fields(Cloud)}
        cloud = Cloud(**kept)
        return cls(settings, data, replace(cloud, names=tuple(cloud.names), sizes=tuple(cloud.sizes)))


def possible_increments(cloud: Cloud, settings: CloudSettings, data: Rows, known: int) -> np.ndarray:
    """Return log p(answers from ``known`` on | value) (k,); the first answer that no particle can give is refused."""
    possible, total = np.isfinite(cloud.log_weights), np.zeros(len(cloud))
    for block in row_blocks(len(cloud), len(data) - known):
        at = slice(known + block.start, known + block.stop)
        found = settings.likelihood.of_rows(cloud.values, data.X[at], data.y[at])
        so_far = np.logical_and.accumulate(np.isfinite(found) & possible[:, None], axis=1)
        nobody = np.flatnonzero(~so_far.any(axis=0))
        if len(nobody):
            row = at.start + int(nobody[0])
            raise ValueError(
                f"y holds {data.y[row].tolist()!r} at setting {data.X[row].tolist()}, which is impossible under every "
                f"one of the {len(cloud)} particles (log likelihood minus infinity); nothing was learnt."
            )
        possible, total = so_far[:, -1], total + found.sum(axis=1)
    return total
