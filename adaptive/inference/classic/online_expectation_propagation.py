"""Assumed density filtering: one pass of expectation propagation, each potential met once and never revisited.

    m += a s,    V += b s s',    ln Z += ln Z^_i,    s = V[:, i],

a and b the first two derivatives of ln Z^_i in the mean. The evidence depends on the order and is no bound.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from adaptive.checks import generator, integer
from adaptive.inference.classic.tilted import log_normaliser_derivatives, site
from adaptive.inference.dense.problem import DenseProblem
from adaptive.inference.model import GLM
from adaptive.inference.posterior import Posterior

if TYPE_CHECKING:
    from adaptive.types import RandomState

__all__ = ["online_expectation_propagation"]


def online_expectation_propagation(
    model: GLM,
    *,
    max_iter: int = 1,
    tol: float = 0.0,
    random_state: RandomState = None,
    warm_start: Posterior | None = None,
    form: str | None = None,
) -> Posterior:
    """One pass through the rows, O(q^2) each.

    Parameters
    ----------
    model : GLM
        Log-concave potentials, and a Gaussian part that determines the latent.
    max_iter : int, default 1
        Passes are what expectation propagation makes of it: more than one is refused.
    tol : ignored
    random_state : None, int or Generator
        Permutes the rows; None: in order.
    warm_start : Posterior, optional
        Rows it knows keep their sites; only the new ones are met.
    form : {"precision", "covariance"}, optional

    Returns
    -------
    Posterior
        ``log_evidence`` ("approximation") is that of the new rows given the others where there was a warm start.

    Raises
    ------
    ValueError
        If ``max_iter`` is not 1, or there is no Gaussian part to start from.

    References
    ----------
    Opper (1998), A Bayesian approach to online learning; Minka (2001).

    Examples
    --------
    >>> from adaptive.inference import GLM
    >>> from adaptive.potentials import BernoulliProbit
    >>> model = GLM(potentials=BernoulliProbit([1, 1]), prior_covariance=[[1.0, 0.9], [0.9, 1.0]])
    >>> online_expectation_propagation(model).mean.round(3)
    array([0.829, 0.828])
    """
    if integer("max_iter", max_iter, minimum=1) > 1:
        raise ValueError(f"max_iter must be 1, got {max_iter}: a second pass is expectation_propagation.")
    problem = DenseProblem(model, "expectation_propagation", warm_start, form)
    if problem.size == 0:
        return problem.exact()
    if not problem.gaussian.determined:
        raise ValueError("online_expectation_propagation starts from the Gaussian part; give prior_covariance.")
    problem.start()
    gaussian, rows = problem.gaussian, np.flatnonzero(problem.fresh)
    gaussian.start_updates()
    log_evidence = 0.0
    for j in (rows if random_state is None else generator(random_state).permutation(rows)).tolist():
        mean, variance = gaussian.marginal(j)
        part = problem.potential[j : j + 1]
        if not variance > 0:
            log_evidence += float(part.log_density(np.array([mean]))[0])
            continue
        log_normaliser, first, second = log_normaliser_derivatives(part, np.array([mean]), np.array([variance]))
        pi, nu = site(mean, variance, float(first[0]), float(second[0]))
        gaussian.rank_one(j, pi, nu)
        log_evidence += float(log_normaliser[0])
    problem.refit(gaussian.pi.copy(), gaussian.nu.copy())
    problem.engine = "online_expectation_propagation"
    return problem.finish(log_evidence, "approximation", [-log_evidence], n_iter=1, converged=True)
