"""From answers in files to answers of a design: checked as a whole, then learnt; read twice, learnt once.

new answers of a row  =  answers in the file  minus  answers that the design has learnt for it      (as multisets)
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from adaptive import checks
from adaptive.loop.query import Query

if TYPE_CHECKING:
    from adaptive.loop.sequential_design import SequentialDesign

__all__ = ["Answer", "Imported", "tell"]

COMBINATIONS = ("each", "majority")


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
        Set aside because nobody could tell; left waiting because no majority was found.
    waiting : list of int
        Positions that still wait for an answer.

    Examples
    --------
    >>> Imported(learnt=2, waiting=[7])
    Imported(learnt=2, known=0, skipped=[], tied=[], waiting=[7])
    """

    learnt: int = 0
    known: int = 0
    skipped: list[int] = field(default_factory=list)
    tied: list[int] = field(default_factory=list)
    waiting: list[int] = field(default_factory=list)


def tell(
    design: SequentialDesign,
    answers: Iterable[Answer],
    *,
    classes: Sequence[Any] | np.ndarray | None = None,
    combine: str = "each",
) -> Imported:
    """Tell a design what people answered.

    Parameters
    ----------
    design : SequentialDesign over a fixed pool
    answers : iterable of Answer
        For instance from ``read_csv`` or ``read_label_studio``. What the design has learnt already is left alone, so
        that a file can be read again when more of it is filled in.
    classes : sequence of labels, optional
        What may be answered; by default the ``classes`` that the estimator was made with, if any.
    combine : "each" or "majority"
        Of several answers to one row: "each" counts as an independent noisy answer (the design needs ``repeat=True``,
        and further answers than were asked for become queries of their own); "majority" is learnt as one answer, a tie
        waits.

    Returns
    -------
    Imported

    Raises
    ------
    ValueError
        If a row was never asked, its id is another one's, a label is unknown, or what was learnt is contradicted and
        the design has not ``repeat=True``: nothing is learnt then. What the estimator itself refuses (a third label
        where two are possible) leaves that query waiting; give ``classes`` to have it found before anything is learnt.

    Examples
    --------
    >>> import numpy as np
    >>> from adaptive import BayesianLogisticRegression, SequentialDesign
    >>> design = SequentialDesign(BayesianLogisticRegression(classes=["no", "yes"]), np.eye(4), initial=[2, 0])
    >>> query = design.ask(2)
    >>> tell(design, [Answer(2, "yes"), Answer(0, "no")]).learnt
    2
    """
    checks.choice("combine", combine, COMBINATIONS)
    if design.changing_pool:
        raise ValueError("labels go out and in by position, but the design's pool is a callable; use ask and tell.")
    given = list(answers)
    labels = _labels(design)
    for answer in given:
        _check_asked(answer, labels)
    said = _typed([answer for answer in given if not answer.skipped], design, classes)
    learnt = _learnt(design)
    new: dict[int, list[Any]] = {}
    tied = []
    for position, outcomes in said.items():
        if combine == "majority":
            outcomes = _majority(outcomes)
            if not outcomes and position not in learnt:
                tied.append(position)
        fresh = list((Counter(outcomes) - learnt.get(position, Counter())).elements())
        if fresh:
            _check_single(position, fresh, learnt.get(position), design.repeat)
            new[position] = fresh
    told = sum(map(len, said.values())) if combine == "each" else len(said) - len(tied)
    n_learnt = _tell(design, new)
    given_up = {answer.position for answer in given if answer.skipped} - set(said)
    skipped = _skip(design, given_up)
    waiting = [int(position) for query in design.pending for position in query.positions]
    return Imported(n_learnt, told - n_learnt, skipped, tied, waiting)


def _labels(design: SequentialDesign) -> dict[int, Any]:
    """Return the labels of the candidates that were asked, by position."""
    history = design.history_
    labels = dict(zip(history["position"], history["label"], strict=True))
    for query in design.unanswered:
        labels |= dict(zip(query.positions.tolist(), query.labels, strict=True))
    return labels


def _learnt(design: SequentialDesign) -> dict[int, Counter[Any]]:
    counts: dict[int, Counter[Any]] = {}
    for position, outcome in zip(design.history_["position"], design.history_["outcome"], strict=True):
        counts.setdefault(position, Counter())[outcome] += 1
    return counts


