"""Pools of real rows for Gaussian processes: the defaults' questions against random ones, labels and numbers.

Labels: the four pools of `gp_designed.py`, 300 rows to ask from; ten random ones are shared, then 50 questions by the
default scorer of a `GaussianProcessClassifier` (predictive information gain about the pool) or at random. Log loss and
accuracy on 300 test rows; the log loss again with the leave-one-out factor on the latents' variances. Numbers:
diabetes, the proline of wines by their other columns, the asymmetry of seeds by theirs; half of the rows to ask from,
ten shared, 30 questions by the default scorer of a `GaussianProcessRegressor` (information gain), by predictive
information gain, or at random, with a kernel of the highest evidence and with kernels integrated. Negative log
predictive density on the other half, all columns and outcomes in units of the pool's deviations. The kernel: height,
length and noise, all learnt.

Judged: by the default scorers no set is worse than random rows by more than .005 accuracy or .015 nats, and the mean
over sets is not worse at all, each by its whole 95% interval (one that reaches across cannot tell); the worst run is
shown beside random's worst.

Full mode: twenty splits a set, some seven minutes on one core; it resumes (``runs.py``).
"""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any

import numpy as np
from scipy.spatial.distance import pdist
from sklearn.datasets import load_diabetes
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel
from threadpoolctl import threadpool_limits

from adaptive import GaussianProcessClassifier, GaussianProcessRegressor, SequentialDesign, datasets
from adaptive.loop.comparison import interval
from experiments.equivalence import all_of, inside
from experiments.gaussian_processes.gp_designed import POOLS, halves
from experiments.script import Script, command

GROUP = "hyper_pools"
NUMBERS = ("diabetes", "wine", "wheat_seeds")
WAYS = ("auto", "predictive_information_gain", "random")
BELIEFS = ("integrated", "mode")
FIRST, EVERY = 10, 5
REASONS = {
    "classification": "Banana's runs differ most from split to split.",
    "regression": "Of the seeds' asymmetry next to nothing can be learnt "
    "(rms error of random rows, too, 1.0 deviations).",
}
ALLOWED = {"accuracy": 0.005, "log loss": 0.015, "log density": 0.015}


def kernel_of(X: np.ndarray, noise: bool) -> Any:
    """Return height and length by the median distance, as those of `gp_designed.py`; numbers have noise, too."""
    apart = pdist(X)
    typical = float(np.median(apart[apart > 0]))
    length = RBF(typical, (0.25 * typical, 4.0 * typical))
    if noise:
        return ConstantKernel(1.0, (0.01, 100.0)) * length + WhiteKernel(0.3, (1e-3, 3.0))
    return ConstantKernel(4.0, (1.0, 100.0)) * length


def labels(name: str, way: str, seed: int, n: int) -> dict[str, np.ndarray]:
    """Return accuracy and log loss, without and with the factor, on test rows every five answers."""
    X, y, new, truth = halves(name, seed, 300, 300)
    first = np.random.default_rng([seed, 1]).permutation(len(X))[:FIRST]
    found: dict[str, list[float]] = {"accuracy": [], "log loss": [], "with the factor": []}
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = GaussianProcessClassifier(kernel_of(X, False), classes=[0, 1], calibration=None, hyperparameters="mode")
        design = SequentialDesign(
            model, X, lambda query: y[query.positions], scorer=way, initial=first,
            target=X if way == "auto" else None, random_state=seed,
        )  # fmt: skip
        for k in range(FIRST, n + 1, EVERY):
            design.run(FIRST if k == FIRST else EVERY)
            belief = design.estimator_.belief_
            factored = replace(belief, settings=replace(belief.settings, calibration="leave_one_out"))
            for key, one in (("log loss", belief), ("with the factor", factored)):
                p = np.clip(one.probabilities(new)[:, -1], 1e-12, 1 - 1e-12)
                found[key].append(float(-np.mean(np.log(np.where(truth == 1, p, 1 - p)))))
            found["accuracy"].append(float(np.mean((p > 0.5) == truth)))
    return {key: np.array(values) for key, values in found.items()}


def numbers(name: str, belief: str, way: str, seed: int, n: int) -> dict[str, np.ndarray]:
    """Return the negative log predictive density of test outcomes and their rms error every five answers."""
    table, column = load_diabetes(return_X_y=True) if name == "diabetes" else (datasets.uci(name)[0], None)
    if column is None:
        column = table[:, -1]  # of wines proline
        at = -1 if name == "wine" else 5
        column, table = table[:, at], np.delete(table, at, axis=1)
    order = np.random.default_rng([seed, 29]).permutation(len(table))
    X, y = table[order].astype(float), column[order].astype(float)
    half = len(X) // 2
    X, y = ((one - one[:half].mean(axis=0)) / one[:half].std(axis=0) for one in (X, y))
    pool, new, truth = X[:half], X[half:], y[half:]
    found: dict[str, list[float]] = {"log density": [], "error": []}
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = GaussianProcessRegressor(kernel_of(pool, True), hyperparameters=belief)
        design = SequentialDesign(
            model, pool, lambda query: y[query.positions], scorer=way, initial=np.arange(FIRST),
            target=pool if way.startswith("predictive") else None, random_state=seed,
        )  # fmt: skip
        for k in range(FIRST, n + 1, EVERY):
            design.run(FIRST if k == FIRST else EVERY)
            learnt = design.estimator_
            found["log density"].append(float(-np.mean(learnt.log_predictive(new, truth))))
            found["error"].append(float(np.sqrt(np.mean((learnt.predict(new) - truth) ** 2))))
    return {key: np.array(values) for key, values in found.items()}


