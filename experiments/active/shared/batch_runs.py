"""Runs of `batch_quality.py`: 20 random labels, then 80 in four batches of 20 or one at a time, by one model.

Rows are numbers in units of the pool's deviations, or tf-idf; of more than 40 columns the pool's 40 leading directions
are kept. More than two classes have the prior scale 16 over the mean length of a row, what integration found on digits,
so that a run takes seconds; two classes integrate it. Ways differ in nothing but the rows they ask for.
"""

from __future__ import annotations

import warnings
from functools import cache
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.special import entr
from sklearn.datasets import load_digits
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfTransformer
from threadpoolctl import threadpool_limits

from adaptive import BayesianLogisticRegression, datasets

__all__ = ["SETS", "WAYS", "one_run"]

SETS = ("digits", "usps", "newsgroups", "poliblog", "image segments")  # ten, ten, six, two, two classes
WAYS: dict[str, dict[str, Any]] = {  # how each asks for its next rows
    "one at a time": {},
    "joint batch": {},
    "badge": {"scorer": "badge"},
    "top 20": {"joint": False},
    "BatchBALD": {},
    "random": {"scorer": "random"},
    "predictive information, joint": {"scorer": "predictive_information_gain"},
    "predictive information, top 20": {"scorer": "predictive_information_gain", "joint": False},
}
GROUPS = ("comp.graphics", "misc.forsale", "rec.autos", "sci.med", "sci.space", "talk.politics.mideast")
DIRECTIONS, FIRST, POOL, TEST = 40, 20, 400, 600
DRAWS, CONFIGURATIONS = 1024, 64
TARGETS = 64  # rows of the pool that predictive information is about


@cache
def table_of(name: str) -> tuple[Any, np.ndarray]:
    """Return all rows and the codes of their classes."""
    if name == "newsgroups":
        counts, labels, _ = datasets.all_newsgroups()
        at = np.isin(labels, GROUPS)
        counts, labels = sp.csr_array(counts)[at], labels[at]
    elif name == "poliblog":
        counts, labels, _ = datasets.poliblog()
    elif name == "image segments":
        X, labels = datasets.raetsch("image")[:2]
        return np.asarray(X, dtype=float), np.unique(labels, return_inverse=True)[1]
    else:
        X, labels = load_digits(return_X_y=True) if name == "digits" else datasets.usps(digits=None)
        return np.asarray(X, dtype=float), np.asarray(labels).astype(int)
    counts = sp.csr_array(counts)
    counts = counts[:, np.flatnonzero(np.asarray((counts > 0).sum(axis=0)).ravel() >= 5)]
    return sp.csr_array(TfidfTransformer().fit_transform(counts)), np.unique(labels, return_inverse=True)[1]


def split(name: str, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return rows and codes of pool and test."""
    X, y = table_of(name)
    order = np.random.default_rng([seed, 37]).permutation(len(y))[: POOL + TEST]
    X, y = X[order], y[order]
    if not sp.issparse(X):
        deviation = X[:POOL].std(axis=0)
        X = (X - X[:POOL].mean(axis=0)) / np.maximum(deviation, 1e-3 + 0.1 * X[:POOL].std())
    if X.shape[1] > DIRECTIONS:
        X = TruncatedSVD(DIRECTIONS, random_state=0).fit(X[:POOL]).transform(X)
    return X[:POOL], y[:POOL], X[POOL:], y[POOL:]


def batchbald(model: Any, pool: np.ndarray, free: np.ndarray, n: int, seed: int) -> np.ndarray:
    """Return n positions by BatchBALD: each next row by the entropy of its outcome given sampled ones of the former.

    The weights of draws given each of the sampled configurations of outcomes stand for the posterior (Kirsch, van
    Amersfoort and Gal 2019, with sampled configurations from the first row on).
    """
    rng = np.random.default_rng([seed, len(pool)])
    weights, table = model.predictive(pool[free], random_state=seed).draws(DRAWS)
    k, m, c = table.shape
    flat = np.ascontiguousarray(table.reshape(k, m * c), dtype=np.float32)
    expected = entr(table).sum(axis=2)  # (k, m): of the outcome of a row given a draw
    given = np.tile(weights, (CONFIGURATIONS, 1))
    chosen: list[int] = []
    for _ in range(n):
        p = (given.astype(np.float32) @ flat).reshape(CONFIGURATIONS, m, c)
        gain = entr(np.clip(p, 0.0, 1.0)).sum(axis=2).mean(axis=0) - given.mean(axis=0) @ expected
        gain[chosen] = -np.inf
        chosen.append(int(np.argmax(gain)))
        mine = table[:, chosen[-1]].astype(float)
        below = np.cumsum(given @ mine, axis=1)
        levels = (rng.permutation(CONFIGURATIONS) + rng.random()) / CONFIGURATIONS * below[:, -1]
        outcomes = np.minimum((below <= levels[:, None]).sum(axis=1), c - 1)
        given *= mine[:, outcomes].T
        given /= given.sum(axis=1, keepdims=True)
    return free[chosen]


def one_run(name: str, way: str, seed: int, batch: int, batches: int) -> dict[str, np.ndarray]:
    """Return accuracy and log loss on the test rows after the first labels and each batch, and what was asked."""
    pool, labels, test, truth = split(name, seed)
    found: dict[str, list[float]] = {"accuracy": [], "log loss": []}
    scale = None if labels.max() == 1 else 16.0 / float(np.mean(np.sqrt(np.square(pool).sum(axis=1))))
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = BayesianLogisticRegression(classes=np.arange(labels.max() + 1), prior_scale=scale)
        asked = list(range(FIRST))
        model.fit(pool[asked], labels[asked])
        for step in range(batches + 1):
            p = np.clip(model.predict_proba(test), 1e-12, 1.0)
            found["accuracy"].append(float(np.mean(np.argmax(p, axis=1) == truth)))
            found["log loss"].append(float(-np.mean(np.log(p[np.arange(len(truth)), truth]))))
            if step == batches:
                break
            for n in [1] * batch if way == "one at a time" else [batch]:
                number = 1000 * seed + len(asked)
                if way == "BatchBALD":
                    free = np.setdiff1d(np.arange(len(pool)), asked)
                    chosen = batchbald(model, pool, free, n, number)
                else:
                    options = {"scorer": "query_by_committee"} | WAYS[way]
                    if way.startswith("predictive"):
                        options["target"] = pool[np.unique(np.linspace(0, POOL - 1, TARGETS).astype(int))]
                    chosen = model.select(pool, n, exclude=asked, random_state=number, **options)
                asked += chosen.tolist()
                model.partial_fit(pool[chosen], labels[chosen])
    return {key: np.array(values) for key, values in found.items()} | {"asked": np.array(asked)}
