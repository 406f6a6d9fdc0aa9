"""Belief after comparisons: the prior that all people share, and every person's sites beside it."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from adaptive import checks
from adaptive.estimators.belief import FromPrior, Traced
from adaptive.estimators.ids import alike, located
from adaptive.estimators.preferences.comparison_predictive import Differences, about_all, about_the_best
from adaptive.estimators.preferences.comparisons import PreferenceData
from adaptive.estimators.preferences.dimension import Dimension, chosen
from adaptive.estimators.preferences.inference.learning import Learnt, learn_prior
from adaptive.estimators.preferences.inference.people import propagate
from adaptive.estimators.preferences.inference.utility_prior import UtilityPrior
from adaptive.estimators.preferences.settings import PreferenceSettings
from adaptive.estimators.preferences.utilities import Utilities
from adaptive.estimators.rows.leave_one_out import LeaveOneOut, without_sites
from adaptive.estimators.searches import due, grown, highest

if TYPE_CHECKING:
    from adaptive.predictive import GaussianProjections, WeightedDraws
    from adaptive.types import Id, RandomState, State

__all__ = ["PreferenceBelief"]

Triples: TypeAlias = tuple[np.ndarray, np.ndarray, np.ndarray]


@dataclass(frozen=True, eq=False)
class PreferenceBelief(FromPrior, Traced):
    """Prior, and a site per comparison.

    Attributes
    ----------
    settings : PreferenceSettings
    data : PreferenceData
    posterior : UtilityPrior
        Belief about somebody who was never asked.
    pi, nu : (n,) arrays
        Sites.
    evidences : (n_users,) array
        Log evidence of each person's answers.
    trace : (n_iter,) array
        Log evidence, less ``prior_people`` times the divergence from the prior before any answer, at the beginning of
        every iteration of the last EM.
    converged : bool
    climbed, searched : int
        Of how many comparisons EM last knew, and when it last began where ``fit`` does.
    dimension : Dimension or None
        What the number of components was chosen by; None: it was given, and ``settings`` hold it.
    """

    settings: PreferenceSettings
    data: PreferenceData
    posterior: UtilityPrior
    pi: np.ndarray
    nu: np.ndarray
    evidences: np.ndarray
    trace: np.ndarray
    converged: bool
    climbed: int = 0
    searched: int = 0
    dimension: Dimension | None = None

    def __post_init__(self) -> None:
        _ = self._starts  # made once, when learning, and not when something is first asked

    @classmethod
    def learnt(
        cls, settings: PreferenceSettings, data: PreferenceData, earlier: PreferenceBelief | None = None
    ) -> PreferenceBelief:
        """Fit the prior to all; or go on from an ``earlier`` belief: people first, then, where it is due, the prior."""
        if earlier is not None:
            return earlier._after(data)
        if not len(data):
            raise ValueError("comparisons must hold at least one, got none.")
        settings, dimension = _chosen(settings, data)
        rng = checks.generator(settings.random_state)
        found = _learnt(settings, data, settings.start(len(data.items), rng), rng)
        return cls._of(settings, data, found, len(data), dimension)

    @classmethod
    def _of(
        cls, settings: PreferenceSettings, data: PreferenceData, found: Learnt, searched: int,
        dimension: Dimension | None,
    ) -> PreferenceBelief:  # fmt: skip
        return cls(
            settings, data, found.prior, found.pi, found.nu, found.log_evidence, np.array(found.trace), found.converged,
            len(data), searched, dimension,
        )  # fmt: skip

    def _after(self, data: PreferenceData) -> PreferenceBelief:
        local, settings, n, dimension = self._beside(data), self.settings, len(data), self.dimension
        again = due(
            n, self.searched, lambda: self.predictive(data.triples(len(self.data))), data.known.y[len(self.data) :]
        )
        if not again and not grown(n, self.climbed):
            return local
        if again and dimension is not None:
            settings, dimension = _chosen(replace(settings, n_components="auto"), data)

        def onwards() -> Learnt:
            start = settings.onwards(local.posterior)
            return _learnt(settings, data, start, _own_generator(settings), (local.pi, local.nu))

        def anew() -> Learnt:
            given = settings.init is not None and np.shape(settings.init)[0] == len(data.items)  # else of fewer items
            own, rng = settings if given else replace(settings, init=None), _own_generator(settings)
            return _learnt(settings, data, own.start(len(data.items), rng), rng)

        searches = [anew, onwards] if again else [onwards]
        if settings.n_components != self.settings.n_components:  # chosen anew: what was found had others
            searches = [anew]
        found = highest(searches, value=lambda one: one.objective, apart=settings.tol * n)
        return self._of(settings, data, found, n if again else self.searched, dimension)

    def _beside(self, data: PreferenceData) -> PreferenceBelief:
        """The belief after ``data`` beside the prior as it is: those of whom something is new are solved again."""
        prior, n_old = self.posterior.extended(len(data.items)), len(self.data)
        pi, nu = (np.concatenate([old, np.zeros(len(data) - n_old)]) for old in (self.pi, self.nu))
        evidences = np.concatenate([self.evidences, np.zeros(len(data.users) - len(self.evidences))])
        concerned = np.flatnonzero(np.isin(data.known.person, data.known.person[n_old:]))
        solved = propagate(prior, data.known, self.settings.rule, (pi, nu), rows=concerned, n_jobs=self.settings.n_jobs)
        for one in solved:
            pi[one.rows], nu[one.rows] = one.pi, one.nu
            evidences[data.known.person[one.rows[:, 0]]] = one.log_evidence
        settled = self.converged and all(one.converged.all() for one in solved)
        return replace(self, data=data, posterior=prior, pi=pi, nu=nu, evidences=evidences, converged=settled)

    # -- people --------------------------------------------------------------------------------------------------------

    @cached_property
    def _starts(self) -> tuple[np.ndarray, np.ndarray]:
        """The comparisons in the order of people, and where each one's begin."""
        order = np.argsort(self.data.known.person, kind="stable")
        return order, np.searchsorted(self.data.known.person[order], np.arange(len(self.data.users) + 1))

    def rows_of(self, user: int) -> np.ndarray:
        """Which comparisons are the user's at this position; none of one who is new."""
        order, starts = self._starts
        return order[starts[user] : starts[user + 1]] if user < len(self.data.users) else order[:0]

    def person(self, user: int, label: Id, prior: UtilityPrior | None = None) -> Utilities:
        """The utilities of the user at this position."""
        rows = self.rows_of(user)
        known = self.data.known.take(rows)
        return Utilities.of(prior or self.posterior, label, known, self.pi[rows], self.nu[rows])

    def differences(self, columns: Triples) -> Differences:
        """Comparisons by ids as differences of utilities; people and items never seen are as the prior has them."""
        users, first, second = columns
        place, all_users = located(users, self.data.users)
        ends, all_items = located(np.concatenate([first, second]), alike("items", first, self.data.items))
        prior = self.posterior.extended(len(all_items))
        present, who = np.unique(place, return_inverse=True)
        labels = all_users[present].tolist()
        people = [self.person(k, label, prior) for k, label in zip(present.tolist(), labels, strict=True)]
        new = all_items[len(self.data.items) :].tolist()
        return Differences(people, who, ends[: len(users)], ends[len(users) :], new)

    def predictive(
        self, candidates: Triples, *, target: Triples | str | None = None, random_state: RandomState = None
    ) -> GaussianProjections | WeightedDraws:
        """Predictive of comparisons, for all utilities, for given comparisons or for the best item."""
        likelihood = self.settings.likelihood
        if isinstance(target, str):
            return about_the_best(self.differences(candidates), likelihood, random_state=random_state)
        m = len(candidates[0])
        if target is not None:
            if not len(target[0]):
                raise ValueError("target must hold at least one comparison, got none.")
            candidates = _joined(candidates, target)
        both = self.differences(candidates)
        return about_all(both, m, likelihood, random_state=random_state)

    @classmethod
    def prior(cls, settings: PreferenceSettings) -> PreferenceBelief:
        """Belief about no comparisons."""
        data, none = PreferenceData.about(settings.catalogue[0]), np.zeros(0)
        return cls(settings, data, settings.prior(len(data.items)), none, none, none, none, True)

    # -- its own comparisons, left out ---------------------------------------------------------------------------------

    @property
    def left_out(self) -> LeaveOneOut | None:
        """Probabilities of the comparisons without themselves, beside the prior that was fitted to all of them."""
        if self.settings.inference != "expectation_propagation":
            return None
        known, mean, variance = self.data.known, np.empty(len(self.data)), np.empty(len(self.data))
        for k, label in enumerate(self.data.users.tolist()):
            rows = self.rows_of(k)
            own = Differences([self.person(k, label)], np.zeros(len(rows), int), known.first[rows], known.second[rows])
            mean[rows], variance[rows] = own.moments
        cavities = without_sites(mean, variance, self.pi, self.nu)
        probabilities = self.settings.likelihood.outcome_probabilities(*cavities)[1]
        with np.errstate(divide="ignore"):
            logs = np.log(probabilities)
        return LeaveOneOut(probabilities, np.where(known.y > 0, logs[:, 1], logs[:, 0]))

    # -- inference -----------------------------------------------------------------------------------------------------

    @property
    def log_evidence(self) -> float:
        """Log evidence of all answers, at the prior as it was fitted."""
        return float(self.evidences.sum())

    @property
    def evidence_kind(self) -> str:
        """A bound where each comparison is bounded."""
        return "lower_bound" if self.settings.inference == "variational_bounds" else "approximation"

    def state(self) -> State:
        """Plain data from which ``from_state`` makes this belief again, to the last bit."""
        return {
            "prior": self.posterior.state(), "pi": self.pi, "nu": self.nu, "evidences": self.evidences,
            "trace": self.trace, "converged": self.converged, "climbed": self.climbed, "searched": self.searched,
            "dimension": None if self.dimension is None else self.dimension.state(),
        }  # fmt: skip

    @classmethod
    def from_state(cls, settings: PreferenceSettings, data: PreferenceData, state: State) -> PreferenceBelief:
        """The belief that ``state`` described."""
        pi, nu, evidences, trace = (np.asarray(state[name]) for name in ("pi", "nu", "evidences", "trace"))
        dimension = None if state["dimension"] is None else Dimension.from_state(state["dimension"])
        if dimension is not None:
            settings = replace(settings, n_components=dimension.n_components)
        return cls(
            settings, data, UtilityPrior.from_state(state["prior"]), pi, nu, evidences, trace, bool(state["converged"]),
            int(state["climbed"]), int(state["searched"]), dimension,
        )  # fmt: skip


