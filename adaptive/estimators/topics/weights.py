"""Weights of all topics' regressions, K Gaussians, dense or with independent entries, and the topics they forecast."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import scipy.sparse as sp

    from adaptive.estimators.topics.inference.passes import Tables

__all__ = ["Weights", "softmax_moments", "unit_draws"]


@dataclass(frozen=True, eq=False)
class Weights:
    """Moments of the weights.

    Attributes
    ----------
    mean : (F, K) array
    variance : (F, K) array
    covariances : (K, F, F) array or None
        None: the entries are independent.
    """

    mean: np.ndarray
    variance: np.ndarray
    covariances: np.ndarray | None = None

    @classmethod
    def of(cls, tables: Tables) -> Weights:
        """Weights from the tables of a pass."""
        if len(tables.means):
            variance = np.einsum("kff->fk", tables.covariances)
            return cls(tables.means, variance, tables.covariances)
        return cls(tables.shift / tables.precision, 1.0 / tables.precision)

    @classmethod
    def prior(cls, n_features: int, n_topics: int, variance: float) -> Weights:
        """Zero means, one variance."""
        return cls(np.zeros((n_features, n_topics)), np.full((n_features, n_topics), variance))

    def grown(self, n_features: int, variance: float) -> Weights:
        """With features of which nothing is known but the prior."""
        extra = n_features - len(self.mean)
        if extra == 0:
            return self
        n_topics = self.mean.shape[1]
        new = Weights.prior(extra, n_topics, variance)
        mean, spread = np.concatenate([self.mean, new.mean]), np.concatenate([self.variance, new.variance])
        if self.covariances is None:
            return Weights(mean, spread)
        covariances = np.zeros((n_topics, n_features, n_features))
        covariances[:, : len(self.mean), : len(self.mean)] = self.covariances
        fresh = np.arange(len(self.mean), n_features)
        covariances[:, fresh, fresh] = variance
        return Weights(mean, spread, covariances)

    def forecast(self, rows: sp.csr_array) -> tuple[np.ndarray, np.ndarray]:
        """(m, K) means and variances of what ``rows`` (m, F) say of the topics' scores."""
        if self.covariances is None:
            return rows @ self.mean, rows.power(2) @ self.variance
        variance = [np.asarray(rows.multiply(rows @ one).sum(axis=1)).ravel() for one in self.covariances]
        return rows @ self.mean, np.stack(variance, axis=1)

    def of_topic(self, k: int) -> tuple[np.ndarray, np.ndarray]:
        """Mean (F,) and covariance, (F, F) or its diagonal (F,)."""
        return self.mean[:, k], self.variance[:, k] if self.covariances is None else self.covariances[k]


def unit_draws(n_topics: int, n: int = 64) -> np.ndarray:
    """(2 n, K) standard normal draws, each beside its mirror image."""
    draws = np.random.default_rng(0).standard_normal((n, n_topics))
    return np.concatenate([draws, -draws])


def softmax_moments(mean: np.ndarray, variance: np.ndarray, draws: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(m, K) means of softmax(y) and of its squares, y Gaussian, by draws that are the same for every document."""
    deviation = np.sqrt(variance)
    first, second = np.zeros_like(mean), np.zeros_like(mean)
    for draw in draws:
        scores = mean + deviation * draw
        scores = np.exp(scores - scores.max(axis=1, keepdims=True))
        scores /= scores.sum(axis=1, keepdims=True)
        first += scores
        second += scores**2
    return first / len(draws), second / len(draws)
