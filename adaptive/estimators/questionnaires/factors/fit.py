"""Items of many traits from answers: the joint mode of loadings and people, then Gaussians about people.

    maximise  sum_ui log p(y_ui | a_i . x_u, b_i)  -  |x|^2 / 2  -  PENALTY |a|^2 / 2  -  |b|^2 / (2 9)
    p(y = r)  ~  exp(r a.x + b_1 + ... + b_r)                       (partial credit; two answers: logistic)
    p(y = 1)  =  g + (1 - g) t / (1 + exp(-a.x - b_1))              (asymptotes; priors as in `curves`)

A mode over people and items at once is biased where people answered little (asymptotes most: .1 where .3 was drawn),
and costs a hundredth of the marginal one, whose grid ends at three traits. Traits are then those in which the people
are standard normal and the loadings orthogonal, the strongest first. What is open of an item flattens its curve.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy import optimize, sparse
from scipy.special import expit
from sklearn.utils.extmath import randomized_svd

from adaptive.estimators.questionnaires.curves import CURVES
from adaptive.estimators.questionnaires.factors.averages import without_asymptotes

if TYPE_CHECKING:
    from adaptive.estimators.questionnaires.answers import Answers

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
    asymptotes : (items, 2) array
    means, covariances : (people, K), (people, K, K) arrays
    trace : list of float, the penalised log likelihood of each iteration
    converged : bool
    """

    loadings: np.ndarray
    steps: np.ndarray
    doubt: np.ndarray
    asymptotes: np.ndarray
    means: np.ndarray
    covariances: np.ndarray
    trace: list[float]
    converged: bool


class _Answers:
    """Answers one after the other, and the penalised log likelihood.

    Parameters
    ----------
    person, item, rank : (n,) arrays of int
        In the order of people; ranks that are no whole numbers lie between two answers.
    n_people, n_items, n_answers, k : int
    asymptotes : int
        None, the lower one, or both.
    """

    def __init__(
        self,
        person: np.ndarray,
        item: np.ndarray,
        rank: np.ndarray,
        n_people: int,
        n_items: int,
        n_answers: int,
        k: int,
        asymptotes: int = 0,
    ) -> None:
        self.person, self.item = person.astype(np.int32), item.astype(np.int32)
        self.rank = rank if rank.dtype.kind == "f" else rank.astype(np.int8)
        self.people, self.items, self.n, self.k = n_people, n_items, n_answers, k
        model = {1: "three_parameter", 2: "four_parameter"}.get(asymptotes)
        mean, deviation = CURVES[model].prior(2) if model else (np.zeros(1), np.ones(1))
        self.logits, self.precisions = mean[1:], deviation[1:] ** -2.0
        self.blocks = [slice(start, start + BLOCK) for start in range(0, len(person), BLOCK)]

    def parts(self, v: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """People (n, k), loadings (items, k), steps (items, R - 1) and logits of asymptotes (items, 0 to 2)."""
        loadings, steps = self.people * self.k, (self.people + self.items) * self.k
        x, a, b, c = np.split(v, [loadings, steps, steps + self.items * (self.n - 1)])
        k = self.k
        return x.reshape(-1, k), a.reshape(-1, k), b.reshape(-1, self.n - 1), c.reshape(self.items, len(self.logits))

    def table(self, values: np.ndarray, block: slice) -> sparse.csr_matrix:
        """(people, items) sparse, of values of a block of answers."""
        first = np.searchsorted(self.person[block], np.arange(self.people + 1))
        return sparse.csr_matrix((values, self.item[block], first), shape=(self.people, self.items))

    def responses(
        self, x: np.ndarray, a: np.ndarray, b: np.ndarray, c: np.ndarray, block: slice
    ) -> tuple[float, np.ndarray, list[np.ndarray], np.ndarray]:
        """Sum of log p(y) over a block of answers, its slopes along projections, steps (and logits of asymptotes),
        and the Fisher information of projections.
        """
        item, y = self.item[block], self.rank[block]
        s = np.einsum("nk,nk->n", x[self.person[block]], a[item])
        if self.n == 2:
            s += b[item, 0]
            if len(self.logits):
                return _with_asymptotes(s, y, c[item])
            p = expit(s)
            value = np.sum(y * s - np.maximum(s, 0.0) - np.log1p(np.exp(-np.abs(s))))
            return float(value), y - p, [y - p], p * (1.0 - p)
        sums = np.concatenate([np.zeros((len(b), 1)), np.cumsum(b, axis=1)], axis=1)
        energies = [r * s + sums[item, r] for r in range(self.n)]
        top = np.maximum.reduce(energies)
        shares = [np.exp(one - top) for one in energies]
        total = np.add.reduce(shares)
        at_least = [np.add.reduce(shares[j:]) / total for j in range(1, self.n)]
        mean = np.add.reduce(at_least)
        second = np.add.reduce([(2 * j + 1) * above for j, above in enumerate(at_least)])
        reached = [np.clip(y - j, 0.0, 1.0) for j in range(self.n - 1)]
        own = np.add.reduce([b[item, j] * one for j, one in enumerate(reached)])
        value = np.sum(y * s + own - top - np.log(total))
        slopes = [one - above for one, above in zip(reached, at_least, strict=True)]
        return float(value), y - mean, slopes, np.maximum(second - mean**2, 0.0)

    def __call__(self, v: np.ndarray) -> tuple[float, np.ndarray]:
        """Minus the penalised log likelihood, and its gradient."""
        x, a, b, c = self.parts(v)
        value = 0.5 * float(np.sum(x**2) + PENALTY * np.sum(a**2) + np.sum(b**2) / STEP_DEVIATION**2)
        value += 0.5 * float(np.sum(self.precisions * (c - self.logits) ** 2))
        by_x, by_a = x.copy(), PENALTY * a
        by_others = np.concatenate([b / STEP_DEVIATION**2, self.precisions * (c - self.logits)], axis=1)
        for block in self.blocks:
            log_p, residual, slopes, _ = self.responses(x, a, b, c, block)
            table = self.table(residual, block)
            value -= log_p
            by_x -= table @ a
            by_a -= table.T @ x
            for j, slope in enumerate(slopes):
                by_others[:, j] -= np.bincount(self.item[block], slope, self.items)
        by_b, by_c = np.split(by_others, [self.n - 1], axis=1)
        return value, np.concatenate([by_x.ravel(), by_a.ravel(), by_b.ravel(), by_c.ravel()])

    def start(self) -> np.ndarray:
        """The strongest components of the standardised answers."""
        every = slice(0, len(self.person))
        near = [np.maximum(1.0 - np.abs(self.rank - r), 0.0) for r in range(self.n)]  # of those between two: shares
        counts = np.stack([np.bincount(self.item, one, self.items) for one in near], axis=1)
        share, ranks = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1), np.arange(self.n)
        mean = share @ ranks
        spread = np.sqrt(np.maximum(share @ ranks**2 - mean**2, 0.02))
        z = self.table((self.rank - mean[self.item]) / spread[self.item], every)
        n = min(self.k, *z.shape)
        u, s, vt = randomized_svd(z, n, random_state=0)
        signs = np.where(vt.sum(axis=1) < 0, -1.0, 1.0)
        x, a = np.zeros((self.people, self.k)), np.zeros((self.items, self.k))
        x[:, :n] = u * signs * np.sqrt(self.people)
        a[:, :n] = (vt * signs[:, None]).T * s * (1.2 / np.sqrt(self.people) / (self.n - 1))
        steps, c = np.diff(np.log(counts + 0.5), axis=1), np.tile(self.logits, (self.items, 1))
        return np.concatenate([x.ravel(), a.ravel(), steps.ravel(), c.ravel()])


