"""One SQLite file for everything that people said: on the disk before the next question leaves.

    STORE/store.sqlite   see `adaptive.serve.stores.any_store`            (WAL, synchronous=FULL)
    STORE/key            what cookies and forms are signed with            (readable by its owner only)
    STORE/lock           held by the one server that writes
    STORE/designer       held by the one process of it that chooses what is asked

The events of a design are unique by (design, number): an answer that comes twice is a conflict, not an answer.
"""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import sqlite3
import stat
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from adaptive.serve.stores.any_store import TABLES, AnyStore, Run
from adaptive.serve.stores.faults import StoreError, StoreFault

try:
    import fcntl
except ImportError:  # Windows: two servers on one store are not noticed there
    fcntl = None  # type: ignore[assignment]

__all__ = ["Store"]

SCHEMA = 1
APPLICATION = 0x61647076  # "adpv", which tells the file from other SQLite files
TYPES = {"serial": "INTEGER PRIMARY KEY AUTOINCREMENT", "bytes": "BLOB", "real": "REAL", "keyed": " WITHOUT ROWID"}
_ERRNO = {sqlite3.SQLITE_FULL: errno.ENOSPC, sqlite3.SQLITE_READONLY: errno.EROFS, sqlite3.SQLITE_BUSY: errno.EBUSY}


class Store(AnyStore):
    """The folder of a server.

    Parameters
    ----------
    folder : path
        Made if absent, for its owner only.
    write : bool, default True
        False looks only, also while a server runs.
    shared : bool, default False
        Whether this is a process of a server that holds the folder already.

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

    def __init__(self, folder: str | os.PathLike[str], *, write: bool = True, shared: bool = False) -> None:
        self.folder, self.write = Path(folder), write
        self.name = str(self.folder)
        self.path = self.folder / "store.sqlite"
        self._guard = threading.RLock()
        self._lock: int | None = None
        self._leading: int | None = None
        try:
            if write:
                self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
                if not shared:
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
        self._lock = _locked(self.folder / "lock")
        if self._lock is None:
            raise StoreError(f"store {self.folder} is in use by a server; stop that one first.")

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
            run(f"PRAGMA application_id={APPLICATION}")
            run(f"PRAGMA user_version={SCHEMA}")
        with self.transaction():
            for statement in filter(str.strip, TABLES.format(**TYPES).split(";")):
                run(statement)  # also those that a store of an older version lacks
            run("UPDATE facts SET value = value WHERE name = ''")  # a store that cannot be written is said now

    def close(self) -> None:
        if hasattr(self, "connection"):
            with self._guard:  # whoever reads just now comes to the end
                self.connection.close()
        for lock in (self._lock, self._leading):
            if lock is not None:
                os.close(lock)
        self._lock = self._leading = None

    # -- reading and writing ------------------------------------------------------------------------------------

    @contextmanager
    def transaction(self, design: int | None = None) -> Iterator[Run]:
        with self._guard:
            nested = self.connection.in_transaction
            try:
                if not nested:
                    self.connection.execute("BEGIN IMMEDIATE")
                yield self._run
                if not nested:
                    self.connection.execute("COMMIT")
            except BaseException as problem:
                with contextlib.suppress(sqlite3.Error):
                    if self.connection.in_transaction and not nested:
                        self.connection.execute("ROLLBACK")
                if isinstance(problem, sqlite3.Error):
                    raise _fault(problem) from problem
                raise

    def _run(self, statement: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        return self.connection.execute(statement, values).fetchall()

    def rows(self, statement: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        with self._guard:
            try:
                return self._run(statement, values)
            except sqlite3.Error as problem:
                raise _fault(problem) from problem

    def has_table(self, name: str) -> bool:
        return bool(self.rows("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?", (name,)))

    def lead(self) -> bool:
        if self._leading is None:
            self._leading = _locked(self.folder / "designer")
        return self._leading is not None

    def settle(self) -> None:
        busy, *_ = self.rows("PRAGMA wal_checkpoint(TRUNCATE)")[0]  # the write-ahead log held it as well
        if busy:
            raise StoreError(
                f"the write-ahead log of {self.path} may still hold what was removed: another program reads the store "
                "(an export, a backup). Close that one and repeat this."
            )

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
            raise StoreError(f"{path} is not a key of 32 bytes; delete it, and everybody gets a new cookie.")
        return found

    def backup(self, path: str | os.PathLike[str]) -> None:
        """Copy the store as it is now, also while a server runs; a file that exists is left alone."""
        try:
            os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
        except OSError as problem:
            raise StoreError(f"backup {path} cannot be written: {problem.strerror}.") from None
        with self._guard, contextlib.closing(sqlite3.connect(path)) as copy:
            self.connection.backup(copy)


def _locked(path: Path) -> int | None:
    """Hold a lock until the process ends, or return None where another process has it."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0), 0o600)
    if fcntl is not None:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(descriptor)
            return None
    return descriptor


def _fault(problem: sqlite3.Error) -> StoreFault:
    """Return what SQLite says as an error of the disk."""
    code = getattr(problem, "sqlite_errorcode", None)
    number = _ERRNO.get(code & 0xFF if code is not None else -1, errno.EIO)
    return StoreFault(number, str(problem), conflict=isinstance(problem, sqlite3.IntegrityError))
