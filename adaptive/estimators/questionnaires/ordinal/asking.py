"""Lesson of each possible answer about a person, compiled: one run of EP over its steps for each."""

from __future__ import annotations

import numba
import numpy as np

from adaptive.estimators.questionnaires.ordinal.messages import add, inverse, marginal_of_answer, site_of, through
from adaptive.inference.dense.step_kernel import gaussian_part, propagate

__all__ = ["INNER", "INNER_TOL", "ask"]

_options = {"cache": True, "nogil": True, "error_model": "numpy"}
INNER = 50  # sweeps over the steps of one answer
INNER_TOL = 1e-6


@numba.njit(**_options)
def ask(
    m: np.ndarray,
    V: np.ndarray,
    P: np.ndarray,
    e: np.ndarray,
    places: np.ndarray,
    targets: np.ndarray,
    item_mean: np.ndarray,
    item_cov: np.ndarray,
    tau2: np.ndarray,
    beta2: float,
    directions: np.ndarray,
    counts: np.ndarray,
    logs: np.ndarray,
    variances: np.ndarray,
    message: np.ndarray,
    sites: np.ndarray,
) -> np.ndarray:
    """log Z of every answer (R,), the packed message (R, .) of each, the covariance of the targets after it, and sites.

    Returns the covariance of w before.
    """
    levels = len(item_mean)
    d = levels + 1
    before, prior = np.empty(d), np.empty((d, d))
    first = marginal_of_answer(m, V, places, item_mean, item_cov, tau2, beta2, before, prior)
    noise, offset = prior.copy(), before.copy()
    for i in range(len(places)):
        offset[first + i] -= m[places[i]]
        for j in range(len(places)):
            noise[first + i, first + j] -= V[places[i], places[j]]
    site, pull = np.empty((d, d)), np.empty(d)
    after, shift, inverted = np.empty_like(P), np.empty_like(e), np.empty_like(P)
    for r in range(len(counts)):
        n = counts[r]
        precisions, shifts = np.zeros(n), np.zeros(n)
        mean, cov = before.copy(), prior.copy()
        rows = directions[r, :n]
        terms, _, _ = propagate(mean, cov, rows, np.zeros(n), precisions, shifts, INNER, INNER_TOL)
        logs[r] = terms + gaussian_part(before, prior, mean, rows, precisions, shifts)
        site_of(rows, n, precisions, shifts, site, pull)
        sites[r] = site
        through(site, pull, noise, offset, message[r], first, len(places))
        after[:] = P
        shift[:] = e
        add(after, shift, message[r], places, 1.0)
        inverse(after, inverted)
        for i in range(len(targets)):
            for j in range(len(targets)):
                variances[r, i, j] = inverted[targets[i], targets[j]]
    return prior
