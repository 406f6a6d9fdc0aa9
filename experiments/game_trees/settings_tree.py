"""No game: 500 hyper-parameter settings as a tree of three levels, with noisy validation scores.

A support vector machine on the breast cancer data, trained on 60 rows: five ways to prepare the columns, ten penalties,
ten kernel widths. A roll-out trains one setting on a random split and reports its accuracy on the rest. The tree's root
is what the best setting is worth; which setting to try next says the information about that. Beside it: a Gaussian
process on the settings (preparation as indicators, logarithms of the other two) with upper confidence bounds, and
random settings. Recommended is the setting with the best posterior mean of those tried, or the best score.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.decomposition import PCA
from sklearn.exceptions import ConvergenceWarning
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, QuantileTransformer, RobustScaler, StandardScaler
from sklearn.svm import SVC

from adaptive import GameTreeSearch
from experiments.script import Script, command, panels

PENALTIES, WIDTHS = np.logspace(-2, 3, 10), np.logspace(-4, 1, 10)
PREPARATIONS = (
    StandardScaler, MinMaxScaler, RobustScaler, lambda: QuantileTransformer(n_quantiles=30),
    lambda: make_pipeline(StandardScaler(), PCA(5)),
)  # fmt: skip
SETTINGS = [(a, b, c) for a in range(5) for b in range(10) for c in range(10)]
FIRST = 10  # random evaluations that all but the random rival begin with
TRAIN = 60


def scores(n_splits: int) -> dict[str, np.ndarray]:
    """Return (500, splits) accuracies on the rows that a split left out."""
    X, y = load_breast_cancer(return_X_y=True)
    found = np.zeros((len(SETTINGS), n_splits))
    for split in range(n_splits):
        rows = np.random.default_rng([0, split]).permutation(len(y))
        train, test = rows[:TRAIN], rows[TRAIN:]
        for a, prepared in enumerate(PREPARATIONS):
            scale = prepared().fit(X[train])
            before, after = scale.transform(X[train]), scale.transform(X[test])
            for place in range(100 * a, 100 * a + 100):
                _, b, c = SETTINGS[place]
                machine = SVC(C=PENALTIES[b], gamma=WIDTHS[c]).fit(before, y[train])
                found[place, split] = machine.score(after, y[test])
    return {"scores": found}


def features() -> np.ndarray:
    """Return (500, 7) what the flat process sees: indicators, and both logarithms to the unit interval."""
    return np.array([[*(a == k for k in range(5)), b / 9, c / 9] for a, b, c in SETTINGS], dtype=float)


def by_tree(ask: Any, n: int, rng: np.random.Generator) -> list[int]:
    """Return the setting recommended after each evaluation: information about the root, scores standardised."""
    first = rng.choice(len(SETTINGS), FIRST, replace=False)
    told = [ask(int(k)) for k in first]
    centre, spread = np.mean(told), max(float(np.std(told)), 1e-3)
    tree = GameTreeSearch(
        branching=lambda left, player: (5, 10, 10, 1)[4 - left], depth=4, players="max", results="value",
        score_variance=1.0, random_state=0,
    )  # fmt: skip
    outcomes = [((one - centre) / spread, 1) for one in told]
    tree.fit([SETTINGS[int(k)] for k in first], outcomes)
    recommended = [int(first[int(np.argmax(told[: k + 1]))]) for k in range(FIRST - 1)]
    asked = [int(k) for k in first]
    while True:
        recommended.append(asked[int(np.argmax(tree.predict_score([SETTINGS[k] for k in asked])))])
        if len(recommended) == n:
            return recommended
        asked.append(int(tree.select(SETTINGS, target="root", random_state=0)[0]))
        tree.partial_fit([SETTINGS[asked[-1]]], [((ask(asked[-1]) - centre) / spread, 1)])


def process() -> GaussianProcessRegressor:
    """Return the flat process: a kernel with a width for each column, noise, all by evidence."""
    kernel = ConstantKernel(1.0) * RBF(np.ones(7), (0.05, 20.0)) + WhiteKernel(0.1, (1e-4, 10.0))
    return GaussianProcessRegressor(kernel, normalize_y=True, n_restarts_optimizer=2, random_state=0)


def by_process(ask: Any, n: int, rng: np.random.Generator, deviations: float | None) -> list[int]:
    """Return the setting recommended after each evaluation; without deviations settings are asked at random."""
    X, model = features(), process()
    asked = [int(k) for k in rng.choice(len(SETTINGS), FIRST, replace=False)]
    told = [ask(k) for k in asked]
    recommended = [asked[int(np.argmax(told[: k + 1]))] for k in range(FIRST - 1)]
    while True:
        if len(asked) % 5 == 0:  # hyper-parameters at every fifth
            model = process().fit(X[asked], told)
            fixed = model.kernel_
        else:
            model = GaussianProcessRegressor(fixed, normalize_y=True, optimizer=None).fit(X[asked], told)
        mean, std = model.predict(X, return_std=True)
        recommended.append(max(asked, key=lambda k: mean[k]))
        if len(recommended) == n:
            return recommended
        asked.append(int(rng.integers(len(X))) if deviations is None else int(np.argmax(mean + deviations * std)))
        told.append(ask(asked[-1]))


def at_random(ask: Any, n: int, rng: np.random.Generator) -> list[int]:
    """Return the best by its own score so far, of settings in random order."""
    asked = [int(k) for k in rng.permutation(len(SETTINGS))[:n]]
    told = [ask(k) for k in asked]
    return [asked[int(np.argmax(told[: k + 1]))] for k in range(n)]


WAYS = {
    "tree, information": by_tree,
    "flat process, mean + 2 deviations": lambda ask, n, rng: by_process(ask, n, rng, 2.0),
    "random, by the process": lambda ask, n, rng: by_process(ask, n, rng, None),
    "random, best score": at_random,
}


def compared(n: int, n_splits: int, first: int, repeats: int) -> dict[str, np.ndarray]:
    """Return (repeats, n) regrets of each way; a seed's noise is drawn from half of the splits, truth is the rest."""
    table = scores(n_splits)["scores"]
    truth = table[:, n_splits // 2 :].mean(axis=1)
    found: dict[str, list[Any]] = {name: [] for name in WAYS}
    for seed in range(first, first + repeats):
        for name, way in WAYS.items():
            rng = np.random.default_rng([seed, 1])
            noise = np.random.default_rng([seed, 2])

            def ask(place: int, noise: np.random.Generator = noise) -> float:
                return float(table[place, noise.integers(n_splits // 2)])

            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ConvergenceWarning)
                found[name].append(truth.max() - truth[way(ask, n, rng)])
    return {name: np.array(rows) for name, rows in found.items()}


def run(script: Script) -> None:
    """Measure, draw, judge."""
    n, n_splits, repeats = (11, 2, 1) if script.quick else (60, 40, 12)
    found = script.kept("settings_tree", compared, n, n_splits, 0, repeats)
    half = n_splits // 2
    size = (
        f"{repeats} repetitions; the accuracies of {half} splits are noisy values, and the mean of {half} others "
        "is the truth"
    )
    figure, axes = panels(1, 1, 5.5, 3.4)
    for name, rows in found.items():
        axes[0, 0].plot(np.arange(1, n + 1), 100 * rows.mean(axis=0), label=name)
    axes[0, 0].set(xlabel="evaluations", ylabel="accuracy lost, percent", yscale="log")
    axes[0, 0].legend(frameon=False, fontsize="small")
    script.figure(
        figure, "trees-settings",
        f"Hyper-parameters of a support vector machine (500 settings, breast cancer, {TRAIN} rows to train): accuracy "
        f"that the recommended setting loses to the best one. {size}.",
    )  # fmt: skip
    if script.quick:
        return
    looks = [20, 40, 60]
    ours = found["tree, information"]
    differences, wins = {}, []
    for name, rows in found.items():
        if name == "tree, information":
            continue
        gain = 100 * (rows - ours)[:, FIRST:].mean(axis=1)
        width = 1.96 * gain.std(ddof=1) / np.sqrt(repeats)
        differences[name] = f"{gain.mean():+.3f} +- {width:.3f}"
        wins.append(gain.mean() - width > 0)
    script.judge(
        "ours-trees-settings", all(wins),
        claim="Hyper-parameters as a tree: information about the root finds better settings than random ones and than "
        "a flat Gaussian process, at equal numbers of evaluations.",
        target=f"accuracy lost, mean from {FIRST} to {n} evaluations: paired 95% intervals of all differences above 0",
        value={
            "percent that others lose more": differences,
            f"percent lost after {looks}": {
                name: [round(100 * float(rows[:, k - 1].mean()), 2) for k in looks] for name, rows in found.items()
            },
        },
        reason=size + ("." if all(wins) else ". The tree knows that settings share a preparation and a penalty, not "
        "that neighbouring penalties and widths are alike; the process does."), seed=f"0..{repeats - 1}",
    )  # fmt: skip


if __name__ == "__main__":
    command(run, __doc__, __file__)
