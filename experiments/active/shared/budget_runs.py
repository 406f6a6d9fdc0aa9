"""Runs of one protocol: 40% test rows, 20 random labels to start with, then questions until the pool is exhausted.

The protocol of Lu et al. (2023, arXiv 2306.08954), with one reduction: from 120 labels on, five are asked for at a time
(those of the five highest scores). A *strategy* gives the order in which a pool's labels are asked for:
a scorer of ours on the posterior of ``BayesianLogisticRegression`` (defaults: the prior scale is learnt anew after
every answer), "logistic margin" (our loop around scikit-learn's LogisticRegression), "svm margin" (the querying model
of the published figures), or a strategy of a peer in its own environment. A *task model* then learns the labels in that
order, and its accuracy on the test rows is the learning curve, beside it its log loss and calibration error: every
strategy is judged on the same posterior and on scikit-learn's LogisticRegression, whichever model asked. Features are
in units of the pool's means and deviations.

margin, entropy, least_confident and uncertainty order two classes alike; margin stands for all four, as
information_gain does for consensus_divergence. density_weighted is uncertainty times the density.
"""

from __future__ import annotations

import json
import subprocess
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import sklearn
from sklearn.linear_model import LogisticRegression
from sklearn.svm import SVC
from threadpoolctl import threadpool_limits

from adaptive import BayesianLogisticRegression, SequentialDesign, datasets, scorers
from adaptive.loop.metrics import METRICS
from experiments.benchmarks.peers.environments import python_of
from experiments.runs import kept
from experiments.statistics import standardised

GROUP = "active_budget"
PROBABILITIES = ("log_loss", "calibration_error")  # of task models that have probabilities
INITIAL = 20
TEST_SHARE = 0.4
N_TARGETS = 100  # pool rows, drawn by the seed, whose predictions some scorers are about
PEER_SEEDS = 10  # a peer's environment is started once for so many seeds
DENSE = 120  # one question at a time up to here, then five; accuracy is measured after each query
SETS: dict[str, Callable[[], tuple[Any, np.ndarray]]] = {  # by the size of the pool
    "crabs": lambda: datasets.uci("crabs"),
    "sonar": lambda: datasets.uci("sonar"),
    "thyroid": lambda: datasets.raetsch("thyroid"),
    "heart": lambda: datasets.raetsch("heart"),
    "haberman": lambda: datasets.uci("haberman"),
    "ionosphere": lambda: datasets.uci("ionosphere"),
    "wdbc": datasets.breast_cancer,
    "breast": lambda: datasets.uci("breast_cancer_wisconsin"),
    "australian": lambda: _dense(*datasets.libsvm("australian")),
    "diabetes": lambda: datasets.uci("pima"),
    "german": lambda: datasets.raetsch("german"),
}
OURS = (
    "margin",
    "information_gain",
    "predictive_information_gain",
    "variational_information_gain",
    "expected_error_reduction",
    "query_by_committee",
    "core_set",
    "badge",
    "density_weighted",
    "predictive_variance",
    "a_optimality",
    "d_optimality",
)
WITH_TARGET = ("predictive_information_gain", "expected_error_reduction")
POINT = ("logistic margin", "svm margin")
PEERS = (
    "modal margin",
    "modal committee",
    "skactiveml query_by_committee",
    "skactiveml core_set",
    "skactiveml discriminative",
    "skactiveml badge",
    "skactiveml probabilistic",
)


