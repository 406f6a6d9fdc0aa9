"""A table of text, and its columns read as what a model takes: ids, numbers, times.

A cell that is something else is refused by its file, line and column.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from adaptive.tables.values import MISSING, dates_of, number_of

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Cells", "TableError", "listed"]


class TableError(ValueError):
    """Raised where a file is no table, or a cell is not what was expected there: one sentence."""

    def __init__(self, message: str):
        super().__init__(" ".join(message.split()))


@dataclass(frozen=True)
class Cells:
    """A table of text.

    Attributes
    ----------
    path : Path
        For messages.
    frame : pandas.DataFrame of str
        Stripped cells, "" where nothing stands; its index holds the line of each row in the file (of a Parquet file:
        the row, the first being 1).
    delimiter : str
        What separated the cells; it tells "1,5" from "1,500".
    sequences : mapping of str to (n,) object array
        The lists of a Parquet file as they are, None where nothing stands; the frame holds them as short text.

    Examples
    --------
    >>> import pandas as pd
    >>> cells = Cells(Path("people.csv"), pd.DataFrame({"who": ["a", "b"], "age": ["41", ""]}, index=[2, 3]))
    >>> cells.ids("who"), cells.numbers("age", gaps=True).tolist()
    (['a', 'b'], [41.0, nan])
    >>> cells.numbers("age")
    Traceback (most recent call last):
    ...
    adaptive.tables.cells.TableError: people.csv, line 3, column 'age': expected a number, got ''.
    """

    path: Path
    frame: pd.DataFrame
    delimiter: str = ","
    sequences: Mapping[str, np.ndarray] = field(default_factory=dict)

    def require(self, *columns: str) -> None:
        """Refuse names that are no columns."""
        for column in columns:
            if column not in self.frame.columns:
                header = listed(self.frame.columns)
                raise TableError(f"{self.path} has no column {column!r}; its columns are {header}{self._headless()}.")

    def refuse(self, bad: Any, name: str, expected: str) -> None:
        """Refuse the first row that is bad, saying what was expected in this column.

        Parameters
        ----------
        bad : (n,) array of bool
        name : str
        expected : str
        """
        rows = np.flatnonzero(bad)
        if len(rows):
            where = f"{self.path}, line {self.frame.index[rows[0]]}, column {name!r}"
            raise TableError(f"{where}: expected {expected}, got {self.frame[name].iloc[rows[0]]!r}.")

    def where(self, keep: Any) -> Cells:
        """Return the rows for which ``keep``, (n,) booleans, holds."""
        sequences = {name: cells[np.asarray(keep, dtype=bool)] for name, cells in self.sequences.items()}
        return Cells(self.path, self.frame[keep], self.delimiter, sequences)

    def gaps(self, name: str) -> np.ndarray:
        """Return (n,) booleans: the cells of a column that say that nothing is known."""
        self.require(name)
        return self.frame[name].str.lower().isin(MISSING).to_numpy()

    def ids(self, name: str) -> list[str]:
        """Return a column of which no cell is empty."""
        self.require(name)
        self.refuse(self.frame[name] == "", name, "an id")
        return self.frame[name].tolist()

    def numbers(self, name: str, expected: str = "a number", *, gaps: bool = False) -> np.ndarray:
        """Return (n,) finite numbers; with ``gaps`` NaN where a cell says that nothing is known."""
        self.require(name)
        read = number_of(self.delimiter)
        values = np.array([np.nan if (found := read(cell)) is None else found for cell in self.frame[name]])
        self.refuse(~np.isfinite(values) & ~(gaps & self.gaps(name)), name, expected)
        return values

    def times(self, name: str) -> tuple[np.ndarray, str]:
        """Return (n,) numbers and "", or of a column of dates the days since the first of them, and that one."""
        self.require(name)
        found = dates_of(self.frame[name])
        if found is None:
            return self.numbers(name, "a number or a date"), ""
        first = found[1].min()
        return (found[1] - first).dt.total_seconds().to_numpy(float) / 86400.0, first.isoformat()

    def choices(self, name: str, values: Mapping[float, Any], nothing: Any, expected: str) -> list[Any]:
        """Return what each number of a column stands for, and ``nothing`` for a gap."""
        numbers, gaps = self.numbers(name, expected, gaps=True), self.gaps(name)
        self.refuse(~gaps & ~np.isin(numbers, list(values)), name, expected)
        return [nothing if gap else values[number] for gap, number in zip(gaps, numbers.tolist(), strict=True)]

    def _headless(self) -> str:
        """Hint where the names look like a row of numbers."""
        names = [name.replace(",", ".").lstrip("-") for name in self.frame.columns]
        numbers = sum(name.replace(".", "", 1).isdecimal() for name in names)
        return " (does the file lack a line of names?)" if numbers > len(names) / 2 else ""


def listed(names: Collection[str], most: int = 8) -> str:
    """Return names in quotes, the first few of many.

    Parameters
    ----------
    names : collection of str
    most : int, default 8
        How many are written out.

    Examples
    --------
    >>> listed(["a", "b", "c"], most=2)
    "'a', 'b', ... (3 in all)"
    """
    shown = [repr(name) for name in list(names)[:most]]
    return ", ".join(shown) + (f", ... ({len(names)} in all)" if len(names) > most else "") or "none"
