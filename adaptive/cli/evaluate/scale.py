"""Scores from 0 to 1 as answers of a questionnaire: whole numbers from 0 to the highest."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

__all__ = ["Scale"]

MOST = 10  # levels that a questionnaire tells apart


@dataclass(frozen=True)
class Scale:
    """So many levels, evenly from 0 to 1; two of them are wrong and right.

    Examples
    --------
    >>> scale = Scale.of(np.array([0.0, 0.5, np.nan, 1.0]))
    >>> scale.levels, scale.code(0.5), scale.points(5, 10)
    (3, 1, 25.0)
    """

    levels: int

    @classmethod
    def of(cls, scores: np.ndarray) -> Scale:
        """Return the coarsest scale on which these scores lie; where there is none, ten levels to round to."""
        found = np.unique(scores[~np.isnan(scores)])
        for levels in range(2, MOST + 1):
            steps = found * (levels - 1)
            if np.allclose(steps, np.round(steps), atol=1e-6):
                return cls(levels)
        return cls(MOST)

    @property
    def categories(self) -> tuple[int, ...]:
        """The answers."""
        return tuple(range(self.levels))

    def codes(self, scores: np.ndarray) -> np.ndarray:
        """Return the nearest levels as numbers, NaN where a score is."""
        return np.round(scores * (self.levels - 1))

    def code(self, score: float) -> int:
        """Return the nearest level of a score."""
        return int(np.round(score * (self.levels - 1)))

    def points(self, total: Any, n_items: int) -> Any:
        """Return what a total of these numbers over so many items is in points of 100."""
        return 100.0 * total / ((self.levels - 1) * n_items)
