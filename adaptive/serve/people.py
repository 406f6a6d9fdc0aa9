"""Who is there: sessions in the store by the hash of their secret, and how fast each may ask."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from adaptive.serve.refusals import Refused
from adaptive.serve.signing import hashed, new_secret

if TYPE_CHECKING:
    from adaptive.serve.store import Store

__all__ = ["People", "Person", "Rate"]

MOST_SESSIONS = 20_000


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
    """

    id: int
    name: str | None
    begun: bool


class People:
    """The sessions of a store.

    Parameters
    ----------
    store : Store
    most : int, default 20000
        More are refused, lest somebody fill the disk with them.
    """

    def __init__(self, store: Store, *, most: int = MOST_SESSIONS) -> None:
        self.store, self.most = store, most
        self._known: dict[bytes, Person] = {}  # nobody is forgotten while a server runs

    def known(self, secret: str | None) -> Person | None:
        """Return the session of a secret that was found before, without a look into the store."""
        return self._known.get(hashed(secret)) if secret else None

    def find(self, secret: str | None) -> Person | None:
        """Return the session of a secret, if there is one."""
        if not secret or len(secret) > 100:
            return None
        found = self.store.rows("SELECT id, name, begun FROM sessions WHERE hash = ?", (hashed(secret),))
        if not found:
            return None
        person = Person(found[0][0], found[0][1], found[0][2] is not None)
        if person.begun:  # one that was not may be, by the next request
            self._known[hashed(secret)] = person
        return person

    def add(self, name: str | None = None, *, begun: bool = True) -> tuple[str, int]:
        """Make a session; return its secret, which is kept nowhere, and its number."""
        secret = new_secret()
        with self.store.transaction() as connection:
            if connection.execute("SELECT COUNT(*) FROM sessions").fetchone()[0] >= self.most:
                raise Refused(429, "There are as many sessions as this server takes; no new one was begun.")
            cursor = connection.execute(
                "INSERT INTO sessions (hash, name, begun) VALUES (?, ?, ?)",
                (hashed(secret), name, time.time() if begun else None),
            )
            number = int(cursor.lastrowid or 0)
        return secret, number

    def begin(self, person: Person, name: str | None = None) -> None:
        """Take up an invitation."""
        with self.store.transaction() as connection:
            connection.execute(
                "UPDATE sessions SET begun = COALESCE(begun, ?), name = COALESCE(?, name) WHERE id = ?",
                (time.time(), name, person.id),
            )

    def invite(self, n: int) -> list[tuple[int, str]]:
        """Make invitations; return (number of the session, secret) of each."""
        return [(number, secret) for secret, number in (self.add(begun=False) for _ in range(n))]


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
