"""The lines of a design's log in the table ``events`` of a store: the same bytes as in a file.

An event is one row, unique by (design, number), and every row is on the disk when its transaction ends, together with
the number of the last one: what is cut off at the end is noticed.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

from adaptive.loop.log.storage import LogBehind, LogError
from adaptive.serve.stores.faults import StoreFault

if TYPE_CHECKING:
    from adaptive.serve.stores.any_store import AnyStore

__all__ = ["StoredLog"]


class StoredLog:
    """The lines of one design in the table ``events``; line 0 is the header.

    Parameters
    ----------
    store : AnyStore
    design : int
    """

    path, shared = None, True

    def __init__(self, store: AnyStore, design: int) -> None:
        self.store, self.design = store, design
        self.name = f"of design {design} in {store.name}"

    def create(self, header: bytes) -> None:
        try:
            self._insert([header], 0)
        except StoreFault as problem:
            if problem.conflict:
                raise LogError(f"log {self.name} exists already.") from None
            raise

    def open(self) -> None:
        if not self.store.has_log(self.design):
            raise LogError(f"log {self.name} does not exist.")

    def close(self) -> None:
        pass

    def read(self) -> bytes:
        return b"".join(line for _, line in self.timed_lines())

    def after(self, n_events: int, end: int) -> bytes:
        return b"".join(line for _, line in self.timed_lines(n_events + 1))

    def timed_lines(self, first: int = 0) -> list[tuple[float, bytes]]:
        """Return when each line from the ``first`` on was written, and the line."""
        found = self.store.rows(
            "SELECT number, time, line FROM events WHERE design = ? AND number >= ? ORDER BY number",
            (self.design, first),
        )
        if [number for number, _, _ in found] != list(range(first, first + len(found))):
            raise LogError(f"log {self.name} is damaged (lines are missing); restore it from a backup.")
        return [(when, line) for _, when, line in found]

    def append(self, lines: bytes, *, number: int, end: int, durable: bool) -> None:
        try:
            self._insert(lines.splitlines(keepends=True), number + 1)
        except StoreFault as problem:
            if problem.conflict:
                raise LogBehind(f"log {self.name} was written by another server meanwhile.") from problem
            raise

    def keep(self, end: int) -> None:
        pass  # a transaction is whole or not there: nothing is ever torn

    def acknowledged(self) -> int | None:
        found = self.store.rows("SELECT number FROM counts WHERE design = ?", (self.design,))
        return found[0][0] if found else None

    def _insert(self, lines: Sequence[bytes], first: int) -> None:
        now = time.time()
        with self.store.transaction() as run:
            for number, line in enumerate(lines, start=first):
                run("INSERT INTO events VALUES (?, ?, ?, ?)", (self.design, number, now, line))
            run(
                "INSERT INTO counts VALUES (?, ?) ON CONFLICT (design) DO UPDATE SET number = excluded.number",
                (self.design, first + len(lines) - 1),
            )

    def read_snapshot(self) -> bytes | None:
        found = self.store.rows("SELECT content FROM snapshots WHERE design = ?", (self.design,))
        return found[0][0] if found else None

    def write_snapshot(self, content: bytes) -> None:
        with self.store.transaction() as run:
            run(
                "INSERT INTO snapshots VALUES (?, ?) ON CONFLICT (design) DO UPDATE SET content = excluded.content",
                (self.design, content),
            )
