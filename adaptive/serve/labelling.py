"""A pool that several people label together: one design, a query of their own for each, and leases on what is open.

    a person asks:   their own open query
                     else one whose lease ran out, of a row that they have not answered
                     else a row that wants a further opinion (overlap > 1)
                     else design.ask(worker=...), chosen in the light of all that is pending

Where people's skills are learnt the candidates of the design are a row and a session: nobody takes over another's
query, a row is asked of several where that tells more than another row, and "cannot tell" is that person's alone.

An answer counts whoever holds the lease, as long as the query waits: nothing that somebody typed is thrown away.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from adaptive.files import write_csv
from adaptive.labelling.standing import Said, Standing
from adaptive.loop.query import Query
from adaptive.pool import PoolExhausted, length
from adaptive.serve.designs import Designs
from adaptive.serve.pages import SKIP, Place, choice, texts
from adaptive.serve.panel import Panel
from adaptive.serve.progress import Progress
from adaptive.serve.refusals import Refused
from adaptive.serve.rendering import Picture, Pictures, Shown

if TYPE_CHECKING:
    from adaptive.loop import EventLog, SequentialDesign
    from adaptive.serve.store import Store

__all__ = ["DESIGN", "PEOPLE", "LabellingDesk", "Pool"]

PEOPLE = "people.csv"  # in the store's folder
SKILLS = {"skill": "mean", "low": "low", "high": "high", "labels": "labels"}  # columns of it
KEPT_EVERY = 10  # answers
DESIGN = 0  # of the store: sessions count from 1


@dataclass(frozen=True)
class Pool:
    """A pool to label.

    Attributes
    ----------
    title : str
    begin : callable(log, begun) -> SequentialDesign
        Makes the design, or continues it (``begun``), on the log that it is given. None where it keeps its own log.
    classes : sequence
        What may be answered.
    shown : callable(position) -> Shown
    pictures : Pictures or None
    overlap : int, default 1
        How many people answer each row; beyond one the design has ``repeat=True``.
    lease : float, default 600.0
        Seconds after which a query that nobody answered goes to somebody else.
    identity : str
        Changes when the pool does.
    people : list of sessions, default []
        Who may label where skills are learnt: the design's candidates are pairs of a row and one of these, the person
        changing fastest.
    own_log : bool, default False
        Whether the design keeps a log of its own, in a file.
    question : str, default ""
        Stands above every row.
    instructions : str, default ""
        Shown before the first row, and to be opened at every row; an empty line begins a paragraph.
    one_tap : bool, default False
        Whether a tap on a label sends it.
    lang : str, default "en"
        Of the page.
    texts : dict, optional
        See `adaptive.serve.pages.TEXTS`.

    Examples
    --------
    >>> from adaptive import BayesianLogisticRegression, SequentialDesign
    >>> rows = ["good", "bad", "dull"]
    >>> X = [[float(len(row))] for row in rows]
    >>> def begin(log, begun):
    ...     model = BayesianLogisticRegression(classes=["no", "yes"])
    ...     return SequentialDesign.load(log, model, X) if begun else SequentialDesign(model, X, log=log)
    >>> pool = Pool("Three words", begin, ["no", "yes"], lambda position: Shown(text=rows[position]))
    >>> pool.shown(1).text
    'bad'
    """

    title: str
    begin: Callable[[EventLog, bool], SequentialDesign]
    classes: Sequence[Any]
    shown: Callable[[int], Shown]
    pictures: Pictures | None = None
    overlap: int = 1
    lease: float = 600.0
    lang: str = "en"
    texts: dict[str, str] = field(default_factory=dict)
    identity: str = ""
    people: Sequence[int] = ()
    own_log: bool = False
    question: str = ""
    instructions: str = ""
    one_tap: bool = False

    def row(self, position: int) -> int:
        """Return the row that a candidate of the design is about."""
        return position // len(self.people) if self.people else position


class LabellingDesk:
    """Labels from many people into one design.

    Parameters
    ----------
    pool : Pool
    store : Store
    clock : callable() -> float, default time.time
        Of the leases.
    """

    kind = "labelling"
    panel: Panel | None = None

    def __init__(self, pool: Pool, store: Store, *, clock: Callable[[], float] = time.time) -> None:
        self.pool, self.store, self._clock = pool, store, clock
        self.title, self.lang, self.texts = pool.title, pool.lang, texts(pool.texts)
        self.question, self.instructions, self.one_tap = pool.question, pool.instructions, pool.one_tap
        store.fact("kind", self.kind)
        store.fact("identity", pool.identity)
        store.fact("overlap", str(pool.overlap))
        if pool.people:
            store.fact("people", str(len(pool.people)))
        self.words = [str(one) for one in pool.classes]
        self.designs = Designs(self._opened, most=1, idle=float("inf"))
        self.progress = Progress()
        with self._design() as design:  # a pool or log at fault is said before anybody comes
            if pool.own_log and design.log_path is not None:
                store.fact("log", os.path.relpath(design.log_path, store.folder))

    def _opened(self, number: int) -> SequentialDesign:
        begun = not self.pool.own_log and self.store.has_log(DESIGN)
        design = self.pool.begin(self.store.log(DESIGN, snapshot_every=50), begun)
        self._look(design, None)
        design.callbacks = (*design.callbacks, self._look)
        return design

    def _look(self, design: SequentialDesign, event: dict[str, Any] | None) -> None:
        """See who has said what: of one more event, or from the log on."""
        self._standing: Standing = Standing(design) if event is None else self._standing.after(design, event)

    @property
    def _said(self) -> list[Said]:
        return self._standing.said

    @contextmanager
    def _design(self) -> Iterator[SequentialDesign]:
        with self.designs.use(DESIGN) as design:
            yield design

    # -- who is asked what --------------------------------------------------------------------------------------

    def place(self, session: int) -> Place:
        if self.pool.people and session not in self.pool.people:
            return Place(full=True)
        with self._design() as design:
            common: dict[str, Any] = {
                "count": len(self._of(session)), "last": self._last(design, session), "done": self._done(design),
            }  # fmt: skip
            query = self._query(design, session)
            if query is None:
                return Place(waiting=bool(design.pending), **common)
            shown = self.pool.shown(self.pool.row(int(query.positions[0])))
            return Place(number=_number(design, query), shown=shown, answers=self.words, **common)

    def _of(self, session: int) -> list[Said]:
        return [said for said in self._said if said.who == session]

    def _query(self, design: SequentialDesign, session: int) -> Query | None:
        now, leases = self._clock(), self._leases()
        seen = {said.position for said in self._of(session)}
        free = []
        for query in _rows(design.pending):
            held = leases.get(_key(query))
            if held is not None and held[0] == session:
                return self._lease(query, session)
            expired = held is not None and held[1] <= now
            if self.pool.people:
                if expired:  # nobody else can take it over; a late answer is learnt all the same
                    design.skip(query)
            elif (held is None or expired) and _key(query)[1] not in seen:
                free.append(query)
        if free:
            return self._lease(free[0], session)
        if design.finished:
            return None
        position = self._further_opinion(design, session) if self.pool.overlap > 1 else None
        if position is not None:
            return self._lease(design.ask(positions=[position], worker=session), session)
        try:
            # with overlap the design itself would ask a row again: how often is decided here
            asked = self._asked(design) if self.pool.overlap > 1 else set()
            return self._lease(design.ask(1, another=True, worker=session, exclude=sorted(asked)), session)
        except PoolExhausted:
            return None
        except ValueError:
            if design.n_left <= len(asked):  # "n must be at most 0"
                return None
            raise

    def _asked(self, design: SequentialDesign) -> set[int]:
        return {said.position for said in self._said} | {_key(query)[1] for query in _rows(design.unanswered)}

    def _further_opinion(self, design: SequentialDesign, session: int) -> int | None:
        """The row asked first of those that want a further opinion, and not this person's."""
        people: dict[int, list[Any]] = {}
        for said in self._said:
            people.setdefault(said.position, []).append(said.who)
        leases = self._leases()
        for query in _rows(design.pending):
            people.setdefault(_key(query)[1], []).append(leases.get(_key(query), (None,))[0])
        aside = set(design.excluded().tolist())
        for position, whose in people.items():
            if len(whose) < self.pool.overlap and session not in whose and position not in aside:
                return position
        return None

    def _leases(self) -> dict[tuple[int, int], tuple[int, float]]:
        found = self.store.rows("SELECT query, position, session, until FROM leases")
        return {(query, position): (session, until) for query, position, session, until in found}

    def _lease(self, query: Query, session: int) -> Query:
        until = self._clock() + self.pool.lease
        held = self._leases().get(_key(query))
        if held is None or held[0] != session or held[1] < until - self.pool.lease / 10:  # not at every look
            with self.store.transaction() as connection:
                connection.execute("REPLACE INTO leases VALUES (?, ?, ?, ?)", (*_key(query), session, until))
        return query

    # -- what they say ------------------------------------------------------------------------------------------

    def answer(self, session: int, number: str, given: str) -> None:
        with self._design() as design:
            leases = self._leases()
            late = [one for one in _rows(design.unanswered) if leases.get(_key(one), (None,))[0] == session]
            query = next((one for one in (*_rows(design.pending), *late) if _number(design, one) == number), None)
            held = None if query is None else leases.get(_key(query))
            if query is None or (held is not None and held[0] != session and held[1] > self._clock()):
                raise Refused(409, self.texts["stale"])
            if given == SKIP:
                design.skip(query)
            else:
                chosen = choice(given, len(self.words))
                if chosen < 0:
                    raise Refused(422, self.texts["missing"])
                design.tell(query, [self.pool.classes[chosen]], worker=session)
                if self.pool.people and len(self._said) % KEPT_EVERY == 0:
                    self._keep_skills(design)
            with self.store.transaction() as connection:
                connection.execute("DELETE FROM leases WHERE query = ? AND position = ?", _key(query))

    def retract(self, session: int, last: str) -> None:
        with self._design() as design:
            if not last or self._last(design, session) != last:
                raise Refused(409, self.texts["stale"])
            said = self._of(session)[-1]
            design.retract(Query(np.array([said.position]), [None], None, np.array([np.nan]), said.query))
            with self.store.transaction() as connection:
                until = self._clock() + self.pool.lease
                connection.execute(
                    "REPLACE INTO leases VALUES (?, ?, ?, ?)", (said.query, said.position, session, until)
                )

    def _last(self, design: SequentialDesign, session: int) -> str:
        said = self._of(session)
        return f"{said[-1].query}.{said[-1].position}.{design.retracted(said[-1].query)}" if said else ""

    def _done(self, design: SequentialDesign) -> float:
        fraction = getattr(design.stop, "fraction_done", None)
        if fraction is not None:
            return float(fraction(design))
        answered = len({self.pool.row(said.position) for said in self._said})
        left = length(design.pool) // len(self.pool.people) - answered if self.pool.people else design.n_left
        return answered / max(1, answered + left)

    def given(self, session: int) -> list[tuple[Shown, str]]:
        return [(self.pool.shown(self.pool.row(said.position)), str(said.outcome)) for said in self._of(session)]

    def picture(self, session: int, position: int) -> Picture | None:
        """Only of what this person is asked, or has answered."""
        if self.pool.pictures is None:
            return None
        with self._design() as design:
            leases = self._leases()
            mine = {self.pool.row(said.position) for said in self._of(session)}
            mine |= {
                self.pool.row(_key(one)[1])
                for one in _rows(design.pending)
                if leases.get(_key(one), (None,))[0] == session
            }
        return self.pool.pictures.picture(position) if position in mine else None

    def numbers(self) -> dict[str, Any] | None:
        with self._design() as design:
            people = {said.who for said in self._said}
            counts = {word: sum(str(said.outcome) == word for said in self._said) for word in self.words}
            total = len(self._said)
        return {"people": len(people), "counts": counts, "answers": total, **self.progress.of(design)}

    def _keep_skills(self, design: SequentialDesign) -> None:
        """Write what is believed about the people beside their answers; other labellers do not see it."""
        heard = {said.who for said in self._said}
        found = [(who, one) for who, one in sorted(design.estimator_.annotators_.items()) if who in heard]
        columns: dict[str, list[Any]] = {"session": [who for who, _ in found]}
        columns |= {key: [getattr(one, name) for _, one in found] for key, name in SKILLS.items()}
        write_csv(self.store.folder / PEOPLE, columns, durable=False)

    def close(self) -> None:
        if self.pool.people and self._said:
            with self._design() as design:
                self._keep_skills(design)
        self.designs.forget_all()


def _rows(queries: Sequence[Query]) -> Iterator[Query]:
    """Queries of one candidate each: a batch is answered row by row."""
    for query in queries:
        for row in range(len(query)):
            yield query.part(np.array([row]))


def _key(query: Query) -> tuple[int, int]:
    """Subject of a lease."""
    return query.id, int(query.positions[0])


def _number(design: SequentialDesign, query: Query) -> str:
    """Names a question, anew whenever an answer to it was taken back: an old form is stale then."""
    return f"{query.id}.{query.positions[0]}.{design.retracted(query.id)}"
