"""A person answers in the terminal: a question with its answers at a time, each durable before the next.

The design's log holds every question and answer. A terminal that was killed goes on at the question that was open.
An answer is typed as it stands, or its beginning, or its number; its own text always wins.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import IO, TYPE_CHECKING, Any, NamedTuple

from adaptive.cli import progress
from adaptive.cli.understanding import counted
from adaptive.labelling.naming import doubts, keys_of, meant

if TYPE_CHECKING:
    from adaptive.cli.job import Job
    from adaptive.loop import SequentialDesign
    from adaptive.loop.query import Query

__all__ = ["Question", "ask_person"]

SKIP, QUIT = ("s", "skip"), ("q", "quit")


class Question(NamedTuple):
    """Question as a person sees it: a text, and for each answer its words and what it counts as."""

    text: str
    words: list[str]
    outcomes: list[Any]


def ask_person(
    job: Job,
    design: SequentialDesign,
    question_of: Callable[[Any], Question],
    *,
    heading: Callable[[SequentialDesign], str] = lambda design: f"Question {design.iteration + 1}",
    place: int | None = None,
    name: str | None = None,
    barred: Callable[[SequentialDesign], list[int]] = lambda design: [],
    source: IO[str] | None = None,
    shown: IO[str] | None = None,
) -> None:
    """Ask until the stopping rule holds or no question is left.

    Parameters
    ----------
    job : Job
        Is told how many answers there are.
    design : SequentialDesign
        With a log, so that answers outlive the process; of a query of many candidates one is shown after the other.
    question_of : callable(label) -> Question
        What to show for the candidate of this label.
    heading : callable(design) -> str
        The line above a question, such as how far along it is.
    place : int, optional
        Whose candidates these are, where the design's are a row and a person.
    name : str, optional
        Who answers; noted in the log.
    barred : callable(design) -> list of positions
        What may not come next.
    source, shown : text streams, default standard input and output

    Raises
    ------
    KeyboardInterrupt
        If the person stops: Ctrl-C, the end of the input, or "q".
    """
    from adaptive.pool import PoolExhausted

    source, shown = source or sys.stdin, shown or sys.stdout
    job.progress = lambda: f" after {counted(design.iteration, 'answer')}"
    job.doing = "choosing the next question"
    while not (design.stop is not None and design.stop(design)):
        try:
            query = _first(design.ask(worker=place, exclude=barred(design)))
        except PoolExhausted:
            return
        question = question_of(query.labels[0])
        _show(question, heading(design), shown)
        with progress.hushed():
            chosen = _answer(question.words, source, shown)
        if chosen is None:
            design.skip(query)
        else:
            design.tell(query, [question.outcomes[chosen]], worker=name)


def _first(query: Query) -> Query:
    """The first candidate of those that wait."""
    import numpy as np

    return query.part(np.zeros(1, dtype=np.intp))


def _show(question: Question, heading: str, shown: IO[str]) -> None:
    print(f"\n{heading}\n{question.text}", file=shown)
    for key, words in zip(keys_of(question.words), question.words, strict=True):
        print(f"  {words}" if key == words else f"  {key}  {words}", file=shown)


def _answer(words: list[str], source: IO[str], shown: IO[str]) -> int | None:
    """The place of the answer; None: skipped."""
    keys = keys_of(words)
    skip, quit = (_free(control, words) for control in (SKIP, QUIT))
    numbered = keys != words
    offered = f"1-{len(words)} or the answer" if numbered else "your answer"
    while True:
        print(f"{offered}, {skip[0]} to skip, {quit[0]} to stop: ", end="", file=shown, flush=True)
        line = source.readline()
        text = line.strip()
        if not line or text.lower() in quit:
            raise KeyboardInterrupt
        if text.lower() in skip:
            return None
        found = meant(text, words) or meant(text, keys) or meant(text, words, beginning=True)
        if len(found) == 1:
            return found[0]
        wanted = f"Please type a number from 1 to {len(words)}, or the answer" if numbered else "Please type an answer"
        print(f"{wanted}: {doubts(text, words, found)}." if text else f"{wanted}.", file=shown)


def _free(control: tuple[str, ...], words: list[str]) -> list[str]:
    """Those words for skipping or stopping that are no answers."""
    return [one for one in control if not meant(one, words)] or [f"!{control[0]}"]
