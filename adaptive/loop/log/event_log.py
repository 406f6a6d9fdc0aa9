"""The log of a design: one JSON line per event, on disk before it counts.

    {"event":"header", ...}  {"event":"ask", ...}  {"event":"tell", ...}  ...  each ending in  "check":"<8 hex digits>"}

The check of a line is the CRC-32 of everything up to it, so that a changed, missing or moved line is noticed.  A crash
can only tear the last line; reading drops it and says so.  An answer is synced to the disk before ``append`` returns;
when the disk is full it takes back what it wrote, says so, and the log can be continued once there is space.
"""

from __future__ import annotations

import contextlib
import json
import os
import warnings
import zlib
from collections.abc import Mapping
from itertools import accumulate
from pathlib import Path
from typing import Any

from adaptive import checks
from adaptive.loop.log.counted import count_path
from adaptive.loop.log.events import check_events
from adaptive.loop.log.plain_data import decode, encode
from adaptive.loop.log.snapshots import covered_by
from adaptive.loop.log.storage import FileStorage, LogError, MemoryStorage, Storage, snapshot_path

__all__ = ["FORMAT", "EventLog", "LogError", "parsed", "read_log"]

FORMAT = "adaptive-designs log"
VERSION = 1
DURABLE = ("tell", "skip", "retract")  # what a person did
_CHECK = b',"check":"'