def _check_asked(answer: Answer, labels: dict[int, Any]) -> None:
    position = answer.position
    if position not in labels:
        raise ValueError(f"{answer.where}: position {position} was never asked, so its answer is not taken.")
    if answer.id is not None and str(answer.id) != str(labels[position]):
        raise ValueError(
            f"{answer.where}: the id is {answer.id!r}, but position {position} of the pool is {labels[position]!r}; "
            "were columns sorted apart?"
        )


def _check_single(position: int, fresh: list[Any], learnt: Counter[Any] | None, repeat: bool) -> None:
    if repeat:
        return
    if learnt:
        raise ValueError(
            f"position {position} was learnt as {next(iter(learnt))!r} and is now said to be {fresh[0]!r}: a design "
            "does not unlearn, and counts a second answer only with repeat=True; leave it out."
        )
    if len(fresh) > 1:
        raise ValueError(
            f"position {position} has {len(fresh)} answers ({', '.join(map(repr, fresh))}): give "
            "combine='majority', or make the design with repeat=True, where each counts as an independent answer."
        )


def _majority(outcomes: list[Any]) -> list[Any]:
    """Return the one answer that more people gave than any other, or none."""
    ranked = Counter(outcomes).most_common(2)
    return [] if len(ranked) == 2 and ranked[0][1] == ranked[1][1] else [ranked[0][0]]


def _tell(design: SequentialDesign, new: dict[int, list[Any]]) -> int:
    """Answer the queries that wait, in one go each; what is more than they asked becomes queries of its own."""
    count = sum(map(len, new.values()))
    for query in design.unanswered:
        _answer(design, query, new)
    while new:  # second opinions
        _answer(design, design.ask(positions=sorted(new)), new)
    return count


def _answer(design: SequentialDesign, query: Query, new: dict[int, list[Any]]) -> None:
    """Tell what is new about a query, and take it off the list once it is learnt."""
    rows, outcomes = [], []
    left = {position: list(answers) for position, answers in new.items()}
    for row, position in enumerate(query.positions.tolist()):
        if left.get(position):
            rows.append(row)
            outcomes.append(left[position].pop(0))
    if rows:
        design.tell(query.part(np.array(rows)), outcomes)
        new.clear()
        new.update({position: answers for position, answers in left.items() if answers})


def _skip(design: SequentialDesign, positions: set[int]) -> list[int]:
    skipped = []
    for query in design.pending:
        rows = [row for row, position in enumerate(query.positions.tolist()) if position in positions]
        if rows:
            part = query.part(np.array(rows))
            design.skip(part)
            skipped += part.positions.tolist()
    return skipped


def _typed(
    answers: list[Answer], design: SequentialDesign, classes: Sequence[Any] | np.ndarray | None
) -> dict[int, list[Any]]:
    """Return outcomes by position: the labels of known classes, else numbers where all are, else text."""
    declared = classes if classes is not None else getattr(design.estimator_, "classes", None)
    known = [_item(label) for label in (declared if declared is not None else ())]
    by_text = {str(label): label for label in known}
    before = design.history_["outcome"]
    numeric = declared is None and all(_number(one) is not None for one in (before or [a.outcome for a in answers]))
    said: dict[int, list[Any]] = {}
    for answer in answers:
        outcome: Any = _item(answer.outcome)
        if declared is not None:
            name = _named(str(outcome), by_text)
            if name is None:
                raise ValueError(f"{answer.where}: the label {outcome!r} is unknown; the known classes are {known}.")
            outcome = by_text[name]
        elif numeric:
            outcome = _number(outcome)
            if outcome is None:
                raise ValueError(f"{answer.where}: {answer.outcome!r} is not a finite number, as earlier answers are.")
        else:
            outcome = str(outcome)
        said.setdefault(answer.position, []).append(outcome)
    return said


def _named(text: str, by_text: Mapping[str, Any]) -> str | None:
    """Return the class that an answer names: by its text, or as the same number ("1.0" and "1,0" are 1)."""
    if text in by_text:
        return text
    number = _number(text.replace(",", "."))
    equal = [] if number is None else [name for name, label in by_text.items() if _number(label) == number]
    return equal[0] if len(equal) == 1 else None


def _number(value: object) -> int | float | None:
    """Return a finite number or the number that a text is the usual print of; else None."""
    if isinstance(value, str):
        if re.fullmatch(r"-?(0|[1-9][0-9]{0,17})", value.strip()):
            return int(value)
        try:
            value = float(value)
        except ValueError:
            return None
    if isinstance(value, bool) or not isinstance(value, (int, float, np.number)):
        return None
    return _item(value) if math.isfinite(value) else None


def _item(value: object) -> Any:
    return value.item() if isinstance(value, np.generic) else value
