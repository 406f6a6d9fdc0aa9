"""Belief about a censored stream of pairs: both factors, and how often each user and item is chosen."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from adaptive import checks
from adaptive.estimators.belief import FromPrior, Traced
from adaptive.estimators.pairs.columns import FactorSettings, rows_of
from adaptive.estimators.pairs.inference.censored import (
    CONCENTRATION,
    WARM_UP,
    Censored,
    Graph,
    climb_censored,
    started_censored,
    swept,
)
from adaptive.estimators.pairs.inference.pace import Pace, said_once
from adaptive.estimators.pairs.inference.rounds import Factor, Factors
from adaptive.estimators.pairs.symbols.kept_odds import KeptOdds
from adaptive.estimators.pairs.symbols.predictive import OddsPredictive
from adaptive.estimators.pairs.symbols.stream import PairStream
from adaptive.estimators.searches import highest

if TYPE_CHECKING:
    from adaptive.estimators.pairs.columns import Columns
    from adaptive.types import RandomState, State

__all__ = ["PairsBelief", "PairsSettings"]

SELECTIONS = ("full", "constant")
LOCAL_SWEEPS = 2
NOTHING = 0.05  # log odds: where products are smaller than this in the mean square, components say nothing


@dataclass(frozen=True, eq=False)
class PairsSettings(FactorSettings):
    """Parameters of :class:`~adaptive.PairedSymbols`, under the same names."""

    n_components: int = 20
    censored_ratio: float = 4.0
    selection: str = "constant"
    user_precision: float | None = 1.0
    item_precision: float | None = 1.0
    bias_precision: float | None = 1.0
    tol: float = 3e-3

    def check(self) -> None:
        """Refuse what is wrong in one sentence."""
        super().check()
        checks.positive("censored_ratio", self.censored_ratio, or_zero=True)
        checks.choice("selection", self.selection, SELECTIONS)
        for name in ("user_precision", "item_precision", "bias_precision"):
            if getattr(self, name) is not None:
                checks.positive(name, getattr(self, name))

    @property
    def precisions(self) -> tuple[float, float, float]:
        """Given, or 1, where those that are fitted begin."""
        given = (self.user_precision, self.item_precision, self.bias_precision)
        users, items, biases = (1.0 if one is None else float(one) for one in given)
        return users, items, biases

    @property
    def learns(self) -> tuple[bool, bool, bool]:
        """Which precisions the bound says."""
        return self.user_precision is None, self.item_precision is None, self.bias_precision is None and self.fit_bias

    def work(self, graph: Graph) -> float:
        """Numbers that a sweep visits."""
        return float(self.n_components + 2) * (len(graph.counts) + sum(graph.lengths))

    def started(self, lengths: tuple[int, int], rng: np.random.Generator | None) -> Censored:
        """A start, or without a generator the prior."""
        return started_censored(lengths, self.n_components, self.precisions, bool(self.fit_bias), rng)


@dataclass(frozen=True, eq=False)
class PairsBelief(FromPrior, Traced):
    """Both factors.

    Attributes
    ----------
    settings : PairsSettings
    data : PairStream
    posterior : Censored
    seed : int
        Of the starts.
    pace : Pace
        Answers that wait for sweeps over everything.
    """

    settings: PairsSettings
    data: PairStream
    posterior: Censored
    seed: int = 0
    pace: Pace = field(default_factory=Pace)

    def __post_init__(self) -> None:
        _ = self.data.positions  # made once, when fitting, and not when something is first asked

    @classmethod
    def learnt(cls, settings: PairsSettings, data: PairStream, earlier: PairsBelief | None = None) -> PairsBelief:
        """Fit the best of ``n_init`` starts; or go on from ``earlier``: rows touched first, then all, at its pace."""
        if earlier is not None:
            return earlier._after(settings, data)
        seed = settings.seed()
        best = _searched(settings, data.graph, seed)
        if all(settings.learns[:2]) and _says_nothing(best.factors, settings.n_components):
            _warn_of_nothing()
        return cls(settings, data, best, seed, Pace.begun(data.told))

    def _after(self, settings: PairsSettings, data: PairStream) -> PairsBelief:
        """Rows touched; then sweeps over everything from there, and from the start, where they are due."""
        near, pace, graph = self._locally(settings, data), self.pace.after(data.told), data.graph
        work = settings.work(graph)
        if not pace.sweeps(work):
            return PairsBelief(settings, data, near, self.seed, pace)
        searches, pace_after = [lambda: _climbed(settings, graph, near, 0)], pace.swept()
        if pace.searches(work):
            searches = [lambda: _searched(settings, graph, self.seed), *searches]
            pace_after = Pace.begun(data.weight)
        with said_once(self.posterior.factors.converged):
            best = highest(searches, lambda one: one.factors.bound, apart=settings.tol * graph.n_pairs)
        had, k = self.posterior.factors, settings.n_components
        if all(settings.learns[:2]) and _says_nothing(best.factors, k) and not _says_nothing(had, k):
            _warn_of_nothing()
        return PairsBelief(settings, data, best, self.seed, pace_after)

    def _locally(self, settings: PairsSettings, data: PairStream) -> Censored:
        """Two sweeps over the rows touched; pairs that were shown say nothing of who is chosen how often."""
        graph, threads = data.graph, settings.threads
        n_censored = float(settings.censored_ratio) * graph.total
        now = self._extended(data.lengths)
        for _ in range(LOCAL_SWEEPS):
            if data.streamed:
                constant = settings.selection == "constant"
                now = swept(graph, now, n_censored, constant=constant, rows=data.touched, n_jobs=threads)
            else:
                for side in (0, 1):
                    now = now.solved(graph, side, n_censored, rows=data.touched[side])
        return now.counted(graph, n_censored)

    def _extended(self, lengths: tuple[int, int]) -> Censored:
        """The posterior with as many rows, the new ones at the prior and as likely to be chosen as the mean one."""
        now, both = self.posterior, []
        for weights, n in zip(now.selection, lengths, strict=True):
            longer = np.concatenate([weights, np.full(n - len(weights), 1.0 / n)])
            both.append(weights if n == len(weights) else longer / longer.sum())
        return replace(now, factors=self.with_rows(lengths), selection=(both[0], both[1]))

    def with_rows(self, lengths: tuple[int, int]) -> Factors:
        """The factors with as many rows, the new ones at the prior."""
        factors = self.posterior.factors
        users, items = (side.with_rows(n, False) for side, n in zip(factors.sides, lengths, strict=True))
        return replace(factors, sides=(users, items))

    def located(self, users: np.ndarray, items: np.ndarray) -> tuple[Factors, np.ndarray, np.ndarray]:
        """The factors with rows at the prior for ids never seen, and the rows of these ids."""
        rows, lengths = rows_of((users, items), self.data.positions)
        return self.with_rows(lengths), rows[0], rows[1]

    @cached_property
    def kept_odds(self) -> KeptOdds | None:
        """Map of odds where censored pairs were spread whatever these are; None where odds place them."""
        stream = self.data.graph.total
        if self.settings.selection != "constant" or stream * self.settings.censored_ratio == 0.0:
            return None
        return KeptOdds(stream, self.data.weight - stream, float(self.settings.censored_ratio))

    def popularity(self, items: np.ndarray) -> np.ndarray:
        """E psi of rows of items, as a share of those known; one beyond these has the prior's count."""
        counts = self.posterior.dirichlet[1]
        known = np.concatenate([counts, [CONCENTRATION]])
        return known[np.minimum(items, len(counts))] / counts.sum()

    def predictive(
        self, pairs: Columns, *, target: Columns | None = None, random_state: RandomState = None
    ) -> OddsPredictive:
        """Predictive of pairs of ids."""
        m = len(pairs[0])
        if target is None:
            factors, *rows = self.located(*pairs)
            return OddsPredictive(factors, (rows[0], rows[1]), pairs, random_state=random_state)
        if not len(target[0]):
            raise ValueError("target must hold at least one pair, got none.")
        # one of text beside numbers would turn these into text
        both = [
            np.array([*one.tolist(), *other.tolist()], dtype=object) for one, other in zip(pairs, target, strict=True)
        ]
        factors, *rows = self.located(both[0], both[1])
        about = (rows[0][m:], rows[1][m:]), (target[0], target[1])
        return OddsPredictive(factors, (rows[0][:m], rows[1][:m]), pairs, target=about, random_state=random_state)

    @classmethod
    def prior(cls, settings: PairsSettings) -> PairsBelief:
        """Belief about no pairs: all ids are new."""
        none = np.zeros(0, dtype=np.int64)
        data = PairStream((none, none), (none, none), np.zeros(0), np.zeros(0), np.zeros(0))
        return cls(settings, data, settings.started((0, 0), None))

    evidence_kind = "lower_bound"

    @property
    def log_evidence(self) -> float:
        """The bound after the last sweeps over everything."""
        return self.posterior.factors.bound

    @property
    def trace(self) -> list[float]:
        """Bound after every one of the last sweeps over everything."""
        return self.posterior.factors.trace

    @property
    def converged(self) -> bool:
        """Convergence to ``tol``; not where answers wait for sweeps over everything."""
        return self.posterior.factors.converged and self.pace.waiting == 0.0

    def state(self) -> State:
        """Plain data from which ``from_state`` makes this belief again, to the last bit."""
        factors = self.posterior.factors
        return {
            "sides": [{name: getattr(side, name) for name in PARTS} for side in factors.sides],
            "trace": np.array(factors.trace),
            "converged": factors.converged,
            "selection": list(self.posterior.selection),
            "dirichlet": list(self.posterior.dirichlet),
            "shared": self.posterior.shared,
            "seed": self.seed,
            "pace": self.pace.state(),
        }

    @classmethod
    def from_state(cls, settings: PairsSettings, data: PairStream, state: State) -> PairsBelief:
        """The belief that ``state`` described."""
        users, items = (Factor(**{name: np.asarray(part[name]) for name in PARTS}) for part in state["sides"])
        factors = Factors((users, items), 0.0, [float(value) for value in state["trace"]], bool(state["converged"]))
        s, t = (np.asarray(part) for part in state["selection"])
        pi, psi = (np.asarray(part) for part in state["dirichlet"])
        posterior = Censored(factors, (s, t), (pi, psi), float(state["shared"]))
        return cls(settings, data, posterior, int(state["seed"]), Pace.from_state(state["pace"]))


