"""Queries as a CSV file with an empty column "answer", and the filled file back."""

from __future__ import annotations

import csv
import io
import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from adaptive.files import write_file
from adaptive.labelling.answers import Answer
from adaptive.labelling.naming import meant
from adaptive.labelling.tasks import FIELDS, tasks
from adaptive.tables import TableFile, is_missing

if TYPE_CHECKING:
    from adaptive.loop.sequential_design import SequentialDesign
    from adaptive.types import Pool

__all__ = ["FILLED", "read_csv", "write_csv", "write_listed"]

FILLED = ("answer", "annotator")


def write_csv(
    design: SequentialDesign, path: str | os.PathLike[str], *, data: Pool | Mapping[str, Any] | None = None
) -> None:
    """Write the candidates that wait for answers.

    The columns are query, position, id, score, those of ``data``, and the empty ones answer and annotator. Where
    candidates are pairs of a row and a person (`designs.pool.Annotated`) position and id are those of the pair, and a
    column "for" says whom it was chosen for; somebody else may answer (see ``tell``).

    Parameters
    ----------
    design : SequentialDesign over a fixed pool
    path : path
        An existing file is replaced.
    data : frame, mapping of columns, or sequence, each as long as the pool, optional
        What people are to see; by default what is readable in the pool itself. Of pairs as long as their table.

    Raises
    ------
    ValueError
        If nothing waits, or ``data`` does not fit the pool.

    Examples
    --------
    >>> import tempfile
    >>> from adaptive import BayesianLogisticRegression, SequentialDesign
    >>> model = BayesianLogisticRegression(classes=["no", "yes"])
    >>> design = SequentialDesign(model, [[0.0], [1.0], [2.0]], initial=[2], random_state=0)
    >>> query = design.ask()
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_csv(design, Path(folder) / "next.csv")
    ...     print((Path(folder) / "next.csv").read_text().splitlines()[0])
    query,position,id,score,answer,annotator
    """
    write_listed(tasks(design, data, FILLED), path)


def write_listed(listed: Sequence[Mapping[str, Any]], path: str | os.PathLike[str]) -> None:
    """Write tasks as the lines of a file whose last columns people fill in."""
    text = io.StringIO()
    writer = csv.DictWriter(text, [*listed[0], *FILLED], restval="", lineterminator="\n")
    writer.writeheader()
    writer.writerows(listed)
    write_file(Path(path), text.getvalue())


def read_csv(path: str | os.PathLike[str], *, skip: str = "?", classes: Sequence[Any] = ()) -> list[Answer]:
    """Read the answers of a filled file; rows without an answer are left out.

    Parameters
    ----------
    path : path
        As spreadsheets and pandas write it back (`adaptive.tables.read_cells` says what is read; 12.0 for 12). Columns
        "position" and "answer" are needed, "id", "query" and "annotator" are used where they are there; more than one
        row may answer the same position.
    skip : str, default "?"
        The answer of somebody who cannot tell: the candidate is set aside.
    classes : sequence of labels, default none
        Where one of them is called "nan" or as ``skip``, that cell is an answer; "nan" is an empty cell otherwise.

    Returns
    -------
    list of Answer
        In the order of the file.

    Raises
    ------
    ValueError
        If the file is not such a table; file and line are named.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "filled.csv"
    ...     _ = path.write_text("position,answer,annotator\\n4,yes,Anna\\n9,?,Anna\\n")
    ...     [(one.position, one.outcome, one.skipped) for one in read_csv(path)]
    [(4, 'yes', False), (9, '?', True)]
    """
    file = TableFile(path)
    file.require("position", "answer")
    rows = ((f"{file.path.name}, line {line}", dict(zip(file.header, row, strict=True))) for line, row in file.rows())
    own = [one for one in ("nan", "<na>", skip) if meant(one, classes)]  # what reads as nothing, and is a label here
    given = ((where, row) for where, row in rows if not is_missing(row["answer"]) or meant(row["answer"], own))
    return [_answer(row, where, None if skip in own else skip) for where, row in given]


def _answer(row: dict[str, Any], where: str, skip: str | None) -> Answer:
    text = row["answer"].strip()
    return Answer(
        position=_whole(row["position"], "position", where),
        outcome=text,
        id=row.get(FIELDS[2]),
        query=_whole(row["query"], "query", where) if row.get("query") else None,
        annotator=_person(row.get("annotator") or ""),
        skipped=text == skip,
        where=where,
    )


def _person(text: str) -> str | None:
    """A name; a number that a program wrote beside gaps (7.0) is the number."""
    name = re.sub(r"^(\d+)[.,]0+$", r"\1", text.strip())
    return None if is_missing(name) else name


def _whole(text: str | None, column: str, where: str) -> int:
    try:
        number = float((text or "").replace(",", "."))
    except ValueError:
        number = 0.5
    if number % 1:
        raise ValueError(f"{where}: {column} must be a whole number, got {text!r}.")
    return int(number)
