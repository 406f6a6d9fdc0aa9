"""Tasks for people: the candidates that wait for answers, with their ids and whatever makes them readable."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from adaptive import pool as pools

if TYPE_CHECKING:
    from adaptive.loop.sequential_design import SequentialDesign
    from adaptive.types import Pool

__all__ = ["FIELDS", "PERSON", "tasks"]

FIELDS = ("query", "position", "id", "score")  # what identifies a task; the rest is for people
PERSON = "for"  # whom a task was chosen for, where candidates are a row and a person


def tasks(
    design: SequentialDesign, data: Pool | Mapping[str, Any] | None = None, reserved: tuple[str, ...] = ()
) -> list[dict[str, Any]]:
    """Return one dictionary per candidate that waits for its answer, oldest query first.

    Parameters
    ----------
    design : SequentialDesign over a fixed pool
    data : frame, mapping of columns, or sequence, each as long as the pool, optional
        What people are to see of a candidate; by default the columns of a pool that is a frame, and the entries of
        one whose entries are text or numbers. Of pairs of a row and a person: of a row, as long as their table.
    reserved : tuple of str
        Further names that no column may have.

    Returns
    -------
    list of dict
        query, position, id (the pool's label of the candidate), score (None where the design did not choose), of pairs
        of a row and a person "for" (that person), and the columns of ``data``: plain numbers, text and None.

    Raises
    ------
    ValueError
        If the pool is a callable, nothing waits, or ``data`` does not fit the pool.
    """
    if design.changing_pool:
        raise ValueError("labels are exchanged by position, but the design's pool is a callable; use ask and tell.")
    pool: Any = design.pool
    people = pools.has_people(pool)
    table, kept = (pool.table, (*FIELDS, PERSON)) if people else (pool, FIELDS)
    shown = _columns(table, data, (*kept, *reserved))
    listed = []
    for query in design.pending:
        asked: Any = query.candidates
        rows = asked.rows if people else query.positions
        columns = {PERSON: list(map(plain, asked.annotators))} if people else {}
        columns |= {name: [plain(one) for one in pools.take(column, rows)] for name, column in shown.items()}
        for row, (position, label, score) in enumerate(zip(query.positions, query.labels, query.scores, strict=True)):
            identity = (query.id, int(position), plain(label), plain(score))
            listed.append(
                dict(zip(FIELDS, identity, strict=True)) | {name: column[row] for name, column in columns.items()}
            )
    if not listed:
        raise ValueError("no query waits for answers: call ask() first.")
    return listed


def plain(value: object) -> Any:
    """Return a value as JSON and CSV know it: text, number, bool or None; NaN is None, anything else its text.

    Examples
    --------
    >>> plain(np.float64(0.5)), plain(float("nan")), plain(("a", 1))
    (0.5, None, "('a', 1)")
    """
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return None if math.isnan(value) else str(value)
    return value if value is None or isinstance(value, (bool, int, float, str)) else str(value)


def _columns(pool: Pool, data: Pool | Mapping[str, Any] | None, reserved: tuple[str, ...]) -> dict[str, Any]:
    given = "the pool" if data is None else "data"
    shown: Any = pool if data is None else data
    names = getattr(shown, "columns", None)
    if names is None and data is None and not _readable(pool):
        return {}
    columns: dict[str, Any]
    if isinstance(shown, Mapping):
        columns = {str(name): column for name, column in shown.items()}
    elif names is not None:
        columns = {str(name): shown[name] for name in names}
    else:
        columns = {"candidate": shown}
    for name, column in columns.items():
        if name in reserved:
            raise ValueError(f"{given} has a column {name!r}, a name that the file needs itself; rename it.")
        if pools.length(column) != pools.length(pool):
            raise ValueError(
                f"data must be as long as the pool ({pools.length(pool)}), column {name!r} has {pools.length(column)}."
            )
    return columns


def _readable(pool: Pool) -> bool:
    """Return whether a pool's entries are themselves text or numbers."""
    first = pool[0] if isinstance(pool, (list, tuple)) or (isinstance(pool, np.ndarray) and pool.ndim == 1) else None
    return isinstance(first, (str, int, float, np.generic))