def run(script: Script) -> None:
    """Run everything; write table and verdicts."""
    quick = script.quick
    areas: dict[tuple[str, str, str, str], np.ndarray] = {}  # by metric, set, belief and way: (seeds,)
    for name in POOLS[:1] if quick else POOLS:
        for way in ("auto", "random"):
            n, seeds = (FIRST + EVERY, 2) if quick else (60, 20)
            runs = [script.kept(GROUP, labels, name, way, seed, n) for seed in range(seeds)]
            for metric in ("accuracy", "log loss", "with the factor"):
                areas[metric, name, "mode", way] = np.array([one[metric].mean() for one in runs])
        print(f"{name}: done", flush=True)
    for name in NUMBERS[1:2] if quick else NUMBERS:
        for belief in BELIEFS:
            for way in WAYS[::2] if quick else WAYS:
                n, seeds = (FIRST, 2) if quick else (40, 20)
                runs = [script.kept(GROUP, numbers, name, belief, way, seed, n) for seed in range(seeds)]
                for metric in ("log density", "error"):
                    areas[metric, name, belief, way] = np.array([one[metric].mean() for one in runs])
        print(f"{name}: done", flush=True)
    columns: dict[str, list[Any]] = {}
    for (metric, name, belief, way), area in areas.items():
        row = (name, metric, belief, way, len(area), area.mean(), *_less_random(areas, metric, name, belief, way))
        worst = area.min() if metric == "accuracy" else area.max()
        keys = ("set", "metric", "kernel", "rows", "splits", "mean", "minus random", "lower", "upper", "worst run")
        for key, one in zip(keys, (*row, worst), strict=True):
            columns.setdefault(key, []).append(one if isinstance(one, (str, int)) else round(float(one), 4))
    script.table(
        columns,
        "hyper-pools",
        "Gaussian processes on pools of real rows: means over runs of 10 to 60 labels (40 numbers), paired differences "
        "to random rows of the same belief with 95% intervals over splits, and the worst run. Nats, shares, and "
        "deviations of the outcomes.",
    )
    judge(script, areas)


def _less_random(areas: Any, metric: str, name: str, belief: str, way: str) -> list[float]:
    found = interval(areas[metric, name, belief, way] - areas[metric, name, belief, "random"])
    return [round(float(one), 4) for one in found]


def judge(script: Script, areas: dict[tuple[str, str, str, str], np.ndarray]) -> None:
    """Record the verdicts."""
    for what, belief, metrics in (
        ("classification", "mode", ("accuracy", "log loss")),
        ("regression", "integrated", ("log density",)),
    ):
        names = list(dict.fromkeys(key[1] for key in areas if key[0] == metrics[-1]))
        found = {m: {name: _less_random(areas, m, name, belief, "auto") for name in names} for m in metrics}
        parts: dict[str, bool | None] = {}
        for m in metrics:
            apart = [areas[m, name, belief, "auto"] - areas[m, name, belief, "random"] for name in names]
            found[m]["mean over sets"] = [round(float(one), 4) for one in interval(np.mean(apart, axis=0))]
            for name, (_, low, high) in found[m].items():
                allowed = ALLOWED[m] if name in names else 0.0
                within = inside(low, high, least=-allowed) if m == "accuracy" else inside(low, high, most=allowed)
                parts[f"{name} ({m})"] = within
        lists = {
            words: ", ".join(name for name, part in parts.items() if part is verdict) or "none"
            for words, verdict in (("Certainly worse", False), ("cannot be told", None))
        }
        worst = {
            name: {way: round(float(areas[metrics[-1], name, belief, way].max()), 3) for way in ("auto", "random")}
            for name in names
        }
        splits = len(areas[metrics[-1], names[0], belief, "auto"])
        script.judge(
            f"ours-hyper-pools-{what}",
            all_of(parts.values()),
            claim=f"Pools, {what} by a Gaussian process ({belief}), its default scorer: no set worse than random rows, "
            f"nor their mean ({len(names)} sets, {splits} splits each, paired differences with 95% limits).",
            target="intervals within 0.005 accuracy and 0.015 nats on every set, their means' not worse than 0",
            value=found | {f"worst run's {metrics[-1]}": worst},
            reason=""
            if all_of(parts.values())
            else "; ".join(f"{words}: {some}" for words, some in lists.items()) + f". {REASONS[what]}",
        )
    names = list(dict.fromkeys(key[1] for key in areas if key[0] == "with the factor"))
    value, means = {}, []
    for way in ("auto", "random"):
        pairs = [[areas[m, name, "mode", way] for m in ("with the factor", "log loss")] for name in names]
        apart = {name: factored - plain for name, (factored, plain) in zip(names, pairs, strict=True)}
        apart["mean over sets"] = np.mean([apart[name] for name in names], axis=0)
        value[way] = {name: [round(float(one), 4) for one in interval(of)] for name, of in apart.items()}
        means.append(inside(*value[way]["mean over sets"][1:], most=0.0))
    n_splits = len(areas["log loss", names[0], "mode", "random"])
    higher = [name for name in names if any(one[name][1] > 0 for one in value.values())]
    script.judge(
        "ours-hyper-pools-factor",
        all_of(means),
        claim="The leave-one-out factor lowers the log loss of Gaussian process classifiers, mean over sets, on "
        f"designed and on random rows (the same runs: {len(names)} pools, {n_splits} splits each).",
        target="certainly below 0 on both",
        value=value,
        reason=f"Set by set it is not so: certainly higher on {', '.join(higher)}." if higher else "",
    )


if __name__ == "__main__":
    command(run, __doc__, __file__)
