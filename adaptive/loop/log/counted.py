"""The number of acknowledged events, kept beside a log: a log that holds fewer was cut off.

    append:  write the lines, sync the log,  then overwrite the count (not synced)

A killed process leaves both as they were. A power cut may leave an older count, never one of more than the log holds,
since the log was on the disk first. So the count costs one small write an answer and no second sync.
"""

from __future__ import annotations

import os
import re
import zlib
from pathlib import Path

__all__ = ["count_line", "count_path", "read_count"]

_LINE = re.compile(rb"(events (\d{12}) of log ([0-9a-f]{8}) check )([0-9a-f]{8})\n")


def count_path(log: str | os.PathLike[str]) -> Path:
    """Return where the count of a log in a file is."""
    log = Path(log)
    return log.with_name(log.name + ".count")


def count_line(n_events: int, header: bytes) -> bytes:
    """Return the count as it is kept: of one length, so that it is overwritten in place.

    Parameters
    ----------
    n_events : int
        How many events were acknowledged, the header not counted.
    header : bytes
        The first line of the log, which tells one log from another that had its name.

    Examples
    --------
    >>> line = count_line(31, b"header")
    >>> read_count(line, b"header"), read_count(line, b"of another log"), read_count(line[:-3], b"header")
    (31, None, None)
    """
    body = b"events %012d of log %08x check " % (n_events, zlib.crc32(header))
    return body + b"%08x\n" % zlib.crc32(body)


def read_count(line: bytes, header: bytes) -> int | None:
    """Return the number of events, or None if the line is damaged or of another log."""
    found = _LINE.fullmatch(line)
    if found is None or int(found[4], 16) != zlib.crc32(found[1]) or int(found[3], 16) != zlib.crc32(header):
        return None
    return int(found[2])
