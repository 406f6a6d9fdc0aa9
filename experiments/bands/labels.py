"""Labels of real rows, and latents of drawn ones: linear and Gaussian process classifiers."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from scipy.special import expit
from sklearn.datasets import load_iris, load_wine
from sklearn.gaussian_process.kernels import RBF

from adaptive import BayesianLogisticRegression, GaussianProcessClassifier, datasets
from experiments.bands.rows import answered, asked, simple_labels
from experiments.bands.shares import gaussians, labels, result
from experiments.statistics import standardised

__all__ = ["MULTICLASS", "TWO_CLASSES", "latents", "real"]

TWO_CLASSES: dict[str, Any] = {
    "heart": lambda: datasets.raetsch("heart"),
    "diabetes": lambda: datasets.uci("pima"),
    "german": lambda: datasets.raetsch("german"),
    "ionosphere": lambda: datasets.uci("ionosphere"),
    "haberman": lambda: datasets.uci("haberman"),
}
MULTICLASS: dict[str, Any] = {
    "wine": lambda: load_wine(return_X_y=True), "iris": lambda: load_iris(return_X_y=True),
    "glass": lambda: datasets.uci("glass"), "seeds": lambda: datasets.uci("wheat_seeds"),
}  # fmt: skip


def _model(name: str, classes: Any) -> Any:
    """The estimator as it comes; of "process, begun small" a kernel that begins at a quarter of the true variance."""
    if name == "logistic":
        return BayesianLogisticRegression(classes=classes)
    return GaussianProcessClassifier(None if name == "process" else 1.0 * RBF(1.5), classes=classes)


def _rows(table: Any, unit: int) -> tuple[np.ndarray, ...]:
    """Pool rows and codes, test rows and codes, five first positions that show two classes."""
    X, y = table
    codes = np.unique(y, return_inverse=True)[1]
    rng = np.random.default_rng([unit, 32])
    order = rng.permutation(len(codes))
    n_test = min(round(0.4 * len(order)), 200)
    test, pool = order[:n_test], order[n_test:][:400]
    X = standardised(np.asarray(X, dtype=float), pool)
    first = np.arange(5)
    while len(np.unique(codes[pool[first]])) < 2:
        first = rng.choice(len(pool), 5, replace=False)
    return X[pool], codes[pool], X[test], codes[test], first


def real(name: str, kind: str, design: str, n: int, unit: int) -> dict[str, np.ndarray]:
    """Sets take turns: unit 0 is the first split of the first one."""
    sets = TWO_CLASSES if kind == "two" else MULTICLASS
    pool, codes, new, truth, first = _rows(list(sets.values())[unit % len(sets)](), unit // len(sets))
    classes = np.arange(max(codes.max(), truth.max()) + 1)
    model = _model(name, classes)
    chosen = asked(model, pool, codes, design, n, first, unit)
    begun = time.process_time()
    p = answered(model, pool[chosen], codes[chosen]).predict_proba(new)
    seconds = time.process_time() - begun
    covered, size = labels(p, truth)
    score = float(np.log(np.maximum(p[np.arange(len(truth)), truth], 1e-300)).mean())
    simple = simple_labels(model, pool[chosen], codes[chosen], p, truth, unit)
    return result(covered, size, score, seconds, simple)


def latents(name: str, design: str, n: int, unit: int) -> dict[str, np.ndarray]:
    """Drawn weights on real rows, latents of typical size 1, 2 or 4; or a drawn function on a square."""
    rng = np.random.default_rng([unit, 33])
    if name == "logistic":
        pool, _, new, _, _ = _rows(TWO_CLASSES[("german", "diabetes", "heart")[unit % 3]](), unit // 3)
        scale = (1.0, 2.0, 4.0)[unit // 3 % 3] / np.sqrt(np.mean(np.sum(pool**2, axis=1)))
        weights = scale * rng.standard_normal(pool.shape[1])
        latent, truth = pool @ weights, new @ weights
    else:
        X = rng.uniform(-2, 2, (300, 2))
        kernel = 4.0 * RBF(1.0)
        f = np.linalg.cholesky(kernel(X) + 1e-8 * np.eye(300)) @ rng.standard_normal(300)
        pool, new, latent, truth = X[:200], X[200:], f[:200], f[200:]
    model = _model(name, [0, 1])
    codes = (rng.random(len(latent)) < expit(latent)).astype(int)
    first = np.arange(5)
    while len(np.unique(codes[first])) < 2:
        first = rng.choice(len(codes), 5, replace=False)
    chosen = asked(model, pool, codes, design, n, first, unit)
    begun = time.process_time()
    fitted = answered(model, pool[chosen], codes[chosen])
    factor = getattr(fitted, "variance_factor_", None)  # of processes, as in their `interval`
    gamma = 1.0 if factor is None else factor.value
    moments = [(weight, part.mean, gamma * part.variance) for weight, part in fitted.predictive(new).components]
    seconds = time.process_time() - begun
    w, mean, variance = (np.array(one) for one in zip(*moments, strict=True))
    return result(*gaussians(w, mean, variance, truth), seconds)
