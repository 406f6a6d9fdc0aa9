"""A posterior known by weighted draws: moments are sums over the draws.

mean = sum_k w_k u_k,    V = sum_k w_k (u_k - mean)(u_k - mean)' / (1 - sum_k w_k^2).
"""

from __future__ import annotations

import numpy as np

from adaptive.gaussians.square_root_form import SquareRootForm

__all__ = ["EmpiricalForm"]


class EmpiricalForm(SquareRootForm):
    """Moments of weighted draws, with the interface of a dense Gaussian.

    Parameters
    ----------
    draws : (k, n)
    weights : (k,)
        Positive, with sum 1.
    """

    def __init__(self, draws: np.ndarray, weights: np.ndarray):
        self.draws, self.weights = draws, weights
        mean = weights @ draws
        unbiased = max(1.0 - float(weights @ weights), np.finfo(float).eps)
        super().__init__(mean, ((draws - mean) * np.sqrt(weights / unbiased)[:, None]).T)

    def sample(self, size: int, rng: np.random.Generator) -> np.ndarray:
        """Draws of u, (size, n): those there are, each as often as it weighs."""
        return self.draws[rng.choice(len(self.draws), size, p=self.weights)]
