"""Answers of people about candidates, as they stand in files, and the outcome of an import."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

__all__ = ["Answer", "Imported"]


class Answer(NamedTuple):
    """Answer of one person about one candidate.

    Parameters
    ----------
    position : int
        Of the candidate in the pool.
    outcome : text or number
        As it stands in the file; text is turned into the labels that the estimator knows.
    id : optional
        What the pool calls the candidate; compared where given.
    query : int, optional
        Which asked for it; without one the answer may be about a candidate that nobody asked for.
    annotator : str, optional
    skipped : bool, default False
        The person could not tell.
    where : str
        File and line, for messages.

    Examples
    --------
    >>> Answer(position=3, outcome="yes", annotator="Anna").skipped
    False
    """

    position: int
    outcome: Any
    id: Any = None
    query: int | None = None
    annotator: str | None = None
    skipped: bool = False
    where: str = "an answer"


@dataclass(frozen=True)
class Imported:
    """Outcome of an import: numbers of answers, and positions in the pool.

    Attributes
    ----------
    learnt : int
        New answers, now learnt.
    known : int
        Answers that had been learnt before.
    skipped, tied : list of int
        Set aside because nobody could tell; left as they are because no majority was found.
    waiting : list of int
        Positions that still wait for an answer.
    corrected : list of int
        Of answers that were learnt as something else before, and taken back.
    volunteered : list of int
        Of answers, among the new ones, that nobody had asked for.

    Examples
    --------
    >>> Imported(learnt=2, waiting=[7])
    Imported(learnt=2, known=0, skipped=[], tied=[], waiting=[7], corrected=[], volunteered=[])
    """

    learnt: int = 0
    known: int = 0
    skipped: list[int] = field(default_factory=list)
    tied: list[int] = field(default_factory=list)
    waiting: list[int] = field(default_factory=list)
    corrected: list[int] = field(default_factory=list)
    volunteered: list[int] = field(default_factory=list)
