"""Runs of figure 3.7: labels included one by one into a variational posterior, and what was asked for.

The settings of Nickisch (2010), table 3.3, where the sets are at hand: a9a, w8a (ours) and pairs of 20 Newsgroups
(ours; real-sim and rcv1 are absent). All rows of the training part that are not in the initial set are candidates, the
error is measured on the other part. The posterior is that of the source: the double loop with exact variances, every
answer included by a one-dimensional bound update, one outer step after each block of K (``update="inclusion"``).
The Gaussian prior has the source's scale; the Laplace prior's is chosen by the evidence of the initial set.

predictive_information_gain is about predictions for every row of the pool (a9a, w8a: 100 that the seed draws), and is
computed for 200 (500) candidates drawn anew for each question; all other scorers see every candidate. Of the pairs, 100
rows are too few to stand for predictions with 6,000 words: their own words are then learnt, and no others.
"""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from threadpoolctl import threadpool_limits

from adaptive import BayesianLogisticRegression, datasets, scorers

GROUP = "active_inclusion"
TAU_LAPLACE = (0.03, 0.1, 0.3, 1.0, 3.0)
N_TARGETS, N_CANDIDATES = {False: 100, True: 2000}, {False: 500, True: 200}  # tables, pairs
INITIAL = 100
PAIRS = {
    "pc and mac hardware": ("comp.sys.ibm.pc.hardware", "comp.sys.mac.hardware"),
    "baseball and hockey": ("rec.sport.baseball", "rec.sport.hockey"),
    "religion and atheism": ("talk.religion.misc", "alt.atheism"),
    "crypt and electronics": ("sci.crypt", "sci.electronics"),
}
# name -> prior, prior standard deviation tau_sig, block size K
SETTINGS = {"a9a, Gaussian": ("gaussian", 1.0, 3), "a9a, Laplace": ("laplace", 1.0, 3), "w8a": ("gaussian", 1.0, 10)}
SETTINGS |= dict.fromkeys(PAIRS, ("gaussian", 3.0, 20))


class Problem(NamedTuple):
    """Candidates and test rows; labels are -1 and +1."""

    X: Any
    y: np.ndarray
    X_test: Any
    y_test: np.ndarray
    first: np.ndarray


def problem(name: str, seed: int) -> Problem:
    """Return a data set, split at random where no split is given, and the initial positions."""
    rng = np.random.default_rng([seed, 0])
    if name in PAIRS:
        X, y, X_test, y_test = _pair(*PAIRS[name])
    else:
        table, labels = _table(name.split(",")[0])
        order = rng.permutation(len(labels))
        n = {"a9a": 16_000, "w8a": 25_000}[name.split(",")[0]]
        train, test = np.sort(order[:n]), np.sort(order[n:])
        X, y, X_test, y_test = table[train], labels[train], table[test], labels[test]
    first = rng.permutation(len(y))[:INITIAL]
    while (y[first] == 1).sum() < 3:  # only w8a, with 3% of positives
        first = rng.permutation(len(y))[:INITIAL]
    return Problem(sp.csr_matrix(X), y, sp.csr_matrix(X_test), y_test, first)


@functools.lru_cache(maxsize=1)
def _table(name: str) -> tuple[Any, np.ndarray]:
    """A set that all runs of a script read: text, of which the reading takes longer than a short run."""
    return datasets.libsvm(name)


def _pair(first: str, second: str) -> tuple[Any, np.ndarray, Any, np.ndarray]:
    """Rows of unit length: term frequency times inverse document frequency, both of the training part."""
    parts = []
    words, idf = np.zeros(0), np.zeros(0)
    for part in ("train", "test"):
        counts, names = datasets.newsgroups(first, second, part)
        if part == "train":
            found_in = np.diff(counts.tocsc().indptr)
            words = np.flatnonzero(found_in >= 3)
            idf = np.log((1 + counts.shape[0]) / (1 + found_in[words])) + 1
        rows = counts[:, words] @ sp.diags_array(idf)
        lengths = np.sqrt(np.asarray(rows.multiply(rows).sum(axis=1)).ravel())
        rows = sp.diags_array(1 / np.maximum(lengths, 1e-12)) @ rows
        parts += [rows, np.where(names == first, 1, -1)]
    return tuple(parts)


def model_of(name: str, X: Any, y: np.ndarray) -> BayesianLogisticRegression:
    """Return the model fitted to the initial set."""
    prior, scale, block = SETTINGS[name]

    def fitted(scale: float) -> BayesianLogisticRegression:
        model = BayesianLogisticRegression(
            prior, prior_scale=scale, classes=[-1, 1], inference="variational_bounds", update="inclusion",
            block_size=block,
        )  # fmt: skip
        return model.fit(X, y)

    if prior == "gaussian":
        return fitted(scale)
    return max((fitted(scale / tau) for tau in TAU_LAPLACE), key=lambda model: model.log_evidence_)


