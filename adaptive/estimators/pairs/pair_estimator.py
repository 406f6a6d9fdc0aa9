"""Estimators of pairs: ids, and the choice among a long product of users and items."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from adaptive.estimators.belief import BeliefEstimator
from adaptive.estimators.pairs.columns import columns_of
from adaptive.estimators.pairs.factorization.shortlist import is_product

if TYPE_CHECKING:
    from adaptive.estimators.pairs.columns import Columns
    from adaptive.estimators.pairs.factorization.shortlist import Arguments, Shortened
    from adaptive.types import Pool

__all__ = ["PairEstimator"]


class PairEstimator(BeliefEstimator):
    """Estimator whose candidates are pairs (user, item) of ids; a subclass says how a long product is shortened."""

    def _candidates(self, X: Pool) -> Columns:
        return columns_of(X)

    def _shortened(self, arguments: Arguments) -> Shortened | None:
        """Positions of the pairs worth a closer look and the arguments of ``select`` among these; None: score all."""
        raise NotImplementedError  # pragma: no cover

    def select(self, candidates: Pool, n_select: int = 1, **options: Any) -> Any:
        """Return the positions of the pairs that are most worth measuring next, as all estimators do.

        Of a long ``designs.pool.Product(users, items)`` the best pairs are found by bounds (`adaptive.search`), and not
        by scoring all; the choice is made among these. With a ``target`` of users and items, of which only their own
        pairs tell, it is made among those.
        """
        arguments = {
            "candidates": candidates, "n_select": n_select, "scorer": "auto", "target": None, "cost": None,
            "price": None, "mask": None, "exclude": (), "pending": None, "joint": True, **options,
        }  # fmt: skip
        found = self._shortened(arguments) if self.__sklearn_is_fitted__() and is_product(candidates) else None
        if found is None:
            return super().select(candidates, n_select, **options)
        if options.get("return_certificate"):
            raise ValueError(
                "return_certificate looks at all pairs at once, but these are found by bounds; pass a list of pairs."
            )
        if options.get("price") is not None:
            raise ValueError(
                "price cannot be used for pairs that are found by bounds; pass a list of pairs, or leave price out."
            )
        positions, among = found
        chosen = super().select(**among)
        return (positions[chosen[0]], chosen[1]) if options.get("return_scores") else positions[chosen]

    @property
    def users_(self) -> np.ndarray:
        """Ids of users."""
        return self.fitted_belief().data.ids[0]

    @property
    def items_(self) -> np.ndarray:
        """Ids of items."""
        return self.fitted_belief().data.ids[1]
