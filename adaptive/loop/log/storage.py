"""Storages of a log's lines: whole lines in, the same bytes out.

A storage knows nothing of what events say. It keeps what ``EventLog`` wrote, in order, how much of it was acknowledged,
and whatever snapshot belongs to it; `FileStorage` in a file, `MemoryStorage` for as long as the process lives,
`adaptive.serve` in SQLite.
"""

from __future__ import annotations

import contextlib
import os
import warnings
from pathlib import Path
from typing import Protocol, runtime_checkable

from adaptive.files import write_file
from adaptive.loop.log.counted import count_line, count_path, read_count

try:
    import fcntl
except ImportError:  # Windows: two processes on one log are not noticed there
    fcntl = None  # type: ignore[assignment]

_FLAGS = getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0)

__all__ = ["FileStorage", "LogBehind", "LogError", "MemoryStorage", "Storage", "snapshot_path"]


class LogError(ValueError):
    """A log that cannot be read or continued; the message says why in one sentence."""


class LogBehind(LogError):
    """Somebody else has written to the log since it was read: nothing was written."""


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

    def after(self, n_events: int, end: int) -> bytes:
        """Return the lines behind the first ``n_events`` events, which end at byte ``end``."""

    def append(self, lines: bytes, *, number: int, end: int, durable: bool) -> None:
        """Add whole lines behind the first ``end`` bytes, which alone count; the first of them is event ``number``.

        An OSError leaves what was there before; `LogBehind` says that others have written that event, where a storage
        lets them. ``durable``: on the disk when this returns.
        """

    def keep(self, end: int) -> None:
        """Drop what a crash left behind the first ``end`` bytes."""

    def acknowledged(self) -> int | None:
        """Return how many events, at least, were on the disk when an answer was acknowledged; None: not known."""

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

    def after(self, n_events: int, end: int) -> bytes:
        return bytes(self._lines[end:])

    def append(self, lines: bytes, *, number: int, end: int, durable: bool) -> None:
        self._lines[end:] = lines

    def keep(self, end: int) -> None:
        del self._lines[end:]

    def acknowledged(self) -> int | None:
        return None

    def read_snapshot(self) -> bytes | None:
        return None

    def write_snapshot(self, content: bytes) -> None:
        raise OSError("a log in memory has no snapshots")


class FileStorage:
    """Lines in a file that is locked while a design writes it; their count and snapshots beside it.

    Parameters
    ----------
    path : Path
    """

    shared = True

    def __init__(self, path: Path) -> None:
        self.path, self.name = path, str(path)
        self._file = Path(os.path.abspath(path))  # a process may change its folder
        self._descriptor: int | None = None
        self._process = 0  # that locked the file
        self._header: bytes | None = None
        self._torn = False  # bytes behind those that count may exist

    def create(self, header: bytes) -> None:
        if not self._file.exists():  # what another log of this name left
            for left in (count_path(self._file), snapshot_path(self._file)):
                left.unlink(missing_ok=True)
        try:
            write_file(self._file, header, exclusive=True)  # whole or not at all: no log is without a header
        except FileExistsError:
            raise LogError(
                f"log {self.path} exists already; continue it with SequentialDesign.load, or name another file."
            ) from None
        self.open()

    def open(self) -> None:
        try:
            descriptor = os.open(self._file, os.O_RDWR | _FLAGS)
        except OSError as error:
            raise LogError(f"log {self.path} cannot be opened: {error.strerror}.") from None
        if fcntl is not None:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                os.close(descriptor)
                raise LogError(f"log {self.path} is in use by another design; close that one first.") from None
        self._descriptor, self._process, self._header = descriptor, os.getpid(), None

    def close(self) -> None:
        descriptor, self._descriptor = self._descriptor, None
        if descriptor is not None:
            if fcntl is not None and os.getpid() == self._process:
                fcntl.flock(descriptor, fcntl.LOCK_UN)  # a forked process may have it open still
            os.close(descriptor)

    def read(self) -> bytes:
        descriptor = self._opened()
        os.lseek(descriptor, 0, os.SEEK_SET)
        parts = []
        while part := os.read(descriptor, 1 << 24):
            parts.append(part)
        return b"".join(parts)

    def after(self, n_events: int, end: int) -> bytes:
        self._opened()
        with open(self._file, "rb") as file:  # a descriptor of its own: others may write meanwhile
            file.seek(end)
            return file.read()

    def append(self, lines: bytes, *, number: int, end: int, durable: bool) -> None:
        descriptor = self._opened()
        self._check_unchanged(descriptor, end)
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
        if durable:
            self.acknowledge(number + lines.count(b"\n"))

    def keep(self, end: int) -> None:
        descriptor = self._opened()
        if os.fstat(descriptor).st_size > end:
            os.ftruncate(descriptor, end)
        self._torn = False

    def acknowledge(self, n_events: int) -> None:
        """Write beside the log how many events it holds; a count that cannot be written is an older one."""
        with contextlib.suppress(OSError):
            descriptor = os.open(count_path(self._file), os.O_WRONLY | os.O_CREAT | _FLAGS, 0o666)
            try:
                os.write(descriptor, count_line(n_events, self._first_line()))
            finally:
                os.close(descriptor)

    def acknowledged(self) -> int | None:
        try:
            line = count_path(self._file).read_bytes()
        except OSError:
            return None
        return read_count(line, self._first_line())

    def read_snapshot(self) -> bytes | None:
        path = snapshot_path(self._file)
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
        write_file(snapshot_path(self._file), content)

    def _opened(self) -> int:
        if self._descriptor is None:
            raise LogError(f"log {self.path} is closed.")
        return self._descriptor

    def _first_line(self) -> bytes:
        """Return the header of the log, read once."""
        if self._header is None:
            with open(self._file, "rb") as file:
                self._header = file.readline()
        return self._header

    def _check_unchanged(self, descriptor: int, end: int) -> None:
        """Refuse to write where this is not the file that was opened any more, or not as it was left."""
        here = os.fstat(descriptor)
        try:
            there: os.stat_result | None = os.stat(self._file)
        except (FileNotFoundError, NotADirectoryError):
            there = None
        if not here.st_nlink or there is None or not os.path.samestat(here, there):
            raise LogError(
                f"log {self.path} was deleted, moved or replaced while this design was running: nothing was written; "
                "save(path) keeps under another name what was said so far."
            )
        if here.st_size < end or (here.st_size > end and not self._torn):
            raise LogError(
                f"log {self.path} was cut or written by others while this design was running: it has "
                f"{here.st_size} bytes, not {end}; nothing was written; restore it from a copy and load it again."
            )
