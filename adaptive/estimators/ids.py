"""Ids that users give, whole numbers or text: columns of them, and where they stand among those that are known."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from adaptive.pool import has_columns

if TYPE_CHECKING:
    from adaptive.types import Pool

__all__ = ["id_columns", "ids_of", "located"]


def id_columns(rows: Pool, names: Sequence[str], expected: str) -> list[np.ndarray]:
    """Return a column of ids per name from an array (n, columns), a frame or a list of tuples.

    ``expected`` is the sentence for a tuple of another length.

    Examples
    --------
    >>> id_columns([("ann", 3), ("ben", 5)], ("users", "items"), "pairs must have two ids each.")
    [array(['ann', 'ben'], dtype='<U3'), array([3, 5])]
    """
    if has_columns(rows):
        columns = [np.asarray(rows[name]) for name in rows.columns]
    elif isinstance(rows, np.ndarray) and rows.ndim == 2:
        columns = list(rows.T)
    else:
        listed: Any = rows
        entries = [tuple(row) for row in listed]
        if any(len(row) != len(names) for row in entries):
            raise ValueError(expected)
        columns = [np.array([row[k] for row in entries]) for k in range(len(names))]
    if len(columns) != len(names):
        what = expected.partition(" must")[0]
        n = {2: "two", 3: "three"}[len(names)]
        listed = f"{', '.join(names[:-1])} and {names[-1]}"
        raise ValueError(f"{what} must have {n} columns, {listed}, got {len(columns)}.")
    return [ids_of(name, column) for name, column in zip(names, columns, strict=True)]


def ids_of(name: str, values: np.ndarray) -> np.ndarray:
    """Return ids (n,), int64 or text."""
    if not len(values):
        return np.zeros(0, dtype=np.int64)
    if values.dtype.kind == "O":
        values = np.array(values.tolist())
    if values.dtype.kind == "f" and (values == np.round(values)).all():
        values = values.astype(np.int64)
    if values.ndim != 1 or values.dtype.kind not in "iuU":
        raise ValueError(f"{name} must be whole numbers or text, got {values.dtype} of shape {values.shape}.")
    return values.astype(np.int64) if values.dtype.kind in "iu" else values


def located(values: np.ndarray, known: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return where ids stand among ``known``, new ones behind these in the order they came, and all of them.

    Examples
    --------
    >>> located(np.array([7, 5, 9, 7]), np.array([5, 6]))
    (array([2, 0, 3, 2]), array([5, 6, 7, 9]))
    """
    places = np.full(len(values), -1, dtype=np.int64)
    alike = not len(known) or not len(values) or known.dtype.kind == values.dtype.kind
    if len(known) and alike:
        order = np.argsort(known, kind="stable")
        at = order[np.minimum(np.searchsorted(known, values, sorter=order), len(known) - 1)]
        places = np.where(known[at] == values, at, -1)
    unknown = np.flatnonzero(places < 0)
    if not len(unknown):
        return places, known
    new, first, inverse = np.unique(values[unknown], return_index=True, return_inverse=True)
    rank = np.argsort(np.argsort(first))  # in the order they came
    places[unknown] = len(known) + rank[inverse]
    new = new[np.argsort(first)]
    return places, new if not len(known) else np.concatenate([known, new]) if alike else np.concatenate(
        [known.astype(object), new.astype(object)]
    )