def moments(inclusions: int) -> np.ndarray:
    """Return after how many inclusions the error is measured."""
    steps = np.concatenate([np.arange(0, 200, 10), np.arange(200, 600, 20), np.arange(600, inclusions, 100)])
    return np.unique(np.append(steps[steps <= inclusions], inclusions))


def quality(model: Any, X: Any, y: np.ndarray) -> tuple[float, float, float]:
    """Return error, balanced error (mean over the classes) and log loss (nats) on labelled rows."""
    p = model.predict_proba(X)[:, 1]
    wrong = (p > 0.5) != (y == 1)
    loss = -np.log(np.maximum(np.where(y == 1, p, 1 - p), 1e-300)).mean()
    return float(wrong.mean()), float(np.mean([wrong[y == label].mean() for label in (-1, 1)])), float(loss)


def run(name: str, scorer: str, seed: int, inclusions: int) -> dict[str, np.ndarray]:
    """Return the learning curve, and of each question its position, the latent's moments and the score's rank."""
    of = problem(name, seed)
    rng = np.random.default_rng([seed, 1])
    target = of.X[rng.permutation(len(of.y))[: N_TARGETS[name in PAIRS]]]
    asked = of.first.tolist()
    n = moments(min(inclusions, len(of.y) - INITIAL))
    measured, latent = [], []
    with threadpool_limits(1):
        model = model_of(name, of.X[of.first], of.y[of.first])
        for count in range(n[-1] + 1):
            if count in n:
                measured.append(quality(model, of.X_test, of.y_test))
            if count == n[-1]:
                break
            position = _next(model, of, scorer, asked, target, N_CANDIDATES[name in PAIRS], rng)
            believed = model.predictive(of.X[[position]])
            latent.append((believed.mean[0], believed.variance[0]))
            model.partial_fit(of.X[[position]], of.y[[position]])
            asked.append(position)
    error, balanced, loss = np.array(measured).T
    return {
        "n": INITIAL + n, "error": error, "balanced": balanced, "log_loss": loss, "scale": np.array(model.prior_scale_),
        "position": np.array(asked), "latent": np.array(latent),
    }  # fmt: skip


def _next(
    model: Any, of: Problem, scorer: str, asked: list[int], target: Any, n_candidates: int, rng: np.random.Generator
) -> int:
    """Return the position that a scorer asks for."""
    if scorer == "random":
        while (position := int(rng.integers(len(of.y)))) in asked:
            pass
        return position
    options: dict[str, Any] = {"exclude": asked}
    if scorer == "predictive_information_gain":
        left = np.setdiff1d(np.arange(len(of.y)), asked)
        mask = np.zeros(len(of.y), dtype=bool)
        mask[rng.permutation(left)[:n_candidates]] = True
        options = {"mask": mask, "target": target}
    return int(model.select(of.X, scorer=scorer, random_state=0, **options)[0])


def told_all(name: str, seed: int) -> dict[str, np.ndarray]:
    """Return what the model scores that was told the whole training part, at the prior scale of the initial set."""
    of = problem(name, seed)
    with threadpool_limits(1):
        model = model_of(name, of.X[of.first], of.y[of.first])
        told = model.set_params(prior_scale=model.prior_scale_, update="refit").fit(of.X, of.y)
        return {"quality": np.array(quality(told, of.X_test, of.y_test)), "scale": np.array(model.prior_scale_)}


def scores_at(name: str, seed: int, inclusions: int, after: int) -> dict[str, np.ndarray]:
    """Return what every scorer says of 2,000 candidates after some inclusions by uncertainty."""
    of = problem(name, seed)
    asked = run_kept(name, "uncertainty", seed, inclusions)["position"][: INITIAL + after]
    rng = np.random.default_rng([seed, 2])
    rows = rng.permutation(np.setdiff1d(np.arange(len(of.y)), asked))[:2000]
    target = of.X[rng.permutation(len(of.y))[: N_TARGETS[name in PAIRS]]]
    with threadpool_limits(1):
        model = model_of(name, of.X[of.first], of.y[of.first]).set_params(update="refit")
        model.set_params(prior_scale=model.prior_scale_).fit(of.X[asked], of.y[asked])
        believed = model.predictive(of.X[rows], target=target)
        of_latent = model.predictive(of.X[rows])
        found = {"position": rows, "mean": of_latent.mean, "variance": of_latent.variance}
        for scorer in ("uncertainty", "information_gain", "variational_information_gain"):
            found[scorer] = scorers.get(scorer)(of_latent, 0)
        found["predictive_information_gain"] = scorers.predictive_information_gain(believed, 0)
    return found


def run_kept(*arguments: Any) -> dict[str, np.ndarray]:
    """Return a run, from its file where there is one."""
    from experiments.runs import kept

    return kept(GROUP, run, *arguments)
