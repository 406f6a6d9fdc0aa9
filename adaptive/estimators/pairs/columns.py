"""Pairs (user, item) by their ids, and how often each was counted; what is listed with a count of 0 was observed.

Beside them the parameters that every factorisation of pairs has.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Self, TypeAlias, cast

import numpy as np
from joblib import effective_n_jobs

from adaptive import checks
from adaptive.estimators.belief import Settings
from adaptive.estimators.ids import id_columns
from adaptive.estimators.pairs.inference.rounds import Entries
from adaptive.potentials import Poisson

if TYPE_CHECKING:
    from collections.abc import Iterable

    from adaptive.types import ArrayLike, Id, Pool, RandomState, State

    Positions: TypeAlias = tuple[dict[Id, int], dict[Id, int]]  # of users and of items
    Columns: TypeAlias = tuple[np.ndarray, np.ndarray]  # a user and an item of each pair

__all__ = ["FactorSettings", "PairCounts", "Pairs", "checked_counts", "columns_of", "labels_of", "numbered", "rows_of"]


@dataclass(frozen=True, eq=False)
class FactorSettings(Settings):
    """Parameters of every factorisation of pairs."""

    n_components: int = 5
    fit_bias: bool = True
    n_init: int = 1
    max_iter: int = 200
    tol: float = 3e-3
    n_jobs: int | None = None
    random_state: RandomState = None

    def check(self) -> None:
        """Refuse what is wrong in one sentence."""
        checks.integer("n_components", self.n_components, minimum=1)
        checks.integer("n_init", self.n_init, minimum=1)
        checks.integer("max_iter", self.max_iter, minimum=1)
        checks.positive("tol", self.tol, or_zero=True)

    @property
    def threads(self) -> int:
        """Number of rows that are solved at the same time."""
        return int(effective_n_jobs(self.n_jobs))

    def seed(self) -> int:
        """One number to draw starts from, the random state where it is one."""
        given = self.random_state
        if isinstance(given, (int, np.integer)):
            return int(given)
        return int(checks.generator(given).integers(2**62))


def columns_of(pairs: Pool) -> Columns:
    """Return ids of users and of items, whole numbers or text, from an array (n, 2), a frame or a list of pairs."""
    users, items = id_columns(pairs, ("users", "items"), "pairs must have two ids each, a user and an item.")
    return users, items


def checked_counts(y: ArrayLike, n: int) -> np.ndarray:
    """Return n counts."""
    counts = np.atleast_1d(np.asarray(Poisson(np.ravel(checks.finite("y", y))).y))
    if len(counts) != n:
        raise ValueError(f"y must have one count per pair ({n}), got {len(counts)}.")
    return counts


def numbered(
    columns: tuple[np.ndarray, np.ndarray], known: tuple[np.ndarray, np.ndarray] | None
) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """Return the ids of users and of items, those ``known`` first, and the positions of ``columns`` among them."""
    ids, rows = [], []
    for side, column in enumerate(columns):
        before = np.zeros(0, dtype=column.dtype) if known is None else known[side]
        if known is not None and len(column) and before.dtype.kind != column.dtype.kind:
            name = ("users", "items")[side]
            raise ValueError(f"{name} must be of one kind, numbers or text: got {column.dtype} after {before.dtype}.")
        table = {label: k for k, label in enumerate(before.tolist())}
        found = [table.setdefault(label, len(table)) for label in column.tolist()]
        ids.append(np.array(list(table), dtype=column.dtype if not len(before) else None))
        rows.append(np.array(found, dtype=np.int64))
    return ids, rows


def labels_of(items: Pool) -> list[Id]:
    """Return the ids that a list or an array holds."""
    return list(cast("Iterable[Id]", items))


def rows_of(columns: tuple[np.ndarray, np.ndarray], positions: Positions) -> tuple[list[np.ndarray], tuple[int, int]]:
    """Return the rows of ids, those never seen after all that are known, and how many rows there are then."""
    rows, lengths = [], []
    for labels, known in zip(columns, positions, strict=True):
        new: dict[Id, int] = {}
        found = [known[x] if x in known else new.setdefault(x, len(known) + len(new)) for x in labels.tolist()]
        rows.append(np.array(found, dtype=np.int64))
        lengths.append(len(known) + len(new))
    return rows, (lengths[0], lengths[1])


@dataclass(frozen=True, eq=False)
class Pairs:
    """Pairs by their ids.

    Attributes
    ----------
    ids : ((m,) array, (k,) array)
        Of all users and items, in the order in which they came.
    rows : ((n,) array, (n,) array)
        Positions of the pairs' users and items there.
    """

    ids: tuple[np.ndarray, np.ndarray]
    rows: tuple[np.ndarray, np.ndarray]

    n_features = None

    def __len__(self) -> int:
        return len(self.rows[0])

    @cached_property
    def positions(self) -> Positions:
        """Positions of ids."""
        users, items = ({label: k for k, label in enumerate(labels.tolist())} for labels in self.ids)
        return users, items

    @property
    def lengths(self) -> tuple[int, int]:
        """Numbers of users and items."""
        return len(self.ids[0]), len(self.ids[1])


@dataclass(frozen=True, eq=False)
class PairCounts(Pairs):
    """Pairs and their counts y (n,), as they came."""

    y: np.ndarray

    @classmethod
    def of(cls, pairs: Pool, y: ArrayLike, earlier: PairCounts | None = None) -> PairCounts:
        """Pairs as they are given, after the ``earlier`` ones."""
        columns = columns_of(pairs)
        counts = checked_counts(y, len(columns[0]))
        if not len(counts) and earlier is None:
            raise ValueError("pairs must hold at least one pair, got none.")
        ids, rows = numbered(columns, None if earlier is None else earlier.ids)
        if earlier is not None:
            rows = [np.concatenate([old, new]) for old, new in zip(earlier.rows, rows, strict=True)]
            counts = np.concatenate([earlier.y, counts])
        return cls((ids[0], ids[1]), (rows[0], rows[1]), counts)

    def entries(self, zeros: str = "missing") -> Entries:
        """Every pair once: of duplicates counts and exposures add; with zeros "observed" all other pairs as zeros."""
        width = max(self.lengths[1], 1)
        keys: np.ndarray
        keys, inverse = np.unique(self.rows[0] * width + self.rows[1], return_inverse=True)
        y: np.ndarray = np.asarray(np.bincount(inverse, self.y))
        exposure: np.ndarray = np.bincount(inverse, np.ones(len(inverse)))
        if zeros == "observed":
            n = self.lengths[0] * self.lengths[1]
            if n > LARGEST_TABLE:
                raise ValueError(
                    f'zeros="observed" would list {n} pairs, more than {LARGEST_TABLE:.0f}; list the zeros you mean.'
                )
            whole, times = np.zeros(n), np.ones(n)
            whole[keys], times[keys] = y, exposure
            users, items = np.divmod(np.arange(n), width)
            return Entries((users, items), whole, times, self.lengths)
        users, items = np.divmod(keys, width)
        return Entries((users, items), y, exposure, self.lengths)

    def state(self) -> State:
        """Plain data."""
        return {"ids": list(self.ids), "rows": list(self.rows), "y": self.y}

    @classmethod
    def from_state(cls, state: State) -> Self:
        """The pairs that ``state`` described."""
        ids, rows = ([np.asarray(part) for part in state[name]] for name in ("ids", "rows"))
        return cls((ids[0], ids[1]), (rows[0], rows[1]), np.asarray(state["y"]))


LARGEST_TABLE = 2e7
