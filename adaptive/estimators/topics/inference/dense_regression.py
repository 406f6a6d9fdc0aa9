"""The same regressions with all correlations kept: K Gaussians over F weights, changed by one rank per datum.

    g = C f,   q = f . g,   C <- C - p g g' / (1 + p q),   mean <- mean + (h - p f . mean) / (1 + p q) g

for a message of precision p and precision times mean h about f . z; with -p and -h it is divided out again.
"""

from __future__ import annotations

import numba
import numpy as np

__all__ = ["forecast", "multiply"]


@numba.njit(cache=True)
def forecast(
    columns: np.ndarray, values: np.ndarray, means: np.ndarray, covariances: np.ndarray, mean: np.ndarray,
    variance: np.ndarray,
) -> None:  # fmt: skip
    """Fill the (K,) means and variances of  f . z;  ``means`` is (F, K), ``covariances`` (K, F, F)."""
    for k in range(len(mean)):
        total = square = 0.0
        for e in range(len(columns)):
            total += values[e] * means[columns[e], k]
            for other in range(len(columns)):
                square += values[e] * values[other] * covariances[k, columns[e], columns[other]]
        mean[k] = total
        variance[k] = square


@numba.njit(cache=True)
def multiply(
    columns: np.ndarray, values: np.ndarray, means: np.ndarray, covariances: np.ndarray, precision: np.ndarray,
    shift: np.ndarray, sign: float,
) -> int:  # fmt: skip
    """Multiply (``sign`` 1) or divide (-1) messages (K,) about f . z; what would be improper is left and counted."""
    skipped = 0
    F = len(means)
    column = np.empty(F)
    for k in range(covariances.shape[0]):
        p, h = sign * precision[k], sign * shift[k]
        if abs(p) <= 1e-12:
            continue
        column[:] = 0.0
        for e in range(len(columns)):
            for c in range(F):
                column[c] += covariances[k, c, columns[e]] * values[e]
        total = square = 0.0
        for e in range(len(columns)):
            total += values[e] * means[columns[e], k]
            square += values[e] * column[columns[e]]
        left = 1.0 + p * square
        if left < 1e-10:
            skipped += 1
            continue
        for c in range(F):
            means[c, k] += (h - p * total) / left * column[c]
            step = p / left * column[c]
            for other in range(F):
                covariances[k, c, other] -= step * column[other]
    return skipped
