"""Connections that hold a server up are closed: so long for a request's head, its body and the reply, so many at once.

uvicorn.Config(app, http=guarded(Limits()))

Where an address, or all together, have as many as they may, the oldest of which the server waits for something is
closed: half requests never keep out whole ones.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from adaptive.serve.gate.admission import is_nearby

if TYPE_CHECKING:
    import asyncio

__all__ = ["Limits", "guarded", "most_files"]

FILES = 65_536  # that a server asks for
SPARE = 200  # of them for all that is no connection


@dataclass(frozen=True)
class Limits:
    """Bounds on connections.

    Attributes
    ----------
    head, body, reply : float
        Seconds for the head of a request, for its body, and until all of the reply is taken.
    of_address : int or None
        Connections of one address at once, this machine's own left out; None: no bound, as behind a proxy, where all
        have the same.
    in_all : int

    Examples
    --------
    >>> Limits().of_address
    200
    """

    head: float = 10.0
    body: float = 30.0
    reply: float = 300.0
    of_address: int | None = 200
    in_all: int = 2000


def most_files() -> int:
    """Raise the number of files that this process may have open, as far as it may; return it."""
    try:
        import resource
    except ImportError:  # Windows: there is no such number
        return FILES
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = FILES if hard == resource.RLIM_INFINITY else min(FILES, hard)
    if soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
    return max(soft, wanted)


class _Open:
    """The connections of one server, those that came first first."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.all: OrderedDict[Any, None] = OrderedDict()
        self.of: dict[str, OrderedDict[Any, None]] = {}

    def enter(self, one: Any, address: str) -> None:
        own = self.of.setdefault(address, OrderedDict())
        if self.limits.of_address is not None and not is_nearby(address) and len(own) >= self.limits.of_address:
            self._make_room(own, one)
        elif len(self.all) >= self.limits.in_all:
            self._make_room(self.all, one)
        self.of.setdefault(address, OrderedDict())[one] = self.all[one] = None

    def _make_room(self, among: Iterable[Any], one: Any) -> None:
        old = next((other for other in among if other.waits), one)
        self.leave(old)
        old.transport.abort()

    def leave(self, one: Any) -> None:
        self.all.pop(one, None)
        own = self.of.get(one.address, OrderedDict())
        own.pop(one, None)
        if not own:
            self.of.pop(one.address, None)


def guarded(limits: Limits) -> type[asyncio.Protocol]:
    """Return the class of uvicorn's connections, within limits.

    Parameters
    ----------
    limits : Limits
    """
    open_ones = _Open(limits)

    class Guarded(H11Protocol):
        address = ""
        _timer: asyncio.TimerHandle | None = None
        _for = ""  # what the timer is about

        @property
        def waits(self) -> bool:
            """Return whether it is the other side's turn."""
            return self.conn.their_state in (h11.IDLE, h11.SEND_BODY)

        def connection_made(self, transport: Any) -> None:
            super().connection_made(transport)
            self.address = self.client[0] if self.client else ""
            open_ones.enter(self, self.address)
            self._within("head", limits.head)

        def data_received(self, data: bytes) -> None:
            super().data_received(data)
            if self.conn.their_state is h11.IDLE:
                self._within("head", limits.head)
            elif self.conn.their_state is h11.SEND_BODY:
                self._within("body", limits.body)
            else:
                self._within("reply", limits.reply)

        def on_response_complete(self) -> None:
            super().on_response_complete()
            if self.conn.their_state is h11.IDLE and not self.transport.get_write_buffer_size():
                self._within("", None)  # kept alive for a moment, by uvicorn's own timer

        def connection_lost(self, exc: Exception | None) -> None:
            self._within("", None)
            open_ones.leave(self)
            super().connection_lost(exc)

        def _within(self, what: str, seconds: float | None) -> None:
            """Close the connection after so long; a further byte of the same prolongs nothing."""
            if what == self._for:
                return
            if self._timer is not None:
                self._timer.cancel()
            self._for = what
            self._timer = None if seconds is None else self.loop.call_later(seconds, self.transport.abort)

    return Guarded
