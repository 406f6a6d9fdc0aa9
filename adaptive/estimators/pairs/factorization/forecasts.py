"""Counts of pairs to come, by draws of the item, given which a log rate is Gaussian: probabilities, intervals.

p(y) = E_w p(y | w),    eta | w ~ N(m.w + o - t/2, w' V w + t),    y | eta ~ Poisson(exp eta)

with the scatter t that entries predicted without themselves ask for (`adaptive.estimators.scatter`). Where counts
scatter less than Poisson's, the mixture of ``log_predictive`` is drawn together about its mean until d of its variance
is gone; intervals are not narrowed, as designed answers are no random sample.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.special import logsumexp

from adaptive.estimators.pairs.factorization.mixtures import count_quantile, sobol_normals
from adaptive.estimators.pairs.factorization.predictive import conditional_moments, eta_moments
from adaptive.estimators.pairs.inference.masses import log_masses

if TYPE_CHECKING:
    from adaptive.estimators.pairs.inference.rounds import Factors
    from adaptive.estimators.scatter import Scatter

__all__ = ["intervals", "log_probabilities"]

N_DRAWS = 256  # of an item; four times as many of an interval
LARGEST = 34.0  # of a log rate: beyond it counts are no whole numbers of a float


def log_probabilities(
    factors: Factors, users: np.ndarray, items: np.ndarray, counts: np.ndarray, scatter: Scatter | None = None
) -> np.ndarray:
    """Return ln p(count) (n,) of pairs of rows; exact where the variances are zero."""
    normals = sobol_normals(N_DRAWS, len(factors.sides[1].prior), 0)
    out = np.empty(len(users))
    extra = 0.0 if scatter is None else scatter.variance
    centres, variances = eta_moments(factors, users, items)
    less = np.zeros(len(users)) if scatter is None else scatter.spared((centres, variances))
    left = 1.0 - less / np.maximum(variances, 1e-300)  # share of a pair's variance
    for k, (user, item) in enumerate(zip(users.tolist(), items.tolist(), strict=True)):
        mean, variance = conditional_moments(factors, user, item, normals)
        if less[k]:
            mean = centres[k] + np.sqrt(left[k]) * (mean - centres[k]) + 0.5 * less[k]
        masses = log_masses(counts[k], mean - 0.5 * extra, left[k] * variance + extra)
        out[k] = logsumexp(masses) - np.log(N_DRAWS)
    return out


def intervals(
    factors: Factors, users: np.ndarray, items: np.ndarray, level: float, scatter: float = 0.0
) -> tuple[np.ndarray, np.ndarray]:
    """Return the counts (n,) between which those of pairs of rows lie with about the probability ``level``."""
    k = len(factors.sides[1].prior)
    normals = sobol_normals(4 * N_DRAWS, k + 1, 0)
    ends = np.empty((2, len(users)))
    for row, (user, item) in enumerate(zip(users.tolist(), items.tolist(), strict=True)):
        mean, variance = conditional_moments(factors, user, item, normals[:, :k])
        deviation = np.sqrt(np.maximum(variance + scatter, 0.0))
        rate = np.exp(np.minimum(mean - 0.5 * scatter + deviation * normals[:, k], LARGEST))
        ends[:, row] = [count_quantile(rate, 0.5 * (1.0 + sign * level)) for sign in (-1, 1)]
    return ends[0], ends[1]
