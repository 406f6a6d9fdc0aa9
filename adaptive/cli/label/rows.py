"""A table of which some rows have a label, and the design that asks for others."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from adaptive import tables
from adaptive.cli.errors import CommandError
from adaptive.cli.job import design_in
from adaptive.cli.run_folder import RunFolder
from adaptive.labelling.naming import doubts, meant, twins

if TYPE_CHECKING:
    import pandas as pd

    from adaptive.loop import SequentialDesign
    from adaptive.loop.stopping import StoppingRule

__all__ = ["Rows", "design_of", "names_of", "read_labels", "rows_of"]

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
    """

    path: Path
    target: str
    cells: pd.DataFrame
    X: Any
    y: np.ndarray
    classes: list[Any]
    shown: list[str]
    notes: list[str]

    @property
    def labelled(self) -> np.ndarray:
        """(n,) booleans: which rows have a label in the file."""
        return np.array([label is not None for label in self.y], dtype=bool)

    @property
    def fingerprint(self) -> str:
        return hashlib.sha256(self.path.read_bytes()).hexdigest()

    def model(self) -> Any:
        """A classifier that knows the classes and has learnt the labels of the file."""
        from adaptive.estimators import BayesianLogisticRegression

        model, known = BayesianLogisticRegression(classes=sorted(self.classes)), np.flatnonzero(self.labelled)
        if known.size:
            model.partial_fit(self.X[known], np.array(self.y[known].tolist()))
        return model


def names_of(classes: str | None) -> list[str]:
    """Return the classes that --classes names, none without it."""
    return [one.strip() for one in (classes or "").split(",") if one.strip()]


def rows_of(run: RunFolder) -> Rows:
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
    columns = tables.columns_of(cells, leave_out=(target, *ignore), max_missing=settings["max_missing"])
    preparation = tables.Preparation(columns, str(path))
    seen = show or [name for name in frame.columns if name != target][:MOST_SHOWN]
    rows = Rows(path, target, frame, preparation.features_of(), known, labels, seen, [preparation.in_words()])
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
    given = [label for label in labels if label is not None]
    if not classes:
        tables.refuse_continuous(given, target, path)
        alike = twins(given)
        if alike is not None:
            raise CommandError(
                f"column {target!r} of {path} holds {alike[0]!r} and {alike[1]!r}: name the classes with --classes, "
                "one of the two where they are the same, both where they are not."
            )
    named = list(dict.fromkeys(classes or sorted(set(given))))
    if len(named) < 2:
        found = f"{path} has {'only ' + repr(named[0]) if named else 'no labels'} in column {target!r}"
        raise CommandError(f"name the classes with --classes A,B: {found}.")
    typed = tables.class_labels(named)
    if len(set(typed.tolist())) < len(named):
        raise CommandError(f"--classes {','.join(named)} names a class twice.")
    return frame, _typed(labels, typed, frame.index, path, target), typed.tolist()


def design_of(rows: Rows, log: Path, seed: int, stop: StoppingRule | None) -> SequentialDesign:
    """Begin or continue asking for the labels that the file does not give."""

    free = ~rows.labelled
    if not free.any():
        raise CommandError(f"every row of {rows.path} has a label in column {rows.target!r}: nothing is left to ask.")
    first = 0 if rows.labelled.any() else min(len(rows.classes), int(free.sum()))
    return design_in(log, rows.model(), rows.X, mask=free, initial=first or None, stop=stop, random_state=seed)


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
