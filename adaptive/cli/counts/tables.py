"""Events, or pairs and their counts, in a table file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from adaptive.cli.errors import CommandError
from adaptive.cli.tables import MISSING, Cells, number_of, read_cells

__all__ = ["read_events", "read_pairs"]

LARGEST = 1e9  # count


def read_events(path: Path, places: list[str]) -> tuple[np.ndarray, list[str]]:
    """Return places or times (n, d), and the names of their columns: those given, else the first."""
    cells = read_cells(path)
    names = places or [str(cells.frame.columns[0])]
    cells.require(names, path)
    return np.column_stack([_numbers(cells, name, path, "a number") for name in names]), names


def read_pairs(path: Path, names: tuple[str, str, str]) -> tuple[list[tuple[Any, Any]], np.ndarray]:
    """Return pairs of ids and counts (n,), NaN where the cell is empty: a pair to predict."""
    cells = read_cells(path)
    cells.require(names, path)
    users, items, listed = (cells.frame[name] for name in names)
    known = ~listed.str.lower().isin(MISSING).to_numpy()
    if not known.any():
        raise CommandError(f"{path} has no counts in column {names[2]!r}.")
    counts = np.full(len(listed), np.nan)
    counts[known] = _numbers(Cells(cells.frame[known], cells.delimiter), names[2], path, "a count")
    return list(zip(users, items, strict=True)), counts


def _numbers(cells: Cells, name: str, path: Path, expected: str) -> np.ndarray:
    """A column of finite numbers; "a count": of whole ones from 0 to a milliard."""
    read = number_of(cells.delimiter)
    values = np.array([np.nan if (found := read(cell)) is None else found for cell in cells.frame[name]])
    good = np.isfinite(values)
    if expected == "a count":
        good &= (values >= 0) & (values == np.round(values)) & (values <= LARGEST)
    if not good.all():
        bad = int(np.flatnonzero(~good)[0])
        where = f"{path}, line {cells.frame.index[bad]}, column {name!r}"
        raise CommandError(f"{where}: expected {expected}, got {cells.frame[name].iloc[bad]!r}.")
    return values
