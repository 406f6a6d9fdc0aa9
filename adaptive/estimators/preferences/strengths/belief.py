"""Belief about strengths: Gaussians at several scales, weighted by evidence; joint draws, ranks, what is said next."""

from __future__ import annotations

import zlib
from collections.abc import Hashable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np
from scipy.special import ndtri

from adaptive import checks
from adaptive.estimators.belief import FromPrior
from adaptive.estimators.nodes import NEGLIGIBLE, Nodes, weights_of
from adaptive.estimators.preferences.strengths.comparisons import Asked, ComparisonData
from adaptive.estimators.preferences.strengths.outcomes import chances, tilted
from adaptive.estimators.preferences.strengths.places import OfPlaces, Screened, TopSet, holders_of
from adaptive.estimators.preferences.strengths.propagation import (
    BIAS,
    GRID,
    LOG_PRIOR_OF_SKILL,
    OWN_BIAS,
    Propagated,
    Sites,
    propagate,
)
from adaptive.estimators.preferences.strengths.settings import StrengthSettings, log_prior_of
from adaptive.predictive import WeightedDraws

if TYPE_CHECKING:
    from adaptive.types import Id, RandomState, State

__all__ = ["Draws", "Judge", "StrengthBelief"]

N_DRAWS = 1024  # that candidates are scored by,
PLACES = 16  # at most, by which some of the draws rank candidates
MANY = 64  # items beyond which some of the draws say which few are looked at by all
N_RANKED = 4096  # that ranks are counted in: a probability of .9 has a standard error of .005

Target: TypeAlias = "Asked | int | TopSet | None"


class Judge(NamedTuple):
    """Judge, as is believed.

    Attributes
    ----------
    skill, skill_low, skill_high : float
        Probability that the judge says the winner where another would, and its 90% interval.
    bias, bias_low, bias_high : float
        What the item shown first has ahead, in logits, and its 90% interval.
    comparisons : int
    """

    skill: float
    skill_low: float
    skill_high: float
    bias: float
    bias_low: float
    bias_high: float
    comparisons: int


@dataclass(frozen=True, eq=False)
class AtScale:
    """Belief at one scale of the strengths."""

    scale: float
    found: Propagated

    evidence_kind = "approximation"

    @property
    def posteriors(self) -> list[AtScale]:
        """The only one."""
        return [self]

    @property
    def objective_trace(self) -> np.ndarray:
        """Largest move of a marginal by sweep, in its deviations."""
        return np.array(self.found.trace)

    @property
    def n_iter(self) -> int:
        """Sweeps."""
        return len(self.found.trace)

    @property
    def converged(self) -> bool:
        """True where no marginal moved any more."""
        return self.found.converged

    @property
    def mean_skill(self) -> np.ndarray:
        """(n_judges,) mean skills, as far as they are learnt."""
        return self.found.skill @ GRID


@dataclass(frozen=True, eq=False)
class Draws:
    """Joint draws: strengths of all items (k, n), bias by judge (k, n_judges), tau (k,), skills (k, n_judges)."""

    strengths: np.ndarray
    bias: np.ndarray
    tau: np.ndarray
    skill: np.ndarray


