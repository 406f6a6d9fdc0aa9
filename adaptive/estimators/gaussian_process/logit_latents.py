"""Expectation propagation of logit labels on jointly Gaussian latents, as a search for hyper-parameters asks for it.

The sweeps of :mod:`adaptive.inference.expectation_propagation`, all sites at once and extrapolated, in one compiled
loop, with what a search repeats twenty times left out: the checks of the model, moments finer than the tolerance, and
the record of an engine. With K the prior covariance, R the roots of the site precisions W and L L' = I + R K R,

    V = K - K C K,   C = R L^-T L^-1 R,   mean = m + K alpha,   d ln Z = 1/2 (alpha' dK alpha - tr(C dK)) + alpha' dm.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numba import njit
from scipy.linalg.lapack import dlauum

from adaptive.potentials.logit_moments import FEW, accuracy_for, roughly

__all__ = ["LogitLatents", "logit_latents"]

_FLAT = 1e-10  # cavity precision, in units of the marginal's, that stands for zero
_QUICK = 0.3  # a sweep that leaves less than this share of the residual needs no extrapolation
_STRONG = 1e-2  # site precision times prior variance from which variances are found by the inverse of L L'
_BLOCK, _PANEL = 64, 128  # rows of L that are inverted at once, and columns that are multiplied
_MEMORY = 3  # earlier sweeps that an extrapolation looks at


@dataclass(frozen=True, eq=False)
class LogitLatents:
    """Sites at which marginals have the moments of the tilted distributions.

    Attributes
    ----------
    pi, nu : (n,) arrays
        Precisions and precision-means.
    mean : (n,) array
        Of the latents.
    log_evidence : float, nats
    n_iter : int
        Sweeps.
    slope : (n,) array
        alpha.
    half : (n, n) array
        L^-1, zero above the diagonal.
    """

    pi: np.ndarray
    nu: np.ndarray
    mean: np.ndarray
    log_evidence: float
    n_iter: int
    slope: np.ndarray
    half: np.ndarray

    converged = True

    @property
    def sites(self) -> tuple[np.ndarray, np.ndarray]:
        """Precisions and precision-means."""
        return self.pi, self.nu

    def sensitivity(self) -> tuple[np.ndarray, np.ndarray]:
        """Return S (n, n), not symmetric, and alpha:  d ln Z = sum(S * dK) + alpha . dm  for every symmetric dK."""
        scale = np.sqrt(self.pi)
        upper = dlauum(self.half.T)[0]  # of L^-T L^-1; zero below, as L^-T is
        upper *= scale
        upper *= scale[:, None]
        found = 0.5 * np.outer(self.slope, self.slope) - upper
        found[np.diag_indices(len(scale))] += 0.5 * upper.diagonal()
        return found, self.slope


def logit_latents(
    covariance: np.ndarray,
    mean: np.ndarray,
    signs: np.ndarray,
    *,
    tol: float,
    max_iter: int,
    start: tuple[np.ndarray, np.ndarray] | None = None,
) -> LogitLatents | None:
    """Return the sites for latents N(mean, covariance) whose labels are ``signs``; None where they do not settle.

    Parameters
    ----------
    covariance : (n, n) array, positive definite
    mean : (n,) array
    signs : (n,) array of -1 and +1
    tol : float
        Stop when no site wants to change its marginal by more than this, in units of the marginal's own precision.
    max_iter : int
    start : pair of (l,) arrays, optional
        Sites pi, nu of the first l <= n of these latents.

    Examples
    --------
    >>> found = logit_latents(np.eye(1), np.zeros(1), np.ones(1), tol=1e-6, max_iter=20)
    >>> round(found.log_evidence, 6)                        # ln 1/2
    -0.693147
    """
    n = len(signs)
    point = np.zeros((2, n))
    if start is not None:
        for row, sites in zip(point, start, strict=True):
            row[: len(sites)] = sites
    K, centre = np.ascontiguousarray(covariance, dtype=float), np.array(mean, dtype=float)
    signs, slope, half = np.ascontiguousarray(signs, dtype=float), np.empty(n), np.empty((n, n))
    try:
        value, sweeps = _settle(
            K, np.array(mean, dtype=float), signs, point, tol, max_iter, accuracy_for(tol), FEW, centre, slope, half
        )
    except np.linalg.LinAlgError:  # no Cholesky factor
        return None
    return LogitLatents(point[0], point[1], centre, value, sweeps, slope, half) if np.isfinite(value) else None


@njit(cache=True, nogil=True)
def _settle(
    K: np.ndarray,
    prior_mean: np.ndarray,
    signs: np.ndarray,
    point: np.ndarray,
    tol: float,
    max_iter: int,
    accuracy: float,
    few: np.ndarray,
    mean: np.ndarray,
    slope: np.ndarray,
    half: np.ndarray,
) -> tuple[float, int]:
    """Move the sites ``point`` until they settle; return the log evidence, nan where they do not, and the sweeps."""
    n = len(signs)
    variance, wanted, plain = np.empty(n), np.empty((2, n)), np.empty((2, n))
    points, steps = np.empty((_MEMORY + 1, 2, n)), np.empty((_MEMORY + 1, 2, n))
    known, smallest, extrapolated = 0, np.inf, False  # sweeps in memory; where plain sites would have gone is in plain
    for step in range(max_iter + 1):
        volume = _marginals(K, prior_mean, point[0], point[1], mean, variance, slope, half)
        residual, terms = _tilted(mean, variance, point, signs, accuracy, few, wanted)
        if residual <= tol:
            return volume + terms, step
        if not np.isfinite(residual):
            if not extrapolated:
                return np.nan, step
            known, extrapolated = 0, False
            for i in range(2):
                for j in range(n):
                    point[i, j] = plain[i, j]
            continue
        if residual > 2.0 * smallest:
            known = 0
        if known > _MEMORY:
            known = _MEMORY
            for k in range(known):
                for i in range(2):
                    for j in range(n):
                        points[k, i, j], steps[k, i, j] = points[k + 1, i, j], steps[k + 1, i, j]
        for i in range(2):
            for j in range(n):
                points[known, i, j], steps[known, i, j] = point[i, j], wanted[i, j] - point[i, j]
                point[i, j] = plain[i, j] = wanted[i, j]
        known += 1
        extrapolated = residual > _QUICK * smallest and known > 1
        if extrapolated:
            _extrapolate(points, steps, known, mean, variance, wanted)
            for j in range(n):
                if wanted[0, j] >= 0.0:
                    point[0, j], point[1, j] = wanted[0, j], wanted[1, j]
        smallest = min(smallest, residual)
    return np.nan, max_iter


@njit(cache=True, nogil=True)
def _marginals(
    K: np.ndarray,
    prior_mean: np.ndarray,
    pi: np.ndarray,
    nu: np.ndarray,
    mean: np.ndarray,
    variance: np.ndarray,
    slope: np.ndarray,
    half: np.ndarray,
) -> float:
    """Write moments, alpha and L^-1 at the sites; return the log volume of the Gaussian.

    As :class:`~adaptive.gaussians.CovarianceForm` finds them: where a site outweighs its prior by what cancels least.
    """
    n = len(pi)
    scale, weak, right, matrix, sites = np.empty(n), np.empty(n), np.empty(n), np.empty((n, n)), 0.0
    for j in range(n):
        scale[j] = np.sqrt(pi[j])
        sites += pi[j] + abs(nu[j])
    if sites == 0.0:  # the prior
        for i in range(n):
            mean[i], variance[i], slope[i] = prior_mean[i], K[i, i], 0.0
            for j in range(n):
                half[i, j] = 1.0 if i == j else 0.0
        return 0.0
    for i in range(n):
        for j in range(n):
            matrix[i, j] = scale[i] * K[i, j] * scale[j]
        matrix[i, i] += 1.0
    lower = np.linalg.cholesky(matrix)
    _invert(lower, half)
    for j in range(n):
        gap, strong = nu[j] - pi[j] * prior_mean[j], pi[j] * K[j, j] > 1.0
        weak[j] = 0.0 if strong else gap
        right[j] = gap / scale[j] if strong else 0.0
    moved = np.dot(K, weak)
    for j in range(n):
        right[j] -= scale[j] * moved[j]
    solved = np.dot(half.T, np.dot(half, right))
    for j in range(n):
        slope[j] = weak[j] + scale[j] * solved[j]
        variance[j] = 0.0
    moved = np.dot(K, slope)
    for i in range(n):
        for j in range(i + 1):
            variance[j] += half[i, j] ** 2
    volume = 0.0
    for j in range(n):
        volume -= 0.5 * slope[j] * moved[j] + np.log(lower[j, j])
        mean[j] = prior_mean[j] + moved[j]
        if pi[j] * K[j, j] > 1.0:
            mean[j] = (nu[j] - slope[j]) / pi[j]
        if pi[j] * K[j, j] > _STRONG:
            variance[j] = (1.0 - variance[j]) / pi[j]
        else:
            for i in range(n):
                right[i] = scale[i] * K[i, j]
            found = np.dot(half, right)
            variance[j] = K[j, j] - np.dot(found, found)
    return volume


@njit(cache=True, nogil=True)
def _invert(lower: np.ndarray, inverse: np.ndarray) -> None:
    """Write the inverse of a lower triangular matrix, block by block:  X_ij = -D_i^-1 sum_k L_ik X_kj,  D_i = L_ii."""
    n = len(lower)
    for i in range(n):
        for j in range(n):
            inverse[i, j] = 0.0
    for first in range(0, n, _BLOCK):
        last = min(first + _BLOCK, n)
        corner = np.zeros((last - first, last - first))
        for i in range(last - first):
            pivot = 1.0 / lower[first + i, first + i]
            for k in range(i):
                share = pivot * lower[first + i, first + k]
                for j in range(k + 1):
                    corner[i, j] -= share * corner[k, j]
            corner[i, i] = pivot
            for j in range(i + 1):
                inverse[first + i, first + j] = corner[i, j]
        for left in range(0, first, _PANEL):  # what is above the diagonal is left out
            right = min(left + _PANEL, first)
            beside = np.ascontiguousarray(lower[first:last, left:first])
            beside = np.dot(corner, np.dot(beside, np.ascontiguousarray(inverse[left:first, left:right])))
            for i in range(last - first):
                for j in range(right - left):
                    inverse[first + i, left + j] = -beside[i, j]


@njit(cache=True, nogil=True)
def _extrapolate(
    points: np.ndarray, steps: np.ndarray, known: int, mean: np.ndarray, variance: np.ndarray, far: np.ndarray
) -> None:
    """Write where :mod:`adaptive.inference.dense.anderson` would go from the last sweeps, in units of the marginals."""
    count, n = known - 1, len(mean)
    gram, weights = np.zeros((count, count)), np.zeros(count)
    units = np.empty((count + 1, 2))
    for j in range(n):
        spread = np.sqrt(variance[j])
        for k in range(known):
            d_pi, d_nu = steps[k, 0, j], steps[k, 1, j]
            if k < count:
                d_pi, d_nu = steps[k + 1, 0, j] - d_pi, steps[k + 1, 1, j] - d_nu
            units[k, 0], units[k, 1] = d_pi * variance[j], (d_nu - d_pi * mean[j]) * spread
        for k in range(count):
            weights[k] += units[k, 0] * units[count, 0] + units[k, 1] * units[count, 1]
            for l in range(count):
                gram[k, l] += units[k, 0] * units[l, 0] + units[k, 1] * units[l, 1]
    trace = 0.0
    for k in range(count):
        trace += gram[k, k]
    for k in range(count):
        gram[k, k] += 1e-14 * trace + 1e-300
    for k in range(count):  # Gauss's elimination: up to three unknowns, positive definite
        for l in range(k + 1, count):
            share = gram[l, k] / gram[k, k]
            weights[l] -= share * weights[k]
            for m in range(k, count):
                gram[l, m] -= share * gram[k, m]
    for k in range(count - 1, -1, -1):
        for l in range(k + 1, count):
            weights[k] -= gram[k, l] * weights[l]
        weights[k] /= gram[k, k]
    for i in range(2):
        for j in range(n):
            far[i, j] = points[count, i, j] + steps[count, i, j]
            for k in range(count):
                moved = points[k + 1, i, j] + steps[k + 1, i, j] - points[k, i, j] - steps[k, i, j]
                far[i, j] -= weights[k] * moved


@njit(cache=True, nogil=True)
def _tilted(
    mean: np.ndarray,
    variance: np.ndarray,
    point: np.ndarray,
    signs: np.ndarray,
    accuracy: float,
    few: np.ndarray,
    wanted: np.ndarray,
) -> tuple[float, float]:
    """Write the sites that marginals and sites ask for; return the largest move, and the sum of the evidence's terms.

    The move is infinite where a cavity is no Gaussian.
    """
    m = len(mean)
    moments, cavity, slope, back, wide = np.empty((3, m)), np.empty(m), np.empty(m), np.empty(m), np.empty(m)
    proper = True
    for j in range(m):
        v, pi = variance[j], point[0, j]
        precision = 1.0 / v - pi
        proper = proper and precision > -_FLAT / v
        cavity[j] = max(precision, _FLAT / v)
        slope[j] = point[1, j] - pi * mean[j]
        back[j], wide[j] = signs[j] * (mean[j] - slope[j] / cavity[j]), 1.0 / cavity[j]
    roughly(back, wide, few, moments, accuracy)
    largest, terms = 0.0, 0.0
    for j in range(m):
        pi = point[0, j]
        terms += moments[0, j] + 0.5 * np.log1p(pi / cavity[j]) + 0.5 * slope[j] ** 2 / cavity[j]
        new_pi = max(1.0 / moments[2, j] - cavity[j], 0.0)
        new_nu = signs[j] * (new_pi * moments[1, j] + (moments[1, j] - back[j]) * cavity[j])
        d_pi, d_nu = new_pi - pi, new_nu - point[1, j]
        largest = max(largest, abs(d_pi) * variance[j], abs(d_nu - d_pi * mean[j]) * np.sqrt(variance[j]))
        wanted[0, j], wanted[1, j] = new_pi, new_nu
    return (largest if proper else np.inf), terms
