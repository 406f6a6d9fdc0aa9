"""Belief after answers under the ordinal model: people and items by loopy expectation propagation."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import linalg
from sklearn.exceptions import ConvergenceWarning

from adaptive.estimators.questionnaires.answers import Answers, Label, Pairs
from adaptive.estimators.questionnaires.base import QuestionnaireBelief
from adaptive.estimators.questionnaires.dimension import Dimension, examined
from adaptive.estimators.questionnaires.ordinal.bank import OrdinalBank
from adaptive.estimators.questionnaires.ordinal.fit import fit_ordinal
from adaptive.estimators.questionnaires.ordinal.noise import UNLEARNT, chosen_noise, fixed
from adaptive.estimators.questionnaires.ordinal.person import asked
from adaptive.estimators.questionnaires.settings import QuestionnaireSettings
from adaptive.estimators.searches import grown
from adaptive.predictive import Predictive, StatedPredictive
from adaptive.predictive.derivations import entropy

if TYPE_CHECKING:
    from adaptive.types import Options, RandomState, State

__all__ = ["OrdinalBelief"]


@dataclass(frozen=True, eq=False)
class OrdinalBelief(QuestionnaireBelief[OrdinalBank]):
    """Items and people as Gaussians; ``chosen`` is the number of answers by which noises were chosen."""

    settings: QuestionnaireSettings
    data: Answers
    bank: OrdinalBank
    means: np.ndarray
    covariances: np.ndarray
    prequential: np.ndarray
    trace: list[float] = field(default_factory=list)
    converged: bool = True
    skipped: int = 0
    chosen: int = 0
    dimension: Dimension | None = None

    @property
    def log_evidence(self) -> float:
        """Prequential: the sum of the log probabilities of the answers, each given all others."""
        return float(self.prequential.sum())

    # -- learning ----------------------------------------------------------------------------------------------------

    @classmethod
    def learnt(
        cls, settings: QuestionnaireSettings, data: Answers, earlier: OrdinalBelief | None = None
    ) -> OrdinalBelief:
        """People and items from answers, anew; noises that were chosen are held until a hundredth more came."""
        settings.check_items(data.items)
        loadings, reverse = settings.loadings(data.items), settings.reversed(data.items)
        turned, traits = data.reversed_for(reverse), loadings.single()
        if earlier is None or grown(len(data), earlier.chosen):
            (model, noise), chosen = chosen_noise(settings, turned, traits, len(loadings.traits)), len(data)
        else:
            model, chosen = replace(earlier.bank.model, n_traits=len(loadings.traits)), earlier.chosen
            known = dict(zip(earlier.bank.items, earlier.bank.trait_noise, strict=True))
            usual = float(np.median(earlier.bank.trait_noise)) if known else UNLEARNT
            noise = np.array([known.get(item, usual) for item in data.items])
        fit = fit_ordinal(model, turned, traits, noise, evidence=True, **settings_limits(settings))
        if not fit.converged:
            warnings.warn(
                f"Questionnaire did not converge in {len(fit.trace)} sweeps: raise max_iter or tol.",
                ConvergenceWarning,
                stacklevel=2,
            )
        bank = OrdinalBank(
            model, data.items, data.categories, loadings, fit.item_means, fit.item_covariances, noise, reverse
        )
        return cls(
            settings, data, bank, fit.means, fit.covariances, fit.prequential, fit.trace, fit.converged, fit.skipped,
            chosen, examined(settings, data, None if earlier is None else earlier.dimension),
        )  # fmt: skip

    @classmethod
    def of_bank(cls, settings: QuestionnaireSettings, data: Answers, bank: OrdinalBank) -> OrdinalBelief:
        """Items that are known, and nobody."""
        d = bank.model.n_style + bank.model.n_traits
        return cls(settings, data, bank, np.zeros((0, d)), np.zeros((0, d, d)), np.zeros(0))

    # -- what is believed --------------------------------------------------------------------------------------------

    @classmethod
    def prior_predictive(cls, settings: QuestionnaireSettings, pairs: Pairs, **options: Any) -> Predictive:
        """The belief about (person, item) pairs before any answer."""
        items = list(dict.fromkeys(item for _, item in pairs))
        loadings = settings.loadings(items)
        model, noise = fixed(settings, len(settings.scale), len(loadings.traits)), np.full(len(items), UNLEARNT)
        means, covariances = (np.tile(one, (len(items), *[1] * one.ndim)) for one in model.item_prior())
        bank = OrdinalBank(model, items, settings.scale, loadings, means, covariances, noise, settings.reversed(items))
        return cls.of_bank(settings, Answers.none(items, settings.scale), bank).predictive(pairs, **options)

    def moments(self) -> tuple[np.ndarray, np.ndarray]:
        """Means and deviations (people, traits) of those in the fit."""
        first, scale = self.bank.model.n_style, self.bank.model.trait_scale
        return self.means[:, first:] / scale, np.sqrt(np.einsum("uii->ui", self.covariances)[:, first:]) / scale

    def _extended(self, items: Iterable[Label]) -> OrdinalBank:
        """The bank with items that it lacks, of which nothing is known."""
        bank = self.bank
        new = [item for item in dict.fromkeys(items) if item not in set(bank.items)]
        if not new:
            return bank
        everything = [*bank.items, *new]
        mean, covariance = bank.model.item_prior()
        usual = float(np.median(bank.trait_noise)) if len(bank) else UNLEARNT
        loadings = self.settings.loadings(everything)
        return OrdinalBank(
            replace(bank.model, n_traits=len(loadings.traits)), everything, bank.categories, loadings,
            np.concatenate([bank.means, np.tile(mean, (len(new), 1))]),
            np.concatenate([bank.covariances, np.tile(covariance, (len(new), 1, 1))]),
            np.r_[bank.trait_noise, np.full(len(new), usual)], self.settings.reversed(everything),
        )  # fmt: skip

    def predictive(self, pairs: Pairs, *, target: str | None = None, random_state: RandomState = None) -> Predictive:
        """Answers of people to items; the information is about items, about people, or (default) about both.

        I(y; v) = sum_r p(r) 1/2 log|I + K_r V|, with K_r what answer r says of v and V its covariance before.
        """
        bank = self._extended([item for _, item in pairs])
        model = bank.model
        place = {person: k for k, person in enumerate(self.data.people)}
        stranger = bank.person(np.tile([0.0, 1.0], (model.n_traits, 1))).gaussian
        n = len(bank.categories)
        p, gain = np.zeros((len(pairs), n)), np.zeros(len(pairs))
        for row, ((person, _), item) in enumerate(zip(pairs, bank.positions([item for _, item in pairs]), strict=True)):
            u = place.get(person, -1)
            mean, V = stranger
            if u >= 0:  # of traits that are new they are strangers, too
                d = self.means.shape[1]
                mean, V = np.r_[self.means[u], mean[d:]], linalg.block_diag(self.covariances[u], V[d:, d:])
            P = np.linalg.inv(V)
            at = np.array([model.n_style + bank.trait_of[item]])
            p[row], _, variances, sites, before = asked(bank, int(item), mean, V, P, P @ mean, at)
            if target == "people":
                gain[row] = 0.5 * p[row] @ np.log(V[at[0], at[0]] / variances[:, 0, 0])
            else:
                gain[row] = _about(target, p[row], sites, before, bank, int(item))
        gain = np.minimum(np.maximum(gain, 0.0), entropy(p))
        return StatedPredictive(
            outcomes=bank.categories, probabilities=p, expected_entropy=entropy(p) - gain, random_state=random_state
        )

    def strangers(self, answers: Answers) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Means, deviations (people, traits) and probabilities (people, items, R) for new people."""
        fit = self.bank.people(answers)
        nobody = replace(answers, items=self.bank.items)
        seen = replace(self, data=nobody, means=fit.means, covariances=fit.covariances)
        pairs = [(person, item) for person in answers.people for item in self.bank.items]
        p = seen.probabilities(pairs).reshape(len(answers.people), len(self.bank), -1)
        return *self.bank.moments(fit), p

    def given_others(self, answers: Answers) -> np.ndarray:
        """(answers, R) probabilities of new people's answers, of each given all others of the person."""
        given = answers.with_items(self.bank.items)
        p = np.exp(self.bank.people(given, others=True).others)
        return np.where(self.bank.reverse[given.item, None], p[:, ::-1], p)

    def state(self) -> State:
        """Plain data, without the answers."""
        return {
            "bank": self.bank.state(), "means": self.means, "covariances": self.covariances,
            "prequential": self.prequential, "trace": list(self.trace), "converged": self.converged,
            "skipped": self.skipped, "chosen": self.chosen, "dimension": Dimension.stored(self.dimension),
        }  # fmt: skip

    @classmethod
    def from_state(cls, settings: QuestionnaireSettings, data: Answers, state: State) -> OrdinalBelief:
        """The belief that ``state`` described."""
        means, covariances, prequential = (
            np.asarray(state[name], dtype=float) for name in ("means", "covariances", "prequential")
        )
        return cls(
            settings, data, OrdinalBank.from_state(state["bank"]), means, covariances, prequential,
            list(state["trace"]), state["converged"], state["skipped"], state["chosen"],
            Dimension.restored(state["dimension"]),
        )  # fmt: skip


def settings_limits(settings: QuestionnaireSettings) -> Options:
    """Sweeps and tolerance where they were given."""
    given = {"max_iter": settings.max_iter, "tol": settings.tol}
    return {name: value for name, value in given.items() if value is not None}


def _about(
    target: str | None, p: np.ndarray, sites: np.ndarray, before: np.ndarray, bank: OrdinalBank, item: int
) -> float:
    """Information about the item, or about item and person, from the sites on w."""
    d = len(before)
    noise = np.diag(np.r_[np.full(d - 1, bank.model.threshold_noise**2), bank.trait_noise[item] ** 2])
    V = before - noise
    if target == "items":
        V = np.zeros_like(before)
        V[:-1, :-1] = bank.covariances[item]
        noise = before - V
    K = np.linalg.solve(np.eye(d) + sites @ noise, sites)
    return float(0.5 * p @ np.linalg.slogdet(np.eye(d) + K @ V)[1])
