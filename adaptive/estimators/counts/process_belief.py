"""Belief about a rate over time or space:  y(x) ~ Poisson(exposure rate(f(x))),    f ~ GP(m, k)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from adaptive.estimators.counts.constant_rate import ConstantRate
from adaptive.estimators.counts.cox_settings import CoxSettings
from adaptive.estimators.counts.exposure import CountRows, Exposed, exposed
from adaptive.estimators.counts.possible_processes import Possible, factor_of, possible
from adaptive.estimators.counts.regression_belief import BROAD, typical_change
from adaptive.estimators.counts.uncertain_mean import UncertainMean
from adaptive.estimators.gaussian_process.evidence import Evidence  # house: a Cox process is one
from adaptive.estimators.gaussian_process.hyperparameters import (  # house: a Cox process is one
    FOLLOW,
    ROUGH,
    optimised,
)
from adaptive.estimators.gaussian_process.latent_process import (  # house: a Cox process is one
    LatentProcess,
)
from adaptive.estimators.gaussian_process.low_rank import white_noise  # house: a Cox process is one
from adaptive.estimators.gaussian_process.process_belief import (  # house: a Cox process is one
    ProcessBelief,
    bounds_of,
    evidence_state,
    inferred,
    learnt,
    restored,
)
from adaptive.estimators.intervals import mixture_interval
from adaptive.estimators.searches import due, highest
from adaptive.estimators.variance_factor import tell_alarm
from adaptive.potentials import Poisson
from adaptive.potentials.negative_binomial import NegativeBinomial
from adaptive.potentials.overdispersed_poisson import OverdispersedPoisson
from adaptive.predictive import GaussianProjections

if TYPE_CHECKING:
    from collections.abc import Callable

    from adaptive.estimators.variance_factor import VarianceFactor
    from adaptive.types import Number, RandomState, State

__all__ = ["CoxBelief"]

LEAST_NOISE = 1e-4  # typical variances: with less all counts of a place have one rate


@dataclass(frozen=True, eq=False)
class CoxBelief(ProcessBelief):
    """One process; `ProcessBelief` says the rest."""

    settings: CoxSettings
    data: CountRows | None
    others: tuple[CoxBelief, ...] = ()

    @classmethod
    def learnt(cls, settings: CoxSettings, data: CountRows, earlier: CoxBelief | None = None) -> CoxBelief:
        """Learn what the settings leave open, and choose what predicts counts without themselves best.

        Every learnt parameter takes a nat off, as in Akaike's criterion: it knew the counts. What was not chosen is
        kept, to go on from.
        """
        before = {} if earlier is None else {one.settings.overdispersed: one for one in (earlier, *earlier.others)}
        found: list[CoxBelief] = []
        for one in settings.alternatives(data):
            near = found[0]._lengths if found else None
            found.append(cls._learnt(one, data, before.get(one.overdispersed), near))
        best = int(np.argmax([one._worth for one in found])) if len(found) > 1 else 0
        return replace(found[best], others=tuple(one for k, one in enumerate(found) if k != best))

    @property
    def _worth(self) -> float:
        """Nats of counts without themselves, less one for each parameter."""
        left_out = self.left_out
        return -np.inf if left_out is None else float(left_out.log_score.sum()) - len(self.evidences[0].theta)

    @property
    def overdispersion_gain(self) -> float | None:
        """Nats a count without itself by which negative binomial counts are ahead of Poisson's, a parameter a nat."""
        if not self.others:
            return None
        ahead = (self._worth - self.others[0]._worth) / len(self.data)  # type: ignore[arg-type]
        return ahead if self.settings.overdispersed else -ahead

    @property
    def _lengths(self) -> np.ndarray | None:
        """Those of our own kernel."""
        if self.settings.kernel is not None:
            return None
        parts = self.evidences[0].kernel.get_params()
        return np.asarray(next(value for name, value in sorted(parts.items()) if name.endswith("length_scale")))

    @classmethod
    def _learnt(
        cls, settings: CoxSettings, data: CountRows, earlier: CoxBelief | None, near: np.ndarray | None
    ) -> CoxBelief:
        """Learn hyper-parameters: from those of an ``earlier`` belief and, where that is due, from all starts."""
        rows, problems = len(data), settings.problems(data, near)
        if not data.y.any():  # of no event at all nothing is learnt: the evidence grows as the mean falls, for ever
            evidence, processes = inferred(settings, problems[0], False)
            return cls(settings, data, [evidence], processes, 0)
        if earlier is None or not earlier.learnt_rows:
            evidence, processes = _from_all_starts(settings, problems, near is not None)
            return cls(settings, data, [evidence], processes, rows)
        if problems[0].kernel.n_dims != earlier.evidences[0].kernel.n_dims:  # the first place is counted at again
            evidence, processes = _from_all_starts(settings, problems, near is not None)
            return cls(settings, data, [evidence], processes, rows)
        start = problems[0].at(earlier.evidences[0].theta)
        start.warm = earlier.evidences[0].warm
        searches, searched_rows = [lambda: learnt(settings, start, start, False)], earlier.learnt_rows
        if len(start.theta) and _due(earlier, data):
            searches, searched_rows = [lambda: _from_all_starts(settings, problems, near is not None), *searches], rows
        evidence, processes = highest(searches, value=_evidence)
        return cls(settings, data, [evidence], processes, searched_rows)

    @property
    def process(self) -> LatentProcess:
        """The belief about the function, without what differs between counts of one place.

        A constant mean of our own is learnt with an uncertainty, as an intercept.
        """
        process = replace(self.processes[0], noise=self.noise)
        if self.settings.mean is not None or self.settings.optimizer is None:
            return process
        unit = typical_change(self.settings.rate, self.data.mean_rate)  # type: ignore[union-attr]
        return UncertainMean.of(process, (BROAD * unit) ** 2)

    @property
    def noise(self) -> float:
        """Variance, of the function, between counts of one place; 0 where they have one rate."""
        process = self.processes[0]
        found = white_noise(process.kernel, process.X)
        unit = typical_change(self.settings.rate, self.data.mean_rate)  # type: ignore[union-attr]
        return found if found > LEAST_NOISE * unit**2 else 0.0

    @cached_property
    def constant_rate(self) -> ConstantRate | None:
        """One rate for all counts beside this; None where counts are not left out, and of no event."""
        left_out, data = self.left_out, self.data
        if left_out is None or data is None or not data.y.any():
            return None
        exposure = np.broadcast_to(np.asarray(data.exposed.exposure, dtype=float), data.y.shape)
        n_learnt = 0 if self.settings.optimizer is None else len(self.evidences[0].theta)
        evidence = np.nan if self.evidence_kind == "none" else self.log_evidence
        return ConstantRate.beside(left_out.log_score, data.y, exposure, n_learnt, evidence, self.spread)

    @property
    def spread(self) -> float:
        """Overdispersion of the counts about their mean; 0 of Poisson's."""
        return self.settings.spread(self.evidences[0].scale)

    @property
    def overdispersion(self) -> float:
        """That of the counts, or the variance between counts of one place."""
        return self.noise if self.settings.overdispersion is None else self.spread

    def family(self, exposure: Number) -> Family:
        """The family of the outcomes."""
        return _family(self.settings, exposure, self.noise, self.spread)

    def plain(self, exposure: Number) -> Poisson | NegativeBinomial:
        """Counts of one rate each, whose function has ``noise`` more variance."""
        return self.settings.family(exposure, self.spread)

    # -- bands ---------------------------------------------------------------------------------------------------------

    @cached_property
    def possible(self) -> Possible[CoxBelief]:
        """Beliefs that bands mix: all that the counts leave possible, where something was learnt from them."""
        settings, data, evidence = self.settings, self.data, self.evidences[0]
        if data is None or settings.optimizer is None or not self.learnt_rows or not len(evidence.theta):
            return Possible.only(self)

        spread = replace(settings, overdispersion=self.spread or None)

        def believed(at: Evidence) -> CoxBelief:
            return CoxBelief(spread, data, *_single(inferred(settings, at, False)), self.learnt_rows)

        return possible(evidence, settings.problems(data)[0], believed, self)

    @cached_property
    def variance_factor(self) -> VarianceFactor | None:
        """The likeliest factor of the function's variances; None of few counts, or where none are left out."""
        found = None if self.data is None else factor_of(self.evidences[0])
        return None if found is None else found[0]

    def tell_alarm(self) -> None:
        """Warn, of bands, where counts are so far off that the kernel cannot be right."""
        given = self.settings.optimizer is None
        then = "Bands believe the kernel that was given." if given else "Bands take the factors that counts allow."
        then += " Overdispersed counts, or another kernel, suit them better."
        tell_alarm(self.variance_factor, "counts", then, stacklevel=4)

    def parts(self, X: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Weights (g,), means and variances (g, m) of the function at X, with what differs between counts."""
        found = self.possible
        return (found.shares, *found.moments(lambda one: one.process.moments(X), lambda one: one.noise))

    def intensity(self, X: np.ndarray, level: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Mean, lower and upper end (m,) of the rate at X per unit of exposure."""
        family, found = self.family(1.0), self.possible
        low, high = mixture_interval(*found.moments(lambda one: one.process.moments(X)), level, found.shares)
        return family.expected_rate(*self.process.moments(X)), family.mean_rate(low), family.mean_rate(high)

    def intensity_draws(self, X: np.ndarray, n: int, rng: np.random.Generator) -> np.ndarray:
        """Joint draws (n, m) of the rate at X per unit of exposure, from what `intensity` mixes."""
        drawn = self.possible.drawn(
            lambda one: (one.process.moments(X)[0], one.process.covariance(X, X)), n, rng
        )  # fmt: skip
        return np.asarray(self.family(1.0).mean_rate(drawn))

    def predictive(
        self, given: Exposed, *, target: Exposed | None = None, random_state: RandomState = None
    ) -> GaussianProjections:
        """Jointly Gaussian values of the function, and counts over the exposures."""
        return _predictive(self.process, self.family, given, target, random_state)

    @classmethod
    def prior_predictive(
        cls, settings: CoxSettings, given: Exposed, *, target: Exposed | None = None, random_state: RandomState = None
    ) -> GaussianProjections:
        """The predictive of the prior, about a rate of one event per unit of exposure."""
        X, settings = given.rows, settings.resolved()
        process = LatentProcess(settings.kernels(X, 1.0)[0], settings.prior_mean(1.0).prepared(X), X)
        return _predictive(process, partial(settings.family, spread=settings.spread()), given, target, random_state)

    def state(self) -> State:
        """Plain data from which ``from_state`` makes this belief again, to the last bit."""
        return {
            "learnt_rows": self.learnt_rows,
            "overdispersed": self.settings.overdispersed,
            "others": [one.state() for one in self.others],
            **evidence_state(self.evidences[0], self.processes),
        }

    @classmethod
    def from_state(cls, settings: CoxSettings, data: CountRows, state: State) -> CoxBelief:
        """The belief that ``state`` described."""
        own = settings.resolved(bool(state["overdispersed"]))
        evidence, processes = restored(own.problems(data)[0], state)
        others = tuple(cls.from_state(settings, data, one) for one in state["others"])
        return cls(own, data, [evidence], processes, int(state["learnt_rows"]), others)


Found: TypeAlias = "tuple[Evidence, list[LatentProcess]]"
Family: TypeAlias = "Poisson | NegativeBinomial | OverdispersedPoisson"


def _due(earlier: CoxBelief, data: CountRows) -> bool:
    """True where hyper-parameters are to be sought from all starts again."""
    assert earlier.data is not None
    first = len(earlier.data)
    given = exposed(data.X[first:], data.column)
    try:
        return due(len(data), earlier.learnt_rows, lambda: earlier.predictive(given), data.y[first:])
    except ValueError:  # so little is known that counts have no table: anything may be
        return True


def _from_all_starts(settings: CoxSettings, starts: list[Evidence], roughly: bool) -> Found:
    """The best of searches from every start; where these are our own they are rough, and the best one goes on.

    ``roughly``: as tops are followed, beside another model's fit that it began near to.
    """
    if roughly and not callable(settings.optimizer):
        return inferred(settings, starts[0], True, climb=FOLLOW)
    if len(starts) == 1 or callable(settings.optimizer):
        return max((inferred(settings, evidence, True) for evidence in starts), key=_evidence)
    climbed = [_roughly_climbed(settings, evidence) for evidence in starts]
    best = max(climbed, key=lambda evidence: evidence.warm[0].log_evidence)
    return inferred(replace(settings, n_restarts_optimizer=0), best, True)


def _roughly_climbed(settings: CoxSettings, evidence: Evidence) -> Evidence:
    """The evidence about where it is largest, its posterior as exact as comparing starts needs."""
    if settings.optimizer is None:
        return inferred(settings, evidence, False)[0]
    evidence = evidence.with_pivots()
    given = settings.optimizer, settings.n_restarts_optimizer, bounds_of(evidence), settings.random_state
    return optimised(evidence, *given, climb=ROUGH, tells_bounds=settings.tells_bounds)


def _single(found: Found) -> tuple[list[Evidence], list[LatentProcess]]:
    return [found[0]], found[1]


def _evidence(found: Found) -> float:
    return found[1][0].posterior.log_evidence


class CountsOfProcess(GaussianProjections):
    """Counts at places; draws of a process would be others in every chunk of a pool, and are not stated."""

    def _provides(self, name: str) -> bool:
        """Return whether this predictive has a field: all but draws."""
        return name != "draws" and super()._provides(name)


def _family(settings: CoxSettings, exposure: Number, noise: float, spread: float) -> Family:
    if not noise:
        return settings.family(exposure, spread)
    return OverdispersedPoisson(rate=settings.rate, exposure=exposure, noise=noise)


def _predictive(
    process: LatentProcess, family: Callable[[Number], Family], given: Exposed, target: Exposed | None,
    random_state: RandomState,
) -> GaussianProjections:  # fmt: skip
    predictive = process.predictive(
        given.rows,
        family(given.exposure),
        target=None if target is None else target.rows,
        random_state=random_state,
        kind=CountsOfProcess,
    )
    if target is not None:
        predictive._target_likelihood = family(target.exposure)
    return predictive
