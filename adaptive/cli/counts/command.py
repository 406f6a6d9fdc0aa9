"""``adaptive counts``: a rate with bands and where to count next, or counts of pairs and which to ask for."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from adaptive.cli.columns import column_for
from adaptive.cli.errors import CommandError
from adaptive.cli.job import Job
from adaptive.cli.options import DryRun, Format, Resume, out_folder, require_at_least, require_one_of, whole_number
from adaptive.cli.understanding import counted, table_in_words
from adaptive.tables import Cells, TableError

__all__ = ["counts"]

RATES = ("auto", "rectified", "exp", "softplus")
ZEROS = ("missing", "observed")
LARGEST = 1e9  # count
ENDED = {"status", "event", "died", "dead", "death", "failed", "failure", "relapse", "delta", "uncensored"}


def counts(
    context: typer.Context,
    table: Annotated[
        Path | None,
        typer.Argument(help="Table with a line for each event; its first line names the columns.", metavar="TABLE",
                       show_default=False),
    ] = None,
    pairs: Annotated[
        bool,
        typer.Option(
            "--pairs", help="The table has a line for each pair and its count. An empty count is to be predicted."),
    ] = False,
    place: Annotated[
        list[str] | None,
        typer.Option(help="A column of times or dates, or one axis of places; repeatable (default: the first column).",
                     metavar="COLUMN"),
    ] = None,
    window: Annotated[
        list[str] | None,
        typer.Option(help=(
            "Range in which events were looked for, as START:END, once for each column (default: the range of the "
            "events)."
        ),
                     metavar="RANGE"),
    ] = None,
    ignore: Annotated[
        list[str] | None,
        typer.Option(help="A column to leave out; repeatable.", metavar="COLUMN"),
    ] = None,
    bins: Annotated[int, whole_number("Bins for each column (default 100 for times, 16 for places).")] = 0,
    rate: Annotated[str, typer.Option(help=(
        "Link of the rate: rectified, exp, softplus, or auto, which chooses by bins left out (default)."
    ), metavar="NAME", show_default=False)] = "auto",
    user: Annotated[str, typer.Option(help="The column of users.", metavar="COLUMN")] = "user",
    item: Annotated[str, typer.Option(help="The column of items.", metavar="COLUMN")] = "item",
    count: Annotated[str, typer.Option(help="The column of counts.", metavar="COLUMN")] = "count",
    zeros: Annotated[
        str,
        typer.Option(help="With --pairs: are pairs that the table does not list missing, or observed to be zero "
                     "(default missing)?", metavar="missing|observed", show_default=False),
    ] = "missing",
    to: Annotated[
        list[str] | None,
        typer.Option(help="With --pairs: a user to recommend items to; repeatable (default: all, at most 1000).",
                     metavar="ID"),
    ] = None,
    items: Annotated[int, whole_number("With --pairs: how many items to recommend to each user (default 10).")] = 10,
    components: Annotated[int, whole_number("Components of users and items (default 5).")] = 5,
    ask: Annotated[int, whole_number("How many places or pairs to name as worth counting next (default 10).")] = 10,
    seed: Annotated[int, whole_number("Seed of random choices (default 0).")] = 0,
    out: Annotated[Path, out_folder("adaptive-counts-run")] = Path("adaptive-counts-run"),
    pictures: Format = "png",
    resume: Resume = False,
    dry_run: DryRun = False,
) -> None:  # fmt: skip
    """Estimate how often something happens at a time or a place, or for a pair such as user and item, and where to
    count next.

    Each line is one event at its time or place, and events may go on for ever: this is a point process. It is not
    survival analysis, in which each line is a person or a part with one end. A table with a column of censoring is
    refused. The command writes a rate over time or over two axes of places, with 90% bands (rate.csv, rate.png), and
    the places to look at next (next.csv).

    With --pairs each line is a user, an item and a count. The command writes predictions with 90% intervals for the
    pairs without a count (predictions.csv), and the pairs worth asking for (next.csv). These are pairs without a count,
    or, if there are none, pairs that are not listed. The items for each user with the highest expected counts are in
    items.csv. A fifth of the items of each user who has three or more is held out. The model, popularity and a
    regression of each item on the others rank them (ranks.csv). The last line says which share of the items that each
    of them lists first had been held out.

    In a table of purchases or plays the pairs that are not listed are zeros, so say --zeros observed. Then nothing is
    left to predict or to ask. To recommend items from such a table take adaptive recommend; take this for the
    counts that are expected.

    Both uses write summary.json, and a state from which --resume continues a run that was stopped."""
    lists = {name: list(dict.fromkeys(values or [])) for name, values in
             (("place", place), ("ignore", ignore), ("to", to))}  # fmt: skip
    job = Job(context, {**locals(), **lists, "window": window or []}, aside=("lists",))
    require_at_least(("bins", bins, 0), ("components", components, 1), ("ask", ask, 1), ("items", items, 1),
                     ("seed", seed, 0))  # fmt: skip
    require_one_of(RATES, rate=rate)
    require_one_of(ZEROS, zeros=zeros)
    settings = job.settings
    cells = job.table("table", "of events, or of pairs and their counts")
    cells.require(*settings["ignore"])
    if settings["pairs"]:
        _count_pairs(cells, job)
    else:
        _count_events(cells, job)


def _count_events(cells: Cells, job: Job) -> None:
    settings = job.settings
    settings["place"] = settings["place"] or [str(cells.frame.columns[0])]
    refuse_censoring(cells, settings["place"], settings["ignore"])
    places, starts = read_events(cells, settings["place"])
    limits = _window(settings["window"], places, settings["place"])
    job.understood(lambda: table_in_words(cells, {"place or time": settings["place"]}, {"place or time": "times"}))
    job.understood("Each row is one event of a point process; this is not survival analysis.")
    for name, (start, end) in zip(settings["place"], limits, strict=True):
        job.understood(f"Events of {name} were looked for from {start:g} to {end:g}.")
    with job:
        job.doing = f"fitting a rate to {counted(len(places), 'event')}"
        from adaptive.cli.counts import events_report  # from here on it pays to load what computes

        print(f"{counted(len(places), 'event')} of a point process: this is not survival analysis.")
        events_report.write(places, limits, job, starts)
        job.then(job.anew(), "once you have counted at the places of next.csv and added the events to the table")


def _count_pairs(cells: Cells, job: Job) -> None:
    settings = job.settings
    settings |= {role: column_for(cells, role, settings[role]) for role in ("user", "item", "count")}
    names = (settings["user"], settings["item"], settings["count"])
    listed, y = read_pairs(cells, names)
    n_open = int(np.isnan(y).sum())
    if settings["zeros"] == "observed" and n_open:
        raise CommandError(
            f"--zeros observed says that each pair without a count is a zero, but {counted(n_open, 'line')} of "
            f"{cells.path.name} {'has' if n_open == 1 else 'have'} an empty count: fill them in, or leave --zeros out."
        )
    strangers = set(settings["to"]) - {one for one, _ in listed}
    if strangers:
        raise CommandError(f"--to names {min(strangers)!r}, which is no user of {cells.path.name}.")
    kinds = {"user": "ids", "item": "ids", "count": "numbers"}
    job.understood(
        lambda: table_in_words(cells, {role: [name] for role, name in zip(kinds, names, strict=True)}, kinds)
    )
    job.understood(f"Pairs that are not listed are {'zeros' if settings['zeros'] == 'observed' else 'not known'}.")
    with job:
        job.doing = f"learning {counted(len(listed), 'count')}"
        from adaptive.cli.counts import pairs_report  # from here on it pays to load what computes

        try:
            pairs_report.write(listed, y, job)
        except ValueError as problem:  # more zeros than there is memory for
            raise CommandError(str(problem)) from None
        if "next.csv" in job.written:
            job.then(job.anew(), "once the table has the counts of next.csv")


def refuse_censoring(cells: Cells, places: list[str], ignore: list[str]) -> None:
    """Refuse a table of times until an end, of which some were cut short: its lines are no events of a point process.

    A column says so by its name, or it is called as such columns are and holds two values.
    """
    for name in cells.frame.columns:
        if name in places or name in ignore:
            continue
        words = set(name.lower().replace("-", "_").replace(" ", "_").split("_"))
        two = cells.frame[name].nunique() <= 2
        if any(word.startswith("cens") for word in words) or (words & ENDED and two):
            raise CommandError(
                f"{cells.path.name} has a column {name!r}, which looks like censoring: adaptive counts is about events "
                "of a point process, not about survival times, for which lifelines or scikit-survival is right; if it "
                f"is no censoring, add --ignore {shlex.quote(name)}."
            )


def read_events(cells: Cells, places: list[str]) -> tuple[np.ndarray, list[str]]:
    """Return (n, d) places, or times; of dates the days since the first, which comes beside them (else "")."""
    if len(places) > 2:
        raise CommandError(f"--place names {len(places)} columns; expected one of times or two of places.")
    columns, starts = [], []
    for name in places:
        values, first = cells.times(name)
        columns.append(values)
        starts.append(first)
        if first:
            print(f"{name} is counted in days since {first.replace('T', ' ').removesuffix('+00:00')}.")
    return np.column_stack(columns), starts


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
