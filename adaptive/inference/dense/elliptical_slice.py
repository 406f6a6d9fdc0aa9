"""A move of many chains at once that leaves exp(-|w|^2 / 2 + tau r(w)) unchanged, where r has an edge or a kink.

It needs no gradient and has nothing to tune.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

__all__ = ["elliptical_slice"]

Ratio = Callable[[np.ndarray], np.ndarray]


def elliptical_slice(w: np.ndarray, ratio: Ratio, temperature: float, rng: np.random.Generator) -> np.ndarray:
    """One new point per chain on the ellipse through it and a draw from N(0, I).

    Parameters
    ----------
    w : (chains, n)
    ratio : callable
        w -> r (chains,), -inf outside the support.
    temperature : float
        tau.
    rng : Generator

    References
    ----------
    Murray, Adams and MacKay (2010), Elliptical slice sampling.
    """
    other = rng.standard_normal(w.shape)
    with np.errstate(invalid="ignore"):
        floor = np.nan_to_num(temperature * ratio(w), nan=0.0) + np.log(rng.uniform(size=len(w)))
    angle = rng.uniform(0, 2 * np.pi, len(w))
    low, high = angle - 2 * np.pi, angle.copy()
    result, left = w.copy(), np.arange(len(w))
    while len(left):
        point = w[left] * np.cos(angle[left])[:, None] + other[left] * np.sin(angle[left])[:, None]
        with np.errstate(invalid="ignore"):
            height = np.nan_to_num(temperature * ratio(point), nan=0.0)  # 0 * -inf: no constraint yet
        inside = (height > floor[left]) | (np.abs(angle[left]) < 1e-12)
        result[left[inside]] = point[inside]
        left = left[~inside]
        negative = angle[left] < 0
        low[left[negative]], high[left[~negative]] = angle[left[negative]], angle[left[~negative]]
        angle[left] = rng.uniform(low[left], high[left])
    return result
