"""Comparisons out of rankings and ratings, and what is known of kinds of sushi without asking anybody."""

from __future__ import annotations

import itertools

import numpy as np

__all__ = ["STAND_IN", "bits", "ranked", "rated"]

# By hand, since the published features are absent: share of rice rolled with seaweed, how fat and how strong it tastes,
# how dear it is, whether it is fish or shellfish.  Order of `datasets.sushi`.
STAND_IN = np.array(
    [
        [0.0, 0.2, 0.2, 0.5, 1.0],  # shrimp
        [0.0, 0.6, 0.5, 0.6, 1.0],  # sea eel
        [0.0, 0.4, 0.4, 0.6, 1.0],  # tuna
        [0.0, 0.1, 0.1, 0.4, 1.0],  # squid
        [0.5, 0.8, 1.0, 1.0, 1.0],  # sea urchin
        [0.5, 0.7, 0.9, 0.9, 1.0],  # salmon roe
        [0.1, 0.3, 0.1, 0.1, 0.0],  # egg
        [0.0, 1.0, 0.5, 1.0, 1.0],  # fatty tuna
        [1.0, 0.3, 0.3, 0.3, 1.0],  # tuna roll
        [1.0, 0.0, 0.1, 0.0, 0.0],  # cucumber roll
    ]
)


def bits(log_predictive: np.ndarray) -> float:
    """Mean negative log predictive in bits."""
    return -float(np.mean(log_predictive)) / np.log(2.0)


def ranked(
    ranks: np.ndarray, people: np.ndarray, n_each: int, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Return comparisons (n, 3) of ``n_each`` different pairs per person, and who won; sides are tossed."""
    pairs = np.array(list(itertools.combinations(range(ranks.shape[1]), 2)))
    rows = np.concatenate([np.column_stack([np.full(n_each, person), pairs[rng.permutation(len(pairs))[:n_each]]])
                           for person in people])  # fmt: skip
    tossed = rng.random(len(rows)) < 0.5
    rows[tossed] = rows[tossed][:, [0, 2, 1]]
    return rows, np.where(ranks[rows[:, 0], rows[:, 1]] < ranks[rows[:, 0], rows[:, 2]], 1, -1)


def rated(
    ratings: np.ndarray, people: np.ndarray, n_ends: int, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Return comparisons of each person's best rated items with the worst rated ones, ``n_ends`` each; sides tossed."""
    found = []
    for person in people:
        known = np.flatnonzero(np.isfinite(ratings[person]))
        order = known[np.argsort(ratings[person, known], kind="stable")]
        n = min(n_ends, len(order) // 2)
        best, worst = np.meshgrid(order[-n:], order[:n])
        found.append(np.column_stack([np.full(best.size, person), best.ravel(), worst.ravel()]))
    rows = np.concatenate(found)
    y = np.where(rng.random(len(rows)) < 0.5, 1, -1)
    rows[y < 0] = rows[y < 0][:, [0, 2, 1]]
    return rows, y
