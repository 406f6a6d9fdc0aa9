"""Few labels on twelve public sets: 40% test rows, 10 random labels, 60 questions, measured every five labels.

Columns are in units of the pool's means and deviations. Two sets come again with 15% of all labels flipped. A run says
accuracy, log loss and calibration error on the test rows, whose probabilities are those of the estimator that asked.
Splits of one set share rows: intervals over them tell two strategies apart on these rows, not on others like them.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression
from threadpoolctl import threadpool_limits

from adaptive import BayesianLogisticRegression, SequentialDesign
from adaptive.loop.metrics import binned_gap
from experiments.active.shared.budget_runs import SETS
from experiments.statistics import standardised

GROUP = "hyper_defaults"
INITIAL, QUESTIONS, EVERY = 10, 60, 5
TEST_SHARE, FLIPPED = 0.4, 0.15
NAMES = (
    "crabs", "sonar", "thyroid", "heart", "heart flipped", "haberman", "ionosphere", "breast", "australian", "diabetes",
    "german", "german flipped",
)  # fmt: skip
RECIPE = "integrated, committee and 15% random"  # the defaults: scripts that stand beside them share these runs
# estimator, scorer, exploration
STRATEGIES: dict[str, tuple[str, str, float]] = {
    RECIPE: ("integrated", "query_by_committee", 0.15),
    "integrated, margin": ("integrated", "margin", 0.0),
    "integrated, random": ("integrated", "random", 0.0),
    "mode, margin": ("mode", "margin", 0.0),
    "mode, random": ("mode", "random", 0.0),
    "logistic, margin": ("logistic", "margin", 0.0),
}


def rows_of(name: str, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return pool rows and labels, test rows and labels, and the first positions, both classes among them."""
    X, y = SETS[name.removesuffix(" flipped")]()
    y = (y == np.unique(y)[-1]).astype(int)
    rng = np.random.default_rng([seed, 15])
    if name.endswith("flipped"):
        y = np.where(rng.random(len(y)) < FLIPPED, 1 - y, y)
    order = rng.permutation(len(y))
    n_test = round(TEST_SHARE * len(y))
    test, pool = order[:n_test], order[n_test:]
    X = standardised(X, pool)
    first = np.arange(INITIAL)
    while len(np.unique(y[pool[first]])) < 2:
        first = rng.choice(len(pool), INITIAL, replace=False)
    return X[pool], y[pool], X[test], y[test], first


def run(name: str, strategy: str, seed: int, questions: int) -> dict[str, np.ndarray]:
    """Return numbers of labels n, and accuracy, log loss and calibration error after them."""
    pool, labels, test, truth, first = rows_of(name, seed)
    kind, scorer, exploration = STRATEGIES[strategy]
    model: Any = LogisticRegression(max_iter=1000)
    if kind != "logistic":
        model = BayesianLogisticRegression(classes=[0, 1], hyperparameters=kind)
    found: dict[str, list[float]] = {key: [] for key in ("n", "accuracy", "log loss", "calibration error")}
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        design = SequentialDesign(
            model, pool, lambda query: labels[query.positions], scorer=scorer, exploration=exploration, initial=first,
            batch_size=1, random_state=seed,
        )  # fmt: skip
        design.tell(design.ask(INITIAL), labels[first])
        for k in range(0, questions + 1, EVERY):
            if k:
                design.run(EVERY)
            p = np.clip(design.estimator_.predict_proba(test)[:, 1], 1e-12, 1 - 1e-12)
            found["n"].append(INITIAL + k)
            found["accuracy"].append(float(np.mean((p > 0.5) == truth)))
            found["log loss"].append(float(-np.mean(np.log(np.where(truth == 1, p, 1 - p)))))
            sure = np.maximum(p, 1 - p)
            found["calibration error"].append(binned_gap(sure, (p > 0.5) == truth))
    return {key: np.array(values) for key, values in found.items()}
