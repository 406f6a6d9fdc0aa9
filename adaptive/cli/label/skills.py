"""``adaptive label --skills``: whom a row is chosen for, and whose an answer is.

A candidate of the design is a row and a place for a person. Files have one line per row, which anybody may fill in: the
place that it was chosen for is the design's guess, and the answer is its annotator's own.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from adaptive.cli.asking import ask_person
from adaptive.cli.errors import CommandError
from adaptive.cli.job import Job
from adaptive.cli.label.asked_rows import TABLE
from adaptive.cli.label.people import columns_of, question_of, read_answers, refuse_answers, what_to_do
from adaptive.cli.understanding import counted
from adaptive.labelling.candidates import Candidates
from adaptive.labelling.standing import Standing

if TYPE_CHECKING:
    from adaptive.cli.label.rows import Rows
    from adaptive.labelling.answers import Answer
    from adaptive.loop import SequentialDesign

__all__ = ["HERE", "SOMEBODY", "ask_here", "learn_people", "places_of", "write_lines"]

HERE, SOMEBODY = "here", "somebody"  # who answers in the terminal, and in a file without names


def places_of(design: SequentialDesign, rows: Rows) -> Candidates:
    """Return who has which place, as the log says."""
    return Candidates(design, len(rows), first=TABLE + 1)


def ask_here(job: Job, design: SequentialDesign, rows: Rows, name: str) -> None:
    """Show row after row to one person; every answer is on disk before the next."""
    candidates = places_of(design, rows)
    first = candidates.position(0, name)
    if first is None:
        taken = ", ".join(who for who in candidates.places if who != name)
        raise CommandError(
            f"--skills {candidates.n_places - 1} has no place left for {name}: {taken} have them; answer as one of "
            "them with --annotator NAME, or begin another run with more."
        )
    place = first % candidates.n_places

    def heading(now: SequentialDesign) -> str:
        position = next(int(query.positions[0]) for query in now.pending if query.worker == place)
        done = "" if now.stop is None else f", {now.stop.fraction_done(now):.0%} done"  # type: ignore[attr-defined]
        line = rows.line(candidates.row(position))
        return f"Question {len(now.history_['step']) + 1} for {name}{_believed(now, rows)}{done} (line {line})"

    def question(label: tuple[int, int]) -> Any:
        return question_of(rows, label[0])

    ask_person(job, design, question, heading=heading, place=place, name=name)


def write_lines(design: SequentialDesign, rows: Rows, path: Path, n: int, *, another: bool, tell: str) -> str:
    """Write the rows to label next, one line each, and say what to do with them.

    They are chosen for those who have answered before, in equal shares; at first for whoever comes.
    """
    from adaptive.labelling.label_studio import write_listed as write_tasks
    from adaptive.labelling.table import FILLED
    from adaptive.labelling.table import write_listed as write_table
    from adaptive.labelling.tasks import PERSON, tasks

    refuse_answers(path, tell, rows)
    candidates = places_of(design, rows)
    waiting = len(candidates.open())
    wanted = n + waiting if another else max(n, waiting)
    if waiting < wanted and design.finished:
        return "The stopping rule holds: no further rows are asked."
    _ask(design, candidates, wanted)
    if not candidates.open():
        return "Every row was asked or set aside: nothing is left to ask."
    names = {place: who for who, place in candidates.places.items()}
    lines: dict[int, dict[str, Any]] = {}  # by row: of two people who wait for the same, the first
    for task in tasks(design, columns_of(rows, PERSON), FILLED):
        row = candidates.row(task["position"])
        lines.setdefault(row, {**task, "position": row, "id": row, PERSON: names.get(task[PERSON], "")})
    write = write_tasks if path.suffix == ".json" else write_table
    write(list(lines.values()), path)
    who = "completed_by names the annotator" if path.suffix == ".json" else "and the column 'annotator' with a name"
    return what_to_do(path, rows, len(lines), waiting, tell, f", {who}")


def _ask(design: SequentialDesign, candidates: Candidates, wanted: int) -> None:
    """Ask until so many rows wait, or none is left to those whom they are chosen for."""
    known = candidates.known(candidates.places) or [candidates.free()]
    while (missing := wanted - len(candidates.open())) > 0:
        before = missing
        for k, place in enumerate(known):
            open_ = candidates.of_rows({*candidates.open()})
            share = min(-(-missing // (len(known) - k)), _left(design, place, open_))
            if share:
                design.ask(share, another=True, worker=place, exclude=open_)
                missing -= share
        if missing == before:
            return


def _left(design: SequentialDesign, place: int, exclude: np.ndarray) -> int:
    """The number of rows that a person may still be asked."""
    allowed = design.pool.asked_of(place) & design.mask
    allowed[design.excluded()] = False
    allowed[exclude] = False
    return int(np.count_nonzero(allowed))


def learn_people(design: SequentialDesign, rows: Rows, path: Path, name: str) -> str:
    """Learn what each person says in a filled file, once however often it is read, and say what it came to.

    A line that somebody has filled in waits no longer, whomever it was chosen for.
    """
    from adaptive import labelling

    candidates, standing = places_of(design, rows), Standing(design)
    before = {said.position for said in standing.said}
    try:
        read = read_answers(path, rows)
        open_ = [one for one in read if not 0 <= one.position < len(rows) or rows.label_of(one.position) is None]
        asked = {number: {*event["positions"]} for number, event in standing.asked.items()}
        placed = [_placed(one, rows, candidates, asked, name) for one in open_]
        own = [one for one in placed if one is not None]
        imported = labelling.tell(design, own, classes=rows.classes)
    except (ValueError, OSError) as problem:
        raise CommandError(str(problem)) from None
    aside = _settle(design, candidates, own, before)
    told = [one for one in Standing(design).said if one.position not in before]
    by = Counter(str(one.who) for one in told)
    parts = [f"{path.name}: {counted(imported.learnt, 'answer')} learnt"]
    parts[0] += f" ({', '.join(f'{n} of {who}' for who, n in by.items())})" if by else ""
    parts += [f"{len(imported.corrected)} corrected"] if imported.corrected else []
    parts += [f"{imported.known} known already"] if imported.known else []
    parts += [f"{len(read) - len(open_)} left out, since the table has a label there"] if len(open_) < len(read) else []
    if len(own) < len(open_):
        late = dict.fromkeys(one.annotator or name for one, found in zip(open_, placed, strict=True) if found is None)
        taken = f"all places of --skills {candidates.n_places - 1} are taken"
        parts += [f"{len(open_) - len(own)} of {', '.join(late)} left out, since {taken}"]
    parts += [f"{aside + len(imported.skipped)} set aside"] if aside or imported.skipped else []
    waiting = len(candidates.open())
    parts += [f"{counted(waiting, 'row')} still {'waits' if waiting == 1 else 'wait'}"] if waiting else []
    return ", ".join(parts) + "."


def _placed(answer: Answer, rows: Rows, candidates: Candidates, asked: dict[int, set[int]], name: str) -> Answer | None:
    """An answer about a row at the place of its annotator; None where none is left.

    Raises
    ------
    ValueError
        If the table has no such row, its id is another one's, or the query did not ask about it.
    """
    row, who = answer.position, answer.annotator or name
    if not 0 <= row < len(rows):
        raise ValueError(f"{answer.where}: the position must be from 0 to {len(rows) - 1}, got {row}.")
    if answer.id not in (None, "") and _number(answer.id) != row:
        raise ValueError(f"{answer.where}: the id is {answer.id!r}, but the position {row}; were columns sorted apart?")
    of_query = asked.get(-1 if answer.query is None else answer.query, set())
    if answer.query is not None and row not in map(candidates.row, of_query):
        raise ValueError(
            f"{answer.where}: query {answer.query} never asked position {row}, so its answer is not taken; is it of "
            "another design?"
        )
    position = candidates.position(row, who)
    if position is None:
        return None
    query = answer.query if position in of_query else None  # chosen for somebody else: nobody asked this person
    return answer._replace(position=position, id=None, query=query, annotator=who)


def _number(text: Any) -> float | None:
    """The number that an id is, as spreadsheets write it: 7, 7.0 or 7,0."""
    try:
        return float(str(text).replace(",", "."))
    except ValueError:
        return None


def _settle(design: SequentialDesign, candidates: Candidates, answers: list[Answer], before: set[int]) -> int:
    """Let lines that were filled in wait no longer; return how many people could not tell of rows chosen for others."""
    said = {one.position for one in Standing(design).said}
    closed = said | {*design.excluded().tolist()}
    aside = {one.position: str(one.annotator) for one in answers if one.skipped and one.position not in closed}
    for position, who in aside.items():  # else this person may be asked again
        design.skip(design.ask(positions=[position], worker=who))
    filled = {candidates.row(position) for position in (*aside, *(said - before))}
    for query in design.pending:
        rows = [k for k, position in enumerate(query.positions.tolist()) if candidates.row(position) in filled]
        if rows:
            design.skip(query.part(np.array(rows)))
    return len(aside)


def _believed(design: SequentialDesign, rows: Rows) -> str:
    """The model's word on itself, once there are answers."""
    if not design.history_["step"] and rows.known() is None:
        return ""
    right = float(design.estimator_.predict_proba(rows.X).max(axis=1).mean())
    return f", the model believes to be right on {right:.0%} of the rows"
