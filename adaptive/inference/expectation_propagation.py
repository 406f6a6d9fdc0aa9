"""Expectation propagation: each site is set so that the posterior's marginal has the moments of the tilted distribution

    cavity_j(s) T_j(s)^eta,    cavity_j = marginal_j / site_j^eta.

At the fixed point, with a_j = nu_j - pi_j m_j the site's slope at the posterior mean and v_j the cavity variance,

    ln Z = log_volume + sum_j [ (ln Z^_j + 1/2 ln(1 + eta pi_j v_j)) / eta + eta v_j a_j^2 / 2 ],

the usual evidence, arranged so that no two large numbers are subtracted.
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

import numpy as np

from adaptive.checks import choice, generator, integer, positive
from adaptive.inference.compatibility import compatible
from adaptive.inference.dense.anderson import AndersonMixing
from adaptive.inference.dense.newton import NegativeLogDensity, minimise
from adaptive.inference.dense.problem import DenseProblem
from adaptive.inference.dense.selective_propagation import SelectiveProblem, SelectiveUpdates
from adaptive.inference.dense.tilted_sites import FLAT, tilted_sites
from adaptive.inference.model import GLM
from adaptive.inference.posterior import Posterior
from adaptive.inference.threads import small_on_one_thread
from adaptive.potentials import BernoulliLogit

if TYPE_CHECKING:
    from adaptive.types import DType, Number, RandomState

__all__ = ["expectation_propagation"]

_PATIENCE = 15  # sweeps without a new smallest residual, after which something else is tried
_WANDERING = 5  # such sweeps after which a cold start is given up for the sites of the mode
_MODE_STEPS, _NEAR = 50, 1e-6  # to that mode
_LARGEST_JOINT = 2000  # rows whose covariance a compiled sequence updates
_ROUGH = 1e-2  # residuals above which a sweep may be in single precision: the next will move the sites by more
_QUICK = 0.2  # a sweep that leaves less than this share of the residual needs no extrapolation


@small_on_one_thread
def expectation_propagation(
    model: GLM,
    *,
    fraction: float = 1.0,
    update: str = "auto",
    damping: float | None = None,
    max_iter: int = 200,
    tol: float = 1e-6,
    random_state: RandomState = None,
    warm_start: Posterior | None = None,
    form: str | None = None,
    force: bool = False,
    n_candidates: int = 256,
    max_sweeps: int = 8,
    dtype: DType = float,
) -> Posterior:
    """Gaussian approximation whose marginals match the moments of each potential in turn.

    Parameters
    ----------
    model : GLM
        Potentials must be log-concave (see ``force``).
    fraction : float, default 1.0
        Power eta of the potentials in the updates, in (0, 1]; below 1 more robust, towards variational inference.
    update : {"auto", "parallel", "sequential", "selective"}
        All sites at once and one factorisation (extrapolated from the last sweeps), or one site after the other by
        rank-one updates. "auto" is parallel, then sequential if that does not settle. "selective" updates the site
        that changes the posterior most, keeps the covariance of u and all marginals valid meanwhile, and takes B as
        operators: for images, and for data that arrive a few rows at a time.
    damping : float, optional
        Share of the new site in (0, 1]; default 1, or 0.5 where ``force`` is needed; "selective": 0.8, of the first of
        its parallel sweeps.
    max_iter : int, default 200
        Sweeps over all sites; "selective": updates per site.
    tol : float, default 1e-6
        Stop when no site wants to change its marginal by more than this, in units of the marginal's own precision;
        "selective": when no update of a site changes the posterior by this Kullback-Leibler divergence, in nats
        (1e-2 serves to choose measurements).
    random_state : int, Generator, optional
        Permutes the order of sequential updates; default the order of the rows. "selective": draws candidates;
        default a fixed seed.
    warm_start : Posterior, optional
        Starts from its sites; rows appended since start without. "selective" takes over the covariance of a posterior
        of its own and absorbs data rows that were appended; that posterior stays valid, and factorises again if it is
        asked for more than its mean, sites and marginals.
    form : {"precision", "covariance"}, optional
        Representation; chosen by size if not given. "selective": "unknowns" (n x n numbers) or "measurements" (m x m,
        for B square and orthonormal), by default the latter where there are fewer measurements than n / 4.
    force : bool, default False
        Run also for potentials that are not log-concave: damped, with negative sites, without any guarantee.
    n_candidates : int, default 256
        "selective": sites whose scores are compared before each update.
    max_sweeps : int, default 8
        "selective": parallel sweeps that come first, at most, where many sites are to move.
    dtype : {float32, float64}, default float64
        Of the factor of the precision of u (dense rows), "selective": of its covariance. In single precision a sweep
        takes half of the time, a single update of memory, too; variances are off by 1e-6 to 1e-3 of theirs. Where the
        precision would lose these digits it is double all the same.

    Returns
    -------
    Posterior
        ``evidence_kind`` is "approximation"; ``objective_trace`` is -ln Z after each sweep (it need not fall). Of
        selective updates ``n_iter`` is the number, and ``gaussian.work`` counts what was done.

    Raises
    ------
    ValueError
        If ``fraction`` or ``damping`` is not in (0, 1], ``dtype`` is none of these, the update needs log-concave
        potentials and these are not, or model and engine do not go together (`compatible`).

    References
    ----------
    Minka (2001), Expectation propagation for approximate Bayesian inference; Nickisch (2010), section 2.5.10
    and algorithm 5.1.

    Examples
    --------
    >>> from adaptive.inference import GLM
    >>> from adaptive.potentials import BernoulliProbit
    >>> model = GLM(B=[[1.0, 1.0]], potentials=BernoulliProbit([1]), prior_covariance=1.0)
    >>> posterior = expectation_propagation(model)
    >>> posterior.mean.round(4), round(posterior.log_evidence, 6)      # one site: exact, ln Z = ln 1/2
    (array([0.4607, 0.4607]), -0.693147)
    """
    choice("update", update, ("auto", "parallel", "sequential", "selective"))
    max_iter, tol = integer("max_iter", max_iter, minimum=0), float(positive("tol", tol, or_zero=True))
    forced = force and not compatible([p for _, p in model.groups], "expectation_propagation")
    if forced:
        warnings.warn(
            "expectation_propagation with potentials that are not log-concave has no guarantee: check .converged.",
            stacklevel=2,
        )
    default = 0.5 if forced else 0.8 if update == "selective" else 1.0
    damping = default if damping is None else float(positive("damping", damping))
    if not 0 < fraction <= 1 or damping > 1:
        raise ValueError(f"fraction and damping must be in (0, 1], got {fraction} and {damping}.")
    if np.dtype(dtype).char not in "fd":
        raise ValueError(f"dtype must be float32 or float64, got {dtype!r}.")
    if update == "selective":
        if forced:
            raise ValueError('update="selective" needs log-concave potentials; use update="parallel" with force=True.')
        n_candidates = integer("n_candidates", n_candidates, minimum=2)
        max_sweeps = integer("max_sweeps", max_sweeps, minimum=0)
        rng = generator(0 if random_state is None else random_state)
        selected = SelectiveProblem(model, warm_start, form, dtype)
        return _selective(selected, float(fraction), damping, max_iter, tol, n_candidates, max_sweeps, rng)
    problem = DenseProblem(model, "expectation_propagation", warm_start, form, force, dtype)
    if problem.size == 0:
        return problem.exact()
    sweeps, trace = _Sweeps(problem, float(fraction), damping, negative=forced), []
    sweeps.tilt_all()
    order = None if random_state is None else generator(random_state)
    n_iter, sequential, stalled = 0, update == "sequential", 0
    best, cold = sweeps.residual, problem.warm_sites is None and update == "auto"
    while n_iter < max_iter and not sweeps.settled(tol) and stalled < _PATIENCE:
        n_iter += 1
        if sequential:
            sweeps.sequential(order)
        else:
            sweeps.parallel()
        sweeps.tilt_all()
        trace.append(-sweeps.log_evidence)
        stalled = 0 if sweeps.residual < best else stalled + 1
        best = min(best, sweeps.residual)
        if stalled == _WANDERING and cold and not sequential and sweeps.restart():
            cold, stalled, best = False, 0, sweeps.residual
        if stalled == _PATIENCE and update == "auto" and not sequential:
            sequential, stalled = True, 0
    sweeps.sharpen()
    converged = sweeps.residual <= tol
    reason = "raise max_iter or tol" if n_iter == max_iter else "it no longer comes closer; try a smaller fraction"
    problem_left = f"sites still want to move by {sweeps.residual:.1e} (tol {tol:.0e}): {reason}"
    return problem.finish(
        sweeps.log_evidence, "approximation", trace, n_iter=n_iter, converged=converged, problem=problem_left
    )


def _selective(
    problem: SelectiveProblem,
    fraction: float,
    damping: float,
    max_iter: int,
    tol: float,
    n_candidates: int,
    max_sweeps: int,
    rng: np.random.Generator,
) -> Posterior:
    if problem.size == 0:
        return problem.exact()
    problem.start()
    updates = SelectiveUpdates(problem, fraction, damping, tol, n_candidates, rng)
    try:
        updates.sweep(max_sweeps)
        n_iter = updates.run(max_iter * problem.size)
    except np.linalg.LinAlgError:
        raise problem.improper() from None
    return problem.finish(
        updates.log_evidence,
        "approximation",
        updates.trace,
        n_iter=n_iter,
        converged=updates.largest < tol or (tol == 0 and updates.largest == 0),
        problem=f"an update would still change the posterior by {updates.largest:.1e} nats (tol {tol:.0e}); "
        "raise max_iter or tol",
    )


class _Sweeps:
    """The sites, new ones for them, and the two ways of moving there."""

    def __init__(self, problem: DenseProblem, fraction: float, damping: float, negative: bool):
        self.problem, self.gaussian, self.potential = problem, problem.gaussian, problem.potential
        self.fraction: Number = fraction
        self.copies: Number = 1.0  # rows that a site stands for: of w copies of a row one is moved, and all alike
        if (weights := problem.potential.weights) is not None:
            self.copies = np.maximum(weights, 1.0)
            self.fraction = fraction / self.copies
        self.damping, self.negative = damping, negative
        self.pi, self.nu = problem.start()
        self.residual, self.log_evidence = np.inf, np.nan
        self._extrapolation = AndersonMixing()
        self._smallest = np.inf

    def tilt_all(self) -> None:
        """Moments of all tilted distributions at the present sites: new sites, the residual, the evidence."""
        mean, variance = self.gaussian.marginals()
        sites = tilted_sites(self.potential, mean, variance, self.pi, self.nu, self.fraction, self.negative)
        self.new_pi, self.new_nu = sites.pi, sites.nu
        self.mean, self.variance = mean, sites.variance

        change = self._in_marginal_units(self.new_pi - self.pi, self.new_nu - self.nu)
        self.residual = float(np.abs(change).max()) if sites.usable.all() else np.inf
        terms = float(sites.terms.sum())
        self.log_evidence = self.gaussian.log_volume + terms if sites.proper.all() else np.nan

    def settled(self, tol: float) -> bool:
        """Return whether no site wants to move by more than ``tol``, by a Gaussian that is not rough."""
        if self.residual <= tol:
            self.sharpen()
        return self.residual <= tol

    def sharpen(self) -> None:
        """Factorise in double precision where the last sweep did not."""
        if self.gaussian.rough:
            self.problem.refit(self.pi, self.nu)
            self.tilt_all()

    def _in_marginal_units(self, d_pi: np.ndarray, d_nu: np.ndarray) -> np.ndarray:
        """Changes of sites as changes of their precision and of their slope at the mean, per unit of the marginal."""
        change = np.stack([d_pi * self.variance, (d_nu - d_pi * self.mean) * np.sqrt(self.variance)])
        return (change / self.copies).ravel()

    def parallel(self) -> None:
        """Move all sites, extrapolated if possible, less far where the result would not be a Gaussian."""
        d_pi, d_nu = self.damping * (self.new_pi - self.pi), self.damping * (self.new_nu - self.nu)
        length = 1.0
        refit = self.gaussian.refit_roughly if self.residual > _ROUGH else self.gaussian.refit
        for candidate in (self._extrapolated(d_pi, d_nu), None):
            for _ in range(30 if candidate is None else 1):
                pi, nu = candidate or (self.pi + length * d_pi, self.nu + length * d_nu)
                try:
                    refit(pi, nu)
                    if candidate is None or self._cavities_proper(pi):
                        self.pi, self.nu = pi, nu
                        return
                except np.linalg.LinAlgError:
                    pass
                self._extrapolation.clear()
                length *= 1.0 if candidate else 0.5
        self.problem.refit(self.pi, self.nu)

    def _cavities_proper(self, pi: np.ndarray) -> bool:
        return bool(np.all(1.0 - self.fraction * pi * self.gaussian.marginals()[1] > -FLAT))

    def _extrapolated(self, d_pi: np.ndarray, d_nu: np.ndarray) -> tuple[np.ndarray, np.ndarray] | None:
        """Extrapolate the last sweeps, if this one is not quick enough by itself."""
        if self.negative or not np.isfinite(self.residual):
            return None
        if self.residual > 2 * self._smallest:
            self._extrapolation.clear()
        quick = self.residual < _QUICK * self._smallest
        self._smallest = min(self._smallest, self.residual)
        self._extrapolation.add(np.stack([self.pi, self.nu]), np.stack([d_pi, d_nu]))
        often = np.tile(np.sqrt(np.broadcast_to(self.copies, self.pi.shape)), 2)
        far = None if quick else self._extrapolation.next(lambda *step: often * self._in_marginal_units(*step))
        if far is None:
            return None
        pi, nu = far
        return np.where(pi >= 0, pi, self.pi + d_pi), np.where(pi >= 0, nu, self.nu + d_nu)

    def restart(self) -> bool:
        """Begin again at Laplace's sites, those of the mode; False where potentials have no curvature to take."""
        potential = self.potential
        if not (potential.smooth and self.gaussian.determined):
            return False
        present = self.pi, self.nu
        try:
            self.gaussian.refit(np.zeros(len(self.pi)), np.zeros(len(self.nu)))
            s = minimise(self.problem, NegativeLogDensity(potential), _MODE_STEPS, _NEAR)[0]
            first, second = potential.derivatives(s)
            self.pi, self.nu = np.maximum(-second, 0.0), first + np.maximum(-second, 0.0) * s
            self.gaussian.refit(self.pi, self.nu)
        except (ValueError, np.linalg.LinAlgError):
            self.pi, self.nu = present
            self.problem.refit(*present)
            return False
        self._extrapolation.clear()
        self._smallest = np.inf
        self.tilt_all()
        return True

    def sequential(self, order: np.random.Generator | None) -> None:
        """Move one site after the other; rank-one updates, then one factorisation against drift."""
        gaussian, fractions = self.gaussian, np.broadcast_to(self.fraction, self.pi.shape)
        rows = np.arange(len(self.pi)) if order is None else order.permutation(len(self.pi))
        if self._in_one_loop(rows):
            return
        gaussian.start_updates()
        for j in rows:
            mean, variance = gaussian.marginal(j)
            if not variance > 0:
                continue
            eta = float(fractions[j])
            old_pi, old_nu = float(gaussian.pi[j]), float(gaussian.nu[j])
            cavity = 1.0 / variance - eta * old_pi
            if not cavity > -FLAT / variance:
                continue
            cavity = max(cavity, FLAT / variance)
            cavity_mean = mean - eta * (old_nu - old_pi * mean) / cavity
            moments = self.potential[j : j + 1].tilted_moments(np.array([cavity_mean]), np.array([1.0 / cavity]), eta)
            tilted_mean, tilted_variance = float(moments[1][0]), float(moments[2][0])
            pi = (1.0 / tilted_variance - cavity) / eta
            pi = pi if self.negative else max(pi, 0.0)
            nu = pi * tilted_mean + (tilted_mean - cavity_mean) * cavity / eta
            if np.isfinite(pi) and np.isfinite(nu):
                try:
                    gaussian.rank_one(j, self.damping * (pi - old_pi), self.damping * (nu - old_nu))
                except np.linalg.LinAlgError:
                    continue
        self.pi, self.nu = gaussian.pi.copy(), gaussian.nu.copy()
        self.problem.refit(self.pi, self.nu)

    def _in_one_loop(self, rows: np.ndarray) -> bool:
        """Do the same in a compiled loop over the rows, of logit labels; False where there is none."""
        potential = self.potential
        if not isinstance(potential, BernoulliLogit) or potential.y is None or self.negative:
            return False
        if len(rows) > _LARGEST_JOINT or not np.all(self.fraction == 1.0):
            return False
        from adaptive.inference.dense.logit_sequence import logit_sequence  # compiles when it is first used

        signs = np.broadcast_to(np.asarray(potential.y, dtype=float), rows.shape)
        joint = self.gaussian.project_covariance(self.problem.rows, self.problem.rows)
        present = self.gaussian.projections, signs, self.pi, self.nu
        self.pi, self.nu = logit_sequence(joint, *present, rows, self.damping)
        self.problem.refit(self.pi, self.nu)
        return True
