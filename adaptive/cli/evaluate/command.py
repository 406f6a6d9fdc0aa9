"""``adaptive evaluate``: the score of a new system on all items, from the few that tell most about it."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from adaptive.cli.errors import CommandError
from adaptive.cli.evaluate.reading import KINDS, earlier_systems, new_systems, of_use
from adaptive.cli.job import Job
from adaptive.cli.options import (
    DryRun,
    Format,
    Resume,
    out_folder,
    require_at_least,
    require_one_of,
    require_share,
    stated,
    whole_number,
)
from adaptive.cli.understanding import counted

if TYPE_CHECKING:
    from adaptive.cli.evaluate.asking import Replies, Run, Wanted
    from adaptive.cli.evaluate.calibration import Calibration
    from adaptive.tables import Responses

__all__ = ["evaluate"]

ITEMS, ERROR = 60, 2.0  # where neither was stated
MOST = 200  # items where only an error was stated
FREE = ("ask", "module", "answers", "timeout", "attempts")  # how answers are got may change when a run goes on
MODELS = ("rasch", "two_parameter", "three_parameter", "four_parameter", "graded", "partial_credit")


def evaluate(
    context: typer.Context,
    responses: Annotated[
        Path | None,
        typer.Argument(
            help="Earlier systems x items: a table (.csv, .csv.gz, .parquet), a line for each answer or for each "
            "system, gaps allowed; or a file or folder of lm-evaluation-harness samples (samples_*.jsonl), of details "
            "of a leaderboard (details_*.parquet), of runs of HELM (per_instance_stats.json), of logs of Inspect "
            "(.eval, .json).",
            metavar="RESPONSES", show_default=False,
        ),
    ] = None,
    ask: Annotated[
        str | None,
        typer.Option(
            help="Shell command that gets an item on standard input, its name in $ADAPTIVE_ITEM and the system's in "
            "$ADAPTIVE_SYSTEM, and prints right, wrong, or a score from 0 to 1 as its last line.",
            metavar="COMMAND", show_default=False,
        ),
    ] = None,
    module: Annotated[
        str | None,
        typer.Option(
            help="Python function that gets an item (and, where it has parameters item and system, these names) and "
            "returns such a score.",
            metavar="PACKAGE.MODULE:FUNCTION", show_default=False,
        ),
    ] = None,
    answers: Annotated[
        Path | None,
        typer.Option(
            help="File of answers, as RESPONSES may be, or with columns item and score only. What it lacks is printed "
            "and written to next.csv; with --resume it is read again.",
            metavar="FILE", show_default=False,
        ),
    ] = None,
    name: Annotated[
        list[str] | None,
        typer.Option(
            help="Name of the new system; repeatable, for several at once (default new, or those in --answers). One "
            "that RESPONSES holds is left out there.",
            metavar="NAME", show_default=False,
        ),
    ] = None,
    error: Annotated[
        float | None,
        typer.Option(
            help=(
                "Stop when the error of the score is at most this many points of 100 (default 2; with --items "
                "alone no limit)."
            ),
            metavar="POINTS", show_default=False,
        ),
    ] = None,
    items: Annotated[
        int | None, whole_number("Stop after this many items (default 60, with --error alone 200).")
    ] = None,
    batch: Annotated[int, whole_number("Items chosen together and asked at the same time (default 1).")] = 1,
    jobs: Annotated[int, whole_number("Commands that run at the same time (default: --batch).")] = 0,
    timeout: Annotated[
        float,
        typer.Option(help="Seconds after which a command is ended (default 600).", metavar="SECONDS",
                     show_default=False),
    ] = 600.0,
    attempts: Annotated[
        int, whole_number("How often an item is tried before it is set aside (default 2).")
    ] = 2,
    common: Annotated[
        float,
        typer.Option(
            help="Share of the items that all systems are asked first (default 0).", metavar="SHARE",
            show_default=False,
        ),
    ] = 0.0,
    model: Annotated[
        str | None,
        typer.Option(
            help=f"Response model of one ability: {', '.join(MODELS)} (default: as many abilities as predict hidden "
            "answers of other systems best).",
            metavar="NAME", show_default=False,
        ),
    ] = None,
    about: Annotated[
        Path | None,
        typer.Option(
            help="Table with a line for each item: item, text (what is put on standard input), benchmark.",
            metavar="FILE", show_default=False,
        ),
    ] = None,
    column: Annotated[
        list[str] | None,
        typer.Option(
            help=f"What a column of RESPONSES holds where its name does not say it: {KINDS}; repeatable.",
            metavar="KIND=NAME", show_default=False,
        ),
    ] = None,
    metric: Annotated[
        str | None,
        typer.Option(
            help="The score to take from exports that hold several (default: the first of acc_norm, acc, exact_match, "
            "...).",
            metavar="NAME", show_default=False,
        ),
    ] = None,
    learn_from: Annotated[
        list[Path] | None,
        typer.Option(
            help="Folder of an earlier run, whose systems help to calibrate; repeatable.", metavar="FOLDER",
            show_default=False,
        ),
    ] = None,
    seed: Annotated[int, whole_number("Seed of the choice of held-out systems, and of ties (default 0).")] = 0,
    out: Annotated[Path, out_folder("adaptive-evaluate-run")] = Path("adaptive-evaluate-run"),
    pictures: Format = "png",
    resume: Resume = False,
    dry_run: DryRun = False,
) -> None:  # fmt: skip
    """Score a new system on all items by asking it a few: the next is the one that tells most about its score.

    Earlier systems say how hard each item is and how well it tells systems apart (once for a table: it is cached).
    Held-out systems of other families say how far off such scores are, which gives the band. Every answer is on disk
    before the next item. After a stop or a kill --resume carries on, and asks nothing twice. The command writes
    results.csv (score, band, error), asked.csv (every answer; a table for --learn-from), path.csv and a figure (score
    against items asked, beside earlier systems), items.csv, contaminated.csv (items that are much easier for one
    family), aside.csv (items without an answer), summary.json.
    """
    options = {**locals(), "name": name or [], "column": column or []}
    options["learn_from"] = [str(folder.expanduser().resolve()) for folder in learn_from or []]
    job = Job(context, options, free=FREE)
    for way in FREE:
        if stated(context, [way]):
            value = options[way]
            job.settings[way] = str(value.expanduser().resolve()) if isinstance(value, Path) else value
    if any(stated(context, [way]) for way in FREE[:3]):
        for way in FREE[:3]:
            if not stated(context, [way]):
                job.settings[way] = None
    settings = job.settings
    _check(settings)
    _run(job, options["jobs"] or settings["batch"])


def _check(settings: dict[str, Any]) -> None:
    ways = [way for way in FREE[:3] if settings[way] is not None]
    if len(ways) != 1:
        told = "say how items are asked" if not ways else "items are asked in one way only"
        raise CommandError(f"{told}: --ask COMMAND, --module FUNCTION or --answers FILE.")
    least = {"items": 1, "batch": 1, "seed": 0, "attempts": 1}
    require_at_least(*((option, 1 if settings[option] is None else settings[option], n) for option, n in least.items()))
    require_share(common=settings["common"])
    if settings["model"] is not None:
        require_one_of(MODELS, model=settings["model"])
    for option in ("error", "timeout"):
        if settings[option] is not None and not settings[option] > 0:
            raise CommandError(f"--{option} must be greater than 0, got {settings[option]:g}.")
    twice = sorted({one for one in settings["name"] if settings["name"].count(one) > 1})
    if twice:
        raise CommandError(f"--name {twice[0]} is there twice.")


def _run(job: Job, jobs: int) -> None:
    from adaptive.cli.evaluate import asking, report
    from adaptive.cli.evaluate.calibration import Way
    from adaptive.cli.evaluate.keeping import kept

    settings = job.settings
    earlier = earlier_systems(job)
    names, told = new_systems(settings, begun=(job.log / "new.jsonl").exists())
    if told is not None and not set(told.items) & set(earlier.items):
        raise CommandError(
            f"{settings['answers']} names none of the items of {settings['responses']}: {told.items[0]!r} there, "
            f"{earlier.items[0]!r} here."
        )
    left_out = [one for one in names if one in earlier.systems]
    earlier = of_use(earlier.without(names), earlier)
    points, most = settings["error"], settings["items"]
    if points is None and most is None:
        points = ERROR
    most = min(most or (MOST if settings["error"] is not None else ITEMS), len(earlier.items))
    job.fix("responses_digest", earlier.digest(), "the earlier answers")
    replies, outside = _replies(settings, told, jobs)
    job.understood(
        f"{settings['responses']}: {counted(len(earlier.systems), 'system')}, {counted(len(earlier.items), 'item')}, "
        f"{counted(len(set(earlier.benchmarks)), 'benchmark')}; the new {counted(len(names), 'system')}: "
        f"{', '.join(names)}; at most {counted(most, 'item')} each"
    )
    with job, ExitStack() as stack:
        for one in left_out:
            print(f"{one} is in RESPONSES, too: it is left out there.")
        way = Way(most, settings["batch"], settings["common"])
        known, there = kept(earlier, settings["model"], way, settings["seed"], job.log)
        for note in report.notes_on(known, there):
            print(note, flush=True)
        runs = asking.opened(job, known, names, stack, points=points, way=way)
        texts = {item: text for item, text in zip(earlier.items, earlier.texts, strict=True) if text}
        try:
            waiting = asking.ask_all(
                runs,
                replies,
                known,
                batch=settings["batch"],
                texts=texts,
                say=lambda run: print(_where(run, known), flush=True),
            )
        except CommandError as problem:
            again = job.again("--resume")
            raise CommandError(f"{problem} When that is mended, continue with: {again}", 1) from None
        finally:
            if outside is not None:
                outside.stop()
        if waiting:
            _write_next(job, waiting)
            job.then(job.again("--resume"), "once their scores are in the file")
            return
        report.write(runs, known, earlier, job)
        job.then(job.anew("--name", "NAME"), "for the next system")


def _replies(settings: dict[str, Any], told: Responses | None, jobs: int) -> tuple[Replies, Any]:
    """The source of answers, and what has to be stopped at the end."""
    from adaptive.cli.evaluate.asking import from_table
    from adaptive.cli.outside import Outside, PythonFunction, ShellCommand
    from adaptive.tables.responses import score_of

    if settings["answers"] is not None:
        records = [] if told is None else told.records()
        return from_table({(one.system, one.item): one.score for one in records}), None
    source: Any = (
        ShellCommand(settings["ask"], settings["timeout"]) if settings["ask"] else PythonFunction(settings["module"])
    )
    outside = Outside(source, score_of, attempts=settings["attempts"], jobs=jobs)
    return outside.replies, outside


def _where(run: Run, known: Calibration) -> str:
    """Progress of a system, in a line."""
    n = run.design.iteration
    if not n:
        return f"{run.name}: no item was answered yet"
    score, low, high, error = known.standing(run.design.estimator_)
    items = f"{n} item{'s' if n > 1 else ''}"
    return f"{run.name}, {items}: {score:.1f}, between {low:.1f} and {high:.1f}; error {error:.1f}"


def _write_next(job: Job, waiting: list[Wanted]) -> None:
    """Say what is to be asked, and write it down."""
    job.write_csv(
        "next.csv",
        {"system": [one.system for one in waiting], "item": [one.item for one in waiting],
         "text": ["" if one.text == one.item else one.text for one in waiting], "score": [None] * len(waiting)},
    )  # fmt: skip
    print("next:")
    for one in waiting:
        print(f"  {one.item}" if len({each.system for each in waiting}) == 1 else f"  {one.system}: {one.item}")
    print(f"add their scores to {job.settings['answers']} (columns system, item, score), then: {job.again('--resume')}")
