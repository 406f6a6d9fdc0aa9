"""The wavelet coefficients that are most uncertain, among those that were not measured yet.

score of coefficient j = log(1 + Var(w_j . u | y) / noise variance) / 2, so the largest variance wins
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from adaptive.checks import integer
from adaptive.operators import Wavelet
from designs.filters.measured import measured_coefficients, require_answer
from designs.filters.transform_rows import TransformRows
from designs.filters.wavelets import coarse_to_fine

__all__ = ["UncertainWavelets"]


class UncertainWavelets:
    """Callable pool: the ``n`` wavelet coefficients with the largest posterior variance among the unused ones.

    Parameters
    ----------
    shape : int or tuple of int
        Of the image.
    n : int, default 3
        How many at a time; equal variances go coarse to fine.
    name, level : as in `wavelets`

    Notes
    -----
    The estimator needs ``variances_along(operator)`` and ``measurements_``.

    References
    ----------
    Nickisch (2010), section 5.4, "opt wave".

    Examples
    --------
    >>> class Belief:
    ...     measurements_ = np.array([[0.5, 0.5, 0.5, 0.5]]), np.array([1.0])
    ...     def variances_along(self, operator):
    ...         return np.array([9.0, 1.0, 3.0, 2.0])
    >>> UncertainWavelets((2, 2), 2, name="haar")(Belief())  # the mean was measured already
    array([[ 0.5,  0.5, -0.5, -0.5],
           [ 0.5, -0.5, -0.5,  0.5]])
    """

    def __init__(self, shape: int | Sequence[int], n: int = 3, *, name: str = "db2", level: int | None = None):
        self.n = integer("n", n, minimum=1)
        self.transform = Wavelet(shape, name, level)

    def __call__(self, estimator: Any) -> np.ndarray:
        require_answer(estimator, "variances_along")
        variances = np.asarray(estimator.variances_along(self.transform), dtype=float).ravel()
        order = coarse_to_fine(self.transform)
        used, _ = measured_coefficients(estimator, self.transform)
        order = order[~np.isin(order, used)]
        chosen = order[np.argsort(-variances[order], kind="stable")[: self.n]]
        return TransformRows(self.transform, chosen)[:]
