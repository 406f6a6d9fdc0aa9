"""Bounds on the information of single settings, for the posterior that the particles are draws of.

    lower  =  E log p(y | value) / sum_k w_k p(y | value_k)              the particle that y comes from among them
    upper  =  E log p(y | value) / sum_{k not it} w_k p(y | value_k) / (1 - w)

In the mean over clouds of independent draws the first is at most the information and the second at least (Foster,
Jankowiak, O'Meara, Teh, Rainforth, 2020, A unified stochastic gradient approach to designing Bayesian-optimal
experiments: prior contrastive estimation, nested Monte Carlo).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.special import rel_entr

from adaptive.estimators.particles.continuous import GaussianParticles
from adaptive.estimators.particles.counts import CountParticles
from adaptive.estimators.particles.discrete import DiscreteParticles
from adaptive.estimators.particles.inference.compiled import log_mixture

if TYPE_CHECKING:
    from adaptive.estimators.particles.predictive import ParticlePredictive

__all__ = ["Bounds", "information_bounds", "nested_bounds"]

N_DRAWS = 1024


class Bounds(NamedTuple):
    """Bounds (m,) in nats, and their standard errors by the outcomes drawn (0 where these are enumerated)."""

    lower: np.ndarray
    upper: np.ndarray
    lower_error: np.ndarray
    upper_error: np.ndarray


def information_bounds(predictive: ParticlePredictive) -> Bounds:
    """Return bounds on the information of every candidate of a predictive about all parameters."""
    if isinstance(predictive, DiscreteParticles):
        found = predictive.blockwise(lambda draws: _enumerated(predictive.weights, draws.draws()[1]))
    elif isinstance(predictive, CountParticles):
        found = predictive.bounds()
    else:
        assert isinstance(predictive, GaussianParticles)
        gaussian = predictive
        found = predictive.blockwise(lambda kept: _drawn(gaussian, kept))
    return Bounds(*found.T)


def _enumerated(weights: np.ndarray, table: np.ndarray) -> np.ndarray:
    """(m, 4) bounds from p(outcome | particle) (k, m, c), by enumeration."""
    mean = np.tensordot(weights, table, axes=1)
    others = np.maximum(mean - weights[:, None, None] * table, 0.0) / (1.0 - weights[:, None, None])
    lower = np.tensordot(weights, rel_entr(table, mean).sum(axis=2), axes=1)
    upper = np.tensordot(weights, rel_entr(table, others).sum(axis=2), axes=1)
    return np.column_stack([lower, upper, np.zeros((len(lower), 2))])


def _drawn(predictive: GaussianParticles, kept: tuple[np.ndarray, np.ndarray]) -> np.ndarray:
    """(b, 4) bounds from outcomes drawn, stratified in the particles."""
    means, spread = kept[0], np.broadcast_to(kept[1], kept[0].shape)
    weights = predictive.weights
    with np.errstate(divide="ignore"):
        log_weights = np.log(weights)
    found = np.empty((means.shape[1], 4))
    for j in range(means.shape[1]):
        points, chosen = predictive.strata(weights, means[:, j], spread[:, j], N_DRAWS)
        own = predictive.log_noise(points, means[chosen, j], spread[chosen, j])
        together = log_mixture(points, log_weights, means[:, j], spread[:, j])
        share = np.minimum(np.exp(own + log_weights[chosen] - together), 1.0 - 1e-15)
        lower = own - together
        upper = lower - np.log1p(-share) + np.log1p(-weights[chosen])
        each = [lower.mean(), upper.mean(), lower.std(ddof=1), upper.std(ddof=1)]
        found[j] = np.array(each) / [1.0, 1.0, *[np.sqrt(len(points))] * 2]
    return found


def nested_bounds(log_density: np.ndarray, cells: np.ndarray | None = None) -> tuple[float, float, float, float]:
    """Return lower bound, upper bound and their standard errors from log p(y_j | particle_i), (N, N).

        own_j  =  log p(y_j | target_j)             the mean density over particles that share j's target
        all_j  =  log 1/N sum_i p(y_j | particle_i)
        lower  =  mean (own - all),  j itself counted in all;      upper  the same, j itself left out of all

    In expectation the information lies between the two, for densities that are known; where several particles share a
    target j itself is left out of the lower own and counted in the upper one, for the same reason.

    Parameters
    ----------
    log_density : (N, N) array
        Row i: given particle i; column j: the outcome that was drawn given particle j.
    cells : (N,) array of int, optional
        Particles of one cell share their target; None: each has its own.

    Examples
    --------
    Two certain outcomes of two particles: log 2 nats, of which nested draws cannot show more with N = 4.

    >>> which = np.array([0, 0, 1, 1])
    >>> table = np.where(which[:, None] == which, 0.0, -np.inf)
    >>> [round(value, 3) for value in nested_bounds(table)[:2]]
    [0.693, 1.099]
    """
    n = len(log_density)
    highest = log_density.max(axis=0)
    scaled = np.exp(log_density - highest)
    own, others = np.diagonal(scaled).copy(), scaled.copy()
    np.fill_diagonal(others, 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        everything, without = np.log(scaled.mean(axis=0)), np.log(others.sum(axis=0) / (n - 1))
        if cells is None:
            low, high = np.log(own) - everything, np.log(own) - without
        else:
            together = cells[:, None] == cells
            sizes = together.sum(axis=0)
            shared = (others * together).sum(axis=0)
            low = np.log(np.where(sizes > 1, shared / np.maximum(sizes - 1, 1), own)) - everything
            high = np.log((shared + own) / sizes) - without
    # an outcome that no other particle can give tells as much as n draws can show
    high = np.where(np.isfinite(high), high, np.log(n))
    low = np.where(np.isfinite(low), low, 0.0)
    return float(low.mean()), float(high.mean()), float(low.std() / np.sqrt(n)), float(high.std() / np.sqrt(n))