def _with_asymptotes(
    s: np.ndarray, y: np.ndarray, logits: np.ndarray
) -> tuple[float, np.ndarray, list[np.ndarray], np.ndarray]:
    """Return the same as `_Answers.responses`, of the right answer with one or two asymptotes."""
    f, tail, g = expit(s), expit(-s), expit(logits[:, 0])
    top, short = (expit(logits[:, 1]), expit(-logits[:, 1])) if logits.shape[1] == 2 else (1.0, 0.0)
    right = np.maximum(g + (1.0 - g) * top * f, 1e-300)
    wrong = np.maximum((1.0 - g) * (tail + short * f), 1e-300)
    value = np.sum(np.log(np.where(y == 1, right, wrong)))
    pull, steep = np.where(y == 1, 1.0 / right, -1.0 / wrong), (1.0 - g) * top * f * tail
    slopes = [pull * steep, pull * g * wrong, pull * (1.0 - g) * f * top * short]
    return float(value), slopes[0], slopes[: 1 + logits.shape[1]], steep**2 / (right * wrong)


def fit_factors(answers: Answers, k: int, asymptotes: int = 0, *, max_iter: int = 200, tol: float = 1e-4) -> FactorFit:
    """Fit ``k`` traits.

    Parameters
    ----------
    answers : Answers
        Those to reversed items turned round.
    k : int
        At most as many as there are items.
    asymptotes : int
        Of two answers: none, the lower one, or both.
    max_iter, tol
        Iterations of L-BFGS, and the largest slope, over the root of the number of answers, at which they end.
    """
    order, _ = answers.by_person()
    problem = _Answers(
        answers.person[order], answers.item[order], answers.answer[order], len(answers.people), len(answers.items),
        len(answers.categories), k, asymptotes,
    )  # fmt: skip
    trace: list[float] = []
    found = optimize.minimize(
        problem, problem.start(), jac=True, method="L-BFGS-B",
        callback=lambda intermediate_result: trace.append(-float(intermediate_result.fun)),
        options={"maxiter": max_iter, "maxcor": 20, "ftol": 1e-9, "gtol": tol * max(1.0, len(answers) ** 0.5)},
    )  # fmt: skip
    return _standardised(problem, *problem.parts(found.x), trace or [-float(found.fun)], bool(found.success))


def _standardised(
    problem: _Answers, x: np.ndarray, a: np.ndarray, b: np.ndarray, c: np.ndarray, trace: list[float], converged: bool
) -> FactorFit:
    """Traits in which the people are standard normal and the loadings orthogonal; doubts of items; people."""
    k = a.shape[1]
    pairs = (a[:, :, None] * a[:, None, :]).reshape(len(a), -1)
    precisions = np.zeros((len(x), k, k))
    inside = np.column_stack([np.ones(len(x)), x])
    products = (inside[:, :, None] * inside[:, None, :]).reshape(len(x), -1)
    of_items = np.zeros((len(a), products.shape[1]))
    for block in problem.blocks:
        variance = problem.table(problem.responses(x, a, b, c, block)[3], block)
        precisions += (variance @ pairs).reshape(-1, k, k)
        of_items += variance.T @ products
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
    asymptotes = without_asymptotes(len(a))
    if c.shape[1]:
        asymptotes[:, 0] = expit(c[:, 0])
    if c.shape[1] == 2:
        asymptotes[:, 1] = asymptotes[:, 0] + (1.0 - asymptotes[:, 0]) * expit(c[:, 1])
    means, covariances = (x - centre) @ back.T, back @ covariances @ back.T
    return FactorFit(turned @ vt.T, steps, doubt, asymptotes, means, covariances, trace, converged)
