"""Common ground of all stores: what they keep, whatever database it is in.

    facts           of the store as a whole            sessions        hash of a secret, name, when begun
    events, counts  lines of the designs' logs          participants    whom a panel has sent
    snapshots       of their estimators                 tickets         secrets of further devices
    leases          who has which open query            passes          who could not tell what
    stock           what is to be asked next

Statements are those that SQLite and PostgreSQL both understand, with ``?`` for values.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, Self

from adaptive.loop import EventLog
from adaptive.serve.stores.faults import StoreError
from adaptive.serve.stores.log import StoredLog

__all__ = ["TABLES", "AnyStore", "Run"]

Run = Callable[..., list[tuple[Any, ...]]]

TABLES = """
CREATE TABLE IF NOT EXISTS facts (name TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS sessions (
    id {serial}, hash {bytes} NOT NULL UNIQUE, name TEXT, begun {real}, ended {real}
);
CREATE TABLE IF NOT EXISTS events (
    design INTEGER NOT NULL, number INTEGER NOT NULL, time {real} NOT NULL, line {bytes} NOT NULL,
    PRIMARY KEY (design, number)
){keyed};
CREATE TABLE IF NOT EXISTS counts (design INTEGER PRIMARY KEY, number INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS snapshots (design INTEGER PRIMARY KEY, content {bytes} NOT NULL);
CREATE TABLE IF NOT EXISTS leases (
    query INTEGER NOT NULL, position INTEGER NOT NULL, session INTEGER NOT NULL, until {real} NOT NULL,
    PRIMARY KEY (query, position)
){keyed};
CREATE TABLE IF NOT EXISTS participants (participant TEXT PRIMARY KEY, session INTEGER NOT NULL UNIQUE);
CREATE TABLE IF NOT EXISTS tickets (hash {bytes} PRIMARY KEY, session INTEGER NOT NULL, made {real} NOT NULL);
CREATE TABLE IF NOT EXISTS passes (
    session INTEGER NOT NULL, query INTEGER NOT NULL, position INTEGER NOT NULL, number INTEGER NOT NULL,
    time {real} NOT NULL, PRIMARY KEY (session, query, position)
){keyed};
CREATE TABLE IF NOT EXISTS stock (design INTEGER PRIMARY KEY, content TEXT NOT NULL);
"""


class AnyStore(ABC):
    """Common part of all stores.

    Attributes
    ----------
    folder : Path
        Of the files beside it: invitations, exports.
    name : str
        What messages call it.
    """

    folder: Path
    name: str

    @abstractmethod
    def transaction(self, design: int | None = None) -> AbstractContextManager[Run]:
        """All that is run within it is kept at its end, or nothing of it; a `StoreFault` says why not.

        Parameters
        ----------
        design : int, optional
            Whose log is to be read on and appended to: nobody else does so meanwhile.
        """

    @abstractmethod
    def rows(self, statement: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """Return what a query finds."""

    @abstractmethod
    def has_table(self, name: str) -> bool:
        """Return whether there is this table; one of an older version may lack some."""

    @abstractmethod
    def key(self) -> bytes:
        """Return what cookies and forms are signed with; made at the first call."""

    @abstractmethod
    def lead(self) -> bool:
        """Return whether this process chooses what is asked: one of all that share the store does, until it ends."""

    @abstractmethod
    def settle(self) -> None:
        """See that what was removed is in no file beside the database either; StoreError where others keep it there."""

    @abstractmethod
    def close(self) -> None:
        """Let go of it."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def facts(self) -> dict[str, str]:
        """Return what is kept of the store as a whole."""
        return dict(self.rows("SELECT name, value FROM facts"))

    def fact(self, name: str, value: str) -> None:
        """Keep ``value``; StoreError if there is another one already."""
        if self.facts().get(name) is None:
            with self.transaction() as run:
                run("INSERT INTO facts VALUES (?, ?) ON CONFLICT (name) DO NOTHING", (name, value))
        if self.facts()[name] != value:
            raise StoreError(
                f"store {self.name} holds the answers to something else ({name} differs); name another one with "
                "--store, or serve what it was begun with."
            )

    def set_fact(self, name: str, value: str) -> None:
        """Keep ``value`` in place of what was kept."""
        with self.transaction() as run:
            run(
                "INSERT INTO facts VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value",
                (name, value),
            )

    def log(self, design: int, *, snapshot_every: int = 10**9) -> EventLog:
        """Return the log of a design: what `SequentialDesign` takes as ``log``, and ``load`` as ``path``."""
        return EventLog(StoredLog(self, design), snapshot_every=snapshot_every)

    def has_log(self, design: int) -> bool:
        """Return whether this design was begun."""
        return bool(self.rows("SELECT 1 FROM events WHERE design = ? AND number = 0", (design,)))
