"""A design that follows a Label Studio: what was said there is learnt, and the tasks that teach most are shown next.

    open queries of the design   =   tasks that carry a prediction of our model version
    what stands there            =   what stands in the log          after every look

Label Studio shows tasks with such a prediction before all others, so which tasks have one is all that it need be told.
Nothing depends on hearing of every event: a look compares what stands at both places, and takes back or tells the
difference. So annotations that were made, changed or deleted while nobody looked do no harm, nor does a look cut short.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

import numpy as np

from adaptive import pool as pools
from adaptive.labelling.answers import Answer
from adaptive.labelling.candidates import Candidates
from adaptive.labelling.label_studio_export import Export
from adaptive.labelling.reconciling import reconcile
from adaptive.labelling.standing import Standing
from adaptive.labelling.studio.client import LabelStudio, StudioAway, StudioError

if TYPE_CHECKING:
    from adaptive.estimators.linear.annotators.rates import Skill
    from adaptive.loop.sequential_design import SequentialDesign
    from adaptive.types import ArrayLike

__all__ = ["Live", "Looked"]

EVERYTHING = 60.0  # seconds after which all answers are read again, whatever was heard
SLACK = 5.0  # seconds by which a change may appear later than its time: transactions overlap
AT_WORK = 60.0  # seconds after an answer during which the next one is looked for more often
RECENT = 600.0  # seconds during which somebody who answered counts as present
REFUSED = 3  # looks in a row
DOUBT = 2  # so many people could not tell: the task is set aside for everybody


@dataclass
class Looked:
    """Outcome of a look.

    Attributes
    ----------
    learnt, corrected : int
        Answers that are new; that were taken back or changed.
    open : tuple of int
        Numbers of the tasks that are shown next.
    answers, people : int
        How many stand, and of how many people.
    begun : bool
        Whether the tasks have changed, and the design was begun anew with the answers that stand.
    finished : bool
        Whether the stopping rule holds, or no task is left.
    left_out : dict
        Reasons for which answers are not used, with the tasks.

    Examples
    --------
    >>> Looked(learnt=1, open=(7, 12), answers=31, people=2).finished
    False
    """

    learnt: int = 0
    corrected: int = 0
    open: tuple[int, ...] = ()
    answers: int = 0
    people: int = 0
    begun: bool = False
    finished: bool = False
    left_out: dict[str, list[int]] = field(default_factory=dict)


class Live:
    """Keeps a design and a project of Label Studio in step.

    Parameters
    ----------
    studio : LabelStudio
    begin : callable(tasks) -> SequentialDesign
        Makes or continues the design whose candidates are these tasks, in their order: ``tasks`` maps their numbers to
        their data. Called again when tasks were imported or deleted; the answers that stand are told to what it
        returns. Its estimator has class probabilities for ``studio.classes``. It has ``repeat=True``; or its candidates
        are pairs (`designs.pool.Annotated`) of a task and one of the places 0, 1, ... for people, whose skills are
        learnt.
    ahead : int, default 3
        So many tasks at least are open at once; more where several people are at work, or answers come fast.
    version : str, default "adaptive"
        Of the model, as Label Studio calls it.
    show : bool, default False
        Whether people see the predicted label; those who do are inclined to agree.

    Attributes
    ----------
    design : SequentialDesign
    tasks : list of int
        The number of the task at each position.

    Notes
    -----
    Label Studio decides who is shown a task, so of pairs the task is what counts: it is open for everybody, and the
    answer is told as that of the person who gave it. A place is given to the person who answers first; beyond the last
    one answers are left out.

    A task that somebody skips is left to others, and is set aside when two people, or all there are, have skipped it.
    Where Label Studio wants several people for a task, the tasks that were begun come first: that is its own order.

    Examples
    --------
    >>> def begin(tasks):  # one log for each set of tasks
    ...     X = [[len(data["text"])] for data in tasks.values()]
    ...     return SequentialDesign(model, X, repeat=True, log=folder / f"{len(tasks)}.jsonl")
    >>> Live(LabelStudio("http://localhost:8080", 3, token), begin).follow()  # doctest: +SKIP
    """

    def __init__(
        self,
        studio: LabelStudio,
        begin: Callable[[dict[int, dict[str, Any]]], SequentialDesign],
        *,
        ahead: int = 3,
        version: str = "adaptive",
        show: bool = False,
    ) -> None:
        self.studio, self.ahead, self.version, self.show = studio, ahead, version, show
        self._begin = begin
        self._design: SequentialDesign | None = None
        self.tasks: list[int] = []
        self._row: dict[int, int] = {}  # of a task
        self._heard: dict[str, float] = {}  # when somebody last answered
        self._used: deque[int] = deque(maxlen=20)  # answers that came between looks
        self._nudge, self._stopped = threading.Event(), threading.Event()
        self._forget()

    def _forget(self) -> None:
        """Trust nothing that was read before: the next look reads everything."""
        self._there: dict[int, list[dict[str, Any]]] | None = None  # annotations by task
        self._have: dict[int, list[int]] | None = None  # our predictions by task
        self._since, self._read, self._preferred = "", float("-inf"), False
        self._said: list[Answer] = []
        self._left_out: dict[str, list[int]] = {}

    @property
    def design(self) -> SequentialDesign:
        if self._design is None:
            raise ValueError("nothing has been looked at yet: call look() first.")
        return self._design

    def said(self) -> list[tuple[int, str, str]]:
        """Return row, person and label of every answer that stands, in the order in which they were learnt."""
        row = self._candidates.row
        return [(row(one.position), str(one.who), str(one.outcome)) for one in Standing(self.design).said]

    def believed(self, rows: ArrayLike | None = None) -> np.ndarray:
        """Return the (m, c) probabilities of ``studio.classes`` for the tasks of these rows; None: of all."""
        design, classes, table = self.design, self.studio.classes, self._candidates.table
        table = table if rows is None else pools.take(table, np.asarray(rows, dtype=np.intp))
        if self._candidates.of_people:
            if not hasattr(design.estimator_, "classes_"):  # before the first answer
                return np.full((pools.length(table), len(classes)), 1.0 / len(classes))
            found, outcomes = design.estimator_.predict_proba(table), design.estimator_.classes_
        else:
            predictive = design.estimator_.predictive(table)
            found, outcomes = predictive.probabilities, predictive.outcomes
        place = {str(one): k for k, one in enumerate(outcomes)}
        chances = np.zeros((len(found), len(classes)))
        for k, one in enumerate(classes):
            if one in place:  # else nobody has said it yet, and the model has not heard of it
                chances[:, k] = found[:, place[one]]
        return chances

    def skills(self) -> dict[str, Skill]:
        """Return what is known of the people; empty where skills are not learnt."""
        found = getattr(self.design.estimator_, "annotators_", None) or {}
        return {who: found[place] for who, place in self._candidates.places.items() if place in found}

    # -- in a loop ----------------------------------------------------------------------------------------------

    def follow(
        self,
        *,
        every: float = 1.0,
        looked: Callable[[Looked], None] | None = None,
        away: Callable[[str], None] | None = None,
    ) -> None:
        """Look again and again, until `stop` is called from another thread or by a callback.

        Parameters
        ----------
        every : float, default 1.0
            Seconds from one look to the next, half of them while people answer; `nudge` has it happen at once.
        looked : callable(Looked), optional
            Called after each look.
        away : callable(str), optional
            Told once, in a sentence, that Label Studio does not answer; it is waited for, however long.

        Raises
        ------
        StudioError
            If the first look, or three in a row, are refused.
        """
        waits = refused = 0
        while not self._stopped.is_set():
            self._nudge.clear()
            try:
                found = self.look()
                waits = refused = 0
            except StudioAway as problem:
                if waits == 0 and away is not None:
                    away(str(problem))
                waits += 1
                self._stopped.wait(min(every * 2 ** min(waits, 5), 10.0))
                continue
            except StudioError:  # a task, say, that was deleted since it was read: look again before giving up
                refused += 1
                if refused == REFUSED or self._design is None:
                    raise
                continue
            if looked is not None:
                looked(found)
            if not self._stopped.is_set():
                busy = time.monotonic() - max(self._heard.values(), default=float("-inf")) < AT_WORK
                self._nudge.wait(every / 2.0 if busy else every)

    def nudge(self) -> None:
        """Have the next look happen now."""
        self._nudge.set()

    def stop(self) -> None:
        """End `follow` after the look that is under way."""
        self._stopped.set()
        self._nudge.set()

    def close(self) -> None:
        """Release the log; the predictions stay, so that people go on with what is open."""
        if self._design is not None:
            self._design.close()
            self._design = None

    # -- one look -----------------------------------------------------------------------------------------------

    def look(self) -> Looked:
        """Learn what has changed, ask anew, and say which tasks are open.

        Raises
        ------
        StudioAway
            If Label Studio does not answer; call it again.
        StudioError
            If it refuses something, or has no task at all.
        """
        found = Looked()
        try:
            changed = self._hear()
            if self._design is None or self._grown():
                self._open(found)
                changed, self._follows = True, False
            if changed:
                assert self._there is not None
                self._said, self._left_out = self._answers(self._there)
            found.left_out = self._left_out
            said = [one for one in self._said if not one.skipped]
            found.answers, found.people = len(said), len({one.annotator for one in said})
            if changed:
                self._learn(self._said, found)
            self._ask(self._said, found)
            self._publish(found)
        except BaseException:
            self._forget()  # what was heard may not have been learnt, and what was sent may not have arrived
            raise
        return found

    def _hear(self) -> bool:
        """Read what has changed there, and return whether anything has."""
        now = time.monotonic()
        before = self._there
        self._follows = before is not None  # else answers may have come at any time
        seen = self.studio.changes(_earlier(self._since, SLACK))
        self._n_tasks, self._latest = seen.n_tasks, seen.tasks
        if before is None or not seen.whole or now - self._read > EVERYTHING:
            there = self.studio.annotated()
            self._read, self._preferred = now, False
        else:
            there = {task: listed for task, listed in (before | seen.tasks).items() if listed}
            if seen.n_annotations != sum(not one["was_cancelled"] for listed in there.values() for one in listed):
                there = self.studio.annotated()
        self._since = seen.latest
        self._there = there
        if before is not None and there == before:
            return False
        for task, listed in there.items():
            for one in listed if before is None else [one for one in listed if one not in before.get(task, ())]:
                self._heard[str(one["completed_by"])] = now
        return True

    def _grown(self) -> bool:
        return self._n_tasks != len(self.tasks) or any(
            task not in self._row for task in (*self._latest, *(self._there or ()))
        )

    def _open(self, found: Looked) -> None:
        """Begin, or begin anew, with the tasks that are there now."""
        tasks = self.studio.tasks()
        if not tasks:
            raise StudioError(f"project {self.studio.project} of Label Studio has no tasks yet; import some first.")
        found.begun = self._design is not None
        self.close()
        design = self._begin(tasks)
        try:
            self._candidates = Candidates(design, len(tasks))
        except BaseException:
            design.close()
            raise
        self._design, self.tasks = design, list(tasks)
        self._row = {task: row for row, task in enumerate(self.tasks)}

    def _answers(self, there: Mapping[int, list[dict[str, Any]]]) -> tuple[list[Answer], dict[str, list[int]]]:
        """Return what people say, the last of each about a task, and why the rest is left out."""
        export = Export("Label Studio", from_name=self.studio.control)
        found, left_out = [], dict[str, list[int]]()
        for task, listed in there.items():
            if task not in self._row:  # deleted between two requests; the next look begins anew
                continue
            read, reasons = export.read({"data": {"position": self._row[task]}, "annotations": listed}, task)
            for answer in read:
                position = self._candidates.position(answer.position, answer.annotator)
                if position is None:
                    reasons.append(f"all {self._candidates.n_places} places for people are taken")
                elif answer.skipped:
                    found.append(answer._replace(position=position))
                elif str(answer.outcome) in self.studio.classes:
                    found.append(answer._replace(position=position, outcome=str(answer.outcome)))
                else:
                    reasons.append(f"the label {answer.outcome!r} is none of {', '.join(self.studio.classes)}")
            for reason in reasons:
                left_out.setdefault(reason, []).append(task)
        latest = {(one.position, one.annotator): one for one in found}
        return list(latest.values()), left_out

    def _learn(self, answers: list[Answer], found: Looked) -> None:
        aside = self._set_aside(answers)
        kept = [one for one in answers if not one.skipped or one.position in aside]
        if self._candidates.of_people:
            self._let_go(answers)
        learnt = reconcile(self.design, kept, complete=True)
        found.learnt, found.corrected = learnt.learnt, len(learnt.corrected)
        if found.learnt and self._follows:
            self._used.append(min(found.learnt, 3 * found.people))

    def _set_aside(self, answers: list[Answer]) -> set[int]:
        """Return the positions that nobody will tell: skipped by two people, or by all there are, answered by none.

        Of pairs, whose place is the person's, "cannot tell" is that person's alone.
        """
        if self._candidates.of_people:
            return {one.position for one in answers if one.skipped}
        doubters: dict[int, set[str | None]] = {}
        for one in answers:
            if one.skipped:
                doubters.setdefault(one.position, set()).add(one.annotator)
        enough = min(DOUBT, len({one.annotator for one in answers}))
        told = {one.position for one in answers if not one.skipped}
        return {position for position, who in doubters.items() if len(who) >= enough and position not in told}

    def _let_go(self, answers: list[Answer]) -> None:
        """Set aside pairs that wait, of tasks of which somebody else has said all that Label Studio wants to know."""
        said: dict[int, set[int]] = {}
        for one in answers:
            if not one.skipped:
                said.setdefault(self._candidates.row(one.position), set()).add(one.position)
        for query in self.design.pending:
            for k, position in enumerate(query.positions.tolist()):
                others = said.get(self._candidates.row(position), set())
                if len(others) >= self.studio.overlap and position not in others:
                    self.design.skip(query.part(np.array([k])))

    def _ask(self, answers: list[Answer], found: Looked) -> None:
        design, now = self.design, time.monotonic()
        spoken = {
            self._candidates.row(one.position) for one in answers
        }  # told, or skipped by somebody: none to count on
        closed = spoken | self._candidates.closed()
        present = sorted(who for who, heard in self._heard.items() if now - heard < RECENT)
        wanted = self._stock(len(present), bool(spoken))
        open_ = {*self._candidates.open()} - spoken
        while len(open_) < wanted and len(closed | open_) < len(self.tasks) and not design.finished:
            worker = self._candidates.asked(present, len(open_))
            try:
                query = design.ask(1, another=True, worker=worker, exclude=self._candidates.of_rows(closed | open_))
            except pools.PoolExhausted:
                break
            open_ |= {self._candidates.row(position) for position in query.positions.tolist()}
        found.finished = not open_

    def _stock(self, present: int, spoken: bool) -> int:
        """Return how many tasks are to be open: one for each person at work, and what they use up between two looks."""
        used = max(self._used, default=0 if spoken else 2)  # before the first answer all choices are alike
        return max(self.ahead, present + 1 + used) if spoken else self.ahead + used

    def _publish(self, found: Looked) -> None:
        """Give the tasks that are open a prediction, and take it from those that are not and nobody has labelled."""
        assert self._there is not None
        if self._have is None:
            self._have = self.studio.predictions(self.version)
        wanted = [self.tasks[row] for row in self._candidates.open()]
        labelled = {task for task, listed in self._there.items() if not all(one["was_cancelled"] for one in listed)}
        for task, numbers in list(self._have.items()):
            keep = task in wanted or task in labelled
            for number in numbers[1:] if keep else numbers:  # a second one is of a request that was not answered
                self.studio.withdraw(number)
            if keep:
                del numbers[1:]
            else:
                del self._have[task]
        fresh = [task for task in wanted if task not in self._have]
        if fresh:
            believed = self.believed([self._row[task] for task in fresh])
            for task, chances in zip(fresh, believed, strict=True):
                best = int(np.argmax(chances))
                number = self.studio.predict(task, self.version, self.studio.classes[best], float(chances[best]))
                self._have[task] = [number]
        if self._have and not self._preferred:  # and again after a while: somebody may have saved the settings
            self.studio.prefer(self.version, show=self.show)  # a version is known once a prediction of it exists
            self._preferred = True
        found.open = tuple(task for task in wanted if task not in labelled)


def _earlier(moment: str, seconds: float) -> str:
    """Return a time of Label Studio's clock, some seconds before; "" where there is none."""
    if not moment:
        return ""
    before = datetime.fromisoformat(moment.replace("Z", "+00:00")) - timedelta(seconds=seconds)
    return before.strftime("%Y-%m-%dT%H:%M:%S.%fZ")
