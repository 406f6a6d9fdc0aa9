"""``adaptive prefer``: a model of comparisons and what it is worth; or one person asked, two items at a time."""

from __future__ import annotations

import hashlib
import json
import shlex
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from adaptive.cli.asking import Question, ask_person
from adaptive.cli.errors import CommandError
from adaptive.cli.options import Format, Resume, out_folder, require_at_least, stated, whole_number
from adaptive.cli.run_folder import RunFolder

if TYPE_CHECKING:
    from adaptive.estimators import CollaborativePreference

__all__ = ["prefer"]

ABOUT = ("best", "all")
N_BEST = 10  # items per person in people.csv


def prefer(
    context: typer.Context,
    comparisons: Annotated[
        Path | None,
        typer.Option(
            help="CSV file with a line per comparison: user, winner, loser; or user, first, second and who won.",
            metavar="FILE",
        ),
    ] = None,
    items: Annotated[
        Path | None,
        typer.Option(help="CSV file of items and their features, numbers or words; the first column names the item.",
                     metavar="FILE"),
    ] = None,
    ask: Annotated[
        str | None,
        typer.Option(help="Ask this person in the terminal, known or new, which of two items they like better.",
                     metavar="ID"),
    ] = None,
    about: Annotated[
        str,
        typer.Option(help="What the person is asked for: best (which item is best) or all (all of them; default best).",
                     metavar="WHAT", show_default=False),
    ] = "best",
    questions: Annotated[int, whole_number("Questions to ask a person (default 10).")] = 10,
    components: Annotated[int, whole_number("What people share beside features, in components (default 3).")] = 3,
    worth: Annotated[int, whole_number("Comparisons to name as worth asking for (default 10).")] = 10,
    seed: Annotated[int, whole_number("What is drawn is drawn from it (default 0).")] = 0,
    out: Annotated[Path, out_folder("adaptive-prefer-run")] = Path("adaptive-prefer-run"),
    pictures: Format = "png",
    resume: Resume = False,
) -> None:  # fmt: skip
    """What do people like, from comparisons of two items - and which two should somebody compare next?

    Without --ask: how well held-out comparisons are predicted (summary.json), everybody's best items with 90% bands
    (people.csv), what somebody new is thought to like (ranking.csv and its figure), and the comparisons worth asking
    for (next.csv). With --ask: questions "A or B?", each the one that teaches most; every answer is on disk before the
    next question, and at the end stands a ranking with bands (ranking.csv, answers.csv). --resume goes on after a stop.
    """
    wanted: dict[str, Any] = {
        "comparisons": None if comparisons is None else str(comparisons.resolve()),
        "items": None if items is None else str(items.resolve()),
        "ask": ask, "about": about, "questions": questions, "components": components, "worth": worth, "seed": seed,
    }  # fmt: skip
    require_at_least(("questions", questions, 1), ("components", components, 0), ("worth", worth, 1), ("seed", seed, 0))
    if about not in ABOUT:
        raise CommandError(f"--about must be one of {', '.join(ABOUT)}, got {about!r}.")
    folder = RunFolder(out, "prefer", wanted, given=stated(context, wanted), resume=resume, pictures=pictures)
    settings = folder.settings
    if settings["comparisons"] is None:
        raise CommandError("name the file of comparisons with --comparisons FILE.")
    from adaptive.cli.prefer.tables import read_comparisons, read_features

    rows, y = read_comparisons(Path(settings["comparisons"]))
    features = None if settings["items"] is None else read_features(Path(settings["items"]))
    for name in ("comparisons", "items"):
        if settings[name] is not None:
            digest = hashlib.sha256(Path(settings[name]).read_bytes()).hexdigest()
            folder.fix(f"{name}_content", digest, f"the lines of {Path(settings[name]).name}")
    if features is not None:
        unknown = sorted({item for row in rows for item in row[1:]} - set(features.index))
        if unknown:
            raise CommandError(f"{settings['items']} has no line for the item {unknown[0]!r}.")
    with folder:
        go_on = f"adaptive prefer --out {shlex.quote(str(folder.path))} --resume"
        try:
            _run(rows, y, features, folder, go_on)
        except KeyboardInterrupt:
            raise CommandError(f"stopped; continue with: {go_on}", 130) from None
        except OSError as error:  # a full disk
            raise CommandError(f"{error}; when that is mended, continue with: {go_on}", 1) from None
        print(f"written into {folder.path}")


