"""The n largest values, best first; ties go to the lowest position.

Values this close, relative to the best, are a tie: |a - b| <= 1e-10 |max|, for chunks round differently.
"""

from __future__ import annotations

import numpy as np

__all__ = ["SAME", "best_positions"]

SAME = 1e-10


def best_positions(values: np.ndarray, n: int) -> np.ndarray:
    """Return the positions of the n largest values, best first; ties go to the lowest position.

    Parameters
    ----------
    values : (m,) array of float
        Without NaN; minus infinity is the last to be chosen.
    n : int
        At most m.

    Examples
    --------
    >>> best_positions(np.array([1.0, 3.0, 2.0, 3.0]), 3).tolist()
    [1, 3, 2]
    """
    top = values.max()
    if n == 1:
        if not np.isfinite(top):
            return np.array([int(values.argmax())])
        return np.array([int(np.argmax(values >= top - SAME * abs(top)))])
    if np.isfinite(top) and top != 0:
        values = np.round(values / (SAME * abs(top)))  # what is a tie for one is a tie for all
    if n < len(values):
        threshold = -np.partition(-values, n - 1)[n - 1]
        above, at = np.flatnonzero(values > threshold), np.flatnonzero(values == threshold)
        listed = np.concatenate([above, at[: n - len(above)]])
    else:
        listed = np.arange(len(values))
    return listed[np.lexsort((listed, -values[listed]))]
