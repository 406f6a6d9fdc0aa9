"""The rows that are labelled, held in memory or left on disk, and the design that asks for their labels."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from adaptive.cli.errors import CommandError
from adaptive.cli.job import design_in
from adaptive.cli.label.rows import Rows, table_rows_of
from adaptive.cli.label.stored_rows import StoredRows, is_long, stored_rows_of
from adaptive.cli.run_folder import RunFolder

if TYPE_CHECKING:
    from adaptive.loop import SequentialDesign
    from adaptive.loop.stopping import StoppingRule

__all__ = ["AnyRows", "design_of", "model_of", "rows_of"]

AnyRows: TypeAlias = Rows | StoredRows


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
    return stored_rows_of(run) if long else table_rows_of(run)


def model_of(rows: AnyRows) -> Any:
    """Return a classifier that knows the classes and has learnt the labels of the file."""
    from adaptive.estimators import BayesianLogisticRegression

    model, known = BayesianLogisticRegression(classes=sorted(rows.classes)), rows.known()
    return model if known is None else model.partial_fit(*known)


def design_of(rows: AnyRows, log: Path, seed: int, stop: StoppingRule | None) -> SequentialDesign:
    """Begin or continue asking for the labels that the file does not give."""
    free = rows.free
    count = len(rows) if free is None else int(np.count_nonzero(free))
    if not count:
        raise CommandError(f"every row of {rows.path} has a label in column {rows.target!r}: nothing is left to ask.")
    first = 0 if count < len(rows) else min(len(rows.classes), count)
    return design_in(log, model_of(rows), rows.X, mask=free, initial=first or None, stop=stop, random_state=seed)
