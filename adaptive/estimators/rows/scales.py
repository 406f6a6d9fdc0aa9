"""Scales of the columns of a table: a prior or a kernel that treats all alike needs them to be comparable.

columns i and j differ   <=>   sd_i > 100 sd_j   and   range_i > 100 range_j       over the columns that vary

Both, since a rare event among standardised columns has a small standard deviation but the range of any yes or no, and a
single outlier a large range but hardly a standard deviation.  Sparse tables are left alone: what is rare there is small
by right, and centring would fill them.
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

import numpy as np

from adaptive.estimators.rows.vector_cells import spread
from adaptive.pool import has_columns, without_names

if TYPE_CHECKING:
    from adaptive.types import Pool

__all__ = ["FACTOR", "differing_columns", "warn_of_scales"]

FACTOR = 100.0
FEWEST_ROWS = 10  # of fewer rows a column may be nearly constant by chance
MOST_ROWS = 10_000  # that are looked at, evenly spaced


def differing_columns(X: Pool) -> tuple[int, int] | None:
    """Return the columns of the largest and of the smallest scale where these differ by more than ``FACTOR``.

    Examples
    --------
    >>> rows = np.random.default_rng(0).normal(size=(20, 2))
    >>> differing_columns(rows), differing_columns(rows * [1.0, 1000.0])
    (None, (1, 0))
    """
    if not (isinstance(X, np.ndarray) and X.ndim == 2 and X.dtype.kind in "fiu" and len(X) >= FEWEST_ROWS):
        return None
    X = X[:: max(1, len(X) // MOST_ROWS)]
    ranges = np.ptp(X, axis=0)
    vary = np.flatnonzero(ranges > 0)
    if len(vary) < 2:
        return None
    ranges, deviations = ranges[vary], np.std(X, axis=0)[vary]
    large, small = int(np.argmax(deviations)), int(np.argmin(deviations))
    if deviations[large] <= FACTOR * deviations[small] or ranges[large] <= FACTOR * ranges[small]:
        return None
    return int(vary[large]), int(vary[small])


def warn_of_scales(estimator: object, X: Pool, name: str) -> None:
    """Say once where columns of ``X``, an argument of this name, differ in scale and the estimator compares them."""
    if not getattr(estimator, "compares_columns", False):
        return
    X = spread(X)
    found = differing_columns(without_names(X))
    if found is not None:
        large, small = (repr(str(X.columns[k])) if has_columns(X) else str(k) for k in found)
        warnings.warn(
            f"columns of {name} differ in scale by more than {FACTOR:g} (column {large} against column {small}), but "
            f"{type(estimator).__name__} treats all alike: standardise them, as in make_pipeline(StandardScaler(), "
            "estimator).",
            UserWarning,
            stacklevel=4,
        )
