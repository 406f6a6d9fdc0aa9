"""The rows that are labelled, held in memory or left on disk, and the design that asks for their labels."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from adaptive.cli.errors import CommandError
from adaptive.cli.job import design_in
from adaptive.cli.label.classifier import classifier_of
from adaptive.cli.label.rows import Rows, table_rows_of
from adaptive.cli.label.stored_rows import StoredRows, is_long, stored_rows_of
from adaptive.cli.run_folder import RunFolder
from designs.pool import Annotated

if TYPE_CHECKING:
    from adaptive.loop import SequentialDesign
    from adaptive.loop.stopping import StoppingRule

__all__ = ["TABLE", "AnyRows", "design_of", "model_of", "of_people", "rows_of"]

AnyRows: TypeAlias = Rows | StoredRows
TABLE = 0  # the place whose labels stand in the table; people have 1, 2, ...


def rows_of(run: RunFolder) -> AnyRows:
    """Read the table of a run and fix its content; a long Parquet file stays where it is.

    Raises
    ------
    CommandError, TableError
        If the file is no table, a label is unknown, or fewer than two classes are known.
    """
    long = is_long(Path(run.settings["table"]))
    if long and run.settings.get("embeddings"):
        raise CommandError(
            "--embeddings goes with tables of up to 4,000,000 cells; leave the vectors in the file instead."
        )
    if long and run.settings.get("skills"):
        raise CommandError("--skills goes with tables of up to 4,000,000 cells, which are held in memory.")
    return stored_rows_of(run) if long else table_rows_of(run)


def model_of(rows: AnyRows) -> Any:
    """Return a classifier that knows the classes and has learnt the labels of the file."""
    model, known = classifier_of(rows.classes, rows.X if rows.of_texts else None), rows.known()
    return model if known is None else model.partial_fit(*known)


def of_people(rows: Rows, X: Any, skills: int) -> tuple[Any, Annotated, np.ndarray]:
    """Return what a design takes whose candidates are a row and a place for a person: model, pairs and mask.

    The labels of the table are taken for the truth: they are told as those of a place that is never wrong.
    """
    pairs = Annotated(X, range(skills + 1))
    model = classifier_of(rows.classes, rows.X if rows.of_texts else None, annotators={TABLE: 1.0})
    known = rows.labels()
    if known:
        model.partial_fit(pairs.of(list(known), [TABLE] * len(known)), np.array(list(known.values())))
    return model, pairs, ~rows.labelled[pairs.rows] & ~pairs.asked_of(TABLE)


def design_of(rows: AnyRows, log: Path, seed: int, stop: StoppingRule | None, skills: int = 0) -> SequentialDesign:
    """Begin or continue asking for the labels that the file does not give; ``skills``: of so many people at most."""
    free = rows.free
    count = len(rows) if free is None else int(np.count_nonzero(free))
    if not count:
        raise CommandError(f"every row of {rows.path} has a label in column {rows.target!r}: nothing is left to ask.")
    if skills and isinstance(rows, Rows):
        model, pairs, allowed = of_people(rows, rows.X, skills)
        return design_in(log, model, pairs, mask=allowed, stop=stop, random_state=seed)
    first = 0 if count < len(rows) else min(len(rows.classes), count)
    return design_in(log, model_of(rows), rows.X, mask=free, initial=first or None, stop=stop, random_state=seed)
