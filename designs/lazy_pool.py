"""The base of pools that are never written out, and several pools as one."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from adaptive import pool as plain

if TYPE_CHECKING:
    from adaptive.types import ArrayLike, Pool

__all__ = ["Joined", "LazyPool"]


class LazyPool:
    """Base of the lazy pools: a length, and the entries at given positions.

    Subclasses set ``_length`` and define ``_entries(positions)`` and ``_parts()``, what their fingerprint depends on.

    Examples
    --------
    >>> class Squares(LazyPool):
    ...     _length = 4
    ...     def _entries(self, positions):
    ...         return [int(k) ** 2 for k in positions]
    ...     def _parts(self):
    ...         return (self._length,)
    >>> pool = Squares()
    >>> len(pool), pool[3]
    (4, 9)
    """

    _length: int

    def __len__(self) -> int:
        return self._length

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._length} candidates)"

    def __getitem__(self, position: int) -> Any:
        return self._alone(position)[0]

    def _alone(self, position: int) -> Any:
        """The entries at one position, which may be counted from the end."""
        if not -self._length <= position < self._length:
            raise IndexError(f"position must be below {self._length}, got {position}.")
        return self._entries(np.array([position % self._length]))

    def take(self, positions: ArrayLike) -> Any:
        """The entries at ``positions`` (n,): a list of tuples, or an array of rows."""
        positions = np.asarray(positions)
        if positions.ndim != 1 or (positions.size and positions.dtype.kind not in "iu"):
            raise ValueError(f"positions must be a list of integers, got {positions.dtype} of shape {positions.shape}.")
        outside = (positions < 0) | (positions >= self._length)
        if outside.any():
            raise ValueError(f"positions must be between 0 and {self._length - 1}, got {positions[outside][0]}.")
        return self._entries(positions.astype(np.int64))

    def read(self, start: int, stop: int) -> Any:
        """The entries from ``start`` to ``stop - 1``."""
        return self._entries(np.arange(start, min(stop, self._length)))

    def concatenate(self, pools: Sequence[Pool]) -> LazyPool:
        """``pools``, one after the other."""
        return Joined(pools)

    def fingerprint(self) -> str:
        """A hash of the content, without writing it out."""
        parts = [type(self).__name__, *[plain.fingerprint(part) for part in self._parts()]]
        return hashlib.blake2b(" ".join(parts).encode(), digest_size=16).hexdigest()

    def _entries(self, positions: np.ndarray) -> Any:
        raise TypeError(f"{type(self).__name__} must define _entries(positions).")

    def _parts(self) -> list[Any]:
        raise TypeError(f"{type(self).__name__} must define _parts().")


class Joined(LazyPool):
    """Several pools, one after the other, none of them written out.

    Parameters
    ----------
    pools : list of pools
        All of tuples, or all of rows with the same number of columns.

    Raises
    ------
    ValueError
        If there is no pool.

    Examples
    --------
    >>> from designs.pool import Pairs, Product
    >>> Joined([Pairs([0, 1, 2]), Product([7], [8, 9])]).take([0, 4])
    [(0, 1), (7, 9)]
    """

    def __init__(self, pools: Sequence[Pool]):
        self.pools: list[Any] = []
        for pool in pools:  # flat, however often pools were joined
            self.pools += pool.pools if isinstance(pool, Joined) else [pool]
        if not self.pools:
            raise ValueError("pools must hold at least one pool, got an empty list.")
        self._ends = np.cumsum([plain.length(pool) for pool in self.pools])
        self._length = int(self._ends[-1])

    def _entries(self, positions: np.ndarray) -> Any:
        owner = np.searchsorted(self._ends, positions, side="right")
        pieces, order = [], []
        for k in np.unique(owner):
            where = np.flatnonzero(owner == k)
            start = self._ends[k - 1] if k else 0
            pieces.append(plain.take(self.pools[k], positions[where] - start))
            order.append(where)
        if not pieces:
            return plain.take(self.pools[0], positions)
        together = plain.concatenate(pieces)
        return plain.take(together, np.argsort(np.concatenate(order), kind="stable"))

    @property
    def stored(self) -> bool:
        """True where one of the pools lies in a file."""
        return any(plain.is_stored(pool) for pool in self.pools)

    def read(self, start: int, stop: int) -> Any:
        """The entries from ``start`` to ``stop - 1``."""
        stop, begins = min(stop, self._length), self._ends - np.diff(self._ends, prepend=0)
        parts = [
            plain.read(pool, max(start - int(begin), 0), stop - int(begin))
            for pool, begin, end in zip(self.pools, begins, self._ends, strict=True)
            if begin < stop and end > start
        ]
        return plain.concatenate(parts) if parts else self._entries(np.arange(0))

    def labels(self, positions: ArrayLike) -> list[Any]:
        """Names of the entries in their pools; positions in the whole where they have no names."""
        result: list[Any] = []
        for position in np.asarray(positions, dtype=np.int64).tolist():
            k = int(np.searchsorted(self._ends, position, side="right"))
            local = position - int(self._ends[k - 1] if k else 0)
            label = plain.labels(self.pools[k], [local])[0]
            result.append(position if isinstance(label, int) and label == local else label)
        return result

    def _parts(self) -> list[Any]:
        return self.pools
