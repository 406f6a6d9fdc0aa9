"""Expectation propagation, one site at a time, the one first whose update changes the posterior most: with marginal
N(h, v), site changes D and e, and k = 1 + D v,

    KL[Q' || Q] = (v'/v - 1 - ln(v'/v) + (h' - h)^2 / v) / 2,    v' = v / k,    h' - h = (e - D h) v / k.

A few damped parallel sweeps come near the fixed point where there are many sites to move; then single updates, the best
of a list of candidates, whose worse half is drawn afresh after every update. The scores of all rows end it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from adaptive.gaussians.projection_rows import ProjectionRows
from adaptive.gaussians.sequential_form import SequentialForm
from adaptive.gaussians.with_sites import require_dense
from adaptive.inference.dense.problem import DenseProblem
from adaptive.inference.dense.tilted_sites import TiltedSites, tilted_sites
from adaptive.inference.model import GLM
from adaptive.linalg.low_rank_covariance import LowRankCovariance

if TYPE_CHECKING:
    from adaptive.inference.posterior import Posterior
    from adaptive.types import DType, Number

__all__ = ["SelectiveProblem", "SelectiveUpdates", "change_scores"]

_CHECK_EVERY = 200  # changes, of sites and of data, between two checks of the drift
_DRIFT, _DRIFT_SINGLE = 1e-9, 1e-3  # from here the covariance is factorised afresh; in single precision
_MANY = 4  # so many unknowns for each site that is to move, and a sweep is not worth its factorisation
_BROAD = 1e9  # variance, in squared spreads, of a Gaussian that tells a potential nothing


class SelectiveProblem(DenseProblem):
    """A model prepared for selective updates: operators stay operators, and a posterior's covariance is taken over.

    Parameters
    ----------
    model, warm_start, form
        As in `DenseProblem`; ``form`` is "unknowns" or "measurements".
    dtype : {float32, float64}, default float64
        Of the covariance.

    Attributes
    ----------
    gaussian : SequentialForm
    adopted : bool
        Whether it was taken over from ``warm_start``, with new data absorbed.
    """

    adopted = False
    gaussian: SequentialForm  # type: ignore[assignment]  # for engines of its own

    def __init__(self, model: GLM, warm_start: Posterior | None = None, form: str | None = None, dtype: DType = float):
        if form not in (None, "unknowns", "measurements"):
            raise ValueError(f'form must be "unknowns" or "measurements" with update="selective", got {form!r}.')
        if isinstance(getattr(model, "prior_covariance", None), LowRankCovariance):
            raise ValueError('update="selective" has no form for a low-rank prior covariance; use update="parallel".')
        if isinstance(model, GLM):
            require_dense(model.n, model.n, model.measurements + model.projection_rows)
        super().__init__(model, "expectation_propagation", warm_start, form, dtype=dtype)

    def _represent(self, warm_start: Posterior | None, form: str | None) -> None:
        if not self.size:
            super()._represent(warm_start, None)
            return
        old = None if warm_start is None else warm_start.gaussian
        if isinstance(old, SequentialForm) and old.rows.same_as(self.matrices.operators):
            self.rows = old.rows
        else:
            old, self.rows = None, ProjectionRows(self.matrices.operators)
        part = self.matrices.part(self.rows)
        alike = old is not None and form in (None, old.form) and old.dtype == self.dtype
        if old is not None and alike and self._same_prior(old) and not self.fresh.any():
            taken_over = old.transfer(*part[1:4])
            if taken_over is not None:
                self.gaussian, self.adopted = taken_over, True
                return
        if form is None and not np.all([np.all(p.super_gaussian) for p, _ in self.matrices.active_groups()]):
            form = "unknowns"  # site precisions may vanish
        try:
            self.gaussian = SequentialForm(*part, form=form, dtype=self.dtype)  # type: ignore[arg-type]  # the prior is of no low rank
        except np.linalg.LinAlgError:
            raise ValueError(
                'update="selective" needs a prior covariance that can be inverted, this one is singular to rounding; '
                'use update="parallel".'
            ) from None

    def _same_prior(self, old: SequentialForm) -> bool:
        prior = old.prior_covariance
        if prior is None or self.model.prior_covariance is None:
            return prior is self.model.prior_covariance
        alike = np.array_equal(prior, self.model.prior_covariance)
        return alike and np.array_equal(old.prior_mean, self.model.prior_mean)

    def start(self) -> tuple[np.ndarray, np.ndarray]:
        """Starting sites: those of the warm start, else what potentials make of a broad Gaussian."""
        if self.adopted:
            return self.gaussian.pi, self.gaussian.nu
        pi, nu = self.broad_sites(_BROAD)
        if self.warm_sites is not None:
            pi, nu = (np.where(self.fresh, new, old) for new, old in zip((pi, nu), self.warm_sites, strict=True))
        self.refit(pi, nu)
        return pi, nu


def change_scores(
    mean: np.ndarray, variance: np.ndarray, d_pi: np.ndarray, d_nu: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """KL[Q' || Q] in nats of changing each site alone, and where that leaves a Gaussian.

    Parameters
    ----------
    mean, variance : array (k,)
        Marginals of the projections.
    d_pi, d_nu : array (k,)
        Changes of the sites' precisions and precision-means.

    References
    ----------
    Nickisch (2010), section 5.3 and algorithm 5.1.

    Examples
    --------
    >>> change_scores(np.zeros(1), np.ones(1), np.ones(1), np.zeros(1))[0].round(6)     # the variance is halved
    array([0.096574])
    """
    scale = 1.0 + d_pi * variance
    allowed = scale > 1e-8
    safe = np.where(allowed, scale, 1.0)
    change = -d_pi * variance / safe  # v'/v - 1
    step = (d_nu - d_pi * mean) / safe
    with np.errstate(invalid="ignore", divide="ignore"):
        score = 0.5 * (change - np.log1p(change) + np.square(step) * variance)
    return np.where(allowed, score, 0.0), allowed


class SelectiveUpdates:
    """The two ways of moving sites, and when each is due.

    Parameters
    ----------
    problem : SelectiveProblem
        Started.
    fraction, damping, tol : float
    n_candidates : int
    rng : Generator
    """

    def __init__(
        self,
        problem: SelectiveProblem,
        fraction: float,
        damping: float,
        tol: float,
        n_candidates: int,
        rng: np.random.Generator,
    ):
        self.problem, self.gaussian, self.potential = problem, problem.gaussian, problem.potential
        self.damping, self.tol, self.n_candidates, self.rng = damping, tol, n_candidates, rng
        weights = self.potential.weights
        self.fraction: Number = fraction if weights is None else fraction / np.maximum(weights, 1.0)
        self.trace: list[float] = []
        self.log_evidence, self.largest = np.nan, np.inf
        self._scored_at: tuple[int, ...] | None = None
        self._scores = np.empty(0)

    # ------------------------------------------------------------------ new sites
    def _tilt(self, rows: np.ndarray | None) -> tuple[TiltedSites, np.ndarray, np.ndarray, np.ndarray]:
        """New sites of the rows (None: all), their changes, and the scores of these."""
        g, potential, eta = self.gaussian, self.potential, self.fraction
        mean, variance, pi, nu = g.projections, g.row_variances, g.pi, g.nu
        if rows is not None:
            mean, variance, pi, nu, potential = mean[rows], variance[rows], pi[rows], nu[rows], potential[rows]
            eta = np.asarray(eta)[rows] if np.ndim(eta) else eta
        sites = tilted_sites(potential, mean, variance, pi, nu, eta)
        d_pi, d_nu = sites.pi - pi, sites.nu - nu
        return sites, d_pi, d_nu, change_scores(mean, sites.variance, d_pi, d_nu)[0]

    def score_all(self) -> np.ndarray:
        """Scores of all rows; the evidence, and the largest score, as of now."""
        work = self.gaussian.work
        state = work.updates, work.absorbed, work.factorisations
        if state == self._scored_at:
            return self._scores
        self._sites, *_, scores = self._tilt(None)
        if not self._sites.usable.all() and self.gaussian.since_factorised:  # rounding has eaten a cavity
            self.gaussian.refresh()
            self._sites, *_, scores = self._tilt(None)
        sites = self._sites
        terms = float(sites.terms.sum())
        self.log_evidence = self.gaussian.log_volume + terms if sites.proper.all() else np.nan
        self.trace.append(-self.log_evidence)
        self.largest = float(scores.max()) if sites.usable.all() else np.inf
        self._scored_at, self._scores = (work.updates, work.absorbed, work.factorisations), scores
        return scores

    # ------------------------------------------------------------------ all at once
    def sweep(self, most: int) -> int:
        """Damped parallel sweeps while many sites want to move; one that makes the largest score larger is undone."""
        scores, done = self.score_all(), 0
        while done < most and np.count_nonzero(scores > self.tol) * _MANY > self.gaussian.n:
            before, old = self.largest, (self.gaussian.pi, self.gaussian.nu)
            self._move(self.damping)
            scores, done = self.score_all(), done + 1
            if not self.largest < before and np.isfinite(before):  # single updates find a better way from there
                self.problem.refit(*old)
                break
        return done

    def _move(self, step: float) -> None:
        """All sites towards where they should be, less far where the result would not be a Gaussian."""
        g, pi, nu = self.gaussian, self.gaussian.pi, self.gaussian.nu
        for _ in range(6):
            try:
                g.refit(pi + step * (self._sites.pi - pi), nu + step * (self._sites.nu - nu))
                return
            except np.linalg.LinAlgError:
                step *= 0.5
        self.problem.refit(pi, nu)

    # ------------------------------------------------------------------ one at a time
    def run(self, most: int) -> int:
        """Single updates until no site's score reaches ``tol``; returns how many."""
        g, q = self.gaussian, len(self.gaussian.pi)
        done, refused, size = 0, np.zeros(q, dtype=bool), min(self.n_candidates, q)
        rows = self._best(self.score_all(), size)
        while done < most:
            _, d_pi, d_nu, scores = self._tilt(None if size == q else rows)
            scores = np.where(refused[rows], 0.0, scores)
            best = int(np.argmax(scores))
            if not scores[best] >= self.tol:  # none of the list: perhaps one of the others
                scores = np.where(refused, 0.0, self.score_all())
                if not scores.max() >= self.tol:
                    break
                rows = self._best(scores, size)
                continue
            i = int(rows[best])
            try:
                g.update_site(i, float(d_pi[best]), float(d_nu[best]))
            except np.linalg.LinAlgError:
                refused[i] = True
                continue
            refused[:] = False
            done += 1
            if size < q:
                rows = self._redrawn(rows, scores, size)
            if g.unchecked >= _CHECK_EVERY and g.check() > (_DRIFT_SINGLE if g.single else _DRIFT):
                g.refresh()
        else:
            self.score_all()
        return done

    def _best(self, scores: np.ndarray, size: int) -> np.ndarray:
        """The rows of the largest scores, in order."""
        if size == len(scores):
            return np.arange(size)
        return np.sort(np.argpartition(-scores, size)[:size])

    def _redrawn(self, rows: np.ndarray, scores: np.ndarray, size: int) -> np.ndarray:
        """The better half of the list, and others at random."""
        keep = rows[np.argpartition(-scores, len(rows) // 2)[: len(rows) // 2]]
        others = self.rng.integers(len(self.gaussian.pi), size=size - len(keep))
        return np.unique(np.concatenate([keep, others]))
