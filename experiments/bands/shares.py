"""Shares of an outcome that lie inside bands of given levels, without drawing anything.

    central:    of the mass  [P(y' < y), P(y' <= y)]  of an outcome, the part within  [(1 - q) / 2, (1 + q) / 2]
    of labels:  of the mass of a label, behind that of all more probable ones, the part up to q

For a number the mass is a point, and the share 0 or 1. A right model covers q exactly, of counts and labels too: there
the intervals that an estimator returns hold somewhat more, since whole outcomes are in or out.
"""

from __future__ import annotations

import numpy as np
from scipy.special import logsumexp, ndtr, ndtri

__all__ = ["LEVELS", "NOMINAL", "central", "gaussians", "labels", "result"]

LEVELS = (0.5, 0.8, 0.9, 0.95)
NOMINAL = LEVELS.index(0.9)


def central(below: np.ndarray, upto: np.ndarray) -> np.ndarray:
    """Return the shares (levels,), means over outcomes, from P(y' < y) and P(y' <= y), each (m,).

    Examples
    --------
    >>> central(np.array([0.4, 0.0]), np.array([0.4, 0.5])).round(3)  # a number, a label
    array([0.75 , 0.9  , 0.95 , 0.975])
    """
    found = []
    for level in LEVELS:
        low, high = (1 - level) / 2, (1 + level) / 2
        mass = np.maximum(upto - below, 1e-300)
        part = np.clip((np.minimum(upto, high) - np.maximum(below, low)) / mass, 0.0, 1.0)
        found.append(np.where(upto - below > 1e-12, part, (below >= low) & (below <= high)).mean())
    return np.array(found)


def labels(probabilities: np.ndarray, codes: np.ndarray) -> tuple[np.ndarray, float]:
    """Return the shares (levels,) of labels (m,) in the smallest sets, and how many labels those of .90 hold.

    Examples
    --------
    >>> covered, size = labels(np.array([[0.6, 0.4]]), np.array([1]))
    >>> covered.round(3), round(size, 3)
    (array([0.   , 0.5  , 0.75 , 0.875]), 1.75)
    """
    rows = np.arange(len(codes))
    order = np.argsort(-probabilities, axis=1, kind="stable")
    sorted_p = np.take_along_axis(probabilities, order, axis=1)
    before = np.cumsum(sorted_p, axis=1) - sorted_p
    place = np.argmax(order == codes[:, None], axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        held = [np.clip((q - before) / sorted_p, 0.0, 1.0) for q in LEVELS]
    held = [np.nan_to_num(one, nan=0.0) for one in held]
    return np.array([one[rows, place].mean() for one in held]), float(held[NOMINAL].sum(axis=1).mean())


def gaussians(
    weights: np.ndarray, means: np.ndarray, variances: np.ndarray, truth: np.ndarray
) -> tuple[np.ndarray, float, float]:
    """Return shares (levels,), width at .90 and mean log density of numbers (m,) under mixtures, moments (k, m)."""
    deviations = np.sqrt(variances)
    below = weights @ ndtr((truth - means) / deviations)
    logs = -0.5 * (np.square((truth - means) / deviations) + np.log(2 * np.pi * variances))
    score = logsumexp(logs + np.log(weights)[:, None], axis=0)
    mean = weights @ means
    whole = weights @ (variances + np.square(means - mean))
    return central(below, below), float(2 * ndtri(0.95) * np.sqrt(whole).mean()), float(score.mean())


def result(
    covered: np.ndarray, width: float, score: float, seconds: float, simple: tuple[float, float] = (np.nan, np.nan)
) -> dict[str, np.ndarray]:
    """Return a unit's numbers as they are kept; ``simple`` is what the simplest band covers at .90, and its width."""
    return {
        "covered": covered, "width": np.array(width), "score": np.array(score), "seconds": np.array(seconds),
        "simple": np.array(simple),
    }  # fmt: skip
