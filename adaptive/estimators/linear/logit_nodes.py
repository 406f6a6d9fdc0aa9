"""Expectation propagation of one logistic regression under several Gaussian priors, in one compiled loop.

A call of the general engine costs a millisecond whatever it computes; here that is spent once for all priors. Sweeps
are parallel: with marginals N(m_j, v_j) and cavity precisions c_j = 1 / v_j - pi_j every site is moved to where the
marginal has the moments of the tilted distribution, less far where the largest move grows. The evidence is that of
:mod:`adaptive.inference.expectation_propagation`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from adaptive.potentials.logit_moments import NODES, WEIGHTS, accuracy_for, many

__all__ = ["NodeSites", "logit_nodes"]

_FLAT = 1e-10  # cavity precision, in units of the marginal's, that stands for zero


class NodeSites(NamedTuple):
    """Sites of every prior.

    Attributes
    ----------
    pi, nu : (k, m) arrays
        Precisions and precision-means of the latents' sites.
    log_evidence : (k,) array
        Of those that settled; of labels in doubt, that of the last step.
    n_iter : (k,) array of int
    converged : (k,) array of bool
    """

    pi: np.ndarray
    nu: np.ndarray
    log_evidence: np.ndarray
    n_iter: np.ndarray
    converged: np.ndarray


def logit_nodes(
    features: np.ndarray,
    signs: np.ndarray,
    variances: np.ndarray,
    pi: np.ndarray,
    nu: np.ndarray,
    *,
    tol: float,
    max_iter: int,
    counts: np.ndarray | None = None,
    shares: np.ndarray | None = None,
) -> NodeSites:
    """Return the sites at which no marginal wants to move by more than ``tol`` of its own precision.

    Parameters
    ----------
    features : (m, n) array
    signs : (m,) array of -1 and +1
    variances : (k, n) array
        Prior variances of the unknowns, of each prior.
    pi, nu : (k, m) arrays
        Where to start.
    tol : float
    max_iter : int
    counts : (m,) array, optional
        How many answers a row counts for (its likelihood to that power); of several one is moved, and all alike.
    shares : (m,) array, optional
        b of labels that may be wrong, b + (1 - b) sigmoid(sign s) (see :mod:`adaptive.potentials.flipped`), for rows
        that count once. Their sites may have negative precisions, unless nothing settles so: then these are 0.

    Examples
    --------
    >>> found = logit_nodes(np.ones((1, 1)), np.ones(1), np.ones((1, 1)), np.zeros((1, 1)), np.zeros((1, 1)),
    ...                     tol=1e-6, max_iter=20)
    >>> bool(found.converged[0]), round(float(np.exp(found.log_evidence[0])), 9)
    (True, 0.5)
    """
    rows = np.ascontiguousarray(features * signs[:, None], dtype=float)
    pi, nu = np.array(pi, dtype=float), np.array(nu * signs, dtype=float)
    k, counts = len(variances), np.ones(len(rows)) if counts is None else np.asarray(counts, dtype=float)
    shares = np.zeros(len(rows)) if shares is None else np.asarray(shares, dtype=float)
    found = NodeSites(pi, nu, np.full(k, np.nan), np.zeros(k, dtype=np.int64), np.zeros(k, dtype=np.bool_))
    prior = np.asarray(variances, dtype=float)
    given = counts, shares, accuracy_for(tol), NODES, WEIGHTS
    _settle(rows, prior, pi, nu, tol, max_iter, -np.inf, *given, *found[2:])
    again = np.flatnonzero(~found.converged & bool(shares.any()))
    if len(again):
        some = [part[again] for part in found]
        some[0] = np.maximum(some[0], 0.0)
        _settle(rows, prior[again], *some[:2], tol, max_iter, 0.0, *given, *some[2:])
        for part, new in zip(found, some, strict=True):
            part[again] = new
    return found._replace(nu=nu * signs)


@njit(cache=True, nogil=True)
def _settle(
    rows: np.ndarray,
    variances: np.ndarray,
    pi: np.ndarray,
    nu: np.ndarray,
    tol: float,
    max_iter: int,
    least: float,
    counts: np.ndarray,
    shares: np.ndarray,
    accuracy: float,
    nodes: np.ndarray,
    weights: np.ndarray,
    evidence: np.ndarray,
    n_iter: np.ndarray,
    converged: np.ndarray,
) -> None:
    """Move the sites of every prior, and write down its evidence where they settle."""
    m, n = rows.shape
    moments, length = np.empty((3, m)), np.empty((m, n))
    mean, variance, cavity, slope = np.empty(m), np.empty(m), np.empty(m), np.empty(m)
    copies, powers = np.maximum(counts, 1.0), np.minimum(counts, 1.0)
    plain = np.all(powers == 1.0)
    lower = np.empty((n, n))
    linear = np.empty(n)
    last_pi, last_nu = np.empty(m), np.empty(m)  # the last move, of which half is taken back where it went too far
    careful = np.any(shares > 0.0)
    for k in range(len(variances)):
        damping, smallest = 1.0, np.inf
        last_pi[:] = 0.0
        last_nu[:] = 0.0
        for step in range(max_iter + 1):
            log_volume = _factorised(rows, variances[k], pi[k], nu[k], lower, linear, length, mean, variance)
            if not np.isfinite(log_volume) and not careful:
                break
            terms, largest, proper = 0.0, 0.0, np.isfinite(log_volume)
            for j in range(m if proper else 0):
                known = not variance[j] > 0.0
                v = 1.0 if known else variance[j]
                if known:  # a row of zeros: its site says nothing
                    pi[k, j], nu[k, j] = 0.0, 0.0
                precision = 1.0 / v - pi[k, j] / copies[j]
                proper = proper and precision > -_FLAT / v
                cavity[j] = max(precision, _FLAT / v)
                slope[j] = (nu[k, j] - pi[k, j] * mean[j]) / copies[j]
                variance[j] = v
                moments[0, j] = 0.0 if known else 1.0
            if not proper and careful and step > 0:
                damping = max(0.5 * damping, 0.125)
                for j in range(m):
                    last_pi[j], last_nu[j] = 0.5 * last_pi[j], 0.5 * last_nu[j]
                    pi[k, j] -= last_pi[j]
                    nu[k, j] -= last_nu[j]
                continue
            if not proper:
                break
            known_rows = moments[0].copy()
            if plain:
                many(mean - slope / cavity, 1.0 / cavity, 1.0, nodes, weights, moments, accuracy)
            else:
                for j in range(m):
                    at = slice(j, j + 1)
                    centre, v = mean[at] - slope[at] / cavity[at], 1.0 / cavity[at]
                    many(centre, v, powers[j], nodes, weights, moments[:, at], accuracy)
            for j in range(m):
                if known_rows[j] == 0.0:
                    terms -= counts[j] * np.log(2.0)
                    continue
                often = copies[j]
                lowest = 0.0
                if shares[j] > 0.0:
                    _mix(shares[j], mean[j] - slope[j] / cavity[j], 1.0 / cavity[j], moments[:, j])
                    lowest = least
                part = moments[0, j] + 0.5 * np.log1p(pi[k, j] / (often * cavity[j])) + 0.5 * slope[j] ** 2 / cavity[j]
                terms += often * part
                new_pi = max(1.0 / moments[2, j] - cavity[j], lowest)
                back = mean[j] - slope[j] / cavity[j]
                new_nu = new_pi * moments[1, j] + (moments[1, j] - back) * cavity[j]
                d_pi, d_nu = new_pi - pi[k, j] / often, new_nu - nu[k, j] / often
                largest = max(largest, abs(d_pi) * variance[j], abs(d_nu - d_pi * mean[j]) * np.sqrt(variance[j]))
                slope[j], cavity[j] = often * d_pi, often * d_nu
            n_iter[k] = step
            if largest <= tol or careful:
                evidence[k] = log_volume + terms
            if largest <= tol:
                converged[k] = True
                break
            if largest > smallest:
                damping = max(0.5 * damping, 0.125)
            smallest = min(smallest, largest)
            for j in range(m):
                if known_rows[j] != 0.0:
                    last_pi[j], last_nu[j] = damping * slope[j], damping * cavity[j]
                    pi[k, j] += last_pi[j]
                    nu[k, j] += last_nu[j]


@njit(cache=True, nogil=True)
def _mix(share: float, centre: float, variance: float, moments: np.ndarray) -> None:
    """Make the moments of a label's factor those of b + (1 - b) times it."""
    plain = (1.0 - share) * np.exp(moments[0])
    whole = share + plain
    weight = plain / whole
    step = moments[1] - centre
    moments[0] = np.log(whole)
    moments[1] = centre + weight * step
    moments[2] = weight * moments[2] + (1.0 - weight) * variance + weight * (1.0 - weight) * step * step


