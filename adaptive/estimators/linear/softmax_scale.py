"""Learn the prior scale of a softmax regression by Laplace's evidence, whose slope needs no further fit.

    ln Z(scale) = ln p(y, beta*) - ln|precision*| / 2,        beta* the mode, t = ln scale,
    d ln Z / dt = |w*|^2 / scale^2 - (weights that the rows determine) - sum_i tr(V_i dH_i / dt) / 2,

the last term because the mode moves by  d beta* / dt = 2 Cov w* / scale^2, and with it every row's curvature
H_i = diag(p_i) - p_i p_i'; V_i is the covariance of the row's scores.

*Why not the tilted bound.*  What a bound gives away grows with the prior's scale and with the number of classes, so its
maximum is at too small a scale: results/tables/multiclass-scale-rules.csv has both beside each other.
"""

from __future__ import annotations

import numpy as np
from scipy.special import softmax

from adaptive.inference.softmax.row_space import RowSpace
from adaptive.inference.softmax.softmax_posterior import SoftmaxPosterior
from adaptive.potentials.softmax import contrasts

__all__ = ["laplace_slope"]


def laplace_slope(
    space: RowSpace, posterior: SoftmaxPosterior, weights: np.ndarray | None = None
) -> tuple[float, float]:
    """Return the slope of Laplace's log evidence in ln scale, and how many weights the rows determine.

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
