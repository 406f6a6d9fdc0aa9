"""``adaptive recommend``: items for users with probabilities, how well they are ranked, pairs worth showing."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from adaptive.cli.columns import COUNTS, column_for
from adaptive.cli.errors import CommandError
from adaptive.cli.job import Job
from adaptive.cli.options import DryRun, Format, Resume, out_folder, require_at_least, require_one_of, whole_number
from adaptive.cli.understanding import counted, table_in_words

if TYPE_CHECKING:
    from adaptive.tables import Cells

__all__ = ["recommend"]

SCORERS = ("information_gain", "thompson", "upper_confidence_bound")
SELECTIONS = ("full", "constant")
MOST_PAIRS = 5e6  # of the stream, by the column of counts


def recommend(
    context: typer.Context,
    table: Annotated[
        Path | None,
        typer.Argument(help="Table with a line for each pair; its first line names the columns.", metavar="TABLE",
                       show_default=False),
    ] = None,
    user: Annotated[str, typer.Option(help="The column of users.", metavar="COLUMN")] = "user",
    item: Annotated[str, typer.Option(help="The column of items.", metavar="COLUMN")] = "item",
    shown: Annotated[
        str | None,
        typer.Option(help=(
            "A column with 1 if the pair was shown and taken, 0 if it was shown and refused, and nothing "
            "otherwise."
        ),
                     metavar="COLUMN"),
    ] = None,
    count: Annotated[
        str | None,
        typer.Option(help=(
            "A column that says how often each pair happened (default: once for each line, which ranks as well or "
            "better)."
        ), metavar="COLUMN"),
    ] = None,
    to: Annotated[
        list[str] | None,
        typer.Option(help="A user to recommend items to; repeatable (default: all, at most 1000).", metavar="ID"),
    ] = None,
    items: Annotated[int, whole_number("How many items to recommend to each user (default 10).")] = 10,
    show: Annotated[int, whole_number("How many pairs to name as worth showing (default 10).")] = 10,
    scorer: Annotated[str, typer.Option(help=(
        "How to choose the pairs worth showing: information_gain, thompson or upper_confidence_bound (default "
        "information_gain)."
    ), metavar="NAME",
                                        show_default=False)] = "information_gain",
    components: Annotated[int, whole_number("Components of users and items (default 20).")] = 20,
    ratio: Annotated[float, typer.Option(help=(
        "How many pairs were refused without a trace for each pair of the table (default 4)."
    ), metavar="NUMBER",
                                         show_default=False)] = 4.0,
    selection: Annotated[str, typer.Option(help=(
        "How refused pairs are spread: constant, by how often users and items are about, or full, by the "
        "probabilities as well, as in the paper, which makes those of rare items too high (default constant)."
    ), metavar="NAME",
                                           show_default=False)] = "constant",
    seed: Annotated[int, whole_number("Seed of random choices (default 0).")] = 0,
    out: Annotated[Path, out_folder("adaptive-recommend-run")] = Path("adaptive-recommend-run"),
    pictures: Format = "png",
    resume: Resume = False,
    dry_run: DryRun = False,
) -> None:  # fmt: skip
    """Recommend items to users, from pairs of a user and an item that happened, and say which pairs to show next.

    This is the command to recommend items from a table of plays, purchases or visits. It needs no counts: who took what
    is enough. For expected counts with intervals take adaptive counts --pairs.

    A fifth of the items of each user who has three or more is held out. The model, popularity and a ridge regression of
    each item on the others rank them among the items that are new to the user. The last line says which share of the
    items that each of them lists first had been held out. Mean ranks are in ranks.csv and ranks.png.

    The items for each user, the best first, are in items.csv, with the probability that the user takes each if it is
    shown, and a 90% interval. They are ranked by this probability times the square root of the item's share of all
    pairs. If a rival's list certainly holds more of what was held out, its items are there instead.

    The pairs worth showing, at most two of a user and few of an item, are in show.csv. Add them to the table with 1 or
    0 in the column --shown. The command also writes summary.json, and states from which --resume continues a run that
    was stopped.
    """
    job = Job(context, {**locals(), "to": list(dict.fromkeys(to or []))})
    require_at_least(("items", items, 1), ("show", show, 0), ("components", components, 1), ("seed", seed, 0))
    require_one_of(SCORERS, scorer=scorer)
    require_one_of(SELECTIONS, selection=selection)
    if not ratio >= 0 or ratio == float("inf"):
        raise CommandError(f"--ratio must be a number from 0 on, got {ratio:g}.")
    cells = job.table("table", "of pairs")
    job.settings |= {role: column_for(cells, role, job.settings[role]) for role in ("user", "item")}
    roles = {role: job.settings[role] for role in ("user", "item", "shown", "count") if job.settings[role]}
    cells.require(*roles.values())
    pairs = list(zip(cells.ids(roles["user"]), cells.ids(roles["item"]), strict=True))
    column = roles.get("shown")
    answers = cells.choices(column, {1: 1, 0: 0}, None, "1, 0 or nothing") if column else [None] * len(pairs)
    strangers = set(job.settings["to"]) - {one for one, _ in pairs}
    if strangers:
        raise CommandError(f"--to names {min(strangers)!r}, which is no user of {cells.path.name}.")
    times = _times(cells, roles.get("count"), answers)
    kinds = {"user": "ids", "item": "ids", "shown": "numbers", "count": "numbers"}
    job.understood(lambda: table_in_words(cells, {role: [name] for role, name in roles.items()}, kinds))
    ignored = [name for name in cells.frame.columns if name.lower() in COUNTS and name not in roles.values()]
    if ignored:
        note = f"The column {ignored[0]} is not used: who took what ranks items as well as how often."
        job.understood(note)
    with job:
        job.doing = f"learning {counted(sum(times), 'pair')}"
        from adaptive.cli.recommend import report  # from here on it pays to load what computes

        if ignored:
            print(note)
        stream = [pair for pair, n in zip(pairs, times, strict=True) for _ in range(n)]
        report.write(stream, [one for one, n in zip(answers, times, strict=True) for _ in range(n)], job)
        shown = job.settings["shown"] or "shown"
        job.then(
            job.anew("--shown", shlex.quote(shown)),
            f"once the pairs of show.csv are in the table, with 1 or 0 in {shown}",
        )


def _times(cells: Cells, count: str | None, answers: list[int | None]) -> list[int]:
    """Numbers of times that each line counts: once where the pair was shown."""
    if count is None:
        return [1] * len(answers)
    numbers = cells.numbers(count, "a count", gaps=True)
    cells.refuse((numbers < 0) | (numbers % 1 > 0), count, "a count")
    times = [1 if answer is not None or number != number else int(number)
             for number, answer in zip(numbers.tolist(), answers, strict=True)]  # fmt: skip
    if sum(times) > MOST_PAIRS:
        raise CommandError(
            f"the column {count!r} adds up to {sum(times):,} pairs, more than {MOST_PAIRS:,.0f}: leave --count out, or "
            "let `adaptive counts --pairs` model the counts."
        )
    return times
