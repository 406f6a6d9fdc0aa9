"""Moments of softmax(y) for independent Gaussian scores, by draws that are the same for every document."""

from __future__ import annotations

import numpy as np

__all__ = ["moments", "unit_draws"]


def unit_draws(n_topics: int, n: int = 64) -> np.ndarray:
    """(2 n, K) standard normal draws, each beside its mirror image."""
    draws = np.random.default_rng(0).standard_normal((n, n_topics))
    return np.concatenate([draws, -draws])


def moments(mean: np.ndarray, variance: np.ndarray, draws: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(m, K) means of softmax(y) and of its squares."""
    deviation = np.sqrt(variance)
    first, second = np.zeros_like(mean), np.zeros_like(mean)
    for draw in draws:
        scores = mean + deviation * draw
        scores = np.exp(scores - scores.max(axis=1, keepdims=True))
        scores /= scores.sum(axis=1, keepdims=True)
        first += scores
        second += scores**2
    return first / len(draws), second / len(draws)
