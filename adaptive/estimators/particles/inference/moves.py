"""Moving particles apart after resampling.

random walk   v' = v + s L z, or v + s (a - b) / sqrt(2) by a coin, accepted with probability min(1, pi(v') / pi(v)):
              leaves pi as it is (Metropolis and others, 1953); L L' the covariance of the particles, a and b two of
              them at the start (ter Braak, 2006: steps that fit a cloud in pieces, and lead from one to another),
              s = 2.38 / sqrt(d) halved 0 to 3 times by lot
Liu and West  v' = a v + (1 - a) mean + sqrt(1 - a^2) L z: keeps mean and covariance, asks no likelihood, and is
              approximate (Liu and West, 2001, Combined parameter and state estimation)
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

__all__ = ["accepted", "covariance_root", "liu_west", "random_walk"]

LogDensity = Callable[[np.ndarray], np.ndarray]

STAY = 0.01  # probability that a particle is where it was after all steps
FEWEST, MOST = 5, 40  # steps
SHRINKAGE = 0.98  # a of Liu and West
SMALLER = 4  # sizes of a step, each half of the one before: a cloud in pieces needs small ones


def covariance_root(values: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return L (d, d) with L L' the weighted covariance of values (k, d), which may be singular."""
    apart = values - weights @ values
    scale = np.sqrt(weights @ np.square(apart))
    unit = np.where(scale > 0, scale, 1.0)
    correlation = (apart / unit * weights[:, None]).T @ (apart / unit)
    sizes, vectors = np.linalg.eigh(correlation)
    return unit[:, None] * vectors * np.sqrt(np.maximum(sizes, 0.0))


def accepted(log_ratio: np.ndarray, uniform: np.ndarray) -> np.ndarray:
    """Return where proposals are taken: with probability min(1, exp(log_ratio)).

    Examples
    --------
    >>> accepted(np.log([0.5, 0.5, 2.0]), np.array([0.4, 0.6, 0.9])).tolist()
    [False, True, True]
    """
    return np.log1p(-uniform) < log_ratio  # of 1 - u, which is never 0


def random_walk(
    values: np.ndarray, log_density: LogDensity, root: np.ndarray, rng: np.random.Generator
) -> tuple[np.ndarray, float]:
    """Return the particles after Metropolis steps, and the share of proposals that was accepted.

    So many steps that a particle stays where it is with probability 1% (by the acceptance of the first five).

    Parameters
    ----------
    values : (k, d) array
    log_density : callable(values (n, d)) -> (n,)
        Of the posterior, up to a constant; minus infinity where there is none.
    root : (d, d) array
        Of `covariance_root`.
    rng : Generator
    """
    k, d = values.shape
    moved, density = values.copy(), log_density(values)
    size, n_accepted, steps, step = 2.38 / np.sqrt(d), 0, FEWEST, 0
    while step < steps:
        scale = size * 0.5 ** rng.integers(SMALLER, size=k)
        apart = (values[rng.integers(k, size=k)] - values[rng.integers(k, size=k)]) / np.sqrt(2.0)
        drawn = rng.standard_normal((k, d)) @ root.T
        proposed = moved + scale[:, None] * np.where(rng.random((k, 1)) < 0.5, drawn, apart)
        proposed_density = log_density(proposed)
        with np.errstate(invalid="ignore"):
            taken = accepted(proposed_density - density, np.asarray(rng.random(k)))
        taken &= np.any(proposed != moved, axis=1)  # a step from a particle to its twin is none
        moved[taken], density[taken] = proposed[taken], proposed_density[taken]
        n_accepted += int(taken.sum())
        step += 1
        if step == FEWEST:
            share = min(max(n_accepted / (FEWEST * k), 1e-3), 1.0 - 1e-9)
            steps = int(np.clip(np.ceil(np.log(STAY) / np.log1p(-share)), FEWEST, MOST))
    return moved, n_accepted / (steps * k)


def liu_west(
    values: np.ndarray, log_prior: LogDensity, root: np.ndarray, rng: np.random.Generator
) -> tuple[np.ndarray, float]:
    """Return the particles shrunk and scattered anew, and the share that stayed inside the prior's support.

    Parameters
    ----------
    values, root, rng
        As for `random_walk`.
    log_prior : callable(values (n, d)) -> (n,)
        Minus infinity outside of the support, where a particle stays as it was.
    """
    centre = values.mean(axis=0)
    scattered = np.sqrt(1.0 - SHRINKAGE**2) * (rng.standard_normal(values.shape) @ root.T)
    proposed = SHRINKAGE * values + (1.0 - SHRINKAGE) * centre + scattered
    inside = np.isfinite(log_prior(proposed))
    return np.where(inside[:, None], proposed, values), float(inside.mean())
