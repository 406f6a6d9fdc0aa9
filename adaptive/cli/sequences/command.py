"""``adaptive sequences``: a net with a memory for each user, against simple rivals, from a file of events."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from adaptive.cli.columns import column_for
from adaptive.cli.errors import CommandError
from adaptive.cli.job import Job
from adaptive.cli.options import (
    DryRun,
    Format,
    Resume,
    out_folder,
    require_at_least,
    require_one_of,
    require_share,
    whole_number,
)
from adaptive.cli.understanding import counted, table_in_words
from adaptive.tables import Cells, number_of
from adaptive.tables.values import dates_of

__all__ = ["sequences"]

CELLS = ("gru", "tanh")


def sequences(
    context: typer.Context,
    table: Annotated[
        Path | None,
        typer.Argument(help="Table with a line for each event; its first line names the columns.", metavar="TABLE",
                       show_default=False),
    ] = None,
    user: Annotated[str, typer.Option(help="The column of users.", metavar="COLUMN")] = "user",
    item: Annotated[str, typer.Option(help="The column of items.", metavar="COLUMN")] = "item",
    time: Annotated[
        str | None,
        typer.Option(help="The column of times (default: the events are in order already).", metavar="COLUMN"),
    ] = None,
    components: Annotated[int, whole_number("Size of the memory (default 16).")] = 16,
    cell: Annotated[
        str, typer.Option(help="Kind of the memory: gru or tanh (default gru).", metavar="NAME", show_default=False)
    ] = "gru",
    members: Annotated[int, whole_number("Nets whose predictions are averaged (default 3).")] = 3,
    epochs: Annotated[int, whole_number("The largest number of passes over all events (default 60).")] = 60,
    sampled: Annotated[int, whole_number(
        "Number of items to train against at each step; 0 means all (default 0).")] = 0,
    held_out: Annotated[
        float, typer.Option(help="Share of each history's end that is predicted (default 0.1).", metavar="SHARE",
                            show_default=False),
    ] = 0.1,
    next: Annotated[int, whole_number("How many next items to name for each user (default 5).")] = 5,
    observe: Annotated[int, whole_number("How many users to name as worth observing (default 10).")] = 10,
    seed: Annotated[int, whole_number("Seed of random choices (default 0).")] = 0,
    out: Annotated[Path, out_folder("adaptive-sequences-run")] = Path("adaptive-sequences-run"),
    pictures: Format = "png",
    resume: Resume = False,
    dry_run: DryRun = False,
) -> None:  # fmt: skip
    """Predict what each user does next, from what they did so far, and say whose next event is worth observing.

    The end of each history is held out. It is predicted by counting (1-gram, 2-gram), by a net with one memory for all
    users (pooled) and by a net with a memory for each user (summary.json, users.csv, nats.png). The command then writes
    the next items of each user with probabilities, by the better of the two nets (next.csv). The users whose next event
    would tell most about their own memory are in observe.csv. If there are more than 60 users, only some are looked at,
    the shortest histories first. Training is saved while it runs. After a stop --resume carries on, and comes to the
    result that it would have had.
    """
    job = Job(context, locals())
    require_at_least(
        ("components", components, 1), ("members", members, 1), ("epochs", epochs, 1), ("sampled", sampled, 0),
        ("next", next, 1), ("observe", observe, 1), ("seed", seed, 0),
    )  # fmt: skip
    require_share(held_out=held_out)
    require_one_of(CELLS, cell=cell)
    cells = job.table("table", "of events")
    job.settings |= {role: column_for(cells, role, job.settings[role]) for role in ("user", "item")}
    histories, moved = histories_of(cells, *(job.settings[name] for name in ("user", "item", "time")))
    if moved:
        print(f"{counted(moved, 'event')} of {cells.path.name} stood out of order in time and were sorted")
    roles = {role: [job.settings[role]] for role in ("user", "item", "time") if job.settings[role]}
    job.understood(lambda: table_in_words(cells, roles, {"user": "ids", "item": "ids", "time": "times"}))
    job.understood(_in_words(histories))
    with job:
        job.doing = f"training nets on {counted(len(cells.frame), 'event')}"
        from adaptive.cli.sequences import report  # from here on it pays to load what computes

        try:
            _print(report.write(histories, job))
        except ValueError as problem:  # more items than memory allows
            raise CommandError(str(problem)) from None
        job.then(job.anew(), "once the table has the events of the users in observe.csv")


def _in_words(histories: dict[str, list[str]]) -> str:
    lengths = [len(one) for one in histories.values()]
    of_each = f"{min(lengths)} to {max(lengths)} events each" if min(lengths) < max(lengths) else (
        f"{counted(min(lengths), 'event')} each")  # fmt: skip
    return f"{counted(len(lengths), 'user')} with {of_each}."


def histories_of(cells: Cells, user: str, item: str, time: str | None) -> tuple[dict[str, list[str]], int]:
    """Return user -> items in order, and how many events were out of order in time.

    Times sort as numbers or dates where all are, else as text.
    """
    cells.require(*filter(None, (user, item, time)))
    users, items = np.array(cells.ids(user), dtype=object), np.array(cells.ids(item), dtype=object)
    order, moved = np.arange(len(users)), 0
    if time is not None:
        cells.refuse(cells.frame[time] == "", time, "a time")
        moments: Any = [*map(number_of(cells.delimiter), cells.frame[time])]
        if None in moments:
            dates = dates_of(cells.frame[time])
            moments = cells.frame[time] if dates is None else dates[1]
        by_user = cells.frame[user].map({name: k for k, name in enumerate(dict.fromkeys(users))}).to_numpy()
        order = np.lexsort((order, np.unique(np.asarray(moments), return_inverse=True)[1], by_user))
        moved = int(np.sum(order != np.argsort(by_user, kind="stable")))
    histories: dict[str, list[str]] = {}
    for row in order:
        histories.setdefault(users[row], []).append(items[row])
    return histories, moved


def _print(summary: dict[str, Any]) -> None:
    print(f"{summary['events']} events of {summary['items']} items by {summary['users']} users")
    if summary["held_out"]:
        told = ", ".join(f"{name} {value:.3f}" for name, value in summary["nats"].items() if name != "own")
        print(f"held-out events cost {summary['nats']['own']:.3f} nats by a memory for each; {told}")
        from adaptive.cli import beside

        beside.say(
            summary["beside"], advice="next items by the nets are nothing gained", how="by the ends of their histories"
        )
    print(f"worth observing: {', '.join(summary['observe'][:5])}")
