"""Learning an answer in steps where all of it at once would leave few particles.

    prior x earlier answers x (new answers)^b,        0 = b_0 < b_1 < ... = 1,

each step the longest one after which the effective sample size is what it shall be (Neal, 2001, Annealed importance
sampling; Del Moral, Doucet, Jasra, 2006, Sequential Monte Carlo samplers).
"""

from __future__ import annotations

import numpy as np

from adaptive.estimators.particles.inference.cloud import effective_sample_size

__all__ = ["longest_step"]

HALVINGS = 30
SMALLEST = 1e-300  # step


def longest_step(log_weights: np.ndarray, increments: np.ndarray, left: float, size: float) -> float:
    """Return the largest step b <= left with ESS(log_weights + b increments) >= size, by bisection.

    What an outcome rules out altogether is lost at any step: the size asked for is at most that of what remains.

    Parameters
    ----------
    log_weights : (k,) array
    increments : (k,) array
        Log likelihoods of the new answers; minus infinity where they are impossible.
    left : float
        What is left of the way to 1.
    size : float

    Examples
    --------
    >>> longest_step(np.zeros(4), np.array([0.0, 0.0, -9.0, -9.0]), 1.0, 2.0)
    1.0
    >>> round(longest_step(np.zeros(2), np.array([0.0, -1.0]), 1.0, 1.9), 3)
    0.467
    >>> longest_step(np.zeros(3), np.array([0.0, -1e200, -1e250]), 1.0, 2.9) > 0  # however far apart
    True
    """
    possible = np.isfinite(increments)
    kept = log_weights[possible]
    change = increments[possible]
    size = min(size, effective_sample_size(kept))
    if effective_sample_size(kept + left * change) >= size:
        return left
    low, high = 0.5 * left, left
    while low > SMALLEST and effective_sample_size(kept + low * change) < size:
        low, high = 0.5 * low, low
    for _ in range(HALVINGS):
        middle = 0.5 * (low + high)
        if effective_sample_size(kept + middle * change) >= size:
            low = middle
        else:
            high = middle
    return low
