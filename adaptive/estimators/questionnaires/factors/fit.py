"""Items of many traits from answers: the joint mode of loadings and people, then Gaussians about people.

    maximise  sum_ui log p(y_ui | a_i . x_u, b_i)  -  |x|^2 / 2  -  PENALTY |a|^2 / 2  -  |b|^2 / (2 9)
    p(y = r)  ~  exp(r a.x + b_1 + ... + b_r)                       (partial credit; two answers: logistic)

A mode over people and items at once is biased where people answered little, and costs a hundredth of the marginal one,
whose grid ends at three traits. Traits are then those in which the people are standard normal and the loadings
orthogonal, the strongest first. What is open of an item flattens its curve.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import optimize
from scipy.special import expit
from sklearn.utils.extmath import randomized_svd

__all__ = ["FactorFit", "fit_factors"]

PENALTY = 4.0  # precision of a loading about 0; from 1 to 8 errors of totals differ by less than 2%
STEP_DEVIATION = 3.0
BLOCK = 2_000_000  # answers at a time


class FactorFit(NamedTuple):
    """Items and people as fitted.

    Attributes
    ----------
    loadings : (items, K) array
    steps : (items, R) array, sums of the steps, of which the first is 0
    doubt : (items,) array, variance of an item's projection by what is open of its loadings and steps
    means, covariances : (people, K), (people, K, K) arrays
    trace : list of float, the penalised log likelihood of each iteration
    converged : bool
    """

    loadings: np.ndarray
    steps: np.ndarray
    doubt: np.ndarray
    means: np.ndarray
    covariances: np.ndarray
    trace: list[float]
    converged: bool


class _Answers:
    """A table of answers (people, items), -1 where not asked, and the penalised log likelihood."""

    def __init__(self, table: np.ndarray, n_answers: int, k: int) -> None:
        self.table, self.n, self.k = table, n_answers, k
        rows = max(1, BLOCK // max(table.shape[1], 1))
        self.blocks = [slice(start, start + rows) for start in range(0, len(table), rows)]

    def parts(self, v: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """People (n, k), loadings (items, k) and steps (items, R - 1)."""
        people, items = self.table.shape
        x, a, b = np.split(v, [people * self.k, (people + items) * self.k])
        return x.reshape(people, self.k), a.reshape(items, self.k), b.reshape(items, self.n - 1)

    def __call__(self, v: np.ndarray) -> tuple[float, np.ndarray]:
        """Minus the penalised log likelihood, and its gradient."""
        x, a, b = self.parts(v)
        value = 0.5 * float(np.sum(x**2) + PENALTY * np.sum(a**2) + np.sum(b**2) / STEP_DEVIATION**2)
        by_x, by_a, by_b = x.copy(), PENALTY * a, b / STEP_DEVIATION**2
        for block in self.blocks:
            y = self.table[block]
            log_p, residual, at_least, _ = _responses(x[block] @ a.T, b, y)
            value -= log_p
            by_x[block] -= residual @ a
            by_a -= residual.T @ x[block]
            for j, above in enumerate(at_least):
                by_b[:, j] -= np.sum(np.where(y >= 0, (y > j) - above, 0.0), axis=0)
        return value, np.concatenate([by_x.ravel(), by_a.ravel(), by_b.ravel()])


def _responses(s: np.ndarray, b: np.ndarray, y: np.ndarray) -> tuple[float, np.ndarray, list[np.ndarray], np.ndarray]:
    """Sum of log p(y), residuals y - E y, P(y >= j) for j from 1, and the variances of y; 0 where not asked."""
    seen = y >= 0
    if b.shape[1] == 1:
        s = s + b[:, 0]
        p = expit(s)
        value = np.sum(np.where(seen, y * s - np.maximum(s, 0.0) - np.log1p(np.exp(-np.abs(s))), 0.0))
        return float(value), np.where(seen, y - p, 0.0), [p], np.where(seen, p * (1.0 - p), 0.0)
    sums = np.concatenate([np.zeros((len(b), 1)), np.cumsum(b, axis=1)], axis=1)
    energies = [r * s + sums[:, r] for r in range(sums.shape[1])]
    top = np.maximum.reduce(energies)
    shares = [np.exp(one - top) for one in energies]
    total = np.add.reduce(shares)
    chosen = np.choose(np.maximum(y, 0), energies) - top - np.log(total)
    at_least = [np.add.reduce(shares[j:]) / total for j in range(1, len(shares))]
    mean = np.add.reduce(at_least)
    second = np.add.reduce([(2 * j + 1) * above for j, above in enumerate(at_least)])
    variance = np.where(seen, np.maximum(second - mean**2, 0.0), 0.0)
    return float(np.sum(np.where(seen, chosen, 0.0))), np.where(seen, y - mean, 0.0), at_least, variance


def fit_factors(table: np.ndarray, n_answers: int, k: int, *, max_iter: int = 200, tol: float = 1e-4) -> FactorFit:
    """Fit ``k`` traits.

    Parameters
    ----------
    table : (people, items) array of int
        Answers from 0, -1 where not asked.
    n_answers : int
        How many an item has.
    k : int
        At most as many as there are items.
    max_iter, tol
        Iterations of L-BFGS, and the largest slope, over the root of the number of answers, at which they end.
    """
    table = table.astype(np.int8)
    problem, n, trace = _Answers(table, n_answers, k), int(np.sum(table >= 0)), []
    found = optimize.minimize(
        problem, _start(table, n_answers, k), jac=True, method="L-BFGS-B",
        callback=lambda intermediate_result: trace.append(-float(intermediate_result.fun)),
        options={"maxiter": max_iter, "maxcor": 20, "ftol": 1e-9, "gtol": tol * max(1.0, n**0.5)},
    )  # fmt: skip
    x, a, b = problem.parts(found.x)
    return _standardised(problem, x, a, b, trace or [-float(found.fun)], bool(found.success))


def _start(table: np.ndarray, n_answers: int, k: int) -> np.ndarray:
    """The strongest components of the standardised answers."""
    seen = table >= 0
    counts = np.maximum(seen.sum(axis=0), 1)
    mean = np.where(seen, table, 0).sum(axis=0) / counts
    z = np.where(seen, table - mean, 0.0)
    z /= np.sqrt(np.maximum(np.sum(z**2, axis=0) / counts, 0.02))
    n = min(k, *z.shape)
    u, s, vt = randomized_svd(z, n, random_state=0)
    u, vt = u * np.sign(vt.sum(axis=1)), vt * np.sign(vt.sum(axis=1))[:, None]
    x, a = np.zeros((len(z), k)), np.zeros((z.shape[1], k))
    x[:, :n], a[:, :n] = u * np.sqrt(len(z)), vt.T * s / np.sqrt(len(z)) * 1.2 / max(1, n_answers - 1)
    share = np.stack([np.sum(seen & (table >= j), axis=0) + 0.5 for j in range(n_answers)], axis=1)
    share = -np.diff(np.concatenate([share, np.zeros((len(share), 1))], axis=1), axis=1) + 0.5
    return np.concatenate([x.ravel(), a.ravel(), np.diff(np.log(share), axis=1).ravel()])


def _standardised(
    problem: _Answers, x: np.ndarray, a: np.ndarray, b: np.ndarray, trace: list[float], converged: bool
) -> FactorFit:
    """Traits in which the people are standard normal and the loadings orthogonal; doubts of items; people."""
    k = a.shape[1]
    pairs = (a[:, :, None] * a[:, None, :]).reshape(len(a), -1)
    precisions = np.zeros((len(x), k, k))
    inside = np.column_stack([np.ones(len(x)), x])
    products = (inside[:, :, None] * inside[:, None, :]).reshape(len(x), -1)
    of_items = np.zeros((len(a), products.shape[1]))
    for block in problem.blocks:
        variance = _responses(x[block] @ a.T, b, problem.table[block])[3]
        precisions[block] = (variance @ pairs).reshape(-1, k, k)
        of_items += variance.T @ products[block]
    covariances = np.linalg.inv(precisions + np.eye(k))
    prior = np.diag(np.r_[STEP_DEVIATION**-2.0, np.full(k, PENALTY)])
    open_ = np.linalg.inv(of_items.reshape(len(a), k + 1, k + 1) + prior)
    centre = x.mean(axis=0)
    spread = (x - centre).T @ (x - centre) / len(x) + covariances.mean(axis=0)
    around = np.block([[np.ones((1, 1)), centre[None]], [centre[:, None], spread + np.outer(centre, centre)]])
    doubt = np.einsum("ipq,pq->i", open_, around)
    root = np.linalg.cholesky(spread)
    turned = a @ root
    _, _, vt = np.linalg.svd(turned, full_matrices=False)
    vt = vt * np.where((turned @ vt.T).sum(axis=0) < 0, -1.0, 1.0)[:, None]
    back = vt @ np.linalg.inv(root)
    shifts = np.arange(b.shape[1] + 1) * (a @ centre)[:, None]
    steps = np.concatenate([np.zeros((len(b), 1)), np.cumsum(b, axis=1)], axis=1) + shifts
    return FactorFit(turned @ vt.T, steps, doubt, (x - centre) @ back.T, back @ covariances @ back.T, trace, converged)
