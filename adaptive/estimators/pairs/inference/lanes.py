"""The bound of one row whose entries have variances, and its slopes: entries side by side, components four by four.

The formulas of :mod:`adaptive.estimators.pairs.inference.rows` for diagonal V and S, E eta = m.mu + offset and

    E exp(eta) = exp(offset + sum_d [m^2 s / 2 + mu (m + v mu / 2)] / gap) / sqrt(prod_d gap),      gap = 1 - s v.

Entries come in widths of a multiple of 8, components in fours, filled up with what has no weight, so that every loop
over entries runs in whole lanes. Four gaps take one division, of their product: that of any of them is the product of
the other three times its reciprocal. The other factor's rows are gathered once per visit, with sum y mu.

Room is one array of lines of entries, addressed by unsigned numbers: for every four components a block of lines at
fixed distances (means, spreads, moments of the tilted law, sums that run on from the block before), so that the
compiler sees that no line overlaps another, and takes them in lanes without asking at every call.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from adaptive.estimators.pairs.inference.expectations import CLOSEST, LANES

__all__ = ["SHORT", "WIDTH", "bound_of_variances", "exponentials", "room"]

SHORT = 4  # entries: a row with fewer is quicker one by one
WIDTH = 128  # entries side by side at most, a multiple of 8: the lines of a dozen components stay in the cache
_LARGEST = math.exp(500.0)  # of a rate: beyond it the point counts as infeasible

_U = np.uint64
_LINE = _U(WIDTH + 8)  # lines begin a line of the cache later than a power of two, or they would evict one another
_SPREAD, _TILTED, _SCALED = _U(4) * _LINE, _U(8) * _LINE, _U(12) * _LINE  # after the means of a block, four lines each
_EXPONENT, _PRODUCT, _LEAST = _U(16) * _LINE, _U(17) * _LINE, _U(18) * _LINE  # over this block and those before
_BLOCK = _U(19) * _LINE
_TWO, _THREE = _U(2) * _LINE, _U(3) * _LINE

_LOWEST, _HIGHEST = -700.0, 700.0  # between which a power of e is a normal number
_LOG2E, _LN2_HIGH, _LN2_LOW = 1.4426950408889634, 6.93147180369123816490e-01, 1.90821492927058770002e-10
_ROUNDING = 1.5 * 2.0**52  # added, it leaves a whole number in the lowest bits; taken away again, that number
_TAYLOR = tuple(1.0 / math.factorial(k) for k in range(13))


@njit(cache=True, nogil=True)
def room(n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Arrays to work in, of rows of n components: blocks of lines, one before the first; four lines; sums (n + 1,)."""
    return np.zeros(((n + 3) // 4 + 1) * np.int64(_BLOCK)), np.zeros((4, WIDTH)), np.zeros(n + 1)


@njit(cache=True, nogil=True, error_model="numpy", fastmath={"contract"})  # sums in the order written: _ROUNDING
def exponentials(x: np.ndarray, powers: np.ndarray, n: int) -> None:
    """The first n of ``x`` become exp(x), to 3e-16 relative, clipped to normal numbers; ``powers`` is room for as many.

    With k the whole number next to x / log 2, exp(x) = 2^k exp(x - k log 2), the latter by Taylor's polynomial.
    """
    bits = powers.view(np.int64)
    for k in range(n):
        clipped = min(max(x[k], _LOWEST), _HIGHEST)
        shifted = clipped * _LOG2E + _ROUNDING
        powers[k] = shifted
        whole = shifted - _ROUNDING
        r = (clipped - whole * _LN2_HIGH) - whole * _LN2_LOW
        p = (_TAYLOR[12] * r + _TAYLOR[11]) * r + _TAYLOR[10]
        p = ((p * r + _TAYLOR[9]) * r + _TAYLOR[8]) * r + _TAYLOR[7]
        p = ((p * r + _TAYLOR[6]) * r + _TAYLOR[5]) * r + _TAYLOR[4]
        x[k] = (((p * r + _TAYLOR[3]) * r + _TAYLOR[2]) * r + _TAYLOR[1]) * r + _TAYLOR[0]
    for k in range(n):
        bits[k] = (bits[k] + 1023) << 52  # 2^k is its exponent, biased, and nothing behind the point
    for k in range(n):
        x[k] *= powers[k]


@LANES
def _line(d: int) -> np.uint64:
    """Offset of the means of a component."""
    return _U(d // 4 + 1) * _BLOCK + _U(d % 4) * _LINE


@LANES
def _gather(
    first: int,
    count: int,
    width: int,
    index: np.ndarray,
    y: np.ndarray,
    e: np.ndarray,
    mean: np.ndarray,
    spread: np.ndarray,
    work: np.ndarray,
    lanes: np.ndarray,
    sums: np.ndarray,
) -> None:
    """Entries first .. first + count - 1 into lines, filled up to the width; sum y mu (k,) and sum y into ``sums``."""
    n, total = mean.shape[1], 0.0
    for k in range(count):
        lanes[1, k] = y[first + k]
        lanes[2, k] = e[first + k]
        total += y[first + k]
        j, i = _U(index[first + k]), _BLOCK + _U(k)
        for d in range(0, n - 3, 4):
            c = _U(d)
            work[i] = mean[j, c]
            work[i + _LINE] = mean[j, c + _U(1)]
            work[i + _TWO] = mean[j, c + _U(2)]
            work[i + _THREE] = mean[j, c + _U(3)]
            work[i + _SPREAD] = spread[j, c]
            work[i + _SPREAD + _LINE] = spread[j, c + _U(1)]
            work[i + _SPREAD + _TWO] = spread[j, c + _U(2)]
            work[i + _SPREAD + _THREE] = spread[j, c + _U(3)]
            i += _BLOCK
        for d in range(n // 4 * 4, n):
            work[i] = mean[j, _U(d)]
            work[i + _SPREAD] = spread[j, _U(d)]
            i += _LINE
    sums[n] = total
    for k in range(count, width):
        lanes[1, k] = 0.0
        lanes[2, k] = 0.0
    for d in range(n):
        line, total = _line(d), 0.0
        for k in range(_U(count), _U(width)):
            work[line + k] = 0.0
            work[line + _SPREAD + k] = 0.0
        for k in range(_U(width)):
            total += lanes[1, k] * work[line + k]
        sums[d] = total


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
    work: np.ndarray,
    lanes: np.ndarray,
    sums: np.ndarray,
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
    work, lanes, sums : arrays of `room`
    g, H : (k,) and (k, k) arrays
    slopes : bool
    again : bool
        The entries are those of the call before, with the same room: at most WIDTH of them are still gathered there.

    Returns
    -------
    float
        Minus infinity where an expected rate is infinite.
    """
    n, total = len(m), 0.0
    rate, exposure = lanes[0], lanes[2]
    end = _line(n - 1) - _U((n - 1) % 4) * _LINE
    exponent, product, least = work[end + _EXPONENT :], work[end + _PRODUCT :], work[end + _LEAST :]
    for first in range(a, b, WIDTH):
        count = min(WIDTH, b - first)
        width = (count + 7) // 8 * 8
        if not again or b - a > WIDTH:
            _gather(first, count, width, index, y, e, mean, spread, work, lanes, sums)
        for k in range(_U(width)):
            work[_EXPONENT + k] = offset
            work[_PRODUCT + k] = 1.0
            work[_LEAST + k] = 1.0
        for d in range(0, n, 4):
            d1, d2, d3 = min(d + 1, n - 1), min(d + 2, n - 1), min(d + 3, n - 1)  # lines that were filled up are 0
            m0, m1, m2, m3 = m[d], m[d1], m[d2], m[d3]
            v0, v1, v2, v3 = v[d], v[d1], v[d2], v[d3]
            line = _line(d)
            for k in range(_U(width)):
                i = line + k
                mu0, mu1, mu2, mu3 = work[i], work[i + _LINE], work[i + _TWO], work[i + _THREE]
                i += _SPREAD
                s0, s1, s2, s3 = work[i], work[i + _LINE], work[i + _TWO], work[i + _THREE]
                gap0, gap1, gap2, gap3 = 1.0 - s0 * v0, 1.0 - s1 * v1, 1.0 - s2 * v2, 1.0 - s3 * v3
                first_two, last_two = gap0 * gap1, gap2 * gap3
                four = first_two * last_two
                share = 1.0 / four
                first_two, last_two = first_two * share, last_two * share
                share0, share1, share2, share3 = gap1 * last_two, gap0 * last_two, gap3 * first_two, gap2 * first_two
                i += _SPREAD
                work[i] = share0
                work[i + _LINE] = share1
                work[i + _TWO] = share2
                work[i + _THREE] = share3
                i = line + k
                work[i + _EXPONENT] = work[i + _EXPONENT - _BLOCK] + (
                    (0.5 * m0 * m0 * s0 + mu0 * (m0 + 0.5 * v0 * mu0)) * share0
                    + (0.5 * m1 * m1 * s1 + mu1 * (m1 + 0.5 * v1 * mu1)) * share1
                    + (0.5 * m2 * m2 * s2 + mu2 * (m2 + 0.5 * v2 * mu2)) * share2
                    + (0.5 * m3 * m3 * s3 + mu3 * (m3 + 0.5 * v3 * mu3)) * share3
                )
                work[i + _PRODUCT] = work[i + _PRODUCT - _BLOCK] * four
                closest = min(min(gap0, gap1), min(gap2, gap3))
                work[i + _LEAST] = min(work[i + _LEAST - _BLOCK], closest)
        exponentials(exponent, lanes[3], width)
        outside = 0.0
        total += offset * sums[n]
        for k in range(width):
            expected = exponent[k] / math.sqrt(product[k])
            outside += 0.0 if least[k] >= CLOSEST and expected < _LARGEST else 1.0
            rate[k] = exposure[k] * expected
            total -= rate[k]
        if outside > 0.0:
            return -math.inf
        for d in range(n):
            total += sums[d] * m[d]
        if slopes:
            _add_slopes(m, width, work, rate, sums, g, H)
    return total


@LANES
def _add_slopes(
    m: np.ndarray, width: int, work: np.ndarray, rate: np.ndarray, sums: np.ndarray, g: np.ndarray, H: np.ndarray
) -> None:
    """Add the slopes of the entries in the lines to g, and their curvature to the lower half of H."""
    n = len(m)
    for d in range(n):
        slope, curvature, md, line = 0.0, 0.0, m[d], _line(d)
        for k in range(_U(width)):
            i = line + k
            share, s = work[i + _TILTED], work[i + _SPREAD]
            tilted = (work[i] + s * md) * share
            scaled = rate[k] * tilted
            slope += scaled
            curvature += rate[k] * s * share
            work[i + _TILTED] = tilted
            work[i + _SCALED] = scaled
        g[d] += sums[d] - slope
        H[d, d] += curvature
    for d in range(n):
        own = _line(d) + _SCALED
        for c in range(0, d + 1, 4):
            h0, h1, h2, h3 = 0.0, 0.0, 0.0, 0.0
            line = _line(c) + _TILTED
            for k in range(_U(width)):
                scaled, i = work[own + k], line + k
                h0 += scaled * work[i]
                h1 += scaled * work[i + _LINE]
                h2 += scaled * work[i + _TWO]
                h3 += scaled * work[i + _THREE]
            H[d, c] += h0
            if c < d:
                H[d, c + 1] += h1
            if c + 1 < d:
                H[d, c + 2] += h2
            if c + 2 < d:
                H[d, c + 3] += h3
