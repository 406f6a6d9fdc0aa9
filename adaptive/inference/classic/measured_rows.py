"""Measurements y = X u as the reconstructions below see them: checked, in the coefficients of an orthonormal B.

u = B' c, so that X u = A c with A = X B'. A set that begins with the rows of an earlier one transforms the new rows
only.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from adaptive.checks import finite
from adaptive.inference.model import matrix_of
from adaptive.inference.posterior import Posterior
from adaptive.linalg.growing_rows import GrowingRows
from adaptive.linalg.matrices import dense
from adaptive.operators import Operator, as_operator

if TYPE_CHECKING:
    from adaptive.types import ArrayLike, Rows

__all__ = ["MeasuredRows", "PointEstimate", "earlier_work"]


class MeasuredRows:
    """X, y and B.

    Parameters
    ----------
    X : array, sparse matrix or real Operator (m, n)
    y : array (m,)
    B : array, sparse matrix or Operator (n, n), optional
        Orthonormal; default the identity.
    earlier : MeasuredRows, optional
        Perhaps of rows that these begin with.

    Attributes
    ----------
    coefficients : (m, n)
        A.
    y : (m,)
    known : int
        Rows shared with ``earlier``: all of its rows, or none.
    """

    def __init__(
        self,
        X: Rows | ArrayLike,
        y: ArrayLike,
        B: Rows | ArrayLike | None = None,
        earlier: MeasuredRows | None = None,
    ):
        rows = _matrix(X)
        if rows.dtype.kind == "c":
            raise ValueError("X must be real; stack the real and imaginary parts of its rows, and of y.")
        rows = finite("X", rows)
        if rows.ndim != 2 or not rows.shape[1]:
            raise ValueError(f"X must have shape (measurements, unknowns), got {rows.shape}.")
        values = finite("y", y)
        if values.size != len(rows):
            raise ValueError(f"y must have one value per row of X ({len(rows)}), got shape {values.shape}.")
        self.y, self.n = values.ravel(), rows.shape[1]
        self._given_basis = B
        if earlier is not None and (B is not earlier._given_basis or self.n != earlier.n):
            earlier = None
        self._basis: Operator | None = _orthonormal(B, self.n) if earlier is None else earlier._basis
        if earlier is not None and not np.array_equal(rows[: len(earlier.y)], earlier._rows.rows):
            earlier = None
        self.known = 0 if earlier is None else len(earlier.y)
        fresh = rows[self.known :]
        self._rows: GrowingRows = (GrowingRows(self.n) if earlier is None else earlier._rows).appended(fresh)
        self._coefficients = self._rows
        if self._basis is not None:
            known = GrowingRows(self.n) if earlier is None else earlier._coefficients
            self._coefficients = known.appended(self.analysed(fresh))

    @property
    def coefficients(self) -> np.ndarray:
        return self._coefficients.rows

    def analysed(self, rows: np.ndarray) -> np.ndarray:
        """B u for each row u."""
        if self._basis is None:
            return rows
        return self._basis.forward(rows.reshape(-1, *self._basis.input_shape)).reshape(rows.shape)

    def synthesised(self, rows: np.ndarray) -> np.ndarray:
        """B' c for c (n,), or for each row c."""
        if self._basis is None:
            return rows
        return self._basis.adjoint(rows.reshape(-1, *self._basis.output_shape)).reshape(rows.shape)


class PointEstimate(Posterior):
    """A reconstruction without uncertainty.

    Parameters
    ----------
    mean : (n,)
    certificates : dict
        What proves it, by name: zero were it exact.
    working : object
        What a warm start goes on from.
    **diagnostics
        As of `Posterior`.
    """

    def __init__(self, mean: np.ndarray, certificates: dict[str, float], working: Any, **diagnostics: Any):
        none = np.empty(0)
        super().__init__(None, mean=mean, **{"sites": (none, none), "group_lengths": [], **diagnostics})
        self.certificates, self.working = certificates, working


def earlier_work(warm_start: Any, engine: str) -> Any:
    """Return the workings that a result of the same function carries, or None."""
    if warm_start is None:
        return None
    if getattr(warm_start, "engine", None) != engine:
        raise ValueError(f"warm_start must be a result of {engine}, got {warm_start!r}.")
    return warm_start.working


def _matrix(X: Rows | ArrayLike) -> np.ndarray:
    return dense(matrix_of(X)) if isinstance(X, Operator) else np.asarray(dense(X))


def _orthonormal(B: Rows | ArrayLike | None, n: int) -> Operator | None:
    """The operator, refused unless it keeps random vectors' inner products (which fails to tell with probability 0)."""
    if B is None:
        return None
    operator = as_operator(B, "B")
    if operator.shape != (n, n):
        raise ValueError(f"B must have shape ({n}, {n}), orthonormal, got {operator.shape}.")
    probes = np.random.default_rng(0).standard_normal((2, *operator.input_shape))
    gap = np.abs(operator.normal(probes) - probes).max()
    if not gap < 1e-8:
        raise ValueError(f"B must be orthonormal; B'B differs from the identity (by {gap:.1e} on a random vector).")
    return operator
