"""A table that is held in memory, of which some rows have a label."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from adaptive import tables
from adaptive.cli.errors import CommandError
from adaptive.cli.label.embeddings import read_embeddings
from adaptive.cli.run_folder import RunFolder
from adaptive.cli.understanding import counted, features_in_words
from adaptive.labelling.naming import doubts, meant, twins

if TYPE_CHECKING:
    import pandas as pd

    from adaptive.cli.job import Job
    from adaptive.loop import SequentialDesign

__all__ = ["MOST_SHOWN", "Rows", "classes_of", "names_of", "read_labels", "table_rows_of"]

MOST_SHOWN = 20  # columns of a row in a question, unless they are named


@dataclass(frozen=True)
class Rows:
    """The rows of a table.

    Attributes
    ----------
    path : Path
    target : str
        The column of labels; it may be absent from the file.
    cells : pandas.DataFrame of str
        As they stand in the file, the target among them; the index holds the lines.
    X : (n, d) array, dense or sparse
        Features.
    y : (n,) object array
        The classes that the file gives, None where it gives none.
    classes : list
        All classes, in the order in which they are shown.
    shown : list of str
        The columns that a person sees.
    notes : list of str
        What was done to the table.
    columns_in_words : callable() -> list of str
        What every column was read as.
    of_texts : bool
        Features are words of texts, perhaps beside numbers, dates and categories.
    """

    path: Path
    target: str
    cells: pd.DataFrame
    X: Any
    y: np.ndarray
    classes: list[Any]
    shown: list[str]
    notes: list[str]
    columns_in_words: Callable[[], list[str]] = list
    of_texts: bool = False
    _places: dict[tuple[str, ...], dict[tuple[str, ...], list[int]]] = field(default_factory=dict, repr=False)

    def __len__(self) -> int:
        return len(self.y)

    @property
    def labelled(self) -> np.ndarray:
        """(n,) booleans: which rows have a label in the file."""
        return np.array([label is not None for label in self.y], dtype=bool)

    @property
    def free(self) -> np.ndarray | None:
        """(n,) booleans: which rows have no label in the file; None would be all."""
        return ~self.labelled

    def understood(self) -> Iterator[str | Callable[[], list[str]]]:
        """Yield what a dry run says: columns, labels and classes."""
        yield self.columns_in_words
        yield from self.notes
        yield f"{counted(len(self.labels()), 'row')} of {len(self):,} labelled; the classes are {_words(self.classes)}."

    def known(self) -> tuple[Any, np.ndarray] | None:
        """Rows that have a label in the file, and these; None where there are none."""
        places = np.flatnonzero(self.labelled)
        return (self.X[places], np.array(self.y[places].tolist())) if places.size else None

    def labels(self) -> dict[int, Any]:
        """The labels that the file gives, by position."""
        return {int(position): self.y[position] for position in np.flatnonzero(self.labelled)}

    def label_of(self, position: int) -> Any:
        """The label that the file gives, None where it gives none."""
        return self.y[position]

    def line(self, position: int) -> int:
        """The line of the file."""
        return int(self.cells.index[position])

    def seen(self, position: int) -> dict[str, str]:
        """Cells of a row that people see."""
        row = self.cells.iloc[position]
        return {name: row[name] for name in self.shown}

    def columns(self) -> dict[str, Any]:
        """Columns for files of questions, as long as the table."""
        return {"line": self.cells.index.to_numpy(), **{name: self.cells[name].to_numpy() for name in self.shown}}

    def position_of(self, data: Mapping[str, Any]) -> int | None:
        """The one row that shows these cells; None where there is none, or several."""
        names = tuple(name for name in self.cells.columns if name in data and name != self.target)
        if not names:
            return None
        if names not in self._places:
            self._places[names] = {}
            for place, cells in enumerate(self.cells[list(names)].itertuples(index=False, name=None)):
                self._places[names].setdefault(tuple(map(str, cells)), []).append(place)
        shown = tuple("" if data[name] is None else str(data[name]).strip() for name in names)
        found = self._places[names].get(shown, [])
        return found[0] if len(found) == 1 else None

    def sample(self) -> Any:
        """Rows that stand for all: all."""
        return self.X

    def write(
        self, design: SequentialDesign, labels: Mapping[int, Any], folder: Job, report: bool, rival: Any = None
    ) -> None:
        """Write labels.csv: the table as it came, the labels filled in, and what the model predicts for every row.

        And what the ``rival`` predicts, where there is one to be heard.
        """
        table: dict[str, list[Any]] = {name: self.cells[name].tolist() for name in self.cells.columns}
        table[self.target] = [labels.get(position, "") for position in range(len(self))]
        predictive = design.estimator_.predictive(self.X)
        best: list[Any] = [None] * len(self)
        probability: list[Any] = [None] * len(self)
        if not predictive.undecided:
            chances = np.asarray(predictive.probabilities, dtype=float)
            best = np.asarray(predictive.outcomes)[chances.argmax(axis=1)].tolist()
            probability = chances.max(axis=1).tolist()
        columns = {"predicted": best, "probability": probability}
        if rival is not None:
            theirs = rival.predict_proba(self.X)
            columns["predicted_rival"] = np.asarray(rival.classes_)[theirs.argmax(axis=1)].tolist()
            columns["probability_rival"] = theirs.max(axis=1).tolist()
        for name, column in columns.items():
            table[f"{self.target}_{name}"] = column
        folder.write_csv("labels.csv", table)

    @property
    def fingerprint(self) -> str:
        return hashlib.sha256(self.path.read_bytes()).hexdigest()


def _words(classes: Sequence[Any]) -> str:
    return ", ".join(map(str, classes))


def names_of(classes: str | None) -> list[str]:
    """Return the classes that --classes names, none without it."""
    return [one.strip() for one in (classes or "").split(",") if one.strip()]


def table_rows_of(run: RunFolder) -> Rows:
    """Read the table of a run, of which some, all or no rows are labelled yet, and fix its content.

    Raises
    ------
    CommandError, TableError
        If the file is no table, a label is unknown, or fewer than two classes are known.
    """
    settings = run.settings
    path, target, show, ignore = Path(settings["table"]), settings["target"], settings["show"], settings["ignore"]
    cells = tables.read_cells(path)
    cells.require(*show, *ignore)
    frame, known, labels = read_labels(cells, target, settings["classes"])
    seen = show or [name for name in frame.columns if name != target][:MOST_SHOWN]
    if settings.get("embeddings"):
        columns, roles = [], {target: "labels"} | dict.fromkeys(seen, "shown, and no feature")
        features, digest = read_embeddings(settings["embeddings"], len(frame), path)
        of_texts = False
        notes = [f"features: the {features.shape[1]} numbers of {settings['embeddings']}"]
        run.fix("vectors", digest, f"the vectors of {settings['embeddings']}")
    else:
        columns = tables.columns_of(cells, leave_out=(target, *ignore), max_missing=settings["max_missing"])
        preparation = tables.Preparation(columns, str(path))
        features, notes = preparation.features_of(), [preparation.in_words()]
        roles, of_texts = {target: "labels"}, preparation.of_texts
    rows = Rows(
        path, target, frame, features, known, labels, seen, notes, lambda: features_in_words(cells, columns, roles),
        of_texts,
    )  # fmt: skip
    run.fix("rows", rows.fingerprint, f"the lines of {path.name}")
    return rows


def read_labels(cells: tables.Cells, target: str, classes: Sequence[str]) -> tuple[pd.DataFrame, np.ndarray, list[Any]]:
    """Return the cells with a column of labels, the labels that it gives, and all classes.

    Raises
    ------
    CommandError
        If a label is unknown, labels differ only in case, or fewer than two classes are known.
    """
    frame, path = cells.frame, cells.path
    if target not in frame.columns:
        frame = frame.assign(**{target: ""})
    # "nan" is no label, unless it is the name of a class
    labels = [None if tables.is_missing(cell) and not meant(cell, classes) else cell for cell in frame[target]]
    typed = classes_of([label for label in labels if label is not None], target, classes, path)
    return frame, _typed(labels, np.array(typed), frame.index, path, target), typed


def classes_of(given: Sequence[str], target: str, classes: Sequence[str], path: Path) -> list[Any]:
    """Return all classes: those that were named, else those of the labels that the file gives.

    Raises
    ------
    CommandError
        If labels differ only in case, or fewer than two classes are known.
    """
    if not classes:
        tables.refuse_continuous(given, target, path)
        alike = twins(given)
        if alike is not None:
            raise CommandError(
                f"column {target!r} of {path} holds {alike[0]!r} and {alike[1]!r}: name the classes with --classes, "
                "one of the two if they mean one class, both if they do not."
            )
    named = list(dict.fromkeys(classes or sorted(set(given))))
    if len(named) < 2:
        found = f"{path} has {'only ' + repr(named[0]) if named else 'no labels'} in column {target!r}"
        raise CommandError(f"name the classes with --classes A,B: {found}.")
    typed = tables.class_labels(named)
    if len(set(typed.tolist())) < len(named):
        raise CommandError(f"--classes {','.join(named)} names a class twice.")
    return typed.tolist()


def _typed(labels: list[str | None], classes: np.ndarray, lines: Any, path: Path, target: str) -> np.ndarray:
    """The labels of the file as the classes that they name."""
    known = classes.tolist()
    typed: list[Any] = []
    for line, label in zip(lines, labels, strict=True):
        places = [] if label is None else meant(label, known)
        if label is not None and len(places) != 1:
            raise CommandError(
                f"{path}, line {line}: the label {label!r} in column {target!r} is not one of the classes "
                f"{', '.join(map(str, known))}: {doubts(label, known, places)}."
            )
        typed.append(known[places[0]] if places else None)
    column = np.empty(len(typed), dtype=object)
    column[:] = typed
    return column
