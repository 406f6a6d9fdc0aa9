"""``adaptive classify``: does choosing the rows to label beat labelling rows at random, on this table?

A pool of rows whose labels are known to the command, not to the model, is asked for one label at a time: by the votes
of a committee, by margin, at random. Each seed splits the rows anew into pool and held-out rows.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from adaptive.cli.classify.table import Table, digits, read_table
from adaptive.cli.errors import CommandError
from adaptive.cli.job import Job
from adaptive.cli.label.classifier import classifier_of
from adaptive.cli.options import (
    DryRun,
    Format,
    Jobs,
    MaxMissing,
    Resume,
    out_folder,
    require_at_least,
    require_share,
    whole_number,
)
from adaptive.cli.understanding import counted

__all__ = ["classify"]

SCORERS = ("query_by_committee", "margin", "random")


def classify(
    context: typer.Context,
    table: Annotated[
        Path | None,
        typer.Argument(
            help="Table with a line of column names, .csv, .csv.gz or .parquet: numbers, dates, categories, texts, "
            "gaps, and a target of two classes or more (default: handwritten digits, 3 against 5).",
            metavar="TABLE",
            show_default=False,
        ),
    ] = None,
    target: Annotated[
        str | None, typer.Option(help="The column of TABLE that holds the class.", metavar="COLUMN")
    ] = None,
    ignore: Annotated[
        list[str] | None,
        typer.Option(help="A column of TABLE to leave out, such as the names of rows; repeatable.", metavar="COLUMN"),
    ] = None,
    max_missing: MaxMissing = 0.5,
    drop_rare: Annotated[
        bool, typer.Option("--drop-rare", help="Leave out the rows of classes with fewer than four.")
    ] = False,
    scorer: Annotated[
        list[str] | None,
        typer.Option(
            help="How rows are chosen; repeatable (default: query_by_committee, margin and random).", metavar="NAME"
        ),
    ] = None,
    exploration: Annotated[
        float,
        typer.Option(
            help="Share of the questions that are drawn at random with any scorer, from 0 to 1 (default 0.15).",
            metavar="SHARE",
            show_default=False,
        ),
    ] = 0.15,
    questions: Annotated[int, whole_number("Labels asked for in each run (default 60).")] = 60,
    initial: Annotated[
        int | None, whole_number("How many of these are drawn at random first (default: as many as there are classes).")
    ] = None,
    seeds: Annotated[int, whole_number("Repetitions, each with its own split of the rows (default 5).")] = 5,
    seed: Annotated[int, whole_number("The first seed; the others count up from it (default 0).")] = 0,
    out: Annotated[Path, out_folder("adaptive-classify-run")] = Path("adaptive-classify-run"),
    pictures: Format = "png",
    resume: Resume = False,
    jobs: Jobs = 0,
    dry_run: DryRun = False,
) -> None:
    """Does choosing which rows to label beat labelling rows at random?

    The command tries it on handwritten digits, or on a labelled table of your own. Labels are asked for one at a time,
    and accuracy is measured on rows that are held out. It writes questions.csv (every question and answer), curve.csv
    and curve.png (accuracy against the number of labels), summary.json, and a log from which --resume continues a run
    that was stopped.
    """
    job = Job(context, {**locals(), "ignore": ignore or [], "scorer": list(dict.fromkeys(scorer or SCORERS))})
    _check_numbers(job.settings, jobs)
    if job.settings["table"] is None and (target is not None or ignore):
        raise CommandError("--target and --ignore name columns of a table; name it: adaptive classify TABLE.")
    _check_initial(job.settings)
    rows = _rows(job.settings)
    _check_sizes(rows, job.settings)
    job.fix("rows", rows.fingerprint, f"the rows of {rows.name}")
    job.understood(*rows.columns_in_words, *rows.notes, _classes(rows))
    with job:
        job.doing = f"asking for labels of {counted(len(rows.y), 'row')}"
        for note in rows.notes:
            print(note)
        from adaptive.cli.classify.report import write  # from here on it pays to load what computes and draws

        write(_run_all(rows, job, jobs), rows, job)
        if job.settings["table"] is None:
            job.then("adaptive classify TABLE.csv --target COLUMN", "for a table of your own, labelled already")
        else:
            job.then("adaptive label TABLE.csv --classes A,B", "for a table that has no labels yet")


def _classes(rows: Table) -> str:
    classes, counts = np.unique(rows.y, return_counts=True)
    told = ", ".join(f"{label} ({count})" for label, count in zip(classes, counts, strict=True))
    return f"{counted(len(rows.y), 'row')} of {rows.name}; the classes are {told}."


def _check_numbers(wanted: dict[str, Any], jobs: int) -> None:
    require_at_least(
        ("questions", wanted["questions"], 1),
        ("initial", wanted["initial"] or 0, 0),
        ("seeds", wanted["seeds"], 1),
        ("seed", wanted["seed"], 0),
        ("jobs", jobs, 0),
    )
    require_share(exploration=wanted["exploration"], max_missing=wanted["max_missing"])
    if wanted["seed"] + wanted["seeds"] > 2**32:
        raise CommandError(f"--seed must be below 2^32 - {wanted['seeds']}, got {wanted['seed']}.")


def _check_initial(settings: dict[str, Any]) -> None:
    """Compare what is in force: a resumed run may have been told one of the two only."""
    if settings["initial"] is not None and settings["initial"] > settings["questions"]:
        raise CommandError(f"--initial {settings['initial']} is more than --questions {settings['questions']}.")


def _rows(settings: dict[str, Any]) -> Table:
    if settings["table"] is None:
        return digits()
    path = Path(settings["table"])
    if settings["target"] is None:
        raise CommandError(f"{path.name} needs --target COLUMN, the column that holds the class.")
    return read_table(
        path, settings["target"], settings["ignore"], max_missing=settings["max_missing"],
        drop_rare=settings["drop_rare"],
    )  # fmt: skip


def _check_sizes(table: Table, settings: dict[str, Any]) -> None:
    from adaptive.cli.classify.labelling import HELD_OUT, split

    n_pool = len(split(table.y, settings["seed"]).pool)
    if settings["questions"] > n_pool:
        raise CommandError(
            f"--questions {settings['questions']} is more than the {n_pool} rows that can be asked "
            f"({len(table.y)} rows, of which {HELD_OUT:.0%} are held out)."
        )
    for name in settings["scorer"]:
        try:
            classifier_of(np.unique(table.y).tolist()).select(np.eye(2), scorer=name)
        except ValueError as error:  # an unknown name, or one that asks for more than this model and pool have
            raise CommandError(f"--scorer {name}: {error}") from None


def _run_all(table: Table, job: Job, jobs: int) -> list[Any]:
    from adaptive.cli.classify.labelling import ask_questions, log_file
    from adaptive.cli.workers import spread

    settings = job.settings
    initial = settings["initial"]
    if initial is None:
        initial = min(len(np.unique(table.y)), settings["questions"])
    seeds = range(settings["seed"], settings["seed"] + settings["seeds"])
    tasks = [
        {
            "table": table,
            "scorer": scorer,
            "seed": seed,
            "exploration": settings["exploration"],
            "questions": settings["questions"],
            "initial": initial,
            "log": log_file(job.log, scorer, seed),
            "parent": os.getpid(),
        }
        for seed in seeds
        for scorer in settings["scorer"]
    ]
    told, total = (lambda: sum(_answers(task["log"]) for task in tasks)), len(tasks) * settings["questions"]
    job.progress = lambda: f" after {told()} of {total} answers"
    return spread(ask_questions, tasks, jobs=jobs, title="asking for labels")


def _answers(log: Path) -> int:
    from adaptive.loop import read_log

    try:
        return sum(event["event"] == "tell" for event in read_log(log)[1])
    except ValueError:  # not begun yet
        return 0
