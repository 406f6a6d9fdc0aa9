"""What people are shown: the candidates that wait for answers, with their ids and whatever makes them readable."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from adaptive import pool as pools

__all__ = ["FIELDS", "tasks"]

FIELDS = ("query", "position", "id", "score")  # what identifies a task; the rest is for people


def tasks(design: Any, data: Any = None, reserved: tuple[str, ...] = ()) -> list[dict[str, Any]]:
    """Return one dictionary per candidate that waits for its answer, oldest query first.

    Parameters
    ----------
    design : SequentialDesign over a fixed pool
    data : frame, mapping of columns, or sequence, each as long as the pool, optional
        What people are to see of a candidate; by default the columns of a pool that is a frame, and the entries of
        one whose entries are text or numbers.
    reserved : tuple of str
        Further names that no column may have.

    Returns
    -------
    list of dict
        query, position, id (the pool's label of the candidate), score (None where the design did not choose), and the
        columns of ``data``: plain numbers, text and None.

    Raises
    ------
    ValueError
        If the pool is a callable, nothing waits, or ``data`` does not fit the pool.
    """
    if design.changing_pool:
        raise ValueError("labels go out and in by position, but the design's pool is a callable; use ask and tell.")
    shown = _columns(design.pool, data, (*FIELDS, *reserved))
    listed = []
    for query in design.pending:
        columns = {name: [plain(one) for one in pools.take(column, query.positions)] for name, column in shown.items()}
        for row, (position, label, score) in enumerate(zip(query.positions, query.labels, query.scores, strict=True)):
            identity = (query.id, int(position), plain(label), plain(score))
            listed.append(
                dict(zip(FIELDS, identity, strict=True)) | {name: column[row] for name, column in columns.items()}
            )
    if not listed:
        raise ValueError("no query waits for answers: call ask() first.")
    return listed


def plain(value: Any) -> Any:
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


def _columns(pool: Any, data: Any, reserved: tuple[str, ...]) -> dict[str, Any]:
    given = "data" if data is not None else "the pool"
    if data is None:
        if not hasattr(pool, "columns") and not _readable(pool):
            return {}
        data = pool
    if isinstance(data, Mapping):
        columns = {str(name): column for name, column in data.items()}
    elif hasattr(data, "columns"):
        columns = {str(name): data[name] for name in data.columns}
    else:
        columns = {"candidate": data}
    for name, column in columns.items():
        if name in reserved:
            raise ValueError(f"{given} has a column {name!r}, a name that the file needs itself; rename it.")
        if pools.length(column) != pools.length(pool):
            raise ValueError(
                f"data must be as long as the pool ({pools.length(pool)}), column {name!r} has {pools.length(column)}."
            )
    return columns


def _readable(pool: Any) -> bool:
    """Return whether a pool's entries are themselves text or numbers."""
    first = pool[0] if isinstance(pool, (list, tuple)) or (isinstance(pool, np.ndarray) and pool.ndim == 1) else None
    return isinstance(first, (str, int, float, np.generic))
