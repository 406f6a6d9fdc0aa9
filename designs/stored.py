"""Pools that lie in files and may be larger than memory: tables of numbers, read a part at a time.

``.npy`` is mapped; of Parquet whole row groups are read, the last one is kept. What travels to another process is the
path. A file that has changed since it was opened is refused, for positions would mean other rows.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from designs.lazy_pool import LazyPool

if TYPE_CHECKING:
    from adaptive.types import ArrayLike

HASHED_AT_ONCE = 2**24  # bytes

__all__ = ["Npy", "Parquet", "stored"]


def stored(path: str | Path, columns: Sequence[str] | None = None) -> Stored:
    """Return the pool of rows in a file, ``.npy`` or ``.parquet``, which is not loaded.

    Parameters
    ----------
    path : path
    columns : list of str, optional
        Of Parquet those that are the features; None: all, which must be numbers.

    Returns
    -------
    Npy or Parquet
        Of m rows; `select` and `SequentialDesign` read them in chunks.

    Raises
    ------
    ValueError
        If the file is none of both, is damaged, or holds something else than numbers.
    FileNotFoundError
        If there is no such file.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "pool.npy"
    >>> np.save(path, np.zeros((5, 2)))
    >>> len(stored(path))
    5
    """
    path = Path(path)
    if path.suffix == ".npy":
        if columns is not None:
            raise ValueError("columns name those of a Parquet file; a .npy has none.")
        return Npy(path)
    if path.suffix == ".parquet":
        return Parquet(path, columns)
    raise ValueError(f"path must end in .npy or .parquet, got {path.name!r}.")


class Stored(LazyPool):
    """Base: a path, and whether the file is still the one that was opened.

    Attributes
    ----------
    path : Path
    shape : (int, int)
        Rows and columns.
    """

    stored = by_path = True
    path: Path
    shape: tuple[int, int]

    def _open(self, path: Path) -> None:
        self.path = Path(path)
        if not self.path.exists():
            raise FileNotFoundError(f"{self.path} does not exist.")
        self._opened = self._stamp()
        self._asked: tuple[bytes, Any] | None = None

    def _stamp(self) -> tuple[int, int]:
        state = self.path.stat()
        return state.st_size, state.st_mtime_ns

    def __getstate__(self) -> dict[str, Any]:
        return {"path": self.path, "names": getattr(self, "names", None), "opened": self._opened}

    def __setstate__(self, state: dict[str, Any]) -> None:
        again = stored(state["path"], state["names"])
        self.__dict__.update(again.__dict__)
        self._opened = state["opened"]
        self._check_unchanged()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({str(self.path)!r}, {self.shape[0]} rows of {self.shape[1]})"

    def _check_unchanged(self) -> None:
        try:
            same = self._stamp() == self._opened
        except FileNotFoundError:
            raise ValueError(f"{self.path} is gone; its rows were candidates.") from None
        if not same:
            raise ValueError(f"{self.path} has changed since it was opened; open it anew, and begin a new design.")

    def read(self, start: int, stop: int) -> np.ndarray:
        """The rows from ``start`` to ``stop - 1``."""
        self._check_unchanged()
        return self._rows(start, min(stop, self._length))

    def _rows(self, start: int, stop: int) -> np.ndarray:
        raise TypeError(f"{type(self).__name__} must define _rows(start, stop).")

    def _entries(self, positions: np.ndarray) -> np.ndarray:
        """Rows at any positions; the last ones that were asked for are kept, for a target is the same every time."""
        key = positions.tobytes()
        if self._asked is None or self._asked[0] != key:
            self._check_unchanged()
            self._asked = key, self._gathered(positions)
        return np.array(self._asked[1])

    def _gathered(self, positions: np.ndarray) -> np.ndarray:
        raise TypeError(f"{type(self).__name__} must define _gathered(positions).")

    def labels(self, positions: ArrayLike) -> list[int]:
        """The positions."""
        return [int(k) for k in np.asarray(positions)]


class Npy(Stored):
    """Rows of a ``.npy`` file, mapped into memory.

    Parameters
    ----------
    path : path
        Of an array (m, d) of numbers.

    Raises
    ------
    ValueError
        If it is no such file.
    FileNotFoundError
        If there is none.

    Examples
    --------
    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> np.save(folder / "pool.npy", np.arange(12.0).reshape(6, 2))
    >>> pool = Npy(folder / "pool.npy")
    >>> len(pool), pool.read(1, 3).tolist()
    (6, [[2.0, 3.0], [4.0, 5.0]])
    """

    def __init__(self, path: str | Path) -> None:
        self._open(Path(path))
        try:
            self._array = np.load(self.path, mmap_mode="r", allow_pickle=False)
        except (ValueError, OSError, EOFError) as problem:
            raise ValueError(f"{self.path} is not a .npy file that can be read ({problem}).") from None
        if self._array.ndim != 2 or self._array.dtype.kind not in "biuf":
            raise ValueError(
                f"{self.path} must hold a table of numbers (m, d), got {self._array.dtype} of shape "
                f"{self._array.shape}."
            )
        self.shape = self._array.shape
        self._length = len(self._array)

    def _rows(self, start: int, stop: int) -> np.ndarray:
        return np.asarray(self._array[start:stop])

    def _gathered(self, positions: np.ndarray) -> np.ndarray:
        return np.asarray(self._array[positions])

    def _parts(self) -> list[Any]:
        return [self._array]


class Parquet(Stored):
    """Rows of a Parquet file, read by row groups; needs pyarrow.

    Parameters
    ----------
    path : path
    columns : list of str, optional
        The features, in this order; None: all columns.

    Raises
    ------
    ValueError
        If the file cannot be read, or lacks a column, or one holds something else than numbers.
    FileNotFoundError
        If there is none.

    Attributes
    ----------
    names : list of str
        The columns.

    Examples
    --------
    >>> import tempfile, pyarrow, pyarrow.parquet
    >>> path = Path(tempfile.mkdtemp()) / "pool.parquet"
    >>> table = pyarrow.table({"a": [1.0, 2.0, 3.0], "name": ["x", "y", "z"], "b": [4.0, 5.0, 6.0]})
    >>> pyarrow.parquet.write_table(table, path, row_group_size=2)
    >>> pool = Parquet(path, ["a", "b"])
    >>> pool.read(1, 3).tolist(), pool.take([2]).tolist()
    ([[2.0, 5.0], [3.0, 6.0]], [[3.0, 6.0]])
    """

    def __init__(self, path: str | Path, columns: Sequence[str] | None = None) -> None:
        self._open(Path(path))
        meta = self._of_file(lambda file: file.metadata, "")
        schema = self._of_file(lambda file: file.schema_arrow, "")
        names = list(schema.names) if columns is None else list(columns)
        missing = [name for name in names if name not in schema.names]
        if missing:
            raise ValueError(f"columns name {missing[0]!r}, which {self.path.name} does not have: {schema.names}.")
        self.names = names
        text = [name for name in names if not _is_number(schema.field(name).type)]
        if text:
            raise ValueError(
                f"{self.path.name} must hold numbers in the columns that are features, and {text[0]!r} is "
                f"{schema.field(text[0]).type}; name others by columns."
            )
        self._dtype = np.result_type(*[np.dtype(schema.field(name).type.to_pandas_dtype()) for name in names])
        self._dtype = self._dtype if self._dtype.kind == "f" else np.dtype(float)
        self._ends = np.cumsum([meta.row_group(k).num_rows for k in range(meta.num_row_groups)], dtype=np.int64)
        self._length = int(meta.num_rows)
        self.shape = self._length, len(names)
        self._kept: tuple[int, np.ndarray] | None = None
        self._hashed: dict[str, str] | None = None

    def _of_file(self, ask: Callable[[Any], Any], where: str) -> Any:
        try:
            import pyarrow
            import pyarrow.parquet
        except ImportError:
            raise ImportError("Parquet files need pyarrow: pip install pyarrow.") from None
        try:
            with pyarrow.parquet.ParquetFile(self.path) as file:
                return ask(file)
        except (pyarrow.ArrowException, OSError, ValueError) as problem:
            reason = str(problem).splitlines()[0] if str(problem) else type(problem).__name__
            raise ValueError(f"{where}{self.path} cannot be read ({reason}).") from None

    def _group(self, k: int) -> np.ndarray:
        """The features of a row group."""
        if self._kept is None or self._kept[0] != k:
            table = self._of_file(
                lambda file: file.read_row_group(k, columns=self.names, use_threads=False), f"row group {k} of "
            )
            rows = np.empty((table.num_rows, len(self.names)), dtype=self._dtype)
            for j, name in enumerate(self.names):
                rows[:, j] = table.column(name).to_numpy()
            self._kept = k, rows
        return self._kept[1]

    def _rows(self, start: int, stop: int) -> np.ndarray:
        first, last = np.searchsorted(self._ends, [start, stop - 1], side="right")
        parts = []
        for k in range(int(first), int(last) + 1 if stop > start else int(first)):
            begin = int(self._ends[k - 1]) if k else 0
            parts.append(self._group(k)[max(start - begin, 0) : stop - begin])
        if not parts:
            return np.empty((0, len(self.names)), dtype=self._dtype)
        return parts[0] if len(parts) == 1 else np.concatenate(parts)

    def _gathered(self, positions: np.ndarray) -> np.ndarray:
        found = np.empty((len(positions), len(self.names)), dtype=self._dtype)
        group = np.searchsorted(self._ends, positions, side="right")
        for k in np.unique(group).tolist():
            there = group == k
            found[there] = self._group(k)[positions[there] - (int(self._ends[k - 1]) if k else 0)]
        return found

    def part_fingerprints(self) -> dict[str, str]:
        """A hash of the bytes of each row group by its name, "row group 0"; of all columns, features or not."""
        if self._hashed is None:
            self._check_unchanged()
            self._hashed = {}
            with self.path.open("rb") as file:
                for k, chunks in enumerate(self._of_file(_chunks_of, "")):
                    digest = hashlib.blake2b(digest_size=8)
                    for start, size in chunks:
                        file.seek(start)
                        while size > 0 and (block := file.read(min(size, HASHED_AT_ONCE))):
                            digest.update(block)
                            size -= len(block)
                    self._hashed[f"row group {k}"] = digest.hexdigest()
        return self._hashed

    def _parts(self) -> list[Any]:
        return [self.names, self._length, self.part_fingerprints()]


def _chunks_of(file: Any) -> list[list[tuple[int, int]]]:
    """Return where the columns of each row group stand in a Parquet file: [(start, bytes)]."""
    found = []
    for group in map(file.metadata.row_group, range(file.metadata.num_row_groups)):
        columns = [group.column(j) for j in range(group.num_columns)]
        starts = [min(filter(None, (one.dictionary_page_offset, one.data_page_offset))) for one in columns]
        found.append([(start, one.total_compressed_size) for start, one in zip(starts, columns, strict=True)])
    return found


def _is_number(kind: Any) -> bool:
    import pyarrow.types as types

    return bool(types.is_floating(kind) or types.is_integer(kind) or types.is_boolean(kind))