def _dense(X: Any, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return X.toarray(), y


def split(name: str, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return pool rows and labels, test rows and labels, and the first positions (of both classes)."""
    X, y = SETS[name]()
    y = (y == np.unique(y)[-1]).astype(int)
    rng = np.random.default_rng([seed, 0])
    order = rng.permutation(len(X))
    n_test = round(TEST_SHARE * len(X))
    test, pool = np.sort(order[:n_test]), np.sort(order[n_test:])
    X = standardised(X, pool)
    first = rng.permutation(len(pool))[:INITIAL]
    while len(np.unique(y[pool][first])) < 2:
        first = rng.permutation(len(pool))[:INITIAL]
    return X[pool], y[pool], X[test], y[test], first


def moments(n: int) -> np.ndarray:
    """Return the numbers of labels at which a query is learnt and the accuracy measured, ``n`` at the end."""
    dense = np.arange(INITIAL, min(DENSE, n) + 1)
    return np.unique(np.concatenate([dense, np.arange(DENSE, n + 1, 5), [n]]))


def run(name: str, strategy: str, seed: int, most: int) -> dict[str, np.ndarray]:
    """Return the order of questions and the learning curve of each task model; ``most`` > 0 labels at most."""
    X, y, X_test, y_test, first = split(name, seed)
    trusted = sklearn.config_context(assume_finite=True, skip_parameter_validation=True)  # thousands of small fits
    with threadpool_limits(1), warnings.catch_warnings(), trusted:
        warnings.simplefilter("ignore")
        n = moments(len(X) if most == 0 else most)
        found = {"n": n}
        if strategy in OURS:
            order, curves = by_posterior(strategy, seed, X, y, first, n, X_test, y_test)
            found |= curves
        else:
            order = order_of(name, strategy, seed, X, y, first, n)
        for task in ("bayes", "logistic", "svm"):
            if task not in found and (task != "svm" or strategy in ("svm margin", "random")):
                found |= curve(task, X, y, order, n, X_test, y_test)
    return found | {"order": order}


def by_posterior(
    scorer: str, seed: int, X: np.ndarray, y: np.ndarray, first: np.ndarray, n: np.ndarray, X_test: np.ndarray,
    y_test: np.ndarray,
) -> tuple[np.ndarray, dict[str, np.ndarray]]:  # fmt: skip
    """Return the order in which a scorer of ours asks the posterior, and that posterior's curves after n labels."""
    about = np.random.default_rng([seed, 2]).permutation(len(X))[:N_TARGETS]
    target = X[about] if scorer in WITH_TARGET else None
    score = scorers.density_weighted("uncertainty") if scorer == "density_weighted" else scorer
    estimator = BayesianLogisticRegression(classes=[0, 1], hyperparameters="mode")
    loop = SequentialDesign(
        estimator, X, scorer=score, target=target, initial=first, exploration=0, joint=False, random_state=seed
    )
    measured = []
    for size in sizes(n):
        query = loop.ask(size)
        loop.tell(query, y[query.positions])
        measured.append(on_test_rows("bayes", loop.estimator_, X_test, y_test))
    return np.array(loop.history_["position"]), _by_name(measured)


def on_test_rows(task: str, model: Any, X_test: np.ndarray, y_test: np.ndarray) -> dict[str, float]:
    """Return a task model's accuracy, under the task's name, and what its probabilities are worth."""
    found = {task: METRICS["accuracy"](model, X_test, y_test)}
    if hasattr(model, "predict_proba"):
        found |= {f"{task} {name}": METRICS[name](model, X_test, y_test) for name in PROBABILITIES}
    return found


def _by_name(measured: list[dict[str, float]]) -> dict[str, np.ndarray]:
    return {name: np.array([one[name] for one in measured]) for name in measured[0]}


def order_of(
    name: str, strategy: str, seed: int, X: np.ndarray, y: np.ndarray, first: np.ndarray, n: np.ndarray
) -> np.ndarray:
    """Return the first positions in the order in which a strategy without our posterior asks for them."""
    if strategy in PEERS:
        return kept(GROUP, peer_orders, name, strategy, seed - seed % PEER_SEEDS)[str(seed)][: n[-1]]
    if strategy == "random":
        rest = np.setdiff1d(np.arange(len(X)), first)
        return np.concatenate([first, np.random.default_rng([seed, 1]).permutation(rest)])[: n[-1]]
    if strategy == "svm margin":
        return _svm_margin(X, y, first, n)
    loop = SequentialDesign(
        LogisticRegression(), X, scorer="margin", initial=first, exploration=0, joint=False, random_state=seed
    )
    for size in sizes(n):
        query = loop.ask(size)
        loop.tell(query, y[query.positions])
    return np.array(loop.history_["position"])


def sizes(n: np.ndarray) -> list[int]:
    """Return how many labels each query asks for, the initial one first."""
    return np.diff(n, prepend=0).tolist()


def _svm_margin(X: np.ndarray, y: np.ndarray, first: np.ndarray, n: np.ndarray) -> np.ndarray:
    """Uncertainty sampling with scikit-learn's support vector machine: the rows nearest to the boundary."""
    order, left = first.tolist(), np.setdiff1d(np.arange(len(X)), first)
    for size in sizes(n)[1:]:
        distance = np.abs(SVC().fit(X[order], y[order]).decision_function(X[left]))
        order.extend(left[np.argsort(distance, kind="stable")[:size]].tolist())
        left = np.setdiff1d(left, order)
    return np.array(order)


def curve(
    task: str, X: np.ndarray, y: np.ndarray, order: np.ndarray, n: np.ndarray, X_test: np.ndarray, y_test: np.ndarray
) -> dict[str, np.ndarray]:
    """Return what a task model is worth on the test rows after the first n labels of an order."""
    measured, learner, known = [], BayesianLogisticRegression(classes=[0, 1], hyperparameters="mode"), 0
    for many in n:
        if task == "bayes":
            learner.partial_fit(X[order[known:many]], y[order[known:many]])
        else:
            model = LogisticRegression() if task == "logistic" else SVC()
            learner = model.fit(X[order[:many]], y[order[:many]])
        known = many
        measured.append(on_test_rows(task, learner, X_test, y_test))
    return _by_name(measured)


def peer_orders(name: str, strategy: str, start: int) -> dict[str, np.ndarray]:
    """Return the order of questions of a peer's strategy for PEER_SEEDS seeds from ``start`` on."""
    peer, method = strategy.split()
    script = Path(__file__).parents[2] / "benchmarks" / "peers" / "query_order.py"
    seeds = range(start, start + PEER_SEEDS)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "problems.npz"
        problems = {}
        for seed in seeds:
            X, y, _, _, first = split(name, seed)
            problems |= {f"X{seed}": X, f"y{seed}": y, f"first{seed}": first, "sizes": sizes(moments(len(X)))}
        np.savez(path, **problems)
        command = [str(python_of(peer)), str(script), peer, method, str(path), str(start), str(PEER_SEEDS)]
        out = subprocess.run(command, check=True, capture_output=True, text=True)
    return {str(seed): np.array(order) for seed, order in zip(seeds, json.loads(out.stdout), strict=True)}
