"""One site of logistic regression after the other, each by a rank-one update of the projections' covariance C:

    d = C_j,    C <- C - (d_pi / k) d d',    mean <- mean + ((d_nu - d_pi mean_j) / k) d,    k = 1 + d_pi C_jj

a sweep of :mod:`adaptive.inference.expectation_propagation` in one compiled loop.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from adaptive.potentials.logit_moments import ACCURACY, NODES, WEIGHTS, many

__all__ = ["logit_sequence"]

_FLAT = 1e-10  # cavity precision, in units of the marginal's, that stands for zero


def logit_sequence(
    covariance: np.ndarray,
    mean: np.ndarray,
    signs: np.ndarray,
    pi: np.ndarray,
    nu: np.ndarray,
    order: np.ndarray,
    damping: float = 1.0,
) -> tuple[np.ndarray, np.ndarray]:
    """Return the sites after each was moved once to where the marginal has the moments of its tilted distribution.

    Parameters
    ----------
    covariance : (m, m) array
        Of all projections, at the present sites.
    mean, pi, nu : (m,) arrays
        Their means, and the sites.
    signs : (m,) array of -1 and +1
    order : (m,) array of int
    damping : float, default 1.0
        Share of the new site.

    Examples
    --------
    >>> pi, nu = logit_sequence(np.eye(1), np.zeros(1), np.ones(1), np.zeros(1), np.zeros(1), np.arange(1))
    >>> pi.round(3), nu.round(3)
    (array([0.206]), array([0.498]))
    """
    pi, nu = np.array(pi, dtype=float), np.array(nu, dtype=float)
    signs = np.ascontiguousarray(np.broadcast_to(signs, pi.shape), dtype=float)
    joint, centre = np.array(covariance, dtype=float, order="C"), np.array(mean, dtype=float)
    _sweep(joint, centre, signs, pi, nu, np.asarray(order, dtype=np.int64), damping, NODES, WEIGHTS)
    return pi, nu


@njit(cache=True, nogil=True)
def _sweep(
    covariance: np.ndarray,
    mean: np.ndarray,
    signs: np.ndarray,
    pi: np.ndarray,
    nu: np.ndarray,
    order: np.ndarray,
    damping: float,
    nodes: np.ndarray,
    weights: np.ndarray,
) -> None:
    m = len(mean)
    moments, back, wide, column = np.empty((3, 1)), np.empty(1), np.empty(1), np.empty(m)
    for j in order:
        variance = covariance[j, j]
        if not variance > 0.0:
            continue
        cavity = 1.0 / variance - pi[j]
        if not cavity > -_FLAT / variance:
            continue
        cavity = max(cavity, _FLAT / variance)
        back[0] = signs[j] * (mean[j] - (nu[j] - pi[j] * mean[j]) / cavity)
        wide[0] = 1.0 / cavity
        many(back, wide, 1.0, nodes, weights, moments, ACCURACY)
        new_pi = max(1.0 / moments[2, 0] - cavity, 0.0)
        new_nu = signs[j] * (new_pi * moments[1, 0] + (moments[1, 0] - back[0]) * cavity)
        d_pi, d_nu = damping * (new_pi - pi[j]), damping * (new_nu - nu[j])
        scale = 1.0 + d_pi * variance
        if not (np.isfinite(d_pi) and np.isfinite(d_nu) and scale > 1e-8):
            continue
        step, shrink = (d_nu - d_pi * mean[j]) / scale, d_pi / scale
        for a in range(m):
            column[a] = covariance[j, a]
        for a in range(m):
            mean[a] += step * column[a]
            share = shrink * column[a]
            for b in range(m):
                covariance[a, b] -= share * column[b]
        pi[j] += d_pi
        nu[j] += d_nu
