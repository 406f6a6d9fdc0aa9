"""``adaptive calibrate``: a bank of items from a table of answers, with a report and a figure."""

from __future__ import annotations

import json
import re
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import typer

from adaptive.cli.columns import PEOPLE
from adaptive.cli.errors import CommandError
from adaptive.cli.job import Job, shown
from adaptive.cli.options import DryRun, Format, Resume, out_folder, require_at_least, require_one_of
from adaptive.cli.understanding import counted, table_in_words
from adaptive.files import write_file
from adaptive.tables import Cells, TableError

if TYPE_CHECKING:
    from adaptive.estimators.questionnaires.model_choice import ModelChoice

__all__ = ["calibrate"]

TRIED = ("simulate", "stop", "questions", "exposure")  # of simulated tests
MOST = 10  # categories of an item
MODELS = (
    "rasch",
    "two_parameter",
    "three_parameter",
    "four_parameter",
    "graded",
    "partial_credit",
    "nominal",
    "ordinal",
)
DIALECTS = ("mirt", "catR", "jscat", "catsim")


def calibrate(
    context: typer.Context,
    answers: Annotated[
        Path | None,
        typer.Argument(
            help=(
                "Table with a column for each item and a row for each person; a cell is empty if the item was not "
                "asked."
            ),
            metavar="ANSWERS.csv",
            show_default=False,
        ),
    ] = None,
    model: Annotated[
        str | None,
        typer.Option(
            help=f"{', '.join(MODELS)} (default: the one that predicts hidden answers of other people best).",
            metavar="NAME",
        ),
    ] = None,
    person: Annotated[
        str | None,
        typer.Option(
            help=("The column that holds the person's name (default: one that is called person or id)."),
            metavar="COLUMN",
        ),
    ] = None,
    group: Annotated[
        str | None, typer.Option(help="A column of groups: do items work differently in them?", metavar="COLUMN")
    ] = None,
    ignore: Annotated[
        list[str] | None, typer.Option(help="A column to leave out; repeatable.", metavar="COLUMN")
    ] = None,
    reverse: Annotated[
        list[str] | None,
        typer.Option(help="An item in which a higher answer means less of the trait; repeatable.", metavar="ITEM"),
    ] = None,
    categories: Annotated[
        str | None,
        typer.Option(
            help="All possible answers in order, such as 0-4 or 1,2,3 (default: those in the table, with gaps filled).",
            metavar="A-B",
        ),
    ] = None,
    simulate: Annotated[
        bool,
        typer.Option(
            "--simulate",
            help="Have people drawn from the bank, and yours, held out, take the test: length, error, reliability.",
        ),
    ] = False,
    stop: Annotated[
        float | None,
        typer.Option(
            help="With --simulate: the deviation at which a test ends.", metavar="DEVIATION", show_default=False
        ),
    ] = None,
    questions: Annotated[
        int | None,
        typer.Option(
            help="With --simulate: the largest number of questions (default: all).", metavar="N", show_default=False
        ),
    ] = None,
    exposure: Annotated[
        float | None,
        typer.Option(
            help="With --simulate: also with this as the largest share of the people who are asked an item.",
            metavar="SHARE",
            show_default=False,
        ),
    ] = None,
    short_form: Annotated[
        int | None,
        typer.Option(
            help=(
                "Choose a short form with this many items for people of whom nothing is known, and say how well the "
                "total of all items is predicted from it. Also choose the items from which a regression predicts the "
                "total best, judged by people of other groups if there is --group."
            ),
            metavar="ITEMS",
        ),
    ] = None,
    dialect: Annotated[
        str | None,
        typer.Option(
            help="Write bank-NAME.csv, too, in the columns of " + ", ".join(DIALECTS[:-1]) + f" or {DIALECTS[-1]}.",
            metavar="NAME",
            show_default=False,
        ),
    ] = None,
    out: Annotated[Path, out_folder("adaptive-calibrate-run")] = Path("adaptive-calibrate-run"),
    pictures: Format = "png",
    resume: Resume = False,
    dry_run: DryRun = False,
) -> None:
    """Learn the items of a questionnaire from answers, for adaptive tests with `adaptive ask`.

    The command writes bank.csv (with covariances), test.toml (a test to begin with, which `adaptive ask` runs as it
    stands; one that you have changed stays), items.csv (parameters and fit), people.csv (estimates), groups.csv (with
    --group), short_form.csv and total_form.csv (with --short-form), bank-mirt.csv (with --dialect mirt),
    report.json and information.png (of the ordinal model thresholds.png), and a state from which --resume writes them
    again. If the items measure more than one trait, the command says so, and items.csv proposes a split.

    --simulate --stop 0.35 --exposure 0.3 tries the test on people drawn from the bank, and on the people of the table,
    each held out while the items are learnt (five folds). It says how long tests will be, how reliable, and how far off
    (also for low and high traits), beside the best fixed form and random items. It also says how many people see the
    item that is asked most (simulation.json, exposure.csv). It may be added with --resume, and so may --short-form.
    """
    options = {**locals(), "ignore": ignore or [], "reverse": reverse or []}
    job = Job(context, options, aside=TRIED, free=("short_form",))  # that may be asked for later
    if not simulate and (stop, questions, exposure) != (None, None, None):
        raise CommandError("--stop, --questions and --exposure are about --simulate.")
    if stop is not None and not stop > 0:
        raise CommandError(f"--stop must be a deviation > 0, got {stop:g}.")
    if exposure is not None and not 0 < exposure <= 1:
        raise CommandError(f"--exposure must be a share in (0, 1], got {exposure:g}.")
    if questions is not None:
        require_at_least(("questions", questions, 1))
    if model is not None:
        require_one_of(MODELS, model=model)
    if dialect is not None:
        require_one_of(DIALECTS, dialect=dialect)
    settings = job.settings
    n_short = settings["short_form"] if short_form is None else short_form
    if n_short is not None and settings["model"] == "nominal":
        raise CommandError("--short-form adds answers up, and those of --model nominal have no order; leave one out.")
    scale = _scale(settings["categories"])
    if n_short is not None and n_short < 1:
        raise CommandError(f"--short-form must be a number of items, at least 1; got {n_short}.")
    cells = job.table("answers", "of people")
    settings["person"] = settings["person"] or _named_people(cells, [settings["group"], *settings["ignore"]])
    table, names, groups = _people(cells, settings["person"], settings["group"], settings["ignore"])
    roles = {"item": list(map(str, table.columns)), "person": [settings["person"]], "group": [settings["group"]]}
    roles = {role: [name for name in names_ if name] for role, names_ in roles.items()}
    job.understood(lambda: table_in_words(cells, roles, {"item": "numbers", "person": "ids", "group": "groups"}))
    job.understood(
        f"{counted(len(table), 'person', 'people')} and {counted(table.shape[1], 'item')}; "
        f"{'names are the column ' + settings['person'] if settings['person'] else 'a row is a person'}."
    )
    with job:
        job.doing = f"learning {counted(table.shape[1], 'item')} from {counted(len(table), 'person', 'people')}"
        from adaptive.cli.calibrate import held_out, results, simulating
        from adaptive.cli.calibrate import questions as begin
        from adaptive.cli.calibrate import short_form as forms
        from adaptive.cli.fitting import fitted  # from here on it pays to load what computes
        from adaptive.estimators import Questionnaire
        from adaptive.estimators.questionnaires.model_choice import ModelChoice

        try:
            chosen = job.log / "model.json"  # which takes longest, and holds for a run that goes on
            known = json.loads(chosen.read_text(encoding="utf-8")) if chosen.is_file() else None
            choice = _choice(settings, table, scale) if known is None else ModelChoice(**known)
            if choice.log_scores:
                told = ", ".join(f"{name} {score:.3f}" for name, score in choice.log_scores.items())
                print(
                    f"Model: {choice.model}, which predicts hidden answers of other people best (log probability of an "
                    f"answer, in nats; higher is better: {told})."
                )
            learnt = Questionnaire(choice.model, reverse=tuple(settings["reverse"]), categories=scale)
            learnt = fitted(learnt, lambda estimator: held_out.learn(estimator, table), job)
            write_file(chosen, json.dumps(asdict(choice)).encode())
        except ValueError as problem:
            raise CommandError(f"{cells.path}: {problem}") from None
        results.write(learnt, table, names, groups, job, choice.log_scores)
        if settings["dialect"] is not None:
            results.in_dialect(learnt, settings["dialect"], job)
        if simulate:
            simulating.simulate(learnt, table, job, stop=stop, questions=questions, exposure=exposure)
        begin.write_test(learnt, job, stop=stop, questions=questions, exposure=exposure)
        test, bank = (shown(job.path / one) for one in (begin.NAME, "bank.csv"))
        job.then(f"adaptive ask {test} --bank {bank}", f"with your questions in the place of the ids in {begin.NAME}")
        if n_short is not None:
            forms.model_form(learnt, n_short, job, table)
            forms.total_form(learnt, table, groups, n_short, job)


