"""Labelling runs on two real data sets: what a model says about rows it never asks, after every answer.

Each seed splits the rows in halves, a pool to ask from and rows to test on, and draws two first questions; all scorers
share both. Digits are pixels in [0, 1]; the features of breast cancer are in units of the pool's own means and standard
deviations. Labels are 0 and 1.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import joblib
import numpy as np
from threadpoolctl import threadpool_limits

from adaptive import BayesianLogisticRegression, SequentialDesign, datasets
from experiments.runs import kept
from experiments.statistics import standardised

DATASETS = {"digits": datasets.digits_pair, "breast-cancer": datasets.breast_cancer}
TITLES = {"digits": "digits 3 against 5", "breast-cancer": "breast cancer"}
SCORERS = (
    "information_gain",
    "variational_information_gain",
    "predictive_information_gain",
    "uncertainty",
    "random",
)
INITIAL = 2
GROUP = "active_against_random"

Run: TypeAlias = dict[str, np.ndarray]
Runs: TypeAlias = dict[tuple[str, str, int], Run]  # by data set, scorer and seed


def split(name: str, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return pool rows and labels, test rows and labels."""
    X, y = DATASETS[name]()
    order = np.random.default_rng([seed, 0]).permutation(len(X))
    pool, test = np.sort(order[: len(X) // 2]), np.sort(order[len(X) // 2 :])
    if name == "breast-cancer":
        X = standardised(X, pool)
    y = (y == y.max()).astype(int)
    return X[pool], y[pool], X[test], y[test]


def labelling_run(name: str, scorer: str, seed: int, n_queries: int) -> Run:
    """Return the test rows' probabilities of class 1 after each answer from the second on, and what was asked.

    With the scorer "all" there is one answer: that of the model that was told all of the pool.
    """
    X, y, X_test, y_test = split(name, seed)
    estimator = BayesianLogisticRegression(classes=[0, 1], hyperparameters="mode")
    with threadpool_limits(1):
        if scorer == "all":
            probabilities = [estimator.fit(X, y).predict_proba(X_test)[:, 1]]
            return {"probabilities": np.array(probabilities), "labels": y_test}
        first = np.random.default_rng([seed, 1]).permutation(len(X))[:INITIAL]
        target = X if scorer == "predictive_information_gain" else None  # the inputs that predictions are wanted for
        loop = SequentialDesign(
            estimator, X, scorer=scorer, target=target, initial=first, exploration=0, random_state=seed
        )
        query, probabilities, positions = loop.ask(INITIAL), [], []
        while True:
            loop.tell(query, y[query.positions])
            positions.extend(query.positions)
            probabilities.append(loop.estimator_.predict_proba(X_test)[:, 1])
            if len(positions) >= n_queries:
                return {"probabilities": np.array(probabilities), "labels": y_test, "positions": np.array(positions)}
            query = loop.ask(1)


def all_runs(n_seeds: int, n_queries: int, *, keep: bool) -> Runs:
    """Return every run, by two processes; with ``keep`` those kept earlier are read again."""
    keys = [(name, scorer, seed) for name in DATASETS for seed in range(n_seeds) for scorer in (*SCORERS, "all")]
    if not keep:
        return {key: labelling_run(*key, n_queries) for key in keys}
    calls = (joblib.delayed(kept)(GROUP, labelling_run, *key, n_queries) for key in keys)
    return dict(zip(keys, joblib.Parallel(n_jobs=2)(calls), strict=True))


def of(runs: Runs, name: str, scorer: str) -> list[Run]:
    """Return the runs of one data set and scorer, by seed."""
    return [run for (one, other, _), run in sorted(runs.items()) if (one, other) == (name, scorer)]


def pooled(runs: Runs, name: str, scorer: str, n_labelled: int) -> tuple[np.ndarray, np.ndarray]:
    """Return probabilities and labels of all seeds' test rows after that many answers."""
    found = of(runs, name, scorer)
    probabilities = np.concatenate([run["probabilities"][n_labelled - INITIAL] for run in found])
    return probabilities, np.concatenate([run["labels"] for run in found])


def log_loss(probabilities: np.ndarray, labels: np.ndarray) -> Any:
    """Return the mean of -ln p(label) over the last axis, in nats."""
    of_label = np.where(labels == 1, probabilities, 1 - probabilities)
    return -np.mean(np.log(np.maximum(of_label, 1e-300)), axis=-1)


def accuracy(probabilities: np.ndarray, labels: np.ndarray) -> Any:
    """Return the share of right labels over the last axis."""
    return np.mean((probabilities > 0.5) == (labels == 1), axis=-1)
