"""The defaults beside two rivals that are given care: LogisticRegressionCV by margin, and scikit-activeml's strategies.

The runs of `hyper_defaults.py`: twelve sets, ten random labels and sixty questions. LogisticRegressionCV chooses its
strength by log loss (five of them, three folds; scikit-learn's default strength while a class has fewer than three
labels) and is asked by margin. scikit-activeml's badge and query by committee ask from its own locked environment, and
scikit-learn's LogisticRegression learns the labels in that order. Judged: on average the defaults' log loss is
certainly below every rival's, and their accuracy is not certainly below.

Full mode: eight splits a set beside LogisticRegressionCV and two beside scikit-activeml, whose committee is slow; some
minutes on one core; it resumes (``runs.py``).
"""

from __future__ import annotations

import json
import subprocess
import tempfile
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression, LogisticRegressionCV
from threadpoolctl import threadpool_limits

from adaptive import BayesianLogisticRegression, SequentialDesign
from adaptive.loop.comparison import interval
from experiments.active.shared.hyper_runs import EVERY, INITIAL, NAMES, QUESTIONS, rows_of
from experiments.benchmarks.peers.environments import python_of
from experiments.script import Script, command

GROUP = "hyper_rivals"
DEFAULTS, TUNED = "defaults", "LogisticRegressionCV, margin"
PEERS = ("badge", "query_by_committee")
RIVALS = (TUNED, *(f"scikit-activeml, {name}" for name in PEERS))
SPLITS = {DEFAULTS: 8, TUNED: 8}  # of the others two
ORDERS = Path(__file__).parents[1] / "benchmarks" / "peers" / "query_order.py"


def tuned(X: np.ndarray, y: np.ndarray) -> Any:
    """Return LogisticRegressionCV, or its plain kind where folds have too few labels."""
    if np.bincount(y, minlength=2).min() < 3:
        return LogisticRegression(max_iter=1000).fit(X, y)
    model = LogisticRegressionCV(
        Cs=5, cv=3, scoring="neg_log_loss", max_iter=500, l1_ratios=(0,), use_legacy_attributes=False
    )
    return model.fit(X, y)


def one_run(name: str, strategy: str, seed: int, questions: int) -> dict[str, np.ndarray]:
    """Return accuracy and log loss on the test rows, every five labels from the tenth on."""
    pool, labels, test, truth, first = rows_of(name, seed)
    found: dict[str, list[float]] = {"accuracy": [], "log loss": []}

    def judged(model: Any) -> None:
        p = np.clip(model.predict_proba(test)[:, 1], 1e-12, 1 - 1e-12)
        found["accuracy"].append(float(np.mean((p > 0.5) == truth)))
        found["log loss"].append(float(-np.mean(np.log(np.where(truth == 1, p, 1 - p)))))

    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if strategy == DEFAULTS:
            design = SequentialDesign(
                BayesianLogisticRegression(classes=[0, 1]), pool, lambda query: labels[query.positions],
                initial=first, random_state=seed,
            )  # fmt: skip
            for many in (INITIAL, *[EVERY] * (questions // EVERY)):
                judged(design.run(many).estimator_)
        elif strategy == TUNED:
            asked = first.tolist()
            for k in range(questions + 1):
                model = tuned(pool[asked], labels[asked])
                if k % EVERY == 0:
                    judged(model)
                left = np.setdiff1d(np.arange(len(pool)), asked)
                asked.append(int(left[np.argmin(np.abs(model.predict_proba(pool[left])[:, 1] - 0.5))]))
        else:
            order = peer_order(strategy.split(", ")[1], pool, labels, first, questions)
            for k in range(INITIAL, INITIAL + questions + 1, EVERY):
                judged(LogisticRegression(max_iter=1000).fit(pool[order[:k]], labels[order[:k]]))
    return {key: np.array(values) for key, values in found.items()}


def peer_order(method: str, X: np.ndarray, y: np.ndarray, first: np.ndarray, questions: int) -> list[int]:
    """Return positions in the order in which scikit-activeml asks, in its own environment."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "problems.npz"
        np.savez(path, X0=X, y0=y, first0=first, sizes=[INITIAL] + [1] * questions)
        line = [str(python_of("skactiveml")), str(ORDERS), "skactiveml", method, str(path), "0", "1"]
        return json.loads(subprocess.run(line, check=True, capture_output=True, text=True).stdout)[0]


def run(script: Script) -> None:
    """Run everything; write the table and the verdict."""
    names, rivals = (NAMES[:2], RIVALS[:1]) if script.quick else (NAMES, RIVALS)
    splits = {strategy: 2 if script.quick else SPLITS.get(strategy, 2) for strategy in (DEFAULTS, *rivals)}
    questions = 2 * EVERY if script.quick else QUESTIONS
    areas: dict[tuple[str, str], list[np.ndarray]] = {}
    for name in names:
        for strategy in (DEFAULTS, *rivals):
            runs = [script.kept(GROUP, one_run, name, strategy, seed, questions) for seed in range(splits[strategy])]
            for metric in ("accuracy", "log loss"):
                areas.setdefault((strategy, metric), []).append(np.array([one[metric].mean() for one in runs]))
        print(f"{name}: done", flush=True)
    said = f"{splits[TUNED]} splits a set beside LogisticRegressionCV, 2 beside scikit-activeml"
    columns: dict[str, list[Any]] = {"set": list(names)}
    for (strategy, metric), kept in areas.items():
        columns[f"{metric}, {strategy}"] = [round(float(one.mean()), 4) for one in kept]
    script.table(columns, "hyper-rivals", f"Means over runs of 10 to {10 + questions} labels, {said}.")
    value = {
        rival: {metric: _less(areas[DEFAULTS, metric], areas[rival, metric]) for metric in ("accuracy", "log loss")}
        for rival in rivals
    }
    open_still = [rival for rival, one in value.items() if not (one["log loss"][2] < 0 and one["accuracy"][2] > 0)]
    script.judge(
        "ours-hyper-beside-rivals",
        not open_still,
        claim="The defaults beside LogisticRegressionCV by margin and scikit-activeml's strategies: lower log loss, "
        f"accuracy not certainly lower ({len(names)} sets; {said}; 95% intervals over sets).",
        target="log loss certainly below, accuracy not certainly below",
        value=value,
        reason="; ".join(
            f"{rival}: the interval over sets is not on the right side of 0, though log loss is lower on "
            f"{_lower(areas[DEFAULTS, 'log loss'], areas[rival, 'log loss'])} of {len(names)}"
            for rival in open_still
        ),
    )


def _lower(ours: list[np.ndarray], theirs: list[np.ndarray]) -> int:
    """Return on how many sets ours is lower."""
    return sum(one[: len(other)].mean() < other.mean() for one, other in zip(ours, theirs, strict=True))


def _less(ours: list[np.ndarray], theirs: list[np.ndarray]) -> list[float]:
    """Return mean and 95% limits, over sets, of the difference on the splits that both have run."""
    apart = [np.mean(one[: len(other)] - other[: len(one)]) for one, other in zip(ours, theirs, strict=True)]
    return [round(float(one), 4) for one in interval(np.array(apart))]


if __name__ == "__main__":
    command(run, __doc__, __file__)