class EventLog:
    """Events as checked JSON lines: in a file, in memory (``path=None``), or in a storage of any other kind.

    Parameters
    ----------
    path : str, path, Storage or None, default None
        The file; its snapshots are beside it, in ``<path>.snapshot.npz``. Or whatever keeps lines, see
        `adaptive.loop.log.storage.Storage`.
    snapshot_every : int, default 50
        After how many events the state of the estimator is stored, so that loading replays only what came later.

    Raises
    ------
    ValueError
        If ``snapshot_every`` is no integer of at least 1, or the path is that of a file that exists.

    Examples
    --------
    >>> log = EventLog()
    >>> log.create({"seed": 1})
    >>> log.append({"event": "tell", "outcomes": [0.1]})
    {'event': 'tell', 'outcomes': [0.1]}
    >>> log.reload()
    [{'event': 'tell', 'outcomes': [0.1]}]
    """

    def __init__(self, path: str | os.PathLike[str] | Storage | None = None, *, snapshot_every: int = 50) -> None:
        self.storage: Storage
        if path is None:
            self.storage = MemoryStorage()
        elif isinstance(path, str | os.PathLike):
            self.storage = FileStorage(Path(path))
        elif isinstance(path, Storage):
            self.storage = path
        else:
            raise ValueError(f"log must be the path of a new file, or None, got {type(path).__name__} {path!r}.")
        self.snapshot_every = checks.integer("snapshot_every", snapshot_every, minimum=1)
        self.header: dict[str, Any] = {}
        self._end = 0  # bytes that count
        self._checks = [0]  # CRC-32 after the header, after each event
        self._ends = [0]  # bytes up to there
        self._waiting = b""  # lines that may wait for space on the disk
        self._unsure = False  # whether an interrupted append may have left lines that were never counted
        self._process = 0  # that writes this log

    @property
    def path(self) -> Path | None:
        """The file that is this log; None elsewhere."""
        return self.storage.path

    @property
    def name(self) -> str:
        """Name of the log in messages."""
        return self.storage.name

    # -- opening and closing ------------------------------------------------------------------------------------

    def create(self, header: Mapping[str, Any]) -> None:
        """Start a new log; a file that exists already is never overwritten."""
        line, check = _write_line({"event": "header", "format": FORMAT, "format_version": VERSION, **header}, 0)
        try:
            self.storage.create(line)
        except OSError as error:
            raise _disk_error(error, self.name, "the log was not started") from error
        self.header, self._end, self._process = dict(header), len(line), os.getpid()
        self._checks, self._ends = [check], [len(line)]

    def open(self) -> None:
        """Lock an existing log and read its header."""
        self.storage.open()
        self._end, self._checks, self._ends, self._waiting, self._process = 0, [0], [0], b"", os.getpid()
        try:
            self.reload()
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Release the storage; nothing is left to write."""
        self.storage.close()

    def __del__(self) -> None:
        with contextlib.suppress(Exception):
            self.close()

    # -- events -------------------------------------------------------------------------------------------------

    def append(self, record: Mapping[str, Any], *, may_wait: bool = False) -> dict[str, Any]:
        """Write one event and return it as it will be read back.

        Parameters
        ----------
        record : dict of plain data
            A ``tell``, ``skip`` or ``retract`` is on the disk when this returns, with all lines before it. The others
            need not be: after a power cut the same question is asked again, for it follows from the answers.
        may_wait : bool, default False
            On a full disk keep the line for the next ``append``: for what a replay finds out by itself.

        Raises
        ------
        OSError
            If the event could not be written; nothing of it is kept.
        """
        self._check_process()
        previous = self._checks[-1]
        line, check = _write_line(record, previous)
        data = self._waiting + line
        if self._unsure:
            self.storage.keep(self._end)
        self._unsure = True
        try:
            number = len(self._written) - 1
            self.storage.append(data, number=number, end=self._end, durable=record["event"] in DURABLE)
        except OSError as error:
            self._unsure = False
            if not may_wait:
                raise _disk_error(error, self.name, f"this {record['event']} was not recorded") from error
            self._waiting = data
        except LogError:
            self._unsure = False
            raise
        else:
            self._end, self._waiting = self._end + len(data), b""
        self._checks.append(check)
        self._ends.append(self._ends[-1] + len(line))
        self._unsure = False
        return _read_line(line[:-1], previous)[0]

    def fetch(self, n_events: int) -> list[dict[str, Any]]:
        """Return the events behind the first ``n_events``, with those that others have appended since.

        Only whole lines are looked at: one that is being written comes the next time.

        Raises
        ------
        LogError
            If a line is damaged.
        """
        self._check_process()
        records: list[dict[str, Any]] = []
        for line in self.storage.after(n_events, self._ends[n_events]).split(b"\n")[:-1]:
            number = n_events + len(records)
            try:
                record, check = _read_line(line, self._checks[number])
            except (ValueError, KeyError, TypeError, RecursionError):
                raise LogError(f"log {self.name} is damaged at line {number + 2}; restore it from a copy.") from None
            records.append(record)
            if number == self.n_events:
                self._checks.append(check)
                self._ends.append(self._ends[-1] + len(line) + 1)
                self._end = self._ends[-1]
        return records

    def reload(self) -> list[dict[str, Any]]:
        """Read everything again from the storage, which alone decides what happened; drop a torn last line.

        Raises
        ------
        LogError
            If the log is damaged, or holds less than was acknowledged; then it is left as it is.
        """
        self._check_process()
        counted = self._stands_for()  # before the lines: another process may write between the two
        data = self.storage.read()
        header, records, end, sums = _parse(data, self.name)
        known = self._check_whole(sums, *counted)
        if end < len(data):
            consequence = (
                "nothing that was acknowledged is lost"
                if known
                else "no count of its events is beside it, so that later answers may be missing"
            )
            warnings.warn(
                f"log {self.name}: the last line was torn by a crash and is dropped ({len(data) - end} bytes); "
                f"{consequence}.",
                stacklevel=2,
            )
        self.storage.keep(end)
        self.header, self._end, self._checks, self._waiting, self._unsure = header, end, sums, b"", False
        self._ends = [*accumulate(len(line) + 1 for line in data[:end].split(b"\n")[:-1])]
        return records

    def _stands_for(self) -> tuple[int | None, bytes | None]:
        """Return what stands beside a log that this design has not read yet: the count of its events, its snapshot."""
        return (None, None) if self._end else (self.storage.acknowledged(), self.storage.read_snapshot())

    def _check_whole(self, found: list[int], counted: int | None = None, kept: bytes | None = None) -> bool:
        """Refuse a log that holds less than was acknowledged; return whether that is known to the last event.

        Parameters
        ----------
        found : list of int
            The checks of the log as it is now.
        counted : int, optional
            How many events were acknowledged.
        kept : bytes, optional
            The snapshot.
        """
        n_events, written = len(found) - 1, self._written
        if self._end:  # this design has read or written it before
            if found[: len(written)] != written:
                raise LogError(
                    f"log {self.name} was cut or changed while this design was running: it holds {n_events} events, "
                    f"and {len(written) - 1} were written; restore it from a copy and load it again."
                )
            return True
        snapshot = covered_by(kept, found[0])
        if max(counted or 0, snapshot) > n_events:
            knows, n_known = ("snapshot", snapshot) if snapshot > (counted or 0) else ("count", counted)
            beside = "" if self.path is None else (
                f", or delete {count_path(self.path)} and {snapshot_path(self.path)} to go on without the rest"
            )  # fmt: skip
            raise LogError(
                f"log {self.name} was cut off: the {knows} beside it stands for {n_known} events, the log holds "
                f"{n_events}; restore it from a copy{beside}."
            )
        return counted is not None

    def _check_process(self) -> None:
        """Refuse what a forked process would do to a log that the other one writes."""
        if self.storage.shared and self._process != os.getpid():
            raise LogError(
                f"log {self.name} is written by process {self._process}, and this is process {os.getpid()}, forked "
                "from it: nothing was written; tell that one, or begin a log of its own here."
            )

    @property
    def _written(self) -> list[int]:
        """The checks of what the storage holds: after the header, after each event that waits for nothing."""
        return self._checks[: len(self._checks) - self._waiting.count(b"\n")]

    @property
    def n_events(self) -> int:
        """Number of events, the header not counted."""
        return len(self._checks) - 1

    def check_after(self, n_events: int) -> int:
        """Return the CRC-32 of the log up to this event: tells two logs of equal length apart."""
        return self._checks[n_events]

    def contents(self) -> bytes:
        """Return the log as bytes, header first; LogError if the storage holds something else by now."""
        written = self.storage.read()[: self._end]
        self._check_whole(_parse(written, self.name)[3])
        return written + self._waiting


def read_log(path: str | os.PathLike[str]) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Return the header and the events of a log in a file without locking or changing it.

    Parameters
    ----------
    path : path
        Of the log.

    Returns
    -------
    header : dict
    events : list of dict

    Raises
    ------
    LogError
        If the file is not a log, or a line of it was changed.

    Examples
    --------
    >>> import tempfile
    >>> from adaptive import GaussianProcessRegressor, SequentialDesign
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     design = SequentialDesign(GaussianProcessRegressor(), [[0.0], [1.0]], log=f"{folder}/answers.log")
    ...     _ = design.tell(design.ask(), [0.5])
    ...     header, events = read_log(f"{folder}/answers.log")
    >>> [event["event"] for event in events]
    ['ask', 'tell']
    """
    try:
        data = Path(path).read_bytes()
    except OSError as error:
        raise LogError(f"log {path} cannot be read: {error.strerror}.") from None
    return parsed(data, str(path))


