"""``adaptive calibrate``: a bank of items from a table of answers, with a report and a figure."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import typer

from adaptive.cli.columns import PEOPLE
from adaptive.cli.errors import CommandError
from adaptive.cli.job import Job, shown
from adaptive.cli.options import DryRun, Format, Resume, out_folder, require_at_least, require_one_of
from adaptive.cli.understanding import counted, table_in_words
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
        bool, typer.Option("--simulate", help="Have people drawn from the bank take the test: length, error, exposure.")
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
                "Choose a short form with this many items for people of whom nothing is known, and say how much "
                "more the best one could tell. Also choose the items that predict the total best, judged by "
                "--group."
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

    The command writes bank.csv (with covariances), items.csv (parameters and fit), people.csv (estimates), groups.csv
    (with --group), short_form.csv and total_form.csv (with --short-form), bank-mirt.csv (with --dialect mirt),
    report.json and information.png (of the ordinal model thresholds.png), and a state from which --resume writes them
    again. If the items measure more than one trait, the command says so, and items.csv proposes a split.

    --simulate --stop 0.35 --exposure 0.3 tries the test on people drawn from the bank. It says how long tests will be,
    how far off the estimates will be, and how many people see the item that is asked most (simulation.json,
    exposure.csv).
    """
    job = Job(context, {**locals(), "ignore": ignore or [], "reverse": reverse or []}, aside=TRIED)
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
    if settings["short_form"] is not None and settings["model"] == "nominal":
        raise CommandError("--short-form adds answers up, and those of --model nominal have no order; leave one out.")
    scale = _scale(settings["categories"])
    if settings["short_form"] is not None and settings["short_form"] < 1:
        raise CommandError(f"--short-form must be a number of items, at least 1; got {settings['short_form']}.")
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
        from adaptive.cli import simulating
        from adaptive.cli.fitting import fitted  # from here on it pays to load what computes
        from adaptive.estimators import Questionnaire

        try:
            choice = _choice(settings, table, scale)
            learnt = Questionnaire(choice.model, reverse=tuple(settings["reverse"]), categories=scale)
            learnt = fitted(learnt, lambda estimator: _learn(estimator, table), job)
        except ValueError as problem:
            raise CommandError(f"{cells.path}: {problem}") from None
        _write(learnt, table, names, groups, job, choice.log_scores)
        if settings["dialect"] is not None:
            _in_dialect(learnt, settings["dialect"], job)
        if simulate:
            simulating.simulate(learnt, table, job, stop=stop, questions=questions, exposure=exposure)
        job.then(f"adaptive ask TEST.toml --bank {shown(job.path / 'bank.csv')}", "with the questions in TEST.toml")
        if settings["short_form"] is not None:
            from adaptive.cli.short_form import total_form

            _short_form(learnt, settings["short_form"], job, table)
            total_form(learnt, table, groups, settings["short_form"], job)


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
    choice = chosen_model(values, categories, turned)
    if choice.log_scores:
        told = ", ".join(f"{name} {score:.3f}" for name, score in choice.log_scores.items())
        print(f"Model: {choice.model}, which predicts hidden answers of other people best (nats an answer: {told}).")
    return choice


def _learn(learnt: Any, table: Any) -> None:
    """Fit; that there are several traits is said by the report."""
    import warnings

    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "the items measure more than one trait", UserWarning)
        learnt.fit(table)


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


