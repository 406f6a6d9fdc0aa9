"""The log of a pool as its pages need it: who was asked what, who said what; read on as others write.

    with ledger.reading():   read on what others have written
    with ledger.writing():   the same, then append: nobody else does so meanwhile

An answer is one line in the log, whatever it will cost to learn it. The design that learns follows (`Designer`).
"""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from adaptive import pool as pools
from adaptive.loop import arguments
from adaptive.loop.candidates import candidates_of

if TYPE_CHECKING:
    from adaptive.loop import EventLog, SequentialDesign
    from adaptive.serve.stores.any_store import AnyStore

__all__ = ["Ledger", "Open", "Told"]


class Open(NamedTuple):
    """Candidate that was asked and not answered: a row of a query."""

    query: int
    row: int
    position: int
    skipped: bool

    @property
    def key(self) -> tuple[int, int]:
        """Subject of a lease."""
        return self.query, self.position


class Told(NamedTuple):
    """Answer that stands, with the number of its event."""

    number: int
    who: Any
    query: int
    row: int
    position: int
    outcome: Any


class Ledger:
    """Reading of a pool's log.

    Parameters
    ----------
    log : EventLog
        Opened. Nobody else in this process writes it.
    pattern : SequentialDesign
        Its pool, mask, costs and whether candidates may be asked again.
    store : AnyStore or None
        What the log is in; None where it is in a file of its own.
    design : int
        Number of the design in the store.

    Attributes
    ----------
    events : list of dict
    said : list of Told
        Answers that stand, in the order in which they were given.
    free : (m,) array of bool
        Candidates that may be asked, by what the design itself looks at.
    retracted : Counter
        How often an answer to a query was taken back.
    changed : threading.Event
        Set whenever there is something new.
    """

    def __init__(self, log: EventLog, pattern: SequentialDesign, store: AnyStore | None, design: int) -> None:
        if pattern.changing_pool:
            raise ValueError("a pool that several people label must be fixed, got a callable.")
        self.log, self.repeat = log, pattern.repeat
        self._store, self._design = store, design
        self.pool, self._mask, self._cost = pattern.pool, pattern.mask, pattern.cost
        self._candidates = candidates_of(self.pool)
        self.guard = threading.RLock()
        self.changed = threading.Event()
        self._wrote = False
        self._restart()

    def _restart(self) -> None:
        self._stale = False
        self.events: list[dict[str, Any]] = []
        self.said: list[Told] = []
        self.retracted: Counter[int] = Counter()
        self.n_queries = 0
        self._queries: dict[int, dict[str, Any]] = {}
        self._open: dict[tuple[int, int], Open] = {}  # by query and row
        self._aside = set[tuple[int, int]]()
        self._seconds, self._clock = 0.0, time.monotonic()
        self.free = np.ones(pools.length(self.pool), dtype=bool) if self._mask is None else self._mask.copy()

    # -- reading ------------------------------------------------------------------------------------------------

    @contextmanager
    def reading(self) -> Iterator[Ledger]:
        """Read on, and hold still meanwhile."""
        with self.guard:
            self._read_on()
            yield self

    def fetch(self, n_events: int) -> list[dict[str, Any]]:
        """Return the events behind the first ``n_events``: what a design follows."""
        with self.reading():
            return self.events[n_events:]

    def _read_on(self) -> None:
        if self._stale:
            if self._store is None:
                self.log.reload()
            else:
                self.log.open()  # what was rolled back was never written
            self._restart()
            found = self.log.fetch(0)
        else:
            found = self.log.fetch(len(self.events))
        for event in found:
            self._add(event)

    def _add(self, event: dict[str, Any]) -> None:
        number, kind = len(self.events), event["event"]
        self.events.append(event)
        query = event.get("query", -1)
        if kind == "ask":
            self._queries[query] = event
            if not event.get("volunteered", False):
                self.n_queries = query + 1
                for row in range(len(event["positions"])):
                    self._reopen(query, row)
        elif kind == "tell":
            who = event.get("worker", self._queries[query].get("worker"))
            self.n_queries = max(self.n_queries, query + 1)
            for row, outcome in zip(event["rows"], event["outcomes"], strict=True):
                position = self._queries[query]["positions"][row]
                self._open.pop((query, row), None)
                self.free[position] &= self.repeat
                plain = outcome.item() if isinstance(outcome, np.generic) else outcome
                self.said.append(Told(number, who, query, row, position, plain))
        elif kind == "skip":
            for row in event["rows"]:
                self._aside.add((query, row))
                self.free[self._queries[query]["positions"][row]] = False
                if (query, row) in self._open:
                    self._reopen(query, row)
        elif kind == "retract":
            self.retracted[query] += 1
            for row in event["rows"]:
                last = next(k for k in range(len(self.said) - 1, -1, -1) if self.said[k][2:4] == (query, row))
                del self.said[last]
                self._reopen(query, row)
        elif kind == "reject":
            for told in [one for one in self.said if one.number == number - 1]:  # the event before it
                self.said.remove(told)
                self._reopen(told.query, told.row)
        self._seconds = max(self._seconds, event.get("seconds", 0.0))
        self.changed.set()

    def _reopen(self, query: int, row: int) -> None:
        """Have a row of a query wait, unless it was set aside, or nobody had asked it."""
        event = self._queries[query]
        position = event["positions"][row]
        aside = (query, row) in self._aside
        if event.get("volunteered", False):
            self.free[position] = not aside
            return
        self._open[query, row] = Open(query, row, position, aside)
        self.free[position] &= self.repeat and not aside

    @property
    def waiting(self) -> list[Open]:
        """Candidates that wait for an answer, oldest first."""
        return [one for _, one in sorted(self._open.items()) if not one.skipped]

    @property
    def unanswered(self) -> list[Open]:
        """Candidates that were not answered, oldest first, those set aside included."""
        return [one for _, one in sorted(self._open.items())]

    @property
    def touched(self) -> set[int]:
        """Positions that were asked and not answered, or answered."""
        return {one.position for one in self._open.values()} | {told.position for told in self.said}

    # -- writing ------------------------------------------------------------------------------------------------

    @contextmanager
    def writing(self) -> Iterator[Ledger]:
        """Read on, and let nobody else append until the end; all that is appended is on the disk then, or nothing."""
        with self.guard:
            self._wrote = False
            try:
                with nullcontext() if self._store is None else self._store.transaction(self._design):
                    self._read_on()
                    yield self
            except BaseException:
                self._stale |= self._wrote  # the log has taken back what it was told, or may have
                raise

    def ask(self, item: Mapping[str, Any], who: int) -> Open:
        """Append that a candidate is asked of somebody.

        Parameters
        ----------
        item : dict
            Of a `Designer`, or of `candidate`.
        who : int
            Session.
        """
        query = self.n_queries
        self._append({**item, "event": "ask", "query": query, "worker": who})
        return self._open[query, 0]

    def candidate(self, position: int) -> dict[str, Any]:
        """Return what the log says of a candidate that no design has chosen."""
        chosen = np.array([position], dtype=np.intp)
        cost = arguments.costs_of(arguments.at_present(self._cost, None), self.pool, chosen)
        described = self._candidates.describe(self.pool, chosen)
        return {"n": 1, "initial": False, "scores": [None], "costs": cost.tolist(), **described}

    def tell(self, one: Open, outcome: Any, who: int) -> None:
        """Append an answer."""
        self._append({"event": "tell", "query": one.query, "rows": [one.row], "outcomes": [outcome], "worker": who})

    def skip(self, one: Open) -> None:
        """Append that a candidate is set aside."""
        self._append({"event": "skip", "query": one.query, "rows": [one.row]})

    def retract(self, told: Told) -> None:
        """Append that an answer is taken back."""
        self._append({"event": "retract", "query": told.query, "rows": [told.row]})

    def _append(self, event: dict[str, Any]) -> None:
        self._wrote = True
        seconds = self._seconds + time.monotonic() - self._clock
        self._clock = time.monotonic()
        self._add(self.log.append({**event, "seconds": seconds}))
