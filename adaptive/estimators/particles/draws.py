"""Outcomes as the model draws them, for parameters that are taken to be true."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from adaptive.estimators.particles.discrete import listed, outcome_table
from adaptive.estimators.particles.inference.cloud import Cloud

__all__ = ["simulated"]

if TYPE_CHECKING:
    from adaptive.estimators.particles.settings import CloudSettings


def simulated(settings: CloudSettings, values: np.ndarray, X: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return outcomes (n, m), or (n, m, c), of parameters (n, d) at settings X (m, f).

    Parameters
    ----------
    settings : of a particle estimator
        With a model and its noise, or outcomes that are listed or lie in an interval.
    """
    stated: Any = settings
    if hasattr(stated, "simulator"):
        drawn = [stated.simulator.outcomes(values, x, rng) for x in X]
        return np.stack(drawn, axis=1)
    if stated.model is not None:
        means, deviations = stated.likelihood.moments(values, X)
        drawn = means + deviations * rng.standard_normal(means.shape)
        return drawn[:, :, 0] if drawn.shape[2] == 1 else drawn
    cloud = Cloud(stated.stated_prior.names, values, np.full(len(values), -np.log(len(values))))
    outcomes, width = listed(stated)
    below = np.cumsum(outcome_table(stated, cloud, X), axis=2)
    chosen = (below < rng.random((len(values), len(X), 1)) * below[:, :, -1:]).sum(axis=2)
    found = outcomes[chosen]
    if stated.interval is not None:
        found = found + width * (rng.random(found.shape) - 0.5)
    return found
