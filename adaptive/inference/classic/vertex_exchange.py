"""From a near-solution of min |c|_1 subject to Q c = z to the minimum, vertex by vertex.

At a vertex r coefficients solve the r equations, and multipliers l with (Q'l)_i = sign c_i on them bound every other
feasible point, if only |Q'l| <= 1 elsewhere. Where it is not, the worst offender enters: it grows, some coefficients
pass through zero, and the one at which the norm stops falling leaves (the simplex method, long-step ratio test).
"""

from __future__ import annotations

import numpy as np
import scipy.linalg

__all__ = ["best_vertex"]

_TOLERANCE = 1e-10
_TIE = 1e-11  # share of z by which it is shaken while vertices are exchanged: then no coefficient is exactly zero
_REFRESH = 100  # exchanges after which the inverse is computed afresh


def best_vertex(
    Q: np.ndarray, z: np.ndarray, guess: np.ndarray, multipliers: np.ndarray, max_exchanges: int
) -> tuple[np.ndarray, np.ndarray] | None:
    """The minimum and its multipliers, or None if ``max_exchanges`` do not reach it.

    Parameters
    ----------
    Q : (r, n)
        Independent rows.
    z : (r,)
    guess : (n,)
        Coefficients, the large ones probably nonzero at the minimum.
    multipliers : (r,)
        Near those of the minimum.
    max_exchanges : int

    Examples
    --------
    >>> c, multipliers = best_vertex(np.array([[1.0, 2.0]]), np.array([4.0]), np.array([1.0, 0.0]), np.zeros(1), 10)
    >>> c, multipliers
    (array([0., 2.]), array([0.5]))
    """
    on = _independent(Q, np.abs(guess), np.abs(multipliers @ Q))
    if on is None:
        return None
    shake = np.random.default_rng(0).standard_normal(len(z))
    shaken = z + shake * (_TIE * np.linalg.norm(z) / np.linalg.norm(shake))
    inverse = np.linalg.inv(Q[:, on])
    values = inverse @ shaken
    for exchange in range(1, max_exchanges + 1):
        slopes = (np.sign(values) @ inverse) @ Q
        entering = int(np.argmax(np.abs(slopes)))
        if abs(slopes[entering]) <= 1.0 + _TOLERANCE:
            return _finished(Q, z, on, np.sign(values))
        sign = np.sign(slopes[entering])
        fall = sign * (inverse @ Q[:, entering])  # of the others while it grows by one
        leaving, length = _ratio_test(values, fall, abs(slopes[entering]) - 1.0)
        values = values - length * fall
        values[leaving] = sign * length
        on[leaving] = entering
        pivot = sign * fall  # inverse @ the entering column
        row = inverse[leaving] / pivot[leaving]
        pivot[leaving] -= 1.0
        inverse -= np.outer(pivot, row)
        if exchange % _REFRESH == 0:
            inverse = np.linalg.inv(Q[:, on])
            values = inverse @ shaken
    return None


def _ratio_test(values: np.ndarray, fall: np.ndarray, gain: float) -> tuple[int, float]:
    """Which coefficient leaves, and how far the entering one grows, when every zero passed costs 2 |fall|."""
    with np.errstate(divide="ignore", invalid="ignore"):
        lengths = np.where(values * fall > 0, values / fall, np.inf)
    order = np.argsort(lengths)
    passed = np.cumsum(2.0 * np.abs(fall[order]))
    at = order[min(int(np.searchsorted(passed, gain)), int(np.isfinite(lengths).sum()) - 1)]
    return int(at), float(lengths[at])


def _finished(Q: np.ndarray, z: np.ndarray, on: np.ndarray, signs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The vertex solved afresh, without the shaking."""
    factor = scipy.linalg.lu_factor(Q[:, on], check_finite=False)
    c = np.zeros(Q.shape[1])
    values = scipy.linalg.lu_solve(factor, z, check_finite=False)
    c[on] = values + scipy.linalg.lu_solve(factor, z - Q[:, on] @ values, check_finite=False)
    return c, scipy.linalg.lu_solve(factor, signs, trans=1, check_finite=False)


def _independent(Q: np.ndarray, size: np.ndarray, slope: np.ndarray) -> np.ndarray | None:
    """r independent columns, large coefficients first, then those whose multipliers come nearest to one."""
    r, n = Q.shape
    preference = slope / max(float(slope.max(initial=0.0)), 1e-300) + np.where(
        size > 0, 2.0 + size / (size.max() or 1.0), 0
    )
    order = np.argsort(-preference)
    for count in (min(n, r + 16 + r // 8), n):
        columns = order[:count]
        weight = np.where(size[columns] > 0, preference[columns], 1e-3 * preference[columns] + 1e-9)
        triangle, pivots = scipy.linalg.qr(Q[:, columns] * weight, mode="r", pivoting=True, check_finite=False)
        diagonal = np.abs(triangle.diagonal())
        if len(diagonal) >= r and diagonal[r - 1] > 1e-12 * diagonal[0]:
            return columns[pivots[:r]]
    return None
