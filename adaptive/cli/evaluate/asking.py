"""New systems are asked, round by round: of each the items that tell most, until the error is small enough.

A round is one query of each system. Its answers come from outside in any order and are on the disk at once; they are
learnt in the order of the query when the round is over, so that how long an answer took changes nothing. An item that
was not answered after all attempts is set aside. Where the first round brings no answer at all, or three items in a row
none, the command ends and the last are still open: something else is wrong then.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from adaptive.cli.errors import CommandError
from adaptive.cli.evaluate.transcript import Transcript, file_name
from adaptive.cli.job import Job, design_in
from adaptive.cli.outside import Asked, Reply
from adaptive.loop import MaxSteps, StoppingRule

if TYPE_CHECKING:
    from adaptive.cli.evaluate.calibration import Calibration, Way
    from adaptive.loop import SequentialDesign
    from adaptive.loop.query import Query

__all__ = ["Run", "ScoreError", "Wanted", "ask_all", "from_table", "opened"]

IN_A_ROW = 3  # items without an answer after which the command ends

Replies = Callable[[Sequence[Asked]], Iterable[tuple[int, Reply]]]


class ScoreError(StoppingRule):
    """Stop when the error of the score on all items is at most so many points."""

    def __init__(self, known: Calibration, points: float) -> None:
        self.known, self.points = known, points

    def __repr__(self) -> str:
        return f"ScoreError({self.points:g})"

    def fraction_done(self, design: SequentialDesign) -> float:
        if not design.iteration:
            return 0.0
        error = self.known.error(design.estimator_.predict_total().std, design.iteration)
        return 1.0 if error <= self.points else min(self.points / error, 1.0 - 1e-9)


@dataclass
class Run:
    """A system that is being asked."""

    name: str
    design: SequentialDesign
    transcript: Transcript
    most: int

    def query(self, batch: int) -> Query | None:
        """Return what is open, or the next items; None when this system is done."""
        from adaptive.pool import PoolExhausted

        if self.design.pending:
            return self.design.ask()
        left = min(self.most - self.design.iteration, self.design.n_left)
        if self.design.finished or left < 1:
            return None
        try:
            return self.design.ask(min(batch, left))
        except PoolExhausted:
            return None

    @property
    def aside(self) -> dict[str, str]:
        """Items that were set aside, and why."""
        open_ones = {label for query in self.design.pending for label in query.labels}
        return {item: why for item, why in self.transcript.problems.items() if item not in open_ones}


@dataclass(frozen=True)
class Wanted:
    """An item that waits for an answer."""

    system: str
    item: str
    text: str


def opened(
    job: Job, known: Calibration, names: Sequence[str], stack: ExitStack, *, points: float | None, way: Way
) -> list[Run]:
    """Begin the designs of these systems, or go on with them."""
    items, most = list(known.items), way.most
    same = way.first(known.respondent(), items, job.settings["seed"]) or None
    runs = []
    for name in names:
        rule: StoppingRule = MaxSteps(most)
        if points is not None:
            rule = ScoreError(known, points) | rule
        place = job.log / f"{file_name(name)}.jsonl"
        design = design_in(place, known.respondent(), items, stop=rule, initial=same, random_state=job.settings["seed"])
        stack.enter_context(design)
        runs.append(Run(name, design, Transcript(place.with_suffix(".answers.jsonl")), most))
    job.progress = lambda: f" after {sum(run.design.iteration for run in runs)} answers"
    return runs


def ask_all(
    runs: Sequence[Run], replies: Replies, known: Calibration, *, batch: int, texts: dict[str, str],
    say: Callable[[Run], None],
) -> list[Wanted]:  # fmt: skip
    """Ask until every system is done; return what nobody has answered yet, where answers come from a file.

    Parameters
    ----------
    runs : sequence of Run
    replies : callable(questions) -> iterable of (number of the question, reply)
        It may leave questions out: their query then waits.
    known : Calibration
    batch : int
        Items of a query.
    texts : dict of item to str
        What is asked, where it is known; else the name of the item.
    say : callable(run)
        Is called after every query that was answered.
    """
    in_a_row, started = 0, any(run.design.iteration for run in runs)
    while True:
        queries = [(run, query) for run in runs if (query := run.query(batch)) is not None]
        _fetch(queries, replies, texts)
        waiting = [
            Wanted(run.name, item, texts.get(item, item)) for run, query in queries for item in query.labels
            if item not in run.transcript.scores and item not in run.transcript.problems
        ]  # fmt: skip
        open_runs = {one.system for one in waiting}
        done = [(run, query) for run, query in queries if run.name not in open_runs]
        if not done:
            return waiting
        failed = [(run, item) for run, query in done for item in query.labels if item not in run.transcript.scores]
        answered = sum(len(query) for _, query in done) - len(failed)
        in_a_row = 0 if answered else in_a_row + len(failed)
        if failed and not answered and (not started or in_a_row >= IN_A_ROW):
            run, item = failed[-1]
            raise CommandError(
                f"{_times(in_a_row)} in a row got no answer, the last {item!r}: {run.transcript.problems[item]}", 1
            )
        started = True
        for run, query in done:
            _learn(run, query, known)
            say(run)


def _times(n: int) -> str:
    return "1 item" if n == 1 else f"{n} items"


def _fetch(queries: Iterable[tuple[Run, Query]], replies: Replies, texts: dict[str, str]) -> None:
    """Get what is missing of these queries into the transcripts."""
    missing = []
    for run, query in queries:
        for item in query.labels:
            if item not in run.transcript.scores:
                run.transcript.problems.pop(item, None)  # of an earlier call: it is tried again
                missing.append((run, item))
    questions = [Asked(texts.get(item, item), {"item": item, "system": run.name}) for run, item in missing]
    if not questions:
        return
    for k, reply in replies(questions):
        run, item = missing[k]
        run.transcript.write(item, reply)


def _learn(run: Run, query: Query, known: Calibration) -> None:
    """Tell the answers of a query in its order; set aside what has none."""
    for k, item in enumerate(query.labels):
        one = query.part(np.array([k], dtype=np.intp))
        if item in run.transcript.scores:
            run.design.tell(one, [known.scale.code(run.transcript.scores[item])])
        else:
            run.design.skip(one)


def from_table(scores: dict[tuple[str, str], float]) -> Replies:
    """Answers that stand in a table already."""

    def replies(questions: Sequence[Asked]) -> Iterator[tuple[int, Reply]]:
        for k, one in enumerate(questions):
            score: Any = scores.get((one.names["system"], one.names["item"]))
            if score is not None and not np.isnan(score):
                yield k, Reply(float(score), f"{score:g}", 0.0)

    return replies
