"""Runs of `classifier_scorers.py`: twelve sets of labels, a way to ask, what is known after 10, 30 and 60 labels.

The first five labels are random rows that all ways share, two classes among them; of more than two classes five rows
are asked at once, by their single scores.
"""

from __future__ import annotations

import time
import warnings
from functools import cache
from typing import Any

import numpy as np
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression, LogisticRegressionCV
from threadpoolctl import threadpool_limits

from adaptive import BayesianLogisticRegression, SequentialDesign, datasets
from adaptive.loop.metrics import binned_gap
from experiments.active.shared.budget_runs import SETS

__all__ = ["ARMS", "CHOOSE", "CONFIRM", "MARKS", "METRICS", "RIVALS", "cost", "judged", "one_run", "split", "tuned"]

FIRST, MARKS, BATCH = 5, (10, 30, 60), 5
POOL, TEST = 300, 400
CHOOSE = ("crabs", "heart", "ionosphere", "diabetes", "wine", "usps")
CONFIRM = ("sonar", "thyroid", "australian", "german", "wheat_seeds", "digits")
ARMS: dict[str, tuple[str, float]] = {
    "committee, 15% random": ("query_by_committee", 0.15),
    "committee": ("query_by_committee", 0.0),
    "predictive information, 15% random": ("predictive_information_gain", 0.15),
    "predictive information": ("predictive_information_gain", 0.0),
    "margin, 15% random": ("margin", 0.15),
    "margin": ("margin", 0.0),
    "information": ("information_gain", 0.0),
    "random": ("random", 0.0),
}
RIVALS = ("LogisticRegressionCV, random", "LogisticRegressionCV, margin")
METRICS = {"accuracy": 1.0, "log loss": -1.0, "calibration error": -1.0}  # sign: larger is better


@cache
def table_of(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Return rows and codes of a set."""
    if name in SETS:
        X, y = SETS[name]()
    elif name == "usps":
        X, y = datasets.usps(digits=None)
        X = X[:, ::3]
    elif name == "digits":
        X, y = load_digits(return_X_y=True)
    else:
        X, y = datasets.uci(name)
    return np.asarray(X, dtype=float), np.unique(y, return_inverse=True)[1]


def split(name: str, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return rows and codes of pool and test, in units of the pool; the first rows hold two classes or more."""
    X, y = table_of(name)
    rng = np.random.default_rng([seed, 34])
    order = rng.permutation(len(y))
    n = min(POOL, round(0.6 * len(y)))
    while len(np.unique(y[order[:FIRST]])) < 2:
        order[:n] = rng.permutation(order[:n])
    pool, test = order[:n], order[n : n + TEST]
    deviation = X[pool].std(axis=0)
    X = (X - X[pool].mean(axis=0)) / np.maximum(deviation, 0.1 * deviation.mean() + 1e-12)  # corners of images: often 0
    return X[pool], y[pool], X[test], y[test]


def judged(table: np.ndarray, truth: np.ndarray) -> dict[str, float]:
    """Return the metrics of probabilities (m, c)."""
    winners = np.argmax(table, axis=1)
    right = winners == truth
    said = np.maximum(table[np.arange(len(truth)), truth], 1e-12)
    gap = binned_gap(table.max(axis=1), right)
    return {"accuracy": float(right.mean()), "log loss": float(-np.log(said).mean()), "calibration error": float(gap)}


def tuned(X: Any, y: np.ndarray, n_classes: int, solver: str = "newton-cholesky") -> Any:
    """Return a function that says probabilities: LogisticRegressionCV as its users have it.

    Ten strengths; five folds, or as many as the rarest class has labels; of default strength where there are no two.
    Of many columns "lbfgs" is quicker.
    """
    codes, counts = np.unique(y, return_counts=True)
    folds = min(5, int(counts.min()))
    if folds < 2:
        model = LogisticRegression(max_iter=1000).fit(X, y)
    else:
        model = LogisticRegressionCV(
            Cs=10, cv=folds, scoring="neg_log_loss", solver=solver, max_iter=500, l1_ratios=(0,),
            use_legacy_attributes=False,
        ).fit(X, y)  # fmt: skip
    unseen = 1.0 / (len(y) + n_classes)

    def probabilities(rows: Any) -> np.ndarray:
        table = np.full((rows.shape[0], n_classes), unseen)
        table[:, codes] = model.predict_proba(rows) * (1.0 - unseen * (n_classes - len(codes)))
        return table

    return probabilities


def one_run(name: str, arm: str, seed: int, most: int) -> dict[str, np.ndarray]:
    """Return the metrics at the marks up to ``most`` labels, and the processor's seconds of a label."""
    pool, labels, test, truth = split(name, seed)
    n_classes = int(labels.max()) + 1
    size = 1 if n_classes == 2 else BATCH
    marks = [mark for mark in MARKS if mark <= most]
    found: dict[str, list[float]] = {metric: [] for metric in METRICS}
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        begun = time.process_time()
        if arm in RIVALS:
            asked = list(range(FIRST))
            for n in range(FIRST, most + 1, size):
                model = None
                if n in marks or arm.endswith("margin"):
                    model = tuned(pool[asked], labels[asked], n_classes)
                if model is not None and n in marks:
                    for metric, one in judged(model(test), truth).items():
                        found[metric].append(one)
                left = np.setdiff1d(np.arange(len(pool)), asked)
                if arm.endswith("margin") and model is not None:
                    best = np.sort(model(pool[left]), axis=1)
                    left = left[np.argsort(best[:, -1] - best[:, -2], kind="stable")]
                asked += left[:size].tolist()  # the pool was shuffled: the first are random ones
        else:
            scorer, share = ARMS[arm]
            design = SequentialDesign(
                BayesianLogisticRegression(classes=range(n_classes)), pool, lambda query: labels[query.positions],
                scorer=scorer, exploration=share, initial=np.arange(FIRST), batch_size=size, joint=False,
                random_state=seed,
            )  # fmt: skip
            for before, mark in zip((0, *marks), marks, strict=False):
                design.run((mark - before) // size if size > 1 or before else mark)
                for metric, one in judged(design.estimator_.predict_proba(test), truth).items():
                    found[metric].append(one)
        took = (time.process_time() - begun) / most
    return {metric: np.array(values) for metric, values in found.items()} | {"seconds": np.array(took)}


def cost(n: int, scorer: str) -> dict[str, np.ndarray]:
    """Return the processor's seconds of one question and its answer, the median of three, after 30 labels of n rows."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, 20))
    y = (rng.random(n) < 1 / (1 + np.exp(-X @ rng.standard_normal(20)))).astype(int)
    with threadpool_limits(1):
        design = SequentialDesign(
            BayesianLogisticRegression(classes=[0, 1]), X, lambda query: y[query.positions], scorer=scorer,
            exploration=0.0, initial=30, random_state=0,
        )  # fmt: skip
        design.run(31)
        took = []
        for _ in range(3):
            begun = time.process_time()
            design.run(1)
            took.append(time.process_time() - begun)
    return {"seconds": np.array(took)}
