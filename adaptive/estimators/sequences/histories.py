"""Histories as users give them: a list of sequences, a mapping, or events (user, item), perhaps with their times."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self, TypeAlias, cast

import numpy as np

from adaptive import checks
from adaptive.estimators.ids import alike, ids_of, located
from adaptive.pool import has_columns

if TYPE_CHECKING:
    from adaptive.types import ArrayLike, Frame, Id, State

    #: A sequence per user, a mapping user -> items, or events; or users, whose items stand beside them.
    Sequences: TypeAlias = Sequence[Sequence[Id]] | Mapping[Any, Sequence[Id]] | np.ndarray | Frame | Sequence[Id]

__all__ = ["Events", "Histories", "events_of", "ids"]

EXPECTED = (
    "sequences must be a list of sequences, a mapping user -> items, or (user, item) events: an array or a frame of "
    "two columns, or three with the time, or a list of tuples"
)


def ids(name: str, values: object) -> np.ndarray:
    """Return ids (n,), whole numbers or text; none is missing."""
    checks.refuse_masked(name, values)
    if (
        isinstance(values, (str, bytes))
        or hasattr(values, "indptr")
        or not isinstance(values, Iterable)
        or np.ndim(cast("ArrayLike", values)) == 0
    ):
        raise ValueError(f"{name} must be a list of ids, whole numbers or text, got {checks.short(values)}.")
    given = values if isinstance(values, np.ndarray) else _column(list(cast("Iterable[object]", values)))
    if given.dtype.kind == "O":
        entries = given.tolist()
        missing = [k for k, one in enumerate(entries) if _is_missing(one)]
        if missing:
            raise ValueError(f"{name} has no id at position {missing[0]}; expected whole numbers or text.")
        if len({isinstance(one, str) for one in entries}) > 1:
            raise ValueError(f"{name} must be of one kind, numbers or text: got both.")
    if given.dtype.kind == "f":
        checks.finite(name, given)
    return ids_of(name, given)


def _is_missing(one: object) -> bool:
    return one is None or type(one).__name__ == "NAType" or (isinstance(one, float) and one != one)


def _column(entries: Sequence[object]) -> np.ndarray:
    """An array of what a list holds; beside text, numbers (and what is missing) stay what they are."""
    found = np.array(entries)
    text = [isinstance(one, str) for one in entries] if found.dtype.kind == "U" else []
    return found if all(text) else np.array(entries, dtype=object)


@dataclass(frozen=True, eq=False)
class Events:
    """Events in order.

    Attributes
    ----------
    users : (U,) array of ids
        Also of those without events.
    who : (n,) array
        Positions among them.
    items : (n,) array of ids
    """

    users: np.ndarray
    who: np.ndarray
    items: np.ndarray


def events_of(sequences: Sequences, y: ArrayLike | None = None) -> Events:
    """Return events in any of the forms; ``y``: their items, where ``sequences`` are users."""
    if y is not None:
        users, items = ids("users", sequences), ids("items", y)
        if len(users) != len(items):
            raise ValueError(f"y must have one item per user ({len(users)}), got {len(items)}.")
        who, known = located(users, np.zeros(0, dtype=np.int64))
        return Events(known, who, items)
    if isinstance(sequences, Mapping):
        return _of_sequences(ids("users", list(sequences)), list(sequences.values()))
    columns = _columns(sequences)
    if columns is not None:
        return _of_columns(columns)
    if isinstance(sequences, (str, bytes)) or not isinstance(sequences, (Sequence, np.ndarray)):
        raise ValueError(f"{EXPECTED}; got {type(sequences).__name__}.")
    return _of_sequences(np.arange(len(sequences)), list(cast("Iterable[Sequence[Id]]", sequences)))


def _columns(sequences: Sequences) -> list[np.ndarray] | None:
    """Two or three columns, where events are given; None where sequences are."""
    if has_columns(sequences):
        columns = [np.asarray(sequences[name]) for name in sequences.columns]
    elif isinstance(sequences, np.ndarray) and sequences.ndim == 2:
        columns = list(sequences.T)
    elif isinstance(sequences, list) and sequences and all(isinstance(row, tuple) for row in sequences):
        widths = {len(row) for row in sequences}
        if len(widths) > 1:
            raise ValueError(f"{EXPECTED}; got tuples of {' and '.join(map(str, sorted(widths)))} entries.")
        columns = [_column([row[k] for row in sequences]) for k in range(widths.pop())]
    else:
        return None
    if len(columns) not in (2, 3):
        raise ValueError(f"{EXPECTED}; got {len(columns)} columns.")
    return columns


def _of_columns(columns: list[np.ndarray]) -> Events:
    users, items = ids("users", columns[0]), ids("items", columns[1])
    who, known = located(users, np.zeros(0, dtype=np.int64))
    if len(columns) == 2:
        return Events(known, who, items)
    time = columns[2]
    missing = [k for k, one in enumerate(time.tolist()) if one is None or one != one]
    if missing:
        raise ValueError(f"times has no entry at position {missing[0]}; expected a time for every event.")
    if len({isinstance(one, str) for one in time.tolist()}) > 1:
        raise ValueError("times must be of one kind, numbers or text: got both.")
    order = np.lexsort((np.arange(len(time)), time, who))
    by_user = np.argsort(who, kind="stable")
    moved = int(np.sum(order != by_user))
    if moved:
        warnings.warn(f"{moved} events were out of order in time; they have been sorted.", UserWarning, stacklevel=6)
    return Events(known, who[order], items[order])


def _of_sequences(users: np.ndarray, sequences: list[Sequence[Id]]) -> Events:
    if len(np.unique(users)) < len(users):
        raise ValueError("users must be different from each other in a mapping user -> items.")
    parts = []
    for user, one in zip(users.tolist(), sequences, strict=True):
        if isinstance(one, (str, bytes)) or np.ndim(cast("ArrayLike", one)) != 1:
            raise ValueError(f"{EXPECTED}; the sequence of {user!r} is {one!r:.60}.")
        parts.append(ids(f"the sequence of {user!r}", one))
    some = [part for part in parts if len(part)]
    kinds = {part.dtype.kind for part in some}
    if len(kinds) > 1:
        raise ValueError("items must be of one kind, numbers or text: got both.")
    lengths = [len(part) for part in parts]
    items = np.concatenate(some) if some else np.zeros(0, dtype=np.int64)
    return Events(users, np.repeat(np.arange(len(parts)), lengths), items)


@dataclass(frozen=True, eq=False)
class Histories:
    """Everything that all users did so far.

    Attributes
    ----------
    users, items : arrays of ids
    codes : tuple of arrays
        Of each user, positions among the items, in order.
    """

    users: np.ndarray
    items: np.ndarray
    codes: tuple[np.ndarray, ...]

    n_features = None

    def __len__(self) -> int:
        return sum(map(len, self.codes))

    @classmethod
    def of(cls, events: Events, items: np.ndarray, *, closed: bool) -> Histories:
        """Histories over these items; ``closed``: others are refused."""
        nobody = np.zeros(0, dtype=np.int64)
        return cls(nobody, items, ()).followed_by(events, closed=closed)

    def followed_by(self, events: Events, *, closed: bool = True) -> Histories:
        """The histories after further events, of known users and new ones."""
        places, users = located(events.users, alike("users", events.users, self.users))
        codes, items = located(events.items, alike("items", events.items, self.items))
        if closed and len(items) > len(self.items):
            other = items[len(self.items)].item()
            raise ValueError(
                f"items must be among the {len(self.items)} that are known, got {other!r}: leave such events out, or "
                "fit with all items in items=[...]."
            )
        order = np.argsort(events.who, kind="stable")
        new = np.split(codes[order], np.searchsorted(events.who[order], np.arange(1, len(events.users))))
        whole = [*self.codes, *[np.zeros(0, dtype=np.int64)] * (len(users) - len(self.users))]
        for place, more in zip(places.tolist(), new, strict=False):
            whole[place] = np.concatenate([whole[place], more])
        return Histories(users, items, tuple(whole))

    def state(self) -> State:
        """Plain data."""
        flat = np.concatenate([*self.codes, np.zeros(0, dtype=np.int64)])
        lengths = np.array([len(one) for one in self.codes], dtype=np.int64)
        return {"users": self.users, "items": self.items, "codes": flat, "lengths": lengths}

    @classmethod
    def from_state(cls, state: State) -> Self:
        """Histories from their ``state``."""
        flat, lengths = (np.asarray(state[name], dtype=np.int64) for name in ("codes", "lengths"))
        codes = np.split(flat, np.cumsum(lengths)[:-1]) if len(lengths) else []
        users, items = (ids_of(name, np.asarray(state[name])) for name in ("users", "items"))
        return cls(users, items, tuple(codes))
