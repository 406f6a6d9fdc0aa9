"""Belief after answers under many traits: items by their joint mode with people, and Gaussians about people."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import expit, softmax
from sklearn.exceptions import ConvergenceWarning

from adaptive.estimators.questionnaires.answers import Answers, Label, Pairs, log_of
from adaptive.estimators.questionnaires.base import QuestionnaireBelief
from adaptive.estimators.questionnaires.curves import ASYMPTOTES, CURVES
from adaptive.estimators.questionnaires.factors.averages import answer_averages, posterior_moments
from adaptive.estimators.questionnaires.factors.bank import FactorBank, flattened
from adaptive.estimators.questionnaires.factors.fit import PENALTY, STEP_DEVIATION, fit_factors
from adaptive.estimators.questionnaires.factors.number import number_of_traits
from adaptive.estimators.questionnaires.factors.people import People
from adaptive.estimators.questionnaires.settings import QuestionnaireSettings
from adaptive.estimators.searches import grown
from adaptive.predictive import Predictive, StatedPredictive
from adaptive.predictive.derivations import entropy

if TYPE_CHECKING:
    from adaptive.types import Options, State

__all__ = ["FactorBelief"]

ROUNDS = 4  # of EP for one site, which moves no digit that counts after three


@dataclass(frozen=True, eq=False)
class FactorBelief(QuestionnaireBelief[FactorBank]):
    """Items and people of many traits; ``chosen`` is the number of answers by which the number was chosen."""

    settings: QuestionnaireSettings
    data: Answers
    bank: FactorBank
    means: np.ndarray
    covariances: np.ndarray
    trace: list[float] = field(default_factory=list)
    converged: bool = True
    chosen: int = 0

    dimension = None  # several traits are expected

    def __getstate__(self) -> State:
        return {name: value for name, value in self.__dict__.items() if name != "prequential"}

    @property
    def log_evidence(self) -> float:
        """Prequential: the sum of the log probabilities of the answers, each given all others."""
        return float(self.prequential.sum())

    # -- learning ----------------------------------------------------------------------------------------------------

    @classmethod
    def learnt(
        cls, settings: QuestionnaireSettings, data: Answers, earlier: FactorBelief | None = None
    ) -> FactorBelief:
        """Items and people from answers, anew; a number of traits that was chosen is held for a hundredth more."""
        settings.check_items(data.items)
        reverse = settings.reversed(data.items)
        turned = data.reversed_for(reverse)
        k, chosen = settings.n_traits, 0 if earlier is None else earlier.chosen
        if k == "held_out":
            if earlier is None or grown(len(data), earlier.chosen):
                k, chosen = number_of_traits(turned), len(data)
            else:
                k = len(earlier.bank.traits)
        limits: Options = {
            name: value for name, value in (("max_iter", settings.max_iter), ("tol", settings.tol)) if value is not None
        }
        model = settings.response_model
        if model in ASYMPTOTES and len(data.categories) != 2:
            raise ValueError(f"response_model={model!r} is for answers 0 and 1, got {list(data.categories)}.")
        asymptotes = len(ASYMPTOTES.get(model, ()))
        fit = fit_factors(turned, min(int(k), len(data.items)), asymptotes, **limits)
        if not fit.converged:
            warnings.warn(
                f"Questionnaire did not converge in {len(fit.trace)} iterations: raise max_iter or tol.",
                ConvergenceWarning,
                stacklevel=2,
            )
        bank = FactorBank(
            data.items, data.categories, fit.loadings, fit.steps, fit.doubt, reverse, fit.asymptotes,
            model == "continuous",
        )  # fmt: skip
        return cls(settings, data, bank, fit.means, fit.covariances, fit.trace, fit.converged, chosen)

    @classmethod
    def of_bank(cls, settings: QuestionnaireSettings, data: Answers, bank: FactorBank) -> FactorBelief:
        """Items that are known, and nobody who answered."""
        k = len(bank.traits)
        return cls(settings, data, bank, np.zeros((0, k)), np.zeros((0, k, k)))

    # -- what is believed --------------------------------------------------------------------------------------------

    @classmethod
    def prior_predictive(cls, settings: QuestionnaireSettings, pairs: Pairs, **options: Any) -> Predictive:
        """The belief about (person, item) pairs before any answer."""
        items = list(dict.fromkeys(item for _, item in pairs))
        bank = FactorBank(
            (), settings.scale, np.zeros((0, 1)), np.zeros((0, len(settings.scale))), np.zeros(0), np.zeros(0),
            between=settings.response_model == "continuous",
        )  # fmt: skip
        empty = cls(settings, Answers.none((), settings.scale), bank, np.zeros((0, 1)), np.zeros((0, 1, 1)))
        return cls(settings, empty.data, empty._extended(items), empty.means, empty.covariances).predictive(
            pairs, **options
        )

    def moments(self) -> tuple[np.ndarray, np.ndarray]:
        """Means and deviations (people, traits) of those in the fit."""
        return self.means, np.sqrt(np.einsum("uii->ui", self.covariances))

    def _extended(self, items: Iterable[Label]) -> FactorBank:
        """The bank with items that it lacks: of a new one only the usual loading is known."""
        bank, known = self.bank, set(self.bank.items)
        new = [item for item in dict.fromkeys(items) if item not in known]
        if not new:
            return bank
        usual = bank.loadings_of.mean(axis=0) if len(bank) else np.eye(len(bank.traits))[0]
        doubt = STEP_DEVIATION**2 + len(bank.traits) / PENALTY
        more = len(new)
        everything = [*bank.items, *new]
        return FactorBank(
            everything, bank.categories, np.concatenate([bank.loadings_of, np.tile(usual, (more, 1))]),
            np.concatenate([bank.steps, np.zeros((more, len(bank.categories)))]),
            np.r_[bank.doubt, np.full(more, doubt)], np.r_[bank.reverse, self.settings.reversed(new)],
            np.concatenate([bank.asymptotes, np.tile(before(self.settings.response_model), (more, 1))]), bank.between,
        )  # fmt: skip

    def predictive(self, pairs: Pairs, *, target: str | None = None, random_state: Any = None) -> Predictive:
        """Answers of people to items; the information is about items, about people, or (default) about both.

        What is not to be learnt flattens the curve: H(y) - E H(y | s), s with the variance of what is.
        """
        bank = self._extended([item for _, item in pairs])
        items = bank.positions([item for _, item in pairs])
        place = {person: k for k, person in enumerate(self.data.people)}
        rows = np.array([place.get(person, -1) for person, _ in pairs], dtype=np.intp)
        k = len(bank.traits)
        means, covariances = np.concatenate([self.means, np.zeros((1, k))]), [*self.covariances, np.eye(k)]
        a, doubt = bank.loadings_of[items], bank.doubt[items]
        mean = np.sum(a * means[rows], axis=1)
        of_person = np.einsum("ni,nij,nj->n", a, np.stack(covariances)[rows], a)
        both = of_person + doubt
        aimed = {"people": of_person, "items": doubt}.get(target or "", both)
        flat = flattened(both - aimed)
        steps = flat[:, None] * bank.steps[items]
        looked_at = answer_averages((flat * mean)[None], (flat**2 * aimed)[None], steps, bank.asymptotes[items], True)
        p, _, known = (one[0] for one in looked_at)
        p = np.where(bank.reverse[items][:, None], p[:, ::-1], p)
        return StatedPredictive(
            outcomes=bank.categories, probabilities=p, expected_entropy=np.minimum(known, entropy(p)),
            random_state=random_state,
        )  # fmt: skip

    def strangers(self, answers: Answers) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Means, deviations (people, traits) and probabilities (people, items, R) for new people."""
        people = self.bank.people(answers)
        p = people.outlook(np.arange(len(self.bank))).probabilities
        p = np.where(self.bank.reverse[:, None], p[..., ::-1], p)
        return people.mean, np.sqrt(np.einsum("uii->ui", people.covariance)), p

    @cached_property
    def prequential(self) -> np.ndarray:
        """(answers,) log probability of each answer, its own site taken out of the person's Gaussian."""
        people, turned = People(self.bank, self.means, self.covariances), self.data.reversed_for(self.bank.reverse)
        return log_of(self._without_own(people, turned), turned.answer, 1e-300)

    def given_others(self, answers: Answers) -> np.ndarray:
        """(answers, R) probabilities of new people's answers, of each given all others of the person."""
        given = answers.with_items(self.bank.items)
        p = self._without_own(self.bank.people(given), given.reversed_for(self.bank.reverse))
        return np.where(self.bank.reverse[given.item, None], p[:, ::-1], p)

    def _without_own(self, people: People, turned: Answers) -> np.ndarray:
        """(answers, R) probabilities, the site of each answer taken out of the person's Gaussian."""
        found = np.zeros((len(turned), len(self.bank.categories)))
        order, first = turned.by_person()
        for u in range(len(turned.people)):
            rows = order[first[u] : first[u + 1]]
            one = People(self.bank, people.mean[u : u + 1], people.covariance[u : u + 1])
            outlook = one.outlook(turned.item[rows])
            steps, asymptotes = outlook.steps, outlook.asymptotes
            before = np.sum(outlook.loadings**2, axis=1)  # variances of strangers
            m, v = _without(outlook.mean[0], outlook.variance[0], before, steps, asymptotes, turned.answer[rows])
            q, _, _ = answer_averages(m[None], v[None], steps, asymptotes)
            found[rows] = q[0]
        return found

    def state(self) -> State:
        """Plain data, without the answers."""
        return {
            "bank": self.bank.state(), "means": self.means, "covariances": self.covariances, "trace": list(self.trace),
            "converged": self.converged, "chosen": self.chosen,
        }  # fmt: skip

    @classmethod
    def from_state(cls, settings: QuestionnaireSettings, data: Answers, state: State) -> FactorBelief:
        """The belief that ``state`` described."""
        means, covariances = (np.asarray(state[name], dtype=float) for name in ("means", "covariances"))
        bank = FactorBank.from_state(state["bank"])
        return cls(settings, data, bank, means, covariances, list(state["trace"]), state["converged"], state["chosen"])


