"""Designs in memory while somebody is answering; the others are in the store and come back by replay.

with designs.use(session) as design:      one caller at a time; after a fault the design is read again
"""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from adaptive.serve.refusals import Refused

if TYPE_CHECKING:
    from adaptive.loop import SequentialDesign

__all__ = ["Designs"]


@dataclass
class _Entry:
    guard: threading.RLock = field(default_factory=threading.RLock)
    users: int = 0
    used: float = 0.0
    design: SequentialDesign | None = None


class Designs:
    """The designs that are open.

    Parameters
    ----------
    opened : callable(number) -> SequentialDesign
        Begins a design or replays it from the store.
    most : int, default 200
        So many stay in memory.
    idle : float, default 900.0
        Seconds after which one that nobody uses leaves it.
    """

    def __init__(self, opened: Callable[[int], SequentialDesign], *, most: int = 200, idle: float = 900.0) -> None:
        self._opened, self._most, self._idle = opened, most, idle
        self._entries: OrderedDict[int, _Entry] = OrderedDict()
        self._guard = threading.Lock()

    def __len__(self) -> int:
        return sum(entry.design is not None for entry in self._entries.values())

    @contextmanager
    def use(self, number: int) -> Iterator[SequentialDesign]:
        """Hold a design; if anything but a refused answer comes of it, the next user gets it from the store again."""
        with self._guard:
            entry = self._entries.setdefault(number, _Entry())
            self._entries.move_to_end(number)
            entry.users += 1
        try:
            with entry.guard:
                try:
                    if entry.design is None:
                        entry.design = self._opened(number)
                    yield entry.design
                except Refused:  # nothing has changed
                    raise
                except BaseException:
                    if entry.design is not None:
                        entry.design.close()
                    entry.design = None
                    raise
        finally:
            with self._guard:
                entry.users, entry.used = entry.users - 1, time.monotonic()
                self._leave()

    def forget_all(self) -> None:
        """Close what nobody uses."""
        with self._guard:
            self._leave(everything=True)

    def _leave(self, everything: bool = False) -> None:
        now = time.monotonic()
        for number, entry in list(self._entries.items()):  # the one that was used longest ago first
            if not everything and len(self._entries) <= self._most and now - entry.used < self._idle:
                break
            if entry.users == 0:
                if entry.design is not None:
                    entry.design.close()
                del self._entries[number]