def _choice(settings: dict[str, Any], table: Any, scale: tuple[int, ...] | None) -> ModelChoice:
    """The model that was named, or the one by which hidden answers are predicted best."""
    from adaptive.estimators.questionnaires.answers import categories_of
    from adaptive.estimators.questionnaires.model_choice import ModelChoice, chosen_model

    if settings["model"] is not None:
        return ModelChoice(settings["model"], {})
    values = table.to_numpy(dtype=float)
    categories, _ = categories_of(values[~np.isnan(values)], scale)
    unknown = [item for item in settings["reverse"] if item not in table.columns]
    turned = [] if unknown else [table.columns.get_loc(item) for item in settings["reverse"]]  # `fit` refuses them
    return chosen_model(values, categories, turned)


def _scale(text: str | None) -> tuple[int, ...] | None:
    """The categories that --categories names."""
    if text is None:
        return None
    span = re.fullmatch(r"\s*(-?\d{1,9})\s*(?:-|\.\.|:)\s*(-?\d{1,9})\s*", text)
    listed = re.fullmatch(r"\s*-?\d{1,9}(\s*,\s*-?\d{1,9})+\s*", text)
    if span and int(span[1]) < int(span[2]) < int(span[1]) + MOST:
        return tuple(range(int(span[1]), int(span[2]) + 1))
    scale = tuple(int(one) for one in text.split(",")) if listed else ()
    if not 2 <= len(scale) <= MOST or sorted(set(scale)) != list(scale):
        raise CommandError(
            f"--categories must be 2 to {MOST} whole numbers in increasing order, such as 0-4 or 1,2,3; got {text!r}."
        )
    return scale


