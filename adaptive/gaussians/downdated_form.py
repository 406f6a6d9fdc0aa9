"""A Gaussian over the latent that differs from a base N(u0, V0) along a few rows R only:

    mean = u0 + V0 R' alpha,    V = V0 - V0 R' C R V0.

Sites make C = (K + W^-1)^-1, K = R V0 R'; other approximations have a C of their own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from adaptive.gaussians.with_sites import unfitted_form
from adaptive.linalg.matrices import covariance_root

if TYPE_CHECKING:
    from adaptive.gaussians.factorised_form import FactorisedForm
    from adaptive.gaussians.gaussian_part import GaussianPart
    from adaptive.types import Matrix

__all__ = ["DowndatedForm"]


class DowndatedForm:
    """Gaussian given by slope and reduction along rows.

    Parameters
    ----------
    base : FactorisedForm
        N(u0, V0), all sites zero.
    rows : array or sparse matrix (q, n)
        R.
    slope : (q,), optional
        alpha; a subclass may set it later.
    reduction : (q, q), optional
        C; a subclass may define ``reduce`` instead.

    Examples
    --------
    >>> from adaptive.gaussians import PrecisionForm
    >>> base = PrecisionForm(np.eye(2), prior_covariance=np.eye(2)).refit(np.zeros(2), np.zeros(2))
    >>> form = DowndatedForm(base, np.array([[1.0, 0.0]]), np.array([1.0]), np.array([[0.5]]))
    >>> form.mean, form.project_variance(None)
    (array([1., 0.]), array([0.5, 1. ]))
    """

    kind = "downdated"
    operator_variance = None
    leading = None  # a search begins anew
    slope: np.ndarray

    def __init__(
        self,
        base: FactorisedForm,
        rows: Matrix,
        slope: np.ndarray | None = None,
        reduction: np.ndarray | None = None,
    ):
        self.base, self.rows = base, rows
        self.size, self.n = rows.shape
        if slope is not None:
            self.slope, self.reduction = np.asarray(slope, dtype=float), np.asarray(reduction, dtype=float)

    def reduce(self, cross: np.ndarray) -> np.ndarray:
        """C cross (q,) or (q, k)."""
        return self.reduction @ cross

    @property
    def mean(self) -> np.ndarray:
        return self.base.mean + self.base.covariance_times(self.rows.T @ self.slope)

    def project_covariance(self, first: Matrix | None, second: Matrix | None) -> np.ndarray:
        """M1 V M2' (None: all unknowns)."""
        left = self.base.project_covariance(self.rows, first)
        right = left if second is first else self.base.project_covariance(self.rows, second)
        return self.base.project_covariance(first, second) - left.T @ self.reduce(right)

    def project_variance(self, rows: Matrix | None) -> np.ndarray:
        """diag(M V M')."""
        cross = self.base.project_covariance(self.rows, rows)
        reduction = np.einsum("ij,ij->j", cross, self.reduce(cross))
        return np.maximum(self.base.project_variance(rows) - reduction, 0.0)

    def covariance_times(self, matrix: np.ndarray) -> np.ndarray:
        """V M for M (n,) or (n, k)."""
        moved = self.base.covariance_times(matrix)
        return moved - self.base.covariance_times(self.rows.T @ self.reduce(self.rows @ moved))

    def root_times(self, rows: Matrix) -> None:
        """Not cheap in this form: None."""
        return

    def sample(self, size: int, rng: np.random.Generator) -> np.ndarray:
        """Draws of u, (size, n)."""
        root = covariance_root(self.project_covariance(None, None))
        return self.mean + rng.standard_normal((size, root.shape[1])) @ root.T

    def state(self) -> dict[str, Any]:
        """Slope, reduction, and which form the base has."""
        return {"kind": self.kind, "base": self.base.kind, "slope": self.slope, "reduction": self.reduction}

    @classmethod
    def from_state(cls, state: dict[str, Any], part: GaussianPart) -> DowndatedForm:
        """The form that ``state`` described; the rows of ``part`` are R."""
        none = np.zeros(part.rows.shape[0])
        base = unfitted_form(state["base"], part).refit(none, none)
        return DowndatedForm(base, part.rows, state["slope"], state["reduction"])
