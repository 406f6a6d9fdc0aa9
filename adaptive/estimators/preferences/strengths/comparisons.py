"""Comparisons of two items by their ids, what came out, and whose word it is; equal ones are one cell with a count."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from adaptive import checks
from adaptive.estimators.ids import alike, id_columns, ids_of, located
from adaptive.estimators.preferences.comparisons import different, pair_columns

if TYPE_CHECKING:
    from adaptive.types import ArrayLike, Pool, State

__all__ = ["Asked", "Cells", "ComparisonData", "asked_of", "checked_outcomes"]


@dataclass(frozen=True)
class Asked:
    """Ids of first and of second items, and of judges (None: there is one, who has no name)."""

    first: np.ndarray
    second: np.ndarray
    judge: np.ndarray | None

    def __len__(self) -> int:
        return len(self.first)

    def __getitem__(self, few: slice | np.ndarray) -> Asked:
        return Asked(self.first[few], self.second[few], None if self.judge is None else self.judge[few])


def asked_of(rows: Pool, judges: bool) -> Asked:
    """Return (first, second), or (first, second, judge), from an array, a frame or a list of tuples."""
    if not judges:
        return Asked(*pair_columns(rows), None)
    expected = "comparisons must have three ids each: the two items that are compared, and the judge."
    first, second, judge = id_columns(rows, ("first items", "second items", "judges"), expected)
    return Asked(*different(first, second), judge)


def checked_outcomes(y: ArrayLike, n: int, ties: bool) -> np.ndarray:
    """Return n whole numbers: +1 where the first won, -1 where the second did, 0 at a tie."""
    values = np.ravel(checks.finite("y", y))
    if len(values) != n:
        raise ValueError(f"y must have one entry per comparison ({n}), got {len(values)}.")
    wrong = values[~np.isin(values, (-1.0, 0.0, 1.0) if ties else (-1.0, 1.0))]
    if len(wrong):
        even = ", 0 at a tie" if ties else "" if wrong[0] else " (ties=False)"
        raise ValueError(f"y must be +1 where the first item won, -1 where the second did{even}, got {wrong[0]:g}.")
    return values.astype(np.int64)


@dataclass(frozen=True)
class Cells:
    """Different comparisons: positions of items and judges, what came out, and how often.

    Attributes
    ----------
    first, second, judge, y : (m,) arrays of int
        ``judge`` is 0 where nobody is named.
    count : (m,) array
    """

    first: np.ndarray
    second: np.ndarray
    judge: np.ndarray
    y: np.ndarray
    count: np.ndarray

    def __len__(self) -> int:
        return len(self.y)

    @cached_property
    def keys(self) -> list[tuple[int, ...]]:
        """Numbers that tell cells apart."""
        return list(zip(*(column.tolist() for column in (self.first, self.second, self.judge, self.y)), strict=True))


@dataclass(frozen=True, eq=False)
class ComparisonData:
    """Comparisons so far.

    Attributes
    ----------
    items, judges : arrays of ids
        Items that are known before any comparison come first.
    rows : (n, 4) array of int
        Positions of the first and the second item and of the judge, and the outcome.
    """

    items: np.ndarray
    judges: np.ndarray
    rows: np.ndarray

    n_features = None

    def __len__(self) -> int:
        return len(self.rows)

    @classmethod
    def about(cls, items: np.ndarray) -> ComparisonData:
        """No comparisons yet, of these items."""
        return cls(items, np.zeros(0, dtype=np.int64), np.zeros((0, 4), dtype=np.int64))

    @classmethod
    def of(cls, asked: Asked, outcomes: np.ndarray, earlier: ComparisonData) -> ComparisonData:
        """Comparisons with their outcomes, after the ``earlier`` ones."""
        first, second, items = earlier.placed(asked)
        judge, judges = earlier.judge_places(asked)
        rows = np.column_stack([first, second, judge, outcomes])
        return cls(items, judges, np.concatenate([earlier.rows, rows]))

    def placed(self, asked: Asked) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return positions of first and second items, new ones behind all others, and all items."""
        known = alike("items", asked.first, self.items)
        ends, items = located(np.concatenate([asked.first, asked.second]), known)
        return ends[: len(asked)], ends[len(asked) :], items

    def judge_places(self, asked: Asked) -> tuple[np.ndarray, np.ndarray]:
        """Return positions of judges, new ones behind all others, and all judges."""
        if asked.judge is None:
            return np.zeros(len(asked), dtype=np.int64), self.judges
        return located(asked.judge, alike("judges", asked.judge, self.judges))

    @cached_property
    def cells(self) -> Cells:
        """The different comparisons, in order."""
        different_rows, count = np.unique(self.rows, axis=0, return_counts=True)
        first, second, judge, y = different_rows.T.copy()
        return Cells(first, second, judge, y, count.astype(float))

    def state(self) -> State:
        """Plain data."""
        return {"items": self.items, "judges": self.judges, "rows": self.rows}

    @classmethod
    def from_state(cls, state: State) -> ComparisonData:
        """The comparisons that ``state`` described."""
        rows = np.asarray(state["rows"], dtype=np.int64).reshape(-1, 4)
        return cls(ids_of("items", np.asarray(state["items"])), ids_of("judges", np.asarray(state["judges"])), rows)
