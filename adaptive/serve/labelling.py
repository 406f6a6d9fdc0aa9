"""A pool that several people label together: one design, a query of their own for each, and leases on what is open.

    a person asks:   their own open query
                     else one whose lease ran out, of a row that they have not answered
                     else a row that wants a further opinion (overlap > 1)
                     else the first of what the designer has in stock, chosen in the light of all that is open
                     else a row at random, and the log says so

Nobody waits for a choice: an answer is a line in the log, and the `Designer` learns it beside the pages. With
``ahead=0`` a row is chosen when a page asks for it, which is for one person, and for simulations.

Where people's skills are learnt the candidates of the design are a row and a session: nobody takes over another's
query, a row is asked of several where that tells more than another row, and "cannot tell" is that person's alone.
Elsewhere a row that one could not tell goes to others, until ``give_up`` people could not.

An answer counts whoever holds the lease, as long as the query waits: nothing that somebody typed is thrown away.
"""

from __future__ import annotations

import json
import os
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from adaptive.loop.log.event_log import EventLog, LogError
from adaptive.serve.designer import Designer, Stock
from adaptive.serve.ledger import Ledger, Open, Told
from adaptive.serve.pages import SKIP, Place, choice, texts
from adaptive.serve.panel import Panel
from adaptive.serve.refusals import Refused
from adaptive.serve.rendering import Picture, Pictures, Shown

if TYPE_CHECKING:
    from adaptive.loop import SequentialDesign
    from adaptive.serve.stores.any_store import AnyStore, Run

__all__ = ["DESIGN", "SKILLS", "LabellingDesk", "Pool"]

