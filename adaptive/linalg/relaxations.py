"""Relaxations of the best set of rows: how large  1/2 log|I + sum_i w_i A_i' A_i|  can be, from above.

A set B is w = 1 on B and 0 elsewhere; its rows number at most r.  Of the eigenvalues l_1 >= l_2 >= ... of
X(w) = sum_i w_i A_i' A_i  those from some k on are folded into one mean, so that r are left:

    phi_r(l) = 1/2 [sum_{i <= k} log(1 + l_i) + (r - k) log(1 + t)],    t = sum_{i > k} l_i / (r - k),

with the least k at which l_{k+1} <= t.  phi_r is concave in w, and equal to the information at every set, for which all
eigenvalues beyond the r-th are zero (Nikolov 2015).  Where r is no less than the number of columns it is the usual
D-optimal relaxation.  Its tangent at any w, maximised over all w that the budget allows, is an upper bound:

    phi(w) + max_v g'(v - w),      g_i = 1/2 tr A_i h(X) A_i',   h the slopes of phi in the eigenvalues.

Frank-Wolfe goes from tangent to tangent towards the least of them.

A tangent needs no exact eigenvectors, nor all of them.  For orthonormal v_1 .. v_k, k <= r, and slopes
0 < h_1 <= ... <= h_k <= h_o, every set with at most r rows has

    2 f(B) <= tr G X_B + sum_j c(h_j) + (r - k) c(h_o),    G = sum_j h_j v_j v_j' + h_o (I - sum_j v_j v_j'),

c(h) = h - 1 - log h, since  log(1 + l) <= h (1 + l) - 1 - log h  and since the trace is least where the smallest slope
meets the largest eigenvalue (von Neumann).  Large problems take v from a randomised subspace iteration, the leading
ones of X(w), and steps whose lengths are stated.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy import linalg
from sklearn.utils.extmath import randomized_svd

__all__ = ["Budget", "Relaxed", "folded", "frank_wolfe", "leading"]

TIE = 1e-9  # relative; candidates whose slopes agree so far share what is left of the budget
LEAST_WEIGHT = 1e-12  # that counts as one
MOST_EIGENVALUES = 2_000  # in an iteration: problems with more stop there
GAP = 1e-4  # relative distance of bound and relaxation at which no further iteration is worth its time


@dataclass(frozen=True)
class Budget:
    """Weights that are allowed:  0 <= w_i (<= 1 unless repeated),  sum_i cost_i w_i <= total.

    Attributes
    ----------
    cost : (m,) array
        Positive.
    total : float
    repeat : bool
        Whether a candidate may be taken more than once.

    Examples
    --------
    >>> Budget(np.ones(3), 2.0).most(np.array([3.0, 1.0, 2.0]))
    5.0
    """

    cost: np.ndarray
    total: float
    repeat: bool = False

    def most(self, gains: np.ndarray) -> float:
        """Return the largest sum_i w_i gains_i over all w that are allowed."""
        if not len(gains):
            return 0.0
        gains = np.maximum(gains, 0.0)
        if self.repeat:
            return float((gains / self.cost).max() * self.total)
        order = self._best_first(gains / self.cost)
        spent = np.cumsum(self.cost[order])
        whole = int(np.searchsorted(spent, self.total * (1 + 1e-12), side="right"))
        value = float(gains[order[:whole]].sum())
        if whole < len(order):
            left = self.total - (spent[whole - 1] if whole else 0.0)
            value += float(max(left, 0.0) / self.cost[order[whole]] * gains[order[whole]])
        return value

    def best(self, gains: np.ndarray) -> np.ndarray:
        """Return weights (m,) that reach `most`, but for rounding; ties share alike, in whatever order they stand."""
        gains = np.maximum(gains, 0.0)
        worth = gains / self.cost
        if self.repeat:
            tied = worth >= worth.max() * (1 - TIE)
            return np.where(tied, self.total / self.cost[tied].sum(), 0.0)
        order = self._best_first(worth)
        spent = np.cumsum(self.cost[order])
        last = int(np.searchsorted(spent, self.total * (1 - 1e-12)))
        if last >= len(order):
            return np.ones(len(gains))
        threshold = worth[order[last]]
        above = worth > threshold * (1 + TIE)
        tied = ~above & (worth >= threshold * (1 - TIE))
        share = (self.total - self.cost[above].sum()) / self.cost[tied].sum()
        return np.where(above, 1.0, np.where(tied, min(share, 1.0), 0.0))

    def _best_first(self, worth: np.ndarray) -> np.ndarray:
        """Order of the candidates, as far down as the budget can reach."""
        reach = int(self.total / self.cost.min()) + 2
        if reach >= len(worth):
            return np.argsort(-worth, kind="stable")
        listed = np.argpartition(-worth, reach - 1)[:reach]
        return listed[np.argsort(-worth[listed], kind="stable")]

    def most_rows(self, sizes: np.ndarray) -> int:
        """Return how many rows a set holds at most, of candidates that have so many each."""
        return int(np.floor(self.most(np.asarray(sizes, dtype=float)) + 1e-9))


def folded(eigenvalues: np.ndarray, r: int) -> tuple[float, np.ndarray]:
    """Return phi_r of eigenvalues, in any order, and its slopes in them without the factor 1/2.

    Parameters
    ----------
    eigenvalues : (d,) array
        Negative ones are rounding, and taken for zero.
    r : int
        Rows that a set has at most.

    Examples
    --------
    >>> value, slopes = folded(np.array([3.0, 1.0]), 1)
    >>> bool(np.isclose(value, 0.5 * np.log(5.0))), slopes
    (True, array([0.2, 0.2]))
    """
    values = np.maximum(eigenvalues, 0.0)
    if r >= len(values):
        return 0.5 * float(np.log1p(values).sum()), 1.0 / (1.0 + values)
    order = np.argsort(-values)
    falling = values[order]
    tail = np.cumsum(falling[::-1])[::-1][:r]
    mean = tail / (r - np.arange(r))
    k = int(np.argmax(falling[:r] <= mean * (1 + 1e-15)))  # at the last, r - 1, it always is
    slopes = np.full(len(values), 1.0 / (1.0 + mean[k]))
    slopes[:k] = 1.0 / (1.0 + falling[:k])
    given_back = np.empty_like(slopes)
    given_back[order] = slopes
    return 0.5 * float(np.log1p(falling[:k]).sum() + (r - k) * np.log1p(mean[k])), given_back


@dataclass(frozen=True)
class Relaxed:
    """Bound and weights that Frank-Wolfe found.

    Attributes
    ----------
    bound : float
        No set that the budget allows has more information, in nats.
    value : float
        Of the relaxation at ``weights``: no bound of it is below.
    weights : (m,) array
    bounds : (n_iter,) array
        The least so far after each iteration.
    """

    bound: float
    value: float
    weights: np.ndarray
    bounds: np.ndarray


def frank_wolfe(rows: np.ndarray, budget: Budget, start: np.ndarray, *, r: int, n_iter: int) -> Relaxed:
    """Return an upper bound of  1/2 log|I + A_B A_B'|  over the sets B that a budget allows.

    Parameters
    ----------
    rows : (m, b, d) array
        A_i of every candidate; those with fewer than b rows end in zeros.
    budget : Budget
    start : (m,) array
        Weights that the budget allows.
    r : int
        Rows that a set has at most.
    n_iter : int
        At least 1; more never loosen the bound.

    Examples
    --------
    Two of three orthogonal rows: the relaxation is tight.

    >>> found = frank_wolfe(np.eye(3)[:, None], Budget(np.ones(3), 2.0), np.array([1.0, 1.0, 0.0]), r=2, n_iter=1)
    >>> bool(np.isclose(found.bound, np.log(2.0)))
    True
    """
    m, b, d = rows.shape
    flat = rows.reshape(m * b, d)
    lengths = np.einsum("ij,ij->i", flat, flat).reshape(m, b).sum(axis=1)
    weights = np.asarray(start, dtype=float)
    least, bounds, step, value = np.inf, [], 1.0, 0.0
    for iteration in range(n_iter):
        if iteration and min(d, np.count_nonzero(weights) * b) > MOST_EIGENVALUES:
            break
        value, gradient = _linearised(flat, lengths, weights, b, r)
        least = min(least, value + budget.most(gradient) - float(weights @ gradient))
        bounds.append(least)
        if iteration == n_iter - 1 or least - value <= GAP * value:
            break
        direction = budget.best(gradient) - weights
        along = _along(flat, weights, direction, b, r)
        step = _step(along, value, float(direction @ gradient), min(1.0, 2.0 * step))
        weights = np.where(weights + step * direction > LEAST_WEIGHT, weights + step * direction, 0.0)
    return Relaxed(least, value, weights, np.array(bounds))


def leading(rows: np.ndarray, budget: Budget, start: np.ndarray, *, r: int, k: int, n_iter: int) -> Relaxed:
    """Return the bound of `frank_wolfe` by k leading eigenvalues alone, for problems with thousands of rows.

    Parameters
    ----------
    rows, budget, start, r, n_iter
        As of `frank_wolfe`.
    k : int
        Leading eigenvalues of X(w), of which the bound needs no exact ones.

    References
    ----------
    N. Halko, P. G. Martinsson, J. A. Tropp (2011), Finding structure with randomness.

    Examples
    --------
    >>> rows = np.diag([3.0, 2.0, 1.0, 0.0])[:, None]
    >>> found = leading(rows, Budget(np.ones(4), 2.0), np.array([1.0, 1.0, 0.0, 0.0]), r=2, k=2, n_iter=1)
    >>> bool(np.isclose(found.bound, 0.5 * np.log(10.0 * 5.0)))
    True
    """
    m, b, d = rows.shape
    flat = rows.reshape(m * b, d)
    lengths = np.einsum("ij,ij->i", flat, flat)
    weights, least, bounds, value = np.asarray(start, dtype=float), np.inf, [], 0.0
    for iteration in range(n_iter):
        used = _weighted(flat, weights, b)
        values, basis = _largest(used, min(k, r - 1, d - 1))
        rest, n_rest = _folded_beyond(values, float(np.square(used).sum()), r)
        values, basis = values[: r - n_rest], basis[:, : r - n_rest]
        seen = flat @ basis
        left = np.maximum(lengths - np.square(seen).sum(axis=1), 0.0)
        slopes, other = 1.0 / (1.0 + values), 1.0 / (1.0 + rest)
        constant = float((slopes - 1.0 - np.log(slopes)).sum()) + n_rest * (other - 1.0 - float(np.log(other)))
        gradient = 0.5 * (np.square(seen) @ slopes + other * left).reshape(m, b).sum(axis=1)
        value = float(weights @ gradient) + 0.5 * constant
        least = min(least, budget.most(gradient) + 0.5 * constant)
        bounds.append(least)
        if iteration == n_iter - 1 or least - value <= GAP * value:
            break
        direction = budget.best(gradient) - weights
        step = 2.0 / (iteration + 3.0)  # a search would need the eigenvalues at every length
        weights = np.where(weights + step * direction > LEAST_WEIGHT, weights + step * direction, 0.0)
    return Relaxed(least, value, weights, np.array(bounds))


def _weighted(flat: np.ndarray, weights: np.ndarray, b: int) -> np.ndarray:
    """Return the rows that have a weight, times its root."""
    used = np.flatnonzero(np.repeat(weights, b) > 0)
    return flat[used] * np.sqrt(np.repeat(weights, b)[used])[:, None]


def _linearised(flat: np.ndarray, lengths: np.ndarray, weights: np.ndarray, b: int, r: int) -> tuple[float, np.ndarray]:
    """Return phi at the weights, and its slopes in them (m,).

    Eigenvectors of X come from the smaller of X and the Gram matrix of the rows that have a weight; what these do not
    span has the slope of an eigenvalue zero.
    """
    used, d = _weighted(flat, weights, b), flat.shape[1]
    values, basis = _decomposed(used)
    value, slopes = folded(np.concatenate([values, np.zeros(d - len(values))]), r)
    rest = float(slopes[-1]) if len(values) < d else 0.0
    seen = np.square(flat @ basis) @ (slopes[: len(values)] - rest)
    return value, 0.5 * (seen.reshape(-1, b).sum(axis=1) + rest * lengths)


def _along(flat: np.ndarray, weights: np.ndarray, direction: np.ndarray, b: int, r: int) -> Callable[[float], float]:
    """Return phi as a function of the step along a direction."""
    d = flat.shape[1]
    either = np.flatnonzero(np.repeat((weights > 0) | (direction > 0), b))
    start, slope = np.repeat(weights, b)[either], np.repeat(direction, b)[either]
    used = flat[either]
    if len(used) < d:
        gram = used @ used.T

        def phi(step: float) -> float:
            root = np.sqrt(np.maximum(start + step * slope, 0.0))
            values = linalg.eigvalsh(root[:, None] * gram * root)
            return folded(np.concatenate([values, np.zeros(d - len(values))]), r)[0]

        return phi
    X, Y = ((used * weight[:, None]).T @ used for weight in (start, slope))
    return lambda step: folded(linalg.eigvalsh(X + step * Y), r)[0]


def _decomposed(used: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return eigenvalues of U'U, the smallest first, and their vectors (d, j): from the Gram matrix if that is smaller,
    and then without those that are zero.
    """
    if len(used) >= used.shape[1]:
        return linalg.eigh(used.T @ used)
    values, vectors = linalg.eigh(used @ used.T)
    kept = values > 1e-12 * max(float(values[-1]), 1e-300)
    return values[kept], used.T @ (vectors[:, kept] / np.sqrt(values[kept]))


