"""A Gaussian known by a root of its covariance, V = R R', which may have fewer columns than there are unknowns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from adaptive.linalg.matrices import dense

if TYPE_CHECKING:
    from adaptive.gaussians.gaussian_part import GaussianPart
    from adaptive.types import Matrix

__all__ = ["SquareRootForm"]


class SquareRootForm:
    """N(mean, R R'), with the interface of any :class:`~adaptive.gaussians.protocols.Gaussian`.

    Parameters
    ----------
    mean : (n,)
    root : (n, k)
        R; directions outside its range have variance zero.

    Examples
    --------
    >>> form = SquareRootForm(np.zeros(2), np.array([[2.0], [0.0]]))
    >>> form.project_variance(None)
    array([4., 0.])
    """

    kind = "square_root"
    operator_variance = None
    leading = None  # a search begins anew
    root: np.ndarray

    def __init__(self, mean: np.ndarray, root: np.ndarray):
        self.mean, self.root, self.n = mean, root, len(mean)

    def root_times(self, rows: Matrix) -> np.ndarray:
        """R (m, k) with R R' = M V M'."""
        return dense(rows @ self.root)

    def _root(self, rows: Matrix | None) -> np.ndarray:
        return self.root if rows is None else self.root_times(rows)

    def project_covariance(self, first: Matrix | None, second: Matrix | None) -> np.ndarray:
        """M1 V M2' (None: all unknowns)."""
        left = self._root(first)
        return left @ (left if second is first else self._root(second)).T

    def project_variance(self, rows: Matrix | None) -> np.ndarray:
        """diag(M V M')."""
        root = self._root(rows)
        return np.einsum("ij,ij->i", root, root)

    def covariance_times(self, matrix: np.ndarray) -> np.ndarray:
        """V M for M (n,) or (n, k)."""
        return self.root @ (self.root.T @ matrix)

    def sample(self, size: int, rng: np.random.Generator) -> np.ndarray:
        """Draws of u, (size, n)."""
        return self.mean + rng.standard_normal((size, self.root.shape[1])) @ self.root.T

    def state(self) -> dict[str, Any]:
        """Mean and root."""
        return {"kind": self.kind, "mean": self.mean, "root": self.root}

    @classmethod
    def from_state(cls, state: dict[str, Any], part: GaussianPart) -> SquareRootForm:
        """The form that ``state`` described; it needs nothing of the model."""
        return SquareRootForm(state["mean"], state["root"])
