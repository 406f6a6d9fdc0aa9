"""The tilts of :mod:`adaptive.potentials.softmax`, row by row: the minimum over a of

    g(a) = a' V a / 2 + ln sum_k exp( m_k + V_kk / 2 - (V a)_k ),

by Newton's method on  a = softmax(m + diag(V) / 2 - V a), steps halved until g does not rise.
"""

from __future__ import annotations

import numpy as np
from numba import njit

__all__ = ["tilts"]

_NEWTON_STEPS = 30
_HALVINGS = 30


@njit(cache=True, nogil=True)
def _at(half: np.ndarray, covariance: np.ndarray, tilt: np.ndarray, image: np.ndarray) -> float:
    """Write the softmax at a tilt into ``image``; return g."""
    c = len(half)
    quadratic, peak = 0.0, -np.inf
    for k in range(c):
        spread = 0.0
        for l in range(c):
            spread += covariance[k, l] * tilt[l]
        quadratic += tilt[k] * spread
        image[k] = half[k] - spread
        peak = max(peak, image[k])
    total = 0.0
    for k in range(c):
        image[k] = np.exp(image[k] - peak)
        total += image[k]
    for k in range(c):
        image[k] /= total
    return 0.5 * quadratic + peak + np.log(total)


@njit(cache=True, nogil=True)
def tilts(
    mean: np.ndarray, covariance: np.ndarray, tilt: np.ndarray, tol: float, value: np.ndarray, image: np.ndarray
) -> None:
    """Move every row's ``tilt`` (m, c) to its fixed point; write g (m,) there and the softmax, its image (m, c)."""
    m, c = mean.shape
    half, step, trial, new = np.empty((m, c)), np.empty(c), np.empty(c), np.empty(c)
    system = np.empty((c, c))
    for i in range(m):
        for k in range(c):
            half[i, k] = mean[i, k] + 0.5 * covariance[i, k, k]
        value[i] = _at(half[i], covariance[i], tilt[i], image[i])
    for _ in range(_NEWTON_STEPS):
        if not np.abs(image - tilt).max() > tol:  # of all rows: what a row leaves does not depend on who stops first
            break
        moved = False
        for i in range(m):
            V = covariance[i]
            for k in range(c):  # I + (diag(p) - p p') V
                for l in range(c):
                    system[k, l] = image[i, k] * V[k, l]
            for l in range(c):
                column = 0.0
                for k in range(c):
                    column += system[k, l]
                for k in range(c):
                    system[k, l] -= image[i, k] * column
            for k in range(c):
                system[k, k] += 1.0
                step[k] = image[i, k] - tilt[i, k]
            direction = np.linalg.solve(system, step)
            length = 1.0
            for _ in range(_HALVINGS):
                for k in range(c):
                    trial[k] = tilt[i, k] + length * direction[k]
                reached = _at(half[i], V, trial, new)
                if reached <= value[i] + 1e-13 * (1.0 + abs(value[i])):
                    moved, value[i] = True, reached
                    tilt[i], image[i] = trial, new
                    break
                length *= 0.5
        if not moved:  # no descent but by rounding
            break
