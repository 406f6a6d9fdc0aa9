"""Statistics that many scripts tell: standard errors, half-widths and limits of means, columns in common units."""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["half_width", "limits", "standard_error", "standardised"]

NORMAL = 1.96  # standard errors on either side of a mean: 95%


def standard_error(values: np.ndarray) -> Any:
    """Return the standard error of the mean over the first axis.

    Examples
    --------
    >>> float(standard_error(np.array([1.0, 3.0])))
    1.0
    """
    return values.std(axis=0, ddof=1) / np.sqrt(len(values))


def half_width(values: np.ndarray, errors: float = NORMAL) -> Any:
    """Return half the width of the mean's interval: ``errors`` standard errors (of pairs: give the differences).

    Examples
    --------
    >>> round(float(half_width(np.array([1.0, 3.0]))), 2)
    1.96
    """
    return errors * values.std(axis=0, ddof=1) / np.sqrt(len(values))


def limits(values: np.ndarray, errors: float = NORMAL) -> tuple[float, float, float]:
    """Return the mean and its limits; of a single value they are the value.

    Examples
    --------
    >>> [round(one, 2) for one in limits(np.array([1.0, 3.0]))], limits(np.array([2.0]))
    ([2.0, 0.04, 3.96], (2.0, 2.0, 2.0))
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
