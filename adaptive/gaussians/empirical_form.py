"""A posterior known by weighted draws: moments are sums over the draws.

mean = sum_k w_k u_k,    V = sum_k w_k (u_k - mean)(u_k - mean)' / (1 - sum_k w_k^2).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from adaptive.gaussians.square_root_form import SquareRootForm

if TYPE_CHECKING:
    from adaptive.gaussians.gaussian_part import GaussianPart

__all__ = ["EmpiricalForm"]


class EmpiricalForm(SquareRootForm):
    """Moments of weighted draws, with the interface of any :class:`~adaptive.gaussians.protocols.Gaussian`.

    Parameters
    ----------
    draws : (k, n)
    weights : (k,)
        Positive, with sum 1.

    Examples
    --------
    >>> form = EmpiricalForm(np.array([[0.0, 1.0], [2.0, 3.0]]), np.array([0.5, 0.5]))
    >>> form.mean, form.project_variance(None)
    (array([1., 2.]), array([2., 2.]))
    """

    kind = "empirical"

    def __init__(self, draws: np.ndarray, weights: np.ndarray):
        self.draws, self.weights = draws, weights
        mean = weights @ draws
        unbiased = max(1.0 - float(weights @ weights), np.finfo(float).eps)
        super().__init__(mean, ((draws - mean) * np.sqrt(weights / unbiased)[:, None]).T)

    def sample(self, size: int, rng: np.random.Generator) -> np.ndarray:
        """Draws of u, (size, n): those there are, each as often as it weighs."""
        return self.draws[rng.choice(len(self.draws), size, p=self.weights)]

    def state(self) -> dict[str, Any]:
        """Draws and weights."""
        return {"kind": self.kind, "draws": self.draws, "weights": self.weights}

    @classmethod
    def from_state(cls, state: dict[str, Any], part: GaussianPart) -> EmpiricalForm:
        """The form that ``state`` described; it needs nothing of the model."""
        return EmpiricalForm(state["draws"], state["weights"])
