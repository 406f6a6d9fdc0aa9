"""Slope of the evidence of a linear model in the scale of the prior of its weights, without another fit.

At the fixed point of an engine only the explicit part is left, an average over the posterior,

    d ln Z / d ln scale = sum_j E[ d ln p(w_j | scale) / d ln scale ],

which is (E w_j^2 / scale^2 - 1) for a Gaussian prior.  A sparse prior is averaged over what the engine puts in its
place: a bound of width g_j gives (g_j / scale^2 - 1) for a Laplace prior, a tilted distribution (E |w_j| / scale - 1).
Both first sums are a weighted square of the mean less the number of weights that the data determine.  A Student t has
bounds whose heights are differenced.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.special import softmax

from adaptive.gaussians import FactorisedForm
from adaptive.inference.evidence.evidence_gradient import evidence_gradient
from adaptive.inference.evidence.potential_gradient import potential_gradient
from adaptive.inference.matrix_free.large_posterior import LargePosterior
from adaptive.inference.model import GLM
from adaptive.inference.posterior import Posterior
from adaptive.inference.softmax.row_space import RowSpace
from adaptive.inference.softmax.softmax_posterior import SoftmaxPosterior
from adaptive.potentials import Potential
from adaptive.potentials.softmax import contrasts

__all__ = ["laplace_slope", "weight_scale_slope"]

STEP = 1e-4  # in ln scale, of tilted log normalisers, which are good to 1e-10


def weight_scale_slope(
    model: GLM,
    posterior: Posterior,
    scale: float,
    n_weights: int,
    *,
    potential: Callable[[float], Potential] | None = None,
    intercept_variance: float = 1.0,
) -> tuple[float, float]:
    """Return d ln Z / d ln scale, and how many weights the data determine, a guess of its decrease with ln scale.

    Parameters
    ----------
    model : GLM
        Of likelihood rows, and with a sparse prior of the weights' potentials in its second group.
    posterior : Posterior
        Converged.
    scale : float
    n_weights : int
        The unknowns that have this prior; they come first.
    potential : callable (scale) -> Potential, optional
        The sparse prior of a weight; None: it is Gaussian.
    intercept_variance : float
        Prior variance of the one unknown that may come after the weights.

    References
    ----------
    Rasmussen and Williams (2006), section 5.5; Nickisch (2010), section 3.4 for the bound.
    """
    if potential is None:
        weights = posterior.mean[:n_weights]
        energy = float(weights @ weights) / scale**2
        if isinstance(posterior.gaussian, FactorisedForm):
            change = 2.0 * np.asarray(model.prior_covariance)
            change[n_weights:] = 0.0  # the intercept keeps its scale
            slope = evidence_gradient(model, posterior, change)
            return slope, energy - slope
        determined = _determined(model, posterior, n_weights, intercept_variance)
        return energy - determined, determined
    first = posterior.group_lengths[0]
    site = slice(first, first + n_weights)
    precision, shift = posterior.sites[0][site], posterior.sites[1][site]
    if not potential(scale).log_concave:
        low, high = (potential(scale * np.exp(0.5 * side * STEP)) for side in (-1, 1))
        slope = potential_gradient(model, posterior, 1, low, high, STEP)
        return slope, _determined(model, posterior, n_weights, intercept_variance)
    if posterior.engine == "variational_bounds":  # where bounds are tight, g_j = (m_j^2 + var_j) scale^2 / g_j
        determined = _determined(model, posterior, n_weights, intercept_variance)
        return float(precision @ np.square(posterior.mean[:n_weights])) - determined, determined
    mean, variance = posterior.mean[:n_weights], posterior.variances()[:n_weights]
    cavity = 1.0 / variance - precision
    centre = (mean / variance - shift) / cavity
    logs = [potential(scale * np.exp(side)).tilted_moments(centre, 1.0 / cavity)[0] for side in (-STEP, STEP)]
    return float(np.sum(logs[1] - logs[0])) / (2 * STEP), float(np.sum(1.0 - np.minimum(precision * variance, 1.0)))


def _determined(model: GLM, posterior: Posterior, n_weights: int, intercept_variance: float) -> float:
    """Weights that the data determine, n_weights - sum_j (prior precision)_j var(w_j), from 0 to n_weights.

    It is read from the rows, tr(V P) = n - sum_j precision_j var(s_j): sampled variances of the weights themselves
    would bring more noise than the few that are determined.
    """
    q = posterior.group_lengths[0]
    known = posterior.variance_estimates if isinstance(posterior, LargePosterior) else None
    variance = posterior.variances(model.groups[0][0]) if known is None else known[:q]
    total = float(posterior.sites[0][:q] @ variance)
    if n_weights < model.n:
        last = np.eye(1, model.n, model.n - 1)
        total -= 1.0 - float(posterior.variances(last)[0]) / intercept_variance
    return total


def laplace_slope(
    space: RowSpace, posterior: SoftmaxPosterior, weights: np.ndarray | None = None
) -> tuple[float, float]:
    """Return the slope of the log evidence of a softmax regression by Laplace's method, and how many weights it knows.

        ln Z(scale) = ln p(y, beta*) - ln|precision*| / 2,        beta* the mode, t = ln scale,
        d ln Z / dt = |w*|^2 / scale^2 - (weights that the rows determine) - sum_i tr(V_i dH_i / dt) / 2,

    the last term because the mode moves by  d beta* / dt = 2 Cov w* / scale^2, and with it every row's curvature
    H_i = diag(p_i) - p_i p_i'; V_i is the covariance of the row's scores. What the tilted bound gives away grows with
    the scale and with the number of classes, so its maximum is at too small a scale
    (results/tables/multiclass-scale-rules.csv).

    Parameters
    ----------
    space : RowSpace
    posterior : SoftmaxPosterior
        By "laplace_approximation", converged.
    weights : (m,) array, optional
        Of the rows.

    References
    ----------
    Rasmussen and Williams (2006), section 5.5.1, equations 5.22 to 5.24, there for two classes.
    """
    k = len(posterior.weights)
    energy, determined = float(posterior.mean @ posterior.mean), posterior.determined
    push = 2.0 * posterior.weights
    if space.intercept_scale:  # it keeps its scale
        origin = space.rows[:1] * 0.0  # there every score is its intercept
        at_origin = space.coordinates(origin)
        bias, covariance = posterior.moments(at_origin)
        variance = float(np.trace(covariance[0])) + k * float(space.remainder_variance(origin)[0])
        energy -= float(bias[0] @ bias[0]) / space.intercept_scale**2
        determined -= k - variance / space.intercept_scale**2
        push -= 2.0 * bias[0][:, None] * at_origin / space.intercept_scale**2
    basis = contrasts(k + 1)
    mean, covariance = posterior.of_rows
    p = softmax(mean @ basis.T, axis=1)
    moved = posterior.features @ posterior.covariance_times(push).T @ basis.T
    change = p * (moved - np.sum(p * moved, axis=1, keepdims=True))
    scores = basis @ covariance @ basis.T
    traces = np.einsum("ik,ikk->i", change, scores) - 2.0 * np.einsum("ik,ikl,il->i", change, scores, p)
    sharper = float(traces.sum() if weights is None else weights @ traces)
    return energy - determined - 0.5 * sharper, max(determined, 0.0)
