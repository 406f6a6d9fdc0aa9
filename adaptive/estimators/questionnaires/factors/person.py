"""One person of many traits: a Gaussian, and what an answer would teach about traits, a total or other answers."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.stats import norm

from adaptive.estimators.questionnaires.base import Person
from adaptive.estimators.questionnaires.factors.people import Outlook, People, gaussian_gain
from adaptive.estimators.questionnaires.total import Total, interval
from adaptive.predictive.base import Predictive
from adaptive.predictive.derivations import Way, entropy

if TYPE_CHECKING:
    from adaptive.estimators.questionnaires.factors.bank import FactorBank
    from adaptive.types import RandomState

__all__ = ["FactorPerson", "FactorPredictive"]

DRAWS = 512


class FactorPerson(Person["FactorBank"]):
    """A person by a Gaussian; `Person` says the rest."""

    bank: FactorBank
    _derived = "gaussian"

    @cached_property
    def gaussian(self) -> People:
        """The person alone, after the answers in their order."""
        alone = People.before(self.bank, 1, self.prior)
        items, answers = np.array(self.items, dtype=np.intp), np.array(self.answers, dtype=float)
        for k in range(len(items)):
            ranks = self.bank.turned(items[k : k + 1], answers[k : k + 1])
            alone.learn(np.zeros(1, dtype=np.intp), items[k : k + 1], ranks)
        return alone

    def after(self, items: tuple[int, ...], answers: tuple[Any, ...]) -> FactorPerson:
        made = super().after(items, answers)
        if "gaussian" in self.__dict__:  # the earlier answers are learnt already
            known = self.gaussian.copy()
            for item, answer in zip(items, answers, strict=True):
                at = np.array([item], dtype=np.intp)
                known.learn(np.zeros(1, dtype=np.intp), at, self.bank.turned(at, np.array([answer])))
            made.__dict__["gaussian"] = known
        return made

    def moments(self) -> tuple[np.ndarray, np.ndarray]:
        return self.gaussian.mean[0], np.sqrt(np.diagonal(self.gaussian.covariance[0]))

    def interval(self, level: float) -> np.ndarray:
        mean, deviation = self.moments()
        z = norm.ppf(0.5 + level / 2)
        return np.column_stack([mean - z * deviation, mean + z * deviation])

    def predictive(
        self, items: np.ndarray, traits: np.ndarray, about: np.ndarray | None = None, random_state: RandomState = None
    ) -> Predictive:
        """The belief about items; the information is about ``traits``, or about answers to items ``about``."""
        return FactorPredictive(self, items, traits=traits, about=about, random_state=random_state)

    def about_total(self, items: np.ndarray, counted: np.ndarray, random_state: RandomState = None) -> Predictive:
        return FactorPredictive(self, items, counted=np.unique(counted), random_state=random_state)

    def open(self, counted: np.ndarray) -> np.ndarray:
        """Positions of the counted items that were not asked."""
        return np.setdiff1d(counted, np.array(self.items, dtype=np.intp))

    def total(self, counted: np.ndarray, level: float) -> Total:
        """A Gaussian, or a mixture, in steps of the scale, within what is possible."""
        counted, scale = np.unique(counted), self.bank.points
        left = self.open(counted)
        asked = np.isin(np.array(self.items, dtype=np.intp), counted)
        items, answers = np.array(self.items, dtype=np.intp)[asked], np.array(self.answers, dtype=float)[asked]
        known = float(self.bank.worth(items, answers).sum())
        outlook = self.gaussian.outlook(left)
        open_ = np.ones((1, len(left)), dtype=bool)
        of_left, variance = outlook.totals(open_)
        mean, std = known + float(of_left[0]), float(np.sqrt(variance[0]))
        step = int(np.gcd.reduce(np.diff(np.asarray(self.bank.categories)))) or 1
        size = 1 + len(left) * round((scale[-1] - scale[0]) / step)
        least = known + len(left) * scale[0]
        values = (least if self.bank.between else round(least)) + step * np.arange(size)
        edges, p = np.r_[values - step / 2, values[-1] + step / 2], np.zeros(size)
        centres, variances, _ = outlook.sums(open_)
        for weight, centre, spread in zip(self.gaussian.weights[0], centres, np.sqrt(variances), strict=True):
            p += weight * np.diff(norm.cdf((edges - known - centre) / max(spread, 1e-9)))
        p = p / p.sum() if p.sum() > 0 else np.eye(size)[np.argmin(np.abs(values - mean))]
        return Total(mean, std, interval(values, p, level), values, p)


class FactorPredictive(Predictive):
    """Predictive of answers by one Gaussian.

    Parameters
    ----------
    person : FactorPerson
    items : (m,) array of int
    traits : (t,) array of int, optional
        What is to be learnt, all of them or some.
    about : (t,) array of int, optional
        Items whose answers are.
    counted : (s,) array of int, optional
        Items whose total is.
    """

    sampled = True

    def __init__(
        self, person: FactorPerson, items: np.ndarray, *, traits: np.ndarray | None = None,
        about: np.ndarray | None = None, counted: np.ndarray | None = None, random_state: RandomState = None,
    ) -> None:  # fmt: skip
        self._person, self._items = person, np.asarray(items, dtype=np.intp)
        self._about: dict[str, Any] = {"traits": traits, "about": about, "counted": counted}
        bank = person.bank
        super().__init__(
            len(self._items), outcomes=np.asarray(bank.categories), random_state=random_state,
            features=lambda: bank.curves[0][self._items],
            measured=lambda: bank.curves[0][np.array(person.items, dtype=np.intp)],
        )  # fmt: skip
        self.remedy = "Fisher information is about one trait that has a name, not about many"

    def _provides(self, name: str) -> bool:
        if name in ("draws", "votes"):  # of all that is to be learnt
            return self._about["traits"] is not None and self._about["about"] is None
        return super()._provides(name)

    @cached_property
    def _outlook(self) -> Outlook:
        return self._person.gaussian.outlook(self._items)

    def _ranked(self) -> np.ndarray:
        """(m, R) probabilities of answers as asked."""
        p = self._outlook.probabilities[0]
        return np.where(self._person.bank.reverse[self._items][:, None], p[:, ::-1], p)

    def _voted(self) -> np.ndarray:
        """(m, R) shares of votes for answers as asked."""
        votes = self._outlook.votes[0]
        return np.where(self._person.bank.reverse[self._items][:, None], votes[:, ::-1], votes)

    def given(self, i: int, outcome: float | None = None) -> Predictive:
        """The predictive had candidate ``i`` been answered."""
        if outcome is None:
            raise self._unknown(i)
        after = self._person.after((int(self._items[i]),), (self._place_of(outcome),))
        return FactorPredictive(after, self._items, **self._about, random_state=self.seed)

    def draws(self, n: int | None = None) -> tuple[np.ndarray, np.ndarray]:
        """Joint draws of the traits."""
        if not self.provides("draws"):
            raise self._missing("draws")
        n, people = DRAWS if n is None else n, self._person.gaussian
        rng = np.random.default_rng(self.seed)
        z = rng.standard_normal((n, people.centres.shape[1]))
        roots = np.linalg.cholesky(people.spreads + 1e-12 * np.eye(z.shape[1]))
        part = np.zeros(n, dtype=np.intp) if people.parts == 1 else rng.choice(people.parts, n, p=people.weights[0])
        x = people.centres[part] + np.einsum("nij,nj->ni", roots[part], z)
        energy = (x @ self._outlook.loadings.T)[..., None] * np.arange(len(self.outcomes))
        energy = energy + self._outlook.steps
        p = np.exp(energy - energy.max(axis=-1, keepdims=True))
        p = self._person.bank.with_asymptotes(p / p.sum(axis=-1, keepdims=True), self._items)
        return np.full(n, 1.0 / n), np.where(self._person.bank.reverse[self._items][:, None], p[..., ::-1], p)

    # -- what is to be learnt ----------------------------------------------------------------------------------------

    @cached_property
    def _target(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Means (parts, t) and slopes (parts, t, K) of what is to be learnt, and its covariance (t, t)."""
        people, about = self._person.gaussian, self._about["about"]
        if self._about["counted"] is not None:
            outlook = people.outlook(self._person.open(self._about["counted"]))
            open_ = np.ones((1, len(outlook.items)), dtype=bool)
            mean, _, h = outlook.sums(open_)
            return mean[:, None], h[:, None], outlook.totals(open_)[1][None]
        if about is None:
            k = self._about["traits"]
            h = np.tile(np.eye(people.centres.shape[1])[k], (people.parts, 1, 1))
            return people.centres[:, k], h, people.covariance[0][np.ix_(k, k)]
        outlook = people.outlook(about)
        mean, _, slope = outlook.of_parts
        h = slope[:, :, None] * outlook.loadings
        shared = people.mixed(h @ people.spreads @ h.transpose(0, 2, 1))
        found = (shared + people.between(mean[:, :, None], mean[:, None, :]))[0]
        np.fill_diagonal(found, outlook.variances[0])
        return mean, h, found

    @cached_property
    def _gain(self) -> np.ndarray:
        """(m,) nats."""
        people, outlook = self._person.gaussian, self._outlook
        about, counted = self._about["about"], self._about["counted"]
        if counted is not None:
            left = self._person.open(counted)
            sums = people.outlook(left).sums(np.ones((1, len(left)), dtype=bool))
            return outlook.gain_of(sums, np.isin(self._items, left)[None])[0]
        if about is None and len(self._about["traits"]) == people.n_traits:
            return outlook.gain_of_traits()[0]
        mean, h, variance = self._target
        of_item, _, slope = outlook.of_parts
        shared = slope[:, :, None] * (outlook.loadings @ people.spreads @ h.transpose(0, 2, 1))
        together = (people.mixed(shared) + people.between(of_item[:, :, None], mean[:, None, :]))[0]
        own = outlook.variances[0]
        if about is not None:
            same = self._items[:, None] == np.asarray(about)
            together = np.where(same, own[:, None], together)
        solved = np.linalg.solve(variance + 1e-12 * np.eye(len(variance)), together.T)
        return gaussian_gain(np.sum(together.T * solved, axis=0), own, entropy(self.probabilities))


def _target_entropy(p: FactorPredictive) -> float:
    variance = p._target[2]
    return 0.5 * float(np.linalg.slogdet(2.0 * np.pi * np.e * (variance + 1e-12 * np.eye(len(variance))))[1])


FactorPredictive.ways = Predictive.ways | {
    "probabilities": (Way((), lambda p: p._ranked()),),
    "votes": (Way((), lambda p: p._voted()),),
    "expected_entropy": (Way((), lambda p: entropy(p.probabilities) - p._gain),),
    "target_entropy": (Way((), _target_entropy),),
    "expected_target_entropy": (Way((), lambda p: p.target_entropy - p._gain),),
    "target_deviation": (Way((), lambda p: np.sqrt(np.maximum(np.diagonal(p._target[2]), 0.0))),),
}
