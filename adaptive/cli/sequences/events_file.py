"""Events as tables have them: a user, an item, perhaps a time, per line; ids are text."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from adaptive.cli.errors import CommandError
from adaptive.cli.tables import listed, read_cells

__all__ = ["read_events"]


def read_events(path: Path, user: str, item: str, time: str | None) -> tuple[dict[str, list[str]], int]:
    """Return user -> items in order, and how many events were out of order in time.

    Times sort as numbers where all are, else as text (2024-01-31 12:00 does).
    """
    import pandas as pd

    frame = read_cells(path).frame
    for name in filter(None, (user, item, time)):
        if name not in frame.columns:
            raise CommandError(f"{path} has no column {name!r}; its columns are {listed(list(frame.columns))}.")
        empty = np.flatnonzero(frame[name] == "")
        if len(empty):
            raise CommandError(f"{path}, line {frame.index[empty[0]]}: the cell of {name!r} is empty.")
    moved = 0
    if time is not None:
        numbers = pd.to_numeric(frame[time], errors="coerce")
        whole = frame[time] if numbers.isna().any() else numbers
        by_user = frame[user].map({name: k for k, name in enumerate(frame[user].unique())}).to_numpy()
        ranks = np.unique(whole.to_numpy(), return_inverse=True)[1]
        order = np.lexsort((np.arange(len(frame)), ranks, by_user))
        moved = int(np.sum(order != np.argsort(by_user, kind="stable")))
        frame = frame.iloc[order]
    return {str(who): rows.tolist() for who, rows in frame.groupby(user, sort=False)[item]}, moved
