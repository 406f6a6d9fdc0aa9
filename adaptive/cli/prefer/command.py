"""``adaptive prefer``: a model of comparisons and what it is worth; or one person asked, two items at a time."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import typer

from adaptive.cli.asking import Question, ask_person
from adaptive.cli.errors import CommandError
from adaptive.cli.job import Job, design_in, shown
from adaptive.cli.options import DryRun, Format, Resume, out_folder, require_at_least, require_one_of, whole_number
from adaptive.cli.understanding import counted, table_in_words

if TYPE_CHECKING:
    from adaptive.estimators import CollaborativePreference

__all__ = ["prefer"]

ABOUT = ("best", "all")
N_BEST = 10  # items per person in people.csv


def prefer(
    context: typer.Context,
    table: Annotated[
        Path | None,
        typer.Argument(
            help="Table with a line for each comparison: user, winner, loser; or user, first, second and who won.",
            metavar="TABLE", show_default=False,
        ),
    ] = None,
    items: Annotated[
        Path | None,
        typer.Option(help="Table of items and their features: numbers, dates, words; the first column names the item.",
                     metavar="FILE"),
    ] = None,
    ask: Annotated[
        str | None,
        typer.Option(help="Ask this person in the terminal, known or new, which of two items they like better.",
                     metavar="ID"),
    ] = None,
    about: Annotated[
        str,
        typer.Option(help="What comparisons are to tell of a person: best (which item that person likes best) or all "
                     "(how much each item; default best).", metavar="WHAT", show_default=False),
    ] = "best",
    questions: Annotated[int, whole_number("Questions to ask a person (default 10).")] = 10,
    components: Annotated[
        int | None, whole_number(
            "Number of components of the taste that people share beside features (default: chosen by held-out "
            "comparisons).")
    ] = None,
    worth: Annotated[int, whole_number("How many comparisons to name as worth asking for (default 10).")] = 10,
    seed: Annotated[int, whole_number("Seed of random choices (default 0).")] = 0,
    out: Annotated[Path, out_folder("adaptive-prefer-run")] = Path("adaptive-prefer-run"),
    pictures: Format = "png",
    resume: Resume = False,
    dry_run: DryRun = False,
) -> None:  # fmt: skip
    """Find what each person likes, from comparisons of two items, and say whom to ask about which two next. For one
    answer for everybody, such as which draft is best, take adaptive rank. Without --ask the command says how well
    held-out comparisons are predicted (summary.json). It writes the best items of each person with 90% bands
    (people.csv), what a newcomer probably likes (ranking.csv and its figure), and the comparisons that tell most of a
    person's own taste (next.csv). With --ask it asks a person "A or B?", each time the question that teaches most.
    Every answer is on disk before the next question, and a ranking with bands comes at the end (ranking.csv,
    answers.csv). --resume carries on after a stop.
    """
    job = Job(context, locals())
    require_at_least(
        ("questions", questions, 1),
        ("components", components or 0, 0),
        ("worth", worth, 1),
        ("seed", seed, 0),
    )
    require_one_of(ABOUT, about=about)
    from adaptive.cli.prefer.tables import columns_of, comparisons_of, features_of

    cells = job.table("table", "of comparisons")
    rows, y = comparisons_of(cells)
    features = None if job.settings["items"] is None else features_of(Path(job.settings["items"]))
    job.fix_file("items")
    if features is not None:
        unknown = sorted({item for row in rows for item in row[1:]} - set(features.index))
        if unknown:
            raise CommandError(f"{job.settings['items']} has no line for the item {unknown[0]!r}.")
    roles = {role: [name] for role, name in columns_of(cells).items()}
    job.understood(lambda: table_in_words(cells, roles, dict.fromkeys(roles, "ids")))
    if features is not None:
        job.understood(f"{counted(len(features), 'item')} with {counted(features.shape[1], 'feature')}: "
                       f"{', '.join(map(str, features.columns[:8]))}{', ...' * (features.shape[1] > 8)}")  # fmt: skip
    with job:
        job.doing = f"learning {counted(len(rows), 'comparison')}"
        _run(rows, y, features, job)


def _run(rows: Any, y: Any, features: Any, job: Job) -> None:
    from adaptive.cli import beside
    from adaptive.cli.fitting import fitted
    from adaptive.cli.prefer.model import MOST, judged, model_of
    from adaptive.diagnostics.beside_rival import LEAST

    settings = job.settings
    known = job.path / "summary.json"
    if known.is_file():
        summary = json.loads(known.read_text(encoding="utf-8"))
    else:
        if len(rows) >= LEAST:
            parts = "each of five parts" if len(rows) <= MOST else "a fifth of them"
            print(f"{counted(len(rows), 'comparison')}: {parts} is predicted by a model of all others.", flush=True)
        summary = judged(rows, y, features, settings["components"], settings["seed"])
    model = model_of(features, settings["components"], summary["length"], settings["seed"])
    model = fitted(model, lambda estimator: estimator.fit(rows, y), job)
    tried = model.dimension_.log_scores if model.dimension_ else {}
    summary |= {"comparisons": len(rows), "people": len(model.users_), "items": len(model.items_),
                "components": model.posterior_.loadings.shape[1],
                "log_loss_by_components": {str(k): -one for k, one in tried.items()},
                "converged": bool(model.converged_)}  # fmt: skip
    job.write_summary(summary)
    loss = "too few to hold some of them out"
    if summary["bits"] is not None:
        own = np.log(2.0) * summary["bits"]
        loss = f"held-out ones have a log loss of {own:.3f} nats (smaller is better), 0.693 by a coin"
    print(f"{len(rows)} comparisons of {len(model.items_)} items by {len(model.users_)} people; {loss}.")
    print(_groups_in_words(summary["components"], tried, len(rows), len(model.users_)))
    how = (
        "each predicted while it was left out (five folds)" if summary["folds"] > 1
        else "drawn from the table and left out (another --seed draws others, and may say otherwise)"
    )  # fmt: skip
    beside.say(summary.get("beside"), advice=f"rank items once for all, by {_ranked(job)}", how=how)
    if settings["ask"] is None:
        _report(model, job)
    else:
        _ask(model, job)


def _groups_in_words(components: int, log_scores: dict[int, float], n: int, people: int) -> str:
    """Say if groups of people share tastes, and by which held-out comparisons that was decided.

    Examples
    --------
    >>> _groups_in_words(0, {0: -0.515, 1: -0.529}, 420, 30).split(": ")[1].split(". ")[0]
    'other parts that are held out have a log loss of 0.515 nats with no shared component, 0.529 with 1'
    >>> _groups_in_words(1, {}, 420, 30)
    'Tastes that groups of people share: 1 component.'
    """
    losses = [
        f"{-one:.3f}{' nats' * (not k)} with {k or 'no shared component'}" for k, one in sorted(log_scores.items())
    ]
    by = f"other parts that are held out have a log loss of {', '.join(losses)}"
    if components:
        learnt = f"Tastes that groups of people share: {counted(components, 'component')}"
        return f"{learnt}; {by}." if losses else f"{learnt}."
    if not losses:
        return "Tastes that groups of people share: none was learnt."
    return (
        f"No sign of groups with tastes of their own: {by}. "
        f"By {n / max(people, 1):.0f} answers a person only large differences would show."
    )


def _report(model: CollaborativePreference, folder: Job) -> None:
    from adaptive.cli.prefer.report import write_people, write_ranking

    newcomer = model.user(max(model.users_.tolist(), key=len) + "?")
    ranking = write_ranking(newcomer, folder, "What somebody new is thought to like")
    target = "best" if folder.settings["about"] == "best" else None
    asked = write_people(model, folder.settings["worth"], N_BEST, folder, target)
    folder.then(folder.anew("--ask", "NAME"), "to ask somebody")
    print(f"somebody new is thought to like best: {', '.join(map(str, ranking['item'][:3]))}")
    what = "which item a person likes best" if target else "what a person likes"
    questions = "; ".join(f"{user}: {first} or {second}?" for user, first, second, _ in asked[:3])
    print(f"worth asking, to learn {what}: {questions}")
    print(f"For one order for everybody, and what to ask for it: {_ranked(folder)}")


def _ranked(job: Job) -> str:
    """The command that ranks the same items for everybody."""
    return f"adaptive rank {shown(job.settings['table'])}"


def _ask(model: CollaborativePreference, job: Job) -> None:
    from adaptive.cli.prefer.report import pairs_to_ask, write_ranking
    from adaptive.loop import MaxSteps

    settings = job.settings
    pairs = pairs_to_ask(model.items_.tolist(), settings["seed"])
    n = min(settings["questions"], len(pairs))
    design = design_in(
        job.log / "answers.jsonl", model.user(settings["ask"]), pairs, stop=MaxSteps(n),
        target="best" if settings["about"] == "best" else None, random_state=settings["seed"],
    )  # fmt: skip

    def question(label: Any) -> Question:
        first, second = label
        return Question(f"{first} or {second}?", [first, second], [1, -1])

    with design:
        ask_person(job, design, question, heading=lambda now: f"Question {now.iteration + 1} of {n}")
        told = design.history_
        asked = [question(label).words for label in told["label"]]
        columns = {"first": [one[0] for one in asked], "second": [one[1] for one in asked],
                   "winner": [one[0] if won > 0 else one[1]
                              for one, won in zip(asked, told["outcome"], strict=True)]}  # fmt: skip
        job.write_csv("answers.csv", {"step": told["step"], **columns, "nats": told["score"]})
        job.doing = "ranking the items"
        ranking = write_ranking(design.estimator_, job, f"Utilities for {settings['ask']}")
        job.then(job.anew("--ask", "NAME"), "for the next person")
        print(f"\nThank you: {counted(design.iteration, 'answer')}.")
        for item, utility, low, high, best in list(zip(*ranking.values(), strict=True))[:5]:
            print(
                f"{item}: {utility:+.2f}, with 90% probability between {low:+.2f} and {high:+.2f}; best with {best:.0%}"
            )
