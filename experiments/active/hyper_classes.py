"""Ten classes: the defaults (softmax over nodes of the prior scale) asked by the committee, beside random rows.

Digits of scikit-learn and of USPS (every third pixel): 20 random labels, then 30 in batches of ten, 15% of them random;
500 rows to ask from, 500 to test on, columns in units of the pool's deviations. Beside them scikit-learn's
LogisticRegression on the random rows. Judged: designed minus random, accuracy not certainly lower by .005, log loss not
certainly higher by .015.

Full mode: four splits a set, some two minutes on one core; it resumes (``runs.py``).
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression
from threadpoolctl import threadpool_limits

from adaptive import BayesianLogisticRegression, SequentialDesign, datasets
from adaptive.loop.comparison import interval
from experiments.script import Script, command

GROUP = "hyper_classes"
SETS, WAYS = ("digits", "usps"), ("designed", "random", "LogisticRegression, random")
FIRST, BATCH, MOST, N = 20, 10, 50, 500
ALLOWED = {"accuracy": 0.005, "log loss": 0.015}


def one_run(name: str, way: str, seed: int, most: int) -> dict[str, np.ndarray]:
    """Return accuracy and log loss on test rows after every batch."""
    X, y = load_digits(return_X_y=True) if name == "digits" else datasets.usps(digits=None)
    X = X if name == "digits" else X[:, ::3]
    order = np.random.default_rng([seed, 19]).permutation(len(y))[: 2 * N]
    X, y = np.asarray(X, dtype=float)[order], np.asarray(y)[order].astype(int)
    X = (X - X[:N].mean(axis=0)) / np.maximum(X[:N].std(axis=0), 1e-3 + 0.1 * X[:N].std())
    pool, labels, test, truth = X[:N], y[:N], X[N:], y[N:]
    found: dict[str, list[float]] = {"accuracy": [], "log loss": []}
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        design = SequentialDesign(
            BayesianLogisticRegression(classes=range(10)), pool, lambda query: labels[query.positions],
            scorer="auto" if way == "designed" else "random", initial=np.arange(FIRST), batch_size=BATCH, joint=False,
            random_state=seed,
        )  # fmt: skip
        for n in range(FIRST, most + 1, BATCH):
            table = np.full((len(test), 10), 1e-6)
            if way.startswith("LogisticRegression"):
                model: Any = LogisticRegression(max_iter=1000).fit(pool[:n], labels[:n])
            else:
                model = design.run(2 if n == FIRST else 1).estimator_
            table[:, model.classes_] = np.maximum(model.predict_proba(test), 1e-6)
            found["accuracy"].append(float(np.mean(np.argmax(table, axis=1) == truth)))
            found["log loss"].append(float(-np.mean(np.log(table[np.arange(len(truth)), truth]))))
    return {key: np.array(values) for key, values in found.items()}


def run(script: Script) -> None:
    """Run everything; write the table and the verdict."""
    names, n_seeds, most = (SETS[:1], 2, FIRST) if script.quick else (SETS, 4, MOST)
    columns: dict[str, list[Any]] = {"set": list(names), "splits": [n_seeds] * len(names)}
    value: dict[str, dict[str, list[float]]] = {name: {} for name in names}
    for metric in ALLOWED:
        for name in names:
            area = {
                way: np.array([
                    script.kept(GROUP, one_run, name, way, seed, most)[metric].mean() for seed in range(n_seeds)
                ])
                for way in WAYS
            }  # fmt: skip
            for way in WAYS:
                columns.setdefault(f"{metric}, {way}", []).append(round(float(area[way].mean()), 4))
            value[name][metric] = [round(float(one), 4) for one in interval(area["designed"] - area["random"])]
    script.table(columns, "hyper-classes", f"Ten classes: means over runs of {FIRST} to {most} labels.")
    held = all(
        one["accuracy"][2] >= -ALLOWED["accuracy"] and one["log loss"][1] <= ALLOWED["log loss"]
        for one in value.values()
    )
    script.judge(
        "ours-hyper-classes",
        held,
        claim=f"Ten classes, the defaults: designed rows are not certainly worse than random ones ({len(names)} sets, "
        f"{n_seeds} splits each, {FIRST} to {most} labels).",
        target="accuracy not certainly below -.005, log loss not certainly above +.015",
        value=value,
        reason="" if held else "Of few labels per class a committee asks rows that no class explains.",
    )


if __name__ == "__main__":
    command(run, __doc__, __file__)
