"""Runs of `embedded.py`: rows that are vectors of an encoder, and what is known after 30, 100 and 300 labels."""

from __future__ import annotations

import warnings
from functools import cache

import numpy as np
from sklearn.datasets import load_digits
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfTransformer
from threadpoolctl import threadpool_limits

from adaptive import BayesianLogisticRegression, SequentialDesign, datasets
from experiments.defaults.shared.label_runs import METRICS, judged, tuned

__all__ = ["ARMS", "MARKS", "SETS", "one_run"]

FIRST, BATCH, MARKS = 5, 5, (30, 100, 300)
POOL, TEST, WIDTH = 1200, 1000, 200
ARMS = (
    "chosen (the default)",
    "random rows, the same model",
    "LogisticRegressionCV, margin",
    "LogisticRegressionCV, random rows",
)
GROUPS = {
    "cryptography, electronics": ("sci.crypt", "sci.electronics"),
    "baseball, hockey": ("rec.sport.baseball", "rec.sport.hockey"),
    "computers, cars": ("comp.graphics", "rec.autos"),
}
DIGITS = {"USPS 3, 5": (3, 5), "USPS 4, 9": (4, 9)}
SETS = (*GROUPS, "digits, even or odd", *DIGITS)


@cache
def table_of(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Return vectors (n, WIDTH at most), single precision, and codes."""
    if name in GROUPS:
        parts = [datasets.newsgroups(*GROUPS[name], part=part) for part in ("train", "test")]
        counts = parts[0][0].tocsr()
        weights = TfidfTransformer(sublinear_tf=True).fit(counts)
        encoder = TruncatedSVD(WIDTH, random_state=0).fit(weights.transform(counts))
        X = np.concatenate([encoder.transform(weights.transform(one)) for one, _ in parts])
        y = np.unique(np.concatenate([labels for _, labels in parts]), return_inverse=True)[1]
    else:
        if name in DIGITS:
            pictures, labels = datasets.usps(digits=DIGITS[name])
        else:
            pictures, labels = load_digits(return_X_y=True)
            labels = labels % 2
        pictures = np.asarray(pictures, dtype=float) / np.abs(pictures).max()
        drawn = np.random.default_rng(0).standard_normal((pictures.shape[1], WIDTH)) / np.sqrt(pictures.shape[1])
        X = np.maximum(4.0 * (pictures - pictures.mean()) @ drawn, 0.0)  # a frozen layer, drawn and not learnt
        y = np.unique(labels, return_inverse=True)[1]
    X = X - X.mean(axis=0)
    return (X / np.sqrt(np.mean(X**2))).astype(np.float32), y


def one_run(name: str, arm: str, seed: int, most: int = MARKS[-1]) -> dict[str, np.ndarray]:
    """Return the metrics of an arm after each mark."""
    X, y = table_of(name)
    rng = np.random.default_rng([seed, 41])
    order = rng.permutation(len(y))
    n = min(POOL, round(0.7 * len(y)))
    while len(np.unique(y[order[:FIRST]])) < 2:
        order[:n] = rng.permutation(order[:n])
    pool, labels = X[order[:n]], y[order[:n]]
    test, truth = X[order[n : n + TEST]], y[order[n : n + TEST]]
    marks = [mark for mark in MARKS if mark <= min(most, n)]
    found: dict[str, list[float]] = {metric: [] for metric in METRICS}
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if arm.startswith("LogisticRegressionCV"):
            asked = list(range(FIRST))
            for size in range(FIRST, marks[-1] + 1, BATCH):
                model = tuned(pool[asked], labels[asked], 2) if size in marks or "margin" in arm else None
                if model is not None and size in marks:
                    _note(found, model(test), truth)
                left = np.setdiff1d(np.arange(n), asked)
                if "margin" in arm and model is not None:
                    left = left[np.argsort(np.abs(model(pool[left])[:, 1] - 0.5), kind="stable")]
                asked += left[:BATCH].tolist()  # the pool was shuffled: the first are random ones
        else:
            scorer = "random" if "random" in arm else "auto"
            design = SequentialDesign(
                BayesianLogisticRegression(classes=[0, 1]), pool, lambda query: labels[query.positions], scorer=scorer,
                initial=np.arange(FIRST), batch_size=BATCH, joint=False, random_state=seed,
            )  # fmt: skip
            for before, mark in zip((0, *marks), marks, strict=False):
                design.run((mark - before) // BATCH)
                _note(found, design.estimator_.predict_proba(test), truth)
    return {metric: np.array(values) for metric, values in found.items()}


def _note(found: dict[str, list[float]], table: np.ndarray, truth: np.ndarray) -> None:
    for metric, one in judged(table, truth).items():
        found[metric].append(one)
