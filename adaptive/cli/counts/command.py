"""``adaptive counts``: a rate with bands and what became of it, or counts of pairs and which to ask for."""

from __future__ import annotations

import shlex
from itertools import zip_longest
from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from adaptive.cli.columns import column_for
from adaptive.cli.counts.events_axis import BINS_OF_AN_AXIS, BINS_OF_TIME, axis_of
from adaptive.cli.counts.events_words import looked_for
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
            "Range in which events were looked for, as START:END: 0:100, or 2023-01-01:2025-01-01 for two years. "
            "Once for each column (default: the range of the events)."
        ),
                     metavar="RANGE"),
    ] = None,
    ignore: Annotated[
        list[str] | None,
        typer.Option(help="A column to leave out; repeatable.", metavar="COLUMN"),
    ] = None,
    bins: Annotated[int, whole_number("Bins for each column (default 100 for times, 16 for places).")] = 0,
    rate: Annotated[str, typer.Option(help=(
        "Form of the rate: rectified (a curve cut off at 0), exp (of a curve), softplus (a curve bent at 0), or auto, "
        "which takes what predicts bins left out better (default)."
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
    """Estimate how often something happens over time, and whether its rate has risen. Or estimate it over places, or
    for pairs such as user and item.

    Each line is one event at its time or place, and events may go on for ever. The command writes a rate over time or
    over two axes of places, with 90% bands (rate.csv, rate.png). It says whether the rate has risen from the first
    fifth of the time to the last, and whether it varies at all. Where places are numbers, next.csv says where counting
    again would tell most. This is not survival analysis, in which each line is a person or a part with one end. A table
    with a column of censoring is refused.

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
    names = settings["place"] = settings["place"] or [str(cells.frame.columns[0])]
    refuse_censoring(cells, names, settings["ignore"])
    if len(names) > 2:
        raise CommandError(f"--place names {len(names)} columns; expected one of times or two of places.")
    if len(settings["window"]) not in (0, len(names)):
        raise CommandError(
            f"--window must be given once per column ({', '.join(names)}), got {len(settings['window'])}."
        )
    axes = [axis_of(cells, name, one) for name, one in zip_longest(names, settings["window"])]
    job.understood(lambda: table_in_words(cells, {"place or time": names}, {"place or time": "times"}))
    job.understood(
        "Each row is one event, and events may go on for ever (a point process; this is not survival analysis).",
        *looked_for(axes),
    )
    with job:
        job.doing = f"fitting a rate to {counted(len(cells.frame), 'event')}"
        from adaptive.cli.counts import events_report  # from here on it pays to load what computes

        events_report.write(axes, job)
        half = max(1, axes[0].n_bins(settings["bins"], BINS_OF_TIME if len(axes) == 1 else BINS_OF_AN_AXIS) // 2)
        job.then(job.anew("--bins", str(half)), "to see whether the answer is the same with half as many bins")


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


def read_pairs(cells: Cells, names: tuple[str, str, str]) -> tuple[list[tuple[str, str]], np.ndarray]:
    """Return pairs of ids and counts (n,), NaN where the cell is empty: a pair to predict."""
    user, item, count = names
    cells.require(*names)
    if cells.gaps(count).all():
        raise TableError(f"{cells.path} has no counts in column {count!r}.")
    counts = cells.numbers(count, "a count", gaps=True)
    cells.refuse((counts < 0) | (counts > LARGEST) | (counts % 1 > 0), count, "a count")
    return list(zip(cells.ids(user), cells.ids(item), strict=True)), counts
