"""Rows and the people who may be asked about them: a candidate is a row and a person."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from adaptive import pool as plain
from designs.lazy_pool import LazyPool

if TYPE_CHECKING:
    from adaptive.types import ArrayLike, Pool

__all__ = ["Annotated"]


class Annotated(LazyPool):
    """All pairs of a row of ``table`` and one of the ``annotators``, the person changing fastest.

    What is taken is a smaller pool of the same kind: `adaptive.BayesianLogisticRegression` with ``annotators=True``
    learns from it and chooses among it.

    Parameters
    ----------
    table : pool of n rows
        Array, sparse matrix, frame or a pool that lies in a file.
    annotators : sequence of labels, all different
        Names or numbers of people.
    positions : (m,) array of int, optional
        Which of the n x len(annotators) pairs; None: all of them.

    Attributes
    ----------
    rows : (m,) array of int
        Position in the table, of each pair.
    annotators : list of m labels
        The person, of each pair.
    people : list
        All of them.

    Raises
    ------
    ValueError
        If there is nobody, or somebody twice.

    Examples
    --------
    >>> pool = Annotated(np.zeros((1000, 3)), ["Ann", "Bob"])
    >>> len(pool), pool[3], pool.positions([(0, "Bob"), (7, "Ann")])
    (2000, (1, 'Bob'), array([ 1, 14]))

    Labels that there are already, as a table of who said what:

    >>> said = pool.of([0, 7], ["Bob", "Ann"])
    >>> said.rows, said.annotators
    (array([0, 7]), ['Bob', 'Ann'])
    """

    def __init__(self, table: Pool, annotators: Sequence[Any], positions: ArrayLike | None = None) -> None:
        self.table = table
        self.people = [one.item() if isinstance(one, np.generic) else one for one in annotators]
        if not self.people:
            raise ValueError("annotators must name at least one person, got none.")
        if len(set(self.people)) < len(self.people):
            twice = next(one for one in self.people if self.people.count(one) > 1)
            raise ValueError(f"annotators must name each person once, got {twice!r} twice.")
        self._place = {one: k for k, one in enumerate(self.people)}
        self._chosen = None if positions is None else np.asarray(positions, dtype=np.int64)
        self._length = plain.length(table) * len(self.people) if self._chosen is None else len(self._chosen)

    @property
    def rows(self) -> np.ndarray:
        """(m,) positions in the table."""
        return self._numbers() // len(self.people)

    @property
    def who(self) -> np.ndarray:
        """(m,) positions among the people."""
        return self._numbers() % len(self.people)

    @property
    def annotators(self) -> list[Any]:
        """The person of each pair."""
        return [self.people[k] for k in self.who]

    @property
    def stored(self) -> bool:
        """True where the table lies in a file."""
        return plain.is_stored(self.table)

    def of(self, rows: Sequence[int] | np.ndarray, annotators: Sequence[Any]) -> Annotated:
        """The pairs of given rows and people (m,), in this order; one may come again."""
        return self.take(self.positions(list(zip(np.asarray(rows).tolist(), list(annotators), strict=True))))

    def positions(self, entries: Sequence[tuple[int, Any]]) -> np.ndarray:
        """Positions of given pairs of a row and a person, in a pool of all pairs."""
        if self._chosen is not None:
            raise ValueError("positions need the pool of all pairs, but this is a part of one.")
        n = plain.length(self.table)
        found = np.empty(len(entries), dtype=np.int64)
        for j, (row, person) in enumerate(entries):
            number = self._number(person)
            if not 0 <= row < n:
                raise ValueError(f"rows must be between 0 and {n - 1}, got {row}.")
            found[j] = row * len(self.people) + number
        return found

    def _number(self, person: Any) -> int:
        """Place of a person among all."""
        if person not in self._place:
            raise ValueError(f"annotators are {_named(self.people)}, got {person!r}.")
        return self._place[person]

    def asked_of(self, person: Any) -> np.ndarray:
        """(m,) True where a pair is this person's, as a mask."""
        return self.who == self._number(person)

    def cost(self, prices: dict[Any, float]) -> np.ndarray:
        """(m,) cost of each pair, from a price for each person, as ``cost`` of `SequentialDesign` takes it.

        Examples
        --------
        >>> Annotated(np.zeros((2, 1)), ["expert", "student"]).cost({"expert": 6.0, "student": 1.0})
        array([6., 1., 6., 1.])
        """
        missing = [one for one in self.people if one not in prices]
        if missing:
            raise ValueError(f"prices must name everybody, but {missing[0]!r} is missing.")
        return np.array([float(prices[one]) for one in self.people])[self.who]

    def concatenate(self, pools: Sequence[Pool]) -> Annotated:
        """Parts of one pool as one."""
        parts: list[Any] = list(pools)
        if any(not isinstance(one, Annotated) or one.table is not self.table for one in parts):
            raise ValueError("pairs of a row and a person can be joined only if they come from one table")
        if any(one.people != self.people for one in parts):
            raise ValueError("pairs of a row and a person can be joined only if they have the same people")
        return Annotated(self.table, self.people, np.concatenate([one._numbers() for one in parts]))

    def labels(self, positions: ArrayLike) -> list[tuple[Any, Any]]:
        """Names of rows in their table, and people."""
        part = self._entries(np.asarray(positions, dtype=np.int64))
        names = plain.labels(self.table, part.rows)
        return list(zip(names, part.annotators, strict=True))

    def __getitem__(self, position: int) -> tuple[int, Any]:
        one = self._alone(position)
        return int(one.rows[0]), one.annotators[0]

    def _numbers(self) -> np.ndarray:
        return np.arange(self._length) if self._chosen is None else self._chosen

    def _entries(self, positions: np.ndarray) -> Annotated:
        return Annotated(self.table, self.people, positions if self._chosen is None else self._chosen[positions])

    def _parts(self) -> list[Any]:
        return [self.table, self.people, [] if self._chosen is None else self._chosen]


def _named(people: list[Any]) -> str:
    """Names for a message, the first ten of them."""
    shown = ", ".join(map(repr, people[:10]))
    return shown if len(people) <= 10 else f"{shown} and {len(people) - 10} more"
