"""An inference: assumed density filtering, which takes in one potential after the other and never looks back.

    for j = 1, 2, ...:    N(mean, cov)  <-  the Gaussian with the moments of  N(mean, cov) T_j(b_j . u)
    ln Z  =  ln Z_0 + sum_j ln Z_j,       Z_j the normaliser of step j

It is the first sweep of expectation propagation: exact for one potential, and dependent on their order for more. To add
an inference, write a function ``model -> Posterior`` that accepts ``max_iter``, ``tol``, ``random_state`` and
``warm_start``. ``DenseProblem`` turns the model into matrices and a dense Gaussian with sites, checks that the pair of
potential and engine is sound, and wraps up the result.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from adaptive.inference import GLM, Posterior
from adaptive.inference.dense.problem import DenseProblem

if TYPE_CHECKING:
    from adaptive.types import RandomState

__all__ = ["assumed_density_filtering"]


def assumed_density_filtering(
    model: GLM,
    *,
    max_iter: int = 1,
    tol: float = 0.0,
    random_state: RandomState = None,
    warm_start: Posterior | None = None,
) -> Posterior:
    """Gaussian approximation by one pass over the potentials.

    Parameters
    ----------
    model : GLM
        With a Gaussian prior or enough data rows: the first step needs a proper Gaussian.
    max_iter, tol, random_state, warm_start : ignored
        There is one pass, in the order of the rows; every engine takes these arguments.

    Returns
    -------
    Posterior
        ``evidence_kind`` is "approximation".

    References
    ----------
    T. Minka (2001), A family of algorithms for approximate Bayesian inference, section 3.1.

    Examples
    --------
    >>> from adaptive.potentials import BernoulliProbit
    >>> model = GLM(B=[[1.0]], potentials=BernoulliProbit([1]), prior_covariance=1.0)
    >>> posterior = assumed_density_filtering(model)
    >>> posterior.mean.round(4), round(posterior.log_evidence, 4)       # one potential: exact, ln Z = ln 1/2
    (array([0.5642]), -0.6931)
    """
    # the conditions of expectation propagation are those of this function
    problem = DenseProblem(model, "expectation_propagation")
    if problem.size == 0:
        return problem.exact()
    gaussian, potential = problem.gaussian, problem.potential
    problem.refit(np.zeros(problem.size), np.zeros(problem.size))
    log_evidence = gaussian.log_volume  # of the Gaussian part alone
    gaussian.start_updates()
    for j in range(problem.size):
        mean, variance = gaussian.marginal(j)
        moments = potential[j : j + 1].tilted_moments(np.array([mean]), np.array([variance]))
        log_normaliser, new_mean, new_variance = (float(one[0]) for one in moments)
        log_evidence += log_normaliser
        precision = 1 / new_variance - 1 / variance
        gaussian.rank_one(j, precision, new_mean / new_variance - mean / variance)
    problem.refit(gaussian.pi.copy(), gaussian.nu.copy())  # one factorisation against rounding in the updates
    return problem.finish(log_evidence, "approximation", [-log_evidence], n_iter=1, converged=True)
