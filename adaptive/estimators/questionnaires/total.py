"""Total score of a person: its distribution, and what the next answer would teach about it.

    T  =  sum_i v_i(y_i),      p(T | answers)  =  sum_k w_k  (convolution over items not asked of p_i(. | x_k))
    I(y_c; T)  =  H(y_c) + H(T) - H(y_c, T'),      T' the total without item c, which is known once c is asked

Convolutions are products of characteristic functions, which mix over the grid like probabilities; answers given are
constants. Reversed items count turned round. What calibration left open of each item is in its table; origin and unit
of the trait, common to all items, move no total.
"""

from __future__ import annotations

from functools import cached_property, reduce
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from adaptive.estimators.questionnaires.total_gains import NEGLIGIBLE, left_open
from adaptive.predictive.base import Predictive
from adaptive.predictive.derivations import Way, entropy

if TYPE_CHECKING:
    from adaptive.estimators.questionnaires.bank import Bank
    from adaptive.estimators.questionnaires.grid_person import GridPerson
    from adaptive.types import RandomState

__all__ = ["Total", "TotalPredictive", "Totals", "interval"]

MOST = 20_000  # values a total may have


class Total(NamedTuple):
    """A total score as it is predicted.

    Attributes
    ----------
    mean, std : float
    interval : (2,) array
        The least and largest value of the central interval, which holds the level at least.
    values, probabilities : (n,) arrays
        Its distribution.
    """

    mean: float
    std: float
    interval: np.ndarray
    values: np.ndarray
    probabilities: np.ndarray


def interval(values: np.ndarray, probabilities: np.ndarray, level: float) -> np.ndarray:
    """(2,) quantiles that leave at most (1 - level) / 2 outside at either end."""
    below = np.cumsum(probabilities)
    ends = np.searchsorted(below, [(1 - level) / 2, (1 + level) / 2 - 1e-12])
    return np.asarray(values[np.minimum(ends, len(values) - 1)])


