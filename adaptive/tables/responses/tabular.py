"""Tables of answers, long or wide, and tables of items."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from adaptive.tables.cells import Cells, TableError, listed
from adaptive.tables.reading import read_cells
from adaptive.tables.responses.responses import Responses
from adaptive.tables.responses.scores import EXPECTED, scores_of
from adaptive.tables.values import number_of

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["described", "responses_of"]

USUAL = {  # what a column holds: names it goes by
    "system": ("system", "model", "model_name", "model_id", "systems", "models"),
    "item": ("item", "item_id", "question_id", "doc_id", "instance_id", "example_id", "items"),
    "score": ("score", "correct", "is_correct", "right", "acc", "acc_norm", "exact_match", "accuracy", "response"),
    "benchmark": ("benchmark", "task", "dataset", "scenario"),
    "text": ("text", "question", "prompt", "item_text"),
    "family": ("family", "organization", "organisation", "publisher"),
}


def responses_of(path: Path, columns: dict[str, str], system: str | None = None) -> Responses:
    """Read a table; ``columns`` says what its columns hold where their names do not, ``system`` whose it is."""
    unknown = sorted(set(columns) - set(USUAL))
    if unknown:
        raise TableError(f"columns are named for {listed(list(USUAL))}, not for {unknown[0]!r}.")
    cells = read_cells(path)
    cells.require(*columns.values())
    held = _held(list(cells.frame.columns), columns)
    if {"item", "score"} <= set(held) and ("system" in held or system is not None):
        return _long(cells, held, system)
    return _wide(cells, held)


def described(responses: Responses, path: Path) -> Responses:
    """Add text and benchmark of items from a table of items."""
    cells = read_cells(path)
    held = _held(list(cells.frame.columns), {})
    if "item" not in held:
        raise TableError(f"{path} has no column of items; its columns are {listed(cells.frame.columns)}.")
    place = {item: k for k, item in enumerate(cells.ids(held["item"]))}
    if not place.keys() & set(responses.items):
        raise TableError(f"{path} names none of the items, such as {responses.items[0]!r}.")

    def told(kind: str, before: tuple[str, ...]) -> tuple[str, ...]:
        if kind not in held:
            return before
        column = cells.frame[held[kind]].tolist()
        return tuple(
            column[place[item]] if item in place else old for item, old in zip(responses.items, before, strict=True)
        )

    return replace(responses, texts=told("text", responses.texts), benchmarks=told("benchmark", responses.benchmarks))


def _held(header: list[str], columns: dict[str, str]) -> dict[str, str]:
    """The column that holds each kind of thing."""
    found = dict(columns)
    small = {name.lower(): name for name in reversed(header)}
    for kind, names in USUAL.items():
        there = [small[name] for name in names if name in small and small[name] not in found.values()]
        if kind not in found and there:
            found[kind] = there[0]
    return found


def _scores(cells: Cells, name: str) -> np.ndarray:
    """(n,) scores of a column, NaN for gaps."""
    column = cells.frame[name]
    said = scores_of(column)
    cells.refuse(column.map(lambda cell: said[cell] is None), name, EXPECTED)
    return column.map(said).to_numpy(float)


def _texts(cells: Cells, held: dict[str, str], kind: str) -> list[str]:
    return cells.frame[held[kind]].tolist() if kind in held else [""] * len(cells.frame)


def _long(cells: Cells, held: dict[str, str], system: str | None) -> Responses:
    import pandas as pd

    items = cells.ids(held["item"])
    systems = cells.ids(held["system"]) if "system" in held else [str(system)] * len(items)
    benchmarks = _texts(cells, held, "benchmark")
    owners = pd.DataFrame({"item": items, "benchmark": benchmarks}).drop_duplicates()
    if owners["item"].duplicated().any():  # question 1 of every benchmark
        items = [f"{benchmark}/{item}" for benchmark, item in zip(benchmarks, items, strict=True)]
    scores = _scores(cells, held["score"])
    seen = ~np.isnan(scores)
    row, system_names = pd.factorize(pd.Series(systems))
    column, item_names = pd.factorize(pd.Series(items))
    table = np.full((len(system_names), len(item_names)), np.nan)
    table[row[seen], column[seen]] = scores[seen]
    differ = np.flatnonzero(seen & (table[row, column] != scores))
    if len(differ):
        line, system, item = cells.frame.index[differ[0]], systems[differ[0]], items[differ[0]]
        raise TableError(f"{cells.path}, line {line}: {system!r} has another score for the item {item!r}, too.")
    if not seen.any():
        raise TableError(f"{cells.path} holds no answers.")

    def of(names: pd.Index, places: np.ndarray, values: list[str]) -> tuple[str, ...]:
        found = dict.fromkeys(range(len(names)), "")
        for place, value in zip(places.tolist(), values, strict=True):
            found[place] = found[place] or value
        return tuple(found.values())

    return Responses(
        table, tuple(system_names), tuple(item_names), of(item_names, column, benchmarks),
        of(item_names, column, _texts(cells, held, "text")), of(system_names, row, _texts(cells, held, "family")),
    )  # fmt: skip


def _wide(cells: Cells, held: dict[str, str]) -> Responses:
    frame, number = cells.frame, number_of(cells.delimiter)
    system = held.get("system")
    if system is None and all(number(cell) is None for cell in frame.iloc[:, 0]) and len(frame.columns) > 1:
        words = scores_of(frame.iloc[:, 0])
        if any(value is None for value in words.values()):  # names, not right and wrong
            system = str(frame.columns[0])
    names = cells.ids(system) if system else [str(line) for line in frame.index]
    twice = sorted({name for name in names if names.count(name) > 1}) if len(set(names)) < len(names) else []
    if twice:
        raise TableError(f"{cells.path} has two lines of the system {twice[0]!r}.")
    items = [name for name in frame.columns if name not in (system, held.get("family"))]
    if not items:
        raise TableError(f"{cells.path} has no column of an item.")
    table = np.column_stack([_scores(cells, item) for item in items])
    if np.isnan(table).all():
        raise TableError(f"{cells.path} holds no answers.")
    blank = ("",) * len(items)
    return Responses(table, tuple(names), tuple(items), blank, blank, tuple(_texts(cells, held, "family")))
