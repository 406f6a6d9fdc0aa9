"""TAP equations: expectation propagation's fixed points in other variables, alpha and W^-1, with m = m0 + K alpha.

    cavity:  v_i = 1 / C_ii - 1 / W_i,    mu_i = [m0 + K alpha]_i - v_i alpha_i,    C = (K + W^-1)^-1,
    alpha_i = d ln Z^_i / d mu_i,    W_i^-1 = -1 / (d^2 ln Z^_i / d mu_i^2) - v_i.

Naive TAP takes v_i = K_ii, the prior's: only alpha is left, at another and poorer fixed point.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from adaptive.checks import integer, positive
from adaptive.inference.classic.tilted import log_normaliser_derivatives
from adaptive.inference.dense.problem import DenseProblem
from adaptive.inference.model import GLM
from adaptive.inference.posterior import Posterior

if TYPE_CHECKING:
    from adaptive.types import RandomState

__all__ = ["tap"]

_SMALLEST_STEP = 1e-3


def tap(
    model: GLM,
    *,
    naive: bool = False,
    max_iter: int = 1000,
    tol: float = 1e-8,
    random_state: RandomState = None,
    warm_start: Posterior | None = None,
    form: str | None = None,
) -> Posterior:
    """Adaptive (or naive) TAP, by damped iteration of its equations; expectation_propagation gets there sooner.

    Parameters
    ----------
    model : GLM
        Log-concave potentials, and a Gaussian part that determines the latent.
    naive : bool, default False
        Keep the prior's variances in the place of the cavities'.
    max_iter : int, default 1000
    tol : float, default 1e-8
        Stop when no mean moves by more than this, in units of its prior standard deviation.
    random_state, warm_start : ignored
        Every engine takes them.
    form : {"precision", "covariance"}, optional

    Returns
    -------
    Posterior
        ``evidence_kind`` is "approximation".

    Raises
    ------
    ValueError
        If the Gaussian part does not determine every unknown.

    References
    ----------
    Opper and Winther (2000), Gaussian processes for classification: mean field algorithms; Nickisch (2010), section
    4.9 and equation 4.31, corrected for a general likelihood.

    Examples
    --------
    >>> from adaptive.inference import GLM, expectation_propagation
    >>> from adaptive.potentials import BernoulliLogit
    >>> model = GLM(potentials=BernoulliLogit([1, -1]), prior_covariance=[[4.0, 1.0], [1.0, 4.0]])
    >>> bool(np.allclose(tap(model).mean, expectation_propagation(model, tol=1e-9).mean))
    True
    """
    max_iter, tol = integer("max_iter", max_iter, minimum=0), float(positive("tol", tol, or_zero=True))
    problem = DenseProblem(model, "expectation_propagation", None, form)
    problem.engine = "tap"
    if problem.size == 0:
        return problem.exact()
    if not problem.gaussian.determined:
        raise ValueError("tap needs a Gaussian part that determines every unknown; give prior_covariance.")
    gaussian, none = problem.gaussian, np.zeros(problem.size)
    problem.refit(none, none)
    prior_mean, log_base = np.array(gaussian.projections), gaussian.log_volume
    K = gaussian.project_covariance(problem.rows, problem.rows)
    prior_variance = np.maximum(K.diagonal(), np.finfo(float).tiny)
    alpha, W = none.copy(), none.copy()
    damping, moved_before, moved = 1.0, np.inf, np.inf
    trace: list[float] = []
    n_iter = 0
    while n_iter < max_iter and moved > tol:
        n_iter += 1
        if naive:
            v = prior_variance
        else:
            problem.refit(W, none)
            v = 1.0 / (1.0 / np.maximum(gaussian.marginals()[1], np.finfo(float).tiny) - W)
        m = prior_mean + K @ alpha
        log_normaliser, first, second = log_normaliser_derivatives(problem.potential, m - v * alpha, v)
        # damped: full steps of all alpha at once overshoot where many rows agree
        weight = np.maximum(-second, 0.0)
        step = np.linalg.solve(np.eye(problem.size) + weight[:, None] * (K - np.diag(v)), first - alpha)
        new_W = np.maximum(-second / (1.0 + second * v), 0.0)
        moved = float(np.abs((K @ step) / np.sqrt(prior_variance)).max())
        moved = max(moved, float(np.abs((new_W - W) * v / (1.0 + W * v)).max()) if not naive else 0.0)
        damping = min(1.0, 1.5 * damping) if moved < moved_before else max(0.5 * damping, _SMALLEST_STEP)
        moved_before = moved
        alpha, W = alpha + damping * step, W + damping * (new_W - W)
        trace.append(moved)
    v = prior_variance if naive else v
    problem.refit(W, alpha + W * (prior_mean + K @ alpha))
    a = gaussian.nu - gaussian.pi * gaussian.projections
    log_normaliser, *_ = log_normaliser_derivatives(problem.potential, gaussian.projections - v * a, v)
    if naive:  # the function of alpha whose stationary points are the equations
        log_evidence = log_base + float(np.sum(log_normaliser + 0.5 * v * a**2)) - 0.5 * float(a @ K @ a)
    else:
        log_evidence = gaussian.log_volume + float(np.sum(log_normaliser + 0.5 * np.log1p(W * v) + 0.5 * v * a**2))
    return problem.finish(log_evidence, "approximation", trace, n_iter=n_iter, converged=moved <= tol)
