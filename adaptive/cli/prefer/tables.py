"""Comparisons, and features of items, as tables have them; ids are text."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from adaptive.tables import Cells, TableError, number_of, read_cells
from adaptive.tables.values import dates_of

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["columns_of", "comparisons_of", "features_of"]


def columns_of(cells: Cells) -> dict[str, str]:
    """Return role -> column: user, winner and loser; or user, first item, second item and who won.

    Columns are found by their names, whatever else the table has; else three or four columns are these, in order.
    """
    columns = [str(name) for name in cells.frame.columns]
    named = {column.strip().lower(): column for column in reversed(columns)}
    won_or_lost, both = ("user", "winner", "loser"), ("user", "first item", "second item", "who won")
    by_name = {"first": "first item", "second": "second item", "winner": "who won", "won": "who won"}
    who = next((named[name] for name in ("user", "person", "who") if name in named), None)
    if who is not None and {"winner", "loser"} <= named.keys():
        return {"user": who, "winner": named["winner"], "loser": named["loser"]}
    found = {role: named[name] for name, role in by_name.items() if name in named}
    if who is not None and len(found) == 3:
        return {role: {"user": who, **found}[role] for role in both}
    if len(columns) not in (3, 4):
        expected = "user, winner, loser, or user, first, second and who won"
        raise TableError(f"{cells.path} has {len(columns)} columns; expected {expected}.")
    return dict(zip(won_or_lost if len(columns) == 3 else both, columns, strict=True))


def comparisons_of(cells: Cells) -> tuple[list[tuple[str, str, str]], np.ndarray]:
    """Return comparisons (user, first, second) and who won: the first of two columns, or by its name, 1 or -1."""
    path, number = cells.path, number_of(cells.delimiter)
    frame = cells.frame[list(columns_of(cells).values())]
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
