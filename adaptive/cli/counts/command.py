"""``adaptive counts``: a rate with bands and where to count next, or counts of pairs and which to ask for."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from adaptive.cli.errors import CommandError
from adaptive.cli.job import Job
from adaptive.cli.options import Format, Resume, out_folder, require_at_least, require_one_of, whole_number
from adaptive.tables import Cells, TableError

__all__ = ["counts"]

RATES = ("rectified", "exp", "softplus")
LARGEST = 1e9  # count


def counts(
    context: typer.Context,
    table: Annotated[
        Path | None,
        typer.Argument(help="Table with a line per event; its first line names the columns.", metavar="TABLE",
                       show_default=False),
    ] = None,
    pairs: Annotated[
        bool,
        typer.Option("--pairs", help="The table has a line per pair and its count; an empty count is one to predict."),
    ] = False,
    place: Annotated[
        list[str] | None,
        typer.Option(help="A column of times or dates, or of an axis of places; repeatable (default: the first).",
                     metavar="COLUMN"),
    ] = None,
    window: Annotated[
        list[str] | None,
        typer.Option(help="Where events were looked for, as START:END, once per column (default: their range).",
                     metavar="RANGE"),
    ] = None,
    bins: Annotated[int, whole_number("Bins per column (default 100 of time, 16 of places).")] = 0,
    rate: Annotated[str, typer.Option(help="rectified, exp or softplus (default rectified).", metavar="NAME",
                                      show_default=False)] = "rectified",
    user: Annotated[str, typer.Option(help="The column of users.", metavar="COLUMN")] = "user",
    item: Annotated[str, typer.Option(help="The column of items.", metavar="COLUMN")] = "item",
    count: Annotated[str, typer.Option(help="The column of counts.", metavar="COLUMN")] = "count",
    components: Annotated[int, whole_number("Components of users and items (default 5).")] = 5,
    ask: Annotated[int, whole_number("Places, or pairs, to name as worth counting next (default 10).")] = 10,
    seed: Annotated[int, whole_number("What is drawn is drawn from it (default 0).")] = 0,
    out: Annotated[Path, out_folder("adaptive-counts-run")] = Path("adaptive-counts-run"),
    pictures: Format = "png",
    resume: Resume = False,
) -> None:  # fmt: skip
    """Estimate how often it happens where and when, or how often with whom - and where it is worth counting next.

    Of events a rate over time or two axes of places, with 90% bands (rate.csv, rate.png), and places to look at next
    (next.csv). Of pairs predictions with 90% intervals for those without a count (predictions.csv), and the pairs worth
    asking for: of those without a count if there are any, else of all that are not listed (next.csv). Also
    summary.json, and a state from which --resume continues a run that was stopped.
    """
    job = Job(context, {**locals(), "place": list(dict.fromkeys(place or [])), "window": window or []})
    require_at_least(("bins", bins, 0), ("components", components, 1), ("ask", ask, 1), ("seed", seed, 0))
    require_one_of(RATES, rate=rate)
    settings = job.settings
    cells = job.table("table", "of events, or of pairs and their counts")
    if settings["pairs"]:
        listed, y = read_pairs(cells, (settings["user"], settings["item"], settings["count"]))
    else:
        settings["place"] = settings["place"] or [str(cells.frame.columns[0])]
        places = read_events(cells, settings["place"])
        limits = _window(settings["window"], places, settings["place"])
    with job:
        from adaptive.cli.counts import events_report, pairs_report  # from here on it pays to load what computes

        if settings["pairs"]:
            pairs_report.write(listed, y, job)
        else:
            events_report.write(places, limits, job)


def read_events(cells: Cells, places: list[str]) -> np.ndarray:
    """Return (n, d) places, or times; of dates the days since the first."""
    if len(places) > 2:
        raise CommandError(f"--place names {len(places)} columns; expected one of times or two of places.")
    columns = []
    for name in places:
        values, first = cells.times(name)
        columns.append(values)
        if first:
            print(f"{name} is counted in days since {first}")
    return np.column_stack(columns)


def read_pairs(cells: Cells, names: tuple[str, str, str]) -> tuple[list[tuple[str, str]], np.ndarray]:
    """Return pairs of ids and counts (n,), NaN where the cell is empty: a pair to predict."""
    user, item, count = names
    cells.require(*names)
    if cells.gaps(count).all():
        raise TableError(f"{cells.path} has no counts in column {count!r}.")
    counts = cells.numbers(count, "a count", gaps=True)
    cells.refuse((counts < 0) | (counts > LARGEST) | (counts % 1 > 0), count, "a count")
    return list(zip(cells.ids(user), cells.ids(item), strict=True)), counts


def _window(texts: list[str], events: Any, names: list[str]) -> list[tuple[float, float]]:
    """The range of every column, as given or as the events have it."""
    if not texts:
        limits = [(float(column.min()), float(column.max())) for column in events.T]
    elif len(texts) != len(names):
        raise CommandError(f"--window must be given once per column ({', '.join(names)}), got {len(texts)}.")
    else:
        try:
            limits = [tuple(map(float, text.split(":"))) for text in texts]  # type: ignore[misc]
        except ValueError:
            raise CommandError(f"--window must be like 0:100, got {', '.join(texts)}.") from None
    for pair, name, column in zip(limits, names, events.T, strict=True):
        if len(pair) != 2 or not pair[0] < pair[1]:
            raise CommandError(f"--window of {name!r} must be a range START:END with START < END, got {pair}.")
        if column.min() < pair[0] or column.max() > pair[1]:
            raise CommandError(
                f"--window of {name!r} is {pair[0]:g}:{pair[1]:g}, but events go from {column.min():g} to "
                f"{column.max():g}."
            )
    return limits
