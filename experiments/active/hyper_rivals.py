"""The defaults beside two rivals that are given care: LogisticRegressionCV by margin, and scikit-activeml's strategies.

The runs of `hyper_defaults.py`: twelve sets, ten random labels and sixty questions. LogisticRegressionCV chooses its
strength by log loss, with scikit-learn's settings (ten of them, five folds, or as many as the rarer class has labels;
its default strength while it has one) and is asked by margin. scikit-activeml's margin, badge and query by committee
ask from its own locked environment, and
scikit-learn's LogisticRegression learns the labels in that order. Judged: on average over the sets the defaults' log
loss is below every rival's, and their accuracy at most .005 lower, by whole 95% intervals over splits as everywhere
else; how far the differences vary from set to set is shown beside them.

Full mode: eight splits a set beside LogisticRegressionCV and four beside scikit-activeml, whose committee is slow;
a quarter of an hour on one core; it resumes (``runs.py``).
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

from adaptive.loop.comparison import interval
from experiments.active.shared import hyper_runs
from experiments.active.shared.hyper_runs import EVERY, INITIAL, NAMES, QUESTIONS, RECIPE, rows_of
from experiments.benchmarks.peers.environments import python_of
from experiments.equivalence import all_of, inside
from experiments.script import Script, command

GROUP = "hyper_rivals"
METRICS = ("accuracy", "log loss")
STRENGTH = "strength"
TUNED = "LogisticRegressionCV, margin"
PEERS = ("margin", "badge", "query_by_committee")
RIVALS = (TUNED, *(f"scikit-activeml, {name}" for name in PEERS))
EPSILON = float(np.finfo(float).eps)
SPLITS = {TUNED: 8}  # of scikit-activeml as many as are asked together
TOGETHER = 4
ALLOWED = 0.005  # of accuracy that may be lost
WORDS = {False: "certainly not", None: "cannot be told"}
ORDERS = Path(__file__).parents[1] / "benchmarks" / "peers" / "query_order.py"


def tuned(X: np.ndarray, y: np.ndarray) -> Any:
    """Return LogisticRegressionCV as its users have it, or its plain kind where there are no two folds."""
    folds = min(5, int(np.bincount(y, minlength=2).min()))
    if folds < 2:
        return LogisticRegression(max_iter=1000).fit(X, y)
    model = LogisticRegressionCV(
        Cs=10, cv=folds, scoring=log_score, solver="newton-cholesky", max_iter=500, l1_ratios=(0,),
        use_legacy_attributes=False,
    )  # fmt: skip
    return model.fit(X, y)


def log_score(model: Any, X: np.ndarray, y: np.ndarray) -> float:
    """Return what scikit-learn calls "neg_log_loss", without its checks: they take half of a fit's time."""
    p = np.clip(model.predict_proba(X)[:, 1], EPSILON, 1 - EPSILON)
    return float(np.mean(np.log(np.where(y == 1, p, 1 - p))))


def one_run(name: str, seed: int, questions: int) -> dict[str, np.ndarray]:
    """Return accuracy, log loss and chosen C of LogisticRegressionCV by margin, every five labels from the tenth on."""
    pool, labels, test, truth, first = rows_of(name, seed)
    found: dict[str, list[float]] = {metric: [] for metric in (*METRICS, STRENGTH)}
    asked = first.tolist()
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for k in range(questions + 1):
            model = tuned(pool[asked], labels[asked])
            if k % EVERY == 0:
                for metric, one in judged(model, test, truth).items():
                    found[metric].append(one)
                found[STRENGTH].append(float(model.C_ if isinstance(model, LogisticRegressionCV) else model.C))
            left = np.setdiff1d(np.arange(len(pool)), asked)
            asked.append(int(left[np.argmin(np.abs(model.predict_proba(pool[left])[:, 1] - 0.5))]))
    return {metric: np.array(values) for metric, values in found.items()}


def peer_runs(name: str, method: str, start: int, questions: int) -> dict[str, np.ndarray]:
    """Return the same of LogisticRegression in scikit-activeml's orders, (splits, checkpoints), all from one process.

    That is of ``TOGETHER`` splits from ``start`` on; a split's number is the strategy's seed.
    """
    splits = {seed: rows_of(name, seed) for seed in range(start, start + TOGETHER)}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "problems.npz"
        problems = {}
        for k, (pool, labels, _, _, first) in splits.items():
            problems |= {f"X{k}": pool, f"y{k}": labels, f"first{k}": first}
        np.savez(path, sizes=[INITIAL] + [1] * questions, **problems)
        line = [str(python_of("skactiveml")), str(ORDERS), "skactiveml", method, str(path), str(start), str(TOGETHER)]
        orders = json.loads(subprocess.run(line, check=True, capture_output=True, text=True).stdout)
    found: dict[str, list[list[float]]] = {metric: [] for metric in METRICS}
    ends = range(INITIAL, INITIAL + questions + 1, EVERY)
    with threadpool_limits(1):
        for (pool, labels, test, truth, _), order in zip(splits.values(), orders, strict=True):
            models = [LogisticRegression(max_iter=1000).fit(pool[order[:k]], labels[order[:k]]) for k in ends]
            said = [judged(model, test, truth) for model in models]
            for metric in METRICS:
                found[metric].append([one[metric] for one in said])
    return {metric: np.array(values) for metric, values in found.items()}