SKILLS = "skills"  # a fact of the store: what is believed about each who has answered
DESIGN = 0  # of the store: sessions count from 1
THERE = 120.0  # seconds for which rows are kept in stock for somebody
MOST_PASSES = 50  # more than answers that one session may give up on
_LEASE = """
INSERT INTO leases VALUES (?, ?, ?, ?)
ON CONFLICT (query, position) DO UPDATE SET session = excluded.session, until = excluded.until
"""


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
    give_up : int, optional
        How many people must be unable to tell before a row is set aside; default: as many as its overlap.
    ahead : int, default 2
        Rows in stock for each who is there, so that nobody waits for a choice; 0 chooses when a page asks.
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
    give_up: int | None = None
    ahead: int = 2
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
    store : AnyStore
    clock : callable() -> float, default time.time
        Of the leases.
    beside : bool, default True
        Whether rows are chosen in a thread of this desk's; False: whenever `Designer.step` is called, in a simulation.
    """

    kind = "labelling"
    panel: Panel | None = None

    def __init__(
        self, pool: Pool, store: AnyStore, *, clock: Callable[[], float] = time.time, beside: bool = True
    ) -> None:
        self.pool, self.store, self._clock = pool, store, clock
        self.title, self.lang, self.texts = pool.title, pool.lang, texts(pool.texts)
        self.question, self.instructions, self.one_tap = pool.question, pool.instructions, pool.one_tap
        store.fact("kind", self.kind)
        store.fact("identity", pool.identity)
        store.fact("overlap", str(pool.overlap))
        if pool.people:
            store.fact("people", str(len(pool.people)))
        self.words = [str(one) for one in pool.classes]
        self.give_up = pool.overlap if pool.give_up is None else pool.give_up
        self._there: dict[int, float] = {}  # when each last had a query open
        self._kept = 0  # answers when skills were last written
        self.ledger = self._opened()
        self.designer = Designer(
            self._begun, self.ledger, store, DESIGN, ahead=pool.ahead, present=self._present, own=pool.people,
            learnt=self._keep_skills if pool.people else lambda design: None, keeps=pool.own_log,
        )  # fmt: skip
        if pool.ahead:
            if store.lead():  # a pool or log at fault is said before anybody comes, and the first find rows in stock
                self.designer.step()
            if beside:
                self.designer.start()
        else:
            self.designer.design()

    def _opened(self) -> Ledger:
        """Read the log, having begun it where it is new."""
        if self.pool.own_log:
            self._own = self.pool.begin(EventLog(), False)
            if self._own.log_path is not None:
                self.store.fact("log", os.path.relpath(self._own.log_path, self.store.folder))
            return Ledger(self._own.log, self._own, None, DESIGN)
        if not self.store.has_log(DESIGN):
            try:
                self.pool.begin(self.store.log(DESIGN), False).close()
            except LogError:  # another server was first
                if not self.store.has_log(DESIGN):
                    raise
        log = self.store.log(DESIGN)
        log.open()
        return Ledger(log, self.pool.begin(EventLog(), False), self.store, DESIGN)

    def _begun(self) -> SequentialDesign:
        """Return the design as the log has it."""
        if self.pool.own_log:
            return self._own
        return self.pool.begin(self.store.log(DESIGN, snapshot_every=50), True)

    @property
    def _said(self) -> list[Told]:
        return self.ledger.said

    # -- who is asked what --------------------------------------------------------------------------------------

    def place(self, session: int) -> Place:
        if self.pool.people and session not in self.pool.people:
            return Place(full=True)
        self._there[session] = self._clock()
        stock = self.designer.stock.read() if self.pool.ahead else None
        with self.ledger.reading():
            leases, soon = self._leases(), self._clock() + 0.9 * self.pool.lease
            one = self._mine(session, leases)
            if one is not None and leases[one.key][1] < soon:
                one = None  # there is a lease to write
        if one is None:
            chosen = [] if stock is not None else self._chosen_now(session)
            with self.ledger.writing(), self.store.transaction() as run:
                one = self._next(session, run, stock, chosen)
        with self.ledger.reading():
            common: dict[str, Any] = {
                "count": sum(told.who == session for told in self._said),
                "last": self._last(session), "done": self._done(stock),
            }  # fmt: skip
            if one is None:
                return Place(waiting=bool(self.ledger.waiting), **common)
            shown = self.pool.shown(self.pool.row(one.position))
            return Place(
                number=self._number(one), shown=shown, answers=self.words, may_stop=self.designer.may_stop(), **common
            )

    def _next(
        self, session: int, run: Run, stock: dict[str, Any] | None, chosen: Sequence[dict[str, Any]]
    ) -> Open | None:
        """Return this person's query, a new one if need be."""
        now, leases, passes = self._clock(), self._leases(), self._passes()
        seen = {told.position for told in self._said if told.who == session}
        seen |= {position for who, _, position, _ in passes if who == session}
        mine = self._mine(session, leases)
        if mine is not None:
            return self._lease(run, mine, session)
        free = []
        for one in self.ledger.waiting:
            held = leases.get(one.key)
            expired = held is not None and held[1] <= now
            if self.pool.people:
                if expired:  # nobody else can take it over; a late answer is learnt all the same
                    self.ledger.skip(one)
            elif (held is None or expired) and one.position not in seen:
                free.append(one)
        if free:
            return self._lease(run, free[0], session)
        if stock is not None and stock["finished"]:
            return None
        item = self._further_opinion(session, seen) or self._of_stock(session, stock, chosen)
        return None if item is None else self._lease(run, self.ledger.ask(item, session), session)

    def _mine(self, session: int, leases: dict[tuple[int, int], tuple[int, float]]) -> Open | None:
        """Return this person's open query; one that they could not tell, where they took that back."""
        now = self._clock()
        for one in self.ledger.unanswered:
            who, until = leases.get(one.key, (None, 0.0))
            if who == session and (not one.skipped or until > now):
                return one
        return None

    def _of_stock(
        self, session: int, stock: dict[str, Any] | None, chosen: Sequence[dict[str, Any]]
    ) -> dict[str, Any] | None:
        """Return the first choice that still stands, or a row at random where there is none."""
        free = self._free()
        if stock is None:
            return next((item for item in chosen if free[item["positions"][0]]), None)
        for item in stock["items"].get(str(session) if self.pool.people else Stock.ANYBODY, []):
            if free[item["positions"][0]]:
                return item
        if self.pool.people:
            free &= np.asarray(self.ledger.pool.asked_of(session))
        left = np.flatnonzero(free)
        if not len(left):
            return None
        drawn = np.random.default_rng([self.ledger.n_queries, session]).choice(left)
        return {**self.ledger.candidate(int(drawn)), "drawn": 1, "stock": "empty"}

    def _free(self) -> np.ndarray:
        """Candidates that may be asked of somebody for the first time."""
        free = self.ledger.free.copy()
        if self.ledger.repeat:  # how often a row is asked is decided here
            free[list(self.ledger.touched)] = False
        return free

    def _chosen_now(self, session: int) -> list[dict[str, Any]]:
        """Choose for somebody, where nothing is kept in stock and nothing waits for them."""
        with self.ledger.reading():
            asked = np.flatnonzero(self.ledger.free & ~self._free()).tolist()
        return self.designer.now(session, asked)

    def _further_opinion(self, session: int, seen: set[int]) -> dict[str, Any] | None:
        """Return the row asked first of those that want a further opinion, and not this person's."""
        if self.pool.overlap == 1:
            return None
        people: Counter[int] = Counter(told.position for told in self._said)
        people.update(one.position for one in self.ledger.waiting)
        for position, n in people.items():
            if n < self.pool.overlap and position not in seen and self.ledger.free[position]:
                return self.ledger.candidate(position)
        return None

    def _leases(self) -> dict[tuple[int, int], tuple[int, float]]:
        latest = self._clock() + self.pool.lease  # a clock that was set back prolongs none
        found = self.store.rows("SELECT query, position, session, until FROM leases")
        return {(query, position): (session, min(until, latest)) for query, position, session, until in found}

    def _present(self) -> list[int]:
        """Who has a query open, or had one a moment ago: between an answer and the next page they have none."""
        # a list of them: pages add to it in threads of their own meanwhile
        now = self._clock()
        self._there |= {session: now for session, until in self._leases().values() if until > now}
        return sorted(session for session, when in list(self._there.items()) if now - when < THERE)

    def _lease(self, run: Run, one: Open, session: int) -> Open:
        run(_LEASE, (*one.key, session, self._clock() + self.pool.lease))
        return one

    def _passes(self) -> list[tuple[int, int, int, int]]:
        """Who could not tell: session, query, position, and how many events there were."""
        return self.store.rows("SELECT session, query, position, number FROM passes ORDER BY number")  # type: ignore[return-value]

    def _number(self, one: Open) -> str:
        """Names a question, anew whenever an answer to it was taken back: an old form is stale then."""
        return f"{one.query}.{one.position}.{self.ledger.retracted[one.query]}"

    # -- what they say ------------------------------------------------------------------------------------------

    def answer(self, session: int, number: str, given: str) -> None:
        with self.ledger.writing(), self.store.transaction() as run:
            leases, passes = self._leases(), self._passes()
            late = [one for one in self.ledger.unanswered if leases.get(one.key, (None,))[0] == session]
            one = next((one for one in (*self.ledger.waiting, *late) if self._number(one) == number), None)
            held = None if one is None else leases.get(one.key)
            if one is None or (held is not None and held[0] != session and held[1] > self._clock()):
                raise Refused(409, self.texts["stale"])
            if given == SKIP:
                self._pass(session, one, run, passes)
            else:
                chosen = choice(given, len(self.words))
                if chosen < 0:
                    raise Refused(422, self.texts["missing"])
                self.ledger.tell(one, self.pool.classes[chosen], session)
            run("DELETE FROM leases WHERE query = ? AND position = ?", one.key)

    def _pass(self, session: int, one: Open, run: Run, passes: Sequence[tuple[int, int, int, int]]) -> None:
        """Keep that somebody cannot tell, and set the row aside where enough people could not."""
        mine = sum(who == session for who, *_ in passes)
        if mine >= MOST_PASSES + sum(told.who == session for told in self._said):
            raise Refused(429, self.texts["passes"])
        run(
            "INSERT INTO passes VALUES (?, ?, ?, ?, ?) ON CONFLICT (session, query, position) DO UPDATE SET number = "
            "excluded.number, time = excluded.time",
            (session, *one.key, len(self.ledger.events), time.time()),
        )
        could_not = {who for who, _, position, _ in passes if position == one.position} | {session}
        if (self.pool.people or len(could_not) >= self.give_up) and not one.skipped:
            self.ledger.skip(one)

    def retract(self, session: int, last: str) -> None:
        with self.ledger.writing(), self.store.transaction() as run:
            if not last or self._last(session) != last:
                raise Refused(409, self.texts["stale"])
            told, passed = self._latest(session)
            if passed is not None:
                run("DELETE FROM passes WHERE session = ? AND query = ? AND position = ?", passed[:3])
                key = passed[1:3]
            else:
                assert told is not None
                self.ledger.retract(told)
                key = (told.query, told.position)
            run(_LEASE, (*key, session, self._clock() + self.pool.lease))

    def _latest(self, session: int) -> tuple[Told | None, tuple[int, int, int, int] | None]:
        """Return what this person said last: an answer, or that they could not tell."""
        told = next((told for told in reversed(self._said) if told.who == session), None)
        passed = next((one for one in reversed(self._passes()) if one[0] == session), None)
        if passed is not None and (told is None or passed[3] > told.number):
            return None, passed
        return told, None

    def _last(self, session: int) -> str:
        told, passed = self._latest(session)
        if passed is not None:
            return f"pass {passed[1]}.{passed[2]}.{passed[3]}"
        return "" if told is None else f"{told.query}.{told.position}.{self.ledger.retracted[told.query]}"

    def _done(self, stock: dict[str, Any] | None) -> float:
        """Share of what is needed that is done."""
        if stock is not None and stock["done"] is not None:
            return float(stock["done"])
        answered = len({self.pool.row(told.position) for told in self._said})
        if self.pool.people:
            left = len(self.ledger.free) // len(self.pool.people) - answered
        else:
            left = int(self._free().sum()) + len(self.ledger.waiting)
        return answered / max(1, answered + left)

    def given(self, session: int) -> list[tuple[Shown, str]]:
        with self.ledger.reading():
            said = [told for told in self._said if told.who == session]
        return [(self.pool.shown(self.pool.row(told.position)), str(told.outcome)) for told in said]

    def picture(self, session: int, position: int) -> Picture | None:
        """Only of what this person is asked, or has answered."""
        if self.pool.pictures is None:
            return None
        with self.ledger.reading():
            leases = self._leases()
            mine = {self.pool.row(told.position) for told in self._said if told.who == session}
            mine |= {
                self.pool.row(one.position)
                for one in self.ledger.unanswered
                if leases.get(one.key, (None,))[0] == session
            }
        return self.pool.pictures.picture(position) if position in mine else None

    def heard(self, before: float) -> set[int]:
        with self.ledger.reading():
            return {told.who for told in self._said} | {session for session, *_ in self._passes()}

    def numbers(self) -> dict[str, Any] | None:
        with self.ledger.reading():
            said = list(self._said)
        counts = {word: sum(str(told.outcome) == word for told in said) for word in self.words}
        people = {told.who for told in said}
        return {"people": len(people), "counts": counts, "answers": len(said), **self.designer.report()}

    def _keep_skills(self, design: SequentialDesign, every: int = 10) -> None:
        """Write what is believed about the people beside their answers; other labellers do not see it."""
        if design.iteration < self._kept + every:
            return
        heard = {told.who for told in self._said}
        columns = ("mean", "low", "high", "labels")
        found = {
            who: {name: getattr(one, name) for name in columns}
            for who, one in sorted(design.estimator_.annotators_.items())
            if who in heard
        }
        self.store.set_fact(SKILLS, json.dumps(found))
        self._kept = design.iteration

    def close(self) -> None:
        self.designer.stop()
        if self.pool.people and self._said and self.store.lead():
            self._keep_skills(self.designer.design(), every=1)
        self.designer.forget()
        if self.pool.own_log:
            self._own.close()