PARTS = ("mean", "spread", "prior", "variance")


def _climbed(settings: PairsSettings, graph: Graph, start: Censored, warm_up: int) -> Censored:
    return climb_censored(
        graph, start, float(settings.censored_ratio) * graph.total, n_components=settings.n_components,
        learns=settings.learns, constant=settings.selection == "constant", max_iter=settings.max_iter,
        tol=settings.tol, n_jobs=settings.threads, warm_up=warm_up,
    )  # fmt: skip


def _searched(settings: PairsSettings, graph: Graph, seed: int) -> Censored:
    """The best of ``n_init`` starts, the same for the same seed and pairs."""
    rng = np.random.default_rng(seed)
    found = [_climbed(settings, graph, settings.started(graph.lengths, rng), WARM_UP) for _ in range(settings.n_init)]
    return max(found, key=lambda one: one.factors.bound)


def _says_nothing(factors: Factors, k: int) -> bool:
    """Test whether components say nothing: of few pairs the bound is highest without any."""
    if not all(len(side.mean) for side in factors.sides):
        return False
    moments = [side.mean[:, :k].T @ side.mean[:, :k] / len(side.mean) for side in factors.sides]
    return bool(np.sum(moments[0] * moments[1]) < NOTHING**2)  # the mean square of u.v over all pairs


def _warn_of_nothing() -> None:
    warnings.warn(
        "the bound says that components tell nothing about who takes what: there are too few pairs to see it, or "
        "there is nothing to see; user_precision=1.0 and item_precision=1.0 keep them.",
        UserWarning,
        stacklevel=2,
    )
