"""From answers in files to answers of a design: checked as a whole, then learnt; read twice, learnt once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from adaptive import checks
from adaptive import pool as pools
from adaptive.labelling.answers import Answer, Imported
from adaptive.labelling.labels import typed
from adaptive.labelling.naming import doubts, meant
from adaptive.labelling.reconciling import reconcile
from adaptive.labelling.standing import Said, Standing, latest

if TYPE_CHECKING:
    from adaptive.loop.sequential_design import SequentialDesign

__all__ = ["tell"]

COMBINATIONS = ("each", "majority")


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
        that a file can be read again when more of it is filled in; what a person has changed since then is taken back
        and told anew. Who answered is noted in the log.
    classes : sequence of labels, optional
        What may be answered; by default the ``classes`` that the estimator was made with, if any. Answers are compared
        with them regardless of case and outer blanks, and as numbers.
    combine : "each" or "majority"
        Of several answers to one row: "each" counts as an independent noisy answer (the design needs ``repeat=True``,
        and further answers than were asked for become queries of their own); "majority" is learnt as one answer, a tie
        waits. An answer by somebody else that the design has learnt before votes too.

    Returns
    -------
    Imported

    Notes
    -----
    Where candidates are pairs of a row and a person (`designs.pool.Annotated`), positions are those of pairs, as
    ``write_csv`` wrote them. The row of the pair is what an answer is about; whose it is the annotator says, and
    without one the pair does. So a line that was chosen for Ann and filled in by Bob is learnt as Bob's about the same
    row, which nobody had asked, and Ann's waits (``skip`` it, if once is enough). Answers of several people to a row
    are all learnt, and do not contradict each other. Where the people of the pool are the bare places 0, 1, 2, ... and
    no names or numbers of people, the position alone says whose an answer is, and the annotator is noted in the log.

    Raises
    ------
    ValueError
        If a position is not in the pool or its id another one's, a query did not ask it, a label is unknown, or two
        people contradict each other and the design has not ``repeat=True``; of pairs, if an annotator is none of the
        people, or ``combine`` is not "each": nothing is learnt then. What the estimator itself refuses (a third label
        where two are possible) leaves that query waiting; give ``classes`` to have it found before anything is learnt.

    Examples
    --------
    >>> import numpy as np
    >>> from adaptive import BayesianLogisticRegression, SequentialDesign
    >>> design = SequentialDesign(BayesianLogisticRegression(classes=["no", "yes"]), np.eye(4), initial=[2, 0])
    >>> query = design.ask(2)
    >>> tell(design, [Answer(2, "yes", annotator="Ann"), Answer(0, "no", annotator="Ann")]).learnt
    2
    >>> tell(design, [Answer(2, "No", annotator="Ann")]).corrected
    [2]
    """
    checks.choice("combine", combine, COMBINATIONS)
    if design.changing_pool:
        raise ValueError("labels are exchanged by position, but the design's pool is a callable; use ask and tell.")
    given, standing = list(answers), Standing(design)
    for answer in given:
        _check(answer, design, standing)
    if pools.has_people(design.pool):
        if combine != "each":
            raise ValueError(
                f"combine must be 'each' where candidates are a row and a person, got {combine!r}: every answer is "
                "learnt as its person's."
            )
        given = [_own(answer, design.pool) for answer in given]
    for answer in given:
        if design.mask is not None and not design.mask[answer.position]:
            raise ValueError(
                f"{answer.where}: position {answer.position} may not be asked (mask), so its answer is not taken."
            )
    said = latest(typed(given, design, classes))
    if combine == "each":
        return reconcile(design, said)
    said, tied = _majorities(said, standing)
    return replace(reconcile(design, said, agreed=True), tied=tied)


def _check(answer: Answer, design: SequentialDesign, standing: Standing) -> None:
    position, n = answer.position, pools.length(design.pool)
    if not 0 <= position < n:
        raise ValueError(f"{answer.where}: the position must be from 0 to {n - 1}, got {position}.")
    if answer.id is not None:
        (label,) = pools.labels(design.pool, np.array([position]))
        if not meant(str(answer.id), [label]):  # 7.0, as it is saved beside gaps, is 7
            raise ValueError(
                f"{answer.where}: the id is {answer.id!r}, but position {position} of the pool is {label!r}; were "
                "columns sorted apart?"
            )
    if answer.query is not None and position not in standing.asked.get(answer.query, {"positions": ()})["positions"]:
        raise ValueError(
            f"{answer.where}: query {answer.query} never asked position {position}, so its answer is not taken; is it "
            "of another design?"
        )


def _own(answer: Answer, pool: Any) -> Answer:
    """The answer at the pair of its row and whoever gave it; a query that asked somebody else is not answered."""
    people = pool.people
    if people == list(range(len(people))):  # places, not people
        return answer
    row, place = divmod(answer.position, len(people))
    if answer.annotator is not None:
        found = meant(answer.annotator, people)
        if len(found) != 1:
            raise ValueError(
                f"{answer.where}: the annotator must be one of the people of the pool: "
                f"{doubts(answer.annotator, people, found)}."
            )
        place = found[0]
    position = row * len(people) + place
    query = answer.query if position == answer.position else None
    return answer._replace(position=position, id=None, query=query, annotator=str(people[place]))


def _majorities(answers: list[Answer], standing: Standing) -> tuple[list[Answer], list[int]]:
    """Return one answer for each row on which most agree, and the rows on which they do not; skips as they are."""
    by_position: dict[int, list[Answer]] = {}
    for answer in answers:
        if not answer.skipped:
            by_position.setdefault(answer.position, []).append(answer)
    kept, tied = [answer for answer in answers if answer.skipped and answer.position not in by_position], []
    stood = standing.by_position()
    for position, given in by_position.items():
        before = stood.get(position, [])
        votes = Counter([one.outcome for one in given] + [one.outcome for one in before if not _heard(one, given)])
        ranked = votes.most_common(2)
        if len(ranked) == 2 and ranked[0][1] == ranked[1][1]:
            tied.append(position)
            continue
        winner = ranked[0][0]
        if len(before) > 1 or (before and before[0].outcome == winner):
            given = [given[0]._replace(annotator=None)]  # what stands has been said by others as well
        voters = [one for one in given if one.outcome == winner] or given
        names = sorted({one.annotator for one in voters if one.annotator is not None})
        kept.append(voters[0]._replace(outcome=winner, annotator=", ".join(names) or None))
    return kept, tied


def _heard(said: Said, given: list[Answer]) -> bool:
    """Return whether whoever gave an answer that stands has a say in these; somebody without a name is anybody."""
    names = sorted({one.annotator for one in given if one.annotator is not None})
    return not said.named or said.who in names or said.who == ", ".join(one for one in names if one in said.who)
