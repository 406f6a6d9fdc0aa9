"""The grid of :mod:`adaptive.predictive.softmax_integrals`, for scores whose exponentials are no overflow:

    exp(t_1) = e(z_0),    exp(t_2) = f(z_0) g(z_1),

so that exponentials are taken along its sides, and a node in the middle costs one logarithm.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

__all__ = ["SAFE", "on_grid"]

SAFE = 300.0  # largest score of which, and of the negative of which, products of exponentials are taken


@njit(cache=True)
def on_grid(
    centre: np.ndarray,
    root: np.ndarray,
    step: np.ndarray,
    sizes: np.ndarray,
    far: float,
    others: np.ndarray,
    where: np.ndarray,
    left: np.ndarray,
    weight: np.ndarray,
) -> int:
    """Write every node's q, x - l, H(q) and weight; return how many there are.

    Parameters
    ----------
    centre : (c - 1,) array
        Means of the scores less the first, c = 3 or 4.
    root : (c - 1, c - 1) array
        Lower triangular root of their covariance.
    step, sizes : (2,) arrays
        Of the grid; sizes are odd, and 1 where there is no second dimension.
    far : float
        Squared length of the nodes that are left out.
    others, where, left, weight : (n, c - 1), (n,), (n,), (n,) arrays, n >= the product of the sizes
    """
    c = len(centre) + 1
    width, used = sizes[0], 0
    first, e, f, x, w = np.empty((5, width))
    second = np.empty(width)
    for i in range(width):
        z = (i - (width - 1) // 2) * step[0]
        w[i] = math.exp(-0.5 * z * z)
        first[i] = centre[0] + root[0, 0] * z
        e[i] = math.exp(first[i])
        x[i] = centre[c - 2] + root[c - 2, 0] * z
        if c == 4:
            second[i] = centre[1] + root[1, 0] * z
            f[i] = math.exp(second[i])
    for j in range(sizes[1]):
        z_1 = (j - (sizes[1] - 1) // 2) * step[1]
        w_1, along, g, beside = math.exp(-0.5 * z_1 * z_1), 0.0, 1.0, 0.0
        if c == 4:
            along, beside = root[1, 1] * z_1, root[2, 1] * z_1
            g = math.exp(along)
        for i in range(width):
            z = (i - (width - 1) // 2) * step[0]
            if z * z + z_1 * z_1 > far:
                continue
            norm, product = 1.0 + e[i], e[i] * first[i]
            if c == 4:
                fg = f[i] * g
                norm += fg
                product += fg * (second[i] + along)
            inverse = 1.0 / norm
            others[used, 0] = inverse
            others[used, 1] = e[i] * inverse
            if c == 4:
                others[used, 2] = fg * inverse
            log_norm = math.log(norm)
            left[used] = max(log_norm - product * inverse, 0.0)
            where[used] = x[i] + beside - log_norm
            weight[used] = w[i] * w_1
            used += 1
    return used
