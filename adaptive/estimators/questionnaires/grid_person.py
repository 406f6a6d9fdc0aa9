"""One person's traits, as weights on the grids of a bank.

w_k | answers  ~  t(x_k | prior) prod_i E p_i(y_i | x_k)
"""

from __future__ import annotations

from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import numpy as np

from adaptive.estimators.questionnaires.base import Person, log_prior
from adaptive.estimators.questionnaires.total import Total, TotalPredictive, Totals, interval
from adaptive.estimators.questionnaires.trait_predictive import PartsPredictive, TraitDraws
from adaptive.predictive import Predictive

if TYPE_CHECKING:
    from adaptive.estimators.questionnaires.bank import Bank
    from adaptive.types import ArrayLike, Options, RandomState

__all__ = ["GridPerson"]


class GridPerson(Person["Bank"]):
    """A person by weights on the grids; `Person` says the rest."""

    bank: Bank
    _derived = "weights"

    def possible(self, item: int, answer: Any) -> bool:
        part, place = (int(of[item]) for of in self.bank.part_of)
        return bool(self.bank.parts[part].table[place, :, answer].any())

    @cached_property
    def weights(self) -> list[np.ndarray]:
        """(k,) of each part."""
        of_part, place = self.bank.part_of
        found = []
        for k, (_, traits, x, table) in enumerate(self.bank.parts):
            w = log_prior(x, *self.prior[traits].T)
            for item, answer in zip(self.items, self.answers, strict=True):
                if of_part[item] == k:
                    w = w + np.log(np.maximum(table[place[item], :, answer], 1e-300))
            w = np.exp(w - w.max())
            found.append(w / w.sum())
        return found

    def moments(self) -> tuple[np.ndarray, np.ndarray]:
        mean, deviation = self.bank.moments([w[None] for w in self.weights])
        return mean[0], deviation[0]

    def interval(self, level: float) -> np.ndarray:
        """(traits, 2) central interval: of the grid, widened as what all items share asks for."""
        mean, deviation = self.moments()
        found = np.zeros((len(mean), 2))
        for (_, traits, x, _), w in zip(self.bank.parts, self.weights, strict=True):
            for axis, trait in enumerate(traits):
                places, where = np.unique(x[:, axis], return_inverse=True)
                mass = np.bincount(where, weights=w)
                cumulative = np.cumsum(mass) - 0.5 * mass
                ends = np.interp([(1 - level) / 2, (1 + level) / 2], cumulative, places)
                own = np.sqrt(max(mass @ places**2 - (mass @ places) ** 2, 1e-300))
                found[trait] = mean[trait] + (ends - mean[trait]) * max(deviation[trait] / own, 1.0)
        return found

    def predictive(
        self, items: np.ndarray, traits: np.ndarray, about: np.ndarray | None = None, random_state: RandomState = None
    ) -> Predictive:
        """The belief about items; the information is about ``traits``, or about answers to items ``about``."""
        of_part, place = self.bank.part_of
        where = of_part[items]
        aimed = [bool(np.isin(part.traits, traits).any()) for part in self.bank.parts]
        used = sorted({*where.tolist(), *np.flatnonzero(aimed).tolist()})
        fields: Options = {
            "features": partial(self._features, items),
            "measured": partial(self._features, list(self.items)),
        }
        if about is not None:
            return self._about(items, about, random_state, fields)
        draws: list[Any] = [None] * len(self.bank.parts)
        single = len(used) == 1
        for k in used:
            _, part_traits, x, table = self.bank.parts[k]
            rows = items[where == k]
            wanted = np.flatnonzero(np.isin(part_traits, traits))
            values = x[:, wanted] if len(wanted) else x
            information = None
            if len(traits) == 1 and len(wanted) == 1:
                information = partial(self._information, rows, int(part_traits[wanted[0]]))
            draws[k] = TraitDraws(
                self.weights[k], table[place[rows]].swapaxes(0, 1), self.bank.categories, values=values,
                shared=self.bank.shared[part_traits[wanted]] if len(wanted) else self.bank.shared[part_traits],
                information=information, random_state=random_state, **(fields if single else {}),
            )  # fmt: skip
        if single:
            return draws[used[0]]
        return PartsPredictive(draws, where, aimed, self.bank.categories, random_state=random_state, **fields)

    def _about(self, items: np.ndarray, about: np.ndarray, random_state: RandomState, fields: Options) -> Predictive:
        """Information about the answers to other items, in a bank of one part."""
        if len(self.bank.parts) > 1:
            raise ValueError("target must be a trait: items as target need a bank whose traits hang together.")
        _, place = self.bank.part_of
        x, table = self.bank.parts[0].x, self.bank.parts[0].table
        ahead, ours = (table[place[one]].swapaxes(0, 1) for one in (about, items))
        shared: Options = {"values": x, "shared": self.bank.shared, "random_state": random_state}
        target = TraitDraws(self.weights[0], ahead, self.bank.categories, **shared)
        return TraitDraws(self.weights[0], ours, self.bank.categories, target=target, **shared, **fields)

    def about_total(self, items: np.ndarray, counted: np.ndarray, random_state: RandomState = None) -> Predictive:
        fields: Options = {
            "features": partial(self._features, items),
            "measured": partial(self._features, list(self.items)),
        }
        return TotalPredictive(Totals(self.bank, counted), self, items, random_state, **fields)

    def total(self, counted: np.ndarray, level: float) -> Total:
        totals = Totals(self.bank, counted)
        p, values = TotalPredictive(totals, self, np.zeros(0, dtype=np.intp)).distribution, totals.values(self)
        possible = slice(0, int(np.flatnonzero(p).max()) + 1)
        p, values = p[possible], values[possible]
        mean = float(p @ values)
        std = float(np.sqrt(p @ (values - mean) ** 2))
        return Total(mean, std, interval(values, p, level), values, p)

    def _features(self, items: ArrayLike) -> np.ndarray:
        """(m, 2): discrimination, and the trait at which the item teaches most."""
        return self.bank.features[np.asarray(items, dtype=np.intp)]

    def _information(self, items: np.ndarray, trait: int, mean: np.ndarray) -> np.ndarray:
        at = self.moments()[0][None].copy()
        at[0, trait] = mean[0]
        return self.bank.informations(items, at, trait)[:, 0]
