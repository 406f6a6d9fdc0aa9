"""``adaptive recommend``: items for users with odds and intervals, how well they are ranked, pairs worth showing."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from adaptive.cli.errors import CommandError
from adaptive.cli.job import Job
from adaptive.cli.options import Format, Resume, out_folder, require_at_least, require_one_of, whole_number

__all__ = ["recommend"]

SCORERS = ("information_gain", "thompson", "upper_confidence_bound")
SELECTIONS = ("full", "constant")


def recommend(
    context: typer.Context,
    table: Annotated[
        Path | None,
        typer.Argument(help="Table with a line per pair; its first line names the columns.", metavar="TABLE",
                       show_default=False),
    ] = None,
    user: Annotated[str, typer.Option(help="The column of users.", metavar="COLUMN")] = "user",
    item: Annotated[str, typer.Option(help="The column of items.", metavar="COLUMN")] = "item",
    shown: Annotated[
        str | None,
        typer.Option(help="A column with 1 or 0 where the pair was shown and taken or refused, else empty.",
                     metavar="COLUMN"),
    ] = None,
    to: Annotated[
        list[str] | None,
        typer.Option(help="A user to recommend items to; repeatable (default: all, at most 1000).", metavar="ID"),
    ] = None,
    items: Annotated[int, whole_number("Items to recommend to each (default 10).")] = 10,
    show: Annotated[int, whole_number("Pairs to name as worth showing (default 10).")] = 10,
    scorer: Annotated[str, typer.Option(help="information_gain, thompson or upper_confidence_bound: which pairs are "
                                        "worth showing (default information_gain).", metavar="NAME",
                                        show_default=False)] = "information_gain",
    components: Annotated[int, whole_number("Components of users and items (default 20).")] = 20,
    ratio: Annotated[float, typer.Option(help="Censored pairs for each one seen (default 4).", metavar="NUMBER",
                                         show_default=False)] = 4.0,
    selection: Annotated[str, typer.Option(help="constant or full: full, of the source, makes the odds of rare items "
                                           "too high (default constant).", metavar="NAME",
                                           show_default=False)] = "constant",
    seed: Annotated[int, whole_number("What is drawn is drawn from it (default 0).")] = 0,
    out: Annotated[Path, out_folder("adaptive-recommend-run")] = Path("adaptive-recommend-run"),
    pictures: Format = "png",
    resume: Resume = False,
) -> None:  # fmt: skip
    """Whom to show what, from pairs of users and items that just happened - and which pairs are worth showing?

    One pair of every user with three or more is held out, and ranked among what the user has not seen by the model and
    by popularity (ranks.csv, ranks.png). Then items for users with the odds that they are taken and 90% intervals
    (items.csv), and pairs worth showing (show.csv): what is answered goes into the file again, with 1 or 0 in the
    column --shown. Also summary.json, and states from which --resume continues a run that was stopped.
    """
    job = Job(context, {**locals(), "to": list(dict.fromkeys(to or []))})
    require_at_least(("items", items, 1), ("show", show, 0), ("components", components, 1), ("seed", seed, 0))
    require_one_of(SCORERS, scorer=scorer)
    require_one_of(SELECTIONS, selection=selection)
    if not ratio >= 0 or ratio == float("inf"):
        raise CommandError(f"--ratio must be a number from 0 on, got {ratio:g}.")
    cells = job.table("table", "of pairs")
    known, thing, column = (job.settings[name] for name in ("user", "item", "shown"))
    cells.require(*filter(None, (known, thing, column)))
    pairs = list(zip(cells.ids(known), cells.ids(thing), strict=True))
    answers = cells.choices(column, {1: 1, 0: 0}, None, "1, 0 or nothing") if column else [None] * len(pairs)
    strangers = set(job.settings["to"]) - {one for one, _ in pairs}
    if strangers:
        raise CommandError(f"--to names {min(strangers)!r}, which is no user of {cells.path.name}.")
    with job:
        from adaptive.cli.recommend import report  # from here on it pays to load what computes

        report.write(pairs, answers, job)
