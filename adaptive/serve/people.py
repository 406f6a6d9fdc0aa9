"""Who is there: sessions in the store by the hash of their secret, and how fast each may ask."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING

from adaptive.serve.gate.signing import hashed, new_secret
from adaptive.serve.refusals import Refused

if TYPE_CHECKING:
    from adaptive.serve.stores.any_store import AnyStore, Run

__all__ = ["People", "Person", "Rate", "erase"]

MOST_SESSIONS = 20_000
MOST_DEVICES = 20  # of one participant; the one that came first of all stays, too

FRESH = 60.0  # seconds for which a session is known without a look into the store
EMPTY = 7200.0  # seconds after which a session that nobody has looked for ends, if it has said nothing
OF_DESIGNS, OF_SESSIONS = ("events", "counts", "snapshots"), ("leases", "participants", "tickets", "passes")
LATER_TABLES = ("attention", "seen")  # of sessions, in stores of tests that have them

# sessions.ended: when somebody who had been there for a while was last looked for
_FIND = """
SELECT s.id, s.name, s.begun, s.ended, p.participant FROM sessions s LEFT JOIN participants p ON p.session = s.id
WHERE s.hash = ? OR s.id = (SELECT session FROM tickets WHERE hash = ?)
"""
_FEW_TICKETS = """
DELETE FROM tickets WHERE session = ? AND hash NOT IN
(SELECT hash FROM tickets WHERE session = ? ORDER BY made DESC LIMIT ?)
"""


@dataclass(frozen=True)
class Person:
    """A session.

    Attributes
    ----------
    id : int
    name : str or None
        Of a labeller who gave one.
    begun : bool
        Whether an invitation was taken up.
    participant : str or None
        Who it is to a panel.
    """

    id: int
    name: str | None
    begun: bool
    participant: str | None = None


class People:
    """The sessions of a store.

    Parameters
    ----------
    store : AnyStore
    most : int, default 20000
        More are refused, lest somebody fill the disk with them.
    clock : callable() -> float, default time.time
    """

    def __init__(
        self, store: AnyStore, *, most: int = MOST_SESSIONS, clock: Callable[[], float] = time.time
    ) -> None:  # fmt: skip
        self.store, self.most, self._clock = store, most, clock
        self._known: OrderedDict[bytes, tuple[Person, float]] = OrderedDict()
        self._guard = threading.Lock()
        self._swept = 0.0

    def known(self, secret: str | None) -> Person | None:
        """Return the session of a secret that was found before, without a look into the store."""
        found = self._known.get(hashed(secret)) if secret else None
        return found[0] if found is not None and time.monotonic() - found[1] < FRESH else None

    def find(self, secret: str | None) -> Person | None:
        """Return the session of a secret, if there is one."""
        if not secret or len(secret) > 100:
            return None
        found = self.store.rows(_FIND, (hashed(secret), hashed(secret)))
        if not found:
            return None
        number, name, begun, looked, participant = found[0]
        person = Person(number, name, begun is not None, participant)
        if person.begun:  # one that was not may be, by the next request
            if self._clock() - (looked or begun) > EMPTY / 2:
                with self.store.transaction() as run:
                    run("UPDATE sessions SET ended = ? WHERE id = ?", (self._clock(), number))
            with self._guard:
                self._known[hashed(secret)] = person, time.monotonic()
                while len(self._known) > self.most:
                    self._known.popitem(last=False)
        return person

    def sweep(self, heard: Callable[[float], Collection[int]]) -> int:
        """End sessions that have said nothing, and that nobody has looked for in two hours; return how many.

        Parameters
        ----------
        heard : callable(time) -> collection of int
            Which of the sessions begun before then have said something. Looked at once a minute.
        """
        with self._guard:
            if time.monotonic() - self._swept < FRESH and self._swept:
                return 0
            self._swept = time.monotonic()
        then = self._clock() - EMPTY
        old = self.store.rows("SELECT id FROM sessions WHERE begun IS NOT NULL AND COALESCE(ended, begun) < ?", (then,))
        kept = heard(then) if old else ()
        gone = [session for (session,) in old if session not in kept]
        if gone:
            with self.store.transaction() as run:
                for session in gone:
                    erase(self.store, run, session)
        return len(gone)

    def add(self, name: str | None = None, *, begun: bool = True, secret: str | None = None) -> tuple[str, int]:
        """Make a session; return its secret, which is kept nowhere, and its number.

        Of a given secret there is one session, however often it is added.
        """
        known = self.find(secret)
        if secret is not None and known is not None:
            return secret, known.id
        secret = secret or new_secret()
        with self.store.transaction() as run:
            if run("SELECT COUNT(*) FROM sessions")[0][0] >= self.most:
                raise Refused(429, "This server has no room for another session; please come back later.")
            run(
                "INSERT INTO sessions (hash, name, begun) VALUES (?, ?, ?) ON CONFLICT (hash) DO NOTHING",
                (hashed(secret), name, self._clock() if begun else None),
            )
            number = int(run("SELECT id FROM sessions WHERE hash = ?", (hashed(secret),))[0][0])
        return secret, number

    def admit(self, participant: str) -> str:
        """Return a secret for the session of somebody whom a panel sends: a new one, or the one there is."""
        found = self.store.rows("SELECT session FROM participants WHERE participant = ?", (participant,))
        if not found:
            secret, number = self.add()
            with self.store.transaction() as run:
                known = run(
                    "INSERT INTO participants VALUES (?, ?) ON CONFLICT (participant) DO NOTHING RETURNING session",
                    (participant, number),
                )
                if not known:  # the same link opened twice at once: the other one was first
                    run("DELETE FROM sessions WHERE id = ?", (number,))
            return secret if known else self.admit(participant)
        secret = new_secret()
        with self.store.transaction() as run:
            run("INSERT INTO tickets VALUES (?, ?, ?)", (hashed(secret), found[0][0], time.time()))
            run(_FEW_TICKETS, (found[0][0], found[0][0], MOST_DEVICES))
        return secret

    def begin(self, person: Person, name: str | None = None) -> None:
        """Take up an invitation."""
        with self.store.transaction() as run:
            run(
                "UPDATE sessions SET begun = COALESCE(begun, ?), name = COALESCE(?, name) WHERE id = ?",
                (self._clock(), name, person.id),
            )

    def invite(self, n: int) -> list[tuple[int, str]]:
        """Make invitations; return (number of the session, secret) of each."""
        return [(number, secret) for secret, number in (self.add(begun=False) for _ in range(n))]


def erase(store: AnyStore, run: Run, session: int) -> int:
    """Remove a session and what only it said; return how many lines of its log went, -1 where there is none."""
    if not run("DELETE FROM sessions WHERE id = ? RETURNING id", (session,)):
        return -1
    gone = [len(run(f"DELETE FROM {table} WHERE design = ? RETURNING 1", (session,))) for table in OF_DESIGNS]
    for table in (*OF_SESSIONS, *(one for one in LATER_TABLES if store.has_table(one))):
        run(f"DELETE FROM {table} WHERE session = ?", (session,))
    return gone[0]


class Rate:
    """So many requests per second, some more at once.

    Parameters
    ----------
    per_second : float
    burst : int

    Examples
    --------
    >>> rate = Rate(1.0, 2, clock=lambda: 0.0)
    >>> [rate.allows(7) for _ in range(3)], rate.allows(8)
    ([True, True, False], True)
    """

    def __init__(self, per_second: float, burst: int, *, clock: Callable[[], float] = time.monotonic) -> None:
        self.per_second, self.burst, self._clock = per_second, burst, clock
        self._left: OrderedDict[object, tuple[float, float]] = OrderedDict()
        self._guard = threading.Lock()

    def allows(self, whom: object) -> bool:
        """Count one request of somebody; return whether it is taken."""
        now = self._clock()
        with self._guard:
            left, at = self._left.pop(whom, (float(self.burst), now))
            left = min(float(self.burst), left + (now - at) * self.per_second)
            self._left[whom] = (left - 1.0 if left >= 1.0 else left, now)
            while len(self._left) > 10_000:
                self._left.popitem(last=False)
        return left >= 1.0
