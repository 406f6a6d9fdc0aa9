"""Designed against random places, rows, entries and items for a new user: twenty repetitions, paired intervals.

Simulated from the models: a rate over time that is a Gaussian process behind a link, a Poisson regression of five
features, a factorisation of two components. Each design begins with the same few counts; the score is the mean negative
log predictive of held-out counts, by the last step, and the share of them inside 90% intervals.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.gaussian_process.kernels import RBF

from adaptive import CoxProcess, PoissonFactorization, PoissonRegression
from experiments.equivalence import all_of, inside
from experiments.script import Script, command
from experiments.statistics import limits

TASKS = ("places", "rows", "entries", "items")
SAYS = {
    "places": "places of a Cox process", "rows": "rows of a Poisson regression",
    "entries": "entries of a factorisation", "items": "items for a new user of a factorisation",
}  # fmt: skip


def places(rng: np.random.Generator) -> tuple[Any, ...]:
    """200 bins of time; kernel known."""
    X = np.linspace(0, 20, 200)[:, None]
    kernel = 4.0 * RBF(1.5)
    f = 4.0 + np.linalg.cholesky(kernel(X) + 1e-8 * np.eye(200)) @ rng.standard_normal(200)
    return CoxProcess(kernel, mean=4.0, optimizer=None), X, rng.poisson(np.maximum(f, 0.0)).astype(float), 5


def rows(rng: np.random.Generator) -> tuple[Any, ...]:
    """400 rows of five features."""
    X, w = rng.standard_normal((400, 5)), 0.5 * rng.standard_normal(5)
    return PoissonRegression(prior_scale=0.5, fit_intercept=False), X, rng.poisson(np.exp(X @ w)).astype(float), 5


def factors(rng: np.random.Generator, users: int, items: int) -> np.ndarray:
    """Counts of all pairs."""
    Z, W = rng.standard_normal((users, 2)), 0.7 * rng.standard_normal((items, 2))
    return rng.poisson(np.exp(0.3 + Z @ W.T)).astype(float)


def one(task: str, design: str, seed: int, n_steps: int) -> dict[str, Any]:
    """Loss and coverage at the end of a design."""
    rng = np.random.default_rng(seed)
    if task in ("places", "rows"):
        model, X, y, n_first = (places if task == "places" else rows)(rng)
        order = rng.permutation(len(X))
        test, pool, first = order[:100], order[100:-n_first], order[-n_first:]
        model.fit(X[first], y[first])
        said = _asked(model, X[pool], y[pool], design, n_steps, rng)
        return _scored(said, X[test], y[test])
    if task == "entries":
        Y = factors(rng, 20, 15)
        pairs = np.array([(u, i) for u in range(20) for i in range(15)])
        order = rng.permutation(len(pairs))
        test, pool, first = order[:100], order[100:-60], order[-60:]
        y = Y[pairs[:, 0], pairs[:, 1]]
        model = PoissonFactorization(2, item_variance=0.5, random_state=0, tol=1e-5).fit(pairs[first], y[first])
        said = _asked(model, pairs[pool], y[pool], design, n_steps, rng)
        return _scored(said, pairs[test], y[test])
    Y = factors(rng, 61, 80)
    known = rng.random((60, 80)) < 0.5
    listed = np.argwhere(known)
    whole = PoissonFactorization(2, item_variance=0.5, random_state=0, tol=1e-5).fit(listed, Y[:60][known])
    order = rng.permutation(80)
    test, pool = order[:40], order[40:]
    user = _asked(whole.user(60), pool, Y[60, pool], design, n_steps, rng)
    answered = [(60, int(user.items[k])) for k in range(len(user.items))]
    whole.partial_fit(answered, user.counts)
    return _scored(whole, np.array([(60, i) for i in test]), Y[60, test])


class _Answers:
    """What a user's view was asked, and what came back."""

    def __init__(self, items: list[int], counts: list[float]) -> None:
        self.items, self.counts = items, counts


def _asked(model: Any, X: np.ndarray, y: np.ndarray, design: str, n_steps: int, rng: np.random.Generator) -> Any:
    """The model after so many counts; of a view the answers."""
    left = list(range(len(X)))
    told: tuple[list[int], list[float]] = ([], [])
    for step in range(n_steps):
        if design == "designed":
            chosen = left[int(model.select(X[left], random_state=step)[0])]
        else:
            chosen = left[int(rng.integers(len(left)))]
        left.remove(chosen)
        model.partial_fit(X[[chosen]], y[[chosen]])
        told[0].append(int(X[chosen]) if X.ndim == 1 else chosen)
        told[1].append(float(y[chosen]))
    return _Answers(*told) if X.ndim == 1 else model


def _scored(model: Any, X: np.ndarray, y: np.ndarray) -> dict[str, Any]:
    low, high = model.interval(X, 0.9)
    return {"loss": -model.log_predictive(X, y).mean(), "coverage": np.mean((low <= y) & (y <= high))}


def run(script: Script) -> None:
    """Four tasks, two designs."""
    seeds, n_steps = (range(1), 2) if script.quick else (range(20), 12)
    coverage: dict[str, tuple[float, float, float]] = {}
    for task in TASKS:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = {
                design: [script.kept("what_to_count", one, task, design, seed, n_steps) for seed in seeds]
                for design in ("designed", "random")
            }
        loss = {design: np.array([float(one["loss"]) for one in runs]) for design, runs in found.items()}
        gain = loss["random"] - loss["designed"]
        _, low, high = limits(gain)
        coverage[task] = limits(np.array([float(one["coverage"]) for one in found["designed"]]))
        script.judge(
            f"ours-counts-designed-{task}", inside(low, high, least=0.0),
            claim=f"Designed {SAYS[task]} predict held-out counts better than random ones.",
            target="paired 95% interval of the gain in nats per count above 0",
            value={**{design: round(float(one.mean()), 4) for design, one in loss.items()},
                   "gain": [round(low, 4), round(high, 4)]},
            reason=f"{len(seeds)} repetitions, {n_steps} counts, simulated from the model; the loss is averaged over "
            "all held-out counts alike, while information is about the unknowns.",
        )  # fmt: skip
    script.judge(
        "ours-counts-designed-coverage", all_of(inside(low, high, least=0.88) for _, low, high in coverage.values()),
        claim="At the end of designed runs 90% intervals of counts hold at least nine tenths of them, or nearly.",
        target="at least 0.88 for every estimator, the whole 95% intervals over repetitions",
        value={task: [round(one, 3) for one in three] for task, three in coverage.items()},
        reason="Counts are whole numbers, so intervals hold a little more than they promise where the model is right.",
    )  # fmt: skip


if __name__ == "__main__":
    command(run, __doc__, __file__)
