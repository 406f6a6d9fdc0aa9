"""Updates that an outcome is expected to make of a mixture of Gaussians, and of the target of its components.

Component k believes s ~ N(m_k, v_k), and of the target the mean mu_k and the covariance c_k with s. Once y is known

    w_k(y) = w_k p_k(y) / p(y)          m_k(y) = E_k(s | y)          mu_k(y) = mu_k + c_k (m_k(y) - m_k) / v_k
    mu(y)  = sum_k w_k(y) mu_k(y)       E Cov(target | y) = Cov(target) - sum_y p(y) (mu(y) - mu) (mu(y) - mu)'

by the law of total covariance. That is exact for Gaussian outcomes, over which a trapezoidal rule goes, and within each
component one step of moment matching for others.

mu(y) - mu is a combination of 2 k vectors, mu_k - mu and c_k / v_k, whatever the number of outcomes: only the second
moments of its coefficients are averaged over these.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from adaptive.predictive.conditional_variance import is_gaussian, noise_variance, representatives, standing_for
from adaptive.predictive.joint_gaussian import root_of

if TYPE_CHECKING:
    from adaptive.potentials.base import Potential
    from adaptive.predictive.base import Predictive
    from adaptive.predictive.mixture import Mixture
    from adaptive.types import Index

__all__ = ["expected_variance", "target_shifts"]

_REACH = 8.0  # standard deviations to which densities are integrated
_PER_DEVIATION = 4  # grid points per standard deviation of the narrowest component
_MOST_POINTS = 4096
_NUMBERS = 2**21  # of the tables of a block of candidates


class Updates(NamedTuple):
    """Updates of b candidates by c outcomes each.

    Attributes
    ----------
    at : (b,) array
        Positions of the candidates.
    probabilities : (b, c) array
        Of the outcomes.
    weights : (k, b, c) array
        Of the components, after each.
    steps : (k, b, c) array
        Of the means of the components' projections, by each.
    """

    at: np.ndarray
    probabilities: np.ndarray
    weights: np.ndarray
    steps: np.ndarray


def expected_variance(mixture: Mixture) -> np.ndarray:
    """Return E Var(s | y) (m,)."""
    left = np.array(mixture.variance)
    for found in _updates(mixture, np.arange(len(mixture))):
        apart = np.stack([part.mean[found.at] for part in mixture.predictives]) - mixture.mean[found.at]
        steps = (found.weights * (found.steps + apart[:, :, None])).sum(axis=0)
        left[found.at] -= (found.probabilities * steps**2).sum(axis=1)
    return np.maximum(left, 0.0)


def target_shifts(mixture: Mixture, i: Index) -> np.ndarray:
    """Return S (len i, r, t) with  Cov(target) - E Cov(target | y) = S' S;  of two outcomes r is 1."""
    at = np.arange(len(mixture))[i]
    roots = np.concatenate([_root(found) for found in _updates(mixture, at)])
    shifts: np.ndarray | float = 0.0
    for k, part in enumerate(mixture.predictives):
        variance = part.variance[at]
        slopes = part.target_block(at) / np.where(variance > 0, variance, 1.0)[:, None]
        shifts = shifts + roots[:, :, k, None] * (part.target_mean - mixture.target_mean)
        shifts = shifts + roots[:, :, len(mixture.predictives) + k, None] * slopes[:, None, :]
    return np.asarray(shifts)


def _root(found: Updates) -> np.ndarray:
    """Return roots (b, r, 2 k) of the second moments of the coefficients: the weights, and the weighted steps."""
    factors = np.concatenate([found.weights, found.weights * found.steps]).transpose(1, 2, 0)
    p = found.probabilities
    if p.shape[1] == 2:  # what the two outcomes do adds up to nothing
        return np.sqrt(p[:, :1, None] * p[:, 1:, None]) * (factors[:, 1:] - factors[:, :1])
    moments = np.einsum("bc,bcj,bck->bjk", p, factors, factors)
    return root_of(moments).transpose(0, 2, 1)


