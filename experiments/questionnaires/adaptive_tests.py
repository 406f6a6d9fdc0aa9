"""Adaptive tests beside random and fixed order; beside catsim; and what the items' uncertainty does to intervals.

Synthetic banks are two-parameter, discriminations log-normal about 1.2, difficulties and traits standard normal.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from scipy.special import expit

from adaptive import Questionnaire, datasets
from experiments.benchmarks.peers.environments import python_of, versions_of
from experiments.equivalence import all_of, inside
from experiments.questionnaires.shared.people import reversed_items, two_parameter_bank
from experiments.script import Script, command, panels
from experiments.statistics import limits

PEER = Path(__file__).parents[1] / "benchmarks" / "peers" / "adaptive_test.py"
SEED = 0
TOLD = (0.0, 1.0)  # the population, where it is known, and what `transform` of random orders assumes


def run(script: Script) -> None:
    """Curves of three sets, catsim on our bank, calibrations of 50 to 200 people, a wrong prior."""
    n_people = 30 if script.quick else 1000
    curves = {
        name: script.kept("adaptive_tests", curves_of, name, n_people) for name in ("synthetic", "icar", "big_five")
    }
    draw(script, curves, n_people)
    small = {n: script.kept("adaptive_tests", small_calibration, n, 2 if script.quick else 30) for n in (50, 100, 200)}
    script.table(
        {"people": [n for n in small for _ in range(3)],
         "items": [one for _ in small for one in ("plug-in", "integrated", "integrated, origin and unit")],
         "rmse": [round(float(v), 4) for one in small.values() for v in one["rmse"]],
         "coverage_95": [round(float(v), 4) for one in small.values() for v in one["coverage"]]},
        "questionnaire-small-calibration",
        "Items calibrated on few people (two-parameter, 30 items), then 500 new people answer 15 chosen ones: "
        "root mean square error and coverage of 95% intervals. Simulated answers; traits are standard normal in the "
        "population both are drawn from, which the model is told.",
    )  # fmt: skip
    if script.quick:
        return
    judge_curves(script, curves, n_people)
    n_few, n_enough = small[50]["coverage"], small[200]["coverage"]
    script.judge(
        "ours-questionnaire-item-uncertainty", bool(n_few[2] >= max(n_few[0] + 0.02, 0.93)),
        claim="With items calibrated on 50 people, integrating their uncertainty, origin and unit included, brings "
        "the coverage of 95% intervals from the plug-in's near to nominal.", target="coverage >= 0.93, plug-in + 0.02",
        value=f"coverage plug-in {n_few[0]:.3f}, integrated {n_few[1]:.3f}, with origin and unit {n_few[2]:.3f}; "
        f"with 200 people {n_enough[0]:.3f}, {n_enough[1]:.3f}, {n_enough[2]:.3f}; "
        f"RMSE with 50 {small[50]['rmse'].round(3)}; "
        "30 calibrations x 500 people", seed=SEED,
    )  # fmt: skip
    peer(script)
    prior(script)


def people_of(name: str, n_people: int) -> tuple[Questionnaire, Any]:
    """A fitted bank and the answers of people it was not calibrated on."""
    rng = np.random.default_rng(SEED)
    if name == "synthetic":
        a, b = two_parameter_bank(100)
        x = rng.standard_normal(n_people)
        answers = (rng.random((n_people, 100)) < expit(a * (x[:, None] - b))).astype(float)
        return Questionnaire.from_parameters(a, b), answers
    table = datasets.answers(name)
    if name == "big_five":
        table = table[[item for item in table.columns if item[0] == "E"]]
    table = table.dropna().iloc[rng.permutation(len(table.dropna()))][: 2 * n_people]
    half = len(table) // 2
    model = "two_parameter" if name == "icar" else "graded"
    reverse = reversed_items(table.iloc[:half], ["x"] * table.shape[1])
    return Questionnaire(model, reverse=reverse).fit(table.iloc[:half]), table.iloc[half:]


def curves_of(name: str, n_people: int) -> dict[str, np.ndarray]:
    """(people, questions) standard deviations after each question, by information, in a fixed order, at random."""
    model, answers = people_of(name, n_people)
    n = min(40, len(model.items_))
    found = {}
    for order in ("information_gain", "fisher_information"):
        found[order] = model.simulate(answers, n, scorer=order, prior=TOLD).std
    table = np.asarray(answers, dtype=float)
    for order in ("random", "fixed"):
        rng = np.random.default_rng(SEED)
        found[order] = np.zeros((len(table), n))
        for start in range(0, len(table), 250):
            few = table[start : start + 250]
            ranks = rng.random(few.shape) if order == "random" else np.tile(np.arange(few.shape[1]), (len(few), 1))
            position = np.argsort(np.argsort(ranks, axis=1), axis=1)
            for k in range(n):
                known = np.where(position <= k, few, np.nan)
                found[order][start : start + 250, k] = model.transform(known, return_std=True)[1][:, 0]
    return found


def questions_to(curve: np.ndarray, level: float) -> float:
    """How many questions a curve takes to a deviation, between whole numbers linearly."""
    below = np.flatnonzero(curve <= level)
    if not len(below):
        return float("nan")
    k = int(below[0])
    if k == 0:
        return 1.0
    return float(k + (curve[k - 1] - level) / (curve[k - 1] - curve[k]))


def draw(script: Script, curves: dict[str, dict[str, np.ndarray]], n_people: int) -> None:
    """Deviation against questions."""
    figure, axes = panels(1, 3, 9.0, 3.0)
    for ax, (name, found) in zip(axes[0], curves.items(), strict=True):
        for order, people in found.items():
            curve = people.mean(axis=0)
            dashes = (0, (3, 3)) if order == "fisher_information" else "-"  # it lies on information gain
            ax.plot(np.arange(1, len(curve) + 1), curve, linestyle=dashes, label=order.replace("_", " "))
        ax.set_title(name.replace("_", " "), fontsize="medium")
        ax.set_xlabel("questions")
    axes[0, 0].set_ylabel("mean posterior deviation")
    axes[0, 0].legend(frameon=False, fontsize="small")
    script.figure(
        figure, "questionnaire-adaptive-tests",
        f"Posterior deviation of the trait after each question, mean over {n_people} people (icar: 698): a synthetic "
        "two-parameter bank of 100 items that is known (simulated answers), ICAR ability (16 items) and Big-Five "
        "extraversion (10 items), items calibrated on other people and real answers replayed.",
    )  # fmt: skip


def judge_curves(script: Script, curves: dict[str, dict[str, np.ndarray]], n_people: int) -> None:
    """Questions to random's deviation after half of the questions."""
    for name, target in (("synthetic", 0.45), ("icar", 0.7), ("big_five", 0.7)):
        found = curves[name]
        at = found["random"].shape[1] // 2
        shares = {one: resampled(found[one], found["random"], at) for one in found if one != "random"}
        mean, low, high = shares.pop("information_gain")
        script.judge(
            f"ours-adaptive-test-{name.replace('_', '-')}", inside(low, high, most=target),
            claim=f"Information gain reaches the deviation of {at} random questions in at most {target:.0%} of them.",
            target=f"<= {target}, the whole 95% interval over people",
            value={
                "questions over random's": [mean, low, high],
                **{one.replace("_", " "): list(three) for one, three in shares.items()},
                "random's deviation": float(found["random"][:, at - 1].mean()),
                "people": len(found["random"]),
            },
            seed=SEED,
            reason="" if high <= target else f"The bank has {2 * at if name != 'synthetic' else 100} items, and "
            "after half of a short test most good ones have been asked in any order.",
        )  # fmt: skip