class StrengthBelief(FromPrior, Nodes[StrengthSettings, ComparisonData, AtScale]):
    """Mixture over the scales that count. ``learnt_rows`` are all."""

    @classmethod
    def learnt(
        cls, settings: StrengthSettings, data: ComparisonData, earlier: StrengthBelief | None = None
    ) -> StrengthBelief:
        """Propagate at the scales, outward from the likeliest, until the next one does not count."""
        scales, prior, cells = settings.scales, log_prior_of(settings.scales), data.cells
        latents = settings.latents(len(data.items), data.judges)
        before = {} if earlier is None else {one.scale: one.found.sites for one in earlier.beliefs}
        known = cells if earlier is None else earlier.data.cells
        found: dict[int, AtScale] = {}
        logs = np.full(len(scales), -np.inf)

        def fit(k: int, beside: int | None) -> bool:
            """Find the belief at node k; False: it does not count."""
            scale = float(scales[k])
            if scale in before:
                sites = before[scale].of(known, cells)
            else:
                sites = Sites.none(len(cells)) if beside is None else found[beside].found.sites
            at = latents.at(scale)
            found[k] = AtScale(scale, propagate(at, cells, sites, settings.max_iter, settings.tol))
            logs[k] = found[k].found.log_evidence + prior[k]
            return bool(logs[k] > logs.max() + np.log(NEGLIGIBLE))

        start = int(np.argmin(np.abs(np.log(scales)))) if earlier is None else scales.tolist().index(earlier.best.scale)
        fit(start, None)
        for way in (-1, 1):
            k = start + way
            while 0 <= k < len(scales) and fit(k, k - way):
                k += way
        weights, total = weights_of(logs)
        kept = [k for k in sorted(found) if weights[k] >= NEGLIGIBLE]
        share = weights[kept] / weights[kept].sum()
        return cls(settings, data, [found[k] for k in kept], share, total, len(data))

    @classmethod
    def prior(cls, settings: StrengthSettings) -> StrengthBelief:
        """Belief about no comparisons."""
        return cls.learnt(settings, ComparisonData.about(settings.catalogue[0]))

    @property
    def converged(self) -> bool:
        """True where all have that count for a twentieth or more; with judges the widest may take long."""
        return all(one.converged for one, weight in zip(self.beliefs, self.weights, strict=True) if weight >= 0.05)

    @property
    def posterior(self) -> Propagated:
        """That at the likeliest scale."""
        return self.best.found

    @property
    def scale(self) -> float:
        """Mean deviation of strengths."""
        return float(self.average(lambda one: one.scale))

    # -- draws ---------------------------------------------------------------------------------------------------------

    def draws(self, n: int, seed: int, items: np.ndarray | None = None, judges: np.ndarray | None = None) -> Draws:
        """Joint draws of all items and judges, of which those beyond ours were never seen; known ones are the same
        whatever stands beside them.
        """
        n_items, n_judges = len(self.data.items), len(self.data.judges)
        generator = np.random.default_rng(seed)
        levels = (np.arange(n) + 0.5) / n
        node = np.minimum(np.searchsorted(np.cumsum(self.weights), levels), len(self.weights) - 1)
        normals = generator.standard_normal((n, n_items + n_judges + 2))
        w = np.empty_like(normals)
        skill = np.ones((n, max(n_judges, 1)))
        for k, one in enumerate(self.beliefs):
            own = node == k
            w[own] = one.found.mean + normals[own] @ np.linalg.cholesky(one.found.covariance).T
            if self.settings.judged:
                skill[own, :n_judges] = self._skills(one)
        scale = np.array([one.scale for one in self.beliefs])[node]
        strengths, shared, own_bias = w[:, :n_items], w[:, n_items, None], w[:, n_items + 1 : -1]
        bias = shared + own_bias if n_judges else shared
        if items is not None and len(items) > n_items:
            deviation = np.sqrt(self.settings.own_variance) * scale
            new = [deviation * _normals(seed, one, n) for one in items[n_items:].tolist()]
            strengths = np.column_stack([strengths, *new])
        if judges is not None and len(judges) > n_judges:
            fresh = judges[n_judges:].tolist()
            more = [shared[:, 0] + OWN_BIAS * _normals(seed, ("judge", one), n) for one in fresh]
            bias = np.column_stack([*bias.T[:n_judges], *more])
            trust = [np.full(n, self._stranger(one)) for one in fresh]
            skill = np.column_stack([*skill.T[:n_judges], *trust])
        if not self.settings.position_bias:
            bias = np.zeros_like(bias)
        return Draws(strengths, bias, w[:, -1], skill)

    def _skills(self, one: AtScale) -> np.ndarray:
        given = [self.settings.known_skills.get(name, np.nan) for name in self.data.judges.tolist()]
        known = np.array(given, dtype=float)
        return np.where(np.isnan(known), one.mean_skill, known)

    def _stranger(self, name: Id) -> float:
        """Expected skill of a judge who has not said anything yet."""
        return float(self.settings.known_skills.get(name, np.exp(LOG_PRIOR_OF_SKILL) @ GRID))

    @cached_property
    def ranked(self) -> np.ndarray:
        """(draws, n) items by draw, the best first."""
        return np.argsort(-self.draws(N_RANKED, 0).strengths, axis=1, kind="stable")

    def first(self, k: int, ordered: bool = True) -> tuple[np.ndarray, float]:
        """The likeliest order of the best k, or set of them, as positions, and its probability."""
        best = self.ranked[:, :k] if ordered else np.sort(self.ranked[:, :k], axis=1)
        orders, counts = np.unique(best, axis=0, return_counts=True)
        return orders[np.argmax(counts)], float(counts.max()) / N_RANKED

    # -- what is believed ----------------------------------------------------------------------------------------------

    def strengths(self) -> tuple[np.ndarray, np.ndarray]:
        """Mean (n,) and covariance (n, n) of the strengths, of all scales together."""
        n = len(self.data.items)
        mean = self.average(lambda one: one.found.mean[:n])
        return mean, self.average(
            lambda one: one.found.covariance[:n, :n] + np.outer(one.found.mean[:n] - mean, one.found.mean[:n] - mean)
        )

    def judges(self) -> dict[Id, Judge]:
        """Everybody who has judged."""
        found, n = {}, len(self.data.items)
        table = self.average(lambda one: one.found.skill) if self.settings.judged else np.zeros((0, len(GRID)))
        for k, name in enumerate(self.data.judges.tolist()):
            given = self.settings.known_skills.get(name)
            low, high = (GRID[np.searchsorted(np.cumsum(table[k]), level)] for level in (0.05, 0.95))
            skill = (float(table[k] @ GRID), float(low), float(high)) if given is None else (float(given),) * 3
            bias = self._bias(np.array([n, n + 1 + k]))
            found[name] = Judge(*skill, *bias, int(np.count_nonzero(self.data.rows[:, 2] == k)))
        return found

    @property
    def position_bias(self) -> tuple[float, float, float]:
        """Advantage of the item shown first, in logits, whoever judges, and its 90% interval."""
        return self._bias(np.array([len(self.data.items)]))

    def _bias(self, places: np.ndarray) -> tuple[float, float, float]:
        if not self.settings.position_bias:
            return 0.0, 0.0, 0.0
        mean = self.average(lambda one: one.found.mean[places].sum())
        square = self.average(
            lambda one: one.found.covariance[np.ix_(places, places)].sum() + one.found.mean[places].sum() ** 2
        )
        width = float(ndtri(0.95)) * float(np.sqrt(max(square - mean**2, 0.0)))
        return float(mean), float(mean - width), float(mean + width)

    @property
    def tie_probability(self) -> float:
        """Probability that equals tie, where the position says nothing; 0 without ties."""
        if not self.settings.ties:
            return 0.0
        return float(np.mean(chances(np.zeros(N_RANKED), self.draws(N_RANKED, 0).tau, True)[1]))

    def predictive(
        self, candidates: Asked, *, target: Target = None, random_state: RandomState = None
    ) -> WeightedDraws:
        """Predictive of comparisons, for all unknowns, for given comparisons, for first places or a set."""
        seed = random_state if isinstance(random_state, int) else 0
        if random_state is not None and not isinstance(random_state, int):
            seed = int(checks.generator(random_state).integers(2**62))
        own = self.settings.outcomes
        if target is None:
            return self._screened(None, candidates, seed)
        if isinstance(target, Asked):
            if not len(target):
                raise ValueError("target must hold at least one comparison, got none.")
            weights = np.full(N_DRAWS, 1.0 / N_DRAWS)
            about = WeightedDraws(weights, self._table(target, seed), own, random_state=seed)
            return WeightedDraws(
                weights, lambda: self._table(candidates, seed), own, target=about, n_candidates=len(candidates),
                random_state=seed,
            )  # fmt: skip
        if len(self.data.items) < 2:
            raise ValueError("target is about places of items: name the items, or fit first.")
        return self._screened(holders_of(self.draws(N_DRAWS, seed).strengths, target), candidates, seed)

    def _screened(
        self, holders: np.ndarray | None, candidates: Asked, seed: int, draws: slice = slice(None)
    ) -> Screened:
        """By some of the draws: of all unknowns, or of ``holders`` (draws, k), as of `holders_of`."""
        n = len(range(N_DRAWS)[draws])
        options: dict[str, Any] = {"n_candidates": len(candidates), "random_state": seed}
        if len(self.data.items) > MANY:
            options["again"] = lambda some, few: self._screened(holders, candidates[few], seed, some)
        weights, own = np.full(n, 1.0 / n), self.settings.outcomes

        def table() -> np.ndarray:
            return self._table(candidates, seed, draws)

        if holders is None:
            return Screened(weights, table, own, **options)
        if draws.step is not None:  # they only rank candidates: some of the places do as well
            holders = holders[:, :: -(-holders.shape[1] // PLACES)]
        if holders.shape[1] == 1:
            return Screened(weights, table, own, target=holders[draws, 0], **options)
        return OfPlaces(holders[draws], weights, table, own, **options)

    def _table(self, asked: Asked, seed: int, draws: slice = slice(None)) -> np.ndarray:
        """(draws, m, c) probabilities of what is said."""
        first, second, items = self.data.placed(asked)
        judge, judges = self.data.judge_places(asked)
        drawn = self.draws(N_DRAWS, seed, items, judges)
        d = drawn.strengths[draws][:, first] - drawn.strengths[draws][:, second]
        d += drawn.bias[draws][:, judge]
        told = chances(d, drawn.tau[draws, None], bool(self.settings.ties))
        return _mixed(*told, drawn.skill[draws][:, judge] if self.settings.judged else None, self.settings)

    def probabilities(self, asked: Asked) -> np.ndarray:
        """(m, c) probabilities of the outcomes, by quadrature at every scale."""
        first, second, items = self.data.placed(asked)
        judge, judges = self.data.judge_places(asked)
        return np.asarray(self.average(lambda one: self._at(one, first, second, judge, len(items), judges)))

    def _at(
        self, one: AtScale, first: np.ndarray, second: np.ndarray, judge: np.ndarray, n: int, judges: np.ndarray
    ) -> np.ndarray:
        settings, found, n_known, j_known = self.settings, one.found, len(self.data.items), len(self.data.judges)
        covariance = np.diag(np.concatenate([
            np.full(n, settings.own_variance * one.scale**2), [BIAS**2],
            np.full(len(judges), OWN_BIAS**2), [1.0],
        ]))  # fmt: skip
        mean = np.zeros(len(covariance))
        known = np.concatenate([np.arange(n_known), n + np.arange(1 + j_known), [len(mean) - 1]])
        mean[known], covariance[np.ix_(known, known)] = found.mean, found.covariance
        rows = settings.latents(n, judges).rows(first, second, judge)
        spread = rows @ covariance
        both = np.empty((len(first), 2, 2))
        both[:, 0, 0] = np.einsum("md,md->m", spread, rows)
        both[:, 0, 1] = both[:, 1, 0] = spread[:, -1]
        both[:, 1, 1] = covariance[-1, -1]
        centre = np.column_stack([rows @ mean, np.full(len(first), mean[-1])])
        ones = np.ones(len(first))
        said = tilted(centre, both, ones.astype(int), ones, bool(settings.ties))
        skill = ones
        if settings.judged:
            own = [*self._skills(one).tolist(), *map(self._stranger, judges[j_known:].tolist())]
            skill = np.array(own)[judge]
        return _mixed(said.wrong, 1.0 - said.right - said.wrong, said.right, skill, settings)

    # -- snapshots -----------------------------------------------------------------------------------------------------

    def state(self) -> State:
        """Plain data from which ``from_state`` makes this belief again, to the last bit."""
        parts = [
            {"scale": one.scale, "mean": one.found.mean, "covariance": one.found.covariance, "skill": one.found.skill,
             "precision": one.found.sites.precision, "shift": one.found.sites.shift, "heard": one.found.sites.heard,
             "log_evidence": one.found.log_evidence, "trace": np.array(one.found.trace),
             "converged": one.found.converged}
            for one in self.beliefs
        ]  # fmt: skip
        return {"parts": parts, "weights": self.weights, "total": self.total}

    @classmethod
    def from_state(cls, settings: StrengthSettings, data: ComparisonData, state: State) -> StrengthBelief:
        """The belief that ``state`` described."""
        beliefs = []
        for part in state["parts"]:
            mean, covariance, skill, precision, shift, heard = (
                np.asarray(part[name], dtype=float)
                for name in ("mean", "covariance", "skill", "precision", "shift", "heard")
            )
            trace = tuple(np.asarray(part["trace"], dtype=float).tolist())
            sites = Sites(precision.reshape(-1, 2, 2), shift.reshape(-1, 2), heard.reshape(-1, len(GRID)))
            found = Propagated(
                mean, covariance, skill.reshape(-1, len(GRID)), sites, float(part["log_evidence"]), trace,
                bool(part["converged"]),
            )  # fmt: skip
            beliefs.append(AtScale(float(part["scale"]), found))
        weights = np.asarray(state["weights"], dtype=float)
        return cls(settings, data, beliefs, weights, float(state["total"]), len(data))


def _mixed(
    second: np.ndarray, even: np.ndarray, first: np.ndarray, skill: np.ndarray | None, settings: StrengthSettings
) -> np.ndarray:
    """Probabilities of -1, 0 and +1 (last axis) as they are said by who is right with probability ``skill``."""
    said = [second, even, first]
    if skill is not None:
        said = [skill * second + (1.0 - skill) * first, even, skill * first + (1.0 - skill) * second]
    return np.moveaxis(np.stack(said if settings.ties else [said[0], said[2]]), 0, -1)


def _normals(seed: int, label: Hashable, n: int) -> np.ndarray:
    """Draws of something never seen, by its name."""
    return np.random.default_rng([seed, zlib.crc32(repr(label).encode())]).standard_normal(n)
