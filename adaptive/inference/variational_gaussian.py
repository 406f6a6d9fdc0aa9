"""The Gaussian closest to the posterior in KL(Q || P): Jensen's bound, as high as a Gaussian can raise it.

    ln Z >= F(m, V) = E_Q[ln base(u)] + sum_j E_Q[ln T_j(s_j)] + H(Q).

At its maximum the precision of Q is that of the base plus one site per potential, with

    pi_j = -2 dE_j/dv_j = -E (ln T_j)'',    nu_j = dE_j/dm_j + pi_j m_j,    E_j(m_j, v_j) = E_{N(m_j, v_j)}[ln T_j],

so that 2 q numbers are all there is to find. Moving the sites towards the right-hand sides is the natural gradient of
F: an ascent direction everywhere, and in the mean Newton's step. Steps are extrapolated from the last ones, and
shortened where F would fall.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from adaptive.checks import integer, positive
from adaptive.inference.dense.anderson import AndersonMixing
from adaptive.inference.dense.jensen import jensen_bound
from adaptive.inference.dense.problem import DenseProblem
from adaptive.inference.model import GLM
from adaptive.inference.posterior import Posterior
from adaptive.inference.threads import small_on_one_thread

if TYPE_CHECKING:
    from adaptive.types import RandomState

__all__ = ["variational_gaussian"]

_HALVINGS = 40
_ROUNDING = 1e-10  # of the bound, a sum over all rows: within it a step is judged by what it leaves to be done


@small_on_one_thread
def variational_gaussian(
    model: GLM,
    *,
    max_iter: int = 200,
    tol: float = 1e-6,
    random_state: RandomState = None,
    warm_start: Posterior | None = None,
    form: str | None = None,
) -> Posterior:
    """Gaussian approximation with the highest lower bound on the log evidence (nats).

    Parameters
    ----------
    model : GLM
        Every potential needs a finite expected logarithm (not a step, not positive counts of a rectified Poisson).
        One that is not log-concave may lead to a local optimum.
    max_iter : int, default 200
        Steps of all sites.
    tol : float, default 1e-6
        Stop when no site wants to change its marginal by more than this, in units of the marginal's own precision.
    random_state : ignored
        Every engine takes it.
    warm_start : Posterior, optional
        Starts from its sites; rows appended since start without.
    form : {"precision", "covariance"}, optional
        Representation; chosen by size if not given.

    Returns
    -------
    Posterior
        ``evidence_kind`` is "lower_bound"; ``objective_trace`` is minus the bound and never rises.

    References
    ----------
    Opper and Archambeau (2009), The variational Gaussian approximation revisited; Nickisch (2010), sections 2.5.9, 4.5;
    Challis and Barber (2013), Gaussian Kullback-Leibler approximate inference.

    Examples
    --------
    >>> from adaptive.inference import GLM
    >>> from adaptive.potentials import BernoulliLogit
    >>> posterior = variational_gaussian(GLM(B=[[1.0]], potentials=BernoulliLogit([1]), prior_covariance=1.0))
    >>> posterior.mean.round(4), round(posterior.log_evidence, 4), posterior.evidence_kind
    (array([0.4131]), -0.6932, 'lower_bound')
    """
    max_iter, tol = integer("max_iter", max_iter, minimum=0), float(positive("tol", tol, or_zero=True))
    problem = DenseProblem(model, "variational_gaussian", warm_start, form)
    if problem.size == 0:
        return problem.exact()
    ascent = _Ascent(problem)
    trace: list[float] = []
    n_iter = 0
    while n_iter < max_iter and ascent.residual > tol and not ascent.stuck:
        n_iter += 1
        ascent.step()
        trace.append(min(-ascent.bound, trace[-1] if trace else np.inf))
    converged = ascent.residual <= max(tol, 1e-5 if ascent.stuck else tol)  # stuck so close: rounding
    left = f"sites still want to move by {ascent.residual:.1e} (tol {tol:.0e}): raise max_iter or tol"
    return problem.finish(
        ascent.bound, "lower_bound", trace, n_iter=n_iter, converged=converged, problem="" if converged else left
    )


class _Ascent:
    """The sites, the bound there, and where they want to go."""

    def __init__(self, problem: DenseProblem):
        self.problem, self.gaussian, self.potential = problem, problem.gaussian, problem.potential
        self.log_concave = bool(np.all(problem.potential.log_concave))
        self._extrapolation = AndersonMixing()
        self.stuck = False
        self.sites = np.stack(problem.start())
        self._evaluate()
        if not np.isfinite(self.bound):  # an exponential rate under a wide prior: begin with what each potential allows
            self.sites = np.stack(problem.broad_sites())
            problem.refit(*self.sites)
            self._evaluate()

    def _evaluate(self) -> None:
        """The bound at the present sites, and the sites that its gradient asks for."""
        mean, variance = self.gaussian.marginals()
        variance = np.maximum(variance, 0.0)
        value, first, second = self.potential.expectation_derivatives(mean, variance)
        self.bound = jensen_bound(self.gaussian, variance, value)
        pi = -2.0 * second
        if self.log_concave:
            pi = np.maximum(pi, 0.0)
        pi = np.where(variance > 0, pi, 0.0)  # a row of zeros: its potential is a constant
        self.wanted = np.stack([pi, first + pi * mean])
        self.wanted[:, variance == 0] = 0.0
        self._mean, self._variance = mean, variance
        moved = self._in_marginal_units(*(self.wanted - self.sites))
        self.residual = float(np.abs(moved).max()) if np.isfinite(moved).all() else np.inf

    def _in_marginal_units(self, d_pi: np.ndarray, d_nu: np.ndarray) -> np.ndarray:
        """Changes of sites as changes of their precision and of their slope at the mean, per unit of the marginal."""
        return np.concatenate([d_pi * self._variance, (d_nu - d_pi * self._mean) * np.sqrt(self._variance)])

    def step(self) -> None:
        """Extrapolate if that raises the bound, else go the way of the gradient as far as it does."""
        here, bound, residual = self.sites, self.bound, self.residual
        move = self.wanted - here
        move[:, ~np.isfinite(move).all(axis=0)] = 0.0
        self._extrapolation.add(here, move)
        floor = bound - _ROUNDING * (1.0 + abs(bound))

        def better() -> bool:
            return self.bound >= bound or (self.bound >= floor and self.residual < residual)

        far = self._extrapolation.next(self._in_marginal_units)
        if far is not None:
            if self.log_concave:
                far = np.where(far[0] >= 0, far, here + move)
            if self._try(far) and better() and self.residual < 2 * residual:
                return
            self._extrapolation.clear()
        length = 1.0
        for _ in range(_HALVINGS):
            if self._try(here + length * move) and better():
                return
            length *= 0.5
        self.stuck = True
        self._try(here)

    def _try(self, sites: np.ndarray) -> bool:
        """Refit to the sites and evaluate; False where they make no Gaussian or no finite bound."""
        try:
            self.gaussian.refit(*sites)
        except np.linalg.LinAlgError:
            return False
        self.sites = sites
        self._evaluate()
        return bool(np.isfinite(self.bound))