class Totals:
    """The total over some items of a bank, for any person.

    Parameters
    ----------
    bank : Bank
    counted : (s,) array of int
        Positions of the items that make the total.
    """

    def __init__(self, bank: Bank, counted: np.ndarray) -> None:
        self.bank, self.counted = bank, np.unique(counted)
        scale = np.asarray(bank.categories, dtype=np.int64)
        of_part, place = bank.part_of
        self.points = np.zeros((len(bank), len(scale)), dtype=np.int64)  # of each answer, as asked
        for item in range(len(bank)):
            n = int(np.flatnonzero(bank.parts[of_part[item]].table[place[item]].any(axis=0)).max()) + 1
            self.points[item, :n] = scale[:n][::-1] if bank.reverse[item] else scale[:n]
        self.step = int(np.gcd.reduce(scale - scale[0])) or 1
        self.least = int(scale[0])
        self.size = 1 + len(self.counted) * int((scale[-1] - scale[0]) // self.step)
        if self.size > MOST:
            raise ValueError(f"a total over these items has {self.size} values; at most {MOST} are supported.")
        self.frequencies = np.arange(self.size // 2 + 1)

    @cached_property
    def shares(self) -> np.ndarray:
        """(items, k) probability of the larger of two answers, of a bank of one part, at each node of its grid."""
        more = self.points.argmax(axis=1)
        return np.take_along_axis(self.bank.parts[0].table, more[:, None, None], axis=2)[:, :, 0]

    def waves(self, item: int) -> np.ndarray:
        """(R, F) what each answer of an item does to the characteristic function of the total."""
        steps = (self.points[item] - self.least) // self.step
        return np.asarray(np.exp(-2j * np.pi * np.outer(steps, self.frequencies) / self.size))

    def known(self, person: GridPerson) -> int:
        """Points of the answers given, and the least that the others can have."""
        counted = set(self.counted.tolist())
        asked = [(i, a) for i, a in zip(person.items, person.answers, strict=True) if i in counted]
        return int(sum(self.points[i, a] for i, a in asked)) + self.least * (len(counted) - len(asked))

    def open(self, person: GridPerson) -> np.ndarray:
        """Positions of the counted items that were not asked."""
        return np.setdiff1d(self.counted, np.array(person.items, dtype=np.intp))

    def values(self, person: GridPerson) -> np.ndarray:
        """(size,) the values of the total, of which the last ones may be impossible."""
        return self.known(person) + self.step * np.arange(self.size)

    def distribution(self, waves: np.ndarray) -> np.ndarray:
        """(..., size) probabilities of characteristic functions (..., F)."""
        found = np.fft.irfft(waves, n=self.size, axis=-1)
        return np.where(found > 1e-15, found, 0.0)  # rounding


class TotalPredictive(Predictive):
    """Predictive of answers, with the total as what is to be learnt.

    Parameters
    ----------
    totals : Totals
    person : GridPerson
    items : (m,) array of int
    random_state : seed of what is drawn
    **fields
        Others that are stated.
    """

    def __init__(
        self, totals: Totals, person: GridPerson, items: np.ndarray, random_state: RandomState = None, **fields: Any
    ) -> None:
        self._totals, self._person, self._items, self._stated_beside = totals, person, items, fields
        super().__init__(len(items), outcomes=person.bank.categories, random_state=random_state, **fields)

    @cached_property
    def _traits(self) -> Predictive:
        """The same answers with all traits as what is to be learnt."""
        return self._person.predictive(self._items, np.arange(len(self._person.bank.traits)), None, self.seed)

    def given(self, i: int, outcome: float | None = None) -> Predictive:
        """The predictive had candidate ``i`` been answered."""
        if outcome is None:
            raise self._unknown(i)
        column = self._place_of(outcome)
        if not self.probabilities[i, column] > 0:
            raise ValueError(f"outcome {outcome!r} of candidate {i} has probability 0.")
        after = self._person.after((int(self._items[i]),), (column,))
        return TotalPredictive(self._totals, after, self._items, self.seed, **self._stated_beside)

    def draws(self, n: int | None = None) -> tuple[np.ndarray, np.ndarray]:
        """Joint draws of the traits."""
        return self._traits.draws(n)

    @cached_property
    def _mixed(self) -> list[_Part]:
        return [_Part(self._totals, self._person, k, self._items) for k in range(len(self._totals.bank.parts))]

    @cached_property
    def distribution(self) -> np.ndarray:
        """(size,) probabilities of the total."""
        whole = self._totals.distribution(reduce(np.multiply, [part.whole for part in self._mixed]))
        return whole / whole.sum()

    @cached_property
    def left_open(self) -> np.ndarray | None:
        """(m,) entropy of an answer once the total is known, of two answers in a bank of one part; None of others."""
        totals, person = self._totals, self._person
        if len(self.outcomes) != 2 or len(totals.bank.parts) != 1:
            return None
        open_, wanted = (np.isin(np.arange(len(totals.bank)), one) for one in (totals.open(person), self._items))
        return left_open(person.weights[0][None], totals.shares, open_[None], wanted[None])[0, self._items]

    @cached_property
    def joint_entropy(self) -> np.ndarray:
        """(m,) entropy of an answer and the total together."""
        if self.left_open is not None:
            return np.asarray(self.left_open + entropy(self.distribution))
        found = np.zeros(len(self))
        for k, part in enumerate(self._mixed):
            others = reduce(np.multiply, [one.whole for j, one in enumerate(self._mixed) if j != k], np.ones(1))
            for row in np.flatnonzero(self._totals.bank.part_of[0][self._items] == k):
                table = self._totals.distribution(part.beside(int(self._items[row])) * others)
                found[row] = float(np.sum(entropy(table)))
        return found


class _Part:
    """A part of the bank and its share in the total: characteristic functions, mixed over its grid."""

    def __init__(self, totals: Totals, person: GridPerson, k: int, candidates: np.ndarray) -> None:
        bank = totals.bank
        of_part, self._place = bank.part_of
        weights = person.weights[k]
        kept = weights > NEGLIGIBLE
        self._weights, self._table = weights[kept] / weights[kept].sum(), bank.parts[k].table[:, kept]
        left = [int(item) for item in totals.open(person) if of_part[item] == k]
        asked = set(candidates.tolist()) & set(left)
        ones = np.ones((int(kept.sum()), len(totals.frequencies)), dtype=complex)
        fixed, single = ones, {}
        for item in left:
            wave = self._table[self._place[item]] @ totals.waves(item)
            if item in asked:
                single[item] = wave
            else:
                fixed = fixed * wave
        before, after = [fixed], [ones]  # products of all before an item, and of all behind it
        for item in single:
            before.append(before[-1] * single[item])
        for item in reversed(list(single)):
            after.append(after[-1] * single[item])
        self._without = {item: before[j] * after[len(single) - 1 - j] for j, item in enumerate(single)}
        self._product = before[-1]
        self.whole = self._weights @ self._product

    def beside(self, item: int) -> np.ndarray:
        """(R, F) p(answer of the item) times the characteristic function of the total of all others, given it."""
        share = self._weights[:, None] * self._table[self._place[item]]
        return np.asarray(share.T @ self._without.get(item, self._product))


def _deviation(p: TotalPredictive) -> np.ndarray:
    steps = p._totals.step * np.arange(p._totals.size)
    variance = p.distribution @ steps**2 - (p.distribution @ steps) ** 2
    return np.sqrt(np.array([max(float(variance), 0.0)]))


def _expected_entropy(p: TotalPredictive) -> np.ndarray:
    left = p.joint_entropy - entropy(p.distribution) if p.left_open is None else p.left_open
    return np.clip(left, 0.0, entropy(p.probabilities))  # but for rounding


TotalPredictive.ways = Predictive.ways | {
    "probabilities": (Way((), lambda p: p._traits.probabilities),),
    "expected_entropy": (Way((), _expected_entropy),),
    "target_entropy": (Way((), lambda p: float(entropy(p.distribution))),),
    "expected_target_entropy": (Way((), lambda p: np.maximum(p.joint_entropy - entropy(p.probabilities), 0.0)),),
    "target_deviation": (Way((), _deviation),),
}
