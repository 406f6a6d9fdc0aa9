"""Exports of a store: sessions, answers in order with times; and a person taken out of it for good."""

from __future__ import annotations

import csv
import re
from pathlib import Path
from typing import Any

from adaptive.loop.log.counted import count_path, read_count
from adaptive.loop.log.event_log import LogError, parsed
from adaptive.loop.log.retracting import standing
from adaptive.serve.labelling import DESIGN
from adaptive.serve.people import erase
from adaptive.serve.stores.any_store import AnyStore
from adaptive.serve.stores.faults import StoreError
from adaptive.serve.stores.log import StoredLog

__all__ = ["answers_of", "attention_of", "forget", "named_in", "passes_of", "sessions_of"]


def sessions_of(store: AnyStore) -> list[dict[str, Any]]:
    """Return one dictionary per session that was begun: session, name, begun (seconds since 1970), participant.

    Parameters
    ----------
    store : AnyStore

    Returns
    -------
    list of dict

    Examples
    --------
    >>> import tempfile
    >>> from adaptive.serve import Store
    >>> with tempfile.TemporaryDirectory() as folder, Store(folder) as store:
    ...     sessions_of(store)
    []
    """
    found = store.rows("SELECT id, name, begun FROM sessions WHERE begun IS NOT NULL ORDER BY id")
    sent = dict(store.rows("SELECT session, participant FROM participants")) if store.has_table("participants") else {}
    return [
        {"session": number, "name": name, "begun": begun, "participant": sent.get(number)}
        for number, name, begun in found
    ]


def attention_of(store: AnyStore) -> list[dict[str, Any]]:
    """Return the answers to attention items: time, session, item, answer, whether correct, whether the test ended.

    Parameters
    ----------
    store : AnyStore

    Returns
    -------
    list of dict

    Examples
    --------
    >>> import tempfile
    >>> from adaptive.serve import Store
    >>> with tempfile.TemporaryDirectory() as folder, Store(folder) as store:
    ...     attention_of(store)
    []
    """
    names = ("time", "session", "item", "answer", "correct", "ended")
    found = _rows_of(store, "attention", names, "session, number")
    return [one | {"correct": bool(one["correct"]), "ended": bool(one["ended"])} for one in found]


def answers_of(store: AnyStore, design: int) -> list[dict[str, Any]]:
    """Return the answers to a design that stand, in the order in which they were given.

    Parameters
    ----------
    store : AnyStore
    design : int
        The number of a session of a test, or 0, the design of a pool; where a run keeps a log of its own, it is read
        from there.

    Returns
    -------
    list of dict
        time (seconds since 1970; None in a log of a run's own), session (None: not by these pages), query, position,
        item (the pool's label) and answer.

    Raises
    ------
    StoreError
        If the log of the run is gone.
    LogError
        If a log is damaged, or holds fewer answers than were acknowledged.

    Examples
    --------
    >>> import tempfile
    >>> from adaptive.serve import Store
    >>> with tempfile.TemporaryDirectory() as folder, Store(folder) as store:
    ...     answers_of(store, 1)
    []
    """
    name, lines = _lines(store, design)
    if not lines:
        return []
    _, events = parsed(b"".join(line for _, line in lines), name)
    asked = {event["query"]: event for event in events if event["event"] == "ask"}
    found = []
    for (when, _), event in zip(lines[1:], standing(events), strict=True):
        if event is None or event["event"] != "tell":
            continue
        query = asked[event["query"]]
        for row, outcome in zip(event["rows"], event["outcomes"], strict=True):
            who = design if design != DESIGN else event.get("worker", query.get("worker"))
            one: dict[str, Any] = {"time": when, "session": who, "query": event["query"]}
            one |= {"position": query["positions"][row], "item": query["labels"][row]}
            found.append(one | {"answer": outcome.item() if hasattr(outcome, "item") else outcome})
    return found


