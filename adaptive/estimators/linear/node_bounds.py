"""Bounds on rows' moments at every node, from one product in single precision.

    means = [x 1] . mean_k,    size = |[x 1] R|^2,    R R' = V of the node of most weight,

and the others' variances lie between the least and the largest eigenvalue of R^-1 V_k R^-1' times its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numba import njit
from scipy.linalg import eigh

from adaptive.predictive.envelope import Envelope

__all__ = ["NodeBounds"]

EPSILON = float(np.finfo(np.float32).eps)
WORST = 1e-3  # relative error of single precision from which on bounds are not worth having
IN_CACHE = 4096  # rows


class NodeBounds:
    """Bounds for any rows.

    Parameters
    ----------
    weights : (k,) array
        Of the nodes.
    parts : one for each node, ``(mean (n,), root (n, r))``
        Of weights and, last, the intercept if there is one.
    intercept : bool
    """

    def __init__(self, weights: np.ndarray, parts: Sequence[tuple[np.ndarray, np.ndarray]], intercept: bool) -> None:
        self.weights, self.intercept, self.kept = np.asarray(weights, dtype=float), intercept, dict[str, Any]()
        covariances = [root @ root.T for _, root in parts]
        first = int(np.argmax(self.weights))
        apart = [eigh(covariance, covariances[first], eigvals_only=True) for covariance in covariances]
        spread = np.linalg.eigvalsh(covariances[first])
        n = len(spread)
        # of a sum of n products in single precision, next to the norms of what is multiplied
        error = 2.0 * (n + 4) * EPSILON / np.sqrt(max(spread[0], np.finfo(float).tiny))
        of_size = 2.0 * error * np.sqrt(n * spread[-1])
        self.slack = error * np.array([np.linalg.norm(mean) for mean, _ in parts])
        self.low = np.array([values[0] for values in apart]) * (1.0 - of_size)
        self.high = np.array([values[-1] for values in apart]) * (1.0 + of_size)
        self.sound = bool(of_size < WORST and self.slack.max() < WORST * 10 and self.low.min() > 0)
        columns = np.column_stack([*(mean for mean, _ in parts), parts[first][1]]).astype(np.float32)
        self._across = np.ascontiguousarray(columns.T)

    def __call__(self, rows: np.ndarray) -> Envelope | None:
        """Return the bounds of rows (m, d); None where single precision leaves none."""
        if not self.sound or rows.dtype != np.float32:
            return None
        count, m = len(self.weights), len(rows)
        means, sizes = np.empty((count, m), dtype=np.float32), np.empty(m, dtype=np.float32)
        across, constant = self._across, np.zeros(len(self._across), dtype=np.float32)
        if self.intercept:
            across, constant = across[:, :-1], np.ascontiguousarray(across[:, -1])
        for start in range(0, m, IN_CACHE):
            part = slice(start, start + IN_CACHE)
            _split(across @ rows[part].T, constant, means[:, part], sizes[part])
        return Envelope(self.weights, self.low, self.high, self.slack, means, sizes, self.kept)


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract"})
def _split(products: np.ndarray, constant: np.ndarray, means: np.ndarray, sizes: np.ndarray) -> None:
    """Fill means (k, m) with the first rows of products + constant, sizes (m,) with the sums of squares of the rest."""
    count, m = means.shape
    for k in range(count):
        for i in range(m):
            means[k, i] = products[k, i] + constant[k]
    sizes[:] = np.float32(0.0)
    for j in range(count, products.shape[0]):
        for i in range(m):
            one = products[j, i] + constant[j]
            sizes[i] += one * one
