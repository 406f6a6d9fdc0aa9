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

_TOGETHER = 64  # changes that the products wait for


class LeadingSubspace:
    """An orthonormal basis near the leading eigenvectors, with its products.

    Parameters
    ----------
    n : int
        Number of rows of V.
    start : array (n, p), optional
        Directions to begin with; others are drawn with a fixed seed.

    Attributes
    ----------
    basis : array (n, p)
        Q.
    n_products : int
        Columns that were multiplied.

    Examples
    --------
    >>> V = np.diag(np.arange(1.0, 101.0))
    >>> values, directions = LeadingSubspace(100).leading(lambda M: V @ M, 2, tol=1e-8)
    >>> values.round(9), directions.shape
    (array([100.,  99.]), (2, 100))
    """

    def __init__(self, n: int, start: np.ndarray | None = None):
        self.n, self.n_products = n, 0
        self.basis, self._products = np.empty((n, 0)), np.empty((n, 0))
        self._changes: list[tuple[np.ndarray, float]] = []  # that the products have not seen yet
        self._start = start
        self._found: tuple[np.ndarray, np.ndarray] | None = None

    def leading(
        self, times: Callable[[np.ndarray], np.ndarray], k: int, tol: float = 1e-3, max_products: int = 1000
    ) -> tuple[np.ndarray, np.ndarray]:
        """The k largest eigenvalues, falling, and orthonormal eigenvectors (k, n), largest entry of each positive.

        Parameters
        ----------
        times : callable
            Maps (n, j) to V times it, V as it is now.
        k : int
        tol : float, default 1e-3
            Norm of every residual V x - theta x, as a share of the largest eigenvalue.
        max_products : int, default 1000
            Columns multiplied at most.

        Returns
        -------
        values (k,), directions (k, n)
        """
        keep, most, begin = 8 * k + 8, 12 * k + 12, self.n_products
        self._rng = np.random.default_rng(begin)
        if self.n <= 2 * most:
            self.basis = self.products = np.empty((self.n, 0))
            self._extend(times, np.eye(self.n))
        elif self.basis.shape[1] < k:
            first = self._rng.standard_normal((self.n, k + 2))
            self._extend(times, first if self._start is None else np.hstack([self._start, first[:, :1]]))
        small = self.basis.T @ self.products
        while True:
            values, rotation = np.linalg.eigh((small + small.T) / 2)
            values, rotation = values[::-1], rotation[:, ::-1]
            directions, images = self.basis @ rotation[:, :k], self.products @ rotation[:, :k]
            residuals = images - directions * values[:k]
            open_ = np.linalg.norm(residuals, axis=0) > tol * abs(values[0])
            size = self.basis.shape[1]
            if not open_.any() or size >= self.n or self.n_products - begin >= max_products:
                break
            if size + k > most:
                self._rotate(rotation[:, : most // 2])
                small, size = np.diag(values[: most // 2]), most // 2
            self._extend(times, residuals[:, open_])
            grown = self.basis.T @ self.products[:, size:]
            small = np.block([[small, grown[:size]], [grown[:size].T, grown[size:]]])
        self._rotate(rotation[:, :keep])
        signs = np.sign(directions[np.abs(directions).argmax(axis=0), np.arange(k)])
        found = np.ascontiguousarray((directions * signs).T)
        self._found = found, images * signs
        return values[:k], found.copy()

    def known_products(self, rows: np.ndarray) -> np.ndarray | None:
        """V rows' where these are the directions found last and V has not changed since; else None."""
        if self._found is None or not np.array_equal(rows, self._found[0]):
            return None
        return self._found[1]

    def change(self, direction: np.ndarray, c: float) -> None:
        """V became V - c g g'."""
        self._found = None
        if self.basis.shape[1]:
            self._changes.append((direction, c))
        if len(self._changes) == _TOGETHER:
            self.products  # noqa: B018

    @property
    def products(self) -> np.ndarray:
        """V Q."""
        if self._changes:
            directions, c = np.stack([g for g, _ in self._changes]), np.array([c for _, c in self._changes])
            self._products -= directions.T @ (c[:, None] * (directions @ self.basis))
            self._changes.clear()
        return self._products

    @products.setter
    def products(self, products: np.ndarray) -> None:
        self._products = products
        self._changes.clear()

    def refresh(self, times: Callable[[np.ndarray], np.ndarray]) -> None:
        """Multiply again, against drift."""
        if self.basis.shape[1]:
            self.products = np.array(times(self.basis))
            self.n_products += self.basis.shape[1]
        self._found = None

    def _rotate(self, rotation: np.ndarray) -> None:
        self.products = self.products @ rotation
        self.basis = self.basis @ rotation

    def _extend(self, times: Callable[[np.ndarray], np.ndarray], columns: np.ndarray) -> None:
        """Add directions, orthonormal to those there are; what is within them up to rounding is left out."""
        columns = columns / np.maximum(np.linalg.norm(columns, axis=0), 1e-300)
        columns -= self.basis @ (self.basis.T @ columns)
        left, sizes, _ = np.linalg.svd(columns, full_matrices=False)
        new = left[:, sizes > 1e-10][:, : self.n - self.basis.shape[1]]
        if not new.shape[1]:  # an invariant subspace: go on elsewhere
            new = self._rng.standard_normal((self.n, 1))
            new -= self.basis @ (self.basis.T @ new)
        for _ in range(2):
            new = np.linalg.qr(new - self.basis @ (self.basis.T @ new))[0]
        self.products = np.hstack([self.products, times(np.asfortranarray(new))])
        self.basis = np.hstack([self.basis, new])
        self.n_products += new.shape[1]