def _write(
    fitted: Any, table: Any, names: list[Any], groups: Any, folder: Job, hidden: dict[str, float]
) -> None:  # fmt: skip
    from adaptive.estimators.questionnaires.curves import ASYMPTOTES

    fitted.to_bank(folder.result("bank.csv"))
    parameters, fit = fitted.item_parameters_, fitted.item_fit(table)
    names_of = [f"threshold_{k}" for k in range(1, parameters.shape[1] + 1)]
    if fitted.response_model != "ordinal":
        names_of = ["discrimination", *names_of[:-1]]
    if fitted.response_model == "nominal":
        names_of = [
            f"{name}_{k // 2 + 1}" for k, name in enumerate(("slope", "intercept") * (parameters.shape[1] // 2))
        ]
    asymptotes = ASYMPTOTES.get(fitted.response_model, ())  # behind the thresholds
    names_of[len(names_of) - len(asymptotes) :] = asymptotes
    columns: dict[str, Any] = {"item": list(fitted.items_)}
    columns |= {name: _cells(values) for name, values in zip(names_of, parameters.T, strict=True)}
    columns |= {name: _cells(fit[name]) for name in ("answers", "outfit", "infit")}
    if fitted.dimension_ is not None and fitted.dimension_.several:
        columns["traits"] = [" ".join(traits) for traits in fitted.dimension_.item_traits.values()]
    folder.write_csv("items.csv", columns)
    folder.write_csv(
        "people.csv",
        {
            "person": names, "estimate": _cells(fitted.trait_mean_[:, 0]), "deviation": _cells(fitted.trait_std_[:, 0]),
            "fit": _cells(fitted.person_fit(table)),
        },
    )  # fmt: skip
    if groups is not None:
        found = fitted.differential_functioning(table, groups)
        rows = [(group, item) for group in found["groups"] for item in fitted.items_]
        columns = {"group": [g for g, _ in rows], "item": [i for _, i in rows]}
        columns |= {key: _cells(found[key].ravel()) for key in ("difference", "z")}
        folder.write_csv("groups.csv", columns)
    folder.write_json(
        "report.json",
        {
            "model": fitted.response_model, "nats of hidden answers": hidden,
            "people": len(table), "items": len(fitted.items_),
            "log evidence": fitted.log_evidence_, "prequential evidence": fitted.prequential_evidence_,
            "rounds": fitted.n_iter_, "converged": fitted.converged_,
            "mean deviation of an estimate": float(fitted.trait_std_.mean()), "dimension": _signs(fitted.dimension_),
        },
    )  # fmt: skip
    dimension = fitted.dimension_
    if dimension is not None and dimension.several:
        print(f"{dimension.sentence()} The split is the column traits of items.csv, for Questionnaire(item_traits=).")
    (_draw_thresholds if fitted.response_model == "ordinal" else _draw)(fitted, folder)
    print(
        f"{len(fitted.items_)} items from {len(table)} people, {fitted.response_model}: estimates are known to "
        f"{fitted.trait_std_.mean():.2f} on average"
    )


def _in_dialect(fitted: Any, dialect: str, folder: Job) -> None:
    """Write the bank in the columns of another program, and say what these do not hold."""
    import warnings

    with warnings.catch_warnings(record=True) as lost:
        warnings.simplefilter("always")
        try:
            fitted.to_bank(folder.result(f"bank-{dialect}.csv"), dialect=dialect)
        except ValueError as problem:
            raise CommandError(f"--dialect {dialect}: {problem}") from None
    for one in lost:
        print(f"bank-{dialect}.csv: {one.message}")


def _short_form(fitted: Any, n: int, folder: Job, table: Any) -> None:
    """Choose a fixed form for somebody of whom nothing is known; write it, and print how good it is."""
    items = list(fitted.items_)
    if n > len(items):
        raise CommandError(f"--short-form must be at most {len(items)}, the number of items; got {n}.")
    chosen, gains, found = fitted.respondent().select(
        items, n, scorer="information_gain", return_scores=True, return_certificate=True, random_state=0
    )
    folder.write_csv("short_form.csv", {"item": [items[i] for i in chosen], "nats": _cells(gains)})
    print(f"Short form of {n} items: {', '.join(str(items[i]) for i in chosen)}. {found}")
    from sklearn.base import clone

    from adaptive.cli import beside
    from adaptive.cli.short_form import beside_ridge

    against = beside.kept(folder, lambda: beside_ridge(clone(fitted), table, n), f"short-form-{n}.json")
    folder.write_json("short_form.json", {"beside the rivals": against})
    for one in against or ():
        beside.say(one, advice="predict totals by it")


def _draw(fitted: Any, folder: Job) -> None:
    from adaptive import plots
    from adaptive.plots.style import style, tidy

    x = np.linspace(-4, 4, 161)
    information = fitted.information(x)
    drawing, ax = plots.figure()
    ax.plot(x, information.sum(axis=0), color=plots.PALETTE[0], label="all items")
    for k, item in enumerate(np.argsort(-information.max(axis=1))[:4], start=1):
        ax.plot(x, information[item], **style("", k) | {"marker": "", "linewidth": 1}, label=str(fitted.items_[item]))
    ax.set_xlabel("trait (standard deviations of the people calibrated on)")
    ax.set_ylabel("Fisher information")
    ax.legend(frameon=False, fontsize="small")
    tidy(ax)
    folder.draw(drawing, "information")


def _draw_thresholds(fitted: Any, folder: Job) -> None:
    from adaptive import plots

    bank = fitted.bank_
    spread = 1.96 * np.sqrt(np.einsum("ill->il", bank.covariances))
    drawing, ax = plots.figure()
    for k, (mean, width) in enumerate(zip(bank.means.T, spread.T, strict=True)):
        ax.errorbar(
            mean, np.arange(len(bank)), xerr=width, fmt="o", markersize=3, color=plots.PALETTE[k % len(plots.PALETTE)]
        )
    ax.set_yticks(np.arange(len(bank)), [str(item) for item in bank.items], fontsize="small")
    ax.invert_yaxis()
    ax.set_xlabel("thresholds between neighbouring answers, with 95% intervals")
    folder.draw(drawing, "thresholds")


def _signs(found: Any) -> dict[str, Any] | None:
    """Signs of a second trait, for the report."""
    if found is None:
        return None
    return {
        "several traits": found.several, "first to second eigenvalue": found.eigenvalue_ratio,
        "largest residual correlation": found.residual_correlation, "of": [str(item) for item in found.pair],
        "gain of a second trait": found.gain, "its standard error": found.gain_std,
        "gain of the first": found.first_gain,
    }  # fmt: skip


def _cells(values: Any) -> list[Any]:
    return [float(one) if np.isfinite(one) else None for one in np.asarray(values, dtype=float)]