def _run(rows: Any, y: Any, features: Any, folder: RunFolder, go_on: str) -> None:
    from sklearn.exceptions import ConvergenceWarning

    from adaptive.cli.counts.fitting import fitted
    from adaptive.cli.prefer.model import judged, model_of

    settings = folder.settings
    known = folder.path / "summary.json"
    if known.is_file():
        summary = json.loads(known.read_text(encoding="utf-8"))
    else:
        summary = judged(rows, y, features, settings["components"], settings["seed"])

    def fit(estimator: CollaborativePreference) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # summary.json says so
            estimator.fit(rows, y)

    model = fitted(model_of(features, settings["components"], summary["length"], settings["seed"]), fit, folder)
    summary |= {"comparisons": len(rows), "people": len(model.users_), "items": len(model.items_),
                "converged": bool(model.converged_), "settings": settings}  # fmt: skip
    folder.write_json("summary.json", summary)
    print(f"{len(rows)} comparisons of {len(model.items_)} items by {len(model.users_)} people; held-out ones cost "
          f"{summary['bits']:.3f} bits, {summary['bits_alike']:.3f} if all people were alike, 1 by a coin")  # fmt: skip
    if settings["ask"] is None:
        _report(model, folder)
    else:
        _ask(model, folder, go_on)


def _report(model: CollaborativePreference, folder: RunFolder) -> None:
    from adaptive.cli.prefer.report import write_people, write_ranking

    newcomer = model.user(max(model.users_.tolist(), key=len) + "?")
    ranking = write_ranking(newcomer, folder, "What somebody new is thought to like")
    asked = write_people(model, folder.settings["worth"], N_BEST, folder)
    print(f"somebody new is thought to like best: {', '.join(map(str, ranking['item'][:3]))}")
    print("worth asking: " + "; ".join(f"{user}: {first} or {second}?" for user, first, second, _ in asked[:3]))


def _ask(model: CollaborativePreference, folder: RunFolder, go_on: str) -> None:
    from adaptive.cli.prefer.report import pairs_to_ask, write_ranking
    from adaptive.loop import LogError, MaxSteps, SequentialDesign

    settings = folder.settings
    pairs = pairs_to_ask(model.items_.tolist(), settings["seed"])
    person, log = model.user(settings["ask"]), folder.log / "answers.jsonl"
    n = min(settings["questions"], len(pairs))
    options: dict[str, Any] = {"stop": MaxSteps(n), "target": "best" if settings["about"] == "best" else None}
    try:
        if log.exists() and log.stat().st_size:
            design = SequentialDesign.load(log, person, pairs, **options)
        else:
            design = SequentialDesign(person, pairs, random_state=settings["seed"], log=log, **options)
    except LogError as problem:
        raise CommandError(str(problem)) from problem

    def question(label: Any) -> Question:
        first, second = label
        return Question(f"{first} or {second}?", [first, second], [1, -1])

    with design:
        ask_person(design, question, go_on=go_on, heading=lambda now: f"Question {now.iteration + 1} of {n}")
        told = design.history_
        asked = [question(label).words for label in told["label"]]
        columns = {"first": [one[0] for one in asked], "second": [one[1] for one in asked],
                   "winner": [one[0] if won > 0 else one[1]
                              for one, won in zip(asked, told["outcome"], strict=True)]}  # fmt: skip
        folder.write_csv("answers.csv", {"step": told["step"], **columns, "nats": told["score"]})
        ranking = write_ranking(design.estimator_, folder, f"What {settings['ask']} likes")
        print(f"\nThank you: {design.iteration} answers.")
        for item, utility, low, high, best in list(zip(*ranking.values(), strict=True))[:5]:
            print(
                f"{item}: {utility:+.2f}, with 90% probability between {low:+.2f} and {high:+.2f}; best with {best:.0%}"
            )
