"""Events, or pairs and their counts, in a CSV file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from adaptive.cli.errors import CommandError

__all__ = ["read_columns", "read_events", "read_pairs"]


def read_columns(path: Path, wanted: list[str]) -> dict[str, list[str]]:
    """The wanted columns as text; an empty list of them: the first."""
    import pandas as pd

    if not path.is_file():
        raise CommandError(f"there is no file {path}.")
    try:
        table = pd.read_csv(path, dtype=str, keep_default_na=False, encoding="utf-8-sig")
    except (UnicodeDecodeError, pd.errors.ParserError, pd.errors.EmptyDataError) as error:
        raise CommandError(f"{path} is not a CSV file in UTF-8: {error}.") from None
    header = list(table.columns)
    for column in wanted:
        if column not in header:
            raise CommandError(f"{path} has no column {column!r}; its columns are {', '.join(header)}.")
    if not len(table):
        raise CommandError(f"{path} has no rows below its header.")
    return {name: table[name].str.strip().tolist() for name in wanted or header[:1]}


def _numbers(path: Path, name: str, cells: list[str], expected: str) -> np.ndarray:
    values = np.empty(len(cells))
    for k, cell in enumerate(cells):
        try:
            values[k] = float(cell)
        except ValueError:
            values[k] = np.nan
        if not np.isfinite(values[k]):
            raise CommandError(f"{path}, line {k + 2}, column {name!r}: expected {expected}, got {cell!r}.")
    return values


def read_events(path: Path, places: list[str]) -> tuple[np.ndarray, list[str]]:
    """Return places or times (n, d), and the names of their columns."""
    columns = read_columns(path, places)
    found = [_numbers(path, name, cells, "a number") for name, cells in columns.items()]
    return np.column_stack(found), list(columns)


def read_pairs(path: Path, names: tuple[str, str, str]) -> tuple[list[tuple[Any, Any]], np.ndarray]:
    """Return pairs of ids and counts (n,), NaN where the cell is empty: a pair to predict."""
    columns = read_columns(path, list(names))
    users, items, cells = (columns[name] for name in names)
    known = [k for k, cell in enumerate(cells) if cell]
    counts = np.full(len(cells), np.nan)
    for k in known:
        counts[k] = _numbers(path, names[2], [cells[k]], "a count")[0] if _is_count(cells[k]) else -1.0
        if counts[k] < 0:
            raise CommandError(f"{path}, line {k + 2}, column {names[2]!r}: expected a count, got {cells[k]!r}.")
    if not known:
        raise CommandError(f"{path} has no counts in column {names[2]!r}.")
    return list(zip(users, items, strict=True)), counts


def _is_count(cell: str) -> bool:
    try:
        value = float(cell)
    except ValueError:
        return False
    return bool(np.isfinite(value) and value >= 0 and value == round(value) and value <= 1e9)
