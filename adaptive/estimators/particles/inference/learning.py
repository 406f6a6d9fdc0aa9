"""One round of learning: reweight; where few particles would carry the weight, temper, resample and move.

    w_k  <-  w_k p(new answers | value_k),        log evidence  +=  log sum_k w_k p(new answers | value_k)

Every random number follows from the seed, the number of answers and the stage, so that nothing has to be carried over.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import logsumexp

from adaptive.estimators.particles.inference.cloud import Cloud, effective_sample_size, systematic
from adaptive.estimators.particles.inference.moves import covariance_root, liu_west, random_walk
from adaptive.estimators.particles.inference.tempering import longest_step

__all__ = ["FEW", "Problem", "learnt"]

FEW = 0.1  # share of the particles below which an answer is fitted in steps
LogDensity = Callable[[np.ndarray], np.ndarray]


@dataclass(frozen=True)
class Problem:
    """Three log densities of particles (n, d) -> (n,): prior, earlier answers, new answers."""

    prior: LogDensity
    earlier: LogDensity
    new: LogDensity

    def tempered(self, exponent: float) -> LogDensity:
        """prior x earlier x new^exponent; likelihoods are asked only where the prior allows."""

        def log_density(values: np.ndarray) -> np.ndarray:
            found = self.prior(values)
            at = np.flatnonzero(np.isfinite(found))
            if len(at):
                inside = values[at]
                found[at] += self.earlier(inside)
                if exponent > 0:
                    found[at] += exponent * self.new(inside)
            return found

        return log_density


def learnt(
    cloud: Cloud,
    problem: Problem,
    *,
    increments: np.ndarray,
    resample: float,
    move: str,
    seed: int,
    n_answers: int,
) -> Cloud:
    """Return the cloud after the new answers.

    Parameters
    ----------
    cloud : Cloud
    problem : Problem
    increments : (k,) array
        ``problem.new`` of the cloud's values, not all minus infinity.
    resample : float in [0, 1]
        Particles are resampled and moved where the effective sample size is below this share of them; 0: never.
    move : {"random_walk", "liu_west"}
    seed, n_answers : int
        Of the random numbers.
    """
    k, size = len(cloud), resample * len(cloud)
    done, stage = 0.0, 0
    while True:
        step = 1.0 - done
        after = effective_sample_size(cloud.log_weights + step * increments)
        if resample > 0 and after < FEW * k:
            step = longest_step(cloud.log_weights, increments, step, size)
        cloud = _reweighted(cloud, step * increments if step > 0 else np.zeros(k))
        done = 1.0 if step == 1.0 - done else done + step
        if resample == 0 or (done == 1.0 and cloud.effective_sample_size >= size):
            return replace(cloud, sizes=(*cloud.sizes, cloud.effective_sample_size))
        rng = np.random.default_rng([seed, n_answers, stage])
        cloud = _moved(cloud, problem, done, move, rng)
        if done == 1.0:
            return replace(cloud, sizes=(*cloud.sizes, cloud.effective_sample_size))
        increments, stage = problem.new(cloud.values), stage + 1


def _reweighted(cloud: Cloud, increments: np.ndarray) -> Cloud:
    log_weights = cloud.log_weights + increments
    total = float(logsumexp(log_weights))
    return replace(cloud, log_weights=log_weights - total, log_evidence=cloud.log_evidence + total)


def _moved(cloud: Cloud, problem: Problem, exponent: float, move: str, rng: np.random.Generator) -> Cloud:
    k = len(cloud)
    root = covariance_root(cloud.values, cloud.weights)
    values = cloud.values[systematic(cloud.weights, k, rng.random())]
    if move == "random_walk":
        values, acceptance = random_walk(values, problem.tempered(exponent), root, rng)
    else:
        values, acceptance = liu_west(values, problem.prior, root, rng)
    return replace(
        cloud,
        values=values,
        log_weights=np.full(k, -np.log(k)),
        evidence_variance=cloud.evidence_variance + max(1.0 / cloud.effective_sample_size - 1.0 / k, 0.0),
        n_moves=cloud.n_moves + 1,
        acceptance=acceptance,
    )
