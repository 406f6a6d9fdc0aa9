"""A posterior known by weighted draws: moments are sums over the draws.

mean = sum_k w_k u_k,    V = sum_k w_k (u_k - mean)(u_k - mean)' / (1 - sum_k w_k^2).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .matrices import dense

__all__ = ["DrawsForm"]


class DrawsForm:
    """Moments of weighted draws, with the interface of a dense Gaussian.

    Parameters
    ----------
    draws : (k, n)
    weights : (k,)
        Positive, with sum 1.
    """

    def __init__(self, draws: np.ndarray, weights: np.ndarray):
        self.draws, self.weights = draws, weights
        self.n = draws.shape[1]
        self.mean = weights @ draws
        unbiased = max(1.0 - float(weights @ weights), np.finfo(float).eps)
        self._scaled = (draws - self.mean) * np.sqrt(weights / unbiased)[:, None]  # V = scaled' scaled

    def root_times(self, rows: Any) -> np.ndarray:
        """R (m, k) with R R' = M V M'."""
        return dense(rows @ self._scaled.T)

    def _root(self, rows: Any) -> np.ndarray:
        return self._scaled.T if rows is None else self.root_times(rows)

    def project_covariance(self, first: Any, second: Any) -> np.ndarray:
        """M1 V M2' (None: all unknowns)."""
        left = self._root(first)
        return left @ (left if second is first else self._root(second)).T

    def project_variance(self, rows: Any) -> np.ndarray:
        """diag(M V M')."""
        root = self._root(rows)
        return np.einsum("ij,ij->i", root, root)

    def covariance_times(self, matrix: np.ndarray) -> np.ndarray:
        """V M for M (n,) or (n, k)."""
        return self._scaled.T @ (self._scaled @ matrix)

    def sample(self, size: int, rng: np.random.Generator) -> np.ndarray:
        """Draws of u, (size, n): those there are, each as often as it weighs."""
        return self.draws[rng.choice(len(self.draws), size, p=self.weights)]
