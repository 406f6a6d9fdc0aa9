"""Scores from 0 to 1 as answers of a questionnaire: from 0 to the highest level, in whole numbers or between them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

__all__ = ["Scale"]

MOST = 10  # levels that a questionnaire tells apart


@dataclass(frozen=True)
class Scale:
    """So many levels, evenly from 0 to 1; two of them are wrong and right. Scores may lie ``between`` them, or not.

    Examples
    --------
    >>> scale = Scale.of(np.array([0.0, 0.5, np.nan, 1.0]))
    >>> scale.levels, scale.code(0.5), scale.points(5, 10)
    (3, 1, 25.0)
    >>> Scale.of(np.array([0.123, 0.9])).code(0.5)
    4.5
    """

    levels: int
    between: bool = False

    @classmethod
    def of(cls, scores: np.ndarray, rounded: bool = False) -> Scale:
        """Return the coarsest scale on which these scores lie; else ten levels, and scores between (or ``rounded``)."""
        found = np.unique(scores[~np.isnan(scores)])
        for levels in range(2, MOST + 1):
            steps = found * (levels - 1)
            if np.allclose(steps, np.round(steps), atol=1e-6):
                return cls(levels)
        return cls(MOST, not rounded)

    @property
    def categories(self) -> tuple[int, ...]:
        """The answers, or the marks between which they lie."""
        return tuple(range(self.levels))

    def codes(self, scores: np.ndarray) -> np.ndarray:
        """Return scores as numbers, of the nearest level where they do not lie between; NaN where a score is."""
        places = scores * (self.levels - 1)
        return places if self.between else np.round(places)

    def code(self, score: float) -> float:
        """Return a score as such a number."""
        place = float(self.codes(np.array(score)))
        return place if self.between else int(place)

    def points(self, total: Any, n_items: int) -> Any:
        """Return what a total of these numbers over so many items is in points of 100."""
        return 100.0 * total / ((self.levels - 1) * n_items)