def parsed(lines: bytes, name: str) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Return the header and the events of the lines of a log, every check of them done."""
    header, records, _, _ = _parse(lines, name)
    check_events(name, records)
    return header, records


def _write_line(record: Mapping[str, Any], previous: int) -> tuple[bytes, int]:
    body = json.dumps(encode(dict(record)), separators=(",", ":"), allow_nan=False).encode()
    check = zlib.crc32(body, previous)
    return body[:-1] + _CHECK + b'%08x"}\n' % check, check


def _read_line(line: bytes, previous: int) -> tuple[dict[str, Any], int]:
    body, _, check = line.rpartition(_CHECK)
    body += b"}"
    if zlib.crc32(body, previous) != int(check[:8], 16) or check[8:] != b'"}':
        raise ValueError("the check of the line does not match.")
    return decode(json.loads(body)), zlib.crc32(body, previous)


def _parse(data: bytes, name: str) -> tuple[dict[str, Any], list[dict[str, Any]], int, list[int]]:
    *lines, torn = data.split(b"\n")
    if lines and b"\0" in lines[-1]:  # blocks of one write that reached the disk out of order
        torn = lines.pop() + b"\n" + torn
    records: list[dict[str, Any]] = []
    sums = [0]
    for number, line in enumerate(lines, start=1):
        try:
            record, check = _read_line(line, sums[-1])
        except (ValueError, KeyError, TypeError, RecursionError):
            if number == 1:
                break
            raise LogError(
                f"log {name} is damaged at line {number} of {len(lines)} (changed, missing or moved lines); "
                "restore it from a copy."
            ) from None
        records.append(record)
        sums.append(check)
    if not records or not isinstance(records[0], dict) or records[0].get("format") != FORMAT:
        raise LogError(f"{name} is not a log of a design (its first line is no header).")
    header = records.pop(0)
    version = header.get("format_version")
    if not isinstance(version, int) or version > VERSION:
        raise LogError(f"log {name} has format version {version}; this version reads up to {VERSION}.")
    for key in ("event", "format", "format_version"):
        header.pop(key, None)
    return header, records, len(data) - len(torn), sums[1:]


def _disk_error(error: OSError, path: str, consequence: str) -> OSError:
    return OSError(error.errno, f"{error.strerror} while writing {path}: {consequence}; make room and repeat the call")