def passes_of(store: AnyStore) -> list[dict[str, Any]]:
    """Return who could not tell which candidates of a pool, in order: time, session, query, position.

    Parameters
    ----------
    store : AnyStore

    Returns
    -------
    list of dict

    Examples
    --------
    >>> import tempfile
    >>> from adaptive.serve import Store
    >>> with tempfile.TemporaryDirectory() as folder, Store(folder) as store:
    ...     passes_of(store)
    []
    """
    return _rows_of(store, "passes", ("time", "session", "query", "position"), "number, time")


def _rows_of(store: AnyStore, table: str, names: tuple[str, ...], order: str) -> list[dict[str, Any]]:
    """Rows of a table, none where the store is older than it."""
    if not store.has_table(table):
        return []
    found = store.rows(f"SELECT {', '.join(names)} FROM {table} ORDER BY {order}")
    return [dict(zip(names, row, strict=True)) for row in found]


def _lines(store: AnyStore, design: int) -> tuple[str, list[tuple[float | None, bytes]]]:
    """The name of a design's log, and its lines with their times."""
    own = store.facts().get("log") if design == DESIGN else None
    if own is None:
        storage = StoredLog(store, design)
        counted = storage.acknowledged()  # before the lines: a server may write between the two
        timed = [*storage.timed_lines()]
        _check_whole(storage.name, counted, len(timed) - 1)
        return storage.name, [*timed]
    path = store.folder / own
    count = count_path(path)
    try:
        kept = count.read_bytes() if count.exists() else b""  # before the lines: a server may write between the two
        lines = path.read_bytes().splitlines(keepends=True)
    except OSError as problem:
        raise StoreError(f"the log of the run, {path}, cannot be read: {problem.strerror or problem}.") from None
    _check_whole(str(path), read_count(kept, lines[0]) if lines else None, len(lines) - 1)
    return str(path), [(None, line) for line in lines]


def _check_whole(name: str, counted: int | None, n_events: int) -> None:
    """Refuse a log that holds fewer events than were acknowledged."""
    if counted is not None and n_events < counted:
        raise LogError(
            f"log {name} was cut off: {counted} events were acknowledged, it holds {max(n_events, 0)}; restore it from "
            "a copy."
        )


def forget(store: AnyStore, session: int) -> int:
    """Remove a session and, of a test, its answers; return how many lines of its log went.

    Labels of a pool stay, for the model has learnt them: under a number that belongs to nobody any more.

    Parameters
    ----------
    store : AnyStore
    session : int
        Its number, as in `sessions_of`.

    Returns
    -------
    int
        Lines of the log that went.

    Raises
    ------
    StoreError
        If there is no such session; if what it said may still stand in the write-ahead log, since another program reads
        the store: then repeat it when that one is closed.

    Examples
    --------
    >>> import tempfile
    >>> from adaptive.serve import Store
    >>> with tempfile.TemporaryDirectory() as folder, Store(folder) as store:
    ...     forget(store, 7)  # doctest: +IGNORE_EXCEPTION_DETAIL
    Traceback (most recent call last):
    adaptive.serve.errors.StoreError: there is no session 7 in ...
    """
    store.settle()  # what was removed while others read, too
    with store.transaction() as run:
        gone = erase(store, run, session)
        if gone < 0:
            raise StoreError(f"there is no session {session} in {store.name}, nor anything left of one.")
    store.settle()
    return gone


def named_in(store: AnyStore, session: int) -> list[Path]:
    """Return files of the store's folder that still name a session: exports, invitations, skills.

    Parameters
    ----------
    store : AnyStore
    session : int

    Returns
    -------
    list of Path

    Examples
    --------
    >>> import tempfile
    >>> from adaptive.serve import Store
    >>> with tempfile.TemporaryDirectory() as folder, Store(folder) as store:
    ...     named_in(store, 7)
    []
    """
    found = []
    for path in sorted({*store.folder.glob("*.csv"), *store.folder.glob("*/*.csv")}):
        with path.open(newline="", encoding="utf-8", errors="replace") as stream:
            if any(row.get("session") == str(session) for row in csv.DictReader(stream)):
                found.append(path)
    said = re.compile(rf'"session": {session}\b')
    whole = sorted(store.folder.glob("*/export.json"))
    return found + [path for path in whole if said.search(path.read_text(encoding="utf-8", errors="replace"))]
