"""A table file as it is: cells of text with the lines they stand in.

CSV with comma, semicolon or tab, in UTF-8 (with or without a mark), UTF-16 or Latin-1, also as .csv.gz; Parquet where
pyarrow is installed.
"""

from __future__ import annotations

import csv
import gzip
import io
import zlib
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from adaptive.cli.errors import CommandError
from adaptive.files import delimiter_of, text_of

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Cells", "listed", "read_cells"]


@dataclass(frozen=True)
class Cells:
    """A table of text.

    Attributes
    ----------
    frame : pandas.DataFrame of str
        Stripped cells, "" where nothing stands; its index holds the line of each row in the file (of a Parquet file:
        the row, the first being 1).
    delimiter : str
        What separated the cells; it tells "1,5" from "1,500".

    Examples
    --------
    >>> import pandas as pd
    >>> Cells(pd.DataFrame({"age": ["41", ""]}), ",").frame.shape
    (2, 1)
    """

    frame: pd.DataFrame
    delimiter: str

    def require(self, columns: Collection[str], path: Path) -> None:
        """Refuse names that are no columns."""
        for column in columns:
            if column not in self.frame.columns:
                header = listed(self.frame.columns)
                raise CommandError(f"{path} has no column {column!r}; its columns are {header}{_headless(self)}.")


def read_cells(path: Path) -> Cells:
    """Read a table file; a CommandError names file and line where it is none.

    Parameters
    ----------
    path : Path
        ``.csv``, ``.csv.gz`` or ``.parquet``.

    Returns
    -------
    Cells

    Raises
    ------
    CommandError
        If there is no such file, it cannot be read, or is no table.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "people.csv"
    ...     _ = path.write_text("age;city\\n41;Bonn\\n")
    ...     cells = read_cells(path)
    >>> cells.delimiter, cells.frame.to_dict("list")
    (';', {'age': ['41'], 'city': ['Bonn']})
    """
    if not path.exists():
        raise CommandError(f"there is no file {path}.")
    if path.is_dir():
        raise CommandError(f"{path} is a folder; expected a table (.csv, .csv.gz or .parquet).")
    try:
        content = path.read_bytes()
    except OSError as error:
        raise CommandError(f"{path} cannot be read: {error.strerror}.") from None
    return _of_parquet(path, content) if content.startswith(b"PAR1") else _of_text(path, _decoded(path, content))


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
    return ", ".join(shown) + (f", ... ({len(names)} in all)" if len(names) > most else "")


def _decoded(path: Path, content: bytes) -> str:
    if content.startswith(b"\x1f\x8b"):
        try:
            content = gzip.decompress(content)
        except (OSError, EOFError, zlib.error) as error:
            raise CommandError(f"{path} is compressed, and damaged: {error}.") from None
    text = text_of(content)
    if text is None:
        raise CommandError(f"{path} is not a table of text; expected .csv, .csv.gz or .parquet.")
    return text


def _of_text(path: Path, text: str) -> Cells:
    import pandas as pd

    delimiter = delimiter_of(text)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    try:
        rows = [(reader.line_num, row) for row in reader if any(cell.strip() for cell in row)]
    except csv.Error as error:
        raise CommandError(f"{path}, line {reader.line_num}: this is not CSV ({error}).") from None
    if len(rows) < 2:
        raise CommandError(f"{path} has no rows; expected a line of column names, then one row per line.")
    header = _named(path, [name.strip() for name in rows[0][1]])
    for line, row in rows[1:]:
        if len(row) != len(header):
            raise CommandError(f"{path}, line {line}: {len(row)} fields, but the header has {len(header)}.")
    cells = {name: [row[k].strip() for _, row in rows[1:]] for k, name in enumerate(header)}
    return Cells(pd.DataFrame(cells, index=[line for line, _ in rows[1:]], dtype=object), delimiter)


def _of_parquet(path: Path, content: bytes) -> Cells:
    import pandas as pd

    try:
        frame = pd.read_parquet(io.BytesIO(content))
    except ImportError:
        raise CommandError(f"{path} is a Parquet file, which needs pyarrow: pip install pyarrow.") from None
    except (OSError, ValueError) as error:
        raise CommandError(f"{path} is a damaged Parquet file: {error}.") from None
    if frame.empty:
        raise CommandError(f"{path} has no rows.")
    header = _named(path, [str(name).strip() for name in frame.columns])
    texts = {
        name: ["" if missing else str(cell).strip() for cell, missing in zip(column, column.isna(), strict=True)]
        for name, (_, column) in zip(header, frame.items(), strict=True)
    }
    return Cells(pd.DataFrame(texts, index=range(1, len(frame) + 1), dtype=object), ",")


def _named(path: Path, header: list[str]) -> list[str]:
    """The names of the columns; one without is called by its place, as pandas calls it."""
    header = [name or f"Unnamed: {place}" for place, name in enumerate(header)]
    twice = sorted({name for name in header if header.count(name) > 1})
    if twice:
        raise CommandError(f"{path} names the column {twice[0]!r} twice.")
    return header


def _headless(cells: Cells) -> str:
    """A hint where the names look like a row of numbers."""
    names = [name.replace(",", ".").lstrip("-") for name in cells.frame.columns]
    numbers = sum(name.replace(".", "", 1).isdecimal() for name in names)
    return " (does the file lack a line of names?)" if numbers > len(names) / 2 else ""
