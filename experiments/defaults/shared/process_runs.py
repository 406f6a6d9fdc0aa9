"""Runs of `process_kernels.py`: labels and numbers, what is done about a kernel that nobody gave, and rivals.

Labels: the rows of `label_runs.py` and of a banana. Numbers: one column of a table by its others (or the progression of
diabetes), in units of the pool's deviations. Random rows are the first 20, 50 and 200 of the pool; designed ones are
asked by the default scorer after ten random ones, of more than two classes by fives.
"""

from __future__ import annotations

import warnings
from functools import cache
from typing import Any

import numpy as np
from scipy.special import ndtri
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.gaussian_process import GaussianProcessClassifier as TheirClassifier
from sklearn.gaussian_process import GaussianProcessRegressor as TheirRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel
from sklearn.linear_model import RidgeCV
from threadpoolctl import threadpool_limits

from adaptive import GaussianProcessClassifier, GaussianProcessRegressor, SequentialDesign, datasets
from adaptive.estimators.gaussian_process.settings import REACH, typical_distance
from experiments.defaults.shared import label_runs

__all__ = ["BELIEFS", "HEIGHTS", "METRICS", "RIVALS", "SETS", "labels_run", "numbers_run"]

MARKS, DESIGNED = (20, 50, 200), (20, 50)
FIRST, BATCH, POOL, TEST = 10, 5, 300, 400
SETS = {  # by kind and half
    "two classes": {"choose": ("banana", "ionosphere", "diabetes"), "confirm": ("crabs", "heart", "german")},
    "more classes": {"choose": ("wine",), "confirm": ("wheat_seeds",)},
    "numbers": {
        "choose": ("progression of diabetes", "proline of wine", "asymmetry of seeds"),
        "confirm": ("depth of crabs", "refraction of glass", "smoothness of cells"),
    },
}
BELIEFS = ("integrated", "mode", "fixed")
HEIGHTS = {"integrated, height from 4": 4.0, "integrated, height from 100": 100.0}  # of two classes, on random rows
THEIRS = ("scikit-learn's default", "scikit-learn, kernel learnt")
RIVALS = {
    "two classes": (*THEIRS, "LogisticRegressionCV"),
    "more classes": (*THEIRS, "LogisticRegressionCV"),
    "numbers": (*THEIRS, "RidgeCV"),
}
_OF_LABELS = ("accuracy", "log loss", "calibration error")
METRICS = {"two classes": _OF_LABELS, "more classes": _OF_LABELS, "numbers": ("error", "log loss", "covered")}
LEAST = 1e-3  # deviation of a number: scikit-learn's default knows its rows exactly
MOST = 20.0  # nats that a single row may cost


