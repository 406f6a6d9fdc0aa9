"""Kinds of columns: numbers, dates, vectors, categories, texts, or nothing that a model can use.

A column is of the first kind that all its cells are, empty ones aside.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

import numpy as np

from adaptive.tables.cells import TableError
from adaptive.tables.values import MISSING, dates_of, number_of
from adaptive.tables.vectors import block_of, is_cut, numbers_in, printed, unequal

if TYPE_CHECKING:
    import pandas as pd

    from adaptive.tables.cells import Cells

__all__ = ["MOST_CATEGORIES", "Column", "Kind", "columns_of"]

_BOOLEAN = {"true": 1.0, "false": 0.0, "yes": 1.0, "no": 0.0, "ja": 1.0, "nein": 0.0, "oui": 1.0, "non": 0.0}
_ROW_NAMES = re.compile(r"unnamed: \d+|id|index|row|key|uuid", re.IGNORECASE)
MOST_CATEGORIES = 20  # more than this, and in more than half of the rows another: no category
WORDS = 4  # a text has so many words or more


class Kind(Enum):
    """Kind of a column to a model.

    Examples
    --------
    >>> [kind.name for kind in Kind]
    ['NUMBER', 'DATE', 'VECTOR', 'CATEGORY', 'TEXT', 'UNUSED']
    """

    NUMBER = "number"
    DATE = "date"
    VECTOR = "vector"
    CATEGORY = "category"
    TEXT = "text"
    UNUSED = "unused"


@dataclass(frozen=True)
class Column:
    """A column with its cells in the type of its kind.

    Attributes
    ----------
    name : str
    kind : Kind
    values : pandas.Series, or of vectors a DataFrame
        Floats (numbers; dates in days after the first), text, or (n, d) numbers in single precision; NaN where missing.
    missing : int
        How many cells are.
    why : str
        Of an unused column, the reason.

    Examples
    --------
    >>> import pandas as pd
    >>> Column("age", Kind.NUMBER, pd.Series([41.0, float("nan")]), 1).missing
    1
    """

    name: str
    kind: Kind
    values: pd.Series | pd.DataFrame
    missing: int
    why: str = ""


def columns_of(cells: Cells, *, leave_out: Collection[str], max_missing: float) -> list[Column]:
    """Return the columns of a table with their kinds.

    Parameters
    ----------
    cells : Cells
    leave_out : collection of str
        Columns that are no features.
    max_missing : float in [0, 1]
        A column of which a larger share of cells is missing is not used.

    Raises
    ------
    TableError
        Naming line and column, where a cell among numbers is none.

    Examples
    --------
    >>> import pandas as pd
    >>> from pathlib import Path
    >>> from adaptive.tables import Cells
    >>> cells = Cells(Path("people.csv"), pd.DataFrame({"age": ["41", "30", ""], "id": ["a", "b", "c"]}))
    >>> [(one.name, one.kind.name) for one in columns_of(cells, leave_out=["id"], max_missing=0.5)]
    [('age', 'NUMBER')]
    """
    return [_column(cells, name, max_missing) for name in cells.frame.columns if name not in leave_out]


def _column(cells: Cells, name: str, max_missing: float) -> Column:
    import pandas as pd

    text = cells.frame[name]
    plain = _plain_numbers(text.tolist())
    if plain is not None and not _ROW_NAMES.fullmatch(name):
        return Column(name, Kind.NUMBER, pd.Series(plain, index=text.index), 0)
    missing = text.str.lower().isin(MISSING)
    known = text[~missing]
    n_missing = int(missing.sum())

    def of(kind: Kind, values: object, why: str = "") -> Column:
        series = pd.Series(np.nan, index=text.index, dtype=object if kind in (Kind.CATEGORY, Kind.TEXT) else float)
        series.loc[known.index] = values
        return Column(name, kind, series, n_missing, why)

    def unused(why: str) -> Column:
        return Column(name, Kind.UNUSED, text, n_missing, why)

    if (len(known) <= (1 - max_missing) * len(text) and n_missing > max_missing * len(text)) or known.empty:
        return unused(f"{n_missing / len(text):.0%} missing")
    vectors = _vectors(cells, name, known, missing.to_numpy())
    if isinstance(vectors, str):
        return unused(vectors)
    if vectors is not None:
        return Column(name, Kind.VECTOR, vectors, n_missing)
    distinct = known.nunique()
    numbers = _numbers(known, name, cells)
    if numbers is not None:
        if distinct == len(text) and _ROW_NAMES.fullmatch(name) and (numbers % 1 == 0).all():
            return unused("names of rows")
        return of(Kind.NUMBER, numbers)
    days = _days(known)
    if days is not None:
        return of(Kind.DATE, days)
    if distinct > MOST_CATEGORIES and distinct > len(known) / 2:
        if known.str.count(r"\S+").mean() >= WORDS:
            return of(Kind.TEXT, known)
        return unused(f"{distinct} different entries in {len(known)} rows")
    return of(Kind.CATEGORY, known)


def _plain_numbers(cells: list[str]) -> np.ndarray | None:
    """Return the numbers of a column in which every cell is a finite one as Python writes it; else None."""
    try:
        numbers = np.fromiter(map(float, cells), dtype=float, count=len(cells))
    except ValueError:
        return None
    return numbers if len(cells) and np.isfinite(numbers).all() and "_" not in "".join(cells) else None


def _vectors(cells: Cells, name: str, known: pd.Series, missing: np.ndarray) -> pd.DataFrame | str | None:
    """Return a column of vectors as one block, the reason why it is none, or None where it is something else.

    Few vectors of another length, or few other cells, among many alike are mistakes, and refused.
    """
    import pandas as pd

    lists = cells.sequences.get(name)
    if lists is None and not known.str.startswith(("[", "(", "array(", "tensor(")).mean() > 0.5:
        return None
    places = np.flatnonzero(~missing)
    found = [printed(cell) for cell in known] if lists is None else [numbers_in(cell) for cell in lists[places]]
    if sum(one is not None for one in found) <= len(found) / 2:
        cut = lists is None and known.map(is_cut).mean() > 0.5
        return "vectors printed without all their numbers ('...')" if cut else None
    usual, bad = unequal(found)
    if len(bad) >= len(found) / 4 or usual == 0:
        lengths = sorted({len(one) for one in found if one is not None})
        others = sum(one is None for one in found)
        return f"vectors of {lengths[0]} to {lengths[-1]} numbers" + (f" and {others} other cells" if others else "")
    for place in bad[:1].tolist():
        got = "no vector of numbers" if found[place] is None else f"{len(found[place])} numbers"  # type: ignore[arg-type]
        raise TableError(
            f"{cells.path}, line {known.index[place]}, column {name!r}: expected a vector of {usual} numbers, as "
            f"{len(found) - len(bad)} other cells hold, got {got}; mend it, empty it, or leave the column out with "
            "--ignore."
        )
    block = block_of(found, places, len(missing))
    infinite = np.flatnonzero(~np.isfinite(block[places]).all(axis=1))
    if infinite.size:
        raise TableError(
            f"{cells.path}, line {known.index[infinite[0]]}, column {name!r}: this vector has an entry that is missing "
            "or not finite in single precision; fill it in, or empty the cell."
        )
    names = [f"{name} {k + 1}" for k in range(usual)]
    return pd.DataFrame(block, index=cells.frame.index, columns=names, copy=False)


def _numbers(known: pd.Series, name: str, cells: Cells) -> np.ndarray | None:
    """Return the cells as numbers (of True and False, 1 and 0), or None where they are something else."""
    words = known.str.lower()
    if words.isin(_BOOLEAN).all():
        return words.map(_BOOLEAN).to_numpy(float)
    read = [*map(number_of(cells.delimiter), known)]
    bad = [place for place, number in enumerate(read) if number is None]
    if bad:
        found = {number for number in read if number is not None}
        if len(found) > MOST_CATEGORIES / 2 and len(bad) < len(read) / 4:
            line, cell = known.index[bad[0]], known.iloc[bad[0]]
            raise TableError(
                f"{cells.path}, line {line}, column {name!r}: {cell!r} is not a number, as "
                f"{len(read) - len(bad)} other cells are; mend it, empty it, or leave the column out with --ignore."
            )
        return None
    numbers = np.array(read, dtype=float)
    if not np.isfinite(numbers).all():
        place = int(np.flatnonzero(~np.isfinite(numbers))[0])
        raise TableError(
            f"{cells.path}, line {known.index[place]}, column {name!r}: {known.iloc[place]!r} is not finite; "
            "fill it in or empty it."
        )
    return numbers


def _days(known: pd.Series) -> np.ndarray | None:
    """Return dates as days after the first, or None where some cell is none."""
    found = dates_of(known)
    return None if found is None else (found[1] - found[1].min()).dt.total_seconds().to_numpy(float) / 86400.0
