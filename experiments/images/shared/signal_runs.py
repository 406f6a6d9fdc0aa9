"""The runs behind `experiments.images.sparse_signals`: one signal, one way to measure and to reconstruct it.

Every method begins with the same 40 random rows of norm one, of a signal of 512 numbers with variance one, and adds
random rows, or one after the other the leading direction of its own posterior. The k-th measurement has the same noise
in all methods; with random rows, reconstructions are made after every fourth.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from adaptive.inference import GLM, expectation_propagation
from adaptive.inference.classic import basis_pursuit, least_squares, sparse_bayesian_learning
from adaptive.operators import Identity
from adaptive.potentials import Laplace

__all__ = ["METHODS", "NOISE_VARIANCE", "RATE", "SIGNALS", "START", "curve"]

START, STRIDE = 40, 4  # random rows that come first; between two reconstructions from random rows
NOISE_VARIANCE, RATE, FRACTION = 0.005, 5.0, 0.9
TOLERANCE = 1e-2  # nats: a site is moved, a scale changed, while that gains more
RESTART = 20  # rows after which sparse Bayesian learning, which has many local optima, also begins anew
SPIKES = 20

SIGNALS: dict[str, Callable[[np.random.Generator, int], np.ndarray]] = {
    "Gaussian": lambda rng, n: rng.standard_normal(n),
    "Laplace": lambda rng, n: rng.laplace(scale=np.sqrt(0.5), size=n),
    "Student t": lambda rng, n: rng.standard_t(3, n) / np.sqrt(3),
    "decaying": lambda rng, n: _unit(rng.permutation(_decay(n))),
    "spikes": lambda rng, n: _unit(_spikes(rng, n, lambda k: np.ones(k))),
    "varied spikes": lambda rng, n: _unit(_spikes(rng, n, lambda k: 0.25 + np.abs(rng.standard_normal(k)))),
}
METHODS = ("L2 random", "L1 random", "BCS random", "BCS designed", "EP random", "EP designed")


def _decay(n: int) -> np.ndarray:
    """Half zeros, a quarter falling from one to (nearly) zero over five time constants, a quarter its negative."""
    fall = np.exp(-np.linspace(0.0, 5.0, n // 4))
    return np.concatenate([fall, -fall, np.zeros(n - 2 * (n // 4))])


def _spikes(rng: np.random.Generator, n: int, sizes: Callable[[int], np.ndarray]) -> np.ndarray:
    u, count = np.zeros(n), min(SPIKES, n // 8)
    u[rng.choice(n, count, replace=False)] = sizes(count) * rng.choice([-1.0, 1.0], count)
    return u


def _unit(u: np.ndarray) -> np.ndarray:
    return u / np.std(u)


def _sparse_bayesian_learning(X: np.ndarray, y: np.ndarray, before: Any, restart: bool) -> Any:
    """From the scales before; now and then also from nothing, and the one with the higher evidence stays.

    Random rows serve it better with such restarts (spikes are found earlier), designed ones without.
    """
    posterior = sparse_bayesian_learning(X, y, NOISE_VARIANCE, tol=TOLERANCE, warm_start=before)
    if before is None or not restart or len(y) % RESTART:
        return posterior
    anew = sparse_bayesian_learning(X, y, NOISE_VARIANCE, tol=TOLERANCE)
    return anew if anew.log_evidence > posterior.log_evidence else posterior


def curve(kind: str, method: str, seed: int, last: int, n: int, rate: float) -> dict[str, np.ndarray]:
    """Measure one signal up to ``last`` times.

    Parameters
    ----------
    kind, method : str
        Of SIGNALS and METHODS.
    seed, last, n : int
        The signal's seed, rows at the end, unknowns.
    rate : float
        tau of expectation propagation's prior exp(-tau |s|).

    Returns
    -------
    dict
        measurements and errors |u^ - u|, (k,); CPU seconds of the whole run; how many reconstructions did not converge.
    """
    rng = np.random.default_rng([seed, list(SIGNALS).index(kind)])
    u = SIGNALS[kind](rng, n)
    random = rng.standard_normal((last, n))
    random /= np.linalg.norm(random, axis=1)[:, None]
    noise = np.sqrt(NOISE_VARIANCE) * rng.standard_normal(last)
    name, design = method.split()
    identity = Identity((n,))
    infer = {
        "L2": lambda X, y, before: least_squares(X, y, warm_start=before),
        "L1": lambda X, y, before: basis_pursuit(X, y, warm_start=before),
        "BCS": lambda X, y, before: _sparse_bayesian_learning(X, y, before, design == "random"),
        "EP": lambda X, y, before: expectation_propagation(
            GLM(X, y, NOISE_VARIANCE, B=identity, potentials=Laplace(1 / rate)),
            update="selective",
            fraction=FRACTION,
            tol=TOLERANCE,
            max_iter=1000,
            form="unknowns",
            warm_start=before,
        ),
    }[name]
    rows, posterior, m = random[: min(START, n // 8)].copy(), None, min(START, n // 8)
    counts, errors, began, unfinished = [], [], time.process_time(), 0
    while True:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            posterior = infer(rows, rows @ u + noise[:m], posterior)
        unfinished += not posterior.converged
        counts.append(m)
        errors.append(np.linalg.norm(posterior.mean - u))
        if m == last:
            break
        d = min(STRIDE if design == "random" else 1, last - m)
        new = random[m : m + d] if design == "random" else posterior.leading_directions(d)[1]
        rows, m = np.vstack([rows, new]), m + d
    return {
        "measurements": np.array(counts),
        "errors": np.array(errors),
        "seconds": np.array(time.process_time() - began),
        "unfinished": np.array(unfinished),
    }
