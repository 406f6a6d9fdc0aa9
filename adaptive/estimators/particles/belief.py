"""Belief about the parameters after answers: a cloud of weighted particles."""

from __future__ import annotations

import warnings
from dataclasses import asdict, dataclass, fields, replace
from typing import TYPE_CHECKING, Generic, Self, TypeVar

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from adaptive.estimators.belief import FromPrior, Traced
from adaptive.estimators.particles.continuous import GaussianParticles
from adaptive.estimators.particles.count_noise import CountNoise
from adaptive.estimators.particles.counts import CountParticles
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
        """The belief after ``data``, of which an ``earlier`` one knows the first rows; one answer after the other.

        So that answers that come one by one lead where all of them at once do, but for the rounding of the model.
        """
        before = prior_cloud(settings) if earlier is None else earlier.posterior
        cloud = _in_turn(before, settings, data, 0 if earlier is None else len(earlier.data))
        if cloud.n_moves > before.n_moves and cloud.acceptance < HARDLY:
            warnings.warn(
                f"the particles hardly move ({cloud.acceptance:.1%} of the proposals were accepted): after "
                f"{len(data)} answers they may count for fewer than they are; raise n_particles, or give the model "
                "other parameters.",
                ConvergenceWarning,
                stacklevel=5,
            )
        return cls(settings, data, cloud)

    # -- inference -----------------------------------------------------------------------------------------------------

    evidence_kind = "approximation"

    @property
    def trace(self) -> tuple[float, ...]:
        """Effective sample size after each answer."""
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
        """Predictive of numbers with Gaussian noise, of counts, of outcomes listed, or of a density on an interval."""
        kind: type[ParticlePredictive] = GaussianParticles
        if settings.model is not None and isinstance(settings.likelihood, CountNoise):
            kind = CountParticles
        elif settings.model is None:
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


def _in_turn(cloud: Cloud, settings: CloudSettings, data: Rows, known: int) -> Cloud:
    """The cloud after the answers from ``known`` on, one after the other.

    As long as the values stand still likelihoods come in blocks, twice as large every time. The first answer that no
    particle can give is refused.
    """
    row, size = known, 1
    while row < len(data):
        values = cloud.values
        at = slice(row, row + min(size, row_blocks(len(cloud), len(data) - row)[0].stop))
        for increments in settings.likelihood.of_rows(values, data.X[at], data.y[at]).T:
            if not np.isfinite(increments + cloud.log_weights).any():
                raise ValueError(
                    f"y holds {data.y[row].tolist()!r} at setting {data.X[row].tolist()}, which is impossible under "
                    f"every one of the {len(cloud)} particles (log likelihood minus infinity); nothing was learnt."
                )
            cloud = _after(cloud, settings, data, row, increments)
            row += 1
            if cloud.values is not values:
                break
        size = 2 * size if cloud.values is values else 1
    return cloud


def _after(cloud: Cloud, settings: CloudSettings, data: Rows, row: int, increments: np.ndarray) -> Cloud:
    """The cloud after the answer of one row, of all whose ``increments`` (k,) are not minus infinity."""
    likelihood = settings.likelihood
    problem = Problem(
        settings.stated_prior.log_density,
        lambda values: likelihood.total(values, data.X[:row], data.y[:row]),
        lambda values: likelihood.total(values, data.X[row : row + 1], data.y[row : row + 1]),
    )
    return learnt(
        cloud, problem, increments=increments, resample=float(settings.resample), move=settings.move,
        seed=settings.seed, n_answers=row + 1,
    )  # fmt: skip
