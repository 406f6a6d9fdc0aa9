"""Laplace's method: the Gaussian at the mode, with the curvature there.

ln Z = ln base(u^) + sum_j ln T_j(s^_j) + 1/2 ln|2 pi A^-1|,   A = P_0 + B' diag(W) B,   W = -(ln T)''(s^).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from adaptive.checks import integer, positive
from adaptive.inference.dense.newton import NegativeLogDensity, minimise
from adaptive.inference.dense.problem import DenseProblem
from adaptive.inference.model import GLM
from adaptive.inference.posterior import Posterior
from adaptive.inference.threads import small_on_one_thread

if TYPE_CHECKING:
    from adaptive.types import RandomState

__all__ = ["laplace_approximation"]


@small_on_one_thread
def laplace_approximation(
    model: GLM,
    *,
    max_iter: int = 100,
    tol: float = 1e-10,
    random_state: RandomState = None,
    warm_start: Posterior | None = None,
    form: str | None = None,
) -> Posterior:
    """Gaussian approximation at the posterior mode, by Newton's method with backtracking.

    Parameters
    ----------
    model : GLM
        Potentials must be smooth; one that is not log-concave (Student t) may lead to a local mode.
    max_iter : int, default 100
        Newton steps.
    tol : float, default 1e-10
        Stop when a step promises less than this (relative to 1 + |objective|).
    random_state : ignored
        Every engine takes it.
    warm_start : Posterior, optional
        Starts from its sites; rows appended since start without.
    form : {"precision", "covariance"}, optional
        Representation; chosen by size if not given.

    Returns
    -------
    Posterior
        ``evidence_kind`` is "approximation"; ``objective_trace`` is -ln of the joint density at the iterates, up to
        the normalisers of the Gaussian part.

    Raises
    ------
    ValueError
        For potentials with a kink or an edge, or where the curvature at the mode is not positive definite.

    References
    ----------
    Nickisch (2010), section 2.5.1; Rasmussen and Williams (2006), section 3.4.

    Examples
    --------
    >>> from adaptive.inference import GLM
    >>> from adaptive.potentials import BernoulliLogit
    >>> posterior = laplace_approximation(GLM(B=[[1.0]], potentials=BernoulliLogit([1]), prior_covariance=1.0))
    >>> posterior.mean.round(4), round(posterior.log_evidence, 4)
    (array([0.4011]), -0.7007)
    """
    max_iter, tol = integer("max_iter", max_iter, minimum=0), float(positive("tol", tol, or_zero=True))
    problem = DenseProblem(model, "laplace_approximation", warm_start, form)
    if problem.size == 0:
        return problem.exact()
    gaussian, potential = problem.gaussian, problem.potential
    problem.start()
    s, trace, converged = minimise(problem, NegativeLogDensity(potential), max_iter, tol)
    first, second = potential.derivatives(s)
    try:  # one more Newton step, after which the mean is the mode to the square of the last step's error
        gaussian.refit(-second, first - second * s)
    except np.linalg.LinAlgError:
        raise ValueError(
            "laplace_approximation: the curvature at the mode is not positive definite, so there is no Gaussian there; "
            "use variational_bounds."
        ) from None
    log_evidence = gaussian.log_volume + float(potential.log_density(gaussian.projections).sum())
    return problem.finish(log_evidence, "approximation", trace, n_iter=len(trace), converged=converged)
