"""The ordinal model: thresholds of people and of items add, and an answer says between which an opinion lies.

Settings of the model as the compiled loops want them, and its priors.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from adaptive.inference.step_factors import step_factors

__all__ = ["OrdinalModel"]


@dataclass(frozen=True)
class OrdinalModel:
    """The fixed part of the model.

    Attributes
    ----------
    n_categories, n_traits : int
    styles : "both", "items" or "people"
        Whose thresholds are unknown; those of the others are zero.
    response : "all" or "adjacent"
        Which thresholds an answer speaks of.
    threshold_noise : float, beta
    trait_scale : float
        Prior standard deviation of a trait, in units of that of a threshold.
    """

    n_categories: int
    n_traits: int = 1
    styles: str = "both"
    response: str = "all"
    threshold_noise: float = 0.2
    trait_scale: float = 1.0

    @property
    def levels(self) -> int:
        """Thresholds."""
        return self.n_categories - 1

    @property
    def n_style(self) -> int:
        """Thresholds of a person."""
        return self.levels if self.styles != "items" else 0

    @property
    def learns_items(self) -> bool:
        """True where items have thresholds."""
        return self.styles != "people"

    @cached_property
    def steps(self) -> tuple[np.ndarray, np.ndarray]:
        """Directions (R, L, L + 1) of each answer's steps on (h, y), and how many there are."""
        n, levels = self.n_categories, self.levels
        directions, counts = np.zeros((n, levels, levels + 1)), np.zeros(n, dtype=np.int64)
        for r in range(n):
            used = [k for k in range(levels) if self.response == "all" or k in (r - 1, r)]
            counts[r] = len(used)
            for row, k in enumerate(used):
                sign = 1.0 if k < r else -1.0
                directions[r, row, levels], directions[r, row, k] = sign, -sign
        return directions, counts

    @cached_property
    def ordered(self) -> tuple[np.ndarray, np.ndarray]:
        """Sites (precisions, shifts) of the ordering prior of one vector of thresholds."""
        from adaptive.inference.dense.step_kernel import propagate

        rows, m, V = self.order_directions(self.levels), np.zeros(self.levels), np.eye(self.levels)
        precisions, shifts = np.zeros(len(rows)), np.zeros(len(rows))
        propagate(m, V, rows, np.zeros(len(rows)), precisions, shifts, 200, 1e-12)
        return precisions, shifts

    def order_directions(self, d: int) -> np.ndarray:
        """(L - 1, d) differences of neighbouring thresholds, which stand first among d unknowns."""
        rows = np.zeros((max(self.levels - 1, 0), d))
        for k in range(len(rows)):
            rows[k, k], rows[k, k + 1] = -1.0, 1.0
        return rows

    def item_prior(self) -> tuple[np.ndarray, np.ndarray]:
        """Mean and covariance of an item's thresholds before any answer."""
        if not self.learns_items:
            return np.zeros(self.levels), np.zeros((self.levels, self.levels))
        m, V = np.zeros(self.levels), np.eye(self.levels)
        rows = self.order_directions(self.levels)
        return step_factors(m, V, rows)[1:] if len(rows) else (m, V)

    def person_prior(self, prior: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Precision and shift of (style, traits) before order and answers; ``prior`` (traits, 2) in trait scales."""
        d = self.n_style + self.n_traits
        P, e = np.eye(d), np.zeros(d)
        for k in range(self.n_traits):
            at = self.n_style + k
            P[at, at] = 1.0 / (self.trait_scale * prior[k, 1]) ** 2
            e[at] = P[at, at] * self.trait_scale * prior[k, 0]
        return P, e
