"""Expansion of p(y | m + sd z), z ~ N(0, 1), in normalised Hermite polynomials, by which joint probabilities of pairs
follow.

    f_k(y) = E[ p(y | m + sd z) h_k(z) ],        E h_k h_l = [k = l]
    E p(y | s) p(y* | s*) = sum_k rho^k f_k(y) f*_k(y*)        for correlation rho of s and s*  (Mehler)

Cut off after K terms the error is at most rho^K times the root of the product of what is left of E p^2 on both sides.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from adaptive.predictive.quadrature import grid_of, normal_grid

if TYPE_CHECKING:
    from adaptive.potentials.base import Potential  # house: a type only

__all__ = ["coefficients", "outcome_nodes", "reach_of_terms"]

_MAX_TERMS = 96
_TOLERANCE = 1e-12


def hermite_polynomials(z: np.ndarray, n: int) -> np.ndarray:
    """Return h_0 .. h_{n-1} at z, (n, len z).

    Examples
    --------
    >>> nodes, weights = normal_grid(1.0)
    >>> h = hermite_polynomials(nodes, 3)
    >>> np.allclose((h * weights) @ h.T, np.eye(3))
    True
    """
    h = np.empty((n, len(z)))
    h[0] = 1.0
    if n > 1:
        h[1] = z
    for k in range(1, n - 1):
        h[k + 1] = (z * h[k] - np.sqrt(k) * h[k - 1]) / np.sqrt(k + 1)
    return h


@lru_cache(maxsize=16)
def _weighted_polynomials(count: int) -> np.ndarray:
    """Return the polynomials at the nodes of a grid times its weights, (96, count): longer to make than to use."""
    nodes, weights = grid_of(count)
    table = hermite_polynomials(nodes, _MAX_TERMS) * weights
    table.flags.writeable = False
    return table


def coefficients(
    likelihood: Potential, outcomes: np.ndarray, widths: np.ndarray, mean: np.ndarray, variance: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return f (k, m, c) for k < 96, and the part of E p^2 that terms k, k + 1, ... hold at most (k,).

    Parameters
    ----------
    likelihood : discrete likelihood family
    outcomes, widths : (c,) arrays
        Outcomes, and for how many each stands; see `outcome_nodes`.
    mean, variance : (m,) arrays
    """
    deviation = np.sqrt(np.maximum(variance, 0.0))
    nodes, weights = normal_grid(1.5 * float(deviation.max(initial=0.0)))  # so fine that no chunk sees its error
    weighted = _weighted_polynomials(len(nodes))
    projections = mean + np.multiply.outer(nodes, deviation)
    f = np.empty((_MAX_TERMS, len(mean), len(outcomes)))
    tails = np.zeros(_MAX_TERMS)
    left = np.ones_like(projections) if likelihood.outcomes is not None else None
    for c, (outcome, width) in enumerate(zip(outcomes, widths, strict=True)):
        if left is not None and c == len(outcomes) - 1:  # the last of a few outcomes is what the others leave
            values = left
            f[:, :, c] = weighted.sum(axis=1)[:, None] - f[:, :, :c].sum(axis=2)
        else:
            values = width * np.exp(likelihood.log_density(projections, outcome))
            f[:, :, c] = weighted @ values
            if left is not None:
                left -= values
        energy = weights @ values**2
        rest = np.maximum(energy - np.cumsum(f[:, :, c] ** 2, axis=0), 0.0).max(axis=1, initial=0.0)
        tails = np.maximum(tails, np.concatenate([[energy.max(initial=0.0)], rest[:-1]]))
    return f, tails


def outcome_nodes(likelihood: Potential, mean: np.ndarray, variance: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return outcomes (c,) and for how many each stands (c,), such that sums over outcomes are weighted sums over
    these.

    A few outcomes stand for themselves.  The probability of a count y varies on the scale of sqrt(y), so that beyond
    the first counts every 3rd, 5th, ... is enough: the midpoint rule with steps below 0.7 sqrt(y).
    """
    if likelihood.outcomes is not None:
        return np.asarray(likelihood.outcomes), np.ones(len(likelihood.outcomes))
    widest = int(np.argmax(mean + 7 * np.sqrt(np.maximum(variance, 0.0))))
    one = slice(widest, widest + 1)
    if likelihood.size is not None:  # each candidate has its own: all of them are asked
        one = slice(None)
    last = likelihood.outcome_probabilities(mean[one], variance[one])[0][-1]
    counts, widths, start = [], [], 0
    while start <= last:
        half = int(0.1 * np.sqrt(start))
        counts.append(start + half)
        widths.append(2 * half + 1)
        start += 2 * half + 1
    return np.array(counts), np.array(widths, dtype=float)


def reach_of_terms(tails: np.ndarray, other_tails: np.ndarray) -> np.ndarray:
    """Return the largest correlation at which 0, 1, ... terms keep the error of a joint probability below 1e-12.

    It grows with the number of terms; after the last one it is 1.
    """
    k = np.arange(1, len(tails))
    with np.errstate(divide="ignore"):
        reach = np.exp(np.minimum((np.log(_TOLERANCE) - 0.5 * np.log(tails[1:] * other_tails[1:])) / k, 0.0))
    return np.concatenate([[0.0], np.maximum.accumulate(reach), [1.0]])
