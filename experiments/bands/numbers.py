"""Numbers of real rows and of drawn ones: Gaussian processes, sparse linear regression."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from sklearn.datasets import load_diabetes, load_wine
from sklearn.gaussian_process.kernels import RBF, WhiteKernel

from adaptive import GaussianProcessRegressor, SparseLinearRegression, datasets
from experiments.bands.rows import answered, asked, simple_numbers
from experiments.bands.shares import gaussians, result
from experiments.statistics import standardised

__all__ = ["SETS", "measured"]

FIRST = 5


def _quakes() -> tuple[np.ndarray, np.ndarray]:
    table = np.loadtxt(datasets.file("counts/quakes.csv"), delimiter=",", skiprows=1, usecols=range(1, 5))
    return table[:, [0, 1, 3]], table[:, 2]  # depth, by place and magnitude


def _glass() -> tuple[np.ndarray, np.ndarray]:
    X = np.asarray(datasets.uci("glass")[0], dtype=float)
    return X[:, 1:], X[:, 0]  # refractive index, by oxides


def _wine() -> tuple[np.ndarray, np.ndarray]:
    X = load_wine(return_X_y=True)[0]
    return X[:, 1:], X[:, 0]  # alcohol, by the other measurements


SETS: dict[str, Any] = {
    "diabetes": lambda: load_diabetes(return_X_y=True), "wine": _wine, "glass": _glass, "quakes": _quakes,
}  # fmt: skip


def _drawn(name: str, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """A function on a square with noise .3; or ten columns, all or two of which count, with noise .5."""
    if name == "sparse":
        X, weights = rng.standard_normal((300, 10)), rng.standard_normal(10) / np.sqrt(10)
        if rng.random() < 0.5:
            weights = np.where(np.arange(10) < 2, np.sqrt(0.5), 0.0)
        return X, X @ weights + 0.5 * rng.standard_normal(300)
    X = rng.uniform(-2, 2, (300, 2))
    f = np.linalg.cholesky(RBF(1.0)(X) + 1e-8 * np.eye(300)) @ rng.standard_normal(300)
    return X, f + 0.3 * rng.standard_normal(300)


def measured(name: str, data: str, design: str, n: int, unit: int) -> dict[str, np.ndarray]:
    """Real sets take turns; outcomes in units of the set's deviation."""
    rng = np.random.default_rng([unit, 34])
    X, y = _drawn(name, rng) if data == "drawn" else list(SETS.values())[unit % len(SETS)]()
    y = y / y.std()
    order = rng.permutation(len(y))
    test, pool = order[:100], order[100:300]
    X = X if data == "drawn" else standardised(X, pool)
    model: Any = SparseLinearRegression()
    if name != "sparse":
        kernel = 1.0 * RBF(np.sqrt(X.shape[1])) + WhiteKernel(0.3)
        way = "integrated" if name == "process, integrated" else "mode"
        model = GaussianProcessRegressor(kernel, normalize_y=True, hyperparameters=way)
    chosen = pool[asked(model, X[pool], y[pool], design, n, np.arange(FIRST), unit)]
    begun = time.process_time()
    fitted = answered(model, X[chosen], y[chosen])
    mean, deviation = fitted.predict(X[test], return_std=True)
    seconds = time.process_time() - begun
    covered, width, _ = gaussians(np.ones(1), mean[None], deviation[None] ** 2, y[test])
    score = (
        float(fitted.log_predictive(X[test], y[test]).mean()) if name == "sparse" else _score(mean, deviation, y[test])
    )
    simple = simple_numbers(model, fitted, X[chosen], y[chosen], X[test], y[test], unit)
    return result(covered, width, score, seconds, simple)


def _score(mean: np.ndarray, deviation: np.ndarray, y: np.ndarray) -> float:
    return gaussians(np.ones(1), mean[None], deviation[None] ** 2, y)[2]
