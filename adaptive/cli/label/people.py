"""Questions to people and answers from them: in the terminal, as CSV files, as tasks of Label Studio."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from adaptive.cli.asking import Question, ask_person
from adaptive.cli.errors import CommandError
from adaptive.cli.job import Job
from adaptive.cli.understanding import counted

if TYPE_CHECKING:
    from adaptive.cli.label.asked_rows import AnyRows
    from adaptive.loop import SequentialDesign

__all__ = [
    "ask_in_terminal",
    "columns_of",
    "learn_file",
    "question_of",
    "read_answers",
    "refuse_answers",
    "what_to_do",
    "write_questions",
]

_OWN = ("query", "position", "id", "score", "answer", "annotator", "line")  # columns of a file of questions


def ask_in_terminal(job: Job, design: SequentialDesign, rows: AnyRows) -> None:
    """Show row after row; every answer is on disk before the next."""

    def heading(now: Any) -> str:
        done = "" if now.stop is None else f", {now.stop.fraction_done(now):.0%} done"
        line = rows.line(int(now.pending[0].positions[0]))
        return f"Question {len(now.history_['step']) + 1}{_believed(now, rows)}{done} (line {line})"

    ask_person(job, design, lambda position: question_of(rows, position), heading=heading)


def question_of(rows: AnyRows, position: int) -> Question:
    """Return a row as people see it, with its labels."""
    lines = [f"  {name}: {cell}" for name, cell in rows.seen(position).items()]
    return Question("\n".join(lines), [str(label) for label in rows.classes], list(rows.classes))


def write_questions(design: SequentialDesign, rows: AnyRows, path: Path, n: int, *, another: bool, tell: str) -> str:
    """Write the rows to label next, a table (.csv) or tasks of Label Studio (.json), and say what to do with them.

    A file that holds answers is left alone, so that none is lost.
    """
    from adaptive import labelling
    from adaptive.loop import PoolExhausted

    refuse_answers(path, tell, rows)
    waiting = sum(map(len, design.pending))
    wanted = n + waiting if another else max(n, waiting)
    count = waiting
    while count < wanted:
        if design.finished:
            return "The stopping rule holds: no further rows are asked."
        try:
            count += len(design.ask(max(1, min(wanted - count, design.n_left)), another=True))
        except PoolExhausted:
            if not count:
                return "Every row was asked or set aside: nothing is left to ask."
            break
    write = labelling.write_label_studio if path.suffix == ".json" else labelling.write_csv
    write(design, path, data=columns_of(rows))
    return what_to_do(path, rows, count, waiting, tell)


def columns_of(rows: AnyRows, *own: str) -> dict[str, Any]:
    """Return the columns that people see in files; those that are called as a column of files are renamed."""
    columns = rows.columns()
    line = columns.pop("line")
    own = (*_OWN, *own)
    return {"line": line} | {f"table {name}" if name in own else name: part for name, part in columns.items()}


def what_to_do(path: Path, rows: AnyRows, count: int, waiting: int, tell: str, names: str = "") -> str:
    """Return what is to be done with a file of questions that was written."""
    again = f" ({waiting} of them waited already; --another asks for further ones)" if waiting else ""
    words = ", ".join(map(str, rows.classes))
    how = (
        f"import it into Label Studio (choices {words}), export as JSON"
        if path.suffix == ".json"
        else f"fill in the column 'answer' with {words}, or ? if nobody can tell"
    )
    return f"{path} holds {counted(count, 'row')} to label{again}: {how}{names}."


def learn_file(design: SequentialDesign, rows: AnyRows, path: Path) -> str:
    """Learn the answers of a filled file, each once however often it is read; of several to one row the majority."""
    from adaptive import labelling

    try:
        read = read_answers(path, rows)
        open_ = [one for one in read if not 0 <= one.position < len(rows) or rows.label_of(one.position) is None]
        imported = labelling.tell(design, open_, classes=rows.classes, combine="majority")
    except (ValueError, OSError) as problem:
        raise CommandError(str(problem)) from None
    parts = [f"{path.name}: {counted(imported.learnt, 'answer')} learnt"]
    parts[0] += f" ({len(imported.volunteered)} to rows that were not asked)" if imported.volunteered else ""
    parts += [f"{len(imported.corrected)} corrected"] if imported.corrected else []
    parts += [f"{imported.known} known already"] if imported.known else []
    parts += [f"{len(read) - len(open_)} left out, since the table has a label there"] if len(open_) < len(read) else []
    parts += [f"{counted(len(imported.skipped), 'row')} set aside"] if imported.skipped else []
    parts += [f"{counted(len(imported.tied), 'row')} without a majority"] if imported.tied else []
    parts += (
        [f"{counted(len(imported.waiting), 'row')} still {'waits' if len(imported.waiting) == 1 else 'wait'}"]
        if imported.waiting
        else []
    )
    return ", ".join(parts) + "."


def read_answers(path: Path, rows: AnyRows) -> list[Any]:
    """Return the answers of a filled table, or of an export of Label Studio.

    Of a project that was not made here, rows are found by what they show.
    """
    from adaptive import labelling

    if path.suffix != ".json":
        return labelling.read_csv(path, classes=rows.classes)

    def position(data: dict[str, Any]) -> int | None:
        own = data.get("position")
        return int(str(own)) if "query" in data and str(own).isdecimal() else rows.position_of(data)

    return labelling.read_label_studio(path, position=position)


def _believed(design: SequentialDesign, rows: AnyRows) -> str:
    predictive = design.estimator_.predictive(rows.sample())
    if predictive.undecided:
        return ""
    return f", the model believes to be right on {np.max(predictive.probabilities, axis=1).mean():.0%} of the rows"


def refuse_answers(path: Path, tell: str, rows: AnyRows) -> None:
    """Refuse a file that people have filled in: it is to be told first."""
    if not path.exists():
        return
    from adaptive import labelling

    try:
        if path.suffix == ".json":
            filled = any("annotations" in task for task in json.loads(path.read_text(encoding="utf-8-sig")))
        else:
            filled = bool(labelling.read_csv(path, classes=rows.classes))
    except (ValueError, TypeError, OSError, RecursionError):
        raise CommandError(f"{path} is there already and is no file of questions; name another with --ask.") from None
    if filled:
        raise CommandError(
            f"{path} holds answers: learn them first ({tell} {shlex.quote(str(path))}), and name another file with "
            "--ask for the next questions."
        )
