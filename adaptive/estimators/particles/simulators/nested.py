"""Information of an outcome about a target by nested draws: one outcome of each of N particles, seen by all others.

    own_j       log p(y_j | target_j)          the mean density over particles that share j's target
    all_j       log 1/N sum_i p(y_j | particle_i)
    lower       mean (own - all),  j itself counted in all        (Foster and others 2020, prior contrastive estimation)
    upper       mean (own - all),  j itself left out of all       (nested Monte Carlo, Rainforth and others 2018)

In expectation the information lies between the two, for densities that are known; where several particles share a
target j itself is left out of the lower own and counted in the upper one, for the same reason.
"""

from __future__ import annotations

import numpy as np

__all__ = ["nested_bounds"]


def nested_bounds(log_density: np.ndarray, cells: np.ndarray | None = None) -> tuple[float, float, float, float]:
    """Return lower bound, upper bound and their standard errors from log p(y_j | particle_i), (N, N).

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
