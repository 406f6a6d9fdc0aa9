"""Who won is asked: of commands, of a person in the terminal, through a file; an answer is on disk before the next."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from adaptive.cli.asking import Question, ask_person
from adaptive.cli.errors import CommandError
from adaptive.cli.rank.buying import grouped, in_words
from adaptive.cli.rank.words import EXPECTED, outcome_of, said
from adaptive.cli.understanding import counted

if TYPE_CHECKING:
    from adaptive.cli.job import Job
    from adaptive.cli.outside import Outside, PythonFunction, ShellCommand
    from adaptive.loop import SequentialDesign

__all__ = ["ASKED", "ask_here", "ask_outside", "exchange_file", "judges_of"]

ASKED = "asked"  # who answers, without a name, beside judges who have one
MOST_FAILURES = 3  # one after the other: then it is not the pair


def judges_of(
    commands: Mapping[str, ShellCommand | PythonFunction], names: Sequence[str], ties: bool, jobs: int
) -> dict[str, Outside[str]]:
    """Judges outside, by name."""
    from adaptive.cli.outside import Outside

    known = set(names)
    return {judge: Outside(one, lambda text: said(text, known, ties), jobs=jobs) for judge, one in commands.items()}


def ask_outside(job: Job, design: SequentialDesign, judges: Mapping[str, Outside[str]], ties: bool) -> None:
    """Ask until the stopping rule holds; a pair of which nobody can tell is set aside, and said."""
    from adaptive.cli.outside import Asked
    from adaptive.loop import PoolExhausted

    job.progress = lambda: f" after {design.iteration} answers"
    failures = 0
    while not design.finished:
        try:
            query = design.ask()
        except PoolExhausted:
            print("Every pair was asked or set aside: nothing is left to ask.")
            return
        for judge, outside in judges.items():
            own = [k for k, label in enumerate(query.labels) if len(judges) == 1 or label[2] == judge]
            if not own:
                continue
            texts = [
                Asked(f"{left}\n{right}\n", {"left": left, "right": right, "judge": judge})
                for left, right in (query.labels[k][:2] for k in own)
            ]
            for place, reply in outside.replies(texts):
                part = query.part(np.array([own[place]], dtype=np.intp))
                left, right = part.labels[0][:2]
                outcome = None if reply.problem else outcome_of(reply.value, left, right, ties)
                if outcome is None:
                    problem = reply.problem or f"{reply.value!r} is neither of the two."
                    print(f"{left} or {right}: set aside; {problem}")
                    design.skip(part)
                    failures += 1
                    if failures == MOST_FAILURES:
                        raise CommandError(
                            f"{MOST_FAILURES} answers in a row did not come, the last since {problem.rstrip('.')}; "
                            f"when that is mended, continue with: {job.again('--resume')}", 1,
                        )  # fmt: skip
                    continue
                failures = 0
                design.tell(part, [outcome])
                print(f"{design.iteration}: {_in_words(left, right, outcome)}{_known(design)}", flush=True)


def ask_here(job: Job, design: SequentialDesign, ties: bool) -> None:
    """A person answers in the terminal."""

    def question(label: Any) -> Question:
        left, right = label[:2]
        even = next(word for word in ("tie", "a tie", "neither wins") if word not in (left, right))
        whose = "" if len(label) == 2 or label[2] == ASKED else f" ({label[2]})"
        return Question(f"{left} or {right}?{whose}", [left, right, *([even] if ties else [])], [1, -1, 0][: 2 + ties])

    ask_person(job, design, question, heading=lambda now: f"Comparison {now.iteration + 1}{_known(now)}")


def exchange_file(
    job: Job, design: SequentialDesign, path: Path, n: int, ties: bool,
    choose: Callable[[int, list[Any]], list[tuple[str, ...]]],
) -> None:  # fmt: skip
    """Learn the winners that stand in the file, and write the next comparisons below, until n wait.

    ``choose(n, waiting)`` says which.
    """
    from adaptive.files import write_csv

    columns = _read(path, len(design.pool[0]) > 2)
    ends = ("left", "right", "judge") if "judge" in columns else ("left", "right")
    waiting = {str(query.id): query for query in design.pending}
    learnt = 0
    asked: list[str]
    for number, winner, *asked in zip(
        columns["number"], columns["winner"], *(columns[one] for one in ends), strict=True
    ):
        query = waiting.get(number)
        if query is None or not winner:
            continue
        left, right, *who = query.labels[0]
        if asked != [left, right, *who]:
            raise CommandError(f"{path}: number {number} is {_asked(left, right, *who)}, not {_asked(*asked)}.")
        if winner == "?":
            design.skip(query)
            continue
        outcome = outcome_of(winner, left, right, ties)
        if outcome is None:
            even = "; to learn ties, start again with --ties" if outcome_of(winner, left, right) == 0 else ""
            expected = EXPECTED if ties else "a name, left or right"
            raise CommandError(
                f"{path}, number {number}: expected the winner ({expected}, or ?), got {winner!r}{even}."
            )
        design.tell(query, [outcome])
        learnt += 1
    missing = 0 if design.finished else n - len(design.pending)
    if missing > 0:
        job.doing = f"choosing {counted(missing, 'comparison')}"
        place = {label: k for k, label in enumerate(design.pool)}
        for one in choose(missing, [query.labels[0] for query in design.pending]):
            design.ask(positions=[place[one]], another=True)
    listed = set(columns["number"])
    for query in design.pending:
        if str(query.id) not in listed:
            for name, cell in zip(("number", *ends, "winner"), (str(query.id), *query.labels[0], ""), strict=True):
                columns[name].append(cell)
    write_csv(path, columns)
    lines = grouped([(query.labels[0], 0.0) for query in design.pending])
    print(f"{path}: {counted(learnt, 'answer')} learnt, {counted(len(design.pending), 'comparison')} "
          f"{'waits' if len(design.pending) == 1 else 'wait'}{_known(design)}.")  # fmt: skip
    if not design.finished and design.pending:
        print(f"to be answered: {in_words(lines, path.name)}")
        again = f"{job.again('--resume')} --answers {shlex.quote(str(path))}"
        expected = EXPECTED if ties else "a name, left or right"
        job.then(again, f"once its column winner is filled in ({expected}; ? if nobody can tell)")


def _asked(left: str, right: str, *who: str) -> str:
    return f"{left} or {right}{' for ' * bool(who)}{' '.join(who)}"


def _read(path: Path, judged: bool) -> dict[str, list[str]]:
    """Columns of the file; empty where there is none yet."""
    names = ("number", "left", "right", *(["judge"] if judged else []), "winner")
    if not path.exists():
        return {name: [] for name in names}
    from adaptive.cli.rank.tables import cells_of
    from adaptive.tables import TableError

    cells = cells_of(path)
    try:
        cells.require(*names)
    except TableError as problem:
        raise CommandError(
            f"{str(problem).rstrip('.')}; --answers names a file that this command has written."
        ) from None
    return {name: cells.frame[name].tolist() for name in names}


def _in_words(left: str, right: str, outcome: int) -> str:
    return (
        f"{left} and {right} tie"
        if not outcome
        else f"{left} beats {right}"
        if outcome > 0
        else f"{right} beats {left}"
    )


def _known(design: SequentialDesign) -> str:
    if not hasattr(design.estimator_, "belief_"):
        return ""
    target: Any = design.target
    if str(target).startswith("top-"):
        what = f"who the best {target.removeprefix('top-')} are"
    else:
        what = {"order": "the order", 1: "the best"}.get(target, f"the order of the best {target}")
    return f"; {what} is known with probability {design.estimator_.order(target)[1]:.2f}"
