"""Faults of a store: on opening, and while it is used."""

from __future__ import annotations

import errno
import sqlite3

__all__ = ["StoreError", "StoreFault", "fault"]

_ERRNO = {sqlite3.SQLITE_FULL: errno.ENOSPC, sqlite3.SQLITE_READONLY: errno.EROFS, sqlite3.SQLITE_BUSY: errno.EBUSY}


class StoreError(ValueError):
    """A store that cannot be opened; the message says why in one sentence."""


class StoreFault(OSError):
    """The store could not be read or written just now; nothing of what was to be written is kept."""


def fault(problem: sqlite3.Error) -> StoreFault:
    """Return what SQLite says as an error of the disk."""
    code = getattr(problem, "sqlite_errorcode", None)
    number = _ERRNO.get(code & 0xFF if code is not None else -1, errno.EIO)
    return StoreFault(number, str(problem))
