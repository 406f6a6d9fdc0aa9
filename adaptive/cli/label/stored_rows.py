"""A Parquet file too long to be held, of which some rows have a label: its numbers are features, read in parts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from adaptive import pool as pools
from adaptive import tables
from adaptive.cli.errors import CommandError
from adaptive.cli.job import Job
from adaptive.cli.label.rows import MOST_SHOWN, classes_of
from adaptive.cli.run_folder import RunFolder
from adaptive.cli.understanding import counted
from adaptive.labelling.naming import doubts, meant
from designs.pool import LazyPool, Parquet, Standardised

if TYPE_CHECKING:
    from adaptive.loop import SequentialDesign

__all__ = ["StoredRows", "is_long", "stored_rows_of"]

MOST_CELLS = 4_000_000  # of a Parquet file that is read whole: beyond, its numbers are features and it stays on disk
AT_ONCE = 65_536  # rows
SAMPLE = 1_000  # rows, evenly spaced, that stand for all where the model says how sure it is


@dataclass(frozen=True)
class StoredRows:
    """The rows of a long Parquet file; the same questions are put to it as to `adaptive.cli.label.rows.Rows`.

    Attributes
    ----------
    path : Path
    target : str
    X : Standardised
        Columns of numbers, read in parts.
    y : dict of int to label
        Those that the file gives, by position.
    classes : list
    shown : list of str
    notes : list of str
    of_texts : False
        There are no features of texts.
    """

    path: Path
    target: str
    X: Standardised
    y: dict[int, Any]
    classes: list[Any]
    shown: list[str]
    notes: list[str]
    of_texts = False

    def __len__(self) -> int:
        return len(self.X)

    @property
    def free(self) -> np.ndarray | None:
        """(n,) booleans: which rows have no label in the file; None: all."""
        if not self.y:
            return None
        mask = np.ones(len(self), dtype=bool)
        mask[list(self.y)] = False
        return mask

    @property
    def fingerprint(self) -> str:
        return pools.fingerprint(self.X)

    def understood(self) -> Iterator[str]:
        """Yield what a dry run says: columns, labels and classes."""
        yield from self.notes
        classes = ", ".join(map(str, self.classes))
        yield f"{counted(len(self.y), 'row')} of {len(self):,} labelled; the classes are {classes}."

    def known(self) -> tuple[Any, np.ndarray] | None:
        """Rows that have a label in the file, and these; None where there are none."""
        return (self.X.take(list(self.y)), np.array(list(self.y.values()))) if self.y else None

    def labels(self) -> dict[int, Any]:
        """The labels that the file gives, by position."""
        return dict(self.y)

    def label_of(self, position: int) -> Any:
        """The label that the file gives, None where it gives none."""
        return self.y.get(position)

    def line(self, position: int) -> int:
        """The number of the row, from 1."""
        return position + 1

    def seen(self, position: int) -> dict[str, str]:
        """Cells of a row that people see."""
        return {name: column.take([position])[0] for name, column in self._columns().items()}

    def columns(self) -> dict[str, Any]:
        """Columns for files of questions, of which rows are read when they are taken."""
        return {"line": range(1, len(self) + 1), **self._columns()}

    def position_of(self, data: dict[str, Any]) -> int | None:
        """None: rows of a long file are known by their position only."""
        return None

    def sample(self) -> Any:
        """Rows, evenly spaced, that stand for all."""
        return self.X.take(np.unique(np.linspace(0, len(self) - 1, min(SAMPLE, len(self))).astype(np.intp)))

    def _columns(self) -> dict[str, LazyPool]:
        return {name: _Texts(self.path, name, len(self)) for name in self.shown}

    def write(
        self, design: SequentialDesign, labels: dict[int, Any], folder: Job, report: bool, rival: None = None
    ) -> None:
        """Write labels.csv with the rows that have a label, and with ``report`` predictions.parquet about all rows."""
        positions = sorted(labels)
        table: dict[str, list[Any]] = {"line": [self.line(position) for position in positions]}
        table |= {name: column.take(positions) for name, column in self._columns().items()}
        folder.write_csv("labels.csv", {**table, self.target: [labels[position] for position in positions]})
        if report:
            self._write_predictions(design, folder)
        else:
            print("labels.csv holds the labelled rows; --report writes predictions for all, to predictions.parquet.")

    def _write_predictions(self, design: SequentialDesign, folder: Job) -> None:
        import pyarrow as pa
        import pyarrow.parquet as pq

        path = folder.result("predictions.parquet")
        partial = path.with_name(f".{path.name}.partial")
        schema = pa.schema([("predicted", pa.string()), ("probability", pa.float32())])
        with pq.ParquetWriter(partial, schema) as file:
            for start in range(0, len(self), AT_ONCE):
                rows = self.X.read(start, min(start + AT_ONCE, len(self)))
                predictive = design.estimator_.predictive(rows)
                best: list[Any] = [None] * len(rows)
                probability: list[Any] = [None] * len(rows)
                if not predictive.undecided:
                    chances = np.asarray(predictive.probabilities, dtype=float)
                    best = [str(one) for one in np.asarray(predictive.outcomes)[chances.argmax(axis=1)]]
                    probability = chances.max(axis=1).tolist()
                file.write_table(pa.table({"predicted": best, "probability": probability}, schema=schema))
        partial.replace(path)


class _Texts(LazyPool):
    """A column of a Parquet file as people read it; the row group of the last one asked for is kept."""

    def __init__(self, path: Path, name: str, length: int) -> None:
        self.path, self.name, self._length = path, name, length
        self._kept: tuple[int, list[Any]] | None = None

    def _entries(self, positions: np.ndarray) -> list[str]:
        import pyarrow.parquet as pq

        found = []
        with pq.ParquetFile(self.path) as file:
            sizes = [file.metadata.row_group(k).num_rows for k in range(file.metadata.num_row_groups)]
            ends = np.cumsum(sizes)
            for position in positions.tolist():
                k = int(np.searchsorted(ends, position, side="right"))
                if self._kept is None or self._kept[0] != k:
                    self._kept = k, file.read_row_group(k, columns=[self.name]).column(0)
                cell = self._kept[1][position - int(ends[k] - sizes[k])].as_py()
                found.append("" if cell is None else str(cell))
        return found

    def _parts(self) -> list[Any]:
        return [str(self.path), self.name]


def is_long(path: Path) -> bool:
    """Return whether a file is Parquet with more cells than are read whole."""
    try:
        with path.open("rb") as file:
            if file.read(4) != b"PAR1":
                return False
        import pyarrow.parquet as pq

        known = pq.read_metadata(path)
    except Exception:  # what is wrong with it is said by the reader of tables
        return False
    return known.num_rows * known.num_columns > MOST_CELLS


def stored_rows_of(run: RunFolder) -> StoredRows:
    """Read what can be held of a long Parquet file, and fix its content.

    Raises
    ------
    CommandError
        If it has no columns of numbers, a label is unknown, or fewer than two classes are known.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    settings = run.settings
    path, target, show, ignore = Path(settings["table"]), settings["target"], settings["show"], settings["ignore"]
    schema = pq.read_schema(path)
    missing = [name for name in (*show, *ignore) if name not in schema.names]
    if missing:
        raise CommandError(f"{path} has no column {missing[0]!r}; its columns are {', '.join(schema.names[:20])}.")
    given = _labels(path, target) if target in schema.names else {}
    classes = classes_of(list(given.values()), target, settings["classes"], path)
    y = {}
    for position, label in given.items():
        places = meant(label, classes)
        if len(places) != 1:
            raise CommandError(
                f"{path}, row {position + 1}: the label {label!r} in column {target!r} is not one of the classes "
                f"{', '.join(map(str, classes))}: {doubts(label, classes, places)}."
            )
        y[position] = classes[places[0]]
    kinds = pa.types
    numbers = [
        field.name
        for field in schema
        if field.name not in (target, *ignore)
        and (kinds.is_floating(field.type) or kinds.is_integer(field.type) or kinds.is_boolean(field.type))
    ]
    if not numbers:
        raise CommandError(f"{path} is read in parts, and none of its columns holds numbers, which alone are features.")
    try:
        X = Standardised(Parquet(path, numbers), settings["max_missing"])
    except ValueError as problem:
        raise CommandError(f"{path}: {problem}") from None
    others = [name for name in schema.names if name not in (*numbers, target, *ignore)]
    gone = [name for k, name in enumerate(numbers) if k not in X.kept]
    note = f"{path.name}: {len(X):,} rows, read in parts; {X.shape[1]} columns of numbers are features, standardised"
    note += f"; left out, constant or missing: {_listed(gone)}" if gone else ""
    note += f"; not numbers, so no features: {_listed(others)}" if others else ""
    seen = show or [name for name in schema.names if name != target][:MOST_SHOWN]
    rows = StoredRows(path, target, X, y, classes, seen, [f"{note}."])
    run.fix("rows", X.part_fingerprints(), f"the rows of {path.name}")
    return rows


def _labels(path: Path, target: str) -> dict[int, str]:
    """Labels that a file gives, as text by position, read a row group at a time."""
    found: dict[int, str] = {}
    for start, column in _column(path, target):
        for k, cell in enumerate(column):
            text = "" if cell is None else str(cell).strip()
            if not tables.is_missing(text):
                found[start + k] = text
    return found


def _column(path: Path, name: str) -> Iterator[tuple[int, Sequence[Any]]]:
    import pyarrow.parquet as pq

    with pq.ParquetFile(path) as file:
        start = 0
        for k in range(file.metadata.num_row_groups):
            column = file.read_row_group(k, columns=[name]).column(0)
            if column.null_count < len(column):
                yield start, column.to_pylist()
            start += len(column)


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")
