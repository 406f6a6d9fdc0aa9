"""Every person's sites, given the prior that all share: many small inferences, in stacks of people alike in size.

At the sites, with a_j = nu_j - pi_j m_j and s_j's mean m_j (mu_j before any answer),

    ln Z = sum_j terms_j - 1/2 ln|M| - 1/2 sum_j a_j (m_j - mu_j)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs

from adaptive.estimators.preferences.inference.site_rules import SiteRule
from adaptive.estimators.preferences.inference.spaces import Space, space_of
from adaptive.estimators.preferences.inference.utility_prior import UtilityPrior

__all__ = ["Comparisons", "Solved", "propagate", "settle", "stacks"]

LARGEST_STACK = 1_000_000  # numbers of its largest array
FINE, COARSE = 1e-10, 1e-4  # what a site may still want to move, in units of its marginal: for good, and on the way
MOST_SWEEPS = 200


@dataclass(frozen=True, eq=False)
class Comparisons:
    """Comparisons of all people; y is +1 where the first won, else -1."""

    person: np.ndarray
    first: np.ndarray
    second: np.ndarray
    y: np.ndarray

    def __len__(self) -> int:
        return len(self.y)

    def take(self, rows: np.ndarray) -> Comparisons:
        """Those at ``rows``."""
        return Comparisons(self.person[rows], self.first[rows], self.second[rows], self.y[rows])


@dataclass(frozen=True, eq=False)
class Solved:
    """Results for a stack of people.

    Attributes
    ----------
    rows : (n, p) array
        Which comparisons.
    pi, nu : (n, p) arrays
        Their sites.
    log_evidence : (n,) array
    converged : (n,) array of bool
    statistics : (items (n, q), W (n, q, q), w (n, q))
        As `Space.statistics` has them.
    """

    rows: np.ndarray
    pi: np.ndarray
    nu: np.ndarray
    log_evidence: np.ndarray
    converged: np.ndarray
    statistics: tuple[np.ndarray, np.ndarray, np.ndarray]


def stacks(data: Comparisons, rows: np.ndarray | None = None) -> list[np.ndarray]:
    """Return rows (n, p) of people with p comparisons each, among ``rows`` (default all), as many as memory holds."""
    rows = np.arange(len(data)) if rows is None else rows
    rows = rows[np.argsort(data.person[rows], kind="stable")]
    _, starts, counts = np.unique(data.person[rows], return_index=True, return_counts=True)
    found: list[np.ndarray] = []
    for p in np.unique(counts).tolist():
        block = rows[starts[counts == p][:, None] + np.arange(p)]
        most = max(1, LARGEST_STACK // (4 * p * p))
        found += [group[k : k + most] for group in _of_one_space(data, block) for k in range(0, len(group), most)]
    return found


def _of_one_space(data: Comparisons, block: np.ndarray) -> list[np.ndarray]:
    """Split people by how many items they compared, where these are fewer than their comparisons."""
    ends = np.sort(np.concatenate([data.first[block], data.second[block]], axis=1), axis=1)
    items = 1 + np.sum(np.diff(ends, axis=1) > 0, axis=1)
    sizes = np.where(items < block.shape[1], items, 0)
    return [block[sizes == size] for size in np.unique(sizes)]


def propagate(
    prior: UtilityPrior,
    data: Comparisons,
    rule: SiteRule,
    sites: tuple[np.ndarray, np.ndarray],
    *,
    rows: np.ndarray | None = None,
    tol: float = FINE,
    n_jobs: int | None = None,
) -> list[Solved]:
    """Solve for every person with comparisons among ``rows``, from ``sites`` (pi, nu) of all comparisons.

    Stacks go to joblib's workers (threads: nothing is copied); they do not depend on how many there are.
    """
    tasks = [
        (
            prior,
            data.first[block],
            data.second[block],
            data.y[block],
            block,
            rule,
            sites[0][block],
            sites[1][block],
            tol,
        )
        for block in stacks(data, rows)
    ]
    if effective_n_jobs(n_jobs) == 1 or len(tasks) < 2:
        return [_solved(*task) for task in tasks]
    return list(Parallel(n_jobs=n_jobs, require="sharedmem")(delayed(_solved)(*task) for task in tasks))


def _solved(
    prior: UtilityPrior,
    first: np.ndarray,
    second: np.ndarray,
    y: np.ndarray,
    rows: np.ndarray,
    rule: SiteRule,
    pi: np.ndarray,
    nu: np.ndarray,
    tol: float,
) -> Solved:
    space = space_of(prior, first, second)
    pi, nu, log_evidence, converged = settle(space, y, rule, pi, nu, tol)
    return Solved(rows, pi, nu, log_evidence, converged, space.statistics())


def settle(
    space: Space, y: np.ndarray, rule: SiteRule, pi: np.ndarray, nu: np.ndarray, tol: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return sites (n, p), log evidences and whether they settled (n,); ``space`` is left at these sites."""
    shape, step = y.shape, np.ones((len(y), 1))
    space.refit(pi, nu)
    before, smallest = np.full(len(y), np.inf), np.full(len(y), np.inf)
    for sweep in range(MOST_SWEEPS + 1):
        mean, variance = space.mean.ravel(), space.variance.ravel()
        found = rule(y.ravel(), mean, variance, pi.ravel(), nu.ravel())
        new_pi, new_nu, terms = (part.reshape(shape) for part in found)
        d_pi, d_nu = new_pi - pi, new_nu - nu
        change = np.maximum(abs(d_pi) * space.variance, abs(d_nu - d_pi * space.mean) * np.sqrt(space.variance))
        left = change.max(axis=1)
        if sweep == MOST_SWEEPS or not (left > tol).any():
            break
        # a person whose sites no longer come closer moves more carefully
        worse = (left > before) & (left > smallest)
        step = np.where(worse[:, None], np.maximum(0.5 * step, 0.05), step)
        before, smallest = left, np.minimum(smallest, left)
        moving = step * (left > tol)[:, None]
        pi, nu = pi + moving * d_pi, nu + moving * d_nu
        space.refit(pi, nu)
    pull = np.sum((nu - pi * space.mean) * (space.mean - space.centre), axis=1)
    return pi, nu, terms.sum(axis=1) - 0.5 * space.log_determinant - 0.5 * pull, left <= tol


def added_up(solved: Sequence[Solved], n_people: int, n_items: int) -> tuple[np.ndarray, np.ndarray]:
    """Return S (n, n) = mean of W - w w' plus s s', and s (n,) = mean of w, over all people (Ko 2017, (3.112))."""
    total, slope = np.zeros((n_items, n_items)), np.zeros(n_items)
    for one in solved:
        items, within, own = one.statistics
        np.add.at(total, (items[:, :, None], items[:, None, :]), within - own[:, :, None] * own[:, None, :])
        np.add.at(slope, items, own)
    slope /= n_people
    return total / n_people + np.multiply.outer(slope, slope), slope
