"""More classes: the defaults (softmax over nodes of the prior scale) asked by the committee, beside random rows.

Digits of scikit-learn and of USPS (every third pixel), ten classes, and six groups of 20 Newsgroups (tf-idf of words
in five documents or more): 20 random labels, then 30 in batches of ten, 15% of them random; 500 rows to ask from, 500
to test on, columns of pixels in units of the pool's deviations. Beside them scikit-learn's LogisticRegression on the
random rows (ten times the tf-idf), and the defaults with answers included (``update="inclusion"``).

Judged: designed minus random, accuracy at most .005 lower, log loss at most .015 higher on every set; the leave-one-out
factor on the scores' covariances lowers the log loss of random and of designed rows, mean over sets; inclusion costs no
accuracy. Each by its whole 95% interval over splits: one that reaches across cannot tell.

Full mode: 20 splits a set, some twenty minutes on one core; it resumes (``runs.py``).
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.optimize import minimize_scalar
from sklearn.datasets import load_digits
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.linear_model import LogisticRegression
from threadpoolctl import threadpool_limits

from adaptive import BayesianLogisticRegression, SequentialDesign, datasets
from adaptive.loop.comparison import interval
from experiments.equivalence import all_of, inside
from experiments.script import Script, command

GROUP = "hyper_classes"
SETS = ("digits", "usps", "newsgroups")
WAYS = ("designed", "random", "designed, included", "LogisticRegression, random")
METRICS = ("accuracy", "log loss", "log loss with the factor")
GROUPS = ("comp.graphics", "misc.forsale", "rec.autos", "sci.med", "sci.space", "talk.politics.mideast")
FIRST, BATCH, MOST, N = 20, 10, 50, 500
ALLOWED = {"accuracy": 0.005, "log loss": 0.015}


def rows_of(name: str, seed: int, n: int) -> tuple[Any, np.ndarray, Any, np.ndarray]:
    """Return rows and codes of pool and test, n of each."""
    rng = np.random.default_rng([seed, 19])
    if name == "newsgroups":
        counts, labels, _ = datasets.all_newsgroups()
        at = np.flatnonzero(np.isin(labels, GROUPS))
        order = at[rng.permutation(len(at))[: 2 * n]]
        counts, y = sp.csr_array(counts)[order], np.searchsorted(GROUPS, labels[order])
        counts = counts[:, np.flatnonzero(np.asarray((counts > 0).sum(axis=0)).ravel() >= 5)]
        words = sp.csr_array(TfidfTransformer().fit_transform(counts))
        return words[:n], y[:n], words[n:], y[n:]
    X, y = load_digits(return_X_y=True) if name == "digits" else datasets.usps(digits=None)
    X = X if name == "digits" else X[:, ::3]
    order = rng.permutation(len(y))[: 2 * n]
    X, y = np.asarray(X, dtype=float)[order], np.asarray(y)[order].astype(int)
    X = (X - X[:n].mean(axis=0)) / np.maximum(X[:n].std(axis=0), 1e-3 + 0.1 * X[:n].std())
    return X[:n], y[:n], X[n:], y[n:]


def one_run(name: str, way: str, seed: int, most: int, n_rows: int) -> dict[str, np.ndarray]:
    """Return accuracy and log loss, with the factor and without, on test rows after every batch."""
    pool, labels, test, truth = rows_of(name, seed, n_rows)
    n_classes = 6 if name == "newsgroups" else 10
    found: dict[str, list[float]] = {metric: [] for metric in METRICS}
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = BayesianLogisticRegression(
            classes=range(n_classes), update="inclusion" if way.endswith("included") else "auto"
        )
        design = SequentialDesign(
            model, pool, lambda query: labels[query.positions],
            scorer="auto" if way.startswith("designed") else "random", initial=np.arange(FIRST), batch_size=BATCH,
            joint=False, random_state=seed,
        )  # fmt: skip
        for n in range(FIRST, most + 1, BATCH):
            table = np.full((2, len(truth), n_classes), 1e-6)
            if way.startswith("LogisticRegression"):
                times = 10.0 if name == "newsgroups" else 1.0
                peer = LogisticRegression(max_iter=1000).fit(pool[:n] * times, labels[:n])
                table[:, :, peer.classes_] = np.maximum(peer.predict_proba(test * times), 1e-6)
            else:
                learnt = design.run(2 if n == FIRST else 1).estimator_
                factor = 1.0 if way.endswith("included") else factor_of(learnt.belief_)
                for k, one in enumerate((1.0, factor)):
                    table[k][:, learnt.classes_] = np.maximum(scaled(learnt.belief_, test, one), 1e-6)
            found["accuracy"].append(float(np.mean(np.argmax(table[0], axis=1) == truth)))
            for metric, one in zip(METRICS[1:], table, strict=True):
                found[metric].append(float(-np.mean(np.log(one[np.arange(len(truth)), truth]))))
    return {key: np.array(values) for key, values in found.items()}


def scaled(belief: Any, rows: Any, factor: float) -> np.ndarray:
    """Return probabilities of scores whose covariances are multiplied by a factor."""
    return np.einsum("k,kmc->mc", belief.weights, [one.probabilities(rows, factor) for one in belief.beliefs])


def factor_of(belief: Any) -> float:
    """Return the factor that suits the predictions left out, ln factor ~ N(0, 1), as two classes have it."""

    def loss(log_factor: float) -> float:
        said = belief.weights @ np.exp([one.left_out_at(float(np.exp(log_factor))).log_score for one in belief.beliefs])
        return 0.5 * log_factor**2 - float(np.sum(np.log(np.maximum(said, 1e-300))))

    return float(np.exp(minimize_scalar(loss, bounds=(-5.0, 1.0), method="bounded", options={"xatol": 0.1}).x))


def run(script: Script) -> None:
    """Run everything; write the table and the verdicts."""
    names, n_seeds, most, n_rows = (SETS[:1], 2, FIRST, 60) if script.quick else (SETS, 20, MOST, N)
    ways = WAYS[:2] if script.quick else WAYS
    columns: dict[str, list[Any]] = {"set": list(names), "splits": [n_seeds] * len(names)}
    areas: dict[tuple[str, str, str], np.ndarray] = {}
    for name in names:
        for way in ways:
            runs = [script.kept(GROUP, one_run, name, way, seed, most, n_rows) for seed in range(n_seeds)]
            for metric in METRICS:
                areas[name, way, metric] = np.array([one[metric].mean() for one in runs])
        print(f"{name}: done", flush=True)
    for way in ways:
        for metric in METRICS[: 3 if way in WAYS[:2] else 2]:
            columns[f"{metric}, {way}"] = [round(float(areas[name, way, metric].mean()), 4) for name in names]
    script.table(columns, "hyper-classes", f"Ten and six classes: means over runs of {FIRST} to {most} labels.")

    def apart(some: tuple[str, ...], metric: str, way: str, reference: str, other: str = "") -> list[float]:
        """Return the difference's mean over sets, with 95% limits over splits."""
        difference = [areas[name, way, metric] - areas[name, reference, other or metric] for name in some]
        return [round(float(one), 4) for one in interval(np.mean(difference, axis=0))]

    size = f"{len(names)} sets, {n_seeds} splits each, {FIRST} to {most} labels, 95% limits"
    value = {name: {metric: apart((name,), metric, "designed", "random") for metric in ALLOWED} for name in names}
    parts = {
        f"{name} ({metric})": within(metric, *limits[1:], ALLOWED[metric])
        for name, one in value.items()
        for metric, limits in one.items()
    }
    lists = {
        words: ", ".join(name for name, part in parts.items() if part is verdict) or "none"
        for words, verdict in (("Certainly worse", False), ("cannot be told", None))
    }
    script.judge(
        "ours-hyper-classes",
        all_of(parts.values()),
        claim=f"More classes, the defaults: designed rows are not worse than random ones ({size}).",
        target="intervals above -0.005 accuracy and below +0.015 nats on every set",
        value=value,
        reason="" if all_of(parts.values()) else "; ".join(f"{words}: {some}" for words, some in lists.items()),
    )
    factor = {
        way: {said: apart(some, METRICS[2], way, way, METRICS[1]) for said, some in (*_alone(names), ("mean", names))}
        for way in ("designed", "random")
    }
    helps = all_of(inside(*found["mean"][1:], most=0.0) for found in factor.values())
    script.judge(
        "ours-hyper-factor-classes",
        helps,
        claim="A leave-one-out factor on the covariances of a softmax's scores lowers the log loss on average, on "
        f"designed and on random rows ({size}).",
        target="the interval of the mean over sets below 0 on both",
        value=factor,
        reason=""
        if helps is not False
        else "The bound's sites say too little of what a row would be without its own label.",
    )
    if script.quick:
        return
    included = {metric: apart(names, metric, "designed, included", "designed") for metric in ALLOWED}
    held = all_of(within(metric, *limits[1:], 0.005) for metric, limits in included.items())
    script.judge(
        "ours-hyper-inclusion-classes",
        held,
        claim=f"Included answers of more classes cost no accuracy beside refits ({size}).",
        target="intervals above -0.005 accuracy and below +0.005 nats, means over sets",
        value=included,
        reason="" if held is not False else "Between fits the included rows have one step of the inference only.",
    )


def within(metric: str, low: float, high: float, allowed: float) -> bool | None:
    """Return whether a difference is no worse than allowed; None: it cannot be told."""
    return inside(low, high, least=-allowed) if metric == "accuracy" else inside(low, high, most=allowed)


def _alone(names: tuple[str, ...]) -> list[tuple[str, tuple[str, ...]]]:
    return [(name, (name,)) for name in names]


if __name__ == "__main__":
    command(run, __doc__, __file__)
