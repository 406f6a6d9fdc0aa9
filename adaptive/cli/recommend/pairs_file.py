"""Pairs of users and items in a CSV file, and what came of those that were shown."""

from __future__ import annotations

from pathlib import Path

from adaptive.cli.counts.tables import read_columns
from adaptive.cli.errors import CommandError

__all__ = ["read_stream"]


def read_stream(path: Path, user: str, item: str, shown: str | None) -> tuple[list[tuple[str, str]], list[int | None]]:
    """Return pairs of ids, and 1 or 0 where a pair was shown, None where it came by itself."""
    columns = read_columns(path, [user, item] + ([shown] if shown else []))
    for name in (user, item):
        if "" in columns[name]:
            raise CommandError(f"{path}, line {columns[name].index('') + 2}, column {name!r}: expected an id, got ''.")
    answers: list[int | None] = [None] * len(columns[user])
    if shown:
        for k, cell in enumerate(columns[shown]):
            if cell not in ("", "0", "1"):
                raise CommandError(f"{path}, line {k + 2}, column {shown!r}: expected 1, 0 or nothing, got {cell!r}.")
            answers[k] = int(cell) if cell else None
    return list(zip(columns[user], columns[item], strict=True)), answers
