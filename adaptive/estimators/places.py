"""Places of hyper-parameters that are averaged over, about the highest of their evidence times prior.

    int f(theta) d theta  ~  sum_k volume_k f(theta_k),      f = evidence x prior,    theta_i ~ N(start_i, unit_i^2)

The central composite design, in units of f's curvature at its top: the centre, the ends of the axes and, of two to four
parameters, the corners, all on one sphere, with volumes that make the rule exact for a Gaussian f.
"""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from adaptive.inference.evidence.maximise import Evaluate, Maximum

__all__ = ["Places", "about_the_top", "log_prior", "on_a_sphere"]

RADIUS = 1.1  # of the sphere, over sqrt(p)
MOST_CORNERS = 4  # parameters up to which the corners are tried
_STEP = 0.05  # in units, of the differences that make curvatures


class Places(NamedTuple):
    """Hyper-parameters and volumes.

    Attributes
    ----------
    points : (k, p) array
    log_volumes : (k,) array
    """

    points: np.ndarray
    log_volumes: np.ndarray


def log_prior(points: np.ndarray, start: np.ndarray, units: np.ndarray) -> np.ndarray:
    """Log densities of the normal prior at points (..., p)."""
    z = (points - start) / units
    return -0.5 * np.sum(np.square(z), axis=-1) - float(np.sum(np.log(units))) - 0.5 * len(units) * np.log(2 * np.pi)


def about_the_top(evaluate: Evaluate, top: Maximum, units: np.ndarray, bounds: np.ndarray) -> Places:
    """Return the central composite design about the highest f, the centre first.

    Parameters
    ----------
    evaluate : callable (theta, warm_start, rough) -> Evaluation
        Of ln f, whose slopes on both sides of the top make its curvature.
    top : Maximum
        Where f is highest.
    units : (p,) array
        Prior standard deviations: nowhere is the design wider than the prior.
    bounds : (p, 2) array
        A place beyond them is put on them.
    """
    p, warm = len(top.point), top.posterior
    curvature = np.empty((p, p))
    for i in range(p):
        step = np.zeros(p)
        step[i] = _STEP * units[i]
        low, high = (evaluate(top.point + side * step, warm, True).slope for side in (-1.0, 1.0))
        curvature[i] = (low - high) / (2 * step[i])
    values, vectors = np.linalg.eigh(0.5 * (curvature + curvature.T) * np.outer(units, units))
    spread = 1.0 / np.sqrt(np.maximum(values, 1.0))
    z, shares = on_a_sphere(p)
    points = np.clip(top.point + units * (z * spread @ vectors.T), bounds[:, 0], bounds[:, 1])
    log_volume = float(np.sum(np.log(units * spread))) + 0.5 * p * np.log(2 * np.pi)
    return Places(points, log_volume + np.log(shares) + 0.5 * np.sum(np.square(z), axis=1))


def on_a_sphere(p: int) -> tuple[np.ndarray, np.ndarray]:
    """Centre and places on a sphere, (k, p), and shares with which they have the moments of N(0, I)."""
    radius = RADIUS * np.sqrt(p)
    around = [side * radius * row for row in np.eye(p) for side in (-1.0, 1.0)]
    if 1 < p <= MOST_CORNERS:
        around += [RADIUS * np.array(corner) for corner in product((-1.0, 1.0), repeat=p)]
    on_sphere = 1.0 / RADIUS**2
    shares = np.concatenate([[1.0 - on_sphere], np.full(len(around), on_sphere / len(around))])
    return np.stack([np.zeros(p), *around]), shares
