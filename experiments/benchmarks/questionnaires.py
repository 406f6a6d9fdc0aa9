"""Adaptive tests and calibrations beside catsim and girth; the next question; ordinal sweeps.

CPU seconds, one BLAS thread, medians. Peers run in their own locked environments on the same answers.

    python -m experiments.benchmarks.questionnaires [--quick]
"""

from __future__ import annotations

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from scipy.special import expit

sys.path.insert(0, str(Path(__file__).parents[2]))

from experiments.benchmarks.cpu_seconds import median_seconds
from experiments.benchmarks.peers.environments import python_of, versions_of
from experiments.script import Script, command

PEERS = Path(__file__).parent / "peers"
SEED = 0
CALIBRATIONS = 5


def problem(n_people: int, n_items: int, seed: int = SEED) -> dict[str, np.ndarray]:
    """A two-parameter bank and people's answers."""
    rng = np.random.default_rng(seed)
    a, b, x = 1.2 * rng.lognormal(0, 0.3, n_items), rng.standard_normal(n_items), rng.standard_normal(n_people)
    answers = (rng.random((n_people, n_items)) < expit(a * (x[:, None] - b))).astype(float)
    return {"a": a, "b": b, "x": x, "answers": answers}


def replayed(data: dict[str, np.ndarray], n_questions: int) -> float:
    """Seconds of replaying everybody, the items' uncertainty integrated, tables included."""
    from adaptive import Questionnaire

    covariance = np.tile(np.diag([0.02, 0.02]), (len(data["a"]), 1, 1))

    def test() -> None:
        Questionnaire.from_parameters(data["a"], data["b"], covariance=covariance).simulate(
            data["answers"], n_questions
        )

    test()
    return median_seconds(test, 3)


def next_question() -> tuple[float, float, int]:
    """Milliseconds to the next of 100 items on a grid, and under the ordinal model; its inner runs."""
    from adaptive import Questionnaire

    data = problem(1, 100)
    person = Questionnaire.from_parameters(data["a"], data["b"]).respondent()
    items = list(range(100))
    person.select(items)

    def on_grid() -> None:
        person.person_ = person.bank.person(person.person_.prior).after((3, 5, 8), (1, 0, 1))
        person.select(items)

    grid = median_seconds(lambda: [on_grid() for _ in range(50)], 3) / 50
    rng = np.random.default_rng(SEED)
    fitted = Questionnaire(trait_noise=1.0, max_iter=3, tol=1e9).fit(rng.integers(1, 6, (20, 100)).astype(float))
    other = fitted.respondent().partial_fit([0, 1, 2], [1, 3, 5])
    other.select(items)
    ordinal = median_seconds(lambda: other.select(items), 3)
    return 1e3 * grid, 1e3 * ordinal, 100 * 5


def sweeps(n_people: int, n_items: int = 100) -> tuple[float, int]:
    """Seconds and sweeps of the ordinal model at given noise."""
    import warnings

    from adaptive.estimators.questionnaires.answers import Answers
    from adaptive.estimators.questionnaires.ordinal.fit import fit_ordinal
    from adaptive.estimators.questionnaires.ordinal.model import OrdinalModel

    rng = np.random.default_rng(SEED)
    people, items = (np.sort(rng.normal(size=(n, 4)), axis=1) for n in (n_people, n_items))
    opinion = rng.normal(size=n_people)[:, None] + rng.normal(size=(n_people, n_items))
    table = 1.0 + sum(
        opinion > people[:, None, k] + items[None, :, k] + 0.2 * rng.normal(size=(n_people, n_items)) for k in range(4)
    )
    answers = Answers.of_table(table, (1, 2, 3, 4, 5))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        start = time.process_time()
        fit = fit_ordinal(OrdinalModel(5), answers, np.zeros(n_items, int), np.ones(n_items))
        return time.process_time() - start, len(fit.trace)


def by_peer(peer: str, script: str, data: dict[str, np.ndarray], *more: str) -> dict[str, Any]:
    """What the peer's script prints."""
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "problem.npz")
        np.savez(path, **data)  # type: ignore[arg-type]
        arguments = [str(python_of(peer)), str(PEERS / script), path, *more]
        done = subprocess.run(arguments, check=True, capture_output=True, text=True)
    return json.loads(done.stdout.strip().splitlines()[-1])


def error_of(a: np.ndarray, b: np.ndarray, data: dict[str, np.ndarray]) -> float:
    """Root mean square error of discriminations and difficulties."""
    return float(np.sqrt(np.mean(np.r_[a - data["a"], b - data["b"]] ** 2)))


