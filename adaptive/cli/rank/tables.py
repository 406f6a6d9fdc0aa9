"""Comparisons as tables have them, or names alone; the names of all that is to be ranked, and their features."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from adaptive.cli.rank.words import EXPECTED, outcome_of
from adaptive.tables import Cells, TableError, TableFile

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Known", "cells_of", "known_of", "names_and_features", "roles_of"]

_COLUMNS = {
    "left": ("left", "first", "a", "model_a", "system_a", "item_a"),
    "right": ("right", "second", "b", "model_b", "system_b", "item_b"),
    "winner": ("winner", "won", "outcome", "result"),
    "judge": ("judge", "annotator", "rater", "who", "person", "user"),
}
_LOST = ("loser", "lost")


@dataclass(frozen=True)
class Known:
    """Names and comparisons of a table.

    Attributes
    ----------
    names : list of str
        In the order they come.
    rows : list of (left, right) or (left, right, judge)
    y : (n,) array of +1, -1, 0
    judged : bool
        Whether rows name a judge.
    heading : str
        What stands above names, in words: the first line of a file of names is none of them.
    sided : bool
        Whether rows say who was shown first.
    who : str
        The column of judges, as the table calls it.
    """

    names: list[str]
    rows: list[tuple[str, ...]]
    y: np.ndarray
    judged: bool
    heading: str = ""
    sided: bool = True
    who: str = "judge"


def cells_of(path: Path) -> Cells:
    """Read a table that may hold no lines but its heading."""
    import pandas as pd

    file = TableFile(path)
    nothing = Cells(path, pd.DataFrame(columns=file.header, dtype=object), file.delimiter)
    return next(file.blocks(), nothing)


def known_of(cells: Cells, names: list[str] | None, ties: bool | None) -> Known:
    """Return the comparisons of a table, or of a table of one column the names.

    Columns are found by their names (left, right, winner, judge, or as arenas call them; winner and loser), else by
    their order.
    ``names`` are all that may be compared, where they are listed elsewhere.
    """
    frame, path = cells.frame, cells.path
    if frame.shape[1] == 1:
        listed = [name for name in frame.iloc[:, 0].tolist() if name]
        twice = next((name for k, name in enumerate(listed) if name in listed[:k]), None)
        if twice is not None:
            raise TableError(f"{path}: the name {twice!r} is listed twice.")
        _refuse_unknown(listed, names, frame.index.tolist(), path)
        heading = f" below the heading {frame.columns[0]!r}"
        return _checked(Known(names or listed, [], np.zeros(0, dtype=int), False, heading), path)
    places = _places(frame.columns.tolist(), path)
    rows: list[tuple[str, ...]] = []
    outcomes = []
    for line, cellsof in zip(frame.index, frame.to_numpy(), strict=True):
        left, right, winner = (cellsof[places[name]] for name in ("left", "right", "winner"))
        if not (left and right):
            raise TableError(f"{path}, line {line}: two names are needed, got an empty cell.")
        if left == right:
            raise TableError(f"{path}, line {line}: {left!r} is compared with itself.")
        _refuse_unknown([left, right], names, [line, line], path)
        outcome = outcome_of(winner, left, right)
        if outcome is None:
            raise TableError(f"{path}, line {line}: expected the winner ({EXPECTED}), got {winner!r}.")
        if not outcome and ties is False:
            raise TableError(f"{path}, line {line}: this is a tie, and --no-ties says that there are none.")
        judge = (cellsof[places["judge"]],) if "judge" in places else ()
        if judge and not judge[0]:
            raise TableError(f"{path}, line {line}: a judge is needed, got an empty cell.")
        if "loser" in places and len(rows) % 2:  # nobody knows who was shown first: sides alternate, and favour nobody
            left, right, outcome = right, left, -outcome
        rows.append((left, right, *judge))
        outcomes.append(outcome)
    met = list(dict.fromkeys(name for row in rows for name in row[:2]))
    who = frame.columns[places["judge"]] if "judge" in places else "judge"
    y = np.array(outcomes, dtype=int)
    return _checked(Known(names or met, rows, y, "judge" in places, "", "loser" not in places, who), path)


def roles_of(cells: Cells) -> dict[str, list[str]]:
    """Return role -> column, as `known_of` reads the table."""
    columns = cells.frame.columns.tolist()
    if len(columns) == 1:
        return {"name": columns}
    places = _places(columns, cells.path)
    order = ("winner", "loser", "judge") if "loser" in places else ("left", "right", "winner", "judge")
    return {role: [columns[places[role]]] for role in order if role in places}


def _places(columns: list[str], path: Path) -> dict[str, int]:
    """Places of the columns, by what they hold."""
    folded = [column.strip().lower() for column in columns]
    found = {
        name: next(folded.index(word) for word in words if word in folded)
        for name, words in _COLUMNS.items()
        if any(word in folded for word in words)
    }
    loser = next((folded.index(word) for word in _LOST if word in folded), None)
    if loser is not None and "winner" in found and not {"left", "right"} & found.keys():
        return found | {"left": found["winner"], "right": loser, "loser": loser}
    if {"left", "right", "winner"} <= found.keys():
        return found
    if len(columns) not in (3, 4):
        raise TableError(
            f"{path} has {len(columns)} columns; expected left, right, winner, perhaps judge, or one column of names."
        )
    return dict(zip(("left", "right", "winner", "judge"), range(len(columns)), strict=False))


def _refuse_unknown(given: list[str], names: list[str] | None, lines: list[int], path: Path) -> None:
    if names is not None:
        known = set(names)
        for name, line in zip(given, lines, strict=True):
            if name not in known:
                raise TableError(f"{path}, line {line}: {name!r} is not among the names of --items.")


def _checked(known: Known, path: Path) -> Known:
    if not known.names:
        raise TableError(f"{path} holds no comparison: name what is to be ranked with --items, or in a table of names.")
    if len(known.names) < 2:
        raise TableError(f"{path} names only {known.names[0]!r}: two at least are needed to compare.")
    return known


def names_and_features(path: Path) -> tuple[list[str], pd.DataFrame | None]:
    """Return the names in a table's first column, and features in the other columns where there are any."""
    cells = cells_of(path)
    if cells.frame.shape[1] > 1:
        from adaptive.cli.prefer.tables import features_of

        features = features_of(path)
        return features.index.tolist(), features
    return known_of(cells, None, True).names, None
