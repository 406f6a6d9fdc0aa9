"""Answers included by rank-one updates over nodes of the prior scale, beside fitting all answers again.

The runs of `hyper_defaults.py` (twelve sets, ten random labels and sixty questions by the committee, 15% random) with
the default ``update="auto"``, which includes, and with "refit". Judged: on average over the sets the accuracy of the
included run is at most .005 lower and its log loss at most .005 higher, by the whole 95% interval over splits (one that
reaches beyond cannot tell).

Full mode: twenty splits a set, three minutes on one core; it resumes (``runs.py``) and shares the runs of
`hyper_defaults.py`.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from adaptive import BayesianLogisticRegression, SequentialDesign
from adaptive.loop.comparison import interval
from experiments.active.shared import hyper_runs
from experiments.active.shared.hyper_runs import EVERY, INITIAL, NAMES, QUESTIONS, RECIPE, rows_of
from experiments.equivalence import all_of, inside
from experiments.script import Script, command

GROUP = "hyper_inclusion"
UPDATES = ("auto", "refit")
ALLOWED = 0.005


def refitted(name: str, seed: int, questions: int) -> dict[str, np.ndarray]:
    """Return accuracy and log loss on the test rows, every five labels from the tenth on."""
    pool, labels, test, truth, first = rows_of(name, seed)
    model = BayesianLogisticRegression(classes=[0, 1], update="refit")
    found: dict[str, list[float]] = {"accuracy": [], "log loss": []}
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        design = SequentialDesign(
            model, pool, lambda query: labels[query.positions], initial=first, random_state=seed
        )  # fmt: skip
        design.tell(design.ask(INITIAL), labels[first])
        for many in (0, *[EVERY] * (questions // EVERY)):
            p = np.clip(design.run(many).estimator_.predict_proba(test)[:, 1], 1e-12, 1 - 1e-12)
            found["accuracy"].append(float(np.mean((p > 0.5) == truth)))
            found["log loss"].append(float(-np.mean(np.log(np.where(truth == 1, p, 1 - p)))))
    return {key: np.array(values) for key, values in found.items()}


def run(script: Script) -> None:
    """Run everything; write the table and the verdict."""
    names, n_seeds = (NAMES[:1], 2) if script.quick else (NAMES, 20)
    questions = 2 * EVERY if script.quick else QUESTIONS
    columns: dict[str, list[Any]] = {"set": [], "splits": []}
    apart: dict[str, list[np.ndarray]] = {"accuracy": [], "log loss": []}
    for name in names:
        runs: dict[str, list[Any]] = {update: [] for update in UPDATES}
        for seed in range(n_seeds):
            runs["auto"].append(script.kept(hyper_runs.GROUP, hyper_runs.run, name, RECIPE, seed, questions))
            runs["refit"].append(script.kept(GROUP, refitted, name, seed, questions))
        columns["set"].append(name)
        columns["splits"].append(n_seeds)
        for metric, kept in apart.items():
            means = {update: np.array([one[metric].mean() for one in some]) for update, some in runs.items()}
            for update in UPDATES:
                columns.setdefault(f"{metric}, {update}", []).append(round(float(means[update].mean()), 4))
            kept.append(means["auto"] - means["refit"])
        print(f"{name}: done", flush=True)
    script.table(
        columns,
        "hyper-inclusion",
        f"Means over runs of 10 to {10 + questions} labels, {n_seeds} splits a set: included answers and refits.",
    )
    value = {m: [round(float(v), 4) for v in interval(np.mean(kept, axis=0))] for m, kept in apart.items()}
    accuracy, loss = inside(*value["accuracy"][1:], least=-ALLOWED), inside(*value["log loss"][1:], most=ALLOWED)
    script.judge(
        "ours-hyper-inclusion",
        all_of([accuracy, loss]),
        claim=f"Included answers cost no accuracy beside refits: {len(names)} sets, {n_seeds} splits each (means over "
        "sets with 95% limits over splits).",
        target="intervals above -0.005 accuracy and below +0.005 nats",
        value=value,
        reason=f"{n_seeds} splits leave an interval wider than what is allowed." if None in (accuracy, loss) else "",
    )


if __name__ == "__main__":
    command(run, __doc__, __file__)
