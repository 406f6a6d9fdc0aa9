"""Rows that are asked at random or by the estimator's own design, and the simplest band from the same answers.

The simplest band has one width everywhere: the conformal quantile of what five folds of the asked rows are off by
(Vovk 2015, cross-conformal). Of labels it is one number of labels, the fraction of one more counted in parts.
"""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import KFold

from adaptive import SequentialDesign
from experiments.bands.shares import LEVELS, NOMINAL

__all__ = ["answered", "asked", "rank", "simple_labels", "simple_numbers"]

LEVEL = LEVELS[NOMINAL]
FOLDS = 5


def asked(model: Any, X: Any, y: np.ndarray, design: str, n: int, first: np.ndarray, seed: int) -> np.ndarray:
    """Return n positions of the pool: the ``first`` and random ones, or those of a designed run."""
    if design == "random":
        others = np.setdiff1d(np.arange(len(y)), first)
        drawn = np.random.default_rng([seed, 31]).permutation(others)
        return np.concatenate([first, drawn])[:n]
    positions: list[int] = []

    def measure(query: Any) -> Any:
        positions.extend(np.atleast_1d(query.positions).tolist())
        return y[query.positions]

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        SequentialDesign(clone(model), X, measure, initial=first, random_state=seed).run(n)
    return np.array(positions[:n])


def answered(model: Any, X: Any, y: np.ndarray) -> Any:
    """Return a copy of the model, fitted."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return clone(model).fit(X, y)


def _quantile(off: np.ndarray) -> float:
    """Return the conformal quantile at .90; of few answers the largest, which may cover less."""
    place = min(math.ceil((len(off) + 1) * LEVEL), len(off))
    return float(np.sort(off)[place - 1])


def _out_of_fold(model: Any, X: Any, y: np.ndarray, predict: Any, seed: int) -> np.ndarray:
    found: list[Any] = [None] * len(y)
    for train, test in KFold(min(FOLDS, len(y)), shuffle=True, random_state=seed).split(y):
        said = predict(answered(model, X[train], y[train]), X[test])
        for k, one in zip(test, said, strict=True):
            found[k] = one
    return np.array(found)


def simple_numbers(
    model: Any, fitted: Any, X: Any, y: np.ndarray, new: Any, truth: np.ndarray, seed: int
) -> tuple[float, float]:
    """Return what a constant width about ``predict`` covers of new outcomes, and the width."""
    half = _quantile(np.abs(y - _out_of_fold(model, X, y, lambda one, rows: one.predict(rows), seed)))
    return float(np.mean(np.abs(truth - fitted.predict(new)) <= half)), 2 * half


def rank(probabilities: np.ndarray, codes: np.ndarray) -> np.ndarray:
    """Return how many labels are more probable than the true one."""
    own = probabilities[np.arange(len(codes)), codes]
    return (probabilities > own[:, None]).sum(axis=1)


def simple_labels(
    model: Any, X: Any, y: np.ndarray, new: np.ndarray, truth: np.ndarray, seed: int
) -> tuple[float, float]:
    """Return what one number of labels covers, chosen out of folds of the asked rows; ``new``: probabilities."""
    held = rank(_out_of_fold(model, X, y, lambda one, rows: one.predict_proba(rows), seed), y)
    shares = np.cumsum(np.bincount(held, minlength=new.shape[1])) / len(y)  # of 1, 2, ... labels
    target = min(LEVEL * (len(y) + 1) / len(y), 1.0)
    k = int(np.argmax(shares >= target - 1e-12))
    below = shares[k - 1] if k else 0.0
    part = (target - below) / (shares[k] - below)
    off = rank(new, truth)
    return float(np.mean((off < k) + part * (off == k))), k + float(part)
