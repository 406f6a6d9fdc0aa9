"""A bank of items of the ordinal model: Gaussians about each item's thresholds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from adaptive.estimators.questionnaires.answers import Answers, positions_of
from adaptive.estimators.questionnaires.bank import content_hash
from adaptive.estimators.questionnaires.loadings import Loadings
from adaptive.estimators.questionnaires.ordinal.fit import OrdinalFit, fit_ordinal
from adaptive.estimators.questionnaires.ordinal.model import OrdinalModel

if TYPE_CHECKING:
    from adaptive.types import Array

__all__ = ["OrdinalBank"]


class OrdinalBank:
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
        self, model: OrdinalModel, items: Sequence[Any], categories: Sequence[int], loadings: Loadings,
        means: Array, covariances: Array, trait_noise: Array, reverse: Array,
    ) -> None:  # fmt: skip
        self.model, self.items, self.categories, self.loadings = model, tuple(items), tuple(categories), loadings
        self.means, self.covariances = np.asarray(means, float), np.asarray(covariances, float)
        self.trait_noise, self.reverse = np.asarray(trait_noise, float), np.asarray(reverse, dtype=bool)
        self.trait_of = loadings.single()

    def __len__(self) -> int:
        return len(self.items)

    def __deepcopy__(self, memo: Any) -> Self:
        return self  # it never changes

    @property
    def traits(self) -> tuple[Any, ...]:
        """Names of the traits."""
        return self.loadings.traits

    def positions(self, items: Sequence[Any]) -> np.ndarray:
        """Where these items stand."""
        return positions_of(self.items, items, "item")

    def person(self, prior: np.ndarray) -> Any:
        """Somebody who has not answered yet."""
        from adaptive.estimators.questionnaires.ordinal.person import OrdinalPerson

        return OrdinalPerson(self, prior)

    def people(self, answers: Answers, prior: np.ndarray | None = None) -> OrdinalFit:
        """What answers to these items say of people, items standing still: of each alone, to six digits."""
        turned = answers.with_items(self.items).reversed_for(self.reverse)
        return fit_ordinal(
            self.model, turned, self.trait_of, self.trait_noise, items=(self.means, self.covariances), prior=prior,
            max_iter=100, tol=1e-6,
        )  # fmt: skip

    def moments(self, fit: OrdinalFit) -> tuple[np.ndarray, np.ndarray]:
        """Means and deviations (people, traits), in deviations of the calibrated population."""
        first, scale = self.model.n_style, self.model.trait_scale
        variances = np.einsum("uii->ui", fit.covariances)[:, first:]
        return fit.means[:, first:] / scale, np.sqrt(variances) / scale

    def fingerprint(self) -> str:
        """A hash of the content, by which a log recognises it."""
        arrays = (self.means, self.covariances, self.trait_noise, self.reverse, self.loadings.mask)
        return content_hash((self.model, self.items, self.categories, self.traits), arrays)

    def state(self) -> dict[str, Any]:
        """Plain data."""
        return {
            "model": asdict(self.model), "labels": list(self.items), "scale": list(self.categories),
            "traits": list(self.traits), "mask": self.loadings.mask, "means": self.means,
            "covariances": self.covariances, "trait_noise": self.trait_noise, "reverse": self.reverse,
        }  # fmt: skip

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> Self:
        """What ``state`` returned, again."""
        n, t = len(state["labels"]), len(state["traits"])
        loadings = Loadings(tuple(state["traits"]), np.asarray(state["mask"], dtype=bool).reshape(n, t))
        return cls(
            OrdinalModel(**state["model"]), state["labels"], state["scale"], loadings, state["means"],
            state["covariances"], state["trait_noise"], state["reverse"],
        )  # fmt: skip
