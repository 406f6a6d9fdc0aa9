"""Families of `other_settings.py` that are measured: images, instruments and simulators with known answers, scales.

Images: lines of k-space and patterns of photographs are begun with, further ones chosen, the image reconstructed.
Instruments and simulators: the models of `simulator_densities.py`, whose posteriors are known; what is judged is the
log density that a normal belief with the posterior's moments gives the truth, expected under the exact posterior, so
that no truth's luck is in it. Scales: every other answer of other people is shown.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from adaptive import ImageReconstructor, ParticleEstimator, Questionnaire, SimulatorEstimator
from designs.kspace import central, lines
from experiments.defaults.questionnaire_models import scale_of
from experiments.defaults.simulator_densities import ANSWERS, MODELS
from experiments.images.shared.photographs import photograph
from experiments.kspace.pays import shared as heads

__all__ = ["answers", "instruments", "kspace", "next_settings", "photographs", "simulators"]

SIDE, CENTRAL, LINES, SNR = 64, 8, 24, 50.0
PICTURE, FIRST, FURTHER, POOL, NOISE = 32, 150, 50, 500, 0.03
DRAWS, GRID, REFERENCES = 100_000, 13, 3
PEOPLE = 300
AIR = 0.05  # of the largest magnitude: darker pixels are outside the object
INSIDE = 1.6448536  # deviations of a central 90% band

Judges = tuple[float, float]


def kspace(name: str, seed: int, options: dict[str, Any]) -> Judges:
    """A slice by lines of which most are chosen."""
    scan = heads.scan(name, SNR, seed, SIDE)
    pool, chosen = lines(scan.image.shape), list(central(SIDE, CENTRAL))
    model = ImageReconstructor(scan.image.shape, check=False, random_state=seed, **options)
    model.fit(pool.take(chosen), scan.measure(pool.take(chosen)))
    while len(chosen) < LINES:
        further = model.select(pool, 4, exclude=chosen, joint=False)
        chosen += further.tolist()
        model.partial_fit(pool.take(further), scan.measure(pool.take(further)))
    return _seen(model, np.abs(scan.image))


def photographs(name: str, seed: int, options: dict[str, Any]) -> Judges:
    """A photograph by random patterns and chosen ones."""
    truth = photograph(name, PICTURE)
    rng = np.random.default_rng([seed, 34])
    patterns = rng.standard_normal((POOL, PICTURE**2)) / PICTURE
    outcomes = patterns @ truth.ravel() + NOISE * rng.standard_normal(POOL)
    model = ImageReconstructor(truth.shape, random_state=seed, **{"noise_variance": NOISE**2, **options})
    model.fit(patterns[:FIRST], outcomes[:FIRST])
    further = model.select(patterns, FURTHER, exclude=range(FIRST), joint=False)
    model.partial_fit(patterns[further], outcomes[further])
    return _seen(model, truth)


def _seen(model: ImageReconstructor, truth: np.ndarray) -> Judges:
    """Minus the distance of coverage from .9 inside the object, minus the relative error."""
    image, deviation = model.predict(return_std=True)
    off, inside = image - truth, truth > AIR * truth.max()
    held = np.mean(np.abs(off) <= INSIDE * deviation, where=inside)
    return -abs(float(held) - 0.9), -float(np.linalg.norm(off) / np.linalg.norm(truth))


@cache
def _problem(name: str, seed: int, n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Settings and answers, mean and covariance of the exact posterior (by weighted draws from the prior)."""
    model, rng = MODELS[name], np.random.default_rng([seed, list(MODELS).index(name), 34])
    drawn = np.column_stack([one.rvs(DRAWS, random_state=rng) for one in model.prior.values()])
    X = rng.uniform(0.0, 6.0, (n, 1))
    y = np.array([np.atleast_1d(np.squeeze(model.simulate(drawn[:1], x, rng))) for x in X])
    log = sum(model.log_density(drawn, x, outcome) for x, outcome in zip(X, y, strict=True))
    weights = np.exp(log - log.max())
    return X, y, *_moments(weights / weights.sum(), drawn)


