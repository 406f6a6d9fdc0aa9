"""People who are asked at the same time from one bank: beliefs and totals of all of them by products of matrices.

A crowd has ``predictive`` (everybody's items, one after the other), ``learn``, ``moments`` and ``totals``; `simulation`
asks it. What one of the people would be asked alone, the crowd asks.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from adaptive.estimators.questionnaires.bank import Bank
from adaptive.estimators.questionnaires.base import log_prior
from adaptive.estimators.questionnaires.factors.bank import FactorBank
from adaptive.estimators.questionnaires.factors.people import People
from adaptive.estimators.questionnaires.total_gains import left_open
from adaptive.predictive import StatedPredictive
from adaptive.predictive.derivations import entropy

if TYPE_CHECKING:
    from adaptive.estimators.questionnaires.base import ItemBank, Newcomer
    from adaptive.predictive import Predictive

__all__ = ["Crowd", "crowd_of", "points_of", "worth_of"]


class Crowd(Protocol):
    """People of a bank, asked at the same time."""

    def predictive(self, left: np.ndarray, about_total: bool) -> Predictive:
        """Beliefs about all answers, people x items in the order of people; ``left`` (people, items) were not asked."""

    def learn(self, rows: np.ndarray, items: np.ndarray, answers: np.ndarray) -> None:
        """One answer, as asked, of each of the people in ``rows``."""

    def moments(self) -> tuple[np.ndarray, np.ndarray]:
        """Means and deviations (people, traits)."""

    def totals(self, left: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Means and deviations (people,) of the totals of the counted items."""


def crowd_of(bank: ItemBank, n: int, prior: Any, counted: np.ndarray, gains: bool = False) -> Crowd | None:
    """``n`` strangers, whose information ``gains`` will be asked for or not; None: people are asked one by one."""
    if isinstance(bank, FactorBank):
        return _FactorCrowd(bank, n, prior, counted, gains)
    if isinstance(bank, Bank) and len(bank.parts) == 1:
        return _GridCrowd(bank, n, prior, counted)
    return None


def points_of(bank: ItemBank) -> np.ndarray:
    """(items, R) what each answer, as asked, counts in a total: reversed items are turned round."""
    scale = np.asarray(bank.categories, dtype=float)
    found = np.where(bank.reverse[:, None], scale[::-1], scale)
    if isinstance(bank, Bank):
        of_part, place = bank.part_of
        for item in np.flatnonzero(bank.reverse):
            n = int(np.flatnonzero(bank.parts[of_part[item]].table[place[item]].any(axis=0)).max()) + 1
            found[item, :n] = scale[:n][::-1]
    return found


def worth_of(bank: ItemBank, items: np.ndarray, answers: np.ndarray) -> np.ndarray:
    """Points that answers (..., items), as asked, count in a total."""
    return bank.worth(items, answers) if isinstance(bank, FactorBank) else points_of(bank)[items, answers]


