"""The vector of least norm among those that come nearest to X u = y: u = X' (X X')^+ y."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from adaptive.inference.classic.measured_rows import MeasuredRows, PointEstimate, earlier_work
from adaptive.linalg.row_basis import RowBasis

if TYPE_CHECKING:
    from adaptive.types import ArrayLike, Rows

__all__ = ["least_squares"]


def least_squares(X: Rows | ArrayLike, y: ArrayLike, *, warm_start: PointEstimate | None = None) -> PointEstimate:
    """Minimum-norm reconstruction from few measurements; it says nothing about what was not measured.

    Parameters
    ----------
    X : array, sparse matrix or real Operator (m, n)
        Any rows, also more than unknowns; rows of zeros and repeated rows are allowed, and y is then met as nearly as
        can be. Rows orthogonal to the earlier ones cost one product with them.
    y : array (m,)
    warm_start : result of this function, optional
        If X begins with its rows, only the others are orthogonalised, at O(m n) each.

    Returns
    -------
    PointEstimate
        ``certificates["residual"]`` is |X u - y| / |y|: zero, unless rows contradict each other.

    See Also
    --------
    adaptive.linalg.least_squares : By products only (LSQR), for operators too large to be matrices.

    References
    ----------
    Nickisch (2010), section 5.3.

    Examples
    --------
    >>> first = least_squares([[1.0, 1.0, 0.0]], [2.0])
    >>> second = least_squares([[1.0, 1.0, 0.0], [0.0, 0.0, 2.0]], [2.0, 6.0], warm_start=first)
    >>> first.mean.round(9), second.mean.round(9)
    (array([1., 1., 0.]), array([1., 1., 3.]))
    """
    earlier, basis = earlier_work(warm_start, "least_squares") or (None, None)
    data = MeasuredRows(X, y, earlier=earlier)
    basis = (basis if basis is not None and data.known else RowBasis(data.n)).appended(data.coefficients[data.known :])
    z = basis.coordinates(data.y)
    residual = float(np.linalg.norm(basis.T @ z - data.y)) if data.y.size else 0.0
    scale = float(np.linalg.norm(data.y)) or 1.0
    return PointEstimate(z @ basis.Q, {"residual": residual / scale}, (data, basis), engine="least_squares")
