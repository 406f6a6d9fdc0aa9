"""Tests before anybody takes them: people drawn from a bank, how long they are asked, how far off, and what all see."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from adaptive.cli import beside
from adaptive.cli.errors import CommandError

if TYPE_CHECKING:
    from adaptive.cli.job import Job
    from adaptive.estimators import Questionnaire
    from adaptive.estimators.questionnaires.simulation import Simulation

__all__ = ["simulate"]

PEOPLE = 1000
COMPARED = 200  # of them, who are asked random items, too
OF_TABLE = 200  # of a model from which nobody is drawn: each is asked question by question
SEED = 0


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
    print(f"{len(answers)} people {whose}{'' if stop is None else f', who stop at {stop:g}'}:")
    found: dict[str, Any] = {}
    columns: dict[str, list[Any]] = {"item": list(learnt.items_)}
    for name, (cap, n) in tests.items():
        taken = learnt.simulate(answers, n, stop=stop, exposure=cap, random_state=SEED)
        asked = learnt.exposure(taken)
        found[name] = {"at most": n} | _summary(taken, truth, stop)
        found[name] |= {"largest exposure": float(asked.max()), "item": str(learnt.items_[int(asked.argmax())])}
        columns[name] = asked.tolist()
        print(f"  {name}: {_in_words(found[name], stop)}")
        found[name]["beside random items"] = against = _beside_random(learnt, answers, truth, taken)
        beside.say(against, advice="it need not choose", how="at the end of their tests")
    job.write_json("simulation.json", {"people": len(answers), "whose": whose, "stop": stop, "tests": found})
    job.write_csv("exposure.csv", columns)


def _people(learnt: Questionnaire, table: Any) -> tuple[Any, np.ndarray, str]:
    """Answers of people to all items, their traits, and who they are."""
    import pandas as pd

    bank = learnt.bank_
    if learnt.response_model == "ordinal":
        few = table.iloc[:OF_TABLE]
        return few, learnt.trait_mean_[: len(few)], "of the table"
    rng = np.random.default_rng(SEED)
    traits = rng.standard_normal((PEOPLE, len(bank.traits)))
    scale = np.asarray(bank.categories)
    drawn = {}
    for position, item in enumerate(bank.items):
        chances = bank.expected(position, traits)
        drawn[item] = scale[(rng.random((PEOPLE, 1)) > np.cumsum(chances, axis=1)[:, :-1]).sum(axis=1)]
    return pd.DataFrame(drawn), traits, "drawn from the bank"


def _beside_random(learnt: Questionnaire, answers: Any, truth: np.ndarray, taken: Simulation) -> dict[str, Any] | None:
    """Square errors of some people's estimates beside those after as many random items; None where all were asked."""
    from adaptive import diagnostics

    rng, items = np.random.default_rng(SEED), list(learnt.items_)
    few = answers[items].to_numpy()[:COMPARED]
    lengths = np.array([sum(one is not None for one in row) for row in taken.items[: len(few)]])
    if lengths.min() == len(items):
        return None
    at_random = []
    for row, n in zip(few, lengths, strict=True):
        there = rng.permutation(np.flatnonzero(~np.isnan(row)))[:n]
        person = learnt.respondent().fit([items[k] for k in there], row[there])
        at_random.append(np.asarray(person.mean, dtype=float))
    known = truth[: len(few)].reshape(len(few), -1)
    ours = taken.mean[: len(few), -1].reshape(len(few), -1)
    judges = {"square_error": tuple(((one - known) ** 2).mean(axis=1) for one in (ours, np.array(at_random)))}
    return diagnostics.beside(judges, "as many random items", of="people")  # type: ignore[arg-type]


def _summary(taken: Simulation, truth: np.ndarray, stop: float | None) -> dict[str, Any]:
    lengths = np.array([sum(one is not None for one in row) for row in taken.items])
    last = taken.mean[:, -1].reshape(len(lengths), -1)
    reached = None if stop is None else float(np.mean(taken.std[:, -1].reshape(len(lengths), -1).max(axis=1) <= stop))
    return {
        "questions": float(lengths.mean()), "questions of 90%": int(np.quantile(lengths, 0.9, method="higher")),
        "error": float(np.sqrt(np.mean((last - truth) ** 2))),
        "deviation": float(taken.std[:, -1].mean()), "reach the stop": reached,
    }  # fmt: skip


def _in_words(found: dict[str, Any], stop: float | None) -> str:
    reached = "" if stop is None else f", {found['reach the stop']:.0%} reach {stop:g}"
    lengths = f"{found['questions']:.1f} on average, {found['questions of 90%']} or fewer for 90%"
    return (
        f"at most {found['at most']} questions, {lengths}{reached}; error {found['error']:.2f} (stated "
        f"{found['deviation']:.2f}); item {found['item']} is asked of {found['largest exposure']:.0%}"
    )
