"""Things as notebooks and terminals show them: facts and tables as text and as HTML, a line as a small picture, a bar.

Nothing is computed for it, and what users named is escaped.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from html import escape
from typing import Any

import numpy as np

__all__ = ["bar", "facts_html", "posterior_html", "short", "sparkline", "table_html", "table_text"]

_CELL = 'style="text-align:left;vertical-align:top;padding:1px 8px"'

_PATIENCE = 2.0  # seconds before a bar is shown
_shown: list[object] = []  # the bar that a terminal has room for


@contextmanager
def bar() -> Iterator[Callable[[float, str], None]]:
    """Yield ``show(fraction, text)``: a bar on a terminal after two seconds, nothing anywhere else or within another.

    Examples
    --------
    >>> with bar() as show:
    ...     show(0.5, "half of it")
    """
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    console = Console(stderr=True)
    if not console.is_terminal:
        yield lambda fraction, text: None
        return
    progress = Progress(
        TextColumn("{task.description}"), BarColumn(), TextColumn("{task.percentage:>3.0f}%"), TimeElapsedColumn(),
        console=console, transient=True,
    )  # fmt: skip
    task, start = progress.add_task("", total=1.0), time.monotonic()

    def show(fraction: float, text: str) -> None:
        if time.monotonic() - start < _PATIENCE or (_shown and _shown[0] is not progress):
            return
        if not _shown:
            progress.start()
            _shown.append(progress)
        progress.update(task, completed=fraction, description=text)

    try:
        yield show
    finally:
        if _shown and _shown[0] is progress:
            progress.stop()
            _shown.clear()


def short(value: object, length: int = 60) -> str:
    """Return a value in one line of at most ``length`` characters; numbers to six digits.

    Examples
    --------
    >>> short(1 / 3), short("a" * 100, 5)
    ('0.333333', 'aa...')
    """
    text = f"{value:.6g}" if isinstance(value, (float, np.floating)) else str(value)
    text = " ".join(text.split())
    return text if len(text) <= length else text[: length - 3] + "..."


def facts_html(title: str, facts: Iterable[tuple[str, object]], picture: str = "") -> str:
    """Return a title above a table of names and values, and a picture (HTML) below."""
    rows = "".join(
        f"<tr><th {_CELL}>{escape(name)}</th><td {_CELL}>{escape(short(value, 200))}</td></tr>" for name, value in facts
    )
    return f"<div><strong>{escape(title)}</strong><table>{rows}</table>{picture}</div>"


def posterior_html(posterior: Any, title: str = "", facts: Iterable[tuple[str, object]] = ()) -> str:
    """Return what a posterior says of itself, after further facts, and how its objective went."""
    means = np.asarray(posterior.mean)
    kind = posterior.evidence_kind
    own = [
        ("inference", posterior.engine or "-"),
        ("unknowns", posterior.n),
        ("means", f"from {short(means.min())} to {short(means.max())}" if means.size else "-"),
        ("log evidence", kind if kind == "none" else f"{short(posterior.log_evidence)} ({kind})"),
        ("iterations", f"{posterior.n_iter}, {'converged' if posterior.converged else 'NOT converged'}"),
    ]
    trace = sparkline(np.ravel(posterior.objective_trace).tolist(), "objective, by iteration")
    return facts_html(title or type(posterior).__name__, [*facts, *own], trace)


def table_html(title: str, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a title above a table."""
    head = "".join(f"<th {_CELL}>{escape(name)}</th>" for name in columns)
    body = "".join("<tr>" + "".join(f"<td {_CELL}>{escape(cell)}</td>" for cell in row) + "</tr>" for row in rows)
    return f"<div><strong>{escape(title)}</strong><table><tr>{head}</tr>{body}</table></div>"


def table_text(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table as text, its columns aligned to the right.

    Examples
    --------
    >>> print(table_text(["position", "x"], [["3", "0.5"]]))
      position    x
             3  0.5
    """
    widths = [max(map(len, cells)) for cells in zip(columns, *rows, strict=True)]
    lines = ["  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True)) for row in [columns, *rows]]
    return "\n".join(f"  {line}".rstrip() for line in lines)


def sparkline(values: Sequence[float], name: str) -> str:
    """Return values as an inline SVG line with its range, as HTML; nothing of fewer than two.

    Parameters
    ----------
    values : sequence of float
        What is not finite is left out.
    name : str
        What is shown, for the caption and for those who cannot see it.
    """
    kept = [float(value) for value in values if np.isfinite(value)]
    if len(kept) < 2:
        return ""
    low, high = min(kept), max(kept)
    heights = [44.0 - 40.0 * (value - low) / ((high - low) or 1.0) for value in kept]
    points = " ".join(f"{4 + 232 * k / (len(kept) - 1):.1f},{y:.1f}" for k, y in enumerate(heights))
    caption = f"{name}: {short(kept[0])} first, {short(kept[-1])} last, from {short(low)} to {short(high)}"
    return (
        f'<svg width="240" height="48" role="img" aria-label="{escape(caption)}">'
        f'<polyline points="{points}" fill="none" stroke="currentColor" stroke-width="1.5"/></svg>'
        f"<div><small>{escape(caption)}</small></div>"
    )
