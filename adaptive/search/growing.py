"""Scores that grow with mean and variance, bounded over blocks:  score <= score(largest mean, largest variance).

Corners are rounded up to a grid, so that of millions of blocks few different ones are scored.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["bounds_of_corners"]

_LEVELS = 96  # of mean, and of variance
_SMALLEST = 1e-9  # of the largest variance: where the grid of variances begins
_TOGETHER = 4096  # corners per call


def bounds_of_corners(
    score: Callable[[np.ndarray, np.ndarray], np.ndarray], mean: np.ndarray, variance: np.ndarray
) -> np.ndarray:
    """Return upper bounds of ``score`` where mean and variance are at most as given.

    Parameters
    ----------
    score : function of means (m,) and variances (m,) -> (m,), which falls in neither
    mean, variance : arrays of one shape

    Examples
    --------
    >>> mean, variance = np.array([0.0, 1.0, 2.0]), np.array([1.0, 0.5, 0.0])
    >>> bool(np.all(bounds_of_corners(lambda m, v: m + v, mean, variance) >= mean + variance))
    True
    """
    means = np.linspace(mean.min(), mean.max(), _LEVELS)
    largest = max(float(variance.max()), 1e-300)
    variances = np.concatenate([[0.0], largest * np.geomspace(_SMALLEST, 1.0, _LEVELS)])
    means[-1], variances[-1] = mean.max(), largest
    corner = np.searchsorted(means, mean) * len(variances) + np.searchsorted(variances, variance)
    different, which = np.unique(corner, return_inverse=True)
    i, j = np.divmod(different, len(variances))
    found = [score(means[i[k : k + _TOGETHER]], variances[j[k : k + _TOGETHER]]) for k in range(0, len(i), _TOGETHER)]
    return np.concatenate(found)[which.reshape(mean.shape)]
