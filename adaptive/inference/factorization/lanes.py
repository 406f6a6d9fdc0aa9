"""The bound of one row whose entries have variances, and its slopes: entries side by side, components one by one.

The formulas of :mod:`adaptive.inference.factorization.rows` for diagonal V and S. Entries come in widths of a multiple
of 16, filled up with entries of no weight, so that every loop over them runs in whole lanes; an entry costs one
division a component, one square root (in place of a logarithm) and one exponential.
"""

from __future__ import annotations

import math

import numpy as np

from adaptive.inference.factorization.expectations import CLOSEST, LANES

__all__ = ["SHORT", "WIDTH", "bound_of_variances"]

SHORT = 6  # entries: a row with fewer is quicker one by one
WIDTH = 128  # entries side by side at most, a multiple of 16: the tables of a dozen components stay in the cache
_LARGEST = math.exp(500.0)  # of a rate: beyond it the point counts as infeasible


@LANES
def bound_of_variances(
    m: np.ndarray,
    v: np.ndarray,
    a: int,
    b: int,
    index: np.ndarray,
    y: np.ndarray,
    e: np.ndarray,
    offset: float,
    mean: np.ndarray,
    spread: np.ndarray,
    tables: np.ndarray,
    lanes: np.ndarray,
    g: np.ndarray,
    H: np.ndarray,
    slopes: bool,
    again: bool,
) -> float:
    """Return sum over entries of y E eta - E exp(eta); with ``slopes`` add theirs to g and the lower half of H.

    Parameters
    ----------
    m, v : (k,) arrays
        The row's means and variances.
    a, b : int
        Its entries.
    index, y, e : arrays
        Of all entries: the other factor's row, the count, the exposure.
    offset : float
    mean, spread : (n, k) arrays
        Means and variances of the other factor.
    tables, lanes : (4, k, WIDTH) and (6, WIDTH) arrays
        Room to work in.
    g, H : (k,) and (k, k) arrays
    slopes : bool
    again : bool
        The entries are those of the call before, with the same room: of at most WIDTH ``tables`` still hold the other
        factor's rows.

    Returns
    -------
    float
        Minus infinity where an expected rate is infinite.
    """
    n, total = len(m), 0.0
    mu, s, wt, st = tables[0], tables[1], tables[2], tables[3]
    inner, exponent, product, outside, rate, weight = lanes[0], lanes[1], lanes[2], lanes[3], lanes[4], lanes[5]
    for first in range(a, b, WIDTH):
        count = min(WIDTH, b - first)
        width = (count + 15) // 16 * 16
        if not again or b - a > WIDTH:
            for k in range(count):
                j = index[first + k]
                for d in range(n):
                    mu[d, k] = mean[j, d]
                    s[d, k] = spread[j, d]
            for d in range(n):
                for k in range(count, width):
                    mu[d, k] = 0.0
                    s[d, k] = 0.0
        for k in range(width):
            inner[k] = 0.0
            exponent[k] = 0.0
            product[k] = 1.0
            outside[k] = 0.0
        for d in range(n):
            md, vd = m[d], v[d]
            for k in range(width):
                gap = 1.0 - s[d, k] * vd
                share = 1.0 / gap
                outside[k] += 1.0 if gap < CLOSEST else 0.0
                product[k] *= gap
                along = mu[d, k] * md
                inner[k] += along
                exponent[k] += (0.5 * (s[d, k] * md * md + vd * mu[d, k] * mu[d, k]) + along) * share
                wt[d, k] = share
        for k in range(count):
            expected = math.exp(exponent[k] + offset) / math.sqrt(product[k])
            if outside[k] > 0.0 or not expected < _LARGEST:
                return -math.inf
            rate[k] = e[first + k] * expected
            weight[k] = y[first + k]
            total += weight[k] * (inner[k] + offset) - rate[k]
        if slopes:
            for k in range(count, width):
                rate[k] = 0.0
                weight[k] = 0.0
            for d in range(n):
                slope, own, md = 0.0, 0.0, m[d]
                for k in range(width):
                    st[d, k] = s[d, k] * wt[d, k]
                    wt[d, k] *= mu[d, k] + s[d, k] * md
                for k in range(width):
                    scaled = rate[k] * wt[d, k]
                    slope += weight[k] * mu[d, k] - scaled
                    own += rate[k] * st[d, k]
                    inner[k] = scaled
                g[d] += slope
                H[d, d] += own
                for i in range(d + 1):
                    curvature = 0.0
                    for k in range(width):
                        curvature += inner[k] * wt[i, k]
                    H[d, i] += curvature
    return total
