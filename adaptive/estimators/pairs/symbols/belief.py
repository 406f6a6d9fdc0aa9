"""Belief about a censored stream of pairs: both factors, and how often each user and item is chosen."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from adaptive import checks
from adaptive.estimators.belief import FromPrior, Traced
from adaptive.estimators.pairs.columns import FactorSettings, rows_of
from adaptive.estimators.pairs.inference.censored import (
    CONCENTRATION,
    Censored,
    climb_censored,
    started_censored,
    swept,
)
from adaptive.estimators.pairs.inference.rounds import Factor, Factors
from adaptive.estimators.pairs.symbols.predictive import OddsPredictive
from adaptive.estimators.pairs.symbols.stream import PairStream

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
    censored_ratio: float = 1.0
    selection: str = "full"
    user_precision: float | None = None
    item_precision: float | None = None
    bias_precision: float | None = None
    tol: float = 1e-5

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
    """

    settings: PairsSettings
    data: PairStream
    posterior: Censored

    def __post_init__(self) -> None:
        _ = self.data.positions  # made once, when fitting, and not when something is first asked

    @classmethod
    def learnt(cls, settings: PairsSettings, data: PairStream, earlier: PairsBelief | None = None) -> PairsBelief:
        """Fit the best of ``n_init`` starts; or solve again the rows that were touched since ``earlier``."""
        if earlier is not None:
            return cls(settings, data, earlier._locally(settings, data))
        graph, rng = data.graph, checks.generator(settings.random_state)
        n_censored = float(settings.censored_ratio) * graph.total
        found = [
            climb_censored(
                graph, settings.started(data.lengths, rng), n_censored, n_components=settings.n_components,
                learns=settings.learns, constant=settings.selection == "constant", max_iter=settings.max_iter,
                tol=settings.tol, n_jobs=settings.threads,
            )
            for _ in range(settings.n_init)
        ]  # fmt: skip
        best = max(found, key=lambda one: one.factors.bound)
        if all(settings.learns[:2]):
            _warn_of_nothing(best.factors, settings.n_components)
        return cls(settings, data, best)

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
        """The bound at the last full fit."""
        return self.posterior.factors.bound

    @property
    def trace(self) -> list[float]:
        """Bound after every sweep of the last full fit."""
        return self.posterior.factors.trace

    @property
    def converged(self) -> bool:
        """Convergence of the last full fit, to ``tol``."""
        return self.posterior.factors.converged

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
        }

    @classmethod
    def from_state(cls, settings: PairsSettings, data: PairStream, state: State) -> PairsBelief:
        """The belief that ``state`` described."""
        users, items = (Factor(**{name: np.asarray(part[name]) for name in PARTS}) for part in state["sides"])
        factors = Factors((users, items), 0.0, [float(value) for value in state["trace"]], bool(state["converged"]))
        s, t = (np.asarray(part) for part in state["selection"])
        pi, psi = (np.asarray(part) for part in state["dirichlet"])
        return cls(settings, data, Censored(factors, (s, t), (pi, psi), float(state["shared"])))


PARTS = ("mean", "spread", "prior", "variance")


def _warn_of_nothing(factors: Factors, k: int) -> None:
    """Say where fitted precisions left no component: of few pairs the bound is highest without any."""
    moments = [side.mean[:, :k].T @ side.mean[:, :k] / len(side.mean) for side in factors.sides]
    if np.sum(moments[0] * moments[1]) < NOTHING**2:  # the mean square of u.v over all pairs
        warnings.warn(
            "the bound says that components tell nothing of who takes what: too few pairs for it to see them, or there "
            "is nothing to see; user_precision=1.0 and item_precision=1.0 keep them.",
            UserWarning,
            stacklevel=2,
        )
