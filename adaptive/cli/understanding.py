"""Words for what a command has understood of a table: a line for the file, and a line for each column.

people.csv: 60 rows and 4 columns, separated by semicolons
  user     user: ids, 9 different
  visits   count: numbers from 0 to 12, 3 gaps
  note     not used
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from adaptive.tables import Column, Kind, TableError
from adaptive.tables.values import dates_of

if TYPE_CHECKING:
    import pandas as pd

    from adaptive.tables import Cells

__all__ = ["counted", "features_in_words", "in_a_row", "table_in_words"]

SEPARATED = {",": "commas", ";": "semicolons", "\t": "tabs"}
FORMS = {"%d": "day", "%m": "month", "%Y": "year"}
MOST_COLUMNS = 30
MOST_WORDS = 4  # of a column of groups


def counted(n: int, thing: str, many: str = "") -> str:
    """Return a number with its noun.

    Examples
    --------
    >>> counted(1, "row"), counted(2000, "row"), counted(2, "category", "categories")
    ('1 row', '2,000 rows', '2 categories')
    """
    return f"{n:,} {thing if n == 1 else many or thing + 's'}"


def in_a_row(names: Sequence[str]) -> str:
    """Return names as a sentence has them.

    Examples
    --------
    >>> in_a_row(["ale"]), in_a_row(["ale", "beer", "mead"])
    ('ale', 'ale, beer and mead')
    """
    return " and ".join(filter(None, [", ".join(names[:-1]), *names[-1:]]))


def table_in_words(cells: Cells, roles: Mapping[str, Sequence[str]], kinds: Mapping[str, str]) -> list[str]:
    """Return lines about a table.

    Parameters
    ----------
    cells : Cells
    roles : mapping of role -> columns
        What each column is to the command, such as {"user": ["who"]}.
    kinds : mapping of role -> kind
        How the columns of a role are read: "ids", "numbers", "times", "texts" or "groups".
    """
    used = {column: role for role, columns in roles.items() for column in columns}
    found = []
    for name in cells.frame.columns:
        role = used.get(name)
        found.append((name, "not used" if role is None else f"{role}: {_READ[kinds[role]](cells, name)}"))
    return [_file(cells), *_aligned(found)]


def features_in_words(cells: Cells, columns: Sequence[Column], roles: Mapping[str, str]) -> list[str]:
    """Return lines about a table of features: what each column is read as, and why some are left out.

    Parameters
    ----------
    cells : Cells
    columns : sequence of Column
        The features.
    roles : mapping of column -> words
        What is said of columns that are none.
    """
    known = {column.name: column for column in columns}
    found = []
    for name in cells.frame.columns:
        words = _feature(known[name], cells) if name in known else roles.get(name, "left out, as --ignore asks")
        found.append((str(name), words))
    return [_file(cells), *_aligned(found)]


def _file(cells: Cells) -> str:
    separated = "" if cells.path.suffix == ".parquet" else f", separated by {SEPARATED[cells.delimiter]}"
    rows, columns = cells.frame.shape
    return f"{cells.path.name}: {counted(rows, 'row')} and {counted(columns, 'column')}{separated}"


def _aligned(found: Sequence[tuple[str, str]]) -> list[str]:
    shown = found[:MOST_COLUMNS]
    width = min(24, max((len(name) for name, _ in shown), default=0))
    lines = [f"  {name:<{width}}  {words}" for name, words in shown]
    more = len(found) - len(shown)
    return lines + ([f"  and {counted(more, 'further column')}"] if more else [])


def _feature(column: Column, cells: Cells) -> str:
    if column.kind is Kind.UNUSED:
        return f"left out: {column.why}"
    text = cells.frame[column.name]
    known = text[~cells.gaps(column.name)]
    says: dict[Kind, Callable[[], str]] = {
        Kind.NUMBER: lambda: f"numbers{_span(column.values)}",
        Kind.DATE: lambda: f"dates{_date_span(known)}",
        Kind.VECTOR: lambda: f"vectors of {counted(np.shape(column.values)[1], 'number')}",
        Kind.CATEGORY: lambda: _groups(known),
        Kind.TEXT: lambda: _words(known),
    }
    return f"feature: {says[column.kind]()}{_gaps(column.missing)}"


def _ids(cells: Cells, name: str) -> str:
    return f"ids, {cells.frame[name].nunique():,} different"


def _numbers(cells: Cells, name: str) -> str:
    return f"numbers{_span(cells.numbers(name, gaps=True))}{_gaps(int(cells.gaps(name).sum()))}"


def _times(cells: Cells, name: str) -> str:
    known = cells.frame[name][~cells.gaps(name)]
    if dates_of(known) is not None:
        return f"dates{_date_span(known)}"
    try:
        return _numbers(cells, name)
    except TableError:
        return "text, which is sorted as it stands"


def _texts(cells: Cells, name: str) -> str:
    gaps = cells.gaps(name)
    return _words(cells.frame[name][~gaps]) + _gaps(int(gaps.sum()))


def _group(cells: Cells, name: str) -> str:
    gaps = cells.gaps(name)
    return _groups(cells.frame[name][~gaps]) + _gaps(int(gaps.sum()))


_READ: dict[str, Callable[[Cells, str], str]] = {
    "ids": _ids, "numbers": _numbers, "times": _times, "texts": _texts, "groups": _group,
}  # fmt: skip


def _span(values: object) -> str:
    known = np.asarray(values, dtype=float)
    known = known[np.isfinite(known)]
    return f" from {known.min():g} to {known.max():g}" if len(known) else ""


def _date_span(known: pd.Series) -> str:
    found = dates_of(known)
    assert found is not None
    form, moments = found
    for sign, word in FORMS.items():
        form = form.replace(sign, word)
    written = "" if form == "ISO8601" else f", read as {form.split()[0]}"
    return f" from {moments.min():%Y-%m-%d} to {moments.max():%Y-%m-%d}{written}"


def _groups(known: pd.Series) -> str:
    names = sorted(known.unique())
    shown = ", ".join(_cut(name) for name in names[:MOST_WORDS]) + (", ..." if len(names) > MOST_WORDS else "")
    return f"{counted(len(names), 'category', 'categories')} ({shown})"


def _words(known: pd.Series) -> str:
    if not len(known):
        return "texts"
    words = known.str.count(r"\S+").mean()
    return f"texts of {words:.0f} words on average" if words >= 1.5 else "texts of 1 word on average"


def _gaps(n: int) -> str:
    return f", {counted(n, 'gap')}" if n else ""


def _cut(name: str) -> str:
    return name if len(name) <= 20 else f"{name[:17]}..."
