"""A table of which some rows have a label, and the design that asks for others."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from adaptive.cli import tables
from adaptive.cli.errors import CommandError

if TYPE_CHECKING:
    import pandas as pd

    from adaptive.loop import SequentialDesign
    from adaptive.loop.stopping import StoppingRule

__all__ = ["Rows", "design_of", "read_labels", "read_rows"]

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


def read_rows(
    path: Path,
    target: str,
    classes: Sequence[str],
    *,
    show: Sequence[str] = (),
    ignore: Collection[str] = (),
    max_missing: float = 0.5,
) -> Rows:
    """Read a table of which some, all or no rows are labelled yet.

    Parameters
    ----------
    path : Path
    target : str
        Name of the column of labels.
    classes : sequence of str
        What may be answered; empty: those that stand in the file.
    show : sequence of str
        Columns that people see; empty: all, the first twenty of more.
    ignore : collection of str
        Columns that are no features.
    max_missing : float in [0, 1]

    Raises
    ------
    CommandError
        If the file is no table, a label is unknown, or fewer than two classes are known.
    """
    cells = tables.read_cells(path)
    cells.require((*show, *ignore), path)
    frame, known, labels = read_labels(cells, path, target, classes)
    columns = tables.columns_of(cells, path, leave_out=(target, *ignore), max_missing=max_missing)
    preparation = tables.Preparation(columns, str(path))
    seen = list(show) or [name for name in frame.columns if name != target][:MOST_SHOWN]
    notes = [preparation.in_words()]
    return Rows(path, target, frame, preparation.features_of(), known, labels, seen, notes)


def read_labels(
    cells: tables.Cells, path: Path, target: str, classes: Sequence[str]
) -> tuple[pd.DataFrame, np.ndarray, list[Any]]:
    """Return the cells with a column of labels, the labels that it gives, and all classes.

    Raises
    ------
    CommandError
        If a label is unknown, or fewer than two classes are known.
    """
    frame = cells.frame
    if target not in frame.columns:
        frame = frame.assign(**{target: ""})
    labels = [None if tables.is_missing(cell) else cell for cell in frame[target]]
    given = [label for label in labels if label is not None]
    if not classes:
        tables.refuse_continuous(given, target, path)
    named = list(dict.fromkeys(classes or sorted(set(given))))
    if len(named) < 2:
        found = f"{path} has {'only ' + repr(named[0]) if named else 'no labels'} in column {target!r}"
        raise CommandError(f"name the classes with --classes A,B: {found}.")
    typed = tables.class_labels(named)
    if len(set(typed.tolist())) < len(named):
        raise CommandError(f"--classes {','.join(named)} names a class twice.")
    return frame, _typed(labels, typed, frame.index, path, target), typed.tolist()


def design_of(rows: Rows, log: Path, seed: int, stop: StoppingRule | None) -> SequentialDesign:
    """Begin or continue asking for the labels that the file does not give; a CommandError if the log is another's."""
    from adaptive.loop import LogError, SequentialDesign

    free = ~rows.labelled
    if not free.any():
        raise CommandError(f"every row of {rows.path} has a label in column {rows.target!r}: nothing is left to ask.")
    try:
        if log.exists() and log.stat().st_size:
            return SequentialDesign.load(log, rows.model(), rows.X, mask=free, stop=stop)
        first = 0 if rows.labelled.any() else min(len(rows.classes), int(free.sum()))
        return SequentialDesign(
            rows.model(), rows.X, mask=free, initial=first or None, stop=stop, random_state=seed, log=log
        )
    except LogError as problem:
        raise CommandError(str(problem)) from problem


def _typed(labels: list[str | None], classes: np.ndarray, lines: Any, path: Path, target: str) -> np.ndarray:
    """The labels of the file as the classes that they name."""
    known = {str(one): one for one in classes.tolist()}
    typed: list[Any] = []
    for line, label in zip(lines, labels, strict=True):
        text = None if label is None else str(tables.class_labels([label])[0]) if classes.dtype.kind == "i" else label
        if text is not None and text not in known:
            raise CommandError(
                f"{path}, line {line}: the label {label!r} in column {target!r} is not one of the classes "
                f"{', '.join(known)}."
            )
        typed.append(None if text is None else known[text])
    column = np.empty(len(typed), dtype=object)
    column[:] = typed
    return column
