"""What the cells of a column are: numbers, dates, categories, texts, or nothing that a model can use.

A column is of the first kind that all its cells are, empty ones aside.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from adaptive.cli.errors import CommandError

if TYPE_CHECKING:
    import pandas as pd

    from adaptive.cli.tables.reading import Cells

__all__ = ["MISSING", "Column", "Kind", "columns_of", "number_of"]

MISSING = {"", "?", "-", "na", "n/a", "nan", "<na>", "null", "none", "#n/a"}
_BOOLEAN = {"true": 1.0, "false": 0.0, "yes": 1.0, "no": 0.0, "ja": 1.0, "nein": 0.0, "oui": 1.0, "non": 0.0}
_DATES = ("ISO8601", "%d.%m.%Y", "%m/%d/%Y", "%d/%m/%Y")
_ROW_NAMES = re.compile(r"unnamed: \d+|id|index|row|key|uuid", re.IGNORECASE)
MOST_CATEGORIES = 20  # more than this, and in more than half of the rows another: no category
WORDS = 4  # a text has so many words or more


class Kind(Enum):
    """What a column is to a model.

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


def columns_of(cells: Cells, path: Path, *, leave_out: Collection[str], max_missing: float) -> list[Column]:
    """Return the columns of a table with their kinds.

    Parameters
    ----------
    cells : Cells
    path : Path
        For messages.
    leave_out : collection of str
        Columns that are no features.
    max_missing : float in [0, 1]
        A column of which a larger share of cells is missing is not used.

    Raises
    ------
    CommandError
        Naming line and column, where a cell among numbers is none.

    Examples
    --------
    >>> import pandas as pd
    >>> from adaptive.cli.tables import Cells
    >>> cells = Cells(pd.DataFrame({"age": ["41", "30", ""], "id": ["a", "b", "c"]}), ",")
    >>> [(one.name, one.kind.name) for one in columns_of(cells, Path("people.csv"), leave_out=["id"], max_missing=0.5)]
    [('age', 'NUMBER')]
    """
    return [_column(cells, name, path, max_missing) for name in cells.frame.columns if name not in leave_out]


def _column(cells: Cells, name: str, path: Path, max_missing: float) -> Column:
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
    numbers = _numbers(known, name, path, cells.delimiter)
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


def _numbers(known: pd.Series, name: str, path: Path, delimiter: str) -> np.ndarray | None:
    """Return the cells as numbers (of True and False, 1 and 0), or None where they are something else."""
    words = known.str.lower()
    if words.isin(_BOOLEAN).all():
        return words.map(_BOOLEAN).to_numpy(float)
    read = [number_of(delimiter)(cell) for cell in known]
    bad = [place for place, number in enumerate(read) if number is None]
    if bad:
        found = {number for number in read if number is not None}
        if len(found) > MOST_CATEGORIES / 2 and len(bad) < len(read) / 4:
            line, cell = known.index[bad[0]], known.iloc[bad[0]]
            raise CommandError(
                f"{path}, line {line}, column {name!r}: {cell!r} is not a number, as {len(read) - len(bad)} other cells"
                " are; mend it, empty it, or leave the column out with --ignore."
            )
        return None
    numbers = np.array(read, dtype=float)
    if not np.isfinite(numbers).all():
        place = int(np.flatnonzero(~np.isfinite(numbers))[0])
        raise CommandError(
            f"{path}, line {known.index[place]}, column {name!r}: {known.iloc[place]!r} is not finite; "
            "fill it in or empty it."
        )
    return numbers


def number_of(delimiter: str) -> Callable[[str], float | None]:
    """How numbers are written where cells are separated so: "1.234,5" beside semicolons, "1,234.5" else.

    Parameters
    ----------
    delimiter : str
        What separates the cells.

    Returns
    -------
    callable
        Maps a cell to its number, None where it is none.

    Examples
    --------
    >>> number_of(";")("1.234,5"), number_of(",")("1,234.5"), number_of(",")("red")
    (1234.5, 1234.5, None)
    """
    group, point = (".", ",") if delimiter == ";" else (",", ".")
    grouped = re.compile(rf"[-+]?\d{{1,3}}(\{group}\d{{3}})+(\{point}\d*)?")

    def number(cell: str) -> float | None:
        if delimiter != "," and re.fullmatch(r"[-+]?\d*,\d+([eE][-+]?\d+)?", cell):
            cell = cell.replace(",", ".")
        elif grouped.fullmatch(cell) and (group == "," or point in cell):
            cell = cell.replace(group, "").replace(point, ".")
        try:
            value = float(cell)
        except ValueError:
            return None
        return None if math.isnan(value) or "_" in cell else value

    return number


def _days(known: pd.Series) -> np.ndarray | None:
    """Return dates as days after the first, or None where some cell is none."""
    import pandas as pd

    if not known.str.contains(r"\d[-/.:]\d").all():
        return None
    for form in _DATES:
        moments = pd.to_datetime(known, format=form, errors="coerce", utc=True)
        if moments.notna().all():
            return (moments - moments.min()).dt.total_seconds().to_numpy(float) / 86400.0
    return None
