"""A table file as it is: cells of text with the lines they stand in.

CSV with comma, semicolon or tab, in UTF-8 (with or without a mark), UTF-16 or Latin-1, also packed (.csv.gz), with
cells of any length; Parquet where pyarrow is installed. Text is read in blocks: memory does not grow with the file.
"""

from __future__ import annotations

import csv
import gzip
import io
import os
import zlib
from collections.abc import Iterator
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import IO, TYPE_CHECKING

import numpy as np

from adaptive import memory
from adaptive.tables.cells import Cells, TableError, listed
from adaptive.tables.vectors import shortened

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["TableFile", "read_cells"]

_BYTES = 8  # of memory for each letter: cells of few letters are objects, too
_LONGEST_HEADER = 1 << 20
EXPECTED = "expected a table (.csv, .csv.gz or .parquet)"


def read_cells(path: str | os.PathLike[str]) -> Cells:
    """Read a table file; a TableError names file and line where it is none.

    Parameters
    ----------
    path : path
        ``.csv``, ``.csv.gz`` or ``.parquet``.

    Returns
    -------
    Cells

    Raises
    ------
    TableError
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
    cells = next(TableFile(path).blocks(), None)
    if cells is None:
        raise TableError(f"{path} has no rows; expected a line of column names, then one row per line.")
    return cells


class TableFile:
    """A table file, looked through once and read as often as needed.

    Parameters
    ----------
    path : path
        ``.csv``, ``.csv.gz`` or ``.parquet``.

    Attributes
    ----------
    path : Path
    delimiter : str
        What separates the cells: comma, semicolon or tab, whichever the first line has most of.
    header : list of str
        The names of the columns; one without is called by its place, as pandas calls it.

    Raises
    ------
    TableError
        If there is no such file, it cannot be read, or is no table.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "people.csv"
    ...     _ = path.write_text("age,city\\n41,Bonn\\n30,Ulm\\n")
    ...     file = TableFile(path)
    ...     [len(block.frame) for block in file.blocks(1)]
    [1, 1]
    >>> file.header
    ['age', 'city']
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        if not self.path.exists():
            raise TableError(f"there is no file {self.path}.")
        if self.path.is_dir():
            raise TableError(f"{self.path} is a folder; {EXPECTED}.")
        self.delimiter, self._encoding = ",", ""
        try:
            with self.path.open("rb") as stream:
                magic = stream.read(4)
            self._packed, self._parquet = magic.startswith(b"\x1f\x8b"), magic == b"PAR1"
            if not self._parquet:
                self._encoding = self._found_encoding()
                with self._text() as text:
                    self.delimiter = _delimiter_of(text.readline(_LONGEST_HEADER))
        except (OSError, EOFError, zlib.error) as error:
            if isinstance(error, OSError) and error.errno is not None:
                raise TableError(f"{self.path} cannot be read: {error.strerror}.") from None
            raise TableError(f"{self.path} is compressed, and damaged: {error}.") from None
        self.header = self._named(next(self._lines(), (0, []))[1])

    def rows(self) -> Iterator[tuple[int, list[str]]]:
        """Yield the line and the cells of every row that is not empty; each has as many as the header."""
        for line, row in islice(self._lines(), 1, None):
            if len(row) != len(self.header):
                raise TableError(f"{self.path}, line {line}: {len(row)} fields, but the header has {len(self.header)}.")
            yield line, row

    def blocks(self, size: int | None = None) -> Iterator[Cells]:
        """Yield so many rows at a time, or all at once, for which memory is asked."""
        import pandas as pd

        if size is None and not self._parquet:
            self._require_memory(self._n_letters)
        rows = self.rows()
        while block := list(islice(rows, size)):
            cells = {name: [row[k].strip() for _, row in block] for k, name in enumerate(self.header)}
            frame = pd.DataFrame(cells, index=[line for line, _ in block], dtype=object)
            sequences = {name: column[frame.index.to_numpy() - 1] for name, column in self._sequences.items()}
            yield Cells(self.path, frame, self.delimiter, sequences)

    def require(self, *columns: str) -> None:
        """Refuse names that are no columns."""
        import pandas as pd

        Cells(self.path, pd.DataFrame(columns=self.header)).require(*columns)

    def _lines(self) -> Iterator[tuple[int, list[str]]]:
        """Yield every line that is not empty, the header first."""
        if self._parquet:
            yield 0, [str(name) for name in self._frame.columns]
            columns = [_texts(column) for _, column in self._frame.items()]
            yield from ((number, list(cells)) for number, cells in enumerate(zip(*columns, strict=True), 1))
            return
        csv.field_size_limit(2**31 - 1)  # the largest that every system takes; the default is 128 KiB
        with self._text() as stream:
            lines = _Lines(stream)
            # strict: where a quote is not closed or not doubled, rows would run into one another without a word
            reader, line = csv.reader(lines, delimiter=self.delimiter, strict=True), 1
            try:
                for row in reader:
                    if any(cell.strip() for cell in row):
                        yield reader.line_num, row
                    line = reader.line_num + 1
            except csv.Error as error:
                why = "a quote is opened there and never closed" if lines.ended else f"{error}"
                raise TableError(f"{self.path}, line {line}: this is not CSV ({why}).") from None
            except (EOFError, OSError, zlib.error) as error:
                raise TableError(f"{self.path} is compressed, and damaged: {error}.") from None

    @cached_property
    def _frame(self) -> pd.DataFrame:
        import pandas as pd

        try:
            import pyarrow.parquet

            known = pyarrow.parquet.read_metadata(self.path)
            parts = sum(known.row_group(k).total_byte_size for k in range(known.num_row_groups))
            needed = max(parts, _BYTES * known.num_rows * known.num_columns)  # what is packed well says little of it
        except ImportError:
            raise TableError(f"{self.path} is a Parquet file, which needs pyarrow: pip install pyarrow.") from None
        except Exception as error:  # a dozen kinds, by what is damaged
            raise TableError(f"{self.path} is a damaged Parquet file: {error}.") from None
        self._require_memory(needed)
        try:
            return pd.read_parquet(self.path, dtype_backend="numpy_nullable")  # whole numbers stay so beside gaps
        except Exception as error:  # the same, within the numbers
            raise TableError(f"{self.path} is a damaged Parquet file: {error!r}.") from None

    @cached_property
    def _sequences(self) -> dict[str, np.ndarray]:
        """The columns of lists, (n,) object arrays with None where nothing stands."""
        if not self._parquet:
            return {}
        found = {}
        for name, (_, column) in zip(self.header, self._frame.items(), strict=True):
            if column.dtype == object and any(_is_sequence(cell) for cell in column):
                cells = np.empty(len(column), dtype=object)
                cells[:] = [cell if _is_sequence(cell) else None for cell in column]
                found[name] = cells
        return found

    def _bytes(self) -> IO[bytes]:
        return gzip.open(self.path) if self._packed else self.path.open("rb")  # type: ignore[return-value]

    def _text(self) -> io.TextIOWrapper:
        return io.TextIOWrapper(self._bytes(), self._encoding, newline="")

    def _found_encoding(self) -> str:
        """UTF-16 where a mark says so, UTF-8 where the whole file is, else Windows' Latin-1 (cp1252)."""
        with self._bytes() as stream:
            marked = stream.read(2) in (b"\xff\xfe", b"\xfe\xff")
        for self._encoding in ("utf-16",) if marked else ("utf-8-sig", "cp1252"):
            try:
                with self._text() as text:
                    binary = self._looked_through(text)
            except UnicodeDecodeError:
                continue
            if not binary:
                return self._encoding
            break
        raise TableError(f"{self.path} is not a table of text; expected .csv, .csv.gz or .parquet.")

    def _looked_through(self, text: io.TextIOWrapper) -> bool:
        """Return whether there are letters that no text has; count them all, and those of the longest line."""
        self._n_letters, longest, line = 0, 0, 0
        for part in iter(lambda: text.read(1 << 16), ""):
            if "\x00" in part:
                return True
            first, *others = part.split("\n")
            longest = max(longest, line + len(first), *map(len, others))
            line = len(others[-1]) if others else line + len(first)
            self._n_letters += len(part)
            self._require_memory(longest)  # of what is read line by line; of all of it when all is asked for
        return False

    def _require_memory(self, n_letters: int) -> None:
        if _BYTES * n_letters > memory.memory_there():
            raise TableError(
                f"{self.path} is too large: {n_letters / 1e9:.3g} GB{' unpacked' if self._packed else ''} at "
                f"once, and there are {memory.memory_there() / 1e9:.3g} GB of memory; read a part of it."
            )

    def _named(self, names: list[str]) -> list[str]:
        header = [name.strip() or f"Unnamed: {place}" for place, name in enumerate(names)]
        twice = sorted({name for name in header if header.count(name) > 1})
        if twice:
            raise TableError(f"{self.path} names the column {listed(twice, 1)} twice.")
        return header


class _Lines:
    """Lines of a text, and whether the last was taken: a row that asks for more is not closed."""

    def __init__(self, stream: io.TextIOWrapper) -> None:
        self._stream, self.ended = stream, False

    def __iter__(self) -> Iterator[str]:
        yield from self._stream
        self.ended = True


def _delimiter_of(line: str) -> str:
    """Comma, semicolon or tab; of one column none of them, as a comma may stand in its numbers."""
    found = max(",;\t", key=line.count)
    return found if found in line else "\t"


def _texts(column: pd.Series) -> list[str]:
    cells = zip(column, column.isna(), strict=True)
    if column.dtype != object:
        return ["" if none else str(cell) for cell, none in cells]
    return ["" if none else shortened(cell) if _is_sequence(cell) else str(cell) for cell, none in cells]


def _is_sequence(cell: object) -> bool:
    return isinstance(cell, (list, tuple, np.ndarray))
