"""Rank-one expectation propagation of step factors, compiled: one small problem, in place.

    theta(b_i . x > c_i):  cavity of the projection -> truncated moments -> site (p_i, e_i) -> rank-one change of (m, V)

Sites are kept in natural parameters, so that one which says nothing (p_i = 0) divides by nothing.
"""

from __future__ import annotations

from math import erfc, exp, log, sqrt

import numba
import numpy as np

__all__ = ["gaussian_part", "propagate", "solve_many"]

_options = {"cache": True, "nogil": True, "error_model": "numpy"}


@numba.njit(**_options)
def truncation(z: float) -> tuple[float, float]:
    """log Phi(z) and phi(z) / Phi(z), by an asymptotic series where Phi underflows."""
    if z > -30.0:
        mass = 0.5 * erfc(-z * 0.7071067811865476)
        return log(mass), exp(-0.5 * z * z) * 0.3989422804014327 / mass
    w = 1.0 / (z * z)
    series = 1.0 - w * (1.0 - 3.0 * w * (1.0 - 5.0 * w * (1.0 - 7.0 * w * (1.0 - 9.0 * w))))
    return -0.5 * z * z - log(-z) - 0.9189385332046727 + log(series), -z / series


@numba.njit(**_options)
def curvature(z: float, ratio: float) -> float:
    """Ratio (ratio + z), in (0, 1): 1 - Var after truncation."""
    if z > -30.0:
        return ratio * (ratio + z)
    w = 1.0 / (z * z)  # the difference of two large numbers, expanded
    return 1.0 - w * (1.0 - w * (6.0 - 50.0 * w))


@numba.njit(**_options)
def propagate(
    mean: np.ndarray,
    covariance: np.ndarray,
    directions: np.ndarray,
    offsets: np.ndarray,
    precisions: np.ndarray,
    shifts: np.ndarray,
    max_iter: int,
    tol: float,
) -> tuple[float, int, bool]:
    """Run sweeps until no site moves by more than ``tol``; everything but directions and offsets changes in place.

    Returns the sum of the sites' terms of the log normaliser, the number of sweeps, and whether it converged.
    """
    n, d = directions.shape
    moved = np.empty(d)
    terms = 0.0
    for sweep in range(max_iter):
        largest, terms = 0.0, 0.0
        for i in range(n):
            spread, centre = 0.0, 0.0
            for a in range(d):
                total = 0.0
                for b in range(d):
                    total += covariance[a, b] * directions[i, b]
                moved[a] = total
                spread += directions[i, a] * total
                centre += directions[i, a] * mean[a]
            rest = 1.0 - precisions[i] * spread
            if not (spread > 0.0 and rest > 0.0):
                continue
            variance = spread / rest
            cavity = centre + variance * (precisions[i] * centre - shifts[i])
            root = sqrt(variance)
            z = (cavity - offsets[i]) / root
            log_mass, ratio = truncation(z)
            shrink = curvature(z, ratio)  # be * sc of the source
            left = max(1.0 - shrink, 1e-14)
            slope = ratio / root
            precision = shrink / variance / left
            shift = (shrink / variance * cavity + slope) / left
            # log s_i - m_i^2 / (2 v_i), without division by the precision of a silent site
            terms += (
                log_mass
                - 0.5 * log(left)
                - 0.5 * (slope * slope * variance + shrink / variance * cavity * cavity + 2.0 * slope * cavity) / left
            )
            dp, de = precision - precisions[i], shift - shifts[i]
            gain = 1.0 / (1.0 + spread * dp)
            step = (de - centre * dp) * gain
            for a in range(d):
                mean[a] += step * moved[a]
                factor = dp * gain * moved[a]
                for b in range(d):
                    covariance[a, b] -= factor * moved[b]
            precisions[i], shifts[i] = precision, shift
            # in units of the cavity: neither precision nor shift depends on the scale then
            largest = max(largest, abs(dp) * variance * left, abs(de - cavity * dp) * root * left)
        if largest < tol:
            return terms, sweep + 1, True
    return terms, max_iter, False


@numba.njit(**_options)
def gaussian_part(
    before: np.ndarray,
    prior: np.ndarray,
    mean: np.ndarray,
    directions: np.ndarray,
    precisions: np.ndarray,
    shifts: np.ndarray,
) -> float:
    """1/2 (m'P m - m0'P0 m0 + log|V| - log|V0|) from the sites alone: no inverse of the prior is needed.

    P m = P0 m0 + B'e gives m'P m - m0'P0 m0 = (m + m0)'B'e - m0'B' diag(p) B m, and
    log|V| - log|V0| = - log|I + diag(p)^1/2 B V0 B' diag(p)^1/2|, by Cholesky.
    """
    n, d = directions.shape
    first, second = np.zeros(n), np.zeros(n)
    for i in range(n):
        for a in range(d):
            first[i] += directions[i, a] * before[a]
            second[i] += directions[i, a] * mean[a]
    quadratic = 0.0
    for i in range(n):
        quadratic += shifts[i] * (first[i] + second[i]) - precisions[i] * first[i] * second[i]
    system = np.zeros((n, n))
    moved = np.empty(d)
    for i in range(n):
        for a in range(d):
            total = 0.0
            for b in range(d):
                total += prior[a, b] * directions[i, b]
            moved[a] = total
        for j in range(i, n):
            total = 0.0
            for a in range(d):
                total += moved[a] * directions[j, a]
            system[j, i] = total * sqrt(max(precisions[i], 0.0) * max(precisions[j], 0.0))
        system[i, i] += 1.0
    log_det = 0.0
    for i in range(n):
        for j in range(i + 1):
            total = system[i, j]
            for a in range(j):
                total -= system[i, a] * system[j, a]
            if i == j:
                system[i, i] = sqrt(max(total, 1e-300))
                log_det += 2.0 * log(system[i, i])
            else:
                system[i, j] = total / system[j, j]
    return 0.5 * (quadratic - log_det)


@numba.njit(**_options)
def solve_many(
    means: np.ndarray, covariances: np.ndarray, directions: np.ndarray, offsets: np.ndarray, max_iter: int, tol: float
) -> tuple[np.ndarray, np.ndarray]:
    """Each problem of a batch on its own; returns log normalisers, and how many sweeps each took (-1: too many)."""
    k, n = directions.shape[0], directions.shape[1]
    logs, sweeps = np.zeros(k), np.zeros(k, dtype=np.int64)
    for j in range(k):
        before, prior = means[j].copy(), covariances[j].copy()
        precisions, shifts = np.zeros(n), np.zeros(n)
        terms, used, converged = propagate(
            means[j], covariances[j], directions[j], offsets[j], precisions, shifts, max_iter, tol
        )
        logs[j] = terms + gaussian_part(before, prior, means[j], directions[j], precisions, shifts)
        sweeps[j] = used if converged else -1
    return logs, sweeps
