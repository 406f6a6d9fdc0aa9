"""Parameters of a particle estimator: a prior, a likelihood or a model with noise, and how particles are kept."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from adaptive import checks
from adaptive.estimators.belief import Settings
from adaptive.estimators.particles.count_noise import FAMILIES, CountNoise
from adaptive.estimators.particles.inference.prior import Prior, prior_of
from adaptive.estimators.particles.likelihood import GaussianNoise, Likelihood, StatedLikelihood

if TYPE_CHECKING:
    from adaptive.estimators.particles.inference.prior import PriorLike
    from adaptive.estimators.particles.likelihood import Function
    from adaptive.types import ArrayLike, RandomState

__all__ = ["MOVES", "CloudSettings", "ParticleSettings"]

MOVES = ("random_walk", "liu_west")


@dataclass(frozen=True, eq=False)
class CloudSettings(Settings):
    """Parameters of every estimator whose belief is a cloud of particles."""

    prior: PriorLike
    n_particles: int
    resample: float
    move: str
    outcomes: ArrayLike | tuple[float, float] | None
    random_state: RandomState

    if TYPE_CHECKING:  # stated by a subclass, as parameters or not

        @property
        def model(self) -> Function | None: ...
        @property
        def interval(self) -> tuple[float, float] | None: ...
        @property
        def likelihood(self) -> Likelihood: ...

    def check(self) -> None:
        """Refuse what is wrong in one sentence."""
        checks.integer("n_particles", self.n_particles, minimum=2)
        if not 0 <= float(checks.finite("resample", self.resample)) <= 1:
            raise ValueError(f"resample must be a share of the particles from 0 to 1, got {self.resample}.")
        checks.choice("move", self.move, MOVES)
        _ = self.stated_prior, self.known_outcomes, self.seed

    @cached_property
    def stated_prior(self) -> Prior:
        """The prior, checked."""
        return prior_of(self.prior)

    @cached_property
    def known_outcomes(self) -> np.ndarray | None:
        """(c,) values that a discrete outcome may take; None where outcomes are continuous, or not said."""
        if self.outcomes is None or isinstance(self.outcomes, tuple):
            return None
        found = np.asarray(self.outcomes)
        if found.ndim != 1 or len(found) < 2 or len(set(found.tolist())) < len(found):
            raise ValueError(
                "outcomes must be a list of two or more different values, or a tuple (low, high) between which a "
                f"continuous outcome lies, got {self.outcomes!r}."
            )
        return found

    @cached_property
    def seed(self) -> int:
        """The seed of all particles: None is 0, and a generator is asked without changing it."""
        given = self.random_state
        if given is None:
            return 0
        if isinstance(given, (int, np.integer)):
            return int(given)
        return int(checks.generator(copy.deepcopy(given)).integers(2**62))


@dataclass(frozen=True, eq=False)
class ParticleSettings(CloudSettings):
    """Parameters of :class:`~adaptive.ParticleEstimator`, under the same names."""

    log_likelihood: Function | None
    model: Function | None
    noise: complex | str | Function | None
    exposure: int | str | None
    trials: int | str | None
    overdispersion: float | str | None
    screening: int

    def check(self) -> None:
        """Refuse what is wrong in one sentence."""
        super().check()
        checks.integer("screening", self.screening, minimum=0)
        if (self.log_likelihood is None) == (self.model is None):
            given = "both" if self.model is not None else "neither"
            raise ValueError(f"log_likelihood or model must be given, one of the two, got {given}.")
        for name in ("log_likelihood", "model"):
            function = getattr(self, name)
            if function is not None and not callable(function):
                raise ValueError(f"{name} must be a function of (parameters, X...), got {type(function).__name__}.")
        if self.model is None and self.noise is not None:
            raise ValueError("noise goes with model; a log_likelihood has its own, so leave noise out.")
        for name, family in (("exposure", "poisson"), ("trials", "binomial"), ("overdispersion", "poisson")):
            if getattr(self, name) is not None and self.family != family:
                raise ValueError(f'{name} goes with noise="{family}", got noise={self.noise!r}.')
        if self.model is not None and self.outcomes is not None:
            raise ValueError("outcomes goes with log_likelihood; the outcomes of a model are numbers, so leave it out.")
        _ = self.likelihood, self.interval

    def of_columns(self, names: Sequence[object]) -> Self:
        """The same with the numbers of columns that are given by name, of those that X has."""
        found: dict[str, Any] = {}
        for key in ("exposure", "trials"):
            column = getattr(self, key)
            if isinstance(column, str):
                if column not in names:
                    has = f"columns: {list(names)}" if len(names) else "its columns have no names"
                    raise ValueError(f"{key} names the column {column!r}, which X does not have; {has}.")
                found[key] = list(names).index(column)
        return replace(self, **found) if found else self

    @cached_property
    def likelihood(self) -> Likelihood:
        """p(y | parameters, X)."""
        if self.model is None:
            assert self.log_likelihood is not None
            return StatedLikelihood(self.log_likelihood)
        if self.family is not None:
            column = self.exposure if self.family == "poisson" else self.trials
            named = column is None or isinstance(column, str)
            if isinstance(column, bool) or not (named or isinstance(column, (int, np.integer))):
                name = "exposure" if self.family == "poisson" else "trials"
                raise ValueError(f"{name} must be the number or the name of a column of X, or None, got {column!r}.")
            return CountNoise(self.family, self.model, column, self._overdispersion())
        return GaussianNoise(self.model, self._noise())

    @property
    def family(self) -> str | None:
        """Name of the distribution of counts; None of other outcomes. A parameter of that name is a deviation."""
        named = self.model is not None and isinstance(self.noise, str) and self.noise in FAMILIES
        return str(self.noise) if named and self.noise not in self.stated_prior.names else None

    def _overdispersion(self) -> float | int:
        given = self.overdispersion
        if isinstance(given, str):
            return self.stated_prior.names.index(checks.choice("overdispersion", given, self.stated_prior.names))
        if given is None:
            return 0.0
        value = checks.positive("overdispersion", given, or_zero=True)
        checks.shape("overdispersion", value, ())
        return float(value)

    def _noise(self) -> complex | Function:
        noise = self.noise
        if callable(noise):
            return noise
        if isinstance(noise, str):
            return self.stated_prior.names.index(checks.choice("noise", noise, (*self.stated_prior.names, *FAMILIES)))
        if noise is None:
            raise ValueError(
                "noise must be given with model: a standard deviation, a function (parameters, X) of it, the name of "
                'the parameter that holds it, or "poisson" or "binomial" for counts.'
            )
        if isinstance(noise, (complex, np.complexfloating)):  # of real parts and of imaginary parts
            checks.positive("noise", [noise.real, noise.imag])
            return complex(noise)
        value = checks.positive("noise", noise)
        checks.shape("noise", value, ())
        return float(value)

    @cached_property
    def interval(self) -> tuple[float, float] | None:
        """Between which a continuous outcome of a stated likelihood lies."""
        if not isinstance(self.outcomes, tuple):
            return None
        found = checks.finite("outcomes", self.outcomes)
        if found.shape != (2,) or not found[0] < found[1]:
            raise ValueError(
                "outcomes must be a list of two or more different values, or a tuple (low, high) between which a "
                f"continuous outcome lies, got {self.outcomes!r}."
            )
        return float(found[0]), float(found[1])
