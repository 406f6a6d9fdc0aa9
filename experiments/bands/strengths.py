"""Differences of strengths of items that were compared in pairs, drawn at random or chosen for the order of all."""

from __future__ import annotations

import itertools
import time

import numpy as np
from scipy.special import expit

from adaptive import BradleyTerry
from experiments.bands.shares import gaussians, result

__all__ = ["differences"]

ITEMS, BATCH = 10, 5


def differences(design: str, n: int, unit: int) -> dict[str, np.ndarray]:
    """Bands of all differences, after n comparisons; scale, ties and a place that is ahead are drawn, too."""
    rng = np.random.default_rng([unit, 41])
    scale, width, ahead = rng.uniform(0.5, 2.5), rng.uniform(0.1, 1.0), rng.normal(0.0, 0.3)
    truth, pairs = scale * rng.standard_normal(ITEMS), np.array(list(itertools.permutations(range(ITEMS), 2)))
    model, seconds = BradleyTerry(np.arange(ITEMS)), 0.0
    for step in range(n // BATCH):
        begun = time.process_time()
        if design == "designed":
            batch = pairs[model.select(pairs, BATCH, target="order", joint=False, random_state=step)]
        else:
            batch = pairs[rng.choice(len(pairs), BATCH, replace=False)]
        seconds += time.process_time() - begun
        gap, u = truth[batch[:, 0]] - truth[batch[:, 1]] + ahead, rng.random(BATCH)
        won, lost = expit(gap - width), expit(-gap - width)
        outcomes = np.where(u < won, 1, np.where(u < won + lost, -1, 0))
        begun = time.process_time()
        model.partial_fit(batch, outcomes)
        seconds += time.process_time() - begun
    mean, covariance = model.strengths()
    a, b = np.array(list(itertools.combinations(range(ITEMS), 2))).T
    variance = covariance[a, a] + covariance[b, b] - 2.0 * covariance[a, b]
    return result(*gaussians(np.ones(1), (mean[a] - mean[b])[None], variance[None], truth[a] - truth[b]), seconds)