def before(model: str) -> np.ndarray:
    """(2,) the asymptotes of an item of which nothing is known."""
    lower, upper = 0.0, 1.0
    if model in ASYMPTOTES:
        lower, *short = expit(CURVES[model].prior(2)[0][1:])
        upper = lower + (1.0 - lower) * short[0] if short else 1.0
    return np.array([lower, upper])


def _without(
    mean: np.ndarray, variance: np.ndarray, most: np.ndarray, steps: np.ndarray, asymptotes: np.ndarray, y: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:  # fmt: skip
    """The Gaussians N(m, v) that the answers y (n,) turn into these: by EP's fixed point, ``most`` the largest v."""
    pull, w = _site(mean, steps, asymptotes, y)
    shift = pull + w * mean
    for _ in range(ROUNDS):
        v = np.clip(1.0 / np.maximum(1.0 / variance - w, 1e-12), variance, np.maximum(most, variance))
        m = v * (mean / variance - shift)
        first, second, _ = posterior_moments(m, v, steps, y, asymptotes)
        w, shift = 1.0 / second - 1.0 / v, first / second - m / v
    return m, v


def _site(s: np.ndarray, steps: np.ndarray, asymptotes: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Slope of log p(y | s) along s, and its Fisher information, at projections (n,)."""
    ranks = np.arange(steps.shape[1])
    p = softmax(s[:, None] * ranks + steps, axis=1)
    expected = p @ ranks
    pull, w = y - expected, p @ ranks**2 - expected**2
    low, high = asymptotes.T
    if (low > 0).any() or (high < 1).any():
        right = np.clip(low + (high - low) * p[:, 1], 1e-12, 1.0 - 1e-12)
        steep = (high - low) * p[:, 1] * p[:, 0]
        pull, w = (y - right) / (right * (1.0 - right)) * steep, steep**2 / (right * (1.0 - right))
    return pull, np.maximum(w, 1e-12)