def _chosen(settings: PreferenceSettings, data: PreferenceData) -> tuple[PreferenceSettings, Dimension | None]:
    """The settings with a number of components, and what it was chosen by; it is said where people are all alike."""
    if settings.n_components != "auto":
        return settings, None
    if settings.init is not None:
        return replace(settings, n_components=np.shape(settings.init)[-1]), None
    seed = int(_own_generator(settings).integers(2**31))
    dimension = chosen(settings, data.known, len(data.users), len(data.items), seed)
    if dimension.in_vain:
        warnings.warn(
            f"the answers of {len(data.users)} people are predicted no better by their own utilities than by one "
            f"ranking for everybody ({dimension.log_scores[dimension.n_components]:.3f} and {dimension.alike:.3f} "
            "nats per comparison held out): more comparisons by each person are needed to tell people apart.",
            UserWarning,
            stacklevel=6,
        )
    return replace(settings, n_components=dimension.n_components), dimension


def _learnt(
    settings: PreferenceSettings,
    data: PreferenceData,
    start: UtilityPrior,
    rng: np.random.Generator,
    sites: tuple[np.ndarray, np.ndarray] | None = None,
) -> Learnt:
    """EM from ``start``; it warns where it did not come to rest."""
    found = learn_prior(
        start, data.known, len(data.users), settings.rule, covariance=settings.covariance, max_pairs=settings.max_pairs,
        max_iter=settings.max_iter, tol=settings.tol, n_jobs=settings.n_jobs, rng=rng, sites=sites,
        believed=settings.prior(len(data.items)), weight=float(settings.prior_people),
    )  # fmt: skip
    if not found.converged:
        warnings.warn(
            f"CollaborativePreference has not converged after {len(found.trace)} iterations; raise max_iter or tol.",
            ConvergenceWarning,
            stacklevel=6,
        )
    return found


def _own_generator(settings: PreferenceSettings) -> np.random.Generator:
    """Draws of a search that goes on: the same in a run that is resumed, so none of a generator that has moved on."""
    seed = settings.random_state
    return checks.generator(seed if isinstance(seed, (int, np.integer, np.random.SeedSequence)) else 0)


def _joined(one: Triples, other: Triples) -> Triples:
    users, first, second = (np.concatenate([a, b]) for a, b in zip(one, other, strict=True))
    return users, first, second