class _GridCrowd:
    """Weights (people, k) on the grid of a bank of one part."""

    def __init__(self, bank: Bank, n: int, prior: np.ndarray, counted: np.ndarray) -> None:
        _, _, self.x, self.table = bank.parts[0]
        self.bank, self.uncertain = bank, entropy(self.table).T
        self.by_answer = [np.ascontiguousarray(curve.T) for curve in np.moveaxis(self.table, 2, 0)]
        self.logs = np.log(np.maximum(self.table, 1e-300))
        self.joint = np.tile(log_prior(self.x, *prior.T), (n, 1))
        self.w = np.exp(self.joint)
        self.points, self.counted = points_of(bank), np.isin(np.arange(len(bank)), counted)
        given = np.einsum("ikr,ir->ik", self.table, self.points)
        spread = np.maximum(np.einsum("ikr,ir->ik", self.table, self.points**2) - given**2, 0.0)
        self.of_items = np.where(self.counted[:, None], given, 0.0), np.where(self.counted[:, None], spread, 0.0)
        votes = np.argmax(self.table, axis=2).T  # of each node
        self.voters = [np.ascontiguousarray(votes == c, dtype=float) for c in range(self.table.shape[2])]
        more = self.points.argmax(axis=1)  # of two answers the one that counts more
        self.q = np.take_along_axis(self.table, more[:, None, None], axis=2)[:, :, 0]
        self.known = np.zeros(n)
        self.mean, self.spread = (np.tile(one.sum(axis=0), (n, 1)) for one in self.of_items)

    def predictive(self, left: np.ndarray, about_total: bool) -> Predictive:
        p = np.stack([self.w @ curve for curve in self.by_answer], axis=-1).reshape(-1, len(self.by_answer))
        return StatedPredictive(
            outcomes=self.bank.categories, probabilities=p, fisher_information=self._fisher, votes=self._votes,
            expected_entropy=lambda: (self._left_open(left) if about_total else self.w @ self.uncertain).ravel(),
        )  # fmt: skip

    def _fisher(self) -> np.ndarray:
        return self.bank.informations(np.arange(len(self.bank)), (self.w @ self.x)[:, :1]).T.ravel()

    def _votes(self) -> np.ndarray:
        shares = np.stack([self.w @ of_one for of_one in self.voters], axis=-1)
        return np.clip(shares, 0.0, 1.0).reshape(-1, len(self.voters))

    def _left_open(self, left: np.ndarray) -> np.ndarray:
        """(people, items) nats of an answer of two once the total is known, 0 where it was given."""
        most = entropy(np.stack([self.w @ curve for curve in self.by_answer], axis=-1))
        return np.minimum(left_open(self.w, self.q, left & self.counted, left), most)

    def learn(self, rows: np.ndarray, items: np.ndarray, answers: np.ndarray) -> None:
        self.joint[rows] += self.logs[items, :, answers]
        w = np.exp(self.joint - self.joint.max(axis=1, keepdims=True))
        self.w = w / w.sum(axis=1, keepdims=True)
        self.mean[rows] -= self.of_items[0][items]
        self.spread[rows] -= self.of_items[1][items]
        self.known[rows] += np.where(self.counted[items], self.points[items, answers], 0.0)

    def moments(self) -> tuple[np.ndarray, np.ndarray]:
        return self.bank.moments([self.w])

    def totals(self, left: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        mean = np.sum(self.w * self.mean, axis=1)
        variance = np.sum(self.w * (self.spread + (self.mean - mean[:, None]) ** 2), axis=1)
        return self.known + mean, np.sqrt(np.maximum(variance, 0.0))


class _FactorCrowd:
    """Gaussians over many traits."""

    def __init__(
        self, bank: FactorBank, n: int, prior: np.ndarray | Newcomer, counted: np.ndarray, gains: bool
    ) -> None:
        self.bank, self.people, self.gains = bank, People.before(bank, n, prior), gains
        self.counted = np.isin(np.arange(len(bank)), counted)
        self.known, self.left = np.zeros(n), np.ones((n, len(bank)), dtype=bool)
        self._outlook = self.people.outlook(np.arange(len(bank)))

    def predictive(self, left: np.ndarray, about_total: bool) -> Predictive:
        now = self._outlook
        now.entropies = self.gains and not about_total
        p = now.probabilities.reshape(-1, len(self.bank.categories))

        def expected() -> np.ndarray:
            gain = now.gain_of_total(left & self.counted) if about_total else now.gain_of_traits()
            return (now.uncertainty - gain).ravel()

        return StatedPredictive(
            outcomes=self.bank.categories, probabilities=p, expected_entropy=expected,
            outcome_entropy=lambda: now.uncertainty.ravel(), votes=lambda: now.votes.reshape(p.shape),
        )  # fmt: skip

    def learn(self, rows: np.ndarray, items: np.ndarray, answers: np.ndarray) -> None:
        self.people.learn(rows, items, self.bank.turned(items, answers))
        self.known[rows] += np.where(self.counted[items], self.bank.worth(items, answers), 0.0)
        self.left[rows, items] = False
        self._outlook = self.people.outlook(np.arange(len(self.bank)), self.left)

    def moments(self) -> tuple[np.ndarray, np.ndarray]:
        return self.people.mean, np.sqrt(np.einsum("uii->ui", self.people.covariance))

    def totals(self, left: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        mean, variance = self._outlook.totals(left & self.counted)
        return self.known + mean, np.sqrt(variance)
