"""Tests before anybody takes them: people drawn from a bank, how long they are asked, how far off, and what all see.

Beside them are as many random items, and the best fixed form of that length. People drawn from a bank fit it by
construction, so the people of the table take the test, too (`held_out`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from adaptive.cli.calibrate import held_out
from adaptive.cli.calibrate.replays import (
    SEED,
    Ends,
    along,
    ends_of,
    first_items,
    lengths_of,
    random_items,
    unit_of,
    verdict_in_words,
)
from adaptive.cli.errors import CommandError

if TYPE_CHECKING:
    from adaptive.cli.job import Job
    from adaptive.estimators import Questionnaire
    from adaptive.estimators.questionnaires.simulation import Simulation

__all__ = ["simulate"]

PEOPLE = 1000
OF_TABLE = 200  # of a model from which nobody is drawn: each is asked question by question


def simulate(
    learnt: Questionnaire, table: Any, job: Job, *, stop: float | None, questions: int | None, exposure: float | None
) -> None:
    """Write simulation.json and exposure.csv, and say what they hold: without a cap on exposure, and with it.

    People are drawn from the calibrated model, the uncertainty of the items included; with the ordinal model they are
    those of the table, and errors are distances from what all of their answers say.
    """
    n_items = len(learnt.items_)
    most = questions or n_items
    if most > n_items:
        raise CommandError(f"--questions must be at most the number of items, {n_items}, got {most}.")
    tests: dict[str, tuple[float | None, int]] = {"no cap": (None, most)}
    if exposure is not None:
        left = min(most, int(exposure * n_items + 1e-9))
        if left < (questions or 1):
            raise CommandError(
                f"--exposure {exposure:g} of {n_items} items leaves {left} questions for each, got {questions or 1}; "
                "give fewer --questions, or more items."
            )
        tests[f"exposure {exposure:g}"] = (exposure, left)
    answers, truth, whose = _people(learnt, table)
    unit = unit_of(learnt)
    print(
        f"{len(answers)} people {whose} take the test{'' if stop is None else f' and stop at {stop:g}'}.\n"
        f"An error is the root mean square of an estimate less the trait, in {unit}.\n"
        "Certainly: by a 95% interval (+-) of the difference of mean squares."
    )
    found: dict[str, Any] = {}
    columns: dict[str, list[Any]] = {"item": list(learnt.items_)}
    for name, (cap, n) in tests.items():
        taken = learnt.simulate(answers, n, stop=stop, exposure=cap, random_state=SEED)
        asked = learnt.exposure(taken)
        ends = Ends(taken.mean[:, -1], taken.std[:, -1])
        found[name] = {"at most": n} | _summary(learnt, taken, ends, truth, stop)
        found[name] |= {"largest exposure": float(asked.max()), "item": str(learnt.items_[int(asked.argmax())])}
        columns[name] = asked.tolist()
        print(f"  {name}: {_in_words(found[name], stop)}")
        found[name] |= _beside(learnt, answers, truth, taken, fixed=cap is None)
    real = held_out.replayed(learnt, table, job, most=most, stop=stop)
    summary = {"people": len(answers), "whose": whose, "unit": unit, "stop": stop, "tests": found, "held out": real}
    job.write_json("simulation.json", summary)
    job.write_csv("exposure.csv", columns)


def _people(learnt: Questionnaire, table: Any) -> tuple[Any, np.ndarray, str]:
    """Answers of people to all items, their traits, and who they are."""
    import pandas as pd

    bank = learnt.bank_
    if learnt.response_model == "ordinal":
        few = table.iloc[:OF_TABLE]
        return few, learnt.trait_mean_[: len(few), 0], "of the table (their trait: what all of their answers say)"
    rng = np.random.default_rng(SEED)
    traits = rng.standard_normal((PEOPLE, len(bank.traits)))
    scale = np.asarray(bank.categories)
    drawn = {}
    for position, item in enumerate(bank.items):
        chances = bank.expected(position, traits)
        drawn[item] = scale[(rng.random((PEOPLE, 1)) > np.cumsum(chances, axis=1)[:, :-1]).sum(axis=1)]
    return pd.DataFrame(drawn), traits[:, 0], "drawn from the bank (they fit it by construction)"


def _beside(
    learnt: Questionnaire, answers: Any, truth: np.ndarray, taken: Simulation, *, fixed: bool
) -> dict[str, Any]:
    """Say how far off as many random items are and, if ``fixed``, the best fixed form; nothing where all were asked."""
    from adaptive import diagnostics

    items, n = list(learnt.items_), round(float(lengths_of(taken).mean()))
    if n >= len(items):
        return {}
    rivals = {"random items": random_items(answers, items, n, np.random.default_rng(SEED))}
    form: list[Any] = []
    if fixed:
        form, rivals["the best fixed form"] = first_items(learnt, answers, n)
    ours, found = taken.mean[:, -1] - truth, {}
    for name, places in rivals.items():
        ends = ends_of(learnt, answers, places)
        off = ends.mean - truth
        judged = diagnostics.beside({"square_error": (ours**2, off**2)}, name, of="people")
        found[f"beside {name}"] = (judged or {}) | {"reliability": _reliability(learnt, ends, truth)}
        print(
            f"    {name} ({n} questions): error {np.sqrt(np.mean(off**2)):.2f}"
            f"{_and_reliability(found[f'beside {name}']['reliability'])}; {verdict_in_words(judged)}"
        )
    if form:
        found["beside the best fixed form"]["items"] = [str(item) for item in form]
    return found


def _reliability(learnt: Questionnaire, ends: Ends, truth: np.ndarray) -> float | None:
    """The squared correlation of estimates and traits; None where the traits are estimates from the same answers."""
    if learnt.response_model == "ordinal":
        return None
    if ends.mean.std() == 0 or truth.std() == 0:
        return 0.0
    return float(np.corrcoef(ends.mean, truth)[0, 1] ** 2)


def _summary(
    learnt: Questionnaire, taken: Simulation, ends: Ends, truth: np.ndarray, stop: float | None
) -> dict[str, Any]:
    lengths, off = lengths_of(taken), ends.mean - truth
    reached = None if stop is None else float(np.mean(ends.std <= stop))
    return {
        "questions": float(lengths.mean()), "questions of 90%": int(np.quantile(lengths, 0.9, method="higher")),
        "error": float(np.sqrt(np.mean(off**2))), "deviation": float(ends.std.mean()),
        "reliability": _reliability(learnt, ends, truth), "along the trait": along(truth, ends.std, off),
        "reach the stop": reached,
    }  # fmt: skip


def _in_words(found: dict[str, Any], stop: float | None) -> str:
    reached = "" if stop is None else f", {found['reach the stop']:.0%} reach {stop:g}"
    lengths = f"{found['questions']:.1f} on average, {found['questions of 90%']} or fewer for 90%"
    parts = [
        f"{one['error']:.2f} {one['trait']} ({one['people']} people)"
        for one in found["along the trait"]
        if one["error"] is not None
    ]
    return (
        f"at most {found['at most']} questions, {lengths}{reached}; item {found['item']} is asked of "
        f"{found['largest exposure']:.0%}\n    the adaptive test: error {found['error']:.2f} (the tests state "
        f"{found['deviation']:.2f}){_and_reliability(found['reliability'])}\n      by trait: {', '.join(parts)}"
    )


def _and_reliability(value: float | None) -> str:
    return "" if value is None else f", reliability {value:.2f}"
