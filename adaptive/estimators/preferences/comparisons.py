"""Comparisons (user, first, second) by their ids, and which of the two won."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

import numpy as np

from adaptive import checks
from adaptive.estimators.ids import alike, id_columns, ids_of, located
from adaptive.estimators.preferences.inference.people import Comparisons

if TYPE_CHECKING:
    from adaptive.types import ArrayLike, Pool, State

__all__ = ["PreferenceData", "checked_winners", "different", "pair_columns", "triple_columns"]


def triple_columns(rows: Pool) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return ids of users, of first and of second items, from an array (n, 3), a frame or a list of tuples."""
    expected = "comparisons must have three ids each: a user and the two items that were compared."
    users, first, second = id_columns(rows, ("users", "first items", "second items"), expected)
    return users, *different(first, second)


def pair_columns(rows: Pool) -> tuple[np.ndarray, np.ndarray]:
    """Return ids of first and of second items, from an array (n, 2), a frame or a list of pairs."""
    expected = "comparisons must have two ids each, the items that are compared."
    return different(*id_columns(rows, ("first items", "second items"), expected))


def different(first: np.ndarray, second: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the two columns of items; they must be of one kind, and no item may stand against itself."""
    if first.dtype.kind != second.dtype.kind:
        raise ValueError(f"items must be of one kind, numbers or text: got {first.dtype} and {second.dtype}.")
    itself = np.flatnonzero(first == second)
    if len(itself):
        k = int(itself[0])
        raise ValueError(f"comparisons must be of two items: at position {k} {first[k]!s} is compared with itself.")
    return first, second


def checked_winners(y: ArrayLike, n: int) -> np.ndarray:
    """Return n numbers, +1 where the first won and -1 where the second did."""
    values = np.ravel(checks.finite("y", y))
    if len(values) != n:
        raise ValueError(f"y must have one entry per comparison ({n}), got {len(values)}.")
    wrong = values[abs(values) != 1.0]
    if len(wrong):
        raise ValueError(f"y must be +1 where the first item won and -1 where the second did, got {wrong[0]:g}.")
    return values


@dataclass(frozen=True, eq=False)
class PreferenceData:
    """Comparisons of all users.

    Attributes
    ----------
    users, items : arrays of ids
        Items that are known before any comparison come first.
    known : Comparisons
        By positions there.
    """

    users: np.ndarray
    items: np.ndarray
    known: Comparisons

    n_features = None

    def __len__(self) -> int:
        return len(self.known)

    @classmethod
    def of(cls, X: Pool, y: ArrayLike, earlier: PreferenceData) -> PreferenceData:
        """Comparisons as they are given, after the ``earlier`` ones."""
        users, first, second = triple_columns(X)
        winners = checked_winners(y, len(users))
        person, all_users = located(users, alike("users", users, earlier.users))
        ends, all_items = located(np.concatenate([first, second]), alike("items", first, earlier.items))
        old, n = earlier.known, len(winners)
        new = Comparisons(person, ends[:n], ends[n:], winners)
        parts = ("person", "first", "second", "y")
        joined = Comparisons(*(np.concatenate([getattr(old, part), getattr(new, part)]) for part in parts))
        return cls(all_users, all_items, joined)

    @classmethod
    def about(cls, items: np.ndarray) -> PreferenceData:
        """No comparisons yet, of these items."""
        none = np.zeros(0, dtype=np.int64)
        return cls(none, items, Comparisons(none, none, none, np.zeros(0)))

    def triples(self, first: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Ids of users, of first and of second items, of the comparisons from one on."""
        rows = self.known.take(np.arange(first, len(self)))
        return self.users[rows.person], self.items[rows.first], self.items[rows.second]

    def state(self) -> State:
        """Plain data."""
        known = self.known
        rows = np.column_stack([known.person, known.first, known.second])
        return {"users": self.users, "items": self.items, "rows": rows, "y": known.y}

    @classmethod
    def from_state(cls, state: State) -> Self:
        """The comparisons that ``state`` described."""
        users, items, rows, y = (np.asarray(state[name]) for name in ("users", "items", "rows", "y"))
        person, first, second = (np.ascontiguousarray(column) for column in rows.reshape(-1, 3).T)
        known = Comparisons(person, first, second, y)
        return cls(ids_of("users", users), ids_of("items", items), known)
