"""Pairs of users and items in a table file, and what came of those that were shown."""

from __future__ import annotations

from pathlib import Path

from adaptive.cli.errors import CommandError
from adaptive.cli.tables import read_cells

__all__ = ["read_stream"]


def read_stream(path: Path, user: str, item: str, shown: str | None) -> tuple[list[tuple[str, str]], list[int | None]]:
    """Return pairs of ids, and 1 or 0 where a pair was shown, None where it came by itself."""
    cells = read_cells(path)
    cells.require([user, item] + ([shown] if shown else []), path)
    allowed = {"": None, "0": 0, "1": 1}
    for name, expected in ((user, "an id"), (item, "an id"), (shown, "1, 0 or nothing")):
        if name is None:
            continue
        column = cells.frame[name]
        bad = (column == "") if name != shown else ~column.isin(allowed)
        if bad.any():
            where = f"{path}, line {column.index[bad][0]}, column {name!r}"
            raise CommandError(f"{where}: expected {expected}, got {column[bad].iloc[0]!r}.")
    answers: list[int | None] = [allowed[cell] for cell in cells.frame[shown]] if shown else [None] * len(cells.frame)
    return list(zip(cells.frame[user], cells.frame[item], strict=True)), answers
