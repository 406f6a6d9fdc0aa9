"""Ids that users give, whole numbers or text: columns of them, and where they stand among those that are known."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from adaptive import checks
from adaptive.pool import has_columns

if TYPE_CHECKING:
    from adaptive.types import Pool

__all__ = ["alike", "id_columns", "ids_of", "located"]

LARGEST = 2**63 - 1


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
        try:
            entries = [tuple(row) for row in listed]
        except TypeError:
            raise ValueError(f"{expected[:-1]}, got {checks.short(rows)}.") from None
        if any(len(row) != len(names) for row in entries):
            raise ValueError(expected)
        columns = [np.fromiter((row[k] for row in entries), dtype=object) for k in range(len(names))]
    if len(columns) != len(names):
        what = expected.partition(" must")[0]
        n = {2: "two", 3: "three"}[len(names)]
        listed = f"{', '.join(names[:-1])} and {names[-1]}"
        raise ValueError(f"{what} must have {n} columns, {listed}, got {len(columns)}.")
    return [ids_of(name, column) for name, column in zip(names, columns, strict=True)]


def ids_of(name: str, values: np.ndarray) -> np.ndarray:
    """Return ids (n,), int64 or text.

    Raises
    ------
    ValueError
        If one of them is neither, or some are text and some are not.
    """
    checks.as_given(name, values)
    if not len(values):
        return np.zeros(0, dtype=np.int64)
    if values.dtype.kind == "O":
        values = _of_one_kind(name, values)
    with np.errstate(invalid="ignore"):
        broken = ~np.isfinite(values) | (values != np.round(values)) if values.dtype.kind == "f" else np.zeros(1, bool)
    if values.ndim != 1 or values.dtype.kind not in "iufU" or broken.any():
        example = f", {values[broken][0]:g} among them" if values.dtype.kind == "f" and broken.any() else ""
        raise ValueError(f"{name} must be whole numbers or text, got {values.dtype} of shape {values.shape}{example}.")
    if values.dtype.kind == "U":
        return values
    if np.any(abs(values) > LARGEST):
        raise ValueError(
            f"{name} must be whole numbers below 2**63, or text, got {values[abs(values) > LARGEST][0]!r}."
        )
    return values.astype(np.int64)


def _of_one_kind(name: str, values: np.ndarray) -> np.ndarray:
    """Return objects as numbers or as text; NumPy would make text of all where one of them is."""
    entries = values.tolist()
    for k, one in enumerate(entries):
        if isinstance(one, (bool, np.bool_)) or one is None:
            raise ValueError(f"{name} must be whole numbers or text, got {one!r} at position {k}.")
    if len({isinstance(one, str) for one in entries}) > 1:
        raise ValueError(f"{name} must be of one kind, numbers or text: got both.")
    try:
        found = np.array(entries)
    except (ValueError, OverflowError):
        found = values
    return found


def alike(name: str, given: np.ndarray, known: np.ndarray) -> np.ndarray:
    """Return the ids ``known``; those ``given`` must be of their kind, since 3 and "3" are never the same."""
    if len(given) and len(known) and given.dtype.kind != known.dtype.kind:
        raise ValueError(f"{name} must be of one kind, numbers or text: got {given.dtype} after {known.dtype}.")
    return known


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