def _largest(used: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
    """Return about the k largest eigenvalues of U'U, the largest first, and orthonormal vectors (d, k) beside them."""
    d = used.shape[1]
    if k < 1:
        return np.zeros(0), np.zeros((d, 0))
    if k >= min(len(used), d) // 2:  # a decomposition costs no more
        values, basis = _decomposed(used)
        return np.maximum(values[::-1][:k], 0.0), basis[:, ::-1][:, :k]
    _, roots, across = randomized_svd(used, k, n_iter=2, random_state=0)
    return np.square(roots), across.T


def _folded_beyond(values: np.ndarray, trace: float, r: int) -> tuple[float, int]:
    """Return the mean that the smaller eigenvalues are folded into, and how many of r: none above is below the mean."""
    kept = np.arange(len(values) + 1)
    means = np.maximum(trace - np.concatenate([[0.0], np.cumsum(values)]), 0.0) / (r - kept)
    last = int(np.flatnonzero(np.concatenate([[np.inf], values]) >= means)[-1])
    return float(means[last]), r - last


def _step(along: Callable[[float], float], value: float, slope: float, trial: float) -> float:
    """Return a step in (0, 1] that nearly maximises phi: parabolas through the value and slope at 0."""
    best, gained = 0.0, 0.0
    for _ in range(6):
        gain = along(trial) - value
        if gain > gained:
            best, gained = trial, gain
        elif best > 0.0:
            break
        bend = slope * trial - gain  # by which a parabola falls below its tangent
        peak = 0.5 * slope * trial**2 / bend if bend > 0 else 1.0
        peak = min(max(peak, 0.1 * trial), 1.0, 4.0 * trial)
        if best > 0.0 and abs(peak - best) < 0.1 * best:
            break
        trial = peak
    return best
