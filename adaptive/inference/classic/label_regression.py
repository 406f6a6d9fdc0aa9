"""Label regression: labels -1 and +1 read as measurements with Gaussian noise, pi = 1 / noise^2, nu = y / noise^2.

Few errors, poor probabilities: nothing here knows what a probability is. Use expectation_propagation.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.optimize import minimize_scalar

from adaptive.checks import positive
from adaptive.gaussians.gaussian_part import LOG_2PI
from adaptive.inference.dense.jensen import jensen_bound
from adaptive.inference.dense.problem import DenseProblem
from adaptive.inference.model import GLM
from adaptive.inference.posterior import Posterior
from adaptive.potentials import BernoulliLogit, BernoulliProbit

if TYPE_CHECKING:
    from adaptive.types import RandomState

__all__ = ["label_regression"]

_SEARCHED = (0.5, 2.0)  # noise standard deviations


def label_regression(
    model: GLM,
    *,
    noise_sd: float | None = None,
    max_iter: int = 100,
    tol: float = 1e-4,
    random_state: RandomState = None,
    warm_start: Posterior | None = None,
    form: str | None = None,
) -> Posterior:
    """Gaussian process regression on the labels, read as a posterior of the classification model.

    Parameters
    ----------
    model : GLM
        All potentials Bernoulli.
    noise_sd : float, optional
        Of the labels; None: the one in [0.5, 2] with the highest regression evidence.
    max_iter, tol : int and float
        Of that search.
    random_state, warm_start : ignored
        Every engine takes them.
    form : {"precision", "covariance"}, optional

    Returns
    -------
    Posterior
        ``log_evidence`` is Jensen's bound for the classification model at this Gaussian ("lower_bound").

    Raises
    ------
    ValueError
        If some potential is not Bernoulli.

    References
    ----------
    Nickisch and Rasmussen (2008), section 4.6; Nickisch (2010), section 4.8.

    Examples
    --------
    >>> from adaptive.inference import GLM
    >>> from adaptive.potentials import BernoulliLogit
    >>> model = GLM(potentials=BernoulliLogit([1, -1]), prior_covariance=[[4.0, 1.0], [1.0, 4.0]])
    >>> label_regression(model, noise_sd=1.0).mean
    array([ 0.75, -0.75])
    """
    problem = DenseProblem(model, "label_regression", None, form, force=True)
    potentials = [potential for _, potential in model.groups]
    if not potentials or not all(isinstance(one, (BernoulliLogit, BernoulliProbit)) for one in potentials):
        names = sorted({one.name for one in potentials})
        raise ValueError(
            f"label_regression accepts Bernoulli potentials only, got {names or 'none'}; use expectation_propagation."
        )
    groups = problem.matrices.active_groups()
    y = np.concatenate([np.broadcast_to(p.parameters["y"], (length,)) for p, length in groups]).astype(float)

    def refit(log_sd: float) -> float:
        precision = np.exp(-2.0 * log_sd)
        problem.refit(np.full(problem.size, precision), precision * y)
        gap = y - problem.gaussian.projections
        constant = problem.size * (log_sd + 0.5 * LOG_2PI)
        return float(problem.gaussian.log_volume - 0.5 * precision * gap @ gap - constant)

    n_iter, converged = 0, True
    if noise_sd is None:
        found: Any = minimize_scalar(
            lambda x: -refit(x), bounds=np.log(_SEARCHED), method="bounded", options={"maxiter": max_iter, "xatol": tol}
        )
        log_sd, n_iter, converged = float(found.x), int(found.nfev), bool(found.success)
    else:
        log_sd = float(np.log(positive("noise_sd", noise_sd)))
    refit(log_sd)
    mean, variance = problem.gaussian.marginals()
    jensen = jensen_bound(problem.gaussian, variance, problem.potential.expectation(mean, variance))
    return problem.finish(jensen, "lower_bound", [-jensen], n_iter=n_iter, converged=converged)
