"""Kinds of events that a log may hold, and what stands in each: any other line is refused by its number."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from adaptive.loop.log.storage import LogError

__all__ = ["EVENTS", "check_events", "check_keys"]

# What every event of a kind has; others may be absent.
EVENTS = {
    "ask": ("query", "positions", "labels", "scores", "costs", "n", "initial"),
    "tell": ("query", "rows", "outcomes", "seconds"),
    "skip": ("query", "rows"),
    "retract": ("query", "rows"),
    "reject": ("query", "reason"),
    "snapshot": ("n_events",),
}


def check_events(name: str, events: Sequence[Any]) -> None:
    """Refuse what no design writes.

    Parameters
    ----------
    name : str
        Of the log, for the message.
    events : sequence
        As read; the first of them is line 2, behind the header.

    Raises
    ------
    LogError
        If an event is of an unknown kind, or lacks something.
    """
    for line, event in enumerate(events, start=2):
        kind = event.get("event") if isinstance(event, dict) else None
        if not isinstance(kind, str) or kind not in EVENTS:
            raise LogError(
                f"log {name} holds at line {line} an event of the unknown kind {str(kind)[:40]!r}; known are "
                f"{', '.join(EVENTS)}."
            )
        check_keys(name, line, f"an event {kind!r}", event, EVENTS[kind])


def check_keys(name: str, line: int, what: str, record: Mapping[str, Any], keys: Sequence[str]) -> None:
    """Refuse a line in which one of the ``keys`` is missing."""
    missing = [key for key in keys if key not in record]
    if missing:
        raise LogError(f"log {name} holds at line {line} {what} without {', '.join(map(repr, missing))}.")
