"""Leading eigenpairs of a symmetric positive definite matrix by products, and a subspace that follows its changes.

Rayleigh-Ritz on an orthonormal basis Q: with H = Q' V Q and H y = theta y, the residual V Q y - theta Q y of every pair
that is wanted and not yet there becomes a new direction of Q (block Lanczos with thick restarts). Both Q and V Q are
kept: when V changes by c g g', V Q changes by c g g' Q, no product with V is needed, and the next search starts where
the last one ended.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

__all__ = ["LeadingSubspace"]


class LeadingSubspace:
    """An orthonormal basis near the leading eigenvectors, with its products.

    Parameters
    ----------
    times : callable
        Maps (n, k) to V times it.
    start : array (n, p), optional
        Directions to begin with; any others are drawn with a fixed seed.
    n : int
        Number of rows of V.

    Attributes
    ----------
    basis, products : array (n, p)
        Q and V Q.
    n_products : int
        Columns that ``times`` has multiplied.

    Examples
    --------
    >>> V = np.diag(np.arange(1.0, 101.0))
    >>> values, directions = LeadingSubspace(100).leading(lambda M: V @ M, 2, tol=1e-8)
    >>> values.round(9), directions.shape
    (array([100.,  99.]), (2, 100))
    """

    def __init__(self, n: int, start: np.ndarray | None = None):
        self.n, self.n_products = n, 0
        self.basis, self.products = np.empty((n, 0)), np.empty((n, 0))
        self._start = start
        self._found: tuple[np.ndarray, np.ndarray] | None = None

    def leading(
        self, times: Callable[[np.ndarray], np.ndarray], k: int, tol: float = 1e-3, max_products: int = 1000
    ) -> tuple[np.ndarray, np.ndarray]:
        """The k largest eigenvalues, falling, and orthonormal eigenvectors (k, n), largest entry of each positive.

        Parameters
        ----------
        times : callable
            Products with V as it is now.
        k : int
        tol : float, default 1e-3
            Norm of every residual V x - theta x, as a share of the largest eigenvalue.
        max_products : int, default 1000
            Columns multiplied at most.

        Returns
        -------
        values (k,), directions (k, n)
        """
        most, begin = 8 * k + 8, self.n_products
        self._rng = np.random.default_rng(begin)
        if self.n <= 2 * most:
            self._clear()
            self._extend(times, np.eye(self.n))
        elif self.basis.shape[1] < k:
            first = self._rng.standard_normal((self.n, k + 2))
            self._extend(times, first if self._start is None else np.hstack([self._start, first[:, :1]]))
        else:  # something that the old directions may not see
            self._extend(times, self._rng.standard_normal((self.n, 1)))
        while True:
            values, rotation = self._ritz()
            top = rotation[:, :k]
            directions = self.basis @ top
            residuals = self.products @ top - directions * values[:k]
            open_ = np.linalg.norm(residuals, axis=0) > tol * abs(values[0])
            if not open_.any() or self.basis.shape[1] >= self.n or self.n_products - begin >= max_products:
                break
            if self.basis.shape[1] + k > most:
                self._rotate(rotation[:, : most // 2])
            self._extend(times, residuals[:, open_])
        self._rotate(rotation[:, : min(4 * k + 4, rotation.shape[1])])
        signs = np.sign(directions[np.abs(directions).argmax(axis=0), np.arange(k)])
        found = np.ascontiguousarray((directions * signs).T)
        self._found = found, (residuals + directions * values[:k]) * signs
        return values[:k], found.copy()

    def known_products(self, rows: np.ndarray) -> np.ndarray | None:
        """V rows' where these are the directions found last and V has not changed since; else None."""
        if self._found is None or not np.array_equal(rows, self._found[0]):
            return None
        return self._found[1]

    def change(self, direction: np.ndarray, c: float) -> None:
        """V became V - c g g'."""
        self.products -= np.outer(direction, c * (direction @ self.basis))
        self._found = None

    def refresh(self, times: Callable[[np.ndarray], np.ndarray]) -> None:
        """Multiply again, against drift."""
        if self.basis.shape[1]:
            self.products = np.array(times(self.basis))
            self.n_products += self.basis.shape[1]
        self._found = None

    def _ritz(self) -> tuple[np.ndarray, np.ndarray]:
        small = self.basis.T @ self.products
        values, rotation = np.linalg.eigh((small + small.T) / 2)
        return values[::-1], rotation[:, ::-1]

    def _rotate(self, rotation: np.ndarray) -> None:
        self.basis, self.products = self.basis @ rotation, self.products @ rotation

    def _clear(self) -> None:
        self.basis, self.products = np.empty((self.n, 0)), np.empty((self.n, 0))

    def _extend(self, times: Callable[[np.ndarray], np.ndarray], columns: np.ndarray) -> None:
        """Add directions, orthonormal to those there are; what is within them up to rounding is left out."""
        columns = columns / np.maximum(np.linalg.norm(columns, axis=0), 1e-300)
        for _ in range(2):
            columns = columns - self.basis @ (self.basis.T @ columns)
        left, sizes, _ = np.linalg.svd(columns, full_matrices=False)
        new = left[:, sizes > 1e-10]
        new = new - self.basis @ (self.basis.T @ new)
        new = np.linalg.qr(new)[0][:, : self.n - self.basis.shape[1]]
        if not new.shape[1]:  # an invariant subspace: go on elsewhere
            new = self._rng.standard_normal((self.n, 1))
            for _ in range(2):
                new -= self.basis @ (self.basis.T @ new)
            new /= np.linalg.norm(new)
        self.basis = np.hstack([self.basis, new])
        self.products = np.hstack([self.products, times(np.asfortranarray(new))])
        self.n_products += new.shape[1]