def resampled(chosen: np.ndarray, random: np.ndarray, at: int, draws: int = 2000) -> tuple[float, float, float]:
    """Questions to random's mean deviation after ``at``, over ``at``: the ratio and its 95% limits over people."""
    rng = np.random.default_rng(SEED)

    def ratio(people: np.ndarray) -> float:
        return questions_to(chosen[people].mean(axis=0), float(random[people, at - 1].mean())) / at

    n = len(random)
    ratios = [ratio(rng.integers(0, n, n)) for _ in range(draws)]
    low, high = np.percentile(ratios, (2.5, 97.5))
    return ratio(np.arange(n)), float(low), float(high)


def small_calibration(n_calibrating: int, repeats: int) -> dict[str, np.ndarray]:
    """RMSE and coverage of 95% intervals for items plugged in, integrated, and with what all items share."""
    errors, inside = np.zeros((repeats, 3)), np.zeros((repeats, 3))
    for seed in range(repeats):
        rng = np.random.default_rng([SEED, n_calibrating, seed])
        a, b = 1.2 * rng.lognormal(0, 0.3, 30), rng.standard_normal(30)

        def answered(x: np.ndarray, a: np.ndarray = a, b: np.ndarray = b, rng: Any = rng) -> np.ndarray:
            return (rng.random((len(x), 30)) < expit(a * (x[:, None] - b))).astype(float)

        learnt = Questionnaire("two_parameter").fit(answered(rng.standard_normal(n_calibrating)))
        bank = learnt.bank_
        plug_in = Questionnaire.from_parameters(learnt.item_parameters_[:, 0], learnt.item_parameters_[:, 1])
        x = rng.standard_normal(500)
        answers = answered(x)
        own = learnt.simulate(answers, 15, prior=TOLD)
        shared = bank.shared[0]
        common = shared[0, 0] + 2 * own.mean[:, -1] * shared[0, 1] + own.mean[:, -1] ** 2 * shared[1, 1]
        apart = np.sqrt(np.maximum((own.std[:, -1] ** 2 - common) / (1 + shared[1, 1]), 1e-9))
        plugged = plug_in.simulate(answers, 15, prior=TOLD)
        for k, (mean, std) in enumerate(
            ((plugged.mean[:, -1], plugged.std[:, -1]), (own.mean[:, -1], apart), (own.mean[:, -1], own.std[:, -1]))
        ):
            errors[seed, k] = np.mean((mean - x) ** 2)
            inside[seed, k] = np.mean(np.abs(mean - x) <= 1.96 * std)
    return {"rmse": np.sqrt(errors.mean(axis=0)), "coverage": inside.mean(axis=0)}


