"""A design and its queries, as they are shown to people: what was asked, what is known, which rows to label."""

from __future__ import annotations

import logging
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from adaptive import pool as pools
from adaptive.showing import facts_html, short, sparkline, table_html, table_text

if TYPE_CHECKING:
    from adaptive.loop.query import Query
    from adaptive.loop.sequential_design import SequentialDesign
    from adaptive.types import Pool

__all__ = ["announce", "design_html", "design_text", "query_html", "query_text", "warn_of_doubts"]

MOST_ROWS, MOST_COLUMNS = 10, 8  # of a query
WORDS = 4  # of a text, on average
GAPS = {"None", "nan", "NaT", "<NA>"}
LOGGER = logging.getLogger("adaptive.loop")


def warn_of_doubts(estimator: Any, event: dict[str, Any], said: set[str]) -> None:
    """Say of a question what it rests on though no answer tells it (the estimator's ``doubts_``), each kind once."""
    chosen = event["event"] == "ask" and not event.get("volunteered", False)
    doubts: dict[str, str] = getattr(estimator, "doubts_", {}) if chosen else {}
    for kind in [one for one in doubts if one not in said]:
        said.add(kind)
        warnings.warn(doubts[kind], UserWarning, stacklevel=6)


def announce(event: dict[str, Any]) -> None:
    """Tell Python's `logging`, at the level DEBUG, what has happened; answers themselves are not repeated there."""
    if not LOGGER.isEnabledFor(logging.DEBUG):
        return
    kind, number = event["event"], event["query"]
    if kind == "ask":
        whom = f" for {event['worker']}" if "worker" in event else ""
        LOGGER.debug("asked query %d%s: positions %s", number, whom, event["positions"])
    elif kind == "tell":
        LOGGER.debug("told query %d, rows %s", number, event["rows"])
    elif kind == "skip":
        LOGGER.debug("set aside of query %d rows %s", number, event["rows"])
    elif kind == "retract":
        LOGGER.debug("took back of query %d rows %s", number, event["rows"])
    else:
        LOGGER.debug("refused an answer to query %d: %s", number, event["reason"])


def design_text(design: SequentialDesign) -> str:
    """Return what a design is and how far it is, in a few lines."""
    facts = _facts(design)
    lines = [f"{name} {short(value, 100)}" for name, value in facts]
    return f"{_title(design)}\n  " + "\n  ".join(lines)


def design_html(design: SequentialDesign) -> str:
    """Return the same as HTML, with the scores of the questions as a line."""
    return facts_html(_title(design), _facts(design), sparkline(design.history_["score"], "score of each question"))


def query_text(query: Query) -> str:
    """Return the rows that are to be measured, as text."""
    columns, rows = _table(query)
    return f"{_query_title(query)}\n{table_text(columns, rows)}"


def query_html(query: Query) -> str:
    """Return the rows that are to be measured, as HTML."""
    return table_html(_query_title(query), *_table(query))


def _title(design: SequentialDesign) -> str:
    estimator = getattr(design.estimator_, "last", design.estimator_)
    inner = getattr(estimator, "classifier", estimator)  # of a view
    steps = " at the end of a pipeline" if estimator is not design.estimator_ else ""
    size = "a callable pool" if design.changing_pool else f"{pools.length(design.pool)} candidates"
    return f"SequentialDesign: {type(inner).__name__}{steps}, {size}"


