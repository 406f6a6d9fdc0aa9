"""Belief after answers under an item-response model: a bank of items, and people on its grids."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from adaptive import checks
from adaptive.estimators.questionnaires.answers import Answers, Label, Pairs
from adaptive.estimators.questionnaires.bank import Bank
from adaptive.estimators.questionnaires.base import QuestionnaireBelief, gaussian_nodes, log_prior
from adaptive.estimators.questionnaires.calibration import calibrate
from adaptive.estimators.questionnaires.curves import CURVES
from adaptive.estimators.questionnaires.dimension import Dimension, examined
from adaptive.estimators.questionnaires.settings import QuestionnaireSettings
from adaptive.estimators.searches import due, highest
from adaptive.predictive import Predictive, StatedPredictive
from adaptive.predictive.derivations import entropy

if TYPE_CHECKING:
    from adaptive.types import Options, RandomState, State

__all__ = ["ItemResponseBelief"]


@dataclass(frozen=True, eq=False)
class ItemResponseBelief(QuestionnaireBelief[Bank]):
    """Items by marginal likelihood; people follow from them and their answers."""

    settings: QuestionnaireSettings
    data: Answers
    bank: Bank
    trace: list[float] = field(default_factory=list)
    log_evidence: float = 0.0
    converged: bool = True
    searched: int = 0
    dimension: Dimension | None = None

    def __getstate__(self) -> State:
        return {name: value for name, value in self.__dict__.items() if name not in ("people", "prequential")}

    # -- learning ----------------------------------------------------------------------------------------------------

    @classmethod
    def learnt(
        cls, settings: QuestionnaireSettings, data: Answers, earlier: ItemResponseBelief | None = None
    ) -> ItemResponseBelief:
        """Items from answers, each part of the bank on its own; from an earlier belief and, where due, anew, too."""
        curve = CURVES[settings.response_model]
        if curve.dichotomous and len(data.categories) != 2:
            raise ValueError(
                f'response_model="{settings.response_model}" is for two answers, but there are {len(data.categories)} '
                f'({", ".join(map(str, data.categories))}); take "partial_credit" or "graded".'
            )
        settings.check_items(data.items)
        bank = cls._prior_bank(settings, data.items, data.categories)
        turned = data.reversed_for(bank.reverse)
        shared, trace, evidence, converged = bank.shared.copy(), np.zeros(0), 0.0, True
        t = len(bank.traits)
        limits: Options = {
            name: value for name, value in (("max_iter", settings.max_iter), ("tol", settings.tol)) if value is not None
        }
        anew = earlier is None or earlier._due(data)
        for items, traits in bank.loadings.components():
            mask = bank.loadings.mask[np.ix_(items, traits)]
            climb = partial(calibrate, curve, turned.of_items(items), mask, **limits)
            searches = [climb] if anew else []
            if earlier is not None:
                start = _before(earlier.bank, [data.items[k] for k in items], traits)
                searches.append(partial(climb, start=start))
            found = highest(searches, value=lambda one: one.log_evidence)
            at = curve.columns(len(data.categories), t, traits)
            bank.coordinates[np.ix_(items, at)] = found.coordinates
            bank.covariances[np.ix_(items, at, at)] = found.covariances
            shared[traits] = found.shared
            longer, shorter = sorted((trace, np.array(found.trace)), key=len, reverse=True)
            trace = longer + np.r_[shorter, np.full(len(longer) - len(shorter), shorter[-1] if len(shorter) else 0.0)]
            evidence, converged = evidence + found.log_evidence, converged and found.converged
        if not converged:
            warnings.warn(
                "Questionnaire did not converge: raise max_iter or tol (see objective_trace_).",
                ConvergenceWarning,
                stacklevel=2,
            )
        made = Bank(
            bank.model, bank.items, bank.categories, bank.loadings, bank.coordinates, bank.covariances,
            reverse=bank.reverse, shared=shared,
        )  # fmt: skip
        searched = len(data) if earlier is None or anew else earlier.searched
        dimension = examined(settings, data, None if earlier is None else earlier.dimension)
        return cls(settings, data, made, trace.tolist(), float(evidence), bool(converged), searched, dimension)

    def _due(self, data: Answers) -> bool:
        """True where a search after ``data`` is to begin where a first fit does, too (`adaptive.estimators.searches`).

        ``searched`` is the number of answers at the last one.
        """
        new = slice(len(self.data), None)
        people, items = (
            [labels[k] for k in at[new]] for labels, at in ((data.people, data.person), (data.items, data.item))
        )
        outcomes = [data.categories[k] for k in data.answer[new]]
        pairs = list(zip(people, items, strict=True))
        return due(len(data), self.searched, lambda: self.predictive(pairs, target="people"), outcomes)

    @classmethod
    def unlearnt(
        cls, settings: QuestionnaireSettings, items: Sequence[Label], answers: Mapping[Label, int] | None = None
    ) -> ItemResponseBelief:
        """Items of which nothing is known, and nobody; ``answers`` says how many of the categories an item has."""
        settings.check_items(items)
        bank = cls._prior_bank(settings, items, settings.scale)
        own = answers or {}
        unknown = [item for item in own if item not in set(items)]
        if unknown:
            raise ValueError(f"answers names the item {unknown[0]!r}, which is not among the items.")
        t, curve = len(bank.traits), bank.curve
        for row, item in enumerate(items):
            n = checks.integer(f"answers of item {item!r}", own.get(item, len(settings.scale)), minimum=2)
            if n > len(settings.scale):
                raise ValueError(f"item {item!r} has {n} answers, but there are {len(settings.scale)} categories.")
            others, deviations = curve.prior(n, t)
            last = t + len(others)
            bank.coordinates[row, t:last], bank.coordinates[row, last:] = others, np.nan
            bank.covariances[row, t:, t:] = 0.0
            measured = curve.measured(n, bank.loadings.mask[row : row + 1])[0, t:]
            bank.covariances[row, np.arange(t, last), np.arange(t, last)] = np.where(measured, deviations**2, 0.0)
        return cls(settings, Answers.none(items, settings.scale), bank)

    @classmethod
    def _prior_bank(cls, settings: QuestionnaireSettings, items: Sequence[Label], categories: Sequence[int]) -> Bank:
        """Items of which nothing is known."""
        loadings = settings.loadings(items)
        curve, n = CURVES[settings.response_model], len(categories)
        others, deviations = curve.prior(n, len(loadings.traits))
        mean = np.concatenate([loadings.mask.astype(float), np.tile(others, (len(items), 1))], axis=1)
        variances = np.concatenate([loadings.mask.astype(float), np.tile(deviations**2, (len(items), 1))], axis=1)
        variances = np.where(curve.measured(n, loadings.mask), variances, 0.0)
        covariances = np.einsum("ip,pq->ipq", variances, np.eye(variances.shape[1]))
        return Bank(
            settings.response_model, items, categories, loadings, mean, covariances, reverse=settings.reversed(items)
        )

    # -- what is believed --------------------------------------------------------------------------------------------

    @classmethod
    def prior_predictive(cls, settings: QuestionnaireSettings, pairs: Pairs, **options: Any) -> Predictive:
        """The belief about (person, item) pairs before any answer."""
        items = list(dict.fromkeys(item for _, item in pairs))
        bank = cls._prior_bank(settings, items, settings.scale)
        return cls(settings, Answers.none(items, settings.scale), bank).predictive(pairs, **options)

    @cached_property
    def people(self) -> list[np.ndarray]:
        """(people, k) weights of everybody on the grids, one for each part."""
        return self.bank.weights(self.data)

    def moments(self) -> tuple[np.ndarray, np.ndarray]:
        """Means and deviations (people, traits) of those in the fit."""
        return self.bank.moments(self.people)

    def _extended(self, items: Iterable[Label]) -> Bank:
        """The bank with items that it lacks, of which nothing is known."""
        new = [item for item in dict.fromkeys(items) if item not in set(self.bank.items)]
        if not new:
            return self.bank
        wide = self._prior_bank(self.settings, [*self.bank.items, *new], self.bank.categories)
        n, first = len(self.bank), np.arange(len(self.bank.traits))  # traits that are new come behind those known
        at = wide.curve.columns(len(wide.categories), len(wide.traits), first)
        wide.coordinates[np.ix_(np.arange(n), at)] = self.bank.coordinates
        wide.covariances[:n] = 0.0
        wide.covariances[np.ix_(np.arange(n), at, at)] = self.bank.covariances
        return wide

    def _rows(self, pairs: Pairs) -> tuple[Bank, np.ndarray, list[np.ndarray]]:
        """The bank, the position of each pair's item, and for each part of it the weights of each pair's person."""
        bank = self._extended([item for _, item in pairs])
        weights = self.people if bank is self.bank else bank.weights(self.data)
        place = {person: k for k, person in enumerate(self.data.people)}
        rows = np.array([place.get(person, -1) for person, _ in pairs], dtype=np.intp)
        found = []
        for part, known in zip(bank.parts, weights, strict=True):
            stranger = np.exp(log_prior(part.x))[None]
            found.append(np.concatenate([known, stranger])[rows])
        return bank, bank.positions([item for _, item in pairs]), found

    def predictive(self, pairs: Pairs, *, target: str | None = None, random_state: RandomState = None) -> Predictive:
        bank, items, weights = self._rows(pairs)
        n = len(bank.categories)
        p, expected = np.zeros((len(pairs), n)), np.zeros(len(pairs))
        of_part, place = bank.part_of
        for item in np.unique(items):
            rows = np.flatnonzero(items == item)
            part = bank.parts[of_part[item]]
            w = weights[of_part[item]][rows]
            table = part.table[place[item]]
            p[rows] = w @ table
            if target == "people":
                expected[rows] = w @ entropy(table)
                continue
            x = np.zeros((len(part.x), len(bank.traits)))
            x[:, part.traits] = part.x
            shares, nodes = gaussian_nodes(*bank.known(int(item)))
            curves = bank.probabilities(int(item), nodes, x)  # (s, k, R)
            if target == "items":
                expected[rows] = entropy(np.einsum("uk,skr->usr", w, curves)) @ shares
            else:
                expected[rows] = w @ (shares @ entropy(curves))
        return StatedPredictive(
            outcomes=bank.categories, probabilities=p, expected_entropy=expected, random_state=random_state
        )

    def strangers(self, answers: Answers) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Means, deviations (people, traits) and probabilities (people, items, R) for new people."""
        weights = self.bank.weights(answers)
        p = np.zeros((len(answers.people), len(self.bank), len(self.bank.categories)))
        for part, w in zip(self.bank.parts, weights, strict=True):
            p[:, part.items] = np.einsum("uk,ikr->uir", w, part.table)
        return *self.bank.moments(weights), p

    def given_others(self, answers: Answers) -> np.ndarray:
        """(answers, R) probabilities of new people's answers, of each given all others of the person.

        p(r | others) is proportional to sum_k w_k p(r | x_k) / p(y | x_k).
        """
        given, found = answers.with_items(self.bank.items), np.zeros((len(answers), len(self.bank.categories)))
        for part, w in zip(self.bank.parts, self.bank.weights(given), strict=True):
            for item, table in zip(part.items, part.table, strict=True):
                rows = np.flatnonzero(given.item == item)
                without = w[given.person[rows]] / np.maximum(table[:, given.answer[rows]].T, 1e-300)
                p = without @ table
                found[rows] = p / p.sum(axis=1, keepdims=True)
        return found

    @cached_property
    def prequential(self) -> np.ndarray:
        """(answers,) log probability of each answer given the person's others: 1 / p = sum_k w_k / p(y | x_k)."""
        of_part, place = self.bank.part_of
        found = np.zeros(len(self.data))
        for k, (part, w) in enumerate(zip(self.bank.parts, self.people, strict=True)):
            rows = np.flatnonzero(of_part[self.data.item] == k)
            table = part.table[place[self.data.item[rows]], :, self.data.answer[rows]]
            found[rows] = -np.log(np.sum(w[self.data.person[rows]] / np.maximum(table, 1e-300), axis=1))
        return found

    def state(self) -> State:
        """Plain data, without the answers."""
        return {
            "bank": self.bank.state(), "trace": list(self.trace), "log_evidence": self.log_evidence,
            "converged": self.converged, "searched": self.searched, "dimension": Dimension.stored(self.dimension),
        }  # fmt: skip

    @classmethod
    def from_state(cls, settings: QuestionnaireSettings, data: Answers, state: State) -> ItemResponseBelief:
        """The belief that ``state`` described."""
        bank = Bank.from_state(state["bank"])
        found = list(state["trace"]), state["log_evidence"], state["converged"], state["searched"]
        return cls(settings, data, bank, *found, Dimension.restored(state["dimension"]))


def _before(bank: Bank, items: Sequence[Label], traits: np.ndarray) -> np.ndarray:
    """(items, p) coordinates of an earlier bank, NaN where an item is new; a trait that is new comes behind those."""
    n, place = len(bank.categories), {item: k for k, item in enumerate(bank.items)}
    before, after = (bank.curve.traits_of(n, t) for t in (len(bank.traits), len(traits)))
    known = np.zeros((len(bank), len(after)))
    known[:, after < 0] = bank.coordinates[:, before < 0]
    for k, trait in enumerate(traits):
        if trait < len(bank.traits):
            known[:, after == k] = bank.coordinates[:, before == trait]
    return np.array([known[place[i]] if i in place else np.full(known.shape[1], np.nan) for i in items])