def labels_of(name: str, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return rows and codes of pool and test."""
    if name != "banana":
        return label_runs.split(name, seed)
    X, y = datasets.raetsch("banana")
    order = np.random.default_rng([seed, 34]).permutation(len(y))[: POOL + TEST]
    X, y = np.asarray(X, dtype=float)[order], (np.asarray(y)[order] > 0).astype(int)
    return X[:POOL], y[:POOL], X[POOL:], y[POOL:]


@cache
def column_of(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Return a table and its numbers."""
    if name == "progression of diabetes":
        return load_diabetes(return_X_y=True)
    if name == "smoothness of cells":
        table, at = load_breast_cancer(return_X_y=True)[0][:, :10], 4
    else:
        source, at = {
            "proline of wine": ("wine", -1), "asymmetry of seeds": ("wheat_seeds", 5), "depth of crabs": ("crabs", -1),
            "refraction of glass": ("glass", 0),
        }[name]  # fmt: skip
        table = datasets.uci(source)[0]
    table = np.asarray(table, dtype=float)
    return np.delete(table, at % table.shape[1], axis=1), table[:, at]


def numbers_of(name: str, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return rows and numbers of pool and test; rows in units of the pool's deviations."""
    X, y = column_of(name)
    order = np.random.default_rng([seed, 34]).permutation(len(y))
    n = min(POOL, round(0.6 * len(y)))
    pool, test = order[:n], order[n : n + TEST]
    deviation = X[pool].std(axis=0)
    X = (X - X[pool].mean(axis=0)) / np.where(deviation > 0, deviation, 1.0)
    return X[pool], y[pool], X[test], y[test]


def marks_of(n: int, way: str, most: int) -> list[int]:
    """Return numbers of rows at which is looked, 200 or all of the pool at the end."""
    return [min(mark, n) for mark in (DESIGNED if way == "designed" else MARKS) if mark <= most]


def labels_run(name: str, arm: str, way: str, seed: int, most: int) -> dict[str, np.ndarray]:
    """Return accuracy, log loss and calibration error on test rows at the marks."""
    pool, codes, test, truth = labels_of(name, seed)
    n_classes = int(codes.max()) + 1
    found: dict[str, list[float]] = {metric: [] for metric in _OF_LABELS}
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for mark, learnt in _learnt(_classifier(arm, n_classes), pool, codes, way, seed, most, n_classes):
            if arm in BELIEFS and way == "designed":
                table = learnt.predict_proba(test)
            else:
                table = _probabilities(arm, pool[:mark], codes[:mark], test, n_classes)
            for metric, one in label_runs.judged(table, truth).items():
                found[metric].append(one)
    return {metric: np.array(values) for metric, values in found.items()}


def numbers_run(name: str, arm: str, way: str, seed: int, most: int) -> dict[str, np.ndarray]:
    """Return rms error (deviations), negative log density (likewise) and the share of test rows in 90% intervals."""
    pool, y, test, truth = numbers_of(name, seed)
    unit = y.std()
    found: dict[str, list[float]] = {metric: [] for metric in METRICS["numbers"]}
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for mark, learnt in _learnt(_regressor(arm), pool, y, way, seed, most, 2):
            model = learnt if learnt is not None else _fitted(arm, pool[:mark], y[:mark])
            mean, deviation = model(test) if arm == "RidgeCV" else model.predict(test, return_std=True)
            deviation = np.maximum(deviation / unit, LEAST)
            off = (truth - mean) / unit
            if arm in BELIEFS:
                nats = -model.log_predictive(test, truth) - np.log(unit)
            else:
                nats = 0.5 * np.square(off / deviation) + np.log(deviation * np.sqrt(2 * np.pi))
            found["error"].append(float(np.sqrt(np.mean(off**2))))
            found["log loss"].append(float(np.mean(np.minimum(nats, MOST))))
            found["covered"].append(float(np.mean(np.abs(off) <= ndtri(0.95) * deviation)))
    return {metric: np.array(values) for metric, values in found.items()}


def _learnt(model: Any, pool: np.ndarray, y: np.ndarray, way: str, seed: int, most: int, n_classes: int) -> Any:
    """Yield marks and, of designed rows, the estimator there."""
    marks = marks_of(len(pool), way, most)
    if way == "random":
        yield from ((mark, None) for mark in marks)
        return
    size = 1 if n_classes == 2 else BATCH
    design = SequentialDesign(
        model, pool, lambda query: y[query.positions], initial=np.arange(FIRST), batch_size=size, joint=False,
        random_state=seed,
    )  # fmt: skip
    done = 0
    for mark in marks:
        design.run((mark - done) // size)
        done = mark
        yield mark, design.estimator_


def _classifier(arm: str, n_classes: int) -> Any:
    if arm not in BELIEFS:
        return None
    if arm == "fixed":
        return GaussianProcessClassifier(_fixed(), classes=range(n_classes), hyperparameters="mode")
    return GaussianProcessClassifier(classes=range(n_classes), hyperparameters=arm)


def _regressor(arm: str) -> Any:
    if arm not in BELIEFS:
        return None
    if arm == "fixed":
        return GaussianProcessRegressor(_fixed(), hyperparameters="mode")
    return GaussianProcessRegressor(hyperparameters=arm)


def _fixed() -> Any:
    """The kernel where none was given, as it was: that of scikit-learn."""
    return ConstantKernel(1.0, "fixed") * RBF(1.0, "fixed")


def _probabilities(arm: str, X: np.ndarray, y: np.ndarray, test: np.ndarray, n_classes: int) -> np.ndarray:
    if arm in BELIEFS:
        return _classifier(arm, n_classes).fit(X, y).predict_proba(test)
    if arm in HEIGHTS:
        length = typical_distance(X)
        kernel = ConstantKernel(HEIGHTS[arm], (0.1, 1e4)) * RBF(length, (length / REACH, length * REACH))
        model = GaussianProcessClassifier(kernel, classes=range(n_classes), hyperparameters="integrated")
        return model.fit(X, y).predict_proba(test)
    if arm == "LogisticRegressionCV":
        return label_runs.tuned(X, y, n_classes)(test)
    model = TheirClassifier(None if arm.endswith("default") else 1.0 * RBF(1.0), random_state=0).fit(X, y)
    table = np.full((len(test), n_classes), 1.0 / (len(y) + n_classes))
    table[:, model.classes_] = model.predict_proba(test)
    return table / table.sum(axis=1, keepdims=True)


def _fitted(arm: str, X: np.ndarray, y: np.ndarray) -> Any:
    if arm in BELIEFS:
        return _regressor(arm).fit(X, y)
    if arm != "RidgeCV":
        learnt = None if arm.endswith("default") else 1.0 * RBF(1.0) + WhiteKernel(1.0)
        return TheirRegressor(learnt, normalize_y=not arm.endswith("default"), random_state=0).fit(X, y)
    model = RidgeCV(np.logspace(-2, 4, 13), store_cv_results=True).fit(X, y)
    best = int(np.argmin(np.mean(model.cv_results_, axis=0)))
    deviation = float(np.sqrt(np.mean(model.cv_results_[:, best])))
    return lambda rows: (model.predict(rows), np.full(len(rows), deviation))
