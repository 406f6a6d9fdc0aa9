"""Questions of callable pools to an estimator: directions, variances, and what was measured so far."""

from __future__ import annotations

from typing import Any

import numpy as np

from adaptive.operators import Operator

__all__ = ["measured_coefficients", "measured_rows", "require_answer"]

_EQUAL = 1e-6  # how far from one the coefficient of a unit row may be that measures it


def require_answer(estimator: object, name: str) -> None:
    """Refuse an estimator that cannot answer."""
    if not hasattr(estimator, name):
        raise ValueError(f"estimator must have {name} to design filters, {type(estimator).__name__} has none.")


def measured_rows(estimator: Any) -> tuple[np.ndarray, np.ndarray]:
    """The filters (m, pixels) measured so far and their outcomes (m,)."""
    require_answer(estimator, "measurements_")
    rows, outcomes = estimator.measurements_
    return np.asarray(rows, dtype=float), np.asarray(outcomes, dtype=float)


def measured_coefficients(estimator: Any, transform: Operator) -> tuple[np.ndarray, np.ndarray]:
    """Coefficients of an orthonormal transform that were measured by themselves, and their values.

    Returns
    -------
    index : array (k,) of int
        In the flat order of the transform's output, ascending.
    values : array (k,)
        Outcomes, for filters of norm one; averages of what was measured more than once.
    """
    rows, outcomes = measured_rows(estimator)
    if not len(rows):
        return np.zeros(0, dtype=np.intp), np.zeros(0)
    lengths = np.linalg.norm(rows, axis=1)
    coefficients = transform.forward((rows / lengths[:, None]).reshape(-1, *transform.input_shape))
    coefficients = coefficients.reshape(len(rows), -1)
    column = np.argmax(np.abs(coefficients), axis=1)
    entry = coefficients[np.arange(len(rows)), column]
    single = np.abs(np.abs(entry) - 1.0) < _EQUAL
    index, where, count = np.unique(column[single], return_inverse=True, return_counts=True)
    values = (outcomes / lengths * np.sign(entry))[single]
    return index, np.bincount(where, weights=values, minlength=len(index)) / count
