"""Cells read as values: numbers and dates as people write them, and the words for nothing."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["DATES", "MISSING", "dates_of", "is_missing", "number_of"]

MISSING = {"", "?", "-", "na", "n/a", "nan", "<na>", "null", "none", "#n/a"}
_EMPTY = {"", "nan", "<na>"}  # "none" may well be a class
_DAYS = ("%d.%m.%Y", "%m/%d/%Y", "%d/%m/%Y")
DATES = ("ISO8601", *_DAYS, *(f"{day} {time}" for day in _DAYS for time in ("%H:%M", "%H:%M:%S", "%I:%M %p")))


def is_missing(cell: str) -> bool:
    """Return whether a row has no label.

    Parameters
    ----------
    cell : str
        As it stands in the table.

    Returns
    -------
    bool

    Examples
    --------
    >>> is_missing(""), is_missing("yes")
    (True, False)
    """
    return cell.strip().lower() in _EMPTY


def number_of(delimiter: str) -> Callable[[str], float | None]:
    """Return the reader of numbers where cells are separated so: "1.234,5" beside semicolons, "1,234.5" else.

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


def dates_of(cells: pd.Series, forms: Sequence[str] = DATES) -> tuple[str, pd.Series] | None:
    """Return the first of the forms that all cells are dates in, and the moments; None where there is none."""
    import pandas as pd

    if not cells.str.contains(r"\d[-/.:]\d").all():
        return None
    for form in forms:
        moments = pd.to_datetime(cells, format=form, errors="coerce", utc=True)
        if moments.notna().all():
            return form, moments
    return None
