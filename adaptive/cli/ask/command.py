"""``adaptive ask``: question by question, the one that teaches most about this person, until enough is known."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from adaptive.cli.ask.keys import EXAMPLE
from adaptive.cli.asking import Question, ask_person
from adaptive.cli.errors import CommandError
from adaptive.cli.job import Job, design_in
from adaptive.cli.options import DryRun, Resume, out_folder, require_at_least, whole_number
from adaptive.cli.understanding import counted

if TYPE_CHECKING:
    from adaptive.cli.ask.questionnaire_file import QuestionnaireFile
    from adaptive.estimators.questionnaires.respondent import Respondent
    from adaptive.loop.stopping import StoppingRule

__all__ = ["ask", "in_words", "respondent_of", "stopping_rule_of"]


def ask(
    context: typer.Context,
    file: Annotated[
        Path | None, typer.Argument(help="TOML file with the questions.", metavar="FILE.toml", show_default=False)
    ] = None,
    bank: Annotated[
        Path | None,
        typer.Option(
            help=(
                "What is known of the items: a CSV file of `adaptive calibrate`, mirt or catsim. Items are "
                "matched by their id. Without a bank all items are taken to be alike, and a higher answer to mean more "
                "of the trait."
            ),
            metavar="BANK.csv",
        ),
    ] = None,
    out: Annotated[Path, out_folder("adaptive-ask-run")] = Path("adaptive-ask-run"),
    resume: Resume = False,
    example: Annotated[bool, typer.Option("--example", help="Print a FILE.toml with every key, and stop.")] = False,
    seed: Annotated[int, whole_number("Seed of ties and draws (default 0).")] = 0,
    dry_run: DryRun = False,
) -> None:
    """Take an adaptive test in the terminal: each question is the one that teaches most about you.

    Type an answer as it stands, or, where the answers are words, its number from 1; s skips a question, and q stops.
    Every answer is on disk before the next question, and --resume carries on where a test was stopped. At the end the
    command writes estimates with 95% intervals, answers.csv, result.json and path.csv (the estimate after each answer).
    With target = "total" in the file the questions are about the total score of all items, and that score is predicted
    too. A bank and a test.toml to begin with are written by `adaptive calibrate`.
    """
    if example:
        print(EXAMPLE, end="")
        return
    job = Job(context, {name: value for name, value in locals().items() if name != "example"})
    from adaptive.cli.ask.questionnaire_file import read_questionnaire

    require_at_least(("seed", seed, 0))
    asked = read_questionnaire(job.file("file", "with the questions"))
    known = job.settings["bank"]
    person = respondent_of(asked, None if known is None else Path(known))
    for name in ("file", "bank"):
        job.fix_file(name)
    job.understood(*in_words(asked, None if known is None else Path(known)))
    with job:
        _run(asked, person, job)
        job.then(job.anew(), "for the next person")


def in_words(asked: QuestionnaireFile, bank: Path | None) -> list[str]:
    """Return lines about a test, for a dry run."""
    answers = sorted({len(item.answers) for item in asked.items})
    of_each = f"{answers[0]}" if len(answers) == 1 else f"{answers[0]} to {answers[-1]}"
    stops = [f"after {counted(asked.questions, 'question')}"] if asked.questions else []
    stops += [f"at a deviation of {asked.deviation:g}"] if asked.deviation else []
    return [
        f"{asked.title}: {counted(len(asked.items), 'item')} with {of_each} answers each",
        *(f"  {item.id}: {item.text}" for item in asked.items[:5]),
        *([f"  and {counted(len(asked.items) - 5, 'further item')}"] if len(asked.items) > 5 else []),
        f"The test ends {' or '.join(stops) or 'after its last item'}.",
        "What is known of the items: "
        + (f"{bank.name}." if bank else "nothing; all are taken to be alike, and higher answers to mean more."),
    ]


def respondent_of(asked: QuestionnaireFile, bank: Path | None) -> Respondent:
    """The person before the first question; a CommandError where file and bank do not agree."""
    from adaptive.cli.ask.scale import scale_of
    from adaptive.estimators import Questionnaire
    from adaptive.estimators.questionnaires.respondent import Respondent

    try:
        if bank is not None:
            model = Questionnaire.from_bank(bank)
        else:
            own = {item.id: len(item.answers) for item in asked.items}
            n = max(own.values())
            scale = scale_of(asked, (0, 1) if n == 2 else tuple(range(1, n + 1)))
            traits = None if asked.items[0].trait is None else {item.id: item.trait for item in asked.items}
            model = Questionnaire.from_prior(
                [item.id for item in asked.items], scale, item_traits=traits,
                reverse=[item.id for item in asked.items if item.reverse], answers=own,
            )  # fmt: skip
        items = copy.copy(model.bank_)  # shared by all people, and nobody's to change
        items.categories = scale_of(asked, tuple(items.categories))
    except ValueError as problem:
        raise CommandError(str(problem)) from None
    try:
        positions = items.positions([item.id for item in asked.items])
    except ValueError as problem:
        raise CommandError(f"{bank}: {problem}") from None
    try:
        person = Respondent(items, asked.target, asked.prior, [item.id for item in asked.items])
    except ValueError as problem:
        raise CommandError(str(problem)) from None
    for item, position in zip(asked.items, positions.tolist(), strict=True):
        n = sum(person.person_.possible(position, k) for k in range(len(person.bank.categories)))
        if n != len(item.answers):
            raise CommandError(f"item {item.id!r} has {len(item.answers)} answers in the file and {n} in the bank.")
    return person


def stopping_rule_of(asked: QuestionnaireFile) -> StoppingRule | None:
    """When the test ends; None: after its last item."""
    from adaptive.loop import MaxSteps, TargetDeviation

    rules: list[StoppingRule] = []
    if asked.deviation is not None:
        rules.append(TargetDeviation(asked.deviation))
    if asked.questions is not None:
        rules.append(MaxSteps(asked.questions))
    return None if not rules else rules[0] if len(rules) == 1 else rules[0] | rules[1]


def _run(asked: QuestionnaireFile, person: Respondent, job: Job) -> None:
    by_id = {item.id: item for item in asked.items}
    design = design_in(
        job.log / "answers.jsonl", person, list(by_id), stop=stopping_rule_of(asked), random_state=job.settings["seed"]
    )

    def question(label: Any) -> Question:
        item = by_id[label]
        scale = person.bank.categories
        return Question(item.text, item.answers, list(scale[: len(item.answers)]))

    rules = asked.rules()

    def barred(now: Any) -> list[int]:  # exposure is about many people, and here is one
        skipped = [rules.items[k] for k in now.excluded()]
        return rules.barred([*now.history_["label"], *skipped]) if rules.any else []

    most = asked.questions or len(by_id)

    def heading(now: Any) -> str:
        done = "" if now.stop is None else f", {now.stop.fraction_done(now):.0%} done"
        return f"Question {now.iteration + 1} of at most {most}{done}"

    print(asked.title)
    with design:
        ask_person(job, design, question, heading=heading, barred=barred)
        _write(design, asked, job)


def _write(design: Any, asked: QuestionnaireFile, folder: Job) -> None:
    taken: Respondent = design.estimator_
    interval = taken.interval(0.95)
    folder.write_csv("answers.csv", {key: design.history_[key] for key in ("step", "label", "outcome", "score")})
    folder.write_csv("path.csv", taken.path())
    found = {}
    for trait, mean, std, ends in zip(taken.traits, taken.mean, taken.std, interval.tolist(), strict=True):
        found[str(trait)] = {"estimate": float(mean), "deviation": float(std), "interval": ends}
    result: dict[str, Any] = {"answers": design.iteration, "traits": found, "scale": _scale(taken, folder)}
    if taken.about_total:
        total = taken.predict_total()
        low, high = total.interval.tolist()
        result["total"] = {"estimate": total.mean, "deviation": total.std, "interval": [low, high]}
    folder.write_json("result.json", result)
    print(f"\nThank you: {counted(design.iteration, 'answer')}.")
    for trait, mean, (low, high) in zip(taken.traits, taken.mean, interval.tolist(), strict=True):
        mean, low, high = (round(one, 2) + 0.0 for one in (mean, low, high))  # never -0.00
        print(f"{trait}: {mean:.2f}, with 95% probability between {low:.2f} and {high:.2f}")
    print(f"On this scale {result['scale']}.")
    if asked.show_result and folder.settings["bank"] is not None:
        print("\n".join(_places(taken, asked)))
    if taken.about_total:
        low, high = total.interval.tolist()
        print(f"total score: {total.mean:.1f}, with 95% probability between {low} and {high}")


def _scale(taken: Respondent, folder: Job) -> str:
    """Words for what 0 and 1 are of a trait."""
    from adaptive.estimators.questionnaires.ordinal.bank import OrdinalBank

    if folder.settings["bank"] is None:
        whose = "an assumed population, for want of a bank"
    elif isinstance(taken.bank, OrdinalBank):
        whose = "the prior of the ordinal model"
    else:
        whose = f"the people whose answers calibrated {Path(folder.settings['bank']).name}"
    return f"0 is the average and 1 the standard deviation of {whose}"


def _places(taken: Respondent, asked: QuestionnaireFile) -> list[str]:
    """Lines that say where somebody stands among those calibrated on, in the words of `adaptive serve`'s pages."""
    from adaptive.serve.pages import Estimate, texts

    try:
        words = texts(asked.texts)
    except ValueError as problem:
        raise CommandError(str(problem)) from None
    said = []
    for trait, mean, (low, high) in zip(taken.traits, taken.mean.tolist(), taken.interval(0.95).tolist(), strict=True):
        one = Estimate(str(trait), mean, low, high, normed=True)
        percents = {"percent": one.of_100(mean), "low": one.of_100(low), "high": one.of_100(high)}
        said.append(words["among"].format(trait=one.trait, level=words[one.level], **percents))
    return said
