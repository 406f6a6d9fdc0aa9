"""Pairs by their ids: how often the stream had each, and how often it was shown and taken, or shown and refused."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Self, cast

import numpy as np
from scipy import sparse

from adaptive.checks import short
from adaptive.estimators.pairs.columns import Pairs, columns_of, numbered
from adaptive.estimators.pairs.inference.censored import Graph

if TYPE_CHECKING:
    from adaptive.types import ArrayLike, Matrix, Pool, State

__all__ = ["PairStream", "checked_answers"]


def checked_answers(y: ArrayLike | None, n: int) -> np.ndarray:
    """Return (n,) numbers: 1 and 0 of pairs that were shown, NaN of those that came by themselves (None)."""
    if y is None:
        return np.full(n, np.nan)
    given = np.asarray(y, dtype=object).ravel()
    if len(given) != n:
        raise ValueError(f"y must have one entry per pair ({n}), got {len(given)}.")
    answers = np.full(n, np.nan)
    for k, one in enumerate(given.tolist()):
        if one is None:
            continue
        if not isinstance(one, (bool, int, float, np.number, np.bool_)) or one not in (0, 1):
            raise ValueError(f"y must be 1 (taken) or 0 (refused) where a pair was shown, else None; got {short(one)}.")
        answers[k] = float(one)
    return answers


def _table_of(counts: Matrix) -> tuple[tuple[np.ndarray, np.ndarray], np.ndarray]:
    """Pairs that are not zero in a sparse table, and these counts."""
    table = sparse.coo_matrix(counts)
    table.sum_duplicates()
    values = np.asarray(table.data, dtype=float)
    if not np.isfinite(values).all() or (values < 0).any() or (values != np.round(values)).any():
        wrong = values[~(np.isfinite(values) & (values >= 0) & (values == np.round(values)))][0]
        raise ValueError(f"X must hold counts, whole numbers from 0 on, got {wrong:g}.")
    kept = values > 0
    return (table.row[kept].astype(np.int64), table.col[kept].astype(np.int64)), values[kept]


@dataclass(frozen=True, eq=False)
class PairStream(Pairs):
    """Pairs, each once; the ids of a table are its rows and columns.

    Attributes
    ----------
    counts, taken, refused : (n,) arrays
        Of the stream; and of pairs that were shown.
    touched : ((i,) array, (j,) array)
        Rows of users and items that the last addition concerned.
    streamed : bool
        Whether that had pairs of the stream, or only ones that were shown.
    told : float
        How many pairs it added, and forgot.
    """

    counts: np.ndarray
    taken: np.ndarray
    refused: np.ndarray
    touched: tuple[np.ndarray, np.ndarray] = field(default=(np.zeros(0, np.int64), np.zeros(0, np.int64)))
    streamed: bool = True
    told: float = 0.0

    @classmethod
    def of(cls, X: Pool, y: ArrayLike | None, earlier: PairStream | None = None, decay: float = 1.0) -> PairStream:
        """Pairs, or a sparse table of counts, as they are given, after the ``earlier`` ones."""
        known = None if earlier is None else earlier.ids
        if sparse.issparse(X):
            if y is not None:
                raise ValueError("y must be None with a sparse X, whose counts are those of the stream.")
            columns, weights = _table_of(X)
            shape = cast("Matrix", X).shape
            answers = np.full(len(weights), np.nan)
            every: tuple[np.ndarray, np.ndarray] = (np.arange(shape[0]), np.arange(shape[1]))
            ids, rows = numbered(every, known)  # rows and columns without a count are users and items, too
            rows = [where[column] for where, column in zip(rows, columns, strict=True)]
        else:
            columns = columns_of(X)
            answers = checked_answers(y, len(columns[0]))
            weights = np.ones(len(answers))
            ids, rows = numbered(columns, known)
        if not len(weights) and earlier is None:
            raise ValueError("X must hold at least one pair, got none.")
        came = np.isnan(answers)
        parts = [weights * came, weights * (answers == 1.0), weights * (answers == 0.0)]
        touched, told = (np.unique(rows[0]), np.unique(rows[1])), float(weights.sum())
        if earlier is not None:
            rows = [np.concatenate([old, new]) for old, new in zip(earlier.rows, rows, strict=True)]
            before, told = (earlier.counts, earlier.taken, earlier.refused), told + (1.0 - decay) * earlier.weight
            parts = [np.concatenate([decay * old, new]) for old, new in zip(before, parts, strict=True)]
        width = max(len(ids[1]), 1)
        keys: np.ndarray
        keys, which = np.unique(rows[0] * width + rows[1], return_inverse=True)
        users, items = np.divmod(keys, width)
        counts, taken, refused = (np.bincount(which, part, minlength=len(keys)) for part in parts)
        streamed = bool(came.any()) or decay != 1.0
        both = (ids[0], ids[1])
        return cls(both, (users, items), counts, taken, refused, touched=touched, streamed=streamed, told=told)

    @property
    def weight(self) -> float:
        """Number of all pairs, those forgotten in part by what is left of them."""
        return float(self.counts.sum() + self.taken.sum() + self.refused.sum())

    @cached_property
    def graph(self) -> Graph:
        """Graph as the inference takes it: what was shown enters the odds and leaves the stream's counts alone."""
        shown = self.taken + self.refused
        half = 0.5 * (self.counts + self.taken - self.refused)
        return Graph(self.rows, self.counts, half, self.counts + shown, self.lengths)

    def seen_by(self, user: int) -> np.ndarray:
        """Positions of the items that the user was paired with, or shown."""
        indptr, index, *_ = self.graph.by(0)
        return index[indptr[user] : indptr[user + 1]]

    def state(self) -> State:
        """Plain data."""
        parts = {"counts": self.counts, "taken": self.taken, "refused": self.refused}
        return {"ids": list(self.ids), "rows": list(self.rows), **parts}

    @classmethod
    def from_state(cls, state: State) -> Self:
        """The pairs that ``state`` described."""
        ids, rows = ([np.asarray(part) for part in state[name]] for name in ("ids", "rows"))
        counts, taken, refused = (np.asarray(state[name]) for name in ("counts", "taken", "refused"))
        return cls((ids[0], ids[1]), (rows[0], rows[1]), counts, taken, refused)
