"""Counts of real rows, bins and pairs, and of drawn ones: Poisson regression, Cox processes, factorisation."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from scipy.special import pdtr
from sklearn.gaussian_process.kernels import RBF

from adaptive import CoxProcess, PoissonFactorization, PoissonRegression, datasets
from adaptive.estimators.pairs.factorization.mixtures import sobol_normals
from adaptive.estimators.pairs.factorization.predictive import conditional_moments
from experiments.bands.rows import answered, asked, simple_numbers
from experiments.bands.shares import central, result
from experiments.statistics import standardised

__all__ = ["BINS", "ROWS", "masses", "measured", "pair_masses"]

FIRST, TEST = 5, 80


def _table(name: str, outcome: str) -> tuple[np.ndarray, np.ndarray]:
    import pandas as pd

    table = pd.read_csv(datasets.file(f"counts/{name}.csv"), index_col=0)
    X = pd.get_dummies(
        table.drop(columns=[outcome, *({"subject", "lbase", "lage", "V4"} & set(table))]), drop_first=True
    )
    return X.to_numpy(dtype=float), table[outcome].to_numpy(dtype=float)


def _years() -> tuple[np.ndarray, np.ndarray]:
    dates = datasets.coal()
    first = np.arange(1851, 1962)
    return first[:, None] - 1851.0, np.array([np.sum((dates >= one) & (dates < one + 1)) for one in first], dtype=float)


def _series(name: str) -> tuple[np.ndarray, np.ndarray]:
    table = np.loadtxt(datasets.file(f"counts/{name}.csv"), delimiter=",", skiprows=1, usecols=(1, 2))
    return table[:, :1] - table[0, 0], np.round(table[:, 1])


ROWS: dict[str, Any] = {
    "quine": lambda: _table("quine", "Days"), "crabs' satellites": lambda: _table("CrabSatellites", "satellites"),
    "visits to a doctor": datasets.visits, "epilepsy": lambda: _table("epil", "y"),
}  # fmt: skip
BINS: dict[str, Any] = {
    "coal": _years, "discoveries": lambda: _series("discoveries"), "sunspots": lambda: _series("sunspot.year")
}  # fmt: skip


def _drawn(name: str, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    if name == "regression":
        X, weights = rng.standard_normal((400, 5)), 0.5 * rng.standard_normal(5)
        return X, rng.poisson(np.exp(X @ weights)).astype(float)
    if name == "process":
        X = np.linspace(0, 20, 200)[:, None]
        kernel = 4.0 * RBF(1.5)
        f = 4.0 + np.linalg.cholesky(kernel(X) + 1e-8 * np.eye(200)) @ rng.standard_normal(200)
        return X, rng.poisson(np.maximum(f, 0.0)).astype(float)
    users, items = rng.standard_normal((20, 2)), 0.7 * rng.standard_normal((15, 2))
    pairs = np.array([(u, i) for u in range(20) for i in range(15)])
    return pairs, rng.poisson(np.exp(0.3 + users @ items.T)).ravel().astype(float)


def _real(name: str, unit: int) -> tuple[np.ndarray, np.ndarray]:
    sets = list((ROWS if name == "regression" else BINS).values())
    X, y = sets[unit % len(sets)]()
    return (standardised(X, np.arange(len(X))) if name == "regression" else X), y


def _model(name: str) -> Any:
    if name == "regression":
        return PoissonRegression()
    return CoxProcess() if name == "process" else PoissonFactorization(2, random_state=0, tol=1e-5)


def measured(name: str, data: str, design: str, n: int, unit: int) -> dict[str, np.ndarray]:
    """Real sets take turns."""
    rng = np.random.default_rng([unit, 35])
    X, y = _drawn(name, rng) if data == "drawn" else _real(name, unit)
    order = rng.permutation(len(y))
    n_test = min(TEST, len(y) // 3)
    test, pool = order[:n_test], order[n_test:][:300]
    first = max(FIRST, 0 if name != "factors" else n - 10)
    model = _model(name)
    chosen = pool[asked(model, X[pool], y[pool], design, n, np.arange(first), unit)]
    begun = time.process_time()
    fitted = answered(model, X[chosen], y[chosen])
    low, high = fitted.interval(X[test], 0.9)
    seconds = time.process_time() - begun
    simple = simple_numbers(model, fitted, X[chosen], y[chosen], X[test], y[test], unit)
    below, upto = (pair_masses if name == "factors" else masses)(fitted, X[test], y[test])
    score = np.log(np.maximum(upto - below, 1e-300)).mean()
    return result(central(below, upto), float(np.mean(high - low)), float(score), seconds, simple)


def pair_masses(fitted: Any, pairs: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the same of pairs, by the draws of rates that their intervals are made of, with the scatter."""
    belief = fitted.belief_
    factors, users, items = belief.located(*(pairs[:, side] for side in (0, 1)))
    k, scatter = len(factors.sides[1].prior), belief.scatter_variance
    normals = sobol_normals(1024, k + 1, 0)
    below, upto = np.empty(len(y)), np.empty(len(y))
    for row, (user, item) in enumerate(zip(users.tolist(), items.tolist(), strict=True)):
        mean, variance = conditional_moments(factors, user, item, normals[:, :k])
        rate = np.exp(np.minimum(mean - 0.5 * scatter + np.sqrt(variance + scatter) * normals[:, k], 34.0))
        upto[row] = pdtr(y[row], rate).mean()
        below[row] = pdtr(y[row] - 1.0, rate).mean() if y[row] > 0 else 0.0
    return below, upto


def masses(fitted: Any, X: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return P(y' < y) and P(y' <= y) (m,): sums of the predictive probabilities of all counts up to y."""
    rows = np.repeat(np.arange(len(y)), y.astype(int) + 1)
    counts = np.concatenate([np.arange(int(one) + 1.0) for one in y])
    p = np.exp(fitted.log_predictive(X[rows], counts))
    upto = np.bincount(rows, weights=p, minlength=len(y))
    last = np.cumsum(y.astype(int) + 1) - 1
    return np.clip(upto - p[last], 0.0, 1.0), np.clip(upto, 0.0, 1.0)
