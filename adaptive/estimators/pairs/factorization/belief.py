"""Belief about counts of pairs:  y ~ Poisson(exp(z.w + b + c + o)),  a Gaussian over every user and item."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from adaptive import checks
from adaptive.estimators.belief import FromPrior, Traced
from adaptive.estimators.pairs.columns import FactorSettings, PairCounts, rows_of
from adaptive.estimators.pairs.factorization.predictive import About, PairPredictive, eta_moments
from adaptive.estimators.pairs.inference.pace import Pace, said_once
from adaptive.estimators.pairs.inference.rounds import KINDS, Entries, Factor, Factors, Kind, climb, solved, started
from adaptive.estimators.scatter import LeftOut, Scatter, Scattering
from adaptive.estimators.searches import highest
from adaptive.potentials import Poisson

if TYPE_CHECKING:
    from adaptive.estimators.pairs.factorization.predictive import Chosen
    from adaptive.types import RandomState, State

__all__ = ["FactorizationBelief", "FactorizationSettings"]

START_VARIANCE = 0.2  # of items, where it is fitted
LOCAL_ROUNDS = 2
FEWEST = 20  # entries of which a dispersion is learnt
LEAST_CHANGE = 1.1  # of a dispersion, for which it pays to fit again
REFITS = 2
LARGEST_LOG_RATE = 34.0
MOST_LEFT_OUT = 4_000  # entries that are predicted without themselves
LARGEST_MEMORY = 8e9  # bytes of a factor


@dataclass(frozen=True, eq=False)
class FactorizationSettings(FactorSettings):
    """Parameters of :class:`~adaptive.PoissonFactorization`, under the same names."""

    inference: str = "mean_field"
    zeros: str = "missing"
    user_variance: float = 1.0
    item_variance: float | None = None
    dispersion: float | str = "auto"

    def check(self) -> None:
        """Refuse what is wrong in one sentence."""
        super().check()
        checks.choice("inference", self.inference, KINDS)
        checks.choice("zeros", self.zeros, ("missing", "observed"))
        checks.positive("user_variance", self.user_variance)
        if self.item_variance is not None:
            checks.positive("item_variance", self.item_variance)
        if self.dispersion != "auto":
            checks.positive("dispersion", self.dispersion)

    @property
    def kind(self) -> Kind:
        """Sides that are points, and those that have covariances."""
        return Kind(self.inference)

    @property
    def started_item_variance(self) -> float:
        """Given, or where the search begins."""
        return START_VARIANCE if self.item_variance is None else float(self.item_variance)

    def check_memory(self, lengths: tuple[int, int]) -> None:
        """Refuse more components than memory holds."""
        k = self.n_components + 2
        wanted = 8.0 * sum(lengths) * k * (k if self.kind.full else 1)
        if wanted > LARGEST_MEMORY:
            instead = ', or inference="mean_field"' if self.kind.full else ""
            raise ValueError(
                f"n_components={self.n_components} of {sum(lengths)} users and items would take {wanted / 1e9:.0f} GB; "
                f"use fewer{instead}."
            )

    def work(self, entries: Entries) -> float:
        """Numbers that a round visits."""
        k = self.n_components + 2
        return float(k ** (3 if self.kind.full else 1)) * (len(entries.y) + sum(entries.lengths))

    def prior(self) -> Factors:
        """Factors without rows."""
        users = _empty(self, 0, float(self.user_variance))
        return Factors((users, _empty(self, 1, self.started_item_variance)), 0.0)


def _empty(settings: FactorizationSettings, side: int, variance: float) -> Factor:
    n, turn = settings.n_components, 1 - 2 * side
    prior = np.concatenate([np.zeros(n), [1.0, 0.0][::turn] if settings.fit_bias else []])
    spread = np.concatenate([np.full(n, variance), [0.0, 1.0][::turn] if settings.fit_bias else []])
    k = len(prior)
    return Factor(np.zeros((0, k)), np.zeros((0, k, k) if settings.kind.full else (0, k)), prior, spread)


def _offset(settings: FactorizationSettings, entries: Entries) -> float:
    """Log of the mean rate, about which biases are."""
    if not settings.fit_bias:
        return 0.0
    y, exposure = entries.y.sum() / entries.dispersion, entries.exposure.sum() / entries.dispersion
    return float(np.log((y + 0.5) / exposure))


def _climbed(settings: FactorizationSettings, entries: Entries, start: Factors) -> Factors:
    learn = settings.n_components if settings.item_variance is None and not settings.kind.points[1] else 0
    return climb(
        entries, start, settings.kind, learn_variance=learn, max_iter=settings.max_iter, tol=settings.tol,
        n_jobs=settings.threads,
    )  # fmt: skip


def _searched(settings: FactorizationSettings, entries: Entries, seed: int) -> Factors:
    """The best of ``n_init`` starts, the same for the same seed and entries."""
    rng = np.random.default_rng(seed)
    found = []
    for _ in range(settings.n_init):
        start = started(
            entries,
            settings.n_components,
            settings.kind,
            user_variance=float(settings.user_variance),
            item_variance=settings.started_item_variance,
            fit_bias=bool(settings.fit_bias),
            offset=_offset(settings, entries),
            rng=rng,
            n_jobs=settings.threads,
        )
        found.append(_climbed(settings, entries, start))
    return max(found, key=lambda factors: factors.bound)


def _from_start(settings: FactorizationSettings, entries: Entries, seed: int) -> tuple[Factors, Entries]:
    """Factors from the best start, and the entries by the dispersion that they were fitted with."""
    if settings.dispersion != "auto":
        entries = entries.dispersed(float(settings.dispersion))
        return _searched(settings, entries, seed), entries
    factors = _searched(settings, entries, seed)
    for _ in range(REFITS if settings.zeros == "missing" else 0):
        found = dispersion_of(factors, entries)
        if found < LEAST_CHANGE * entries.dispersion:
            break
        entries = entries.dispersed(found)
        factors = _searched(settings, entries, seed)
    return factors, entries


def dispersion_of(factors: Factors, entries: Entries) -> float:
    """Return Pearson's statistic over the degrees of freedom that the fit leaves; at least 1.

    phi = sum (y - m)^2 / m / sum (1 - m v / phi_0),    phi_0 that of the fit; 1 unless phi less two standard errors > 1
    """
    mean, variance = eta_moments(factors, *entries.rows)
    if len(mean) < FEWEST or not variance.any():  # points say nothing of their own errors
        return 1.0
    rate = entries.exposure * np.exp(np.minimum(mean + 0.5 * variance, LARGEST_LOG_RATE))
    left = float(np.sum(1.0 - np.minimum(rate * variance / entries.dispersion, 1.0)))
    squares = np.square(entries.y - rate) / rate
    found = float(squares.sum()) / max(left, 1.0)
    error = float(squares.std()) * np.sqrt(len(squares)) / max(left, 1.0)
    return found if found - 2.0 * error > 1.0 else 1.0


@dataclass(frozen=True, eq=False)
class FactorizationBelief(Scattering, FromPrior, Traced):
    """Both factors.

    Attributes
    ----------
    settings : FactorizationSettings
    data : PairCounts
    posterior : Factors
    entries : Entries
    seed : int
        Of the starts.
    pace : Pace
        Answers that wait for rounds over everything.
    """

    settings: FactorizationSettings
    data: PairCounts
    posterior: Factors
    entries: Entries
    seed: int = 0
    pace: Pace = field(default_factory=Pace)

    def __post_init__(self) -> None:
        _ = self.data.positions  # made once, when fitting, and not when something is first asked

    @classmethod
    def learnt(
        cls, settings: FactorizationSettings, data: PairCounts, earlier: FactorizationBelief | None = None
    ) -> FactorizationBelief:
        """Fit the best of ``n_init`` starts; or go on from ``earlier``: rows touched first, then all, at its pace."""
        settings.check_memory(data.lengths)
        entries = data.entries(settings.zeros)
        if earlier is not None:
            return earlier._after(settings, data, entries)
        seed = settings.seed()
        return cls(settings, data, *_from_start(settings, entries, seed), seed, Pace.begun(len(data)))

    def _after(self, settings: FactorizationSettings, data: PairCounts, entries: Entries) -> FactorizationBelief:
        """Rows touched; then rounds over everything from there, and from the start, where they are due.

        The dispersion is learnt anew where the start is tried; another one leaves nothing to compare bounds with.
        """
        plain, entries = entries, entries.dispersed(self.entries.dispersion)
        near, pace = self._locally(data, entries), self.pace.after(len(data) - len(self.data))
        work = settings.work(entries)
        if not pace.sweeps(work):
            return FactorizationBelief(settings, data, near, entries, self.seed, pace)
        near = replace(near, offset=_offset(settings, entries), trace=[])
        searches, pace_after = [lambda: (_climbed(settings, entries, near), entries)], pace.swept()
        if pace.searches(work):
            searches = [lambda: _from_start(settings, plain, self.seed), *searches]
            pace_after = Pace.begun(len(data))

        def worth(found: tuple[Factors, Entries]) -> float:
            return found[0].bound if found[1].dispersion == entries.dispersion else np.inf

        with said_once(self.posterior.converged):
            best = highest(searches, worth, apart=settings.tol * entries.n_counted)
        return FactorizationBelief(settings, data, *best, self.seed, pace_after)

    def _locally(self, data: PairCounts, entries: Entries) -> Factors:
        kind, new = self.settings.kind, slice(len(self.data), None)
        factors = self.extended(data.lengths)
        for _ in range(LOCAL_ROUNDS):
            for side in (0, 1):
                touched = np.unique(data.rows[side][new]).tolist()
                own, _ = solved(entries, factors, side, kind, rows=touched, steps=30)
                sides = (own, factors.sides[1]) if side == 0 else (factors.sides[0], own)
                factors = replace(factors, sides=sides)
        return factors

    @cached_property
    def scatter(self) -> Scatter | None:  # type: ignore[override]
        """Scatter of counts about these factors, by entries without themselves; a site is e^eta's expectation."""
        if self.settings.zeros == "observed":  # entries are those that are not 0: no sample
            return None
        entries = self.entries
        at = np.arange(len(entries.y))[:: 1 + len(entries.y) // MOST_LEFT_OUT]
        y, exposure = entries.y[at], entries.exposure[at]
        mean, variance = eta_moments(self.posterior, entries.rows[0][at], entries.rows[1][at])
        with np.errstate(over="ignore"):
            rate = exposure * np.exp(mean + 0.5 * variance)
            sites = rate / entries.dispersion, (y - rate + rate * mean) / entries.dispersion
        rows = LeftOut.of(lambda known: Poisson(y[known], "exp", exposure[known]), (mean, variance), sites)
        return None if rows is None else rows.narrowed()

    def extended(self, lengths: tuple[int, int]) -> Factors:
        """The factors with as many rows, the new ones at the prior."""
        points = self.settings.kind.points
        users, items = (side.with_rows(n, p) for side, n, p in zip(self.posterior.sides, lengths, points, strict=True))
        return replace(self.posterior, sides=(users, items))

    def located(self, users: np.ndarray, items: np.ndarray) -> tuple[Factors, np.ndarray, np.ndarray]:
        """The factors with rows at the prior for ids never seen, and the rows of these ids."""
        rows, lengths = rows_of((users, items), self.data.positions)
        return self.extended(lengths), rows[0], rows[1]

    def predictive(
        self, pairs: tuple[np.ndarray, np.ndarray], *, target: Chosen = None, random_state: RandomState = None
    ) -> PairPredictive:
        """Predictive of pairs of ids."""
        about = About.of(target, self.data.positions)
        factors, users, items = self.located(*pairs)
        return PairPredictive(
            factors, self.entries, users, items, self.settings.kind, about=about, random_state=random_state
        )

    @classmethod
    def prior(cls, settings: FactorizationSettings) -> FactorizationBelief:
        """Belief about no pairs: all ids are new."""
        none = np.zeros(0, dtype=np.int64)
        data = PairCounts((none, none), (none, none), np.zeros(0))
        return cls(settings, data, settings.prior(), Entries((none, none), np.zeros(0), np.zeros(0), (0, 0)))

    @property
    def log_evidence(self) -> float:
        """The bound after the last rounds over everything; not of points."""
        return self.posterior.bound if self.evidence_kind == "lower_bound" else float("nan")

    @property
    def evidence_kind(self) -> str:
        """A bound where both factors are integrated out."""
        return "none" if any(self.settings.kind.points) else "lower_bound"

    @property
    def trace(self) -> list[float]:
        """Objective after every one of the last rounds over everything."""
        return self.posterior.trace

    @property
    def converged(self) -> bool:
        """Convergence to ``tol``; not where answers wait for rounds over everything."""
        return self.posterior.converged and self.pace.waiting == 0.0

    def state(self) -> State:
        """Plain data from which ``from_state`` makes this belief again, to the last bit."""
        parts = ("mean", "spread", "prior", "variance")
        return {
            "sides": [{name: getattr(side, name) for name in parts} for side in self.posterior.sides],
            "offset": self.posterior.offset,
            "trace": np.array(self.posterior.trace),
            "converged": self.posterior.converged,
            "seed": self.seed,
            "dispersion": self.entries.dispersion,
            "pace": self.pace.state(),
        }

    @classmethod
    def from_state(cls, settings: FactorizationSettings, data: PairCounts, state: State) -> FactorizationBelief:
        """The belief that ``state`` described."""
        users, items = (Factor(**{name: np.asarray(part[name]) for name in part}) for part in state["sides"])
        trace = [float(value) for value in state["trace"]]
        factors = Factors((users, items), float(state["offset"]), trace, bool(state["converged"]))
        entries = data.entries(settings.zeros).dispersed(float(state["dispersion"]))
        pace = Pace.from_state(state["pace"])
        return cls(settings, data, factors, entries, int(state["seed"]), pace)
