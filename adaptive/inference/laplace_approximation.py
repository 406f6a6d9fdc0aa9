"""Laplace's method: the Gaussian at the mode, with the curvature there.

    ln Z = ln base(u^) + sum_j ln T_j(s^_j) + 1/2 ln|2 pi A^-1|,   A = P_0 + B' diag(W) B,   W = -(ln T)''(s^).

Newton's iterate is the mean of the Gaussian whose sites are (W, W s + (ln T)'), whichever representation it has; in the
covariance form this is the alpha-form of Rasmussen and Williams (2006), algorithm 3.1.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..checks import integer, positive
from .dense import DenseProblem
from .model import GLM
from .posterior import Posterior

__all__ = ["laplace_approximation"]


def laplace_approximation(
    model: GLM,
    *,
    max_iter: int = 100,
    tol: float = 1e-10,
    random_state: Any = None,
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
        Stop when the next step promises less than this (relative to 1 + |objective|).
    random_state : ignored
        Every engine takes it.
    warm_start : Posterior, optional
        Starts from its sites; rows appended since start without.
    form : {"precision", "covariance"}, optional
        Representation; chosen by size if not given.

    Returns
    -------
    Posterior
        ``evidence_kind`` is "approximation"; ``objective_trace`` is -ln of the joint density at the iterates.

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
    (array([0.4011]), -0.6989)
    """
    max_iter, tol = integer("max_iter", max_iter, minimum=0), float(positive("tol", tol, or_zero=True))
    problem = DenseProblem(model, "laplace_approximation", warm_start, form)
    if problem.size == 0:
        return problem.exact()
    gaussian, potential = problem.gaussian, problem.potential
    problem.start()
    point, s = gaussian.coefficients, gaussian.projections
    value = gaussian.energy(point) - float(potential.log_density(s).sum())
    if not np.isfinite(value):
        raise ValueError("laplace_approximation cannot start: the density at the starting point is zero.")
    trace, converged, n_iter = [], False, 0
    while n_iter < max_iter and not converged:
        n_iter += 1
        _newton_fit(problem, s)
        step, ds = gaussian.coefficients - point, gaussian.projections - s
        # the energy is quadratic along the step: its slope from three values, the potentials' from their derivative
        energy = gaussian.energy(point)
        slope = 4 * gaussian.energy(point + 0.5 * step) - gaussian.energy(point + step) - 3 * energy
        slope -= float(potential.derivatives(s)[0] @ ds)
        converged = -0.5 * slope <= tol * (1.0 + abs(value))
        length = 1.0
        for _ in range(40):
            trial, s_trial = point + length * step, s + length * ds
            new = gaussian.energy(trial) - float(potential.log_density(s_trial).sum())
            if new <= value + 1e-4 * length * min(slope, 0.0) or (
                converged and new <= value + 1e-12 * (1 + abs(value))
            ):
                point, s, value = trial, s_trial, new
                break
            length *= 0.5
        else:
            converged = converged or abs(slope) <= 1e-8 * (1.0 + abs(value))  # no descent left but rounding
            trace.append(value)
            break
        trace.append(value)
    first, second = potential.derivatives(s)
    try:
        gaussian.refit(-second, first - second * s)
    except np.linalg.LinAlgError:
        raise ValueError(
            "laplace_approximation: the curvature at the mode is not positive definite, so there is no Gaussian there; "
            "use variational_bounds."
        ) from None
    # this refit took one more Newton step, by which the mean is the mode to the square of the last step's error
    log_evidence = gaussian.log_volume + float(potential.log_density(gaussian.projections).sum())
    return problem.finish(log_evidence, "approximation", trace, n_iter=n_iter, converged=converged)


def _newton_fit(problem: DenseProblem, s: np.ndarray) -> None:
    """Fit the sites of Newton's step at s; where that is not a Gaussian, those of the bound that touches at s."""
    first, second = problem.potential.derivatives(s)
    try:
        problem.gaussian.refit(-second, first - second * s)
        return
    except np.linalg.LinAlgError:
        pass
    if np.all(problem.potential.super_gaussian):
        curvature = 1.0 / problem.potential.tight_width(s)
    else:
        curvature = np.maximum(-second, 0.0)
    problem.refit(curvature, first + curvature * s)
