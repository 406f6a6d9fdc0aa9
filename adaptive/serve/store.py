"""One SQLite file for everything that people said: on the disk before the next question leaves.

    STORE/store.sqlite   sessions, the events of every design, leases     (WAL, synchronous=FULL)
    STORE/key            what cookies and forms are signed with            (readable by its owner only)
    STORE/lock           held by the one server that writes

The events of a design are unique by (design, number): an answer that comes twice is a conflict, not an answer.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import sqlite3
import stat
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Self

from adaptive.loop import EventLog
from adaptive.serve.faults import StoreError, StoreFault, fault
from adaptive.serve.sqlite_storage import SQLiteStorage

try:
    import fcntl
except ImportError:  # Windows: two servers on one store are not noticed there
    fcntl = None  # type: ignore[assignment]

__all__ = ["Store", "StoreError", "StoreFault"]

SCHEMA = 1
APPLICATION = 0x61647076  # "adpv", which tells the file from other SQLite files
PANEL = """
CREATE TABLE IF NOT EXISTS participants (participant TEXT PRIMARY KEY, session INTEGER NOT NULL UNIQUE);
CREATE TABLE IF NOT EXISTS tickets (hash BLOB PRIMARY KEY, session INTEGER NOT NULL);
"""
COUNTS = "CREATE TABLE IF NOT EXISTS counts (design INTEGER PRIMARY KEY, number INTEGER NOT NULL)"
TABLES = """
CREATE TABLE facts (name TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE sessions (
    id INTEGER PRIMARY KEY AUTOINCREMENT, hash BLOB NOT NULL UNIQUE, name TEXT, begun REAL, ended REAL
);
CREATE TABLE events (
    design INTEGER NOT NULL, number INTEGER NOT NULL, time REAL NOT NULL, line BLOB NOT NULL,
    PRIMARY KEY (design, number)
) WITHOUT ROWID;
CREATE TABLE snapshots (design INTEGER PRIMARY KEY, content BLOB NOT NULL);
CREATE TABLE leases (
    query INTEGER NOT NULL, position INTEGER NOT NULL, session INTEGER NOT NULL, until REAL NOT NULL,
    PRIMARY KEY (query, position)
) WITHOUT ROWID;
"""


class Store:
    """The folder of a server.

    Parameters
    ----------
    folder : path
        Made if absent, for its owner only.
    write : bool, default True
        False looks only, also while a server runs.

    Raises
    ------
    StoreError
        If the folder cannot be used, another server uses it, or the file is damaged or of a later version.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder, Store(folder) as store:
    ...     store.fact("title", "Ten words")
    ...     store.facts()["title"]
    'Ten words'
    """

    def __init__(self, folder: str | os.PathLike[str], *, write: bool = True) -> None:
        self.folder, self.write = Path(folder), write
        self.path = self.folder / "store.sqlite"
        self._guard = threading.RLock()
        self._lock: int | None = None
        try:
            if write:
                self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
                self._hold()
            elif not self.path.exists():
                raise StoreError(f"there is no store in {self.folder}.")
            self._open()
        except OSError as problem:
            self.close()
            raise StoreError(f"store {self.folder} cannot be used: {problem.strerror}.") from None
        except sqlite3.Error as problem:
            self.close()
            raise StoreError(f"store {self.path} cannot be used: {problem}; restore it from a backup.") from None
        except BaseException:
            self.close()
            raise

    def _hold(self) -> None:
        self._lock = os.open(self.folder / "lock", os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0), 0o600)
        if fcntl is not None:
            try:
                fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                raise StoreError(f"store {self.folder} is in use by a server; stop that one first.") from None

    def _open(self) -> None:
        new = not self.path.exists()
        if new:
            os.close(os.open(self.path, os.O_RDWR | os.O_CREAT, 0o600))
        self.connection = sqlite3.connect(self.path, isolation_level=None, check_same_thread=False, timeout=5.0)
        run = self.connection.execute
        new = new or not self.path.stat().st_size
        if not new:
            application, version = run("PRAGMA application_id").fetchone()[0], run("PRAGMA user_version").fetchone()[0]
            if application != APPLICATION:
                raise StoreError(f"{self.path} is not a store of this program; name another folder.")
            if version > SCHEMA:
                raise StoreError(f"{self.path} is of version {version}; this program reads up to {SCHEMA}.")
            if (found := run("PRAGMA integrity_check(1)").fetchone()[0]) != "ok":
                raise StoreError(f"{self.path} is damaged ({found}); restore it from a backup.")
        if not self.write:
            run("PRAGMA query_only=ON")
            return
        run("PRAGMA journal_mode=WAL")
        run("PRAGMA synchronous=FULL")
        run("PRAGMA secure_delete=ON")  # what is forgotten leaves no trace in free pages
        if new:
            statements = f"{TABLES} PRAGMA application_id={APPLICATION}; PRAGMA user_version={SCHEMA};"
            self.connection.executescript(f"BEGIN; {statements} COMMIT;")
        with self.transaction():
            run(COUNTS)  # of the events of each design
            for statement in filter(str.strip, PANEL.split(";")):
                run(statement)  # who somebody is to a panel, and the secrets of further devices
            run("UPDATE facts SET value = value WHERE name = ''")  # a store that cannot be written is said now

    def close(self) -> None:
        """Let go of the file and the lock."""
        if hasattr(self, "connection"):
            self.connection.close()
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    # -- reading and writing ------------------------------------------------------------------------------------

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """All that is written within it is on the disk at its end, or nothing of it; a `StoreFault` says why not."""
        with self._guard:
            try:
                self.connection.execute("BEGIN IMMEDIATE")
                yield self.connection
                self.connection.execute("COMMIT")
            except BaseException as problem:
                with contextlib.suppress(sqlite3.Error):
                    if self.connection.in_transaction:
                        self.connection.execute("ROLLBACK")
                if isinstance(problem, sqlite3.Error):
                    raise fault(problem) from problem
                raise

    def rows(self, statement: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """Return what a query finds."""
        with self._guard:
            try:
                return self.connection.execute(statement, values).fetchall()
            except sqlite3.Error as problem:
                raise fault(problem) from problem

    def facts(self) -> dict[str, str]:
        """Return what is kept of the store as a whole."""
        return dict(self.rows("SELECT name, value FROM facts"))

    def fact(self, name: str, value: str) -> None:
        """Keep ``value``; StoreError if there is another one already."""
        known = self.facts().get(name)
        if known is not None and known != value:
            raise StoreError(
                f"store {self.folder} holds the answers to something else ({name} differs); name another folder with "
                "--store, or serve what it was begun with."
            )
        if known is None:
            with self.transaction() as connection:
                connection.execute("INSERT INTO facts VALUES (?, ?)", (name, value))

    def key(self) -> bytes:
        """Return what cookies and forms are signed with; made at the first call.

        Raises
        ------
        StoreError
            If others than its owner may read the file.
        """
        path = self.folder / "key"
        try:
            with contextlib.suppress(FileExistsError):
                descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
                with os.fdopen(descriptor, "wb") as file:
                    file.write(secrets.token_bytes(32))
                    file.flush()
                    os.fsync(file.fileno())
            mode, found = path.stat().st_mode, path.read_bytes()
        except OSError as problem:
            raise StoreError(f"{path} cannot be read: {problem.strerror}.") from None
        if os.name == "posix" and stat.S_IMODE(mode) & 0o077:
            raise StoreError(f"{path} may be read by others than its owner: chmod 600 it.")
        if len(found) != 32:
            raise StoreError(f"{path} is not a key of 32 bytes; delete it, and all begin with new cookies.")
        return found

    def backup(self, path: str | os.PathLike[str]) -> None:
        """Copy the store as it is now, also while a server runs; a file that exists is left alone."""
        try:
            os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
        except OSError as problem:
            raise StoreError(f"backup {path} cannot be written: {problem.strerror}.") from None
        with self._guard, contextlib.closing(sqlite3.connect(path)) as copy:
            self.connection.backup(copy)

    def log(self, design: int, *, snapshot_every: int = 10**9) -> EventLog:
        """Return the log of a design: what `SequentialDesign` takes as ``log``, and ``load`` as ``path``."""
        return EventLog(SQLiteStorage(self, design), snapshot_every=snapshot_every)

    def has_log(self, design: int) -> bool:
        """Return whether this design was begun."""
        return bool(self.rows("SELECT 1 FROM events WHERE design = ? AND number = 0", (design,)))
