"""Compiled loops over particles: masses put on grids, log densities of mixtures."""

from __future__ import annotations

import numba
import numpy as np

__all__ = ["add_gaussians", "deposit", "from_coarser", "log_mixture", "minus_p_log_p"]


@numba.njit(cache=True, nogil=True)
def _cubic(f: float, out: np.ndarray) -> None:
    """Weights of the points -1, 0, 1, 2 for the place f in [0, 1): Lagrange's."""
    out[0] = -f * (f - 1.0) * (f - 2.0) / 6.0
    out[1] = (f + 1.0) * (f - 1.0) * (f - 2.0) / 2.0
    out[2] = -(f + 1.0) * f * (f - 2.0) / 2.0
    out[3] = (f + 1.0) * f * (f - 1.0) / 6.0


@numba.njit(cache=True, nogil=True)
def deposit(
    masses: np.ndarray,
    weights: np.ndarray,
    means: np.ndarray,
    deviations: np.ndarray,
    at: np.ndarray,
    low: np.ndarray,
    step: np.ndarray,
    first: np.ndarray,
    level: float,
    starts: np.ndarray,
    octaves: np.ndarray,
) -> None:
    """Add weights (k,) at means (k, m)[:, at] to masses (a, n), cubic in place and in log deviation.

    Level l has its grid from ``starts[l]`` on, of step ``step * 2 ** octaves[l]``.
    """
    own = deviations.shape[0] > 1
    n_levels = len(starts)
    place, height = np.empty(4), np.empty(4)
    for k in range(means.shape[0]):
        for j in range(len(at)):
            x = (means[k, at[j]] - low[j]) / step[j]
            if n_levels == 1:
                i = int(x)
                _cubic(x - i, place)
                for p in range(4):
                    masses[j, i + p - 1] += weights[k] * place[p]
                continue
            y = (np.log(deviations[k if own else 0, at[j]]) - first[j]) / level
            lev = min(max(int(y), 1), n_levels - 3)
            _cubic(y - lev, height)
            before, i = -1, 0
            for q in range(4):
                at_level = lev + q - 1
                if octaves[at_level] != before:
                    before = octaves[at_level]
                    coarse = x / (1 << before)
                    i = int(coarse)
                    _cubic(coarse - i, place)
                share = weights[k] * height[q]
                here = starts[at_level] + i - 1
                for p in range(4):
                    masses[j, here + p] += share * place[p]


@numba.njit(cache=True, nogil=True)
def log_mixture(points: np.ndarray, log_weights: np.ndarray, means: np.ndarray, deviations: np.ndarray) -> np.ndarray:
    """Return log sum_k w_k prod_c N(points_c | means_kc, deviations_kc) of points (s, c), means (k, c)."""
    s, c = points.shape
    k = means.shape[0]
    constant = np.empty(k)
    for i in range(k):
        constant[i] = log_weights[i]
        for j in range(c):
            constant[i] -= np.log(deviations[i, j]) + 0.9189385332046727
    found = np.empty(s)
    terms = np.empty(k)
    for r in range(s):
        largest = -np.inf
        for i in range(k):
            total = constant[i]
            for j in range(c):
                z = (points[r, j] - means[i, j]) / deviations[i, j]
                total -= 0.5 * z * z
            terms[i] = total
            largest = max(largest, total)
        total = 0.0
        for i in range(k):
            total += np.exp(terms[i] - largest)
        found[r] = largest + np.log(total)
    return found


@numba.njit(cache=True, nogil=True)
def minus_p_log_p(values: np.ndarray) -> float:
    """Return - sum p log p."""
    total = 0.0
    for p in values:
        if p > 0.0:
            total -= p * np.log(p)
    return total


@numba.njit(cache=True, nogil=True)
def add_gaussians(
    values: np.ndarray,
    first: np.ndarray,
    last: np.ndarray,
    weights: np.ndarray,
    places: np.ndarray,
    spreads: np.ndarray,
    reach: float,
) -> None:
    """Add densities at the points first..last of all stretches, one after another in values; lengths in steps."""
    offsets = np.cumsum(last - first + 1) - (last - first + 1)
    for k in range(len(places)):
        begin = int(np.ceil(places[k] - reach * spreads[k]))
        end = int(np.floor(places[k] + reach * spreads[k]))
        stretch = np.searchsorted(first, begin, side="right") - 1
        at = offsets[stretch] + begin - first[stretch]
        away, square = begin - places[k], spreads[k] * spreads[k]
        term = weights[k] / (spreads[k] * 2.5066282746310002) * np.exp(-0.5 * away * away / square)
        ratio, change = np.exp(-(away + 0.5) / square), np.exp(-1.0 / square)
        for i in range(end - begin + 1):
            values[at + i] += term
            term *= ratio
            ratio *= change


@numba.njit(cache=True, nogil=True)
def from_coarser(
    values: np.ndarray,
    first: np.ndarray,
    last: np.ndarray,
    coarse: np.ndarray,
    coarse_first: np.ndarray,
    coarse_last: np.ndarray,
    shift: int,
) -> None:
    """Set values at the points of finer stretches, of step 2^-shift of the coarse ones, by Lagrange's six points."""
    scale = 1.0 / 2.0**shift
    stretch, offset, at = 0, 0, 0
    for j in range(len(first)):
        while coarse_last[stretch] < (first[j] >> shift) + 3:
            offset += coarse_last[stretch] - coarse_first[stretch] + 1
            stretch += 1
        base = offset - coarse_first[stretch]
        for n in range(first[j], last[j] + 1):
            c = n >> shift
            f = (n - (c << shift)) * scale
            a, b, d, e, g = f + 2.0, f + 1.0, f - 1.0, f - 2.0, f - 3.0
            i = base + c
            found = (
                coarse[i - 2] * (b * f * d * e * g) / -120.0
                + coarse[i - 1] * (a * f * d * e * g) / 24.0
                + coarse[i] * (a * b * d * e * g) / -12.0
                + coarse[i + 1] * (a * b * f * e * g) / 12.0
                + coarse[i + 2] * (a * b * f * d * g) / -24.0
                + coarse[i + 3] * (a * b * f * d * e) / 120.0
            )
            values[at] = max(found, 0.0)
            at += 1
