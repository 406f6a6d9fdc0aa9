"""Entropy of y = s + noise for Gaussian s: H(y) = - int p log p, p the noise density convolved with the Gaussian.

H(y) - log scale depends on variance/scale^2 only and is smooth in its logarithm, so that many candidates are served by
one Chebyshev interpolant.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from adaptive.potentials.quadrature import panels, refine

if TYPE_CHECKING:
    from adaptive.potentials.location_family import LocationDensity

__all__ = ["convolution_entropy"]

_FEW = 24  # fewer distinct variances than this are integrated one by one


def convolution_entropy(potential: LocationDensity, variance: np.ndarray) -> np.ndarray:
    """Return H(y) for each variance; ``potential`` is at location 0 with at most one row per entry of the last axis."""
    if potential.size is None:
        return _of_one_density(potential, variance)
    entropy = np.empty(variance.shape)
    columns = np.stack(
        [np.broadcast_to(v, (potential.size,)) for k, v in potential.parameters.items() if k != "location"]
    )
    _, first, inverse = np.unique(columns, axis=1, return_index=True, return_inverse=True)
    for group, row in enumerate(first):
        rows = np.flatnonzero(inverse.ravel() == group)
        entropy[..., rows] = _of_one_density(potential[int(row)], variance[..., rows])
    return entropy


def _of_one_density(potential: LocationDensity, variance: np.ndarray) -> np.ndarray:
    distinct, inverse = np.unique(variance, return_inverse=True)
    if len(distinct) == 0:
        return np.zeros(variance.shape)
    scale = float(potential.spread)
    ratio = np.sqrt(distinct) / scale
    values = np.full(len(distinct), float(potential.entropy()))
    wide = ratio > 1e-5  # below, the Gaussian adds less than 1e-10 nats
    if 0 < wide.sum() <= _FEW:
        values[wide] = _by_quadrature(potential, ratio[wide] * scale)
    elif wide.any():
        low, high = np.log(ratio[wide].min()), np.log(ratio[wide].max())
        pieces = int(np.ceil((high - low) / 2.0)) or 1
        edges = np.linspace(low, high, pieces + 1)
        for a, b in pairwise(edges):
            inside = wide & (np.log(ratio) >= a - 1e-12) & (np.log(ratio) <= b + 1e-12)
            if inside.any():
                fit = np.polynomial.Chebyshev.interpolate(
                    lambda t: _by_quadrature(potential, np.exp(t) * scale), 16, domain=[a, max(b, a + 1e-9)]
                )
                values[inside] = fit(np.log(ratio[inside]))
    return values[inverse].reshape(variance.shape)


def _by_quadrature(potential: LocationDensity, sd: np.ndarray) -> np.ndarray:
    """- int p log p by adaptive quadrature of the even function on y > 0, y = reach sinh-spaced."""
    scale = float(potential.spread)
    unit = sd + scale

    def integrand(t: np.ndarray, owner: np.ndarray) -> np.ndarray:
        # y = unit sinh(t): heavy tails fall off exponentially in t
        y = unit[owner] * np.sinh(t)
        variance = np.broadcast_to(sd[owner] ** 2, y.shape)
        far = y > 1e4 * np.sqrt(variance) + 1e4 * scale
        first, second = potential.derivatives(y)
        log_p = potential.log_density(y) + np.log1p(np.where(far, 0.5 * variance * (second + first**2), 0.0))
        log_p[~far] = potential.tilted_moments(y[~far], variance[~far])[0]
        log_p = np.maximum(log_p, -700.0)  # exp underflows: 0 * log_p is zero
        return -2 * np.exp(log_p) * log_p * unit[owner] * np.cosh(t)

    edges = np.broadcast_to(np.array([0.0, 0.5, 1.0, 2.0, 4.0, potential.tail])[:, None], (6, len(sd)))
    owner, _, moments, _ = refine(integrand, *panels(edges), len(sd), tolerance=1e-10)
    return np.bincount(owner, moments[0], len(sd))