def _moments(weights: np.ndarray, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    mean = weights @ values
    return mean, (values - mean).T @ ((values - mean) * weights[:, None])


def _told(values: np.ndarray, weights: np.ndarray, mean: np.ndarray, covariance: np.ndarray) -> Judges:
    """Expected log density of the truth a parameter, minus the rms error of means in exact deviations."""
    about, own = _moments(weights, values)
    second = covariance + np.outer(mean - about, mean - about)
    nats = -0.5 * (np.linalg.slogdet(2 * np.pi * own)[1] + np.trace(np.linalg.solve(own, second)))
    error = np.sqrt(np.mean(np.square(about - mean) / np.diagonal(covariance)))
    return float(nats) / len(mean), -float(error)


def instruments(name: str, seed: int, options: dict[str, Any]) -> Judges:
    """Six answers to a model whose likelihood is given."""
    X, y, mean, covariance = _problem(name, seed, ANSWERS)

    def log_likelihood(parameters: np.ndarray, X: np.ndarray, y: np.ndarray) -> np.ndarray:
        return np.column_stack([
            MODELS[name].log_density(parameters, x, np.atleast_1d(one)) for x, one in zip(X, y, strict=True)
        ])  # fmt: skip

    model = ParticleEstimator(log_likelihood, prior=MODELS[name].prior, random_state=seed, **options)
    found = model.fit(X, y if y.shape[1] > 1 else y[:, 0]).parameters_
    return _told(found.values, found.weights, mean, covariance)


def _simulated(name: str, seed: int, n: int, **options: Any) -> SimulatorEstimator:
    X, y, *_ = _problem(name, seed, n)
    model = SimulatorEstimator(MODELS[name].simulate, MODELS[name].prior, **options)
    return model.fit(X, y if y.shape[1] > 1 else y[:, 0])


def simulators(name: str, seed: int, options: dict[str, Any]) -> Judges:
    """The same six answers, without a likelihood."""
    found = _simulated(name, seed, ANSWERS, random_state=seed, **options).parameters_
    return _told(found.values, found.weights, *_problem(name, seed, ANSWERS)[2:])


@cache
def _informations(name: str, seed: int) -> np.ndarray:
    """Of each setting, by all of 1,000 particles, the mean of three clouds."""
    grid = np.linspace(0.0, 6.0, GRID)[:, None]
    models = (
        _simulated(name, seed, ANSWERS // 2, n_nested=1000, random_state=1000 * k + seed)
        for k in range(1, 1 + REFERENCES)
    )
    return np.mean([_of_all(model, grid) for model in models], axis=0)


def _of_all(model: SimulatorEstimator, grid: np.ndarray) -> np.ndarray:
    places, scores = model.select(grid, len(grid), joint=False, return_scores=True)
    return scores[np.argsort(places)]


def next_settings(name: str, seed: int, options: dict[str, Any]) -> Judges:
    """Minus the nats of information that the chosen setting lacks; and whether it lacks less than .05."""
    grid, known = np.linspace(0.0, 6.0, GRID)[:, None], _informations(name, seed)
    chosen = _simulated(name, seed, ANSWERS // 2, random_state=seed, **options).select(grid)[0]
    lacks = float(known.max() - known[chosen])
    return -lacks, float(lacks < 0.05)


def answers(name: str, seed: int, options: dict[str, Any]) -> Judges:
    """Nats of a hidden answer, minus the error of the total of the hidden ones in its deviations."""
    values, categories, reverse = scale_of(name)
    values = values[(~np.isnan(values)).all(axis=1)]
    order = np.random.default_rng([seed, 34]).permutation(len(values))
    n = min(PEOPLE, len(values) // 2)
    train, judge = values[order[:n]], values[order[n : 2 * n]]
    shown = np.arange(values.shape[1]) % 2 == 0
    model = Questionnaire(categories=categories, reverse=reverse, **options).fit(train)
    p, hidden = model.predict_proba(np.where(shown, judge, np.nan))[:, ~shown], judge[:, ~shown]
    nats = np.log(np.take_along_axis(p, np.searchsorted(categories, hidden)[..., None], axis=2))
    total, truth = (p @ np.asarray(categories, dtype=float)).sum(axis=1), hidden.sum(axis=1)
    return float(nats.mean()), -float(np.sqrt(np.mean((total - truth) ** 2)) / truth.std())
