"""How the evidence of a linear model changes with the scale of the prior of its weights, without another fit.

At the fixed point of an engine only the explicit part is left, an average over the posterior,

    d ln Z / d ln scale = sum_j E[ d ln p(w_j | scale) / d ln scale ],

which is (E w_j^2 / scale^2 - 1) for a Gaussian prior.  A sparse prior is averaged over what the engine puts in its
place: a bound of width g_j gives (g_j / scale^2 - 1) for a Laplace prior, a tilted distribution (E |w_j| / scale - 1).
Both first sums are a weighted square of the mean less the number of weights that the data determine.  A Student t has
bounds whose heights are differenced.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from adaptive import inference
from adaptive.estimators.linear.settings import INTERCEPT_SCALE, Settings

__all__ = ["evidence_slope"]

STEP = 1e-4  # in ln scale, of tilted log normalisers, which are good to 1e-10


def evidence_slope(model: Any, posterior: Any, settings: Settings, scale: float, n_weights: int) -> tuple[float, float]:
    """Return d ln Z / d ln scale, and how many weights the data determine, a guess of its decrease with ln scale.

    Parameters
    ----------
    model : GLM
        Of likelihood rows, and with a sparse prior of the weights' potentials in its second group.
    posterior : Posterior
        Converged.
    settings : Settings
    scale : float
    n_weights : int
        The unknowns that have this prior; they come first.

    References
    ----------
    Rasmussen and Williams (2006), section 5.5; Nickisch (2010), section 3.4 for the bound.
    """
    if settings.prior == "gaussian":
        weights = posterior.mean[:n_weights]
        energy = float(weights @ weights) / scale**2
        if hasattr(posterior.gaussian, "prior_sensitivity"):
            change = 2.0 * np.asarray(model.prior_covariance)
            change[n_weights:] = 0.0  # the intercept keeps its scale
            slope = inference.evidence_gradient(model, posterior, change)
            return slope, energy - slope
        determined = _determined(model, posterior, n_weights)
        return energy - determined, determined
    first = posterior.group_lengths[0]
    site = slice(first, first + n_weights)
    precision, shift = posterior.sites[0][site], posterior.sites[1][site]
    if settings.prior == "student_t":
        low, high = (settings.weight_potential(scale * np.exp(0.5 * side * STEP)) for side in (-1, 1))
        slope = inference.potential_gradient(model, posterior, 1, low, high, STEP)
        return slope, _determined(model, posterior, n_weights)
    if posterior.engine == "variational_bounds":  # where bounds are tight, g_j = (m_j^2 + var_j) scale^2 / g_j
        determined = _determined(model, posterior, n_weights)
        return float(precision @ np.square(posterior.mean[:n_weights])) - determined, determined
    mean, variance = posterior.mean[:n_weights], posterior.variances()[:n_weights]
    cavity = 1.0 / variance - precision
    centre = (mean / variance - shift) / cavity
    logs = [
        settings.weight_potential(scale * np.exp(side)).tilted_moments(centre, 1.0 / cavity)[0]
        for side in (-STEP, STEP)
    ]
    return float(np.sum(logs[1] - logs[0])) / (2 * STEP), float(np.sum(1.0 - np.minimum(precision * variance, 1.0)))


def _determined(model: Any, posterior: Any, n_weights: int) -> float:
    """How much the data determine of the weights, n_weights - sum_j (prior precision)_j var(w_j), from 0 to n_weights.

    It is read from the rows, tr(V P) = n - sum_j precision_j var(s_j): sampled variances of the weights themselves
    would bring more noise than the few that are determined.
    """
    q = posterior.group_lengths[0]
    known = getattr(posterior, "variance_estimates", None)
    variance = posterior.variances(model.groups[0][0]) if known is None else known[:q]
    total = float(posterior.sites[0][:q] @ variance)
    if n_weights < model.n:
        last = np.eye(1, model.n, model.n - 1)
        total -= 1.0 - float(posterior.variances(last)[0]) / INTERCEPT_SCALE**2
    return total