def _named_people(cells: Cells, others: list[str | None]) -> str | None:
    """The only column called as people's names are, whose entries all differ and are not all numbers; else none."""
    found = [
        name for name in cells.frame.columns
        if name not in others and name.strip().lower() in (*PEOPLE, "id") and cells.frame[name].is_unique
    ]  # fmt: skip
    if len(found) != 1 or cells.frame[found[0]].str.fullmatch(r"-?[\d.,]*").all():
        return None
    return found[0]


def _people(cells: Cells, person: str | None, group: str | None, ignore: list[str]) -> tuple[Any, list[Any], Any]:
    """Return answers (people, items), the names of people, and their groups."""
    import pandas as pd

    others = [name for name in (person, group, *ignore) if name is not None]
    cells.require(*others)
    frame, lines = cells.frame, cells.frame.index
    names = frame[person].tolist() if person else (lines - lines[0] + 1).tolist()
    groups = None if group is None else frame[group].to_numpy(str)
    expected = "a number (mend it, or leave the column out with --ignore or --person)"
    table = pd.DataFrame({item: cells.numbers(item, expected, gaps=True) for item in frame.columns.drop(others)})
    if not table.notna().to_numpy().any():
        raise TableError(f"{cells.path} holds no answers.")
    return table, names, groups
