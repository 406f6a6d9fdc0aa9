"""Storages of a log's lines: whole lines in, the same bytes out.

A storage knows nothing of events. It keeps what ``EventLog`` wrote, in order, and whatever snapshot belongs to it;
`FileStorage` in a file, `MemoryStorage` for as long as the process lives, `adaptive.serve` in SQLite.
"""

from __future__ import annotations

import contextlib
import os
import warnings
from pathlib import Path
from typing import Protocol, runtime_checkable

from adaptive.files import write_file

try:
    import fcntl
except ImportError:  # Windows: two processes on one log are not noticed there
    fcntl = None  # type: ignore[assignment]

__all__ = ["FileStorage", "LogError", "MemoryStorage", "Storage", "snapshot_path"]


class LogError(ValueError):
    """A log that cannot be read or continued; the message says why in one sentence."""


@runtime_checkable
class Storage(Protocol):
    """Protocol of a place where a log's lines are.

    Attributes
    ----------
    name : str
        What a message calls it.
    path : Path or None
        The file that holds this log and nothing else, if there is one.
    shared : bool
        Whether another design could write there as well: then a design is neither pickled nor copied.
    """

    @property
    def name(self) -> str: ...
    @property
    def path(self) -> Path | None: ...
    @property
    def shared(self) -> bool: ...

    def create(self, header: bytes) -> None:
        """Start with this line; LogError if there is a log already, OSError if it could not be written."""

    def open(self) -> None:
        """Take hold of a log that exists; LogError if there is none, or another design holds it."""

    def close(self) -> None:
        """Let go of it."""

    def read(self) -> bytes:
        """Return all lines, the header first."""

    def append(self, lines: bytes, *, number: int, end: int, durable: bool) -> None:
        """Add whole lines behind the first ``end`` bytes, which alone count; the first of them is event ``number``.

        An OSError leaves what was there before. ``durable``: on the disk when this returns.
        """

    def keep(self, end: int) -> None:
        """Drop what a crash left behind the first ``end`` bytes."""

    def read_snapshot(self) -> bytes | None:
        """Return the snapshot, if there is one."""

    def write_snapshot(self, content: bytes) -> None:
        """Put a snapshot in the place of the former one."""


def snapshot_path(log: str | os.PathLike[str]) -> Path:
    """Return where the snapshot of a log in a file is."""
    log = Path(log)
    return log.with_name(log.name + ".snapshot.npz")


class MemoryStorage:
    """Lines that nobody else sees and that end with the process."""

    name, path, shared = "in memory", None, False

    def __init__(self) -> None:
        self._lines = bytearray()

    def create(self, header: bytes) -> None:
        self._lines[:] = header

    def open(self) -> None:
        raise LogError("a log in memory cannot be opened again.")

    def close(self) -> None:
        pass

    def read(self) -> bytes:
        return bytes(self._lines)

    def append(self, lines: bytes, *, number: int, end: int, durable: bool) -> None:
        self._lines[end:] = lines

    def keep(self, end: int) -> None:
        del self._lines[end:]

    def read_snapshot(self) -> bytes | None:
        return None

    def write_snapshot(self, content: bytes) -> None:
        raise OSError("a log in memory has no snapshots")


class FileStorage:
    """Lines in a file that is locked while a design writes it; snapshots beside it.

    Parameters
    ----------
    path : Path
    """

    shared = True

    def __init__(self, path: Path) -> None:
        self.path, self.name = path, str(path)
        self._descriptor: int | None = None
        self._torn = False  # bytes behind those that count may exist

    def create(self, header: bytes) -> None:
        try:
            write_file(self.path, header, exclusive=True)  # whole or not at all: no log is without a header
        except FileExistsError:
            raise LogError(
                f"log {self.path} exists already; continue it with SequentialDesign.load, or name another file."
            ) from None
        self.open()

    def open(self) -> None:
        try:
            descriptor = os.open(self.path, os.O_RDWR | getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0))
        except OSError as error:
            raise LogError(f"log {self.path} cannot be opened: {error.strerror}.") from None
        if fcntl is not None:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                os.close(descriptor)
                raise LogError(f"log {self.path} is in use by another design; close that one first.") from None
        self._descriptor = descriptor

    def close(self) -> None:
        descriptor, self._descriptor = self._descriptor, None
        if descriptor is not None:
            os.close(descriptor)

    def read(self) -> bytes:
        descriptor = self._opened()
        os.lseek(descriptor, 0, os.SEEK_SET)
        parts = []
        while part := os.read(descriptor, 1 << 24):
            parts.append(part)
        return b"".join(parts)

    def append(self, lines: bytes, *, number: int, end: int, durable: bool) -> None:
        descriptor = self._opened()
        if self._torn:
            self.keep(end)
        self._torn = True
        try:
            os.lseek(descriptor, end, os.SEEK_SET)
            rest = memoryview(lines)
            while rest:
                rest = rest[os.write(descriptor, rest) :]
            if durable:
                os.fsync(descriptor)
        except OSError:
            with contextlib.suppress(OSError):
                self.keep(end)
            raise
        self._torn = False

    def keep(self, end: int) -> None:
        descriptor = self._opened()
        if os.fstat(descriptor).st_size > end:
            os.ftruncate(descriptor, end)
        self._torn = False

    def read_snapshot(self) -> bytes | None:
        path = snapshot_path(self.path)
        try:
            return path.read_bytes()
        except FileNotFoundError:
            return None
        except OSError as error:
            warnings.warn(
                f"snapshot {path} cannot be read ({error.strerror}); the log is replayed instead.", stacklevel=2
            )
            return None

    def write_snapshot(self, content: bytes) -> None:
        write_file(snapshot_path(self.path), content)

    def _opened(self) -> int:
        if self._descriptor is None:
            raise LogError(f"log {self.path} is closed.")
        return self._descriptor
