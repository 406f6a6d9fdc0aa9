"""Systematic resampling: particle k is kept floor or ceil of  k w_k  times, by one uniform number for all.

Kitagawa (1996), Monte Carlo filter and smoother.  Its error is far below that of independent
draws where the weights hardly differ.
"""

from __future__ import annotations

import numpy as np

__all__ = ["systematic"]


def systematic(weights: np.ndarray, n: int, uniform: float) -> np.ndarray:
    """Return n positions, ascending, drawn in proportion to ``weights``.

    Parameters
    ----------
    weights : (k,) array, >= 0
    n : int
    uniform : float in [0, 1)

    Examples
    --------
    >>> systematic(np.array([0.5, 0.0, 0.25, 0.25]), 4, 0.5).tolist()
    [0, 0, 2, 3]
    """
    edges = np.cumsum(weights)
    places = (np.arange(n) + uniform) * (edges[-1] / n)
    return np.minimum(np.searchsorted(edges, places, side="right"), np.flatnonzero(weights)[-1])
