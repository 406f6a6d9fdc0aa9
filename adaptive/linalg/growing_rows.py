"""Rows that are appended to without copying those that are there: versions share memory until two of them grow."""

from __future__ import annotations

import numpy as np

__all__ = ["GrowingRows"]


class GrowingRows:
    """An array (m, width) whose longer versions begin in the same memory.

    Parameters
    ----------
    width : int
        Length of a row.

    Attributes
    ----------
    rows : array (m, width)

    Examples
    --------
    >>> first = GrowingRows(2).appended(np.ones((1, 2)))
    >>> second, other = first.appended(np.zeros((1, 2))), first.appended(np.full((1, 2), 7.0))
    >>> len(first.rows), second.rows[1], other.rows[1]
    (1, array([0., 0.]), array([7., 7.]))
    """

    def __init__(self, width: int):
        self._width = int(width)
        self._store: list = [np.empty((0, self._width)), 0]  # memory, and rows of it that some version has taken
        self._count = 0

    @property
    def rows(self) -> np.ndarray:
        return self._store[0][: self._count]

    def appended(self, block: np.ndarray) -> GrowingRows:
        """A version with the rows of ``block`` (d, width) below."""
        longer = GrowingRows(self._width)
        longer._count = self._count + len(block)
        store = self._store
        if store[1] != self._count or longer._count > len(store[0]):
            memory = np.empty((longer._count + max(longer._count // 2, 8), self._width))
            memory[: self._count] = self.rows
            store = [memory, self._count]
        store[0][self._count : longer._count] = block
        store[1] = longer._count
        longer._store = store
        return longer

    def __getstate__(self) -> dict:
        """Without the memory that no row has taken yet."""
        return {"_width": self._width, "_count": self._count, "_store": [self.rows.copy(), self._count]}
