"""``adaptive counts``: a rate with bands and where to count next, or counts of pairs and which to ask for."""

from __future__ import annotations

import hashlib
import shlex
from pathlib import Path
from typing import Annotated, Any

import typer

from adaptive.cli.counts.tables import read_events, read_pairs
from adaptive.cli.errors import CommandError
from adaptive.cli.options import Format, Resume, out_folder, require_at_least, stated, whole_number
from adaptive.cli.run_folder import RunFolder

__all__ = ["counts"]

RATES = ("rectified", "exp", "softplus")


def counts(
    context: typer.Context,
    events: Annotated[
        Path | None,
        typer.Option(help="CSV file with a line per event; its first line names the columns.", metavar="FILE"),
    ] = None,
    pairs: Annotated[
        Path | None,
        typer.Option(help="CSV file with a line per pair and its count; an empty count is one to predict.",
                     metavar="FILE"),
    ] = None,
    place: Annotated[
        list[str] | None,
        typer.Option(help="A column of times, or of an axis of places; repeatable (default: the first).",
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
    """How often does it happen where and when, or how often with whom - and where is it worth counting next?

    Of events a rate over time or two axes of places, with 90% bands (rate.csv, rate.png), and places to look at next
    (next.csv). Of pairs predictions with 90% intervals for those without a count (predictions.csv), and the pairs worth
    asking for: of those without a count if there are any, else of all that are not listed (next.csv). Also
    summary.json, and a state from which --resume continues a run that was stopped.
    """
    wanted: dict[str, Any] = {
        "events": None if events is None else str(events.resolve()),
        "pairs": None if pairs is None else str(pairs.resolve()),
        "place": list(dict.fromkeys(place or [])), "window": window or [], "bins": bins, "rate": rate,
        "user": user, "item": item, "count": count, "components": components, "ask": ask, "seed": seed,
    }  # fmt: skip
    require_at_least(("bins", bins, 0), ("components", components, 1), ("ask", ask, 1), ("seed", seed, 0))
    if rate not in RATES:
        raise CommandError(f"--rate must be one of {', '.join(RATES)}, got {rate!r}.")
    folder = RunFolder(out, "counts", wanted, given=stated(context, wanted), resume=resume, pictures=pictures)
    settings = folder.settings
    if (settings["events"] is None) == (settings["pairs"] is None):
        raise CommandError("name either the file of events with --events FILE or the file of pairs with --pairs FILE.")
    path = Path(settings["events"] or settings["pairs"])
    given: Any
    if settings["events"]:
        given, settings["place"] = read_events(path, settings["place"])
        if given.shape[1] > 2:
            raise CommandError(f"--place names {given.shape[1]} columns; expected one of times or two of places.")
        limits = _window(settings["window"], given, settings["place"])
    else:
        given = read_pairs(path, (settings["user"], settings["item"], settings["count"]))
    with path.open("rb") as stream:
        folder.fix("content", hashlib.file_digest(stream, "sha256").hexdigest(), f"the lines of {path.name}")
    with folder:
        from adaptive.cli.counts import events_report, pairs_report  # from here on it pays to load what computes

        go_on = f"adaptive counts --out {shlex.quote(str(folder.path))} --resume"
        try:
            if settings["events"]:
                events_report.write(given, limits, settings, folder)
            else:
                pairs_report.write(given[0], given[1], settings, folder)
        except KeyboardInterrupt:
            raise CommandError(f"stopped; continue with: {go_on}", 130) from None
        except OSError as error:  # a full disk
            raise CommandError(f"{error}; when that is mended, continue with: {go_on}", 1) from None
        print(f"written into {folder.path}")


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
