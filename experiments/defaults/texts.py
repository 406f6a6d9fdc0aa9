"""The prior of texts among several classes: independent weights, weights that vary as the pool's words do, and a rival.

Three sets of six groups each of 20 Newsgroups, 1,600 documents to ask from and 800 to test on, as `adaptive label`
prepares them (words of two documents or more, sublinear tf-idf rows of length 1); 30, 60 and 120 random labels, one of
each class among them. The rival is scikit-learn's LogisticRegression with C = 100, its best of a few in
``active/hyper_text.py``, which has two classes. The first set chooses, the others confirm.

Full mode: six splits a set, five minutes on one core; it resumes (``runs.py``).
"""

from __future__ import annotations

import warnings
from functools import lru_cache
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.linear_model import LogisticRegression
from threadpoolctl import threadpool_limits

from adaptive import BayesianLogisticRegression, datasets
from adaptive.tables.preparing import MOST_WORDS
from experiments.equivalence import all_of, inside
from experiments.script import Script, command
from experiments.statistics import limits

GROUP = "default_texts"
MODELS = ("the pool's", "independent", "LogisticRegression")
METRICS = ("log loss", "accuracy")
SETS = {"choose: groups 1 to 6": 0, "groups 7 to 12": 6, "groups 13 to 18": 12}
CLASSES, POOL, TEST, AT, SPLITS = 6, 1600, 800, (30, 60, 120), 6


@lru_cache(maxsize=1)
def documents(first: int, seed: int) -> tuple[Any, np.ndarray, Any, np.ndarray]:
    """Return rows and labels of pool and test."""
    counts, labels, _ = datasets.all_newsgroups()
    labels = np.asarray(labels)
    kept = np.flatnonzero(np.isin(labels, np.unique(labels)[first : first + CLASSES]))
    kept = np.random.default_rng([seed, 44]).permutation(kept)[: POOL + TEST]
    counts, labels = sp.csr_array(counts)[kept], labels[kept]
    documents_with = np.asarray((counts > 0).sum(axis=0)).ravel()
    used = np.flatnonzero(documents_with >= 2)
    counts = counts[:, np.sort(used[np.argsort(-documents_with[used], kind="stable")[:MOST_WORDS]])]
    X = sp.csr_array(TfidfTransformer(sublinear_tf=True).fit_transform(counts))
    return X[:POOL], labels[:POOL], X[POOL:], labels[POOL:]


def one_run(model: str, first: int, seed: int, most: int) -> dict[str, np.ndarray]:
    """Return (labels, metrics) on the test rows, at the numbers of labels in ``AT`` up to ``most``."""
    pool, labels, test, truth = documents(first, seed)
    (classes, one_of_each), found = np.unique(labels, return_index=True), []
    order = np.concatenate([one_of_each, np.delete(np.arange(len(labels)), one_of_each)])
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for n in (n for n in AT if n <= most):
            if model == "LogisticRegression":
                fitted: Any = LogisticRegression(C=100.0, max_iter=1000)
            else:
                prior = {"prior_covariance": "pool", "pool": pool} if model == "the pool's" else {}
                fitted = BayesianLogisticRegression(classes=classes.tolist(), **prior)
            fitted.fit(pool[order[:n]], labels[order[:n]])
            p = np.full((len(truth), len(classes)), 1e-12)
            p[:, np.searchsorted(classes, fitted.classes_)] = np.clip(fitted.predict_proba(test), 1e-12, 1.0)
            right = p[np.arange(len(truth)), np.searchsorted(classes, truth)]
            found.append((-np.mean(np.log(right)), np.mean(classes[p.argmax(axis=1)] == truth)))
    return {"found": np.array(found)}


def run(script: Script) -> None:
    """Run everything; write table and verdict."""
    sets, splits, most = (dict(list(SETS.items())[:1]), 2, AT[0]) if script.quick else (SETS, SPLITS, AT[-1])
    runs: dict[tuple[str, str], list[np.ndarray]] = {}
    for name, first in sets.items():
        for seed in range(splits):
            for model in MODELS:
                runs.setdefault((name, model), []).append(
                    script.kept(GROUP, one_run, model, first, seed, most)["found"]
                )
        print(f"{name}: done", flush=True)
    at = [n for n in AT if n <= most]
    rows = [(name, model, n, k, np.mean([one[k] for one in some], axis=0).round(4).tolist())
            for (name, model), some in runs.items() for k, n in enumerate(at)]  # fmt: skip
    script.table(
        {"set": [row[0] for row in rows], "weights": [row[1] for row in rows], "labels": [row[2] for row in rows],
         **{metric: [row[4][j] for row in rows] for j, metric in enumerate(METRICS)}},
        "default-texts", f"Six classes of texts, random labels, means over {splits} splits: log loss (nats), accuracy.",
    )  # fmt: skip
    less: dict[str, dict[str, dict[str, list[float]]]] = {}
    for rival in MODELS[1:]:
        for name in sets:
            for k, n in enumerate(at):
                apart = np.array([a[k] - b[k] for a, b in zip(runs[name, MODELS[0]], runs[name, rival], strict=True)])
                for j, metric in enumerate(METRICS):
                    cell = less.setdefault(rival, {}).setdefault(metric, {})
                    cell[f"{name}; {n}"] = [round(one, 4) for one in limits(apart[:, j])]
    script.judge(
        "ours-default-texts",
        all_of(
            inside(*one[1:], **{"most" if metric == "log loss" else "least": 0.0})
            for rival in less.values() for metric, cells in rival.items() for one in cells.values()
        ),
        claim="Six classes of texts: weights that vary as the pool's words do predict better than independent ones, "
        "and than LogisticRegression.",
        target="95% intervals over splits: log loss below, accuracy above, at every number of labels on every set",
        value={f"less {rival}": cells for rival, cells in less.items()},
        reason=f"{splits} splits of each set; {', '.join(map(str, at))} random labels. The default of `adaptive label` "
        "and `adaptive classify` where texts are all there is.",
        seed=f"0..{splits - 1}",
    )  # fmt: skip


if __name__ == "__main__":
    command(run, __doc__, __file__)