def _facts(design: SequentialDesign) -> list[tuple[str, object]]:
    history, pending = design.history_, design.pending
    n_waiting = sum(map(len, pending))
    n_answered = len(history["step"])
    n_open = sum(map(len, design.unanswered))
    scores = [score for score in history["score"] if np.isfinite(score)]
    facts: list[tuple[str, object]] = [
        ("scorer", getattr(design.scorer, "__name__", design.scorer)),
        ("asked", n_answered + n_open),
        ("answered", n_answered),
        ("waiting", f"{n_waiting}" + "".join(f"; query {q.id}{_for(q)}: {_listed(q)}" for q in pending[:5])),
    ]
    if n_open > n_waiting:
        facts.append(("set aside", n_open - n_waiting))
    if scores:
        facts.append(("best score", f"{short(max(scores))}, the last {short(scores[-1])}"))
    if design.cost is not None:
        facts.append(("spent", design.spent))
    if design.stop is not None:
        facts.append(("stops", repr(design.stop)))
    if design.log_path is not None:
        facts.append(("log", design.log_path))
    return facts


def _for(query: Query) -> str:
    return "" if query.worker is None else f" for {query.worker}"


def _listed(query: Query) -> str:
    positions = query.positions.tolist()
    return f"{positions}" if len(positions) <= MOST_ROWS else f"{len(positions)} candidates"


def _query_title(query: Query) -> str:
    n = len(query)
    return f"Query {query.id}{_for(query)}: {n} candidate{'s' if n > 1 else ''} to measure"


def _table(query: Query) -> tuple[list[str], list[list[str]]]:
    """Column names and cells: position, label where it says more, the candidate."""
    shown = min(len(query), MOST_ROWS)
    columns, cells = _cells(pools.take(query.candidates, np.arange(shown)), shown)
    positions, labels = query.positions.tolist(), list(query.labels)
    named = labels != positions
    rows = [
        [str(positions[k]), *([short(labels[k], 30)] if named else []), *(short(cell, 40) for cell in cells[k])]
        for k in range(shown)
    ]
    header = ["position", *(["label"] if named else []), *columns]
    if len(query) > shown:
        rows.append([f"... {len(query) - shown} more", *[""] * (len(header) - 1)])
    return header, rows


def _cells(candidates: Pool, n: int) -> tuple[list[str], list[list[Any]]]:
    """Names and values of the first columns; of what is no table a column with the things themselves."""
    table: Any = candidates
    if hasattr(table, "columns"):
        columns = [(name, table[name].to_numpy()) for name in table.columns]
        columns.sort(key=lambda column: not _is_text(column[1]))  # what people read stands first
        names = [str(name) for name, _ in columns]
        values = [[_legible(cell) for cell in row] for row in zip(*(cells for _, cells in columns), strict=True)]
    elif sparse.issparse(table) or (isinstance(table, np.ndarray) and table.ndim == 2):
        first = table[:, :MOST_COLUMNS]
        names = [str(k) for k in range(table.shape[1])]
        values = (first.toarray() if sparse.issparse(first) else first).tolist()
    else:
        entries = list(table) if isinstance(table, (np.ndarray, list, tuple, range)) else pools.labels(table, range(n))
        return ["candidate"], [[_brief(entry)] for entry in entries]
    more = len(names) > MOST_COLUMNS
    return (
        names[:MOST_COLUMNS] + ["..."] * more,
        [row[:MOST_COLUMNS] + [f"{len(names) - MOST_COLUMNS} more columns"] * more for row in values],
    )


def _is_text(cells: np.ndarray) -> bool:
    """Test whether a column holds texts, of four words or more on average."""
    words = [len(cell.split()) for cell in cells if isinstance(cell, str) and cell.strip()]
    return bool(words) and len(words) >= len(cells) / 2 and sum(words) >= WORDS * len(words)


def _legible(cell: Any) -> Any:
    """A cell as people write it: nothing for a gap, a day without its midnight."""
    if not isinstance(cell, str) and str(cell) in GAPS:
        return ""
    if isinstance(cell, np.datetime64):
        return str(cell.astype("datetime64[s]")).removesuffix("T00:00:00").replace("T", " ")
    return cell


def _brief(entry: Any) -> Any:
    """An entry, or of an array its shape."""
    return f"{type(entry).__name__} {entry.shape}" if getattr(entry, "shape", ()) else entry
