"""Points with names: rows of settings as dictionaries, their numbers, and which candidate a setting is."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from scipy import sparse

from adaptive import pool as pools

__all__ = ["ID", "checked_names", "near", "number_of", "rows_of", "same", "undominated", "unknown"]

ID = "_id"
BASELINE = "baseline"  # the id that some give to points that were not suggested
SAME = 1e-6  # of the range of a column: so far may a measured setting be from the candidate that it was set to


def checked_names(what: str, given: Sequence[str]) -> list[str]:
    """Return different names as a list; ``what`` is the argument that a message names."""
    names = list(given)
    if isinstance(given, str) or not names or not all(isinstance(name, str) for name in names):
        raise ValueError(f"{what} must be texts, one for each column, got {given!r}.")
    if len(set(names)) < len(names):
        raise ValueError(f"{what} must differ, got {names}.")
    return names


def rows_of(candidates: Any, names: list[str]) -> list[dict[str, Any]]:
    """Return the candidates as rows {name: value}, values plain numbers or texts."""
    if sparse.issparse(candidates):
        raise ValueError("design must have settings as its candidates, got a sparse matrix.")
    if pools.has_columns(candidates):
        unknown = [name for name in names if name not in list(candidates.columns)]
        if unknown:
            raise ValueError(f"names must be columns of the candidates, got {unknown[0]!r}.")
        frame: Any = candidates
        columns = [frame[name].to_numpy().tolist() for name in names]
        return [dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True)]
    entries = candidates if isinstance(candidates, (list, tuple, range)) else np.asarray(candidates).tolist()
    if not isinstance(entries, (list, tuple, range)):
        raise ValueError(f"design must have rows of settings as its candidates, got {type(candidates).__name__}.")
    rows: list[Any] = [np.ravel(entry).tolist() if isinstance(entry, np.ndarray) else entry for entry in entries]
    rows = [list(row) if isinstance(row, (list, tuple)) else [row] for row in rows]
    if rows and len(rows[0]) != len(names):
        raise ValueError(f"names must have one entry for each of the {len(rows[0])} columns, got {len(names)}.")
    return [dict(zip(names, row, strict=True)) for row in rows]


def number_of(point: Mapping[str, Any]) -> int | None:
    """Return the number of the query that a point answers; None of one that nobody asked.

    Examples
    --------
    >>> number_of({"_id": 3}), number_of({"_id": "3"}), number_of({"_id": "baseline"}), number_of({"motor": 1.0})
    (3, 3, None, None)
    """
    given = point.get(ID)
    if given is None or (isinstance(given, str) and given == BASELINE):
        return None
    with contextlib.suppress(TypeError, ValueError, OverflowError):
        number = int(given)  # tables make 3.0 of 3, keys of JSON make "3" of it
        if not isinstance(given, (bool, np.bool_)) and (isinstance(given, str) or number == given):
            return number
    raise ValueError(unknown(given))


def unknown(given: object) -> str:
    """Return what to say of an id that was never given."""
    return f"_id {given!r} was never suggested; leave _id out of a point of your own choice."


def near(column: np.ndarray, value: Any) -> np.ndarray:
    """Return which entries are this setting, as exactly as an instrument says it back."""
    if column.dtype.kind in "iuf":
        try:
            apart = np.abs(column - float(value))
        except (TypeError, ValueError):
            return np.zeros(len(column), dtype=bool)
        scale = np.ptp(column) or np.max(np.abs(column)) or 1.0
        return (apart <= SAME * scale) & (apart == np.min(apart))
    return np.array([entry == value for entry in column.tolist()], dtype=bool)


def same(one: Any, other: Any) -> bool:
    """Return whether two outcomes are equal numbers, whatever holds them."""
    return np.asarray(one).tolist() == np.asarray(other).tolist()


def undominated(values: np.ndarray) -> np.ndarray:
    """Return which rows (n, k) no other row exceeds in one column without falling short in another; of equal ones the
    first.

    Examples
    --------
    >>> undominated(np.array([[1.0, 2.0], [2.0, 1.0], [0.0, 1.0], [2.0, 1.0]])).tolist()
    [True, True, False, False]
    """
    good = np.ones(len(values), dtype=bool)
    for k, row in enumerate(values):
        beaten = (values >= row).all(axis=1) & (values > row).any(axis=1)
        good[k] = not beaten.any() and not (values[:k] == row).all(axis=1).any()
    return good
