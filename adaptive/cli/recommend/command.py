"""``adaptive recommend``: items for users with odds and intervals, how well they are ranked, pairs worth showing."""

from __future__ import annotations

import hashlib
import shlex
from pathlib import Path
from typing import Annotated, Any

import typer

from adaptive.cli.errors import CommandError
from adaptive.cli.options import Format, Resume, out_folder, require_at_least, stated, whole_number
from adaptive.cli.recommend.pairs_file import read_stream
from adaptive.cli.run_folder import RunFolder

__all__ = ["recommend"]

SCORERS = ("information_gain", "thompson", "upper_confidence_bound")
SELECTIONS = ("full", "constant")


def recommend(
    context: typer.Context,
    pairs: Annotated[
        Path | None,
        typer.Option(help="CSV file with a line per pair; its first line names the columns.", metavar="FILE"),
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
    ratio: Annotated[float, typer.Option(help="Censored pairs for each one seen (default 1).", metavar="NUMBER",
                                         show_default=False)] = 1.0,
    selection: Annotated[str, typer.Option(help="full or constant: constant keeps the odds of rare items low "
                                           "(default full).", metavar="NAME", show_default=False)] = "full",
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
    wanted: dict[str, Any] = {
        "pairs": None if pairs is None else str(pairs.resolve()), "user": user, "item": item, "shown": shown,
        "to": list(dict.fromkeys(to or [])), "items": items, "show": show, "scorer": scorer, "components": components,
        "ratio": ratio, "selection": selection, "seed": seed,
    }  # fmt: skip
    require_at_least(("items", items, 1), ("show", show, 0), ("components", components, 1), ("seed", seed, 0))
    for name, value, known in (("scorer", scorer, SCORERS), ("selection", selection, SELECTIONS)):
        if value not in known:
            raise CommandError(f"--{name} must be one of {', '.join(known)}, got {value!r}.")
    if not ratio >= 0 or ratio == float("inf"):
        raise CommandError(f"--ratio must be a number from 0 on, got {ratio:g}.")
    folder = RunFolder(out, "recommend", wanted, given=stated(context, wanted), resume=resume, pictures=pictures)
    settings = folder.settings
    if settings["pairs"] is None:
        raise CommandError("name the file of pairs with --pairs FILE.")
    path = Path(settings["pairs"])
    stream, answers = read_stream(path, settings["user"], settings["item"], settings["shown"])
    known_users = {one for one, _ in stream}
    for one in settings["to"]:
        if one not in known_users:
            raise CommandError(f"--to names {one!r}, which is no user of {path.name}.")
    with path.open("rb") as content:
        folder.fix("content", hashlib.file_digest(content, "sha256").hexdigest(), f"the lines of {path.name}")
    with folder:
        from adaptive.cli.recommend import report  # from here on it pays to load what computes

        go_on = f"adaptive recommend --out {shlex.quote(str(folder.path))} --resume"
        try:
            report.write(stream, answers, settings, folder)
        except KeyboardInterrupt:
            raise CommandError(f"stopped; continue with: {go_on}", 130) from None
        except OSError as error:  # a full disk
            raise CommandError(f"{error}; when that is mended, continue with: {go_on}", 1) from None
        print(f"written into {folder.path}")