def peer(script: Script) -> None:
    """RMSE after 5, 10 and 20 items beside catsim, on one bank, people and answers."""
    a, b = two_parameter_bank(100)
    rng = np.random.default_rng(SEED)
    x = rng.standard_normal(300)
    answers = (rng.random((300, 100)) < expit(a * (x[:, None] - b))).astype(float)
    bank = Questionnaire.from_parameters(a, b)
    pairs = {
        "by likelihood, ours by default": (bank.simulate(answers, 20), "ml"),
        "by expectation, both under N(0, 1)": (bank.simulate(answers, 20, prior=TOLD), "eap"),
    }
    value: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "problem.npz")
        np.savez(path, a=a, b=b, x=x, answers=answers)
        for name, (ours, how) in pairs.items():
            done = subprocess.run(
                [str(python_of("catsim")), str(PEER), path, "20", how], check=True, capture_output=True, text=True
            )
            theirs = np.array(json.loads(done.stdout.strip().splitlines()[-1])["estimates"])
            value[name] = {
                str(k): {
                    "rmse": [rmse(ours.mean[:, k - 1], x), rmse(theirs[:, k - 1], x)],
                    "difference of squared errors": list(
                        limits((ours.mean[:, k - 1] - x) ** 2 - (theirs[:, k - 1] - x) ** 2)
                    ),
                }
                for k in (5, 10, 20)
            }
    default = pairs["by likelihood, ours by default"][0]
    covered = float(np.mean(np.abs(default.mean[:, 19] - x) <= 1.96 * default.std[:, 19]))
    parts = [one["difference of squared errors"] for found in value.values() for one in found.values()]
    script.judge(
        "ours-adaptive-test-catsim", all_of(inside(low, high, most=0.0) for _, low, high in parts),
        claim="After 5, 10 and 20 items squared errors are smaller than with catsim: its maximum information and "
        "numerical estimator, and its maximum information with the expectation under the prior that ours has, too.",
        target="paired 95% intervals over people of the difference of squared errors below 0",
        value=value | {"95% intervals after 20 cover": covered, "people": len(x), "items": 100}
        | versions_of("catsim", "catsim"),
        seed=SEED, reason="With the same prior both estimate from nearly the same items.",
    )  # fmt: skip


def rmse(estimate: np.ndarray, x: np.ndarray) -> float:
    """Root mean square error."""
    return float(np.sqrt(np.mean((estimate - x) ** 2)))


def prior(script: Script) -> None:
    """A prior that is wrong by two deviations, shown honestly."""
    a, b = two_parameter_bank(100)
    rng = np.random.default_rng(SEED)
    x = rng.normal(2.0, 1.0, 1000)
    answers = (rng.random((1000, 100)) < expit(a * (x[:, None] - b))).astype(float)
    bank = Questionnaire.from_parameters(a, b)
    found = {}
    for name, assumed in (("default", None), ("standard", (0.0, 1.0)), ("right", (2.0, 1.0)), ("wide", (0.0, 2.5))):
        replayed = bank.simulate(answers, 20, prior=assumed)
        found[name] = {
            k: (
                round(rmse(replayed.mean[:, k - 1], x), 3),
                round(float(np.mean(np.abs(replayed.mean[:, k - 1] - x) <= 1.96 * replayed.std[:, k - 1])), 3),
            )
            for k in (5, 20)
        }
    script.judge(
        "ours-adaptive-test-wrong-prior", found["default"][20][1] >= 0.9,
        claim="People two deviations above the prior's mean: after 20 items 95% intervals still cover at least 90%.",
        target=">= 0.9", value=f"(RMSE, coverage) after 5 and 20 items: {found}; 1,000 simulated people", seed=SEED,
        reason="" if found["default"][20][1] >= 0.9 else "The prior pulls by its full weight where 20 items of "
        "moderate discrimination weigh little more; a wide prior mends it.",
    )  # fmt: skip


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[2]))
    command(run, __doc__, __file__)
