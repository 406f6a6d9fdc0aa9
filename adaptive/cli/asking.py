"""A person answers in the terminal: a question with numbered answers at a time, each durable before the next.

The design's log holds every question and answer. A terminal that was killed goes on at the question that was open.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import IO, TYPE_CHECKING, Any, NamedTuple

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
    source, shown : text streams, default standard input and output

    Raises
    ------
    KeyboardInterrupt
        If the person stops: Ctrl-C, the end of the input, or "q".
    """
    from adaptive.pool import PoolExhausted

    source, shown = source or sys.stdin, shown or sys.stdout
    job.progress = lambda: f" after {design.iteration} answers"
    while not (design.stop is not None and design.stop(design)):
        try:
            query = _first(design.ask())
        except PoolExhausted:
            return
        question = question_of(query.labels[0])
        _show(question, heading(design), shown)
        chosen = _answer(len(question.words), source, shown)
        if chosen is None:
            design.skip(query)
        else:
            design.tell(query, [question.outcomes[chosen]])


def _first(query: Query) -> Query:
    """The first candidate of those that wait."""
    import numpy as np

    return query.part(np.zeros(1, dtype=np.intp))


def _show(question: Question, heading: str, shown: IO[str]) -> None:
    print(f"\n{heading}\n{question.text}", file=shown)
    for number, words in enumerate(question.words, start=1):
        print(f"  {number}  {words}", file=shown)


def _answer(n: int, source: IO[str], shown: IO[str]) -> int | None:
    """The place of the answer; None: skipped."""
    while True:
        print(f"1-{n}, s to skip, q to stop: ", end="", file=shown, flush=True)
        line = source.readline()
        if not line or line.strip().lower() in QUIT:
            raise KeyboardInterrupt
        text = line.strip().lower()
        if text in SKIP:
            return None
        if text.isdecimal() and 1 <= int(text) <= n:
            return int(text) - 1
        print(f"Please type a number from 1 to {n}.", file=shown)
