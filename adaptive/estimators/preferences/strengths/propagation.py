"""Expectation propagation at one scale of strengths: a Gaussian over latents w beside a table for each judge's skill.

    w = (strengths u, position bias beta of all judges, beta_a of each, tau)        N(0, P0^-1) but for tau's mean
    d = u_i - u_j + beta + beta_a                              the first item's advantage, shown first to judge a
    q_a                                                        on a grid, Beta(7, 1.5) as where labels are asked for

A cell of equal comparisons has one site g(d, tau) h(q) with their count as its power: by symmetry all have the same. Of
the tilted product the two moments of (d, tau) are kept, and the table of q whole. All cells move at once; where that
overshoots the steps are halved.

    ln Z = ln int N(w) prod g^n  +  sum_a ln sum_q p(q) prod h^n  +  sum n (ln Z_f - ln G_f - ln H_f)
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy import linalg
from scipy.special import logsumexp

from adaptive.estimators.preferences.strengths.comparisons import Cells
from adaptive.estimators.preferences.strengths.outcomes import Tilted, tilted
from adaptive.parallel import one_blas_thread

__all__ = ["GRID", "LOG_PRIOR_OF_SKILL", "Latents", "Propagated", "Sites", "propagate"]

GRID = (np.arange(24) + 0.5) / 24  # of a judge's skill
LOG_PRIOR_OF_SKILL = 6.0 * np.log(GRID) + 0.5 * np.log1p(-GRID)
LOG_PRIOR_OF_SKILL -= logsumexp(LOG_PRIOR_OF_SKILL)
TINY = np.finfo(float).tiny
WIDER, SHORTEST = 2.0, 1e-4  # than the prior's variances no posterior's is; of a step
BIAS, OWN_BIAS = 1.0, 0.5  # prior deviations of the bias that judges share and of what each adds to it
TAU, TAU_DEVIATION = -0.5, 1.5  # between .03 and 2.5 wide: of equals 1.6% to 85% are ties


@dataclass(frozen=True, eq=False)
class Latents:
    """Unknowns at one scale, and what is fixed.

    Attributes
    ----------
    precision : (n, n) array
        Prior precision of the strengths.
    n_judges : int
    ties, biased : bool
        Whether there are ties, and a position bias.
    skills : (n_judges,) array or None
        Of each judge the known skill, nan where it is to be learnt; None: all are right.
    """

    precision: np.ndarray
    n_judges: int
    ties: bool
    biased: bool
    skills: np.ndarray | None

    def at(self, scale: float) -> Latents:
        """The same with strengths on another scale."""
        return replace(self, precision=self.precision / scale**2)

    @property
    def n(self) -> int:
        """Number of items."""
        return len(self.precision)

    def __len__(self) -> int:
        return self.n + 2 + self.n_judges

    def prior(self) -> tuple[np.ndarray, np.ndarray]:
        """Return precision (D, D) and precision times mean (D,)."""
        full, shift = np.zeros((len(self), len(self))), np.zeros(len(self))
        full[: self.n, : self.n] = self.precision
        scales = [BIAS] + [OWN_BIAS] * self.n_judges + [TAU_DEVIATION]
        full[range(self.n, len(self)), range(self.n, len(self))] = 1.0 / np.square(scales)
        shift[-1] = TAU / TAU_DEVIATION**2
        return full, shift

    def rows(self, first: np.ndarray, second: np.ndarray, judge: np.ndarray) -> np.ndarray:
        """Return the rows (m, D) of which d is the product with w."""
        found, every = np.zeros((len(first), len(self))), np.arange(len(first))
        found[every, first] += 1.0
        found[every, second] -= 1.0
        if self.biased:
            found[:, self.n] = 1.0
            if self.n_judges:
                found[every, self.n + 1 + judge] = 1.0
        return found


@dataclass(frozen=True, eq=False)
class Sites:
    """Sites of the cells: precision (m, 2, 2), precision times mean (m, 2), ln h (m, grid)."""

    precision: np.ndarray
    shift: np.ndarray
    heard: np.ndarray

    @classmethod
    def none(cls, m: int) -> Sites:
        """Sites that say nothing."""
        return cls(np.zeros((m, 2, 2)), np.zeros((m, 2)), np.zeros((m, len(GRID))))

    def of(self, before: Cells, after: Cells) -> Sites:
        """The sites of the cells ``after``; those that were not there ``before`` say nothing yet."""
        known, new = {key: k for k, key in enumerate(before.keys)}, Sites.none(len(after))
        places = np.array([known.get(key, -1) for key in after.keys], dtype=np.int64)
        old = places >= 0
        for part in ("precision", "shift", "heard"):
            getattr(new, part)[old] = getattr(self, part)[places[old]]
        return new

    def moved(self, other: Sites, step: float) -> Sites:
        """Go a part of the way to the ``other``."""
        parts = ("precision", "shift", "heard")
        return Sites(*(getattr(self, one) + step * (getattr(other, one) - getattr(self, one)) for one in parts))


@dataclass(frozen=True, eq=False)
class Propagated:
    """Posterior at one scale.

    Attributes
    ----------
    mean, covariance : (D,), (D, D) arrays
        Of the latents.
    skill : (n_judges, grid) array
        Probabilities of each judge's skill; no rows where all are right.
    sites : Sites
    log_evidence : float
    trace : tuple of float
        Largest move of a marginal by sweep, in its deviations.
    converged : bool
    """

    mean: np.ndarray
    covariance: np.ndarray
    skill: np.ndarray
    sites: Sites
    log_evidence: float
    trace: tuple[float, ...]
    converged: bool


@dataclass(frozen=True, eq=False)
class _Gaussian:
    mean: np.ndarray
    covariance: np.ndarray
    log_integral: float


def propagate(latents: Latents, cells: Cells, sites: Sites, max_iter: int, tol: float) -> Propagated:
    """Sweep over all cells from ``sites`` until no marginal moves by more than ``tol`` of its deviation."""
    with one_blas_thread(len(latents)):
        return _swept(_Problem(latents, cells), sites, max_iter, tol)


def _swept(problem: _Problem, sites: Sites, max_iter: int, tol: float) -> Propagated:
    cells = problem.cells
    now = problem.gaussian(sites)
    if now is None:
        sites = Sites.none(len(cells))
        now = problem.gaussian(sites)
    assert now is not None  # the prior
    trace: list[float] = []
    step, settled = 1.0, not len(cells)
    while not settled and len(trace) < max_iter:
        wanted = problem.wanted(now, sites)
        following = sites.moved(wanted, step)
        moved = problem.gaussian(following)
        while moved is None and step > SHORTEST:
            step *= 0.5
            following = sites.moved(wanted, step)
            moved = problem.gaussian(following)
        if moved is None:
            break
        deviation = np.sqrt(np.diag(now.covariance))
        change = max(
            float(np.max(np.abs(moved.mean - now.mean) / deviation)),
            float(np.max(np.abs(np.log(np.diag(moved.covariance) / np.diag(now.covariance))))),
        ) / step  # fmt: skip
        if trace:
            step = max(0.5 * step, 1 / 16) if change > trace[-1] else min(1.25 * step, 1.0)
        trace.append(change)
        sites, now, settled = following, moved, change <= tol
    weights = problem.skills(sites)
    return Propagated(
        now.mean, now.covariance, weights, sites, problem.log_evidence(now, sites), tuple(trace), settled
    )  # fmt: skip


class _Problem:
    """The cells beside their prior."""

    def __init__(self, latents: Latents, cells: Cells) -> None:
        self.latents, self.cells = latents, cells
        self.rows = latents.rows(cells.first, cells.second, cells.judge)
        self.prior = latents.prior()
        self.log_prior = _log_integral(*self.prior)
        self.spread = np.diag(np.linalg.inv(self.prior[0]))

    def gaussian(self, sites: Sites) -> _Gaussian | None:
        """The Gaussian with these sites; None where it is none."""
        precision, shift = self.prior[0].copy(), self.prior[1].copy()
        count, rows = self.cells.count, self.rows
        if len(self.cells):
            along, across, own = (count * sites.precision[:, i, j] for i, j in ((0, 0), (0, 1), (1, 1)))
            precision += rows.T @ (along[:, None] * rows)
            mixed = across @ rows
            precision[-1] += mixed
            precision[:, -1] += mixed
            precision[-1, -1] += own.sum()
            shift += (count * sites.shift[:, 0]) @ rows
            shift[-1] += float(count @ sites.shift[:, 1])
        try:
            root = linalg.cholesky(precision, lower=True)
        except linalg.LinAlgError:
            return None
        inverse = linalg.solve_triangular(root, np.eye(len(root)), lower=True)
        covariance = inverse.T @ inverse
        if np.any(np.diag(covariance) > WIDER * self.spread):
            return None  # it is on its way out
        mean = covariance @ shift
        value = 0.5 * float(shift @ mean) - float(np.log(np.diag(root)).sum())
        return _Gaussian(mean, covariance, value)

    def _cavities(self, now: _Gaussian, sites: Sites) -> tuple[np.ndarray, ...]:
        """Marginals of (d, tau), their precisions, and both without one copy of the site; which of these are proper."""
        spread = self.rows @ now.covariance
        marginal = np.empty((len(self.cells), 2, 2))
        marginal[:, 0, 0] = np.einsum("md,md->m", spread, self.rows)
        marginal[:, 0, 1] = marginal[:, 1, 0] = spread[:, -1]
        marginal[:, 1, 1] = now.covariance[-1, -1]
        mean = np.column_stack([self.rows @ now.mean, np.full(len(self.cells), now.mean[-1])])
        precision = _inverse(marginal)
        without = precision - sites.precision
        shift = np.einsum("mij,mj->mi", precision, mean) - sites.shift
        proper = (without[:, 0, 0] > 0) & (np.linalg.det(without) > 0)
        without[~proper], shift[~proper] = precision[~proper], np.einsum("mij,mj->mi", precision, mean)[~proper]
        return precision, np.einsum("mij,mj->mi", precision, mean), without, shift, proper

    def _skill(self, sites: Sites) -> tuple[np.ndarray, np.ndarray]:
        """Probability (m,) that each cell's judge is right, by all else, and the tables (m, grid) of this, in logs."""
        known = self.latents.skills
        if known is None:
            return np.ones(len(self.cells)), np.zeros((len(self.cells), 0))
        logs = self._logs(sites)[self.cells.judge] - sites.heard
        logs -= logsumexp(logs, axis=1, keepdims=True)
        given = known[self.cells.judge]
        return np.where(np.isnan(given), np.exp(logs) @ GRID, given), logs

    def _logs(self, sites: Sites) -> np.ndarray:
        logs = np.tile(LOG_PRIOR_OF_SKILL, (self.latents.n_judges, 1))
        np.add.at(logs, self.cells.judge, self.cells.count[:, None] * sites.heard)
        return logs

    def skills(self, sites: Sites) -> np.ndarray:
        """Probabilities (n_judges, grid)."""
        if self.latents.skills is None:
            return np.zeros((0, len(GRID)))
        logs = self._logs(sites)
        return np.exp(logs - logsumexp(logs, axis=1, keepdims=True))

    def _tilted(self, without: np.ndarray, shift: np.ndarray, skill: np.ndarray) -> Tilted:
        covariance = _inverse(without)
        mean = np.einsum("mij,mj->mi", covariance, shift)
        return tilted(mean, covariance, self.cells.y, skill, self.latents.ties)

    def wanted(self, now: _Gaussian, sites: Sites) -> Sites:
        """The sites that match moments, each beside the others as they are."""
        *_, without, shift, proper = self._cavities(now, sites)
        found = self._tilted(without, shift, self._skill(sites)[0])
        precision = _inverse(found.covariance)
        wanted = Sites(
            precision - without, np.einsum("mij,mj->mi", precision, found.mean) - shift, self._heard(found)
        )  # fmt: skip
        wanted.precision[~proper], wanted.shift[~proper] = sites.precision[~proper], sites.shift[~proper]
        if not self.latents.ties:  # what is said does not concern tau: no rounding errors there
            wanted.precision[:, 1], wanted.precision[:, 0, 1], wanted.shift[:, 1] = 0.0, 0.0, 0.0
        return wanted

    def _heard(self, found: Tilted) -> np.ndarray:
        if self.latents.skills is None:
            return np.zeros((len(self.cells), len(GRID)))
        return np.log(np.maximum(GRID * found.right[:, None] + (1.0 - GRID) * found.wrong[:, None], TINY))

    def log_evidence(self, now: _Gaussian, sites: Sites) -> float:
        """ln Z at these sites."""
        value = now.log_integral - self.log_prior
        if not len(self.cells):
            return value
        precision, mean_shift, without, shift, _ = self._cavities(now, sites)
        skill, logs = self._skill(sites)
        found = self._tilted(without, shift, skill)
        each = np.log(np.maximum(skill * found.right + (1.0 - skill) * found.wrong, TINY))
        each -= _log_integrals(precision, mean_shift) - _log_integrals(without, shift)
        if self.latents.skills is not None:
            learnt = np.isnan(self.latents.skills)
            own = learnt[self.cells.judge]
            each[own] -= logsumexp(logs + sites.heard, axis=1)[own]
            value += float(logsumexp(self._logs(sites), axis=1)[learnt].sum())
        return value + float(self.cells.count @ each)


def _inverse(matrices: np.ndarray) -> np.ndarray:
    """Inverses of symmetric (m, 2, 2)."""
    a, b, c = matrices[:, 0, 0], matrices[:, 0, 1], matrices[:, 1, 1]
    found = np.empty_like(matrices)
    found[:, 0, 0], found[:, 1, 1] = c, a
    found[:, 0, 1] = found[:, 1, 0] = -b
    return found / (a * c - b * b)[:, None, None]


def _log_integral(precision: np.ndarray, shift: np.ndarray) -> float:
    root = linalg.cho_factor(precision, lower=True)
    return 0.5 * float(shift @ linalg.cho_solve(root, shift)) - float(np.log(np.diag(root[0])).sum())


def _log_integrals(precision: np.ndarray, shift: np.ndarray) -> np.ndarray:
    """Log integrals of exp(shift . z - z' precision z / 2), but for a constant; (m,)."""
    determinant = precision[:, 0, 0] * precision[:, 1, 1] - precision[:, 0, 1] ** 2
    mean = np.einsum("mij,mj->mi", _inverse(precision), shift)
    return 0.5 * np.einsum("mi,mi->m", shift, mean) - 0.5 * np.log(determinant)
