"""Expectation propagation of logit labels on jointly Gaussian latents, as a search for hyper-parameters asks for it.

The sweeps of :mod:`adaptive.inference.expectation_propagation`, all sites at once and extrapolated, with what a search
repeats twenty times left out: the checks of the model, moments finer than the tolerance, and the record of an engine.
"""

from __future__ import annotations

from functools import lru_cache, partial
from typing import TYPE_CHECKING

import numpy as np
import scipy.sparse as sp
from numba import njit

from adaptive.gaussians import CovarianceForm
from adaptive.inference.dense.anderson import AndersonMixing
from adaptive.inference.posterior import Posterior
from adaptive.potentials.logit_moments import NODES, WEIGHTS, accuracy_for, many

if TYPE_CHECKING:
    from adaptive.types import Matrix

__all__ = ["logit_latents"]

_FLAT = 1e-10  # cavity precision, in units of the marginal's, that stands for zero
_QUICK = 0.3  # a sweep that leaves less than this share of the residual needs no extrapolation


def logit_latents(
    covariance: np.ndarray,
    mean: np.ndarray,
    signs: np.ndarray,
    *,
    tol: float,
    max_iter: int,
    warm_start: Posterior | None = None,
) -> Posterior | None:
    """Return the posterior of latents N(mean, covariance) whose labels are ``signs``; None where it did not settle.

    Parameters
    ----------
    covariance : (n, n) array, positive definite
    mean : (n,) array
    signs : (n,) array of -1 and +1
    tol : float
        Stop when no site wants to change its marginal by more than this, in units of the marginal's own precision.
    max_iter : int
    warm_start : Posterior, optional
        Of the first of these latents.

    Examples
    --------
    >>> posterior = logit_latents(np.eye(1), np.zeros(1), np.ones(1), tol=1e-6, max_iter=20)
    >>> round(posterior.log_evidence, 6)                        # ln 1/2
    -0.693147
    """
    n = len(signs)
    pi, nu = np.zeros((2, n))
    if warm_start is not None:
        for start, sites in zip((pi, nu), warm_start.sites, strict=True):
            start[: len(sites)] = sites
    gaussian = CovarianceForm(_identity(n), prior_mean=mean, prior_covariance=covariance)
    accuracy, mixing = accuracy_for(tol), AndersonMixing()
    wanted, smallest = np.empty((2, n)), np.inf
    plain: np.ndarray | None = None  # where the last sweep would have gone without extrapolation
    for step in range(max_iter + 1):
        try:
            gaussian.refit(pi, nu)
        except np.linalg.LinAlgError:
            return None
        centre, variance = gaussian.marginals()
        residual, terms = _tilted(centre, variance, pi, nu, signs, accuracy, NODES, WEIGHTS, wanted)
        if residual <= tol:
            value = gaussian.log_volume + terms
            return Posterior(
                gaussian,
                sites=(pi, nu),
                group_lengths=[n],
                log_evidence=value,
                evidence_kind="approximation",
                n_iter=step,
                engine="expectation_propagation",
            )
        if not np.isfinite(residual):
            if plain is None:
                return None
            (pi, nu), plain = plain, None
            mixing.clear()
            continue
        if residual > 2.0 * smallest:
            mixing.clear()
        point = np.stack([pi, nu])
        mixing.add(point, wanted - point)
        (pi, nu), plain = wanted.copy(), None
        if residual > _QUICK * smallest:
            far = mixing.next(partial(_in_units, mean=centre, variance=variance))
            if far is not None:
                plain, positive = np.stack([pi, nu]), far[0] >= 0
                pi, nu = np.where(positive, far[0], pi), np.where(positive, far[1], nu)
        smallest = min(smallest, residual)
    return None


def _in_units(d_pi: np.ndarray, d_nu: np.ndarray, mean: np.ndarray, variance: np.ndarray) -> np.ndarray:
    """Changes of sites in units of the marginals."""
    return np.concatenate([d_pi * variance, (d_nu - d_pi * mean) * np.sqrt(variance)])


@lru_cache(maxsize=8)
def _identity(n: int) -> Matrix:
    return sp.eye_array(n, format="csr")


@njit(cache=True)
def _tilted(
    mean: np.ndarray,
    variance: np.ndarray,
    pi: np.ndarray,
    nu: np.ndarray,
    signs: np.ndarray,
    accuracy: float,
    nodes: np.ndarray,
    weights: np.ndarray,
    wanted: np.ndarray,
) -> tuple[float, float]:
    """Write the sites that marginals and sites ask for; return the largest move, and the sum of the evidence's terms.

    The move is infinite where a cavity is no Gaussian.
    """
    m = len(mean)
    moments, cavity, slope, back = np.empty((3, m)), np.empty(m), np.empty(m), np.empty(m)
    proper = True
    for j in range(m):
        v = variance[j]
        precision = 1.0 / v - pi[j]
        proper = proper and precision > -_FLAT / v
        cavity[j] = max(precision, _FLAT / v)
        slope[j] = nu[j] - pi[j] * mean[j]
        back[j] = mean[j] - slope[j] / cavity[j]
    many(back * signs, 1.0 / cavity, 1.0, nodes, weights, moments, accuracy)
    largest, terms = 0.0, 0.0
    for j in range(m):
        terms += moments[0, j] + 0.5 * np.log1p(pi[j] / cavity[j]) + 0.5 * slope[j] ** 2 / cavity[j]
        centre = signs[j] * moments[1, j]
        new_pi = max(1.0 / moments[2, j] - cavity[j], 0.0)
        new_nu = new_pi * centre + (centre - back[j]) * cavity[j]
        d_pi, d_nu = new_pi - pi[j], new_nu - nu[j]
        largest = max(largest, abs(d_pi) * variance[j], abs(d_nu - d_pi * mean[j]) * np.sqrt(variance[j]))
        wanted[0, j], wanted[1, j] = new_pi, new_nu
    return (largest if proper else np.inf), terms
