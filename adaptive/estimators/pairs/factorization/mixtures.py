"""Entropies of a count whose log rate is a mixture of Gaussians: one for each draw, or node, of the item's vector."""

from __future__ import annotations

import math
from functools import cache, lru_cache

import numpy as np
from numba import njit
from scipy.special import entr, gammaincc, ndtri
from scipy.stats import qmc

from adaptive.potentials.poisson_outcomes import poisson_entropy

__all__ = ["N_EXACT", "N_WHAT_IF", "count_quantile", "item_nodes", "mixture_entropies", "sobol_normals"]

N_EXACT = 256  # draws of the item, where more than two of its entries are free
N_WHAT_IF = 128  # of a what-if
FIRST = 2000  # counts whose masses are summed one by one
LARGEST_GRID = 1500


def sobol_normals(n: int, k: int, seed: int) -> np.ndarray:
    """Return (n, k) standard normals of low discrepancy; n a power of two."""
    return ndtri(np.clip(qmc.Sobol(k, seed=np.random.default_rng(seed)).random(n), 1e-12, 1 - 1e-12))


@cache
def _grid(free: int) -> tuple[np.ndarray, np.ndarray]:
    """Nodes (d, free) of a Gauss-Hermite rule and their weights (d,), for at most two free entries."""
    nodes, weights = np.polynomial.hermite_e.hermegauss((1, 24, 12)[free])
    grid = np.stack(np.meshgrid(*[nodes] * free, indexing="ij"), axis=-1).reshape(-1, free)
    product = np.prod(np.meshgrid(*[weights] * free, indexing="ij"), axis=0).ravel()
    return grid, product / product.sum()


@lru_cache(8)
def _draws(n: int, free: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    return sobol_normals(n, free, seed), np.full(n, 1.0 / n)


def item_nodes(
    variance: np.ndarray, direction: np.ndarray, seed: int, n: int = N_EXACT
) -> tuple[np.ndarray, np.ndarray]:
    """Return standard normal nodes (d, k) and weights (d,): a grid where at most two entries are free, else n draws.

    The first axis of the draws, the most even one, is turned along ``direction`` (k,): that in which the mean of a log
    rate changes with the node.
    """
    free = np.flatnonzero(variance > 0)
    grid, weights = _grid(len(free)) if len(free) <= 2 else _draws(n, len(free), seed)
    if len(free) > 2 and (length := np.linalg.norm(direction[free])) > 0:
        across = direction[free] / length  # Householder's reflection of the first axis into it
        across[0] -= 1.0
        if (square := across @ across) > 1e-20:
            grid = grid - np.outer(grid @ across, (2.0 / square) * across)
    normals = np.zeros((len(grid), len(variance)))
    normals[:, free] = grid
    return normals, weights


@njit(cache=True, nogil=True)
def _add_masses(eta: np.ndarray, share: np.ndarray, p: np.ndarray) -> None:
    """Add to p[y] the masses of counts at the log rates eta, from each one's largest mass to both sides."""
    for k in range(len(eta)):
        if share[k] < 1e-300 or eta[k] > 300.0:
            continue
        rate = math.exp(eta[k])
        if rate - 9.0 * math.sqrt(rate) > len(p) + 30.0:
            continue
        peak = min(int(rate), len(p) - 1)
        top = share[k] * math.exp(peak * eta[k] - rate - math.lgamma(peak + 1.0))
        term = top
        for y in range(peak, len(p)):
            p[y] += term
            term *= rate / (y + 1.0)
            if term < 1e-18 * share[k]:
                break
        term = top
        for y in range(peak, 0, -1):
            term *= y / rate
            p[y - 1] += term
            if term < 1e-18 * share[k]:
                break


def mixture_entropies(mean: np.ndarray, variance: np.ndarray, weights: np.ndarray) -> tuple[float, float]:
    """Return H(y) and E H(y | eta) for a log rate that is a mixture of Gaussians.

    The density f of eta is laid out on a grid. Of the first 2000 counts every mass is summed; beyond them the noise of
    counting is nothing beside the breadth of f, and a count has the density f(log y) / y.
    """
    sd = np.sqrt(variance)
    low, high = float(np.min(mean - 8.0 * sd)), float(np.max(mean + 8.0 * sd))
    if high - low < 1e-9:
        certain = float(poisson_entropy(np.exp(np.minimum(mean[0], 600.0))))
        return certain, certain
    low = max(low, -25.0)
    narrowest = float(np.quantile(sd, 0.01))
    step = min(
        0.35 * max(narrowest, 1e-3), 0.35 / np.sqrt(min(np.exp(min(high, 20.0)), FIRST) + 1.0), (high - low) / 100
    )
    step = max(step, (high - low) / LARGEST_GRID)
    eta = np.arange(low, high + step, step)
    z = (eta - mean[:, None]) / np.maximum(sd, step)[:, None]
    share = (weights / np.maximum(sd, step)) @ np.exp(-0.5 * z * z) * (step / np.sqrt(2 * np.pi))
    silent = max(1.0 - float(share.sum()), 0.0)  # below the grid there are no counts
    after = float(share @ poisson_entropy(np.exp(np.minimum(eta, 600.0))))
    first = min(int(np.exp(min(high, 20.0)) + 9.0 * np.exp(0.5 * min(high, 20.0)) + 30), FIRST)
    p = np.zeros(first)
    _add_masses(eta, share, p)
    p[0] += silent
    before = float(entr(p).sum())
    beyond = (eta > np.log(first - 0.5)) & (share > 0)
    if first == FIRST and beyond.any():
        before -= float(share[beyond] @ (np.log(share[beyond] / step) - eta[beyond]))
    return before, after


def count_quantile(rates: np.ndarray, probability: float) -> float:
    """Return the smallest count k with P(y <= k) >= probability for a rate that is one of ``rates`` (d,), all alike."""
    low, high = -1.0, np.floor(rates.max() + 9.0 * np.sqrt(rates.max()) + 30.0)
    while high - low > 1.0:
        middle = np.floor(0.5 * (low + high))
        if gammaincc(middle + 1.0, rates).mean() >= probability:
            high = middle
        else:
            low = middle
    return float(high)
