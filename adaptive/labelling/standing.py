"""Who said what of which row: a log read as the answers that stand, and compared with answers from elsewhere.

what stands there  minus  what stands in the log  =  answers to take back  and  answers to tell

An answer is somebody's about a row: the same person's further answer to it is a correction. Workers of a log who are
numbers (sessions of served pages), or without a name, may be anybody.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from adaptive.labelling.answers import Answer
from adaptive.loop.log.event_log import parsed
from adaptive.loop.log.retracting import standing

if TYPE_CHECKING:
    from adaptive.loop.sequential_design import SequentialDesign

__all__ = ["Difference", "Said", "Standing", "difference", "latest"]


class Said(NamedTuple):
    """Answer that stands."""

    who: Any
    query: int
    position: int
    outcome: Any

    @property
    def named(self) -> bool:
        """Return whether a person's name stands beside it, as in a file."""
        return isinstance(self.who, str)


class Standing:
    """Answers that stand in the log of a design, in the order in which they were given.

    Attributes
    ----------
    said : list of Said
    asked : dict
        The event of each query, by its number.
    """

    def __init__(self, design: SequentialDesign) -> None:
        self.said: list[Said] = []
        self.asked: dict[int, dict[str, Any]] = {}
        log = design.log
        for event in standing(parsed(log.contents(), log.name)[1]):
            if event is not None:
                self._add(event)

    def _add(self, event: dict[str, Any]) -> None:
        if event["event"] == "ask":
            self.asked[event["query"]] = event
        elif event["event"] == "tell":
            query = self.asked[event["query"]]
            who = event.get("worker", query.get("worker"))
            for row, outcome in zip(event["rows"], event["outcomes"], strict=True):
                plain = outcome.item() if isinstance(outcome, np.generic) else outcome
                self.said.append(Said(who, event["query"], query["positions"][row], plain))

    def by_position(self) -> dict[int, list[Said]]:
        """Return what was said of each row."""
        found: dict[int, list[Said]] = {}
        for said in self.said:
            found.setdefault(said.position, []).append(said)
        return found


@dataclass
class Difference:
    """Difference between answers and what stands in a log.

    Attributes
    ----------
    new : list of Answer
        Not in the log.
    changed : list of (Said, Answer)
        In the log as something else; the answer may be that one cannot tell.
    gone : list of Said
        In the log only.
    known : int
        In both.
    """

    new: list[Answer] = field(default_factory=list)
    changed: list[tuple[Said, Answer]] = field(default_factory=list)
    gone: list[Said] = field(default_factory=list)
    known: int = 0


def latest(answers: Iterable[Answer]) -> list[Answer]:
    """Return the answers without those that their own people have replaced: of a name and a row the last counts.

    Examples
    --------
    >>> [one.outcome for one in latest([Answer(3, "no", annotator="Ann"), Answer(3, "yes", annotator="Ann")])]
    ['yes']
    """
    kept: dict[Any, Answer] = {}
    for number, answer in enumerate(answers):
        kept[number if answer.annotator is None else (answer.annotator, answer.position)] = answer
    return list(kept.values())


def difference(standing: Standing, answers: Sequence[Answer], *, single: bool, agreed: bool = False) -> Difference:
    """Return how answers, in the types of the log, differ from what stands in it.

    Parameters
    ----------
    standing : Standing
    answers : sequence of Answer
        The latest of each person.
    single : bool
        Whether a row has one answer, whoever gave it; else further people's are answers of their own.
    agreed : bool, default False
        The answers are what people agreed on, and replace anybody's.

    Raises
    ------
    ValueError
        If a row that has one answer is given two, or another by somebody else.
    """
    found = Difference()
    by_position: dict[int, list[Answer]] = {}
    for answer in answers:
        by_position.setdefault(answer.position, []).append(answer)
    left = standing.by_position()
    for position, given in by_position.items():
        if single:
            _check_single(position, [one for one in given if not one.skipped])
        rest = left.get(position, [])
        # who said it decides first, then that it is the same
        open_ = [one for one in given if not _settle(found, rest, one, [s for s in rest if _by(s, one)])]
        open_ = [one for one in open_ if not _settle(found, rest, one, _equal(rest, one, single), same=True)]
        for one in open_:
            if not agreed:
                _check_person(rest, one, single)
            if not _settle(found, rest, one, _replaced(rest, one, open_, single)) and not one.skipped:
                found.new.append(one)
    found.gone = [said for rest in left.values() for said in rest]
    return found


def _settle(found: Difference, rest: list[Said], answer: Answer, others: list[Said], same: bool = False) -> bool:
    """Take note of what an answer is to one of those that stand, and take that off the list."""
    if not others:
        return False
    equal = [] if answer.skipped else [said for said in others if _same(said.outcome, answer.outcome)]
    if same and not equal:
        return False
    said = (equal or others)[-1]
    rest.remove(said)
    if equal:
        found.known += 1
    else:
        found.changed.append((said, answer))
    return True


def _by(said: Said, answer: Answer) -> bool:
    return said.named and answer.annotator == said.who


def _equal(rest: list[Said], answer: Answer, single: bool) -> list[Said]:
    """Those that may be this answer, if they say the same."""
    return [
        said
        for said in rest
        if single or said.who is None or answer.annotator is None or (not said.named and answer.query == said.query)
    ]


def _replaced(rest: list[Said], answer: Answer, given: list[Answer], single: bool) -> list[Said]:
    """Those that this answer corrects, though nobody's name says so."""
    if single:
        return rest if answer.annotator is None or not answer.skipped else []
    alike = [one for one in given if one.annotator is None and one.query == answer.query]
    mine = [said for said in rest if said.who is None and said.query == answer.query]
    return mine if answer.annotator is None and len(alike) == len(mine) == 1 else []


def _check_person(rest: list[Said], answer: Answer, single: bool) -> None:
    if single and rest and not answer.skipped and rest[0].named and answer.annotator is not None:
        raise ValueError(
            f"position {answer.position} was learnt as {rest[0].outcome!r} from {rest[0].who} and is now said to be "
            f"{answer.outcome!r} by {answer.annotator}: give combine='majority', make the design with repeat=True, "
            "where each counts as an independent answer, or leave the annotator out to correct it."
        )


def _check_single(position: int, given: list[Answer]) -> None:
    if len(given) > 1:
        raise ValueError(
            f"position {position} has {len(given)} answers ({', '.join(repr(one.outcome) for one in given)}): give "
            "combine='majority', or make the design with repeat=True, where each counts as an independent answer."
        )


def _same(one: object, other: object) -> bool:
    if isinstance(one, np.ndarray) or isinstance(other, np.ndarray):
        return np.array_equal(np.asarray(one), np.asarray(other))
    return bool(one == other)
