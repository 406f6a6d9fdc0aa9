"""The Gaussians of n people with sites on p differences each, in the smaller of two spaces: of pairs, or of items.

    pairs   M = I + T^1/2 S T^1/2,     S = B Sigma B' of the p differences, T the sites' precisions
    items   M = I + R' B'T B R,        R R' = Sigma of the items that were compared

All people of a stack have as many comparisons, so that each step is one call for all of them.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np

from adaptive.estimators.preferences.inference.utility_prior import UtilityPrior

__all__ = ["ItemSpace", "PairSpace", "Space", "space_of"]


class Space(Protocol):
    """n Gaussians with sites.

    Attributes
    ----------
    mean, variance : (n, p) arrays
        Marginals of the differences.
    centre : (n, p) array
        Their means before any answer.
    log_determinant : (n,) array
        ln|M|.
    """

    mean: np.ndarray
    variance: np.ndarray
    centre: np.ndarray
    log_determinant: np.ndarray

    def refit(self, pi: np.ndarray, nu: np.ndarray) -> None:
        """Take these sites (n, p)."""

    def statistics(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return items (n, q), W (n, q, q) and w (n, q): the posterior is N(b + Sigma w, Sigma - Sigma W Sigma).

        An item may stand in several places, whose entries add up.
        """


def space_of(prior: UtilityPrior, first: np.ndarray, second: np.ndarray) -> Space:
    """The smaller space for comparisons (n, p) of people who compared as many items each, where that is the smaller."""
    ends = np.sort(np.concatenate([first, second], axis=1), axis=1)
    new = np.diff(ends, axis=1, prepend=-1) > 0
    k = new.sum(axis=1)
    if first.shape[1] <= k.max() or (k != k[0]).any():
        return PairSpace(prior, first, second)
    return ItemSpace(prior, ends[new].reshape(len(ends), int(k[0])), first, second)


class PairSpace:
    """The p differences themselves."""

    def __init__(self, prior: UtilityPrior, first: np.ndarray, second: np.ndarray) -> None:
        self._ends = np.concatenate([first, second], axis=1)
        self._covariance = prior.differences(first, second)
        self._spread = np.diagonal(self._covariance, axis1=-2, axis2=-1)
        self.centre = prior.mean[first] - prior.mean[second]
        self._identity = np.eye(first.shape[1])

    def refit(self, pi: np.ndarray, nu: np.ndarray) -> None:
        root = np.sqrt(pi)
        self._pi, self._slope = pi, nu - pi * self.centre
        scaled = root[:, :, None] * self._covariance
        self._factor = np.linalg.cholesky(self._identity + scaled * root[:, None, :])
        half = np.linalg.solve(self._factor, scaled)  # C^-1 T^1/2 S
        self.variance = self._spread - np.sum(half * half, axis=1)
        moved = (self._covariance @ self._slope[:, :, None])[:, :, 0]
        moved -= (np.swapaxes(half, 1, 2) @ (half @ self._slope[:, :, None]))[:, :, 0]
        self.mean = self.centre + moved
        self._residual = nu - pi * self.mean
        self.log_determinant = 2.0 * np.sum(np.log(np.diagonal(self._factor, axis1=1, axis2=2)), axis=1)

    def statistics(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        half = np.linalg.solve(self._factor, np.sqrt(self._pi)[:, :, None] * self._identity)
        inner = np.swapaxes(half, 1, 2) @ half  # (T^-1 + S)^-1, never divided by T
        return self._ends, np.block([[inner, -inner], [-inner, inner]]), np.hstack([self._residual, -self._residual])


class ItemSpace:
    """The k items that were compared."""

    def __init__(self, prior: UtilityPrior, items: np.ndarray, first: np.ndarray, second: np.ndarray) -> None:
        self._items, (n, k) = items, items.shape
        self._root = np.linalg.cholesky(prior.block(items, items))
        self._person = np.arange(n)[:, None]
        self._first = (items[:, None, :] < first[:, :, None]).sum(axis=-1)
        self._second = (items[:, None, :] < second[:, :, None]).sum(axis=-1)
        self.centre = prior.mean[first] - prior.mean[second]
        self._identity = np.eye(k)

    def refit(self, pi: np.ndarray, nu: np.ndarray) -> None:
        self._laplacian, transposed = self._summed(pi), np.swapaxes(self._root, 1, 2)
        self._factor = np.linalg.cholesky(self._identity + transposed @ self._laplacian @ self._root)
        half = np.linalg.solve(self._factor, transposed)
        self._covariance = np.swapaxes(half, 1, 2) @ half
        spread = np.diagonal(self._covariance, axis1=1, axis2=2)
        a, b, person = self._first, self._second, self._person
        self.variance = spread[person, a] + spread[person, b] - 2.0 * self._covariance[person, a, b]
        moved = (self._covariance @ self._at_items(nu - pi * self.centre)[:, :, None])[:, :, 0]
        self.mean = self.centre + moved[person, a] - moved[person, b]
        self._residual = nu - pi * self.mean
        self.log_determinant = 2.0 * np.sum(np.log(np.diagonal(self._factor, axis1=1, axis2=2)), axis=1)

    def statistics(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        within = self._laplacian - self._laplacian @ self._covariance @ self._laplacian
        return self._items, within, self._at_items(self._residual)

    def _at_items(self, values: np.ndarray) -> np.ndarray:
        """B' values."""
        total = np.zeros(self._items.shape)
        np.add.at(total, (self._person, self._first), values)
        np.subtract.at(total, (self._person, self._second), values)
        return total

    def _summed(self, weights: np.ndarray) -> np.ndarray:
        """B' diag(weights) B, the weighted Laplacian of the graph of comparisons."""
        n, k = self._items.shape
        total = np.zeros((n, k, k))
        a, b, person = self._first, self._second, self._person
        np.add.at(total, (person, a, a), weights)
        np.add.at(total, (person, b, b), weights)
        np.subtract.at(total, (person, a, b), weights)
        np.subtract.at(total, (person, b, a), weights)
        return total
