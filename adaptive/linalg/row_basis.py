"""An orthonormal basis of the rows of a matrix that grows row by row:

    X = T Q,    Q (r, n) with orthonormal rows,    T (m, r) lower trapezoidal.

X u = y says Q u = z with T z = y, and projecting onto that set is v - Q'(Q v - z). Rows that depend on earlier ones add
nothing to Q; z is then the least-squares solution.
"""

from __future__ import annotations

import numpy as np
import scipy.linalg

from adaptive.linalg.growing_rows import GrowingRows

__all__ = ["RowBasis"]

_DEPENDENT = 1e-12  # a row of which this share is new is a combination of earlier rows and rounding
_NEARLY = 1e-3  # in a block, such rows go one by one: their directions would lose digits of orthogonality
_CLEAN = 0.7  # a row that keeps this share of its length has lost no digits to its projection (Kahan and Parlett)


class RowBasis:
    """Q and T, by block Gram-Schmidt; a longer version shares the rows of the shorter one.

    Parameters
    ----------
    n : int
        Length of a row; there are none at first.

    Attributes
    ----------
    Q : (r, n)
    T : (m, r)

    Examples
    --------
    >>> basis = RowBasis(2).appended(np.array([[3.0, 4.0], [6.0, 8.0]]))
    >>> basis.Q.round(3), basis.T.ravel().round(3)
    (array([[0.6, 0.8]]), array([ 5., 10.]))
    """

    def __init__(self, n: int):
        self._basis, self.T = GrowingRows(n), np.zeros((0, 0))

    @property
    def Q(self) -> np.ndarray:
        return self._basis.rows

    @property
    def full(self) -> bool:
        """Return whether no row depends on others."""
        return self.T.shape[0] == self.T.shape[1]

    def appended(self, rows: np.ndarray) -> RowBasis:
        """With more rows (d, n)."""
        if not len(rows):
            return self
        lengths = np.linalg.norm(rows, axis=1)
        rest, onto = rows, np.zeros((len(rows), len(self.Q)))
        for _ in range(2):  # twice is enough
            before = np.linalg.norm(rest, axis=1)
            part = rest @ self.Q.T
            rest, onto = rest - part @ self.Q, onto + part
            if np.all(np.linalg.norm(rest, axis=1) >= _CLEAN * before):
                break
        directions, triangle = scipy.linalg.qr(rest.T, mode="economic", check_finite=False)
        new = np.abs(triangle.diagonal()) if triangle.shape[0] == len(rows) else np.zeros(len(rows))
        single = len(rows) == 1
        if np.all(new > (_DEPENDENT if single else _NEARLY) * np.maximum(lengths, np.finfo(float).tiny)):
            signs = np.sign(triangle.diagonal())
            return self._longer(onto, triangle.T * signs, directions.T * signs[:, None])
        return self._longer(onto, np.zeros((1, 0)), rest[:0]) if single else self._one_by_one(rows)

    def _one_by_one(self, rows: np.ndarray) -> RowBasis:
        longer = self
        for row in rows:
            longer = longer.appended(row[None])
        return longer

    def _longer(self, onto: np.ndarray, triangle: np.ndarray, directions: np.ndarray) -> RowBasis:
        longer = RowBasis(directions.shape[1])
        longer._basis = self._basis.appended(directions)
        longer.T = np.block([[self.T, np.zeros((len(self.T), len(directions)))], [onto, triangle]])
        return longer

    def coordinates(self, y: np.ndarray) -> np.ndarray:
        """z with T z = y, or as near as can be."""
        if not self.T.size:
            return np.zeros(self.T.shape[1])
        if self.full:
            return scipy.linalg.solve_triangular(self.T, y, lower=True, check_finite=False)
        return np.linalg.lstsq(self.T, y, rcond=None)[0]

    def multipliers(self, coordinates: np.ndarray) -> np.ndarray:
        """lambda with X' lambda = Q' coordinates."""
        if not self.T.size:
            return np.zeros(self.T.shape[0])
        if self.full:
            return scipy.linalg.solve_triangular(self.T, coordinates, lower=True, trans=1, check_finite=False)
        return np.linalg.lstsq(self.T.T, coordinates, rcond=None)[0]
