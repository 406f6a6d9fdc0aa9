"""Statistics that many scripts tell: standard errors, half-widths and limits of means, columns in common units."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import stats

__all__ = ["half_width", "limits", "standard_error", "standardised"]


def standard_error(values: np.ndarray) -> Any:
    """Return the standard error of the mean over the first axis.

    Examples
    --------
    >>> float(standard_error(np.array([1.0, 3.0])))
    1.0
    """
    return values.std(axis=0, ddof=1) / np.sqrt(len(values))


def half_width(values: np.ndarray, errors: float | None = None) -> Any:
    """Return half the width of the mean's 95% interval, by Student's t (of pairs: give the differences).

    ``errors`` asks for so many standard errors instead. By 1.96 of them the interval of five heads would hold .88.

    Examples
    --------
    >>> round(float(half_width(np.array([1.0, 3.0]))), 2), float(half_width(np.array([1.0, 3.0]), 2.0))
    (12.71, 2.0)
    """
    errors = float(stats.t.ppf(0.975, len(values) - 1)) if errors is None else errors
    return errors * values.std(axis=0, ddof=1) / np.sqrt(len(values))


def limits(values: np.ndarray, errors: float | None = None) -> tuple[float, float, float]:
    """Return the mean and its 95% limits, or those by so many standard errors; of a single value they are the value.

    Examples
    --------
    >>> [round(one, 2) for one in limits(np.array([1.0, 3.0]))], limits(np.array([2.0]))
    ([2.0, -10.71, 14.71], (2.0, 2.0, 2.0))
    """
    mean, half = float(values.mean()), float(half_width(values, errors)) if len(values) > 1 else 0.0
    return mean, mean - half, mean + half


def standardised(X: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Return X in units of the deviations of these rows, about their means; a constant column is only centred.

    Examples
    --------
    >>> standardised(np.array([[0.0, 1.0], [2.0, 1.0], [4.0, 1.0]]), np.array([0, 1]))
    array([[-1.,  0.],
           [ 1.,  0.],
           [ 3.,  0.]])
    """
    deviation = X[rows].std(axis=0)
    return (X - X[rows].mean(axis=0)) / np.where(deviation > 0, deviation, 1.0)