def _updates(mixture: Mixture, at: np.ndarray) -> Iterator[Updates]:
    n_points = _n_points(mixture)
    step = max(1, _NUMBERS // (n_points * len(mixture.predictives)))
    for start in range(0, len(at), step):
        yield _updates_of(mixture, at[start : start + step], n_points)


def _updates_of(mixture: Mixture, at: np.ndarray, n_points: int) -> Updates:
    parts = mixture.predictives
    outcomes, probabilities = _outcomes(mixture, at, n_points)
    logs, means = zip(*(_tilted(part, at, outcomes) for part in parts), strict=True)
    likely = mixture.weights[:, None, None] * np.exp(np.stack(logs) - np.max(logs, axis=0))
    density = likely.sum(axis=0)
    if not probabilities.size:  # outcomes at equal distances: their probabilities are their densities
        density = density * np.exp(np.max(logs, axis=0))
        probabilities = density / density.sum(axis=1, keepdims=True)
    steps = np.stack(means) - np.stack([part.mean[at] for part in parts])[:, :, None]
    return Updates(at, probabilities, likely / likely.sum(axis=0), steps)


def _n_points(mixture: Mixture) -> int:
    """Return of how many Gaussian outcomes a grid is fine enough for the narrowest component, or that of others."""
    if not all(is_gaussian(part.likelihood) for part in mixture.predictives):
        return 64 * len(mixture.predictives)
    low, high, narrowest = _range(mixture, np.arange(len(mixture)))
    return 2 + int(min(_PER_DEVIATION * float(np.max((high - low) / narrowest, initial=0.0)), _MOST_POINTS))


def _range(mixture: Mixture, at: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the ends of all Gaussian outcomes of candidates, and their smallest standard deviation."""
    families = [_family(part, at) for part in mixture.predictives]
    means = np.stack([part.mean[at] for part in mixture.predictives])
    deviations = np.sqrt(
        np.stack([p.variance[at] + noise_variance(f) for p, f in zip(mixture.predictives, families, strict=True)])
    )
    reach = _REACH * deviations
    return (means - reach).min(axis=0), (means + reach).max(axis=0), deviations.min(axis=0)


def _outcomes(mixture: Mixture, at: np.ndarray, n_points: int) -> tuple[np.ndarray, np.ndarray]:
    """Return outcomes (b, c) that stand for all, and their probabilities (b, c); none for a grid of Gaussian ones."""
    families = [_family(part, at) for part in mixture.predictives]
    if all(family.discrete for family in families):
        outcomes, probabilities = standing_for(mixture.outcomes, mixture.probabilities[at])
        return outcomes, probabilities / probabilities.sum(axis=1, keepdims=True)
    if all(is_gaussian(family) for family in families):
        low, high, _ = _range(mixture, at)
        return low[:, None] + np.multiply.outer(high - low, np.linspace(0.0, 1.0, n_points)), np.empty((0, 0))
    values, shares = [], []
    for (weight, part), family in zip(mixture.components, families, strict=True):
        found = representatives(family, part.mean[at], part.variance[at], mixture.seed)
        values.append(found[0])
        shares.append(weight * found[1])
    return np.hstack(values), np.hstack(shares)


def _family(part: Predictive, at: np.ndarray) -> Potential:
    return part.likelihood if part.likelihood.size is None else part.likelihood[at]


def _tilted(part: Predictive, at: np.ndarray, outcomes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return log p(y) and E(s | y), (b, c), of one component."""
    mean, variance = (np.repeat(moment[at], outcomes.shape[1]) for moment in (part.mean, part.variance))
    owner = np.repeat(np.arange(len(at)), outcomes.shape[1])
    family = _family(part, at)
    factors = (family if family.size is None else family[owner]).observe(outcomes.ravel())
    log, after, _ = factors.tilted_moments(mean, np.where(variance > 0, variance, 1.0))
    known = variance <= 0
    if known.any():
        log, after = np.where(known, factors.log_density(mean), log), np.where(known, mean, after)
    return log.reshape(outcomes.shape), after.reshape(outcomes.shape)
