"""``adaptive sequences``: a net with a memory for each user, against simple rivals, from a file of events."""

from __future__ import annotations

import hashlib
import shlex
from pathlib import Path
from typing import Annotated, Any

import typer

from adaptive.cli.errors import CommandError
from adaptive.cli.options import Format, Resume, out_folder, require_at_least, require_share, stated, whole_number
from adaptive.cli.run_folder import RunFolder
from adaptive.cli.sequences.events_file import read_events

__all__ = ["sequences"]

CELLS = ("gru", "tanh")


def sequences(
    context: typer.Context,
    events: Annotated[
        Path | None,
        typer.Option(help="CSV file with a line per event; its first line names the columns.", metavar="FILE"),
    ] = None,
    user: Annotated[str, typer.Option(help="The column of users.", metavar="COLUMN")] = "user",
    item: Annotated[str, typer.Option(help="The column of items.", metavar="COLUMN")] = "item",
    time: Annotated[
        str | None,
        typer.Option(help="The column of times; without it events are in order as they stand.", metavar="COLUMN"),
    ] = None,
    components: Annotated[int, whole_number("Size of the memory (default 16).")] = 16,
    cell: Annotated[
        str, typer.Option(help="gru or tanh (default gru).", metavar="NAME", show_default=False)
    ] = "gru",
    members: Annotated[int, whole_number("Nets that must agree, two or more (default 3).")] = 3,
    epochs: Annotated[int, whole_number("Passes over all events at most (default 60).")] = 60,
    sampled: Annotated[int, whole_number("Items to train against at each step, 0: all (default 0).")] = 0,
    held_out: Annotated[
        float, typer.Option(help="Share of each history's end that is predicted (default 0.1).", metavar="SHARE",
                            show_default=False),
    ] = 0.1,
    next: Annotated[int, whole_number("Next items to name of each user (default 5).")] = 5,
    observe: Annotated[int, whole_number("Users to name as worth observing (default 10).")] = 10,
    seed: Annotated[int, whole_number("What is drawn is drawn from it (default 0).")] = 0,
    out: Annotated[Path, out_folder("adaptive-sequences-run")] = Path("adaptive-sequences-run"),
    pictures: Format = "png",
    resume: Resume = False,
) -> None:  # fmt: skip
    """What does each user do next, from what they did so far - and whose next event is worth observing?

    The end of each history is held out and predicted by counting (1-gram, 2-gram), by a net with one memory for
    everybody (pooled) and by one with a memory for each user (summary.json, users.csv, nats.png). Then everybody's
    next items with probabilities (next.csv), and the users whose next event would tell most of which net is right
    (observe.csv; where histories differ in length, CollaborativeRNN(uncertainty="laplace") in Python told better whom
    to ask). Training is kept while it runs: --resume goes on after a stop, to the same result.
    """
    wanted: dict[str, Any] = {
        "events": None if events is None else str(events.resolve()), "user": user, "item": item, "time": time,
        "components": components, "cell": cell, "members": members, "epochs": epochs, "sampled": sampled,
        "held_out": held_out, "next": next, "observe": observe, "seed": seed,
    }  # fmt: skip
    require_at_least(
        ("components", components, 1), ("members", members, 2), ("epochs", epochs, 1), ("sampled", sampled, 0),
        ("next", next, 1), ("observe", observe, 1), ("seed", seed, 0),
    )  # fmt: skip
    require_share(held_out=held_out)
    if cell not in CELLS:
        raise CommandError(f"--cell must be one of {', '.join(CELLS)}, got {cell!r}.")
    folder = RunFolder(out, "sequences", wanted, given=stated(context, wanted), resume=resume, pictures=pictures)
    settings = folder.settings
    if settings["events"] is None:
        raise CommandError("name the file of events with --events FILE.")
    path = Path(settings["events"])
    histories, moved = read_events(path, settings["user"], settings["item"], settings["time"])
    if moved:
        print(f"{moved} events of {path.name} were out of order in time; they have been sorted")
    with path.open("rb") as content:
        folder.fix("content", hashlib.file_digest(content, "sha256").hexdigest(), f"the lines of {path.name}")
    with folder:
        from adaptive.cli.sequences import report  # from here on it pays to load what computes

        go_on = f"adaptive sequences --out {shlex.quote(str(folder.path))} --resume"
        try:
            summary = report.write(histories, settings, folder)
        except KeyboardInterrupt:
            raise CommandError(f"stopped; continue with: {go_on}", 130) from None
        except ValueError as problem:  # more items than memory allows
            raise CommandError(str(problem)) from None
        except OSError as error:  # a full disk
            raise CommandError(f"{error}; when that is mended, continue with: {go_on}", 1) from None
        _print(summary)
        print(f"written into {folder.path}")


def _print(summary: dict[str, Any]) -> None:
    print(f"{summary['events']} events of {summary['items']} items by {summary['users']} users")
    if summary["held_out"]:
        told = ", ".join(f"{name} {value:.3f}" for name, value in summary["nats"].items() if name != "own")
        print(f"held-out events cost {summary['nats']['own']:.3f} nats by a memory for each; {told}")
    print(f"worth observing: {', '.join(summary['observe'][:5])}")
