"""Coordinates phi(x) of rows in which the prior of a linear function is a standard normal on what training rows see.

    w.x + b,   w ~ N(0, scale^2 I),  b ~ N(0, intercept_scale^2),        k(x, z) = scale^2 x.z + intercept_scale^2

With more rows than features, phi(x) = (scale x, intercept_scale).  Else phi(x) = k(x, X) U D^-1/2, k(X, X) = U D U',
which has one entry per training row, and what phi leaves out of a row, a remainder of covariance k(x, z) -
phi(x).phi(z), stays at the prior: no answer has told anything about it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from adaptive.linalg.matrices import dense, is_sparse

if TYPE_CHECKING:
    from adaptive.types import Matrix

__all__ = ["RowSpace"]

_SUPPORT = 1e-12  # eigenvalues below this share of the largest are zero but for rounding
_DRAWN_AT_ONCE = 2**22  # numbers


class RowSpace:
    """Coordinates on the span of some rows.

    Parameters
    ----------
    rows : (m, n_features) array or sparse matrix
        m may be 0: then everything is remainder.
    scale, intercept_scale : float
        Prior standard deviations of each weight and of the intercept (0: there is none).

    Examples
    --------
    >>> space = RowSpace(np.array([[1.0, 2.0]]), scale=1.0, intercept_scale=0.0)
    >>> space.coordinates(np.array([[2.0, 4.0], [2.0, -1.0]])).round(6)
    array([[4.472136],
           [0.      ]])
    >>> space.remainder_variance(np.array([[2.0, 4.0], [2.0, -1.0]])).round(6)
    array([0., 5.])
    """

    def __init__(self, rows: Matrix, scale: float, intercept_scale: float) -> None:
        self.rows, self.scale, self.intercept_scale = rows, scale, intercept_scale
        m, n_features = rows.shape
        self.direct = m >= n_features + (intercept_scale > 0)
        if not self.direct:
            values, vectors = np.linalg.eigh(self.kernel(rows, rows)) if m else (np.empty(0), np.empty((0, 0)))
            kept = values > _SUPPORT * (values[-1] if m else 0.0)
            self._whitening = vectors[:, kept] / np.sqrt(values[kept])

    def kernel(self, first: Matrix, second: Matrix) -> np.ndarray:
        """Return the prior covariances (m1, m2)."""
        return self.scale**2 * dense(first @ second.T) + self.intercept_scale**2

    def coordinates(self, rows: Matrix) -> np.ndarray:
        """Return phi (m, r)."""
        if not self.direct:
            return self.kernel(rows, self.rows) @ self._whitening
        table = dense(rows)
        if not self.intercept_scale:
            return self.scale * np.asarray(table, dtype=float)
        return np.column_stack([self.scale * table, np.full(len(table), self.intercept_scale)])

    def remainder(
        self, first: Matrix, second: Matrix, phi: np.ndarray | None = None, psi: np.ndarray | None = None
    ) -> np.ndarray:
        """Return the covariances (m1, m2) of what the coordinates, phi and psi where they are known, leave out."""
        if self.direct:
            return np.zeros((first.shape[0], second.shape[0]))
        phi = self.coordinates(first) if phi is None else phi
        return self.kernel(first, second) - phi @ (self.coordinates(second) if psi is None else psi).T

    def remainder_variance(self, rows: Matrix, phi: np.ndarray | None = None) -> np.ndarray:
        """Return the diagonal (m,) of ``remainder``."""
        if self.direct:
            return np.zeros(rows.shape[0])
        if is_sparse(rows):
            squares = rows.multiply(rows).sum(axis=1)  # type: ignore[union-attr]
        else:
            squares = np.einsum("ij,ij->i", rows, rows)
        variance = self.scale**2 * np.asarray(squares, dtype=float).ravel() + self.intercept_scale**2
        phi = self.coordinates(rows) if phi is None else phi
        return np.maximum(variance - np.einsum("ij,ij->i", phi, phi), 0.0)

    def remainder_draws(
        self,
        parts: list[Matrix],
        n: int,
        k: int,
        generator: np.random.Generator,
        coordinates: list[np.ndarray] | None = None,
    ) -> list[np.ndarray]:
        """Return joint draws (n, m, k) of the remainders of several tables: prior draws less what phi sees of them."""
        n_features = self.rows.shape[1]
        drawn = [np.empty((n, part.shape[0], k)) for part in parts]
        if coordinates is None:
            coordinates = [self.coordinates(part) for part in parts]
        step = max(1, _DRAWN_AT_ONCE // (k * max(n_features, 1)))
        for start in range(0, n, step):
            size = min(step, n - start)
            noise = generator.standard_normal((size, k, n_features + 1))  # each draw from its own stretch of numbers
            weights = self.scale * noise[:, :, :-1].reshape(-1, n_features).T
            constant = self.intercept_scale * noise[:, :, -1].ravel()
            seen = self._whitening.T @ (self.rows @ weights + constant)
            for part, phi, out in zip(parts, coordinates, drawn, strict=True):
                values = np.asarray(part @ weights) + constant - phi @ seen
                out[start : start + size] = values.reshape(-1, size, k).transpose(1, 0, 2)
        return drawn

    def slopes(self, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return w (k, n_features) and b (k,) of functions with the coordinates ``weights`` (k, r)."""
        if self.direct:
            if not self.intercept_scale:
                return self.scale * weights, np.zeros(len(weights))
            return self.scale * weights[:, :-1], self.intercept_scale * weights[:, -1]
        duals = self._whitening @ weights.T
        return self.scale**2 * np.asarray(self.rows.T @ duals).T, self.intercept_scale**2 * duals.sum(axis=0)
