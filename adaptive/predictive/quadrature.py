"""The trapezoidal rule under a standard normal, whose error for analytic functions falls exponentially in 1 / step."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

__all__ = ["grid_of", "normal_grid"]


def normal_grid(spread: float) -> tuple[np.ndarray, np.ndarray]:
    """Return nodes and weights for E f(spread * z), z ~ N(0, 1), where f varies on the scale of a logistic function.

    A logistic function has its poles at distance pi / spread of the real z-axis, so the error is of the order of
    exp(-2 pi^2 / (spread * step)); the step keeps it below 1e-9 until 1024 nodes are reached (spread about 60).

    Examples
    --------
    >>> nodes, weights = normal_grid(1.0)
    >>> round(float(weights @ nodes**2), 12)
    1.0
    """
    step = min(0.25, 2 * np.pi**2 / (21.0 * max(spread, 1e-300)))
    return grid_of(int(min(2 * np.ceil(8.5 / step) + 1, 1025)))


@lru_cache(maxsize=64)
def grid_of(count: int) -> tuple[np.ndarray, np.ndarray]:
    """Return that many nodes from -8.5 to 8.5 and their weights, kept and read-only: few counts come again and again.

    Examples
    --------
    >>> nodes, weights = grid_of(69)
    >>> float(nodes[-1]), round(float(weights.sum()), 12)
    (8.5, 1.0)
    """
    nodes = np.linspace(-8.5, 8.5, count)
    weights = np.exp(-0.5 * nodes**2)
    weights /= weights.sum()
    nodes.flags.writeable = weights.flags.writeable = False
    return nodes, weights
