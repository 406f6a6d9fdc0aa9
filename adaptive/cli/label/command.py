"""``adaptive label``: which rows of a table are worth a label, asked in the terminal or through files."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import typer

from adaptive.cli.errors import CommandError
from adaptive.cli.job import Job, shown
from adaptive.cli.label.rows import names_of
from adaptive.cli.options import (
    DryRun,
    Format,
    MaxMissing,
    Resume,
    out_folder,
    require_at_least,
    require_share,
    stated,
    whole_number,
)
from adaptive.cli.stopping import Stop, stopping_rule
from adaptive.cli.understanding import counted

__all__ = ["label"]


def label(
    context: typer.Context,
    table: Annotated[
        Path | None,
        typer.Argument(
            help="Table with a line of column names (.csv, .csv.gz, .parquet); labels in it are learnt first.",
            metavar="TABLE",
            show_default=False,
        ),
    ] = None,
    classes: Annotated[
        str | None,
        typer.Option(help="The labels, separated by commas (default: those in the table).", metavar="A,B,..."),
    ] = None,
    target: Annotated[
        str, typer.Option(help="The column of labels; it need not be there yet (default label).", show_default=False)
    ] = "label",
    show: Annotated[
        list[str] | None,
        typer.Option(help="A column that people see; repeatable (default: the first 20).", metavar="COLUMN"),
    ] = None,
    ignore: Annotated[
        list[str] | None, typer.Option(help="A column that the model leaves out; repeatable.", metavar="COLUMN")
    ] = None,
    embeddings: Annotated[
        str | None,
        typer.Option(
            help="Vectors of the rows from any network, as features instead of the columns.",
            metavar="FILE.npy|FILE.parquet:COLUMN",
            show_default=False,
        ),
    ] = None,
    max_missing: MaxMissing = 0.5,
    ask: Annotated[
        Path | None,
        typer.Option(
            help="Write the next rows to this file instead of asking here: .csv, or .json for Label Studio.",
            metavar="FILE",
        ),
    ] = None,
    batch: Annotated[int, whole_number("How many rows --ask writes (default 20, or as in the run that goes on).")] = 20,
    another: Annotated[
        bool, typer.Option("--another", help="Ask for further rows although others still wait, for a second person.")
    ] = False,
    tell: Annotated[
        Path | None,
        typer.Option(
            help=("Learn the answers of a file of --ask that was filled in; continues the run in --out."),
            metavar="FILE",
        ),
    ] = None,
    report: Annotated[
        bool,
        typer.Option(
            "--report", help="Ask nothing; write the labels and the report of the run, or of the table's labels."
        ),
    ] = False,
    skills: Annotated[
        int,
        whole_number(
            "Learn how often each of at most this many people is right, and choose who is asked which row "
            "(default 0: no)."
        ),
    ] = 0,
    annotator: Annotated[
        str | None,
        typer.Option(
            help=(
                "With --skills: the person who answers in the terminal (default here), or in a file without names "
                "(default somebody)."
            ),
            metavar="NAME",
            show_default=False,
        ),
    ] = None,
    stop: Stop = None,
    seed: Annotated[int, whole_number("Seed of random choices (default 0).")] = 0,
    out: Annotated[Path, out_folder("adaptive-label-run")] = Path("adaptive-label-run"),
    pictures: Format = "png",
    resume: Resume = False,
    dry_run: DryRun = False,
) -> None:
    """Label a table: the command asks for the row that teaches most.

    It asks in the terminal, one row at a time, or in batches through files that people fill in. Rows that have a label
    already are learnt first. Every answer is on disk before the next question, and --resume carries on where a run was
    stopped. Every call ends with labels.csv (the table with labels, and predictions for the other rows), answers.csv,
    and a report with figures. The report says how well answers were predicted, and if it is time to stop. If
    scikit-learn's LogisticRegressionCV predicts certainly better, labels.csv holds its predictions, too.

    If several people answer a row, the majority counts. With --skills N the command also learns how reliable each
    person is, named by the column "annotator" or by Label Studio's completed_by. Then labels.csv holds the label that
    is believed to be true beside the answers, and people.csv has a line for each person.

    A Parquet file of more than four million cells stays on disk and is read in parts. Its numbers are the features,
    labels.csv holds the labelled rows, and --report writes predictions.parquet.
    """
    options = {**locals()}
    options["resume"] = resume or tell is not None or (report and (table is None or out.exists()))
    options |= {"show": show or [], "ignore": ignore or [], "stop": stop or [], "classes": names_of(classes)}
    _check_use(ask, another, report, context)
    # a run may go on beyond where it stopped
    aside = ("ask", "another", "tell", "report", "annotator")
    job = Job(context, options, aside=aside, free=("stop", "batch"), later={"skills": 0, "batch": 20})
    require_at_least(("batch", batch, 1), ("seed", seed, 0), ("skills", skills, 0))
    require_share(max_missing=max_missing)
    rule = stopping_rule(job.settings["stop"] if stop is None else stop)
    if not stated(context, ["batch"]):
        batch = job.settings.get("batch", batch)
    if annotator is not None and not job.settings.get("skills"):
        raise CommandError("--annotator is about a run with --skills, in which answers are somebody's.")
    _run(job, rule, ask=ask, batch=batch, another=another, tell=tell, report=report, annotator=annotator)


def _check_use(ask: Path | None, another: bool, report: bool, context: typer.Context) -> None:
    if ask is None and (another or stated(context, ["batch"])):
        raise CommandError("--batch and --another are about the file that --ask FILE names.")
    if ask is not None and ask.suffix not in (".csv", ".json"):
        raise CommandError(f"--ask {ask} must end in .csv, or in .json for Label Studio.")
    if report and ask is not None:
        raise CommandError("--report asks nothing; leave --ask out, or --report.")


def _run(
    job: Job, rule: Any, *, ask: Path | None, batch: int, another: bool, tell: Path | None, report: bool,
    annotator: str | None,
) -> None:  # fmt: skip
    from adaptive.cli.label.asked_rows import design_of, rows_of

    job.file("table", "to label")
    rows, skills = rows_of(job), job.settings.get("skills", 0)
    job.understood(*rows.understood())
    with (
        job,
        design_of(rows, job.log / "answers.jsonl", job.settings["seed"], rule, skills) as design,
    ):
        ways = _of_people(annotator) if skills else _of_rows()
        for note in rows.notes:
            print(note)
        job.doing = f"choosing among {counted(len(rows), 'row')}"
        try:
            if tell is not None:
                print(ways.learn(design, rows, tell))
            if ask is not None:
                print(ways.questions(design, rows, ask, batch, another=another, tell=job.again("--tell")))
            if ask is None and tell is None and not report:
                ways.terminal(job, design, rows)
        finally:
            job.doing = "writing the report"
            ways.report(design, rows, job, report)
            _say_next(job, design, ask, tell)


def _say_next(job: Job, design: Any, ask: Path | None, tell: Path | None) -> None:
    """Say what to type next."""
    if ask is not None and any(map(len, design.pending)):
        further = ("--ask", shown(_after(ask)))
        job.then(job.again("--tell", shown(ask), *further), f"once the answers are in {ask.name}")
    elif not design.finished and design.n_left:
        job.then(job.again("--resume", *(("--ask", "NEXT.csv") if tell is not None else ())), "for further rows")
    else:
        job.then(job.again("--report"), "to see the report again")


def _after(path: Path) -> Path:
    """Name the file behind next.csv next-2.csv, and so on."""
    stem, _, number = path.stem.rpartition("-")
    later = f"{stem}-{int(number) + 1}" if stem and number.isdigit() else f"{path.stem}-2"
    return path.with_name(f"{later}{path.suffix}")


class _Ways(NamedTuple):
    """Ways to ask, to learn and to report."""

    terminal: Callable[..., None]
    questions: Callable[..., str]
    learn: Callable[..., str]
    report: Callable[..., None]


def _of_rows() -> _Ways:
    from adaptive.cli.label import people, report

    return _Ways(people.ask_in_terminal, people.write_questions, people.learn_file, report.write)


def _of_people(name: str | None) -> _Ways:
    from adaptive.cli.label import skills, skills_report

    here, somebody = name or skills.HERE, name or skills.SOMEBODY
    return _Ways(
        partial(skills.ask_here, name=here), skills.write_lines, partial(skills.learn_people, name=somebody),
        skills_report.write,
    )  # fmt: skip
