"""Answers included by rank-one updates over nodes of the prior scale, beside fitting all answers again.

The runs of `hyper_defaults.py` (twelve sets, ten random labels and sixty questions by the committee, 15% random) with
the default ``update="auto"``, which includes, and with "refit". Judged: on average the accuracy of the included run is
at most .005 lower and its log loss at most .005 higher.

Full mode: four splits a set, two minutes on one core; it resumes (``runs.py``).
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from adaptive import BayesianLogisticRegression, SequentialDesign
from adaptive.loop.comparison import interval
from experiments.active.shared.hyper_runs import EVERY, INITIAL, NAMES, QUESTIONS, rows_of
from experiments.script import Script, command

GROUP = "hyper_inclusion"
UPDATES = ("auto", "refit")
ALLOWED = 0.005


def one_run(name: str, update: str, seed: int, questions: int) -> dict[str, np.ndarray]:
    """Return accuracy and log loss on the test rows, every five labels from the tenth on."""
    pool, labels, test, truth, first = rows_of(name, seed)
    model = BayesianLogisticRegression(classes=[0, 1], update=update)
    found: dict[str, list[float]] = {"accuracy": [], "log loss": []}
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        design = SequentialDesign(
            model, pool, lambda query: labels[query.positions], initial=first, random_state=seed
        )  # fmt: skip
        design.run(INITIAL)
        for k in range(0, questions + 1, EVERY):
            if k:
                design.run(EVERY)
            p = np.clip(design.estimator_.predict_proba(test)[:, 1], 1e-12, 1 - 1e-12)
            found["accuracy"].append(float(np.mean((p > 0.5) == truth)))
            found["log loss"].append(float(-np.mean(np.log(np.where(truth == 1, p, 1 - p)))))
    return {key: np.array(values) for key, values in found.items()}


def run(script: Script) -> None:
    """Run everything; write the table and the verdict."""
    names, n_seeds = (NAMES[:1], 2) if script.quick else (NAMES, 4)
    questions = 2 * EVERY if script.quick else QUESTIONS
    columns: dict[str, list[Any]] = {"set": [], "splits": []}
    apart: dict[str, list[np.ndarray]] = {"accuracy": [], "log loss": []}
    for name in names:
        runs = {
            update: [script.kept(GROUP, one_run, name, update, seed, questions) for seed in range(n_seeds)]
            for update in UPDATES
        }
        columns["set"].append(name)
        columns["splits"].append(n_seeds)
        for metric, kept in apart.items():
            means = {update: np.array([one[metric].mean() for one in some]) for update, some in runs.items()}
            for update in UPDATES:
                columns.setdefault(f"{metric}, {update}", []).append(round(float(means[update].mean()), 4))
            kept.append(means["auto"] - means["refit"])
    script.table(
        columns,
        "hyper-inclusion",
        f"Means over runs of 10 to {10 + questions} labels, {n_seeds} splits a set: included answers and refits.",
    )
    value = {m: [round(float(v), 4) for v in interval(np.mean(kept, axis=0))] for m, kept in apart.items()}
    script.judge(
        "ours-hyper-inclusion",
        value["accuracy"][0] >= -ALLOWED and value["log loss"][0] <= ALLOWED,
        claim=f"Included answers cost no accuracy beside refits: {len(names)} sets, {n_seeds} splits each.",
        target="accuracy above -.005, log loss below +.005 on average",
        value=value,
    )


if __name__ == "__main__":
    command(run, __doc__, __file__)
