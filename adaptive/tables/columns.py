"""Kinds of columns: numbers, dates, categories, texts, or nothing that a model can use.

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
    ['NUMBER', 'DATE', 'CATEGORY', 'TEXT', 'UNUSED']
    """

    NUMBER = "number"
    DATE = "date"
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
    values : pandas.Series
        Floats (numbers; dates in days after the first) or text; NaN where missing.
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
    values: pd.Series
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
