"""Answers that were taken back: a log without them.

    replay(ask, tell a, tell b, retract a)  =  replay(ask, tell b)

Nothing of a log is ever changed: what was said and that it was taken back both stand there.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from adaptive.loop.query import Query, as_positions

__all__ = ["standing", "told", "unsettled_by"]


def standing(events: Sequence[dict[str, Any]]) -> list[dict[str, Any] | None]:
    """Return the events with every answer that was refused or taken back left out.

    Parameters
    ----------
    events : sequence of dict

    Returns
    -------
    list of dict or None
        As many entries as there are events: a ``tell`` of which a part was taken back holds the rest, None stands for
        one of which nothing is left. A ``reject`` is about the event before it.

    Examples
    --------
    >>> tell = {"event": "tell", "query": 0, "rows": [0, 1], "outcomes": [3, 4]}
    >>> standing([tell, {"event": "retract", "query": 0, "rows": [1]}])[0]["outcomes"]
    [3]
    """
    kept: list[dict[str, Any] | None] = list(events)
    for k, event in enumerate(events):
        if event["event"] == "reject" and k:
            kept[k - 1] = None
        elif event["event"] == "retract":
            for row in event["rows"]:
                last = _last_told(kept[:k], event["query"], row)
                if last is None:
                    raise ValueError(f"row {row} of query {event['query']} has no answer that could be taken back.")
                kept[last] = _without(kept[last], row)
    return kept


def told(events: Sequence[dict[str, Any]], query: Query | Any) -> tuple[int, list[int]]:
    """Return the query, and the rows of it, whose answers are meant: those of a Query, or the last at these positions.

    Raises
    ------
    ValueError
        If there is no answer that could be taken back.
    """
    kept = standing(events)
    if isinstance(query, Query):
        number, positions = query.id, query.positions
    else:
        number, positions = None, as_positions(query)
    asked = {event["query"]: event["positions"] for event in events if event["event"] == "ask"}
    answered: dict[int, list[int]] = {}  # rows by query, the one told last at the end
    for event in kept:
        if event is not None and event["event"] == "tell":
            answered[event["query"]] = answered.pop(event["query"], []) + list(event["rows"])
    for candidate in reversed(answered):
        if number is None or candidate == number:
            rows = _rows(asked[candidate], answered[candidate], positions)
            if rows is not None:
                return candidate, rows
    where = "" if number is None else f" of query {number}"
    raise ValueError(f"positions {positions.tolist()}{where} have no answers that could be taken back.")


def unsettled_by(events: Sequence[dict[str, Any]], covered: int) -> bool:
    """Return whether a later event takes back what one of the first ``covered`` said."""
    if not any(event["event"] == "retract" for event in events[covered:]):
        return False
    before, now = standing(events[:covered]), standing(events)
    return any(_told_rows(old) != _told_rows(new) for old, new in zip(before, now, strict=False))


def _told_rows(event: dict[str, Any] | None) -> list[int] | None:
    return None if event is None or event["event"] != "tell" else list(event["rows"])


def _rows(asked: Sequence[int], answered: Sequence[int], positions: np.ndarray) -> list[int] | None:
    left, rows = sorted(answered), []
    for position in positions.tolist():
        row = next((row for row in left if asked[row] == position), None)
        if row is None:
            return None
        left.remove(row)
        rows.append(row)
    return rows


def _last_told(events: Sequence[dict[str, Any] | None], query: int, row: int) -> int | None:
    for k in range(len(events) - 1, -1, -1):
        event = events[k]
        if event is not None and event["event"] == "tell" and event["query"] == query and row in event["rows"]:
            return k
    return None


def _without(event: dict[str, Any] | None, row: int) -> dict[str, Any] | None:
    assert event is not None
    kept = [k for k, one in enumerate(event["rows"]) if one != row]
    if not kept:
        return None
    outcomes = event["outcomes"]
    rest = outcomes[kept] if isinstance(outcomes, np.ndarray) else [outcomes[k] for k in kept]
    return {**event, "rows": [event["rows"][k] for k in kept], "outcomes": rest}
