"""Which item measures which traits; traits that share no item are independent, and learnt apart."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from scipy.sparse.csgraph import connected_components

from adaptive import checks

if TYPE_CHECKING:
    from adaptive.estimators.questionnaires.answers import Label

__all__ = ["Loadings"]

Traits: TypeAlias = "Mapping[Label, object] | Sequence[object] | None"  # of each item: one, or several

MOST_TOGETHER = 3  # traits on one grid


@dataclass(frozen=True, eq=False)
class Loadings:
    """Traits by name, and for each item which of them it measures.

    Attributes
    ----------
    traits : tuple of str
    mask : (items, traits) array of bool
    """

    traits: tuple[Label, ...]
    mask: np.ndarray

    @classmethod
    def of(cls, item_traits: Traits, n_traits: int, items: Sequence[Label]) -> Loadings:
        """From what a user says: None, one entry per item, or a mapping from items to traits.

        With several traits and no ``item_traits`` each item measures all, but for the first ones: item j < n_traits
        measures the traits up to j, so that the axes are named by these items.
        """
        n_traits = checks.integer("n_traits", n_traits, minimum=1)
        if item_traits is None:
            mask = np.tri(len(items), n_traits, dtype=bool)
            return cls(tuple(f"trait_{k + 1}" for k in range(n_traits)) if n_traits > 1 else ("trait",), mask)._small()
        if isinstance(item_traits, Mapping):
            missing = [item for item in items if item not in item_traits]
            if missing:
                raise ValueError(f"item_traits says nothing of item {missing[0]!r}.")
            given = [item_traits[item] for item in items]
        else:
            given = list(item_traits)
            if len(given) != len(items):
                raise ValueError(f"item_traits must have an entry for each of {len(items)} items, got {len(given)}.")
        lists = [list(one) if isinstance(one, (list, tuple, set)) else [one] for one in given]
        traits = tuple(dict.fromkeys(trait for one in lists for trait in one))
        return cls(traits, np.array([[trait in one for trait in traits] for one in lists]))._small()

    def _small(self) -> Loadings:
        for _, traits in self.components():
            if len(traits) > MOST_TOGETHER:
                raise ValueError(
                    f"items link {len(traits)} traits with each other; at most {MOST_TOGETHER} are learnt together "
                    "(any number where each item measures one)."
                )
        return self

    def components(self) -> list[tuple[np.ndarray, np.ndarray]]:
        """[(positions of items, positions of traits)]: parts that share nothing."""
        shared = self.mask.T.astype(int) @ self.mask.astype(int)
        n, of_trait = connected_components(shared, directed=False)
        of_item = of_trait[self.mask.argmax(axis=1)]
        return [(np.flatnonzero(of_item == c), np.flatnonzero(of_trait == c)) for c in range(n)]

    def single(self) -> np.ndarray:
        """(items,) the one trait of each item; refused where an item measures several."""
        several = np.flatnonzero(self.mask.sum(axis=1) > 1)
        if len(several):
            raise ValueError(
                f'response_model="ordinal" has items of one trait each, but item number {several[0] + 1} measures '
                f"{int(self.mask[several[0]].sum())}."
            )
        return self.mask.argmax(axis=1)
