"""Defaults of `SimulatorEstimator` on six simulators whose posteriors are known: density, moves, particles.

Six answers each at settings that give fewer or more observations; six true parameters from the prior. Errors are those
of posterior means, in exact posterior deviations (root mean square over parameters), and ratios of deviations; the log
density that the posterior gives the truth is the other judge. Three simulators choose, three confirm. Simulated data.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from scipy import stats

from adaptive import SimulatorEstimator
from experiments.script import Script, command
from experiments.statistics import half_width

ANSWERS, DRAWS = 6, 400_000
ROOT = np.linalg.cholesky(np.array([[1.0, 0.7], [0.7, 1.0]]))
DENSITIES = ("transformed", "synthetic", "kernel")
MOVES = ("liu_west 500", "liu_west 1000", "random_walk 1000")
ARMS = [f"{density} {moves}" for density, moves in product(DENSITIES, MOVES)]
FORMER, GOAL = "synthetic liu_west 500", 0.1
QUICK = [ARMS[0], FORMER]


class Model(NamedTuple):
    """A simulator and the exact log likelihood of one outcome: (parameters, x, outcome) -> (n,)."""

    prior: dict[str, Any]
    simulate: Callable[..., np.ndarray]
    log_density: Callable[..., np.ndarray]


def _size(x: np.ndarray) -> int:
    return 4 + round(float(x[0]))


def _normal(log_variance: bool) -> Model:
    """Mean and (log) variance of normal numbers."""

    def simulate(values: np.ndarray, x: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        k, sd = _size(x), np.exp(values[:, 1])
        mean = values[:, 0] + sd * rng.standard_normal(len(values)) / np.sqrt(k)
        variance = sd**2 * rng.chisquare(k - 1, len(values)) / (k - 1)
        return np.column_stack([mean, np.log(variance) if log_variance else variance])

    def log_density(values: np.ndarray, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        k, sd = _size(x), np.exp(values[:, 1])
        q = (k - 1) * (np.exp(y[1]) if log_variance else y[1]) / sd**2
        return stats.norm.logpdf(y[0], values[:, 0], sd / np.sqrt(k)) + stats.chi2.logpdf(q, k - 1) + np.log(q)

    return Model({"mean": stats.norm(0, 2), "log sd": stats.norm(0, 0.7)}, simulate, log_density)


def _waiting() -> Model:
    """Mean of exponential waiting times."""

    def simulate(values: np.ndarray, x: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        k = _size(x)
        return np.exp(values[:, 0]) * rng.gamma(k, 1 / k, len(values))

    def log_density(values: np.ndarray, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        k = _size(x)
        return stats.gamma.logpdf(y[0], k, scale=np.exp(values[:, 0]) / k)

    return Model({"log mean": stats.norm(0, 1)}, simulate, log_density)


def _lognormal() -> Model:
    """Two correlated lognormal numbers, of a skewness that is a parameter."""

    def simulate(values: np.ndarray, x: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        z = rng.standard_normal((len(values), 2)) @ ROOT.T
        return np.exp(values[:, :1] * (1 + 0.1 * x[0]) + np.exp(values[:, 1:]) * z)

    def log_density(values: np.ndarray, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        apart = (np.log(y) - values[:, :1] * (1 + 0.1 * x[0])) / np.exp(values[:, 1:])
        return -0.5 * np.square(np.linalg.solve(ROOT, apart.T)).sum(axis=0) - 2 * values[:, 1]

    return Model({"level": stats.norm(0, 1), "log sd": stats.norm(-0.5, 0.3)}, simulate, log_density)


def _linear() -> Model:
    """Three normal numbers, linear in two parameters."""
    A = np.array([[1, 0.5], [0.2, 1], [0.7, -0.7]])

    def simulate(values: np.ndarray, x: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        return values @ A.T * (1 + 0.1 * x[0]) + 0.5 * rng.standard_normal((len(values), 3))

    def log_density(values: np.ndarray, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        return -2.0 * np.square(y - values @ A.T * (1 + 0.1 * x[0])).sum(axis=1)

    return Model({"a": stats.norm(0, 1), "b": stats.norm(0, 1)}, simulate, log_density)


def _largest() -> Model:
    """Largest of some numbers, exponential beyond their start: two parameters, a Gumbel's skewness."""

    def simulate(values: np.ndarray, x: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        u = rng.uniform(size=len(values)) ** (1 / _size(x))
        return values[:, 0] - np.exp(values[:, 1]) * np.log1p(-u)

    def log_density(values: np.ndarray, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        k, t = _size(x), (y[0] - values[:, 0]) / np.exp(values[:, 1])
        inside = t > 0
        t = np.where(inside, t, 1.0)
        return np.where(inside, (k - 1) * np.log1p(-np.exp(-t)) - t - values[:, 1], -np.inf)

    return Model({"start": stats.norm(0, 1), "log scale": stats.norm(0, 0.5)}, simulate, log_density)


MODELS = {
    "mean and variance": _normal(False),
    "waiting times": _waiting(),
    "linear": _linear(),
    "mean and log variance": _normal(True),
    "lognormal pair": _lognormal(),
    "largest": _largest(),
}
CHOOSE, CONFIRM = tuple(MODELS)[:3], tuple(MODELS)[3:]


def learnt(name: str, seeds: int, quick: bool) -> dict[str, np.ndarray]:
    """Errors, ratios of deviations, log density of the truth and seconds of every arm: (seeds, ...)."""
    model, found, arms = MODELS[name], {}, QUICK if quick else ARMS
    for seed in range(seeds):
        rng = np.random.default_rng([seed, 7])
        drawn = np.column_stack([one.rvs(DRAWS, random_state=rng) for one in model.prior.values()])
        X, truth = rng.uniform(0.0, 6.0, (ANSWERS, 1)), drawn[:1]
        y = np.array([np.atleast_1d(np.squeeze(model.simulate(truth, x, rng))) for x in X])
        log = sum(model.log_density(drawn, x, outcome) for x, outcome in zip(X, y, strict=True))
        weights = np.exp(log - log.max())
        mean, sd = _moments(weights / weights.sum(), drawn)
        for arm in arms:
            density, move, n = arm.split()
            begun = time.process_time()
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                fitted = SimulatorEstimator(
                    model.simulate, model.prior, density=density, move=move, n_particles=int(n), random_state=seed
                ).fit(X, y if y.shape[1] > 1 else y[:, 0])
            took = time.process_time() - begun
            about, width = fitted.posterior_.mean, fitted.posterior_.std
            score = stats.norm.logpdf(truth[0], about, width).sum()
            row = [np.sqrt(np.mean(((about - mean) / sd) ** 2)), np.exp(np.mean(np.log(width / sd))), score, took]
            found.setdefault(arm, []).append(row)
        exact = [0.0, 1.0, stats.norm.logpdf(truth[0], mean, sd).sum(), 0.0]
        found.setdefault("exact", []).append(exact)
    return {arm: np.array(rows) for arm, rows in found.items()}


def _moments(weights: np.ndarray, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    mean = weights @ values
    return mean, np.sqrt(weights @ (values - mean) ** 2)


def run(script: Script) -> None:
    """Learn, choose on one half of the simulators, confirm on the other."""
    seeds, arms = (2, QUICK) if script.quick else (6, ARMS)
    names = (CHOOSE[1], CONFIRM[2]) if script.quick else tuple(MODELS)
    found = {name: script.kept("default_simulators", learnt, name, seeds, script.quick) for name in names}
    error = {arm: {name: _size_of(found[name][arm][:, 0]) for name in names} for arm in arms}
    chosen = min(arms, key=lambda arm: sum(np.log(error[arm][name]) for name in names if name in CHOOSE))
    rows = [
        {
            "simulator": name, "half": "chooses" if name in CHOOSE else "confirms", "arm": arm,
            "error": round(error[arm][name], 3),
            "deviation": round(float(np.exp(np.log(one[arm][:, 1]).mean())), 3),
            "log density less exact": round(float((one[arm][:, 2] - one["exact"][:, 2]).mean()), 3),
            "seconds": round(float(one[arm][:, 3].mean()), 2),
        }
        for name, one in found.items()
        for arm in arms
    ]  # fmt: skip
    script.table(
        {column: [row[column] for row in rows] for column in rows[0]}, "default-simulators",
        f"Posteriors after {ANSWERS} answers against exact ones, {seeds} simulated truths each: root mean square error "
        "of means in exact deviations, ratio of deviations, log density of the truth (as Gaussians) less that of the "
        "exact posterior, processor seconds of a fit. 50 simulations of each particle.",
    )  # fmt: skip
    scores = {name: found[name][chosen][:, 2] - found[name][FORMER][:, 2] for name in names}
    confirm = [name for name in names if name in CONFIRM]
    behind = [name for name in confirm if scores[name].mean() + half_width(scores[name]) < 0]
    behind += [f"error on {name}" for name in confirm if error[chosen][name] > max(GOAL, error[FORMER][name])]
    above = {name: round(error[chosen][name], 3) for name in names if error[chosen][name] > GOAL}
    script.judge(
        "ours-default-simulators", not behind and not above,
        claim="SimulatorEstimator by its defaults, chosen on three simulators, has posterior means within a tenth of "
        "a deviation of exact ones on all six, and is behind its former default on none of three others.",
        target=f"errors of at most {GOAL} deviations; log density of the truth not certainly less",
        value={
            "chosen": chosen,
            "errors": {name: round(error[chosen][name], 3) for name in names},
            "former errors": {name: round(error[FORMER][name], 3) for name in names},
            "log density minus former": {
                name: f"{one.mean():+.3f} +- {half_width(one):.3f}" for name, one in scores.items()
            },
        },
        reason=f"Behind: {behind}; beyond a tenth: {above}." if behind or above else "",
        seed=f"0..{seeds}",
    )  # fmt: skip


def _size_of(errors: np.ndarray) -> float:
    return float(np.sqrt(np.mean(errors**2)))


if __name__ == "__main__":
    command(run, __doc__, __file__)
