"""Belief about a rate over time or space:  y(x) ~ Poisson(exposure rate(f(x))),    f ~ GP(m, k)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from scipy.special import ndtri
from sklearn.base import clone
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel

from adaptive import checks
from adaptive.estimators.counts.constant_rate import ConstantRate
from adaptive.estimators.counts.exposure import CountRows, Exposed, check_column, exposed
from adaptive.estimators.counts.regression_belief import BROAD, RATES, inverse_rate, typical_change
from adaptive.estimators.gaussian_process.evidence import Evidence  # house: a Cox process is one
from adaptive.estimators.gaussian_process.hyperparameters import (  # house: a Cox process is one
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
from adaptive.estimators.gaussian_process.settings import (  # house: a Cox process is one
    ProcessSettings,
)
from adaptive.estimators.searches import due, highest
from adaptive.inference.compatibility import refusal
from adaptive.means import as_mean
from adaptive.potentials import Poisson
from adaptive.potentials.negative_binomial import NegativeBinomial
from adaptive.potentials.overdispersed_poisson import OverdispersedPoisson
from adaptive.predictive import GaussianProjections

if TYPE_CHECKING:
    from collections.abc import Callable

    from sklearn.gaussian_process.kernels import Kernel

    from adaptive.inference import Posterior
    from adaptive.means import Mean
    from adaptive.types import Inputs, Number, RandomState, State

__all__ = ["CoxBelief", "CoxSettings"]

SHARES = (1 / 10, 1 / 30, 1 / 3)  # of the range of the inputs: where the search for the length scale starts
BOUNDS = (1e-3, 1e2)  # of the length scale, in ranges
HEIGHTS = (1e-4, 1e4)  # bounds of the kernel's height, in typical variances
NOISE, NOISES = 0.05, (1e-6, 10.0)  # variance between counts of one place where searches start, bounds; in these, too
OVERDISPERSION = 0.1  # of counts, before any, and where searches start
LEAST_NOISE = 1e-4  # typical variances: with less all counts of a place have one rate

TINY = 1e-100  # a column that changes by less does not: squares of it would vanish


@dataclass(frozen=True, eq=False)
class CoxSettings(ProcessSettings):
    """Parameters of :class:`~adaptive.CoxProcess`, under the same names."""

    rate: str = "rectified"
    overdispersion: float | str | None = None
    exposure: int | str | None = None
    inference: str | Callable[..., Posterior] | None = "expectation_propagation"
    max_iter: int = 100

    def check(self) -> None:
        """Refuse what is wrong in one sentence."""
        super().check()
        checks.choice("rate", self.rate, RATES)
        checks.integer("max_iter", self.max_iter, minimum=1)
        check_column(self.exposure)
        self.check_engine()
        self._check_overdispersion()
        if isinstance(self.inference, str):
            sentence = refusal(Poisson([1.0], self.rate), self.inference)
            if sentence is not None:
                raise ValueError(sentence)

    def _check_overdispersion(self) -> None:
        given = self.overdispersion
        if given is None:
            return
        if isinstance(given, str):
            if given != "learnt":
                raise ValueError(f'overdispersion must be a number >= 0, "learnt" or None, got {given!r}.')
        elif np.ndim(checks.positive("overdispersion", given, or_zero=True)):
            raise ValueError(f'overdispersion must be a number >= 0, "learnt" or None, got shape {np.shape(given)}.')
        if self.rate != "exp":
            raise ValueError(
                'overdispersion goes with rate="exp", under which negative binomial counts are log-concave, '
                f"got rate={self.rate!r}."
            )

    @property
    def learns_overdispersion(self) -> bool:
        """True where it is a parameter of the evidence."""
        return isinstance(self.overdispersion, str)

    def spread(self, scale: float = OVERDISPERSION) -> float:
        """The counts' overdispersion, which ``scale`` is where it is learnt; 0 of Poisson's."""
        return scale if isinstance(self.overdispersion, str) else float(self.overdispersion or 0.0)

    def family(self, exposure: Number, spread: float) -> Poisson | NegativeBinomial:
        """Counts of one mean each."""
        if not spread:
            return Poisson(rate=self.rate, exposure=exposure)
        return NegativeBinomial(overdispersion=spread, exposure=exposure)

    def prior_mean(self, rate: float) -> Mean:
        """The mean function before any fit: the place of the typical rate, unless one is given."""
        return as_mean(inverse_rate(self.rate, rate) if self.mean is None else self.mean)

    @property
    def tells_bounds(self) -> bool:
        """True: a rate that is flat is worth a word, whoever chose the bounds."""
        return True

    def kernels(self, X: np.ndarray, rate: float, repeated: bool = False) -> list[Kernel]:
        """Kernels at which searches start: the given kernel, or one of every share of the range.

        Where places are ``repeated`` counts may tell that their rate differs from one time to the next.
        """
        if self.kernel is not None:
            if self.overdispersion is not None and len(X) and white_noise(self.kernel, X) > 0:
                raise ValueError(
                    "overdispersion and white noise in the kernel both say that counts of one place vary more than "
                    "Poisson's; leave one of the two out."
                )
            return [clone(self.kernel)]
        ranges = np.ptp(X, axis=0) if len(X) else np.ones(X.shape[1])
        ranges = np.where(ranges > TINY, ranges, 1.0)
        ranges = ranges if len(ranges) > 1 else float(ranges[0])
        variance = typical_change(self.rate, rate) ** 2
        bounds = np.multiply.outer(ranges, BOUNDS)
        height = ConstantKernel(0.5 * variance, (HEIGHTS[0] * variance, HEIGHTS[1] * variance))
        kernels = [height * RBF(share * ranges, bounds) for share in SHARES]
        if not repeated or self.rank is not None or self.overdispersion is not None:  # white noise has no low rank
            return kernels
        low, high = NOISES
        return [kernel + WhiteKernel(NOISE * variance, (low * variance, high * variance)) for kernel in kernels]

    def potential(self, y: np.ndarray, exposure: Number, scale: float = OVERDISPERSION) -> Poisson | NegativeBinomial:
        """The potentials of counts; where their overdispersion is learnt it is ``scale``."""
        return self.family(exposure, self.spread(scale)).observe(y)

    def problems(self, data: CountRows) -> list[Evidence]:
        """The evidence of the counts at every start."""
        given, rate = data.exposed, data.mean_rate
        repeated = _repeated(given.rows)
        observed = partial(self.potential, data.y, given.exposure)
        return [
            Evidence(
                kernel,
                self.prior_mean(rate).prepared(given.rows),
                given.rows,
                [observed],
                self.engine(self.inference, self.max_iter),
                log_scale=float(np.log(OVERDISPERSION)) if self.learns_overdispersion else None,
                low_rank=self.approximation(),
            )
            for kernel in self.kernels(given.rows, rate, repeated)
        ]


def _repeated(X: np.ndarray) -> bool:
    """True where a place was counted at more than once."""
    return len(np.unique(X, axis=0)) < len(X)


@dataclass(frozen=True, eq=False)
class CoxBelief(ProcessBelief):
    """One process; `ProcessBelief` says the rest."""

    settings: CoxSettings
    data: CountRows | None

    @classmethod
    def learnt(cls, settings: CoxSettings, data: CountRows, earlier: CoxBelief | None = None) -> CoxBelief:
        """Learn hyper-parameters: from those of an ``earlier`` belief and, where that is due, from all starts."""
        rows, problems = len(data), settings.problems(data)
        if not data.y.any():  # of no event at all nothing is learnt: the evidence grows as the mean falls, for ever
            evidence, processes = inferred(settings, problems[0], False)
            return cls(settings, data, [evidence], processes, 0)
        if earlier is None or not earlier.learnt_rows:
            evidence, processes = _from_all_starts(settings, problems)
            return cls(settings, data, [evidence], processes, rows)
        if problems[0].kernel.n_dims != earlier.evidences[0].kernel.n_dims:  # the first place is counted at again
            evidence, processes = _from_all_starts(settings, problems)
            return cls(settings, data, [evidence], processes, rows)
        near = problems[0].at(earlier.evidences[0].theta)
        near.warm = earlier.evidences[0].warm
        searches, searched_rows = [lambda: learnt(settings, near, near, False)], earlier.learnt_rows
        if len(near.theta) and _due(earlier, data):
            searches, searched_rows = [lambda: _from_all_starts(settings, problems), *searches], rows
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

    def intensity(self, X: np.ndarray, level: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Mean, lower and upper end (m,) of the rate at X per unit of exposure."""
        if not 0.0 < level < 1.0:
            raise ValueError(f"level must lie between 0 and 1, got {level!r}.")
        mean, variance = self.process.moments(X)
        family = self.family(1.0)
        reach = ndtri(0.5 * (1.0 + level)) * np.sqrt(variance)
        return family.expected_rate(mean, variance), family.mean_rate(mean - reach), family.mean_rate(mean + reach)

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
        X = given.rows
        process = LatentProcess(settings.kernels(X, 1.0)[0], settings.prior_mean(1.0).prepared(X), X)
        return _predictive(process, partial(settings.family, spread=settings.spread()), given, target, random_state)

    def state(self) -> State:
        """Plain data from which ``from_state`` makes this belief again, to the last bit."""
        return {"learnt_rows": self.learnt_rows, **evidence_state(self.evidences[0], self.processes)}

    @classmethod
    def from_state(cls, settings: CoxSettings, data: CountRows, state: State) -> CoxBelief:
        """The belief that ``state`` described."""
        evidence, processes = restored(settings.problems(data)[0], state)
        return cls(settings, data, [evidence], processes, int(state["learnt_rows"]))


