"""A bank of items of the ordinal model: Gaussians about each item's thresholds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Self

import numpy as np

from adaptive.estimators.questionnaires.answers import Answers, Label
from adaptive.estimators.questionnaires.bank import content_hash
from adaptive.estimators.questionnaires.base import ItemBank, Loadings
from adaptive.estimators.questionnaires.ordinal.fit import OrdinalFit, fit_ordinal
from adaptive.estimators.questionnaires.ordinal.model import OrdinalModel

if TYPE_CHECKING:
    from adaptive.estimators.questionnaires.ordinal.person import OrdinalPerson
    from adaptive.types import Array, State

__all__ = ["OrdinalBank"]


class OrdinalBank(ItemBank):
    """Items of the ordinal model; it stands still, and copies of what uses it share it.

    Parameters
    ----------
    model : OrdinalModel
    items : sequence of labels
    categories : sequence of int
    loadings : Loadings
        One trait per item.
    means, covariances : (items, L), (items, L, L) arrays, of thresholds
    trait_noise : (items,) array, tau
    reverse : (items,) array of bool
    """

    def __init__(
        self, model: OrdinalModel, items: Sequence[Label], categories: Sequence[int], loadings: Loadings,
        means: Array, covariances: Array, trait_noise: Array, reverse: Array,
    ) -> None:  # fmt: skip
        self.model, self.items, self.categories, self.loadings = model, tuple(items), tuple(categories), loadings
        self.means, self.covariances = np.asarray(means, float), np.asarray(covariances, float)
        self.trait_noise, self.reverse = np.asarray(trait_noise, float), np.asarray(reverse, dtype=bool)
        self.trait_of = loadings.single()

    def person(self, prior: np.ndarray) -> OrdinalPerson:
        from adaptive.estimators.questionnaires.ordinal.person import OrdinalPerson

        return OrdinalPerson(self, prior)

    def people(self, answers: Answers, prior: np.ndarray | None = None, others: bool = False) -> OrdinalFit:
        """People after answers to these items, which stand still: each alone, to six digits."""
        turned = answers.with_items(self.items).reversed_for(self.reverse)
        return fit_ordinal(
            self.model, turned, self.trait_of, self.trait_noise, items=(self.means, self.covariances), prior=prior,
            max_iter=100, tol=1e-6, others=others,
        )  # fmt: skip

    def estimates(self, answers: Answers) -> tuple[np.ndarray, np.ndarray]:
        return self.moments(self.people(answers))

    def moments(self, fit: OrdinalFit) -> tuple[np.ndarray, np.ndarray]:
        """Means and deviations (people, traits), in deviations of the calibrated population."""
        first, scale = self.model.n_style, self.model.trait_scale
        variances = np.einsum("uii->ui", fit.covariances)[:, first:]
        return fit.means[:, first:] / scale, np.sqrt(variances) / scale

    def fingerprint(self) -> str:
        arrays = (self.means, self.covariances, self.trait_noise, self.reverse, self.loadings.mask)
        return content_hash((self.model, self.items, self.categories, self.traits), arrays)

    def state(self) -> State:
        return {
            "model": asdict(self.model), "labels": list(self.items), "scale": list(self.categories),
            "traits": list(self.traits), "mask": self.loadings.mask, "means": self.means,
            "covariances": self.covariances, "trait_noise": self.trait_noise, "reverse": self.reverse,
        }  # fmt: skip

    @classmethod
    def from_state(cls, state: State) -> Self:
        """The bank that ``state`` described."""
        n, t = len(state["labels"]), len(state["traits"])
        loadings = Loadings(tuple(state["traits"]), np.asarray(state["mask"], dtype=bool).reshape(n, t))
        return cls(
            OrdinalModel(**state["model"]), state["labels"], state["scale"], loadings, state["means"],
            state["covariances"], state["trait_noise"], state["reverse"],
        )  # fmt: skip
