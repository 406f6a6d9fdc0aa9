"""Comparisons, and features of items, as tables have them; ids are text."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from adaptive.cli.errors import CommandError
from adaptive.cli.tables import read_cells

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["read_comparisons", "read_features"]


def read_comparisons(path: Path) -> tuple[list[tuple[str, str, str]], np.ndarray]:
    """Return comparisons (user, first, second) and who won.

    Three columns are the user, the winner and the loser; four are the user, two items, and which of them won: its name,
    or 1 and -1.
    """
    frame = read_cells(path).frame
    if frame.shape[1] not in (3, 4):
        raise CommandError(
            f"{path} has {frame.shape[1]} columns; expected user, winner, loser, or user, first, second and who won."
        )
    rows, y = [], []
    for line, cells in zip(frame.index, frame.to_numpy(), strict=True):
        user, first, second = cells[:3].tolist()
        if not (user and first and second):
            raise CommandError(f"{path}, line {line}: a user and two items are needed, got an empty cell.")
        if first == second:
            raise CommandError(f"{path}, line {line}: {first!r} stands against itself.")
        sides = {"1": 1, "+1": 1, "-1": -1, first: 1, second: -1}
        winner = cells[3] if len(cells) == 4 else first
        if winner not in sides:
            expected = f"{first!r}, {second!r}, 1 or -1"
            raise CommandError(f"{path}, line {line}: expected {expected} as winner, got {winner!r}.")
        rows.append((user, first, second))
        y.append(sides[winner])
    return rows, np.array(y)


def read_features(path: Path) -> pd.DataFrame:
    """Return numbers of mean 0 and deviation 1 over items, named by the first column; words become columns of 0, 1."""
    import pandas as pd

    frame = read_cells(path).frame
    if frame.shape[1] < 2:
        raise CommandError(f"{path} has one column; expected an item's name and then its features.")
    names = frame.iloc[:, 0].tolist()
    for line, name in zip(frame.index, names, strict=True):
        if not name or names.count(name) > 1:
            raise CommandError(f"{path}, line {line}: " + (f"the item {name!r} stands twice." if name else "no name."))
    columns = {}
    for name in frame.columns[1:]:
        cells = frame[name].tolist()
        if "" in cells:
            line = frame.index[cells.index("")]
            raise CommandError(f"{path}, line {line}, column {name!r}: a feature is missing.")
        numbers = pd.to_numeric(frame[name], errors="coerce")
        if numbers.notna().all():
            columns[name] = numbers.to_numpy(dtype=float)
        else:
            for word in sorted(set(cells)):
                columns[f"{name} = {word}"] = np.array([float(cell == word) for cell in cells])
    table = np.column_stack(list(columns.values()))
    spread = table.std(axis=0)
    kept = spread > 0
    if not kept.any():
        raise CommandError(f"{path}: no feature tells items apart.")
    scaled = (table[:, kept] - table[:, kept].mean(axis=0)) / spread[kept]
    return pd.DataFrame(scaled, index=names, columns=[name for name, keep in zip(columns, kept, strict=True) if keep])