def judged(model: Any, test: np.ndarray, truth: np.ndarray) -> dict[str, float]:
    """Return accuracy and log loss of a model on the test rows."""
    p = np.clip(model.predict_proba(test)[:, 1], 1e-12, 1 - 1e-12)
    loss = -np.mean(np.log(np.where(truth == 1, p, 1 - p)))
    return {"accuracy": float(np.mean((p > 0.5) == truth)), "log loss": float(loss)}


def all_areas(script: Script, names: tuple[str, ...], splits: dict[str, int]) -> dict[tuple[str, str], np.ndarray]:
    """Return mean heights of curves by strategy and metric, (sets, splits); in quick mode without scikit-activeml."""
    questions = 2 * EVERY if script.quick else QUESTIONS
    areas: dict[tuple[str, str], list[np.ndarray]] = {}
    for name in names:
        seeds = range(max(splits.values()))
        ours = [script.kept(hyper_runs.GROUP, hyper_runs.run, name, RECIPE, seed, questions) for seed in seeds]
        theirs = [script.kept(GROUP, one_run, name, seed, questions) for seed in range(splits[TUNED])]
        areas.setdefault((TUNED, STRENGTH), []).append(np.array([np.median(one[STRENGTH]) for one in theirs]))
        for metric in METRICS:
            areas.setdefault((RECIPE, metric), []).append(np.array([one[metric].mean() for one in ours]))
            areas.setdefault((TUNED, metric), []).append(np.array([one[metric].mean() for one in theirs]))
        for rival in splits:
            if rival == TUNED:
                continue
            starts = range(0, splits[rival], TOGETHER)
            parts = [script.kept(GROUP, peer_runs, name, rival.split(", ")[1], k, questions) for k in starts]
            for metric in METRICS:
                heights = np.concatenate([one[metric].mean(axis=1) for one in parts])
                areas.setdefault((rival, metric), []).append(heights)
        print(f"{name}: done", flush=True)
    return {key: np.stack(one) for key, one in areas.items()}


def run(script: Script) -> None:
    """Run everything; write the table and the verdict."""
    names, rivals = (NAMES[:2], RIVALS[:1]) if script.quick else (NAMES, RIVALS)
    splits = {rival: 2 if script.quick else SPLITS.get(rival, TOGETHER) for rival in rivals}
    areas = all_areas(script, names, splits)
    columns: dict[str, list[Any]] = {"set": list(names)}
    for (strategy, metric), one in areas.items():
        middle = np.median(one, axis=1) if metric == STRENGTH else one.mean(axis=1)
        columns[f"{metric}, {strategy}"] = middle.round(4).tolist()
    size = f"{splits[TUNED]} splits a set beside LogisticRegressionCV, {TOGETHER} beside scikit-activeml"
    script.table(
        columns, "hyper-rivals",
        f"Means over runs of 10 to 70 labels, {size}. LogisticRegressionCV: ten strengths, five folds, by log loss; "
        "the strength is the median of those chosen. scikit-activeml's strategies have its own settings, learnt by "
        "LogisticRegression at C = 1.",
    )  # fmt: skip
    value: dict[str, dict[str, Any]] = {}
    parts: dict[str, bool | None] = {}
    for rival in rivals:
        k = splits[rival]
        apart = {metric: areas[RECIPE, metric][:, :k] - areas[rival, metric] for metric in METRICS}  # (sets, splits)
        value[rival] = {metric: limits(one.mean(axis=0)) for metric, one in apart.items()}
        value[rival] |= {f"{metric}, from set to set": limits(one.mean(axis=1)) for metric, one in apart.items()}
        value[rival]["lower log loss on"] = int(np.sum(apart["log loss"].mean(axis=1) < 0))
        parts[f"{rival} (log loss)"] = inside(*value[rival]["log loss"][1:], most=0.0)
        parts[f"{rival} (accuracy)"] = inside(*value[rival]["accuracy"][1:], least=-ALLOWED)
    short = ", ".join(f"{name}: {WORDS[part]}" for name, part in parts.items() if part is not True)
    wide = [
        f"{rival} (lower on {one['lower log loss on']} of {len(names)})"
        for rival, one in value.items()
        if one["log loss, from set to set"][2] > 0
    ]
    note = (
        f"Over sets, which differ more than splits, log loss is not certainly lower: {', '.join(wide)}" if wide else ""
    )
    script.judge(
        "ours-hyper-beside-rivals",
        all_of(parts.values()),
        claim="The defaults beside LogisticRegressionCV by margin and scikit-activeml's strategies: lower log loss, "
        f"accuracy at most 0.005 lower ({len(names)} sets; {size}; 95% intervals over splits).",
        target="intervals of log loss below 0, of accuracy above -0.005",
        value=value,
        reason=". ".join(filter(None, (short, note))),
    )


def limits(differences: np.ndarray) -> list[float]:
    """Return a mean with its 95% limits, to four digits."""
    return [round(float(one), 4) for one in interval(differences)]


if __name__ == "__main__":
    command(run, __doc__, __file__)
