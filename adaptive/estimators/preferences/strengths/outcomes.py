"""Outcome of a comparison, given the difference d of two strengths and the log-like width tau of a tie.

    P(+1 | d, t) = sigma(d - t),   P(-1 | d, t) = sigma(-d - t),   P(0 | d, t) = 1 - both,    t = ln(1 + e^tau)

after Rao and Kupper; without ties t = 0, and this is the model of Bradley and Terry. A judge who is right with
probability q says the winner, else the loser:

    p(y | d, t, q) = q P(y | d, t) + (1 - q) P(-y | d, t).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
from scipy.special import expit

__all__ = ["OUTCOMES", "OUTCOMES_WITHOUT_TIES", "Tilted", "chances", "tilted"]

OUTCOMES, OUTCOMES_WITHOUT_TIES = np.array([-1, 0, 1]), np.array([-1, 1])
_ACROSS = ((0.5, 8), (1.0, 12), (2.0, 20), (np.inf, 32))  # up to these deviations, nodes of d given tau
_ALONG = ((0.2, 4), (0.6, 7), (np.inf, 12))  # and of tau
_FEW = ((np.inf, 3),)
_AT_ONCE = 512  # factors


def chances(d: np.ndarray, tau: np.ndarray, ties: bool) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the probabilities of -1, 0 and +1, of the shape that d and tau have together."""
    if not ties:
        second = expit(-d)
        return second, np.zeros_like(second), expit(d)
    width = np.logaddexp(0.0, tau)
    first, second = expit(d - width), expit(-d - width)
    even = expit(d + width) * expit(width - d) * -np.expm1(-2.0 * width)
    return second, even, first


@dataclass(frozen=True)
class Tilted:
    """Gaussians N(mean, covariance) of (d, tau) times the probability of what was said.

    Attributes
    ----------
    right, wrong : (m,) arrays
        E P(y) and E P(-y) under the Gaussian.
    mean, covariance : (m, 2), (m, 2, 2) arrays
        Of the product, normalised.
    """

    right: np.ndarray
    wrong: np.ndarray
    mean: np.ndarray
    covariance: np.ndarray


def tilted(mean: np.ndarray, covariance: np.ndarray, y: np.ndarray, skill: np.ndarray, ties: bool) -> Tilted:
    """Moments by Gauss-Hermite quadrature.

    Parameters
    ----------
    mean, covariance : (m, 2), (m, 2, 2) arrays
        Of d and tau.
    y : (m,) array of -1, 0, +1
    skill : (m,) array
        Probability that who says it is right.
    ties : bool
        Whether there is a 0.
    """
    spread = np.sqrt(np.maximum(covariance[:, [0, 1], [0, 1]], 0.0))
    sizes = 100 * _sizes(spread[:, 0], _ACROSS) + _sizes(spread[:, 1], _ALONG if ties else _FEW)
    found = Tilted(np.empty(len(y)), np.empty(len(y)), np.empty((len(y), 2)), np.empty((len(y), 2, 2)))
    for size in np.unique(sizes).tolist():
        own = np.flatnonzero(sizes == size)
        for part in np.array_split(own, -(-len(own) // _AT_ONCE)):
            one = _tilted(mean[part], covariance[part], y[part], skill[part], ties, *divmod(size, 100))
            for name in ("right", "wrong", "mean", "covariance"):
                getattr(found, name)[part] = getattr(one, name)
    return found


def _sizes(spread: np.ndarray, table: tuple[tuple[float, int], ...]) -> np.ndarray:
    """Nodes for Gaussians of these deviations: the wider, the more."""
    return np.array([size for _, size in table])[np.searchsorted([limit for limit, _ in table], spread)]


def _tilted(
    mean: np.ndarray, covariance: np.ndarray, y: np.ndarray, skill: np.ndarray, ties: bool, n: int, n_along: int
) -> Tilted:
    along, across, weights = _nodes(n, n_along)
    spread = np.sqrt(covariance[:, 1, 1])
    slope = covariance[:, 0, 1] / spread
    rest = np.sqrt(np.maximum(covariance[:, 0, 0] - slope**2, 0.0))
    tau = mean[:, 1, None] + spread[:, None] * along
    d = mean[:, 0, None] + slope[:, None] * along + rest[:, None] * across
    below, even, above = chances(d, tau, ties)
    won, tied = (y > 0)[:, None], (y == 0)[:, None]
    right = np.where(tied, even, np.where(won, above, below))
    wrong = np.where(tied, even, np.where(won, below, above))
    q = skill[:, None]
    said = np.maximum(q * right + (1.0 - q) * wrong, np.finfo(float).tiny) * weights
    total = said.sum(axis=1)
    said /= total[:, None]
    # the moments of the standardised nodes: nothing is lost where the Gaussian is narrow
    first = np.stack([(said * across).sum(axis=1), (said * along).sum(axis=1)], axis=1)
    second = np.empty((len(y), 2, 2))
    second[:, 0, 0] = (said * across**2).sum(axis=1)
    second[:, 0, 1] = second[:, 1, 0] = (said * across * along).sum(axis=1)
    second[:, 1, 1] = (said * along**2).sum(axis=1)
    second -= first[:, :, None] * first[:, None, :]
    root = np.zeros((len(y), 2, 2))
    root[:, 0, 0], root[:, 0, 1], root[:, 1, 1] = rest, slope, spread
    return Tilted(
        right @ weights, wrong @ weights, mean + np.einsum("mij,mj->mi", root, first),
        root @ second @ root.transpose(0, 2, 1),
    )  # fmt: skip


@cache
def _nodes(n: int, n_along: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Standard normal nodes of tau and of d given tau, and their weights."""
    x, w = np.polynomial.hermite_e.hermegauss(n)
    z, v = np.polynomial.hermite_e.hermegauss(n_along)
    along, across = np.repeat(z, len(x)), np.tile(x, len(z))
    weights = np.outer(v / v.sum(), w / w.sum()).ravel()
    kept = weights > 1e-12
    return along[kept], across[kept], weights[kept] / weights[kept].sum()