@njit(cache=True, nogil=True)
def _factorised(
    rows: np.ndarray,
    variances: np.ndarray,
    pi: np.ndarray,
    nu: np.ndarray,
    lower: np.ndarray,
    linear: np.ndarray,
    length: np.ndarray,
    mean: np.ndarray,
    variance: np.ndarray,
) -> float:
    """Marginals of the rows at the sites; the log volume of the Gaussian, nan where there is none."""
    m, n = rows.shape
    lower[:] = 0.0
    linear[:] = 0.0
    for a in range(n):
        lower[a, a] = 1.0 / variances[a]
    for j in range(m):
        for a in range(n):
            weighted = pi[j] * rows[j, a]
            linear[a] += rows[j, a] * nu[j]
            for b in range(a + 1):
                lower[a, b] += weighted * rows[j, b]
    half = 0.0
    for a in range(n):  # Cholesky, in place
        for b in range(a + 1):
            total = lower[a, b]
            for c in range(b):
                total -= lower[a, c] * lower[b, c]
            if a == b:
                if not total > 0.0:
                    return np.nan
                lower[a, a] = np.sqrt(total)
                half += np.log(lower[a, a])
            else:
                lower[a, b] = total / lower[b, b]
    for a in range(n):
        total = linear[a]
        for c in range(a):
            total -= lower[a, c] * linear[c]
        linear[a] = total / lower[a, a]
    for j in range(m):  # L^-1 of every row: its products with itself and with L^-1 F' nu are the moments
        for a in range(n):
            total = rows[j, a]
            for c in range(a):
                total -= lower[a, c] * length[j, c]
            length[j, a] = total / lower[a, a]
        first, second = 0.0, 0.0
        for a in range(n):
            first += length[j, a] * linear[a]
            second += length[j, a] ** 2
        mean[j], variance[j] = first, second
    energy = 0.0
    for a in range(n - 1, -1, -1):  # u = L^-T (L^-1 F' nu), in place
        total = linear[a]
        for c in range(a + 1, n):
            total -= lower[c, a] * linear[c]
        linear[a] = total / lower[a, a]
        energy += linear[a] ** 2 / variances[a]
    return -0.5 * energy - 0.5 * np.sum(np.log(variances)) - half
