"""The factorial approximation: projections that are independent of one another, each with a distribution of any shape,

    Q(s) = prod_j q_j(s_j),    q_j(s_j) ~ N(s_j | mu_j, r_j) T_j(s_j),    r_j = 1 / [K^-1]_jj,
    mu_j = m_j - r_j [K^-1 (m - m0)]_j,    m_j = E_{q_j}[s_j],

N(m0, K) what the Gaussian part of the model says about the projections. With t_j, v_j the moments of q_j, the bound

    F = sum_j [ ln Z^_j + 1/2 ln r_j + (t_j - mu_j)^2 / (2 r_j) ] - 1/2 ln|K| - 1/2 (t - m0)' K^-1 (t - m0) <= ln Z

holds for any mu. m = t(mu(m)) is solved by Newton's method, whose matrix K^-1 + diag(1/v - 1/r) is that of a Gaussian
with sites.

The one method here that inverts K: where projections depend on one another to rounding, independence is a poor
approximation and the bound falls with the ridge.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import scipy.linalg

from adaptive.checks import integer, positive
from adaptive.gaussians.mean_field_form import MeanFieldForm
from adaptive.inference.dense.problem import DenseProblem
from adaptive.inference.model import GLM
from adaptive.inference.posterior import Posterior
from adaptive.inference.threads import small_on_one_thread

if TYPE_CHECKING:
    from adaptive.potentials import Potential
    from adaptive.types import RandomState

__all__ = ["mean_field"]

_HALVINGS = 30


@small_on_one_thread
def mean_field(
    model: GLM,
    *,
    ridge: float = 1e-6,
    max_iter: int = 200,
    tol: float = 1e-6,
    random_state: RandomState = None,
    warm_start: Posterior | None = None,
    form: str | None = None,
) -> Posterior:
    """Factorial variational approximation: a lower bound without correlations between projections.

    Parameters
    ----------
    model : GLM
        Its Gaussian part alone must determine the latent. Any potential.
    ridge : float, default 1e-6
        Added to the prior covariance of the projections, relative to its mean diagonal.
    max_iter : int, default 200
        Newton steps.
    tol : float, default 1e-6
        Stop when the means of all factors are this close to a fixed point, in their standard deviations.
    random_state : ignored
        Every engine takes it.
    warm_start : Posterior, optional
        Starts from its sites; rows appended since start without.
    form : {"precision", "covariance"}, optional
        Representation of the model's Gaussian part; chosen by size if not given.

    Returns
    -------
    Posterior
        Means and variances of the projections are those of the factors; ``evidence_kind`` is "lower_bound";
        ``objective_trace`` is minus the bound and never rises.

    Raises
    ------
    ValueError
        If the Gaussian part does not determine every unknown.

    References
    ----------
    Csato, Fokoue, Opper, Schottky and Winther (2000), Efficient approaches to Gaussian process classification;
    Nickisch (2010), section 4.7 and equation 4.28, corrected.

    Examples
    --------
    >>> from adaptive.inference import GLM
    >>> from adaptive.potentials import BernoulliProbit
    >>> posterior = mean_field(GLM(potentials=BernoulliProbit([1, 1]), prior_covariance=[[1.0, 0.5], [0.5, 1.0]]))
    >>> posterior.mean.round(3), round(posterior.log_evidence, 3), posterior.evidence_kind
    (array([0.718, 0.718]), -1.314, 'lower_bound')
    """
    max_iter, tol = integer("max_iter", max_iter, minimum=0), float(positive("tol", tol, or_zero=True))
    problem = DenseProblem(model, "mean_field", warm_start, form)
    if problem.size == 0:
        return problem.exact()
    if not problem.gaussian.determined:
        raise ValueError("mean_field needs a Gaussian part that determines every unknown; give prior_covariance.")
    factors = MeanFieldForm(problem.gaussian, problem.rows, float(positive("ridge", ridge)))
    if problem.warm_sites is not None:
        factors.refit(*problem.warm_sites)
    search, trace = _Search(factors, problem.potential), []
    n_iter = 0
    while n_iter < max_iter and search.residual > tol and not search.stuck:
        n_iter += 1
        search.step()
        trace.append(-search.bound)
    converged = search.residual <= (1e-5 if search.stuck else tol)
    search.settle()
    left = f"means are {search.residual:.1e} standard deviations from a fixed point (tol {tol:.0e})"
    return problem.finish(
        search.bound,
        "lower_bound",
        trace,
        n_iter=n_iter,
        converged=converged,
        problem="" if converged else left,
        gaussian=factors,
    )


class _Search:
    """The factors at the present means, the bound there, and Newton's step."""

    def __init__(self, factors: MeanFieldForm, potential: Potential):
        self.factors, self.potential = factors, potential
        self.stuck = False
        r, factor = factors.conditional_variance, factors.prior_factor
        self._constant = factors.log_base + 0.5 * float(np.log(r).sum()) - float(np.log(factor.diagonal()).sum())
        self._tilt_all()

    def _tilt_all(self) -> None:
        """Moments of the factors, and the bound at them."""
        r, form = self.factors.conditional_variance, self.factors
        m = form.projections
        mu = m - r * form.slope
        log_normaliser, t, v = self.potential.tilted_moments(mu, r)
        moved = scipy.linalg.solve_triangular(form.prior_factor, t - form.prior_mean, lower=True)
        terms = log_normaliser + 0.5 * (t - mu) ** 2 / r
        self.bound = self._constant + float(terms.sum()) - 0.5 * float(moved @ moved)
        self.t, self.v, self.m = t, np.minimum(v, r) if np.all(self.potential.log_concave) else v, m
        self.residual = float(np.abs((m - t) / np.sqrt(v)).max())

    def step(self) -> None:
        """Newton's step, shortened where the bound would fall."""
        r, form = self.factors.conditional_variance, self.factors
        pi, slope, m, gap = 1.0 / self.v - 1.0 / r, form.slope, self.m, (self.m - self.t) / self.v
        before, bound = (form.pi, form.nu), self.bound
        floor = bound - 1e-13 * (1.0 + abs(bound))
        length = 1.0
        for _ in range(_HALVINGS):
            for curvature in (pi, np.maximum(pi, 0.0)) if (pi < 0).any() else (pi,):
                try:
                    form.refit(curvature, slope + curvature * m - length * gap)
                except np.linalg.LinAlgError:
                    continue
                self._tilt_all()
                if self.bound >= floor:
                    return
            length *= 0.5
        self.stuck = True
        form.refit(*before)
        self._tilt_all()

    def settle(self) -> None:
        """Sites whose precision is that of the factors at the means: 1 / v - 1 / r."""
        form = self.factors
        pi = 1.0 / self.v - 1.0 / form.conditional_variance
        form.refit(pi, form.slope + pi * self.m)
