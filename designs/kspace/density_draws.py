"""Draws without replacement in proportion to a density, and shares of it that add up to what is wanted."""

from __future__ import annotations

import numpy as np
from scipy.optimize import brentq

__all__ = ["drawn", "lifted", "shares"]


def lifted(falling: np.ndarray, total: int) -> np.ndarray:
    """clip(falling + c, 0, 1) with the c that makes it add up to ``total``.

    Examples
    --------
    >>> lifted(np.array([1.0, 0.5, 0.0]), 2).round(6)
    array([1.  , 0.75, 0.25])
    """

    def density(c: float) -> np.ndarray:
        return np.clip(falling + c, 0.0, 1.0)

    if total >= len(falling):
        return np.ones(len(falling))
    return density(brentq(lambda c: density(c).sum() - total, -1.0, 1.0, xtol=1e-14))


def shares(falling: np.ndarray, total: int) -> np.ndarray:
    """min(1, c falling) with the c that makes it add up to ``total``; where nothing is left but zeros they share alike.

    Examples
    --------
    >>> shares(np.array([4.0, 2.0, 1.0, 1.0]), 2)
    array([1.  , 0.5 , 0.25, 0.25])
    """
    weights = falling + 1e-12 * max(float(falling.max(initial=0.0)), 1.0)
    descending = np.sort(weights)[::-1]
    rest = np.cumsum(descending[::-1])[::-1]
    for full in range(total):  # so many shares are cut off at one
        c = (total - full) / rest[full]
        if c * descending[full] <= 1:
            return np.minimum(1.0, c * weights)
    return np.ones(len(falling))


def drawn(candidates: np.ndarray, weights: np.ndarray, k: int, rng: np.random.Generator) -> np.ndarray:
    """Draw ``k`` candidates one after the other, without replacement, in proportion to the weights.

    The k largest of log(weight) + Gumbel noise are such a draw: the largest is candidate i with probability
    proportional to its weight, and without it the same holds for the rest.
    """
    with np.errstate(divide="ignore"):
        keys = np.log(weights) + rng.gumbel(size=len(candidates))
    return candidates[np.argsort(-keys, kind="stable")[:k]]
