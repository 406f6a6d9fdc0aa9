"""A design made to agree with answers from elsewhere: what changed is taken back, then what is new is told.

reconcile(design, answers); reconcile(design, answers)  =  reconcile(design, answers)      in any order of the answers
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from adaptive.labelling.answers import Answer, Imported
from adaptive.labelling.standing import Said, Standing, difference, latest
from adaptive.loop.query import Query

if TYPE_CHECKING:
    from adaptive.loop.sequential_design import SequentialDesign

__all__ = ["reconcile"]


@dataclass(frozen=True)
class _Open:
    """An answer and the query that it goes to; None: nobody asked, or it is one more than was asked for."""

    query: int | None
    position: int
    outcome: Any
    who: Any
    further: bool = False

    @classmethod
    def of(cls, said: Said) -> _Open:
        return cls(said.query, said.position, said.outcome, said.who)

    @classmethod
    def to(cls, query: int | None, answer: Answer, further: bool = False) -> _Open:
        return cls(query, answer.position, answer.outcome, answer.annotator, further)


def reconcile(
    design: SequentialDesign, answers: Sequence[Answer], *, complete: bool = False, agreed: bool = False
) -> Imported:
    """Tell a design what of these answers it has not learnt, and take back what they correct.

    Parameters
    ----------
    design : SequentialDesign over a fixed pool
    answers : sequence of Answer
        With outcomes in the types that the design takes; where a person answers a row twice, the last counts.
    complete : bool, default False
        These are all answers there are: others that stand in the log are taken back.
    agreed : bool, default False
        The answers are what people agreed on: one for a row, also with ``repeat=True``, in the place of anybody's.

    Returns
    -------
    Imported

    Raises
    ------
    ValueError
        If a row that has one answer is given two, or another by somebody else: nothing has changed. If the estimator
        refuses an answer: that one is not learnt, and what it was to correct stands again.
    """
    standing, given = Standing(design), latest(answers)
    found = difference(standing, given, single=agreed or not design.repeat, agreed=agreed)
    gone = [said for said, _ in found.changed] + (found.gone if complete else [])
    instead = [_Open.to(said.query, one) for said, one in found.changed if not one.skipped]
    _replace(design, standing, gone, instead)
    asks = [query for query in standing.asked.values() if not query.get("volunteered", False)]
    asked = {position for query in asks for position in query["positions"]} - {*design.excluded().tolist()}
    volunteered = _tell(design, found.new, asked)
    spoken = {one.position for one in given if not one.skipped} | {one.position for one in Standing(design).said}
    skipped = _skip(design, {one.position for one in given if one.skipped} - spoken)
    return Imported(
        learnt=len(found.new), known=found.known, skipped=skipped, volunteered=volunteered,
        waiting=[int(position) for query in design.pending for position in query.positions],
        corrected=[said.position for said, _ in found.changed],
    )  # fmt: skip


def _replace(design: SequentialDesign, standing: Standing, gone: list[Said], instead: list[_Open]) -> None:
    """Take answers back, and tell what is said instead, query by query."""
    for number in dict.fromkeys(said.query for said in gone):
        gone_here = [said for said in gone if said.query == number]
        rows = {said.position for said in gone_here}
        # of a row that stands in a query twice both answers are taken back, and the other one told again
        back = [said for said in standing.said if said.query == number and said.position in rows]
        kept = list(back)
        for said in gone_here:
            kept.remove(said)
        before = [_Open.of(said) for said in back]
        design.retract(_query(number, [said.position for said in back]))
        wanted = [*map(_Open.of, kept), *(one for one in instead if one.query == number)]
        try:
            while wanted:
                wanted = _tell_part(design, wanted)
        except BaseException:
            missing = {one.position for one in wanted}
            left = [one for one in before if one.position in missing]
            while left:
                left = _tell_part(design, left)
            raise


def _tell(design: SequentialDesign, new: Sequence[Answer], asked: set[int]) -> list[int]:
    """Answer what waits, a person's part of a query in one go, and return the positions that nobody has asked about."""
    waiting: dict[int, list[int]] = {}  # queries by position, the oldest first
    place: dict[tuple[int | None, int], int] = {}
    for query in design.unanswered:
        for position in query.positions.tolist():
            waiting.setdefault(position, []).append(query.id)
            place[query.id, position] = len(place)
    new = sorted(
        new, key=lambda one: (one.position, one.annotator or "", str(one.outcome))
    )  # whatever the file's order
    number: dict[int, int | None] = {}
    for k, one in enumerate(new):  # what an answer names goes before what is the oldest
        if one.query is not None and one.query in waiting.get(one.position, ()):
            waiting[one.position].remove(one.query)
            number[k] = one.query
    for k, one in enumerate(new):
        if k not in number:
            number[k] = waiting[one.position].pop(0) if waiting.get(one.position) else None
    wanted = [_Open.to(number[k], one, number[k] is None and one.position in asked) for k, one in enumerate(new)]
    wanted.sort(key=lambda one: place.get((one.query, one.position), len(place)))
    left = wanted
    while left:
        left = _tell_part(design, left)
    return [one.position for one in wanted if one.query is None and not one.further]


def _tell_part(design: SequentialDesign, wanted: list[_Open]) -> list[_Open]:
    """Tell what goes to the query of the first, by the same person; return the rest."""
    first, part, rest, told = wanted[0], list[_Open](), list[_Open](), set[int]()
    for one in wanted:
        together = (one.query, one.who, one.further) == (first.query, first.who, first.further)
        again = first.query is None and one.position in told  # a further answer is a query of its own
        (part if together and not again else rest).append(one)
        told.add(one.position)
    positions = [one.position for one in part]
    target: Any = positions if first.query is None else _query(first.query, positions)
    if first.further:
        target = design.ask(positions=positions)
    design.tell(target, [one.outcome for one in part], worker=first.who)
    return rest


def _skip(design: SequentialDesign, positions: set[int]) -> list[int]:
    skipped = []
    for query in design.pending:
        rows = [row for row, position in enumerate(query.positions.tolist()) if position in positions]
        if rows:
            part = query.part(np.array(rows))
            design.skip(part)
            skipped += part.positions.tolist()
    return skipped


def _query(number: int, positions: list[int]) -> Query:
    """Rows of a query, to tell or to take back."""
    n = len(positions)
    return Query(np.array(positions, dtype=np.intp), [None] * n, None, np.full(n, np.nan), number)
