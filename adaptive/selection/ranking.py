"""The n largest values, best first; ties go to the lowest position.

Values in one cell of a grid are a tie, for chunks round differently. Cells are about 1e-10 of the largest value wide:
1e-10 times the power of two that is next above it, so that the cells of a larger value are made of whole smaller ones.
"""

from __future__ import annotations

import numpy as np

__all__ = ["SAME", "Leaders", "best_positions"]

SAME = 1e-10
SMALLEST = 1e-290  # a tenth of a billionth of it can still be divided by
SHIFT = 1.00003141592653589  # so that numbers such as 1 and 1/2 lie within a cell and not at its edge
SPARE = 8  # cells below the n-th largest value that leaders keep, for cells grow with the largest value


def best_positions(values: np.ndarray, n: int) -> np.ndarray:
    """Return the positions of the n largest values, best first; ties go to the lowest position.

    Parameters
    ----------
    values : (m,) array of float
        Without NaN; minus infinity is the last to be chosen.
    n : int
        At most m.

    Examples
    --------
    >>> best_positions(np.array([1.0, 3.0, 2.0, 3.0]), 3).tolist()
    [1, 3, 2]
    """
    cells = _cells(values)
    if n == 1:
        return np.array([int(cells.argmax())])
    if n < len(cells):
        threshold = -np.partition(-cells, n - 1)[n - 1]
        above, at = np.flatnonzero(cells > threshold), np.flatnonzero(cells == threshold)
        listed = np.concatenate([above, at[: n - len(above)]])
    else:
        listed = np.arange(len(cells))
    return listed[np.lexsort((listed, -cells[listed]))]


def _cells(values: np.ndarray) -> np.ndarray:
    """Cell of each value; themselves where none is finite, or the largest is 0 or too small for a cell."""
    top = abs(values.max(initial=-np.inf))
    if not np.isfinite(top) or top < SMALLEST:
        return values
    return np.floor(values * (SHIFT / _width(top)))


def _width(top: float) -> float:
    return float(SAME * 2.0 ** np.ceil(np.log2(top)))


class Leaders:
    """The n best of many values that come in parts, in the order of their positions: `best_positions` of all of them.

    Parameters
    ----------
    n : int

    Attributes
    ----------
    values, scores : arrays of float
        Of those that may be among the n best; what is ranked, and what was scored.
    positions : array of int

    Examples
    --------
    >>> leaders = Leaders(2)
    >>> for start, part in ((0, [1.0, 3.0]), (2, [2.0, 3.0])):
    ...     leaders.add(np.array(part), np.arange(start, start + 2), np.array(part))
    >>> leaders.best()[0].tolist()
    [1, 3]
    """

    def __init__(self, n: int) -> None:
        self.n = n
        self.values, self.scores, self.positions = np.zeros(0), np.zeros(0), np.zeros(0, dtype=np.intp)
        self._least = -np.inf

    @property
    def floor(self) -> float:
        """A value that any of the n best will have."""
        if not np.isfinite(self._least):
            return -np.inf
        top = abs(self.values.max(initial=-np.inf))
        return self._least - 4.0 * SPARE * (_width(top) if 0 < top < np.inf else 0.0)

    def add(self, values: np.ndarray, positions: np.ndarray, scores: np.ndarray) -> None:
        """Take account of further values, at higher positions."""
        if len(self.values) < self.n < len(values) // 2:  # the first of many: what the others cannot reach
            self._least = float(np.partition(values, len(values) - self.n)[len(values) - self.n])
        if np.isfinite(self._least):
            top = abs(max(self.values.max(initial=-np.inf), values.max(initial=-np.inf)))
            near = np.flatnonzero(values > self._least - SPARE * (_width(top) if 0 < top < np.inf else 0.0))
            if not len(near):
                return
            values, positions, scores = values[near], positions[near], scores[near]
        self.values = np.concatenate([self.values, values])
        self.positions = np.concatenate([self.positions, positions])
        self.scores = np.concatenate([self.scores, scores])
        if len(self.values) > self.n:
            self._keep_leaders()

    def _keep_leaders(self) -> None:
        """Keep the n lowest positions of every cell, down to some cells below the n-th value."""
        cells = _cells(self.values)
        order = np.lexsort((self.positions, -cells))
        sorted_cells = cells[order]
        first = np.concatenate([[True], sorted_cells[1:] != sorted_cells[:-1]])
        place = np.arange(len(order)) - np.maximum.accumulate(np.where(first, np.arange(len(order)), 0))
        kept = order[(sorted_cells >= sorted_cells[self.n - 1] - SPARE) & (place < self.n)]
        self._least = float(self.values[order[self.n - 1]])
        self.values, self.positions, self.scores = self.values[kept], self.positions[kept], self.scores[kept]

    def best(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the positions of the n best, ascending, and their scores."""
        order = np.argsort(self.positions)
        chosen = order[np.sort(best_positions(self.values[order], min(self.n, len(order))))]
        return self.positions[chosen], self.scores[chosen]
