"""Information about chosen users or items alone:  I(y; z) = H(y) - E_z H(y | z),  the other side integrated out.

Given z the log rate has the mean  z.mu + o  and the variance  z' S z, whose mean is  m' S m + tr(S V); what z explains
of it is  mu' V mu.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from adaptive.potentials import Poisson

if TYPE_CHECKING:
    from adaptive.estimators.pairs.columns import Positions
    from adaptive.types import ArrayLike

    Chosen: TypeAlias = Mapping[str, ArrayLike] | None  # ids of "users" and of "items"

__all__ = ["About", "expected_entropies"]

_NODES, _WEIGHTS = np.polynomial.hermite_e.hermegauss(16)


@dataclass(frozen=True, eq=False)
class About:
    """Rows that are to be learnt about.

    Attributes
    ----------
    sides : (frozenset of int, frozenset of int)
        Of users and of items.
    """

    sides: tuple[frozenset[int], frozenset[int]]

    @classmethod
    def of(cls, target: Chosen, positions: Positions) -> About | None:
        """Read ``{"users": [...], "items": [...]}``, ids of the fit; None is everything."""
        if target is None:
            return None
        if not isinstance(target, Mapping) or not target or not set(target) <= {"users", "items"}:
            raise ValueError(f'target must be None or like {{"users": [ids]}} or {{"items": [ids]}}, got {target!r}.')
        sides = []
        for name, known in zip(("users", "items"), positions, strict=True):
            labels = np.asarray(target.get(name, [])).tolist()
            unknown = [label for label in labels if label not in known]
            if unknown:
                raise ValueError(f"target must name {name} of the fit, got {unknown[0]!r}.")
            sides.append(frozenset(known[label] for label in labels))
        return cls((sides[0], sides[1]))

    def which(self, users: np.ndarray, items: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Membership of the users, and of the items, of pairs (m,)."""
        first, second = (np.isin(rows, list(side)) for rows, side in zip((users, items), self.sides, strict=True))
        return first, second


def expected_entropies(mean: np.ndarray, explained: np.ndarray, rest: np.ndarray) -> np.ndarray:
    """Return E H(y | s) (m,) for  log rate | s ~ N(s, rest),  s ~ N(mean, explained)."""
    places = mean[:, None] + np.sqrt(np.maximum(explained, 0.0))[:, None] * _NODES
    left = np.broadcast_to(np.maximum(rest, 0.0)[:, None], places.shape)
    found = Poisson().outcome_entropy(places.ravel(), left.ravel()).reshape(places.shape)
    return found @ (_WEIGHTS / _WEIGHTS.sum())