def run(script: Script) -> None:
    """Measure, print, and write the verdicts; in quick mode ours only, small, nothing written."""
    sweeps(20, 5)  # compiles
    if script.quick:
        print(f"replay {replayed(problem(50, 30), 5):.3f} s; next question {next_question()}; sweeps {sweeps(50, 20)}")
        return
    from adaptive import Questionnaire

    def judge(id: str, claim: str, target: str, value: str, holds: bool, reason: str = "") -> None:
        script.judge(
            f"ours-questionnaire-{id}", holds, claim=claim, kind="must hold", target=target, value=value,
            reason="" if holds else reason, seed=SEED,
        )  # fmt: skip

    data = problem(1000, 100)
    few = {**data, "x": data["x"][:100], "answers": data["answers"][:100]}
    ours, theirs = replayed(data, 20), 10 * by_peer("catsim", "adaptive_test.py", few, "20")["seconds"]
    judge(
        "replay", "1,000 people x 20 of 100 items, items' uncertainty integrated, cost at most a fiftieth of catsim.",
        "<= 0.02", f"{ours / theirs:.5f} ({ours:.2f} s against {theirs:.1f} s, catsim's of 100 people times ten; "
        f"{versions_of('catsim', 'catsim')})", ours / theirs <= 0.02,
        "What is left is one entropy for each person, item, answer and question.",
    )  # fmt: skip
    grid, ordinal, runs = next_question()
    judge(
        "next-question", "The next of 100 items is chosen at most 1 ms after an answer on a grid, and for ordinal "
        "items in 500 inner runs.",
        "<= 1 ms, <= 500 runs", f"{grid:.2f} ms (ordinal: {ordinal:.1f} ms, {runs} runs of five answers)",
        grid <= 1.0 and runs <= 500, "The predictive's checks of input and the entropies of 100 x 61 x 2 numbers.",
    )  # fmt: skip
    ours, theirs, our_errors, their_errors = 0.0, 0.0, [], []
    for seed in range(100, 100 + CALIBRATIONS):  # priors were thought about on others
        one = problem(1000, 100, seed)
        ours += median_seconds(lambda one=one: Questionnaire("two_parameter").fit(one["answers"]), 1)  # type: ignore[misc]
        learnt = Questionnaire("two_parameter").fit(one["answers"]).item_parameters_
        found = by_peer("girth", "two_parameter.py", one)
        theirs += found["seconds"]
        our_errors.append(error_of(learnt[:, 0], learnt[:, 1], one))
        their_errors.append(error_of(np.array(found["a"]), np.array(found["b"]), one))
    judge(
        "calibration", "Two-parameter calibration of 1,000 x 100 costs at most girth's time at no larger error.",
        f"<= 1, mean error of {CALIBRATIONS} sets <=", f"{ours / theirs:.3f} ({ours:.2f} s against {theirs:.2f} s for "
        f"{CALIBRATIONS} sets), root mean square error of a and b {np.mean(our_errors):.4f} against "
        f"{np.mean(their_errors):.4f} (each set: {np.round(our_errors, 4).tolist()} against "
        f"{np.round(their_errors, 4).tolist()}); {versions_of('girth', 'girth')}",
        ours <= theirs and np.mean(our_errors) <= np.mean(their_errors),
        "The same likelihood but for our priors: what is left of their pull on the unit of the trait.",
    )  # fmt: skip
    seconds = {n: sweeps(n) for n in (500, 1000, 2000)}
    each = {n: 1e6 * s / (n * 100 * k) for n, (s, k) in seconds.items()}
    whole = each[2000] * 1e-6 * 1e6 * seconds[2000][1]
    most = max(k for _, k in seconds.values())
    ratio = max(each.values()) / min(each.values())
    judge(
        "ordinal-sweeps", "Ordinal sweeps are linear in the answers and at most 15 on data of the model; 10,000 people "
        "x 100 items take 3 minutes.",
        "microseconds an answer and sweep within 1.3 of each other; <= 15; <= 180 s",
        f"{({n: round(v, 2) for n, v in each.items()})} us, sweeps {({n: k for n, (_, k) in seconds.items()})}; "
        f"10,000 x 100 by this rate {whole:.0f} s on one core (not run)", ratio <= 1.3 and whole <= 180 and most <= 15,
        "Times on a machine shared by several people vary.",
    )  # fmt: skip


if __name__ == "__main__":
    command(run, __doc__, __file__)
