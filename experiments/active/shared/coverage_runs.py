"""Runs that end in intervals: 100 answers, asked by design or at random, and what is believed of rows never asked.

Simulated answers: the rows are real (German credit; digits 3 against 5), the weights are drawn from the model's own
prior, answers from the model. The truth is then known, and an exact posterior covers it as often as it says, whatever
was asked. Real answers: the same, with the labels of the set; there is no true probability, but frequencies.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import stats
from threadpoolctl import threadpool_limits

from adaptive import BayesianLogisticRegression, SequentialDesign, datasets
from experiments.statistics import standardised

GROUP = "active_coverage"
SETS = {"digits": datasets.digits_pair, "german": lambda: datasets.raetsch("german")}
SCORERS = ("information_gain", "predictive_information_gain", "uncertainty", "random")
LEVEL = 0.9
LATENT = 2.0  # standard deviation of a typical row's latent under the prior: probabilities .02 to .98
INITIAL, N_TEST, N_TARGETS = 2, 200, 100


def halves(name: str, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return pool rows and labels (-1, +1), test rows and labels; features in units of the pool's deviations."""
    X, y = SETS[name]()
    order = np.random.default_rng([seed, 0]).permutation(len(X))
    test, pool = np.sort(order[:N_TEST]), np.sort(order[N_TEST:])
    if len(pool) < len(test):
        test, pool = pool, test
    X = standardised(X, pool)
    signs = np.where(y == np.unique(y)[-1], 1, -1)
    return X[pool], signs[pool], X[test], signs[test]


def asked(model: Any, scorer: str, X: np.ndarray, y: np.ndarray, seed: int, answers: int) -> Any:
    """Return the model that has learnt so many answers, the first two asked at random."""
    rng = np.random.default_rng([seed, 1])
    first = rng.permutation(len(X))[:INITIAL]
    target = X[rng.permutation(len(X))[:N_TARGETS]] if scorer == "predictive_information_gain" else None
    loop = SequentialDesign(model, X, scorer=scorer, target=target, initial=first, exploration=0, random_state=seed)
    for _ in range(answers):
        query = loop.ask(1)
        loop.tell(query, y[query.positions])
    return loop.estimator_


def drawn(name: str, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, float]:
    """Return pool rows and simulated answers, test rows and their true latents, and the scale of the weights."""
    X, _, X_test, _ = halves(name, seed)
    rng = np.random.default_rng([seed, 2])
    deviation = float(LATENT / np.sqrt(X.shape[1]))
    weights = deviation * rng.standard_normal(X.shape[1])
    y = np.where(X @ weights + rng.logistic(size=len(X)) > 0, 1, -1)
    return X, y, X_test, X_test @ weights, deviation


def simulated(name: str, scorer: str, engine: str, scale: str, seed: int, answers: int) -> dict[str, np.ndarray]:
    """Return how often the intervals of the test rows hold the true probability, and their mean width.

    ``scale`` says whether the model was "told" the prior scale that the weights were drawn with, or has "learnt" one.
    """
    X, y, X_test, truth, deviation = drawn(name, seed)
    with threadpool_limits(1):
        model = BayesianLogisticRegression(
            prior_scale=deviation if scale == "told" else None, inference=engine, fit_intercept=False, classes=[-1, 1],
            hyperparameters="mode",
        )  # fmt: skip
        believed = asked(model, scorer, X, y, seed, answers).predictive(X_test)
    centre, spread = believed.mean, np.sqrt(believed.variance)
    half = stats.norm.ppf(0.5 + LEVEL / 2) * spread
    low, high = (1 / (1 + np.exp(-(centre + side * half))) for side in (-1, 1))
    return {"covered": np.mean(np.abs(truth - centre) <= half), "width": np.mean(high - low)}


def scale_ratio(name: str, scorer: str, seed: int, answers: int) -> dict[str, np.ndarray]:
    """Return the prior scale that was learnt from simulated answers, over the one that the weights were drawn with."""
    X, y, _, _, deviation = drawn(name, seed)
    with threadpool_limits(1):
        model = BayesianLogisticRegression(fit_intercept=False, classes=[-1, 1], hyperparameters="mode")
        return {"ratio": np.array(asked(model, scorer, X, y, seed, answers).prior_scale_ / deviation)}


def real(name: str, scorer: str, seed: int, answers: int) -> dict[str, np.ndarray]:
    """Return the test rows' probabilities of +1 and whether it came."""
    X, y, X_test, y_test = halves(name, seed)
    with threadpool_limits(1):
        model = asked(BayesianLogisticRegression(classes=[-1, 1], hyperparameters="mode"), scorer, X, y, seed, answers)
        return {"probability": model.predict_proba(X_test)[:, 1], "happened": y_test == 1}