Found: TypeAlias = "tuple[Evidence, list[LatentProcess]]"
Family: TypeAlias = "Poisson | NegativeBinomial | OverdispersedPoisson"


def _due(earlier: CoxBelief, data: CountRows) -> bool:
    """True where hyper-parameters are to be sought from all starts again."""
    assert earlier.data is not None
    first = len(earlier.data)
    given = exposed(data.X[first:], data.column)
    return due(len(data), earlier.learnt_rows, lambda: earlier.predictive(given), data.y[first:])


def _from_all_starts(settings: CoxSettings, starts: list[Evidence]) -> Found:
    """The best of searches from every start; where these are our own they are rough, and the best one goes on."""
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


def _evidence(found: Found) -> float:
    return found[1][0].posterior.log_evidence


@dataclass(frozen=True)
class UncertainMean(LatentProcess):
    """The belief about a process f and a constant  b ~ N(0, s^2)  that is added to it and was learnt,

        r(x) = 1 - k(x, X) C 1,    v = 1 / (1 / s^2 + 1' C 1),    C and alpha those of f's sites
        E (f + b)(x) = E f(x) + r(x) v 1' alpha,    Cov((f + b)(x), (f + b)(z)) = Cov(f(x), f(z)) + v r(x) r(z)

    Where the evidence is largest in the mean 1' alpha is 0, and only the variance is more. Without it a rate that
    hardly changes, whose kernel comes out flat, would seem to be known exactly.

    Attributes
    ----------
    without : LatentProcess
        The function, after inference.
    variance : float
        s^2, of the constant before.

    References
    ----------
    Rasmussen and Williams (2006), section 2.7, at the sites of an approximate posterior.
    """

    without: Any = None
    variance: float = 1.0

    @classmethod
    def of(cls, process: LatentProcess, variance: float) -> UncertainMean:
        """Beside a process that was learnt."""
        return cls(process.kernel, process.mean, process.X, process.posterior, process.noise, process, variance)

    @cached_property
    def _constant(self) -> tuple[np.ndarray, float, float]:
        """C 1 (n,), mean and variance of b."""
        slope, weights = self.without.of_constant()
        variance = 1.0 / (1.0 / self.variance + float(np.sum(weights)))
        return weights, variance * float(np.sum(slope)), variance

    def _left(self, X: Inputs) -> np.ndarray:
        """r(x) (m,): how far the function does not make up for a change of the constant."""
        return 1.0 - self.without.along(X, self._constant[0])

    def moments(self, X: Inputs) -> tuple[np.ndarray, np.ndarray]:
        mean, variance = self.without.moments(X)
        left, (_, shift, added) = self._left(X), self._constant
        return mean + shift * left, variance + added * left**2

    def covariance(self, X: Inputs, Z: Inputs) -> np.ndarray:
        left = self._left(X)
        right = left if Z is X else self._left(Z)
        return self.without.covariance(X, Z) + self._constant[2] * np.outer(left, right)


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
