"""Comparisons, and features of items, as tables have them; ids are text."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from adaptive.tables import Cells, TableError, number_of, read_cells
from adaptive.tables.values import dates_of

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["comparisons_of", "features_of"]


def comparisons_of(cells: Cells) -> tuple[list[tuple[str, str, str]], np.ndarray]:
    """Return comparisons (user, first, second) and who won.

    Three columns are the user, the winner and the loser; four are the user, two items, and which of them won: its name,
    or 1 and -1.
    """
    path, frame, number = cells.path, cells.frame, number_of(cells.delimiter)
    if frame.shape[1] not in (3, 4):
        raise TableError(
            f"{path} has {frame.shape[1]} columns; expected user, winner, loser, or user, first, second and who won."
        )
    rows, y = [], []
    for line, row in zip(frame.index, frame.to_numpy(), strict=True):
        user, first, second = row[:3].tolist()
        if not (user and first and second):
            raise TableError(f"{path}, line {line}: a user and two items are needed, got an empty cell.")
        if first == second:
            raise TableError(f"{path}, line {line}: {first!r} is compared with itself.")
        winner = row[3] if len(row) == 4 else first
        won = {first: 1, second: -1}.get(winner, number(winner))
        if won not in (1, -1):
            expected = f"{first!r}, {second!r}, 1 or -1"
            raise TableError(f"{path}, line {line}: expected {expected} as winner, got {winner!r}.")
        rows.append((user, first, second))
        y.append(int(won))
    return rows, np.array(y)


def features_of(path: Path) -> pd.DataFrame:
    """Return numbers of mean 0 and deviation 1 over items, named by the first column; words become columns of 0, 1."""
    import pandas as pd

    cells = read_cells(path)
    frame = cells.frame
    if frame.shape[1] < 2:
        raise TableError(f"{path} has one column; expected an item's name and then its features.")
    names = frame.iloc[:, 0]
    wrong = np.flatnonzero((names == "") | names.duplicated(keep=False))
    if len(wrong):
        name = names.iloc[wrong[0]]
        raise TableError(
            f"{path}, line {frame.index[wrong[0]]}: " + (f"the item {name!r} is listed twice." if name else "no name.")
        )
    columns = {}
    for name in frame.columns[1:]:
        column = frame[name]
        cells.refuse(column == "", name, "a feature")
        if dates_of(column) is not None or None not in [*map(number_of(cells.delimiter), column)]:
            columns[name] = cells.times(name)[0]
        else:
            for word in sorted(set(column)):
                columns[f"{name} = {word}"] = (column == word).to_numpy(float)
    table = np.column_stack(list(columns.values()))
    spread = table.std(axis=0)
    kept = spread > 0
    if not kept.any():
        raise TableError(f"{path}: no feature tells items apart.")
    scaled = (table[:, kept] - table[:, kept].mean(axis=0)) / spread[kept]
    told = [name for name, keep in zip(columns, kept, strict=True) if keep]
    return pd.DataFrame(scaled, index=names.tolist(), columns=told)
