"""Grids of traits, and nodes that stand for a Gaussian belief about an item."""

from __future__ import annotations

from functools import cache

import numpy as np
from scipy.special import ndtri
from scipy.stats import qmc

__all__ = ["gaussian_nodes", "log_prior", "trait_grid"]

NODES = {1: 61, 2: 25, 3: 13}  # per axis
WIDTH = {1: 6.0, 2: 4.8, 3: 4.2}


@cache
def trait_grid(n_traits: int) -> np.ndarray:
    """(k, n_traits) traits on an even grid, in standard deviations of the calibrated population."""
    axis = np.linspace(-WIDTH[n_traits], WIDTH[n_traits], NODES[n_traits])
    return np.stack(np.meshgrid(*[axis] * n_traits, indexing="ij"), axis=-1).reshape(-1, n_traits)


def log_prior(x: np.ndarray, mean: np.ndarray | float = 0.0, deviation: np.ndarray | float = 1.0) -> np.ndarray:
    """Log weights (k,) of a Gaussian on a grid, that add up to one."""
    values = -0.5 * np.sum(((x - mean) / deviation) ** 2, axis=1)
    return values - np.log(np.sum(np.exp(values - values.max()))) - values.max()


@cache
def _standard(d: int) -> tuple[np.ndarray, np.ndarray]:
    """Weights (s,) and nodes (s, d) of a standard Gaussian: a product rule, beyond three dimensions Sobol's points."""
    if d == 0:
        return np.ones(1), np.zeros((1, 0))
    if d <= 3:
        x, w = np.polynomial.hermite_e.hermegauss({1: 11, 2: 9, 3: 7}[d])
        nodes = np.stack(np.meshgrid(*[x] * d, indexing="ij"), axis=-1).reshape(-1, d)
        return np.prod(np.stack(np.meshgrid(*[w] * d, indexing="ij"), -1).reshape(-1, d), axis=1) / w.sum() ** d, nodes
    half = ndtri(qmc.Sobol(d, seed=0).random(128))
    nodes = np.concatenate([half, -half])  # mirrored: the mean is exact
    return np.full(len(nodes), 1.0 / len(nodes)), nodes / nodes.std(axis=0)


def gaussian_nodes(mean: np.ndarray, covariance: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Weights (s,) and nodes (s, p) of N(mean, covariance), which may be singular."""
    values, vectors = np.linalg.eigh(covariance)
    kept = values > 1e-12
    weights, nodes = _standard(int(kept.sum()))
    return weights, mean + nodes @ (vectors[:, kept] * np.sqrt(values[kept])).T
