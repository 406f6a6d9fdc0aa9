"""Places of the hyper-parameters theta that are averaged over, and how much of the integral each stands for:

    int f(theta) d theta  ~  sum_k volume_k f(theta_k),      f = evidence x prior,    theta_i ~ N(start_i, unit_i^2)

One parameter has 9 nodes about the start, two have 3 x 5. More, and those whose f is narrower than this grid, have a
central composite design about the highest f, in units of its curvature there: the centre, the ends of the axes and, of
two to four, the corners, all on one sphere, with volumes that make the rule exact for a Gaussian f. A unit is 1 in ln
length; a variance, whose logarithm is twice that of a height, has 2.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import product
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from adaptive.inference.evidence.maximise import LBFGS, Evaluation, maximise

if TYPE_CHECKING:
    from sklearn.gaussian_process.kernels import Kernel

    from adaptive.estimators.gaussian_process.evidence import Evidence

__all__ = ["Places", "log_prior", "places_about", "places_at_the_top", "units_of"]

ALONG_LENGTH, ALONG_HEIGHT, ALONE = 0.8, 1.2, 0.6  # steps of the grid, in units
RADIUS = 1.1  # of the sphere, over sqrt(p)
MOST_CORNERS = 4  # parameters up to which the corners are tried
VARIANCES = ("constant_value", "noise_level", "variance", "weight")
_STEP = 0.05  # in units, of the differences that make curvatures
_CLIMB = LBFGS(max_iter=100, ftol=1e-4, gtol=1e-2, warns=False)


class Places(NamedTuple):
    """Hyper-parameters and volumes.

    Attributes
    ----------
    points : (k, p) array
    log_volumes : (k,) array
    """

    points: np.ndarray
    log_volumes: np.ndarray


def units_of(kernel: Kernel, n_more: int) -> np.ndarray:
    """Prior standard deviations of a kernel's free parameters, and 1 for each of ``n_more`` others.

    Examples
    --------
    >>> from sklearn.gaussian_process.kernels import RBF
    >>> units_of(2.0 * RBF([1.0, 3.0]), 1)
    array([2., 1., 1., 1.])
    """
    units = [
        2.0 if one.name.endswith(VARIANCES) else 1.0
        for one in kernel.hyperparameters
        if not one.fixed
        for _ in range(one.n_elements)
    ]
    return np.array(units + [1.0] * n_more)


def log_prior(points: np.ndarray, start: np.ndarray, units: np.ndarray) -> np.ndarray:
    """Log densities of the normal prior at points (..., p)."""
    z = (points - start) / units
    return -0.5 * np.sum(np.square(z), axis=-1) - float(np.sum(np.log(units))) - 0.5 * len(units) * np.log(2 * np.pi)


def places_about(problems: Sequence[Evidence], bounds: np.ndarray) -> Places:
    """Return the places of problems that share their hyper-parameters, which start where the problems have them."""
    first = problems[0]
    units = units_of(first.kernel, len(first.theta) - len(first.kernel.theta))
    start = np.clip(first.theta, bounds[:, 0], bounds[:, 1])
    if len(start) > 2:
        return places_at_the_top(problems, bounds)
    found = _grid(start, units)
    inside = np.all((found.points >= bounds[:, 0]) & (found.points <= bounds[:, 1]), axis=1)
    return Places(found.points[inside], found.log_volumes[inside])


def places_at_the_top(problems: Sequence[Evidence], bounds: np.ndarray) -> Places:
    """Return the central composite design about the highest f."""
    first = problems[0]
    units = units_of(first.kernel, len(first.theta) - len(first.kernel.theta))
    return _composite(problems, np.clip(first.theta, bounds[:, 0], bounds[:, 1]), units, bounds)


def _grid(start: np.ndarray, units: np.ndarray) -> Places:
    """Up to two parameters: the last length, or the only one, is tried at more places than what goes with it."""
    if len(start) == 0:
        return Places(start[None], np.zeros(1))
    lengths = np.flatnonzero(units == 1.0)
    main = int(lengths[-1]) if len(lengths) else len(start) - 1
    steps = np.where(np.arange(len(start)) == main, ALONG_LENGTH, ALONG_HEIGHT) * units
    reach = np.where(np.arange(len(start)) == main, 2, 1).tolist()
    if len(start) == 1:
        steps, reach = ALONE * units, [4]
    points = np.array(list(product(*(step * np.arange(-k, k + 1) for step, k in zip(steps, reach, strict=True)))))
    return Places(start + points, np.full(len(points), float(np.sum(np.log(steps)))))


def _composite(problems: Sequence[Evidence], start: np.ndarray, units: np.ndarray, bounds: np.ndarray) -> Places:
    """About the highest f; a place beyond the bounds is put on them."""

    def evaluate(theta: np.ndarray, warm: Any, rough: bool) -> Evaluation:
        value, slope, after = float(log_prior(theta, start, units)), (start - theta) / units**2, []
        for problem, before in zip(problems, warm or [None] * len(problems), strict=True):
            at = replace(problem.at(theta), warm=before)
            try:
                of_one, along = at.value_and_gradient(quiet=True, **getattr(at.engine, "search", {}))
            except (ValueError, np.linalg.LinAlgError):  # no posterior there: look elsewhere
                return Evaluation(warm, -1e25, np.zeros(len(theta)))
            value, slope = value + of_one, slope + along
            after.append(at.warm)
        return Evaluation(after, value, slope)

    found = maximise(evaluate, start, bounds, iteration=_CLIMB)
    p, warm = len(start), found.posterior
    curvature = np.empty((p, p))
    for i in range(p):
        step = np.zeros(p)
        step[i] = _STEP * units[i]
        low, high = (evaluate(found.point + side * step, warm, True).slope for side in (-1.0, 1.0))
        curvature[i] = (low - high) / (2 * step[i])
    values, vectors = np.linalg.eigh(0.5 * (curvature + curvature.T) * np.outer(units, units))
    spread = 1.0 / np.sqrt(np.maximum(values, 1.0))  # nowhere wider than the prior
    z, shares = _sphere(p)
    points = np.clip(found.point + units * (z * spread @ vectors.T), bounds[:, 0], bounds[:, 1])
    log_volume = float(np.sum(np.log(units * spread))) + 0.5 * p * np.log(2 * np.pi)
    return Places(points, log_volume + np.log(shares) + 0.5 * np.sum(np.square(z), axis=1))


def _sphere(p: int) -> tuple[np.ndarray, np.ndarray]:
    """Centre and places on a sphere, (k, p), and shares with which they have the moments of N(0, I)."""
    radius = RADIUS * np.sqrt(p)
    around = [side * radius * row for row in np.eye(p) for side in (-1.0, 1.0)]
    if 1 < p <= MOST_CORNERS:
        around += [RADIUS * np.array(corner) for corner in product((-1.0, 1.0), repeat=p)]
    on_sphere = 1.0 / RADIUS**2
    shares = np.concatenate([[1.0 - on_sphere], np.full(len(around), on_sphere / len(around))])
    return np.stack([np.zeros(p), *around]), shares
