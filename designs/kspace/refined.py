"""A continuous angle: the best of a grid, then the best between its neighbours.

The score of a shot is a smooth function of its angle. Every step climbs to the top of the parabola through the three
best points of a bracket, where its slope is zero, and halves the bracket where the parabola is not to be trusted; the
brackets of several peaks go up together, one transform for all.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from adaptive.checks import finite, integer, positive

if TYPE_CHECKING:
    from adaptive.types import ArrayLike, Estimator

__all__ = ["RefinedAngles"]

_GOLDEN = (3 - np.sqrt(5)) / 2
_STEPS = 30


class RefinedAngles:
    """Candidates that change with what is known: shots at the angles where a score peaks, found between grid points.

    Give it to ``select`` or ``SequentialDesign`` in the place of a pool: it is called with the estimator and returns
    the pool of the peaks' shots, best first on the grid.

    Parameters
    ----------
    make : callable(angles) -> pool
        As ``functools.partial(spirals, shape)``.
    grid : array-like (m,)
        Angles in increasing order, in radians; three or more.
    period : float, optional
        After which shots come again: then the first and the last angle are neighbours. None: they are ends.
    n_peaks : int, default 4
        How many of the highest peaks of the grid are refined (as many as there are).
    tol : float, default 1e-3
        To which share of the grid's spacing.

    Raises
    ------
    ValueError
        If the grid holds fewer than three angles, is not in increasing order, or longer than the period.

    Notes
    -----
    The estimator is asked for ``predictive(pool).log_determinant()``: the score is the information gain, in nats.
    Labels are angles, plain numbers: a log names them, and a replay finds them again, since what is known gives the
    same peaks.

    The search is one-dimensional and takes no derivatives: at what it returns the slope of the score vanishes, to the
    tolerance. A derivative would cost two more transforms of each shot, one per axis of k-space, about what two more
    points cost; and where scores come from samples it would have to be that of their estimate, control variates
    included, not of the information.

    Examples
    --------
    >>> from functools import partial
    >>> from adaptive import ImageReconstructor
    >>> from designs.kspace import equispaced_angles, spokes
    >>> angles = RefinedAngles(partial(spokes, (16, 16)), equispaced_angles(6, np.pi), period=np.pi, n_peaks=2)
    >>> model = ImageReconstructor((16, 16), wavelet="db2")
    >>> 1 <= len(angles(model)) <= 2
    True
    """

    def __init__(
        self,
        make: Callable[[np.ndarray], Any],
        grid: ArrayLike,
        *,
        period: float | None = None,
        n_peaks: int = 4,
        tol: float = 1e-3,
    ):
        self.make, self.grid = make, finite("grid", grid)
        if self.grid.ndim != 1 or len(self.grid) < 3 or (np.diff(self.grid) <= 0).any():
            raise ValueError(
                f"grid must hold three or more angles in increasing order, got {self.grid.size} of shape "
                f"{self.grid.shape}."
            )
        self.period = None if period is None else float(positive("period", period))
        if self.period is not None and self.grid[-1] - self.grid[0] >= self.period:
            raise ValueError(
                f"grid must be shorter than the period {self.period:g}, after which angles come again, got "
                f"{self.grid[-1] - self.grid[0]:g}."
            )
        self.n_peaks, self.tol = integer("n_peaks", n_peaks, minimum=1), float(positive("tol", tol))

    def __repr__(self) -> str:
        return f"RefinedAngles({len(self.grid)} angles, {self.n_peaks} peaks)"

    def __call__(self, estimator: Estimator) -> Any:
        """The pool of the shots at the refined peaks."""

        def score(angles: np.ndarray) -> np.ndarray:
            return np.asarray(estimator.predictive(self.make(angles)).log_determinant()[0], float)

        low, middle, high = self._brackets(score(self.grid))
        return self.make(_climb(score, low, middle, high, self.tol * float(np.diff(self.grid).min())))

    def _brackets(self, scores: np.ndarray) -> tuple[np.ndarray, ...]:
        """The grid's highest peaks with their neighbours."""
        if self.period is None:
            angles, values = self.grid, np.concatenate([[-np.inf], scores, [-np.inf]])
            before, after = np.append(angles[0], angles[:-1]), np.append(angles[1:], angles[-1])
        else:
            angles, values = self.grid, np.concatenate([scores[-1:], scores, scores[:1]])
            before = np.append(angles[-1] - self.period, angles[:-1])
            after = np.append(angles[1:], angles[0] + self.period)
        # On a plateau the first point counts, so that there is always a peak.
        peaks = np.flatnonzero((scores > values[:-2]) & (scores >= values[2:]))
        if not len(peaks):
            peaks = np.array([int(np.argmax(scores))])
        best = peaks[np.argsort(-scores[peaks], kind="stable")[: self.n_peaks]]
        return before[best], angles[best], after[best]


def _climb(
    score: Callable[[np.ndarray], np.ndarray], low: np.ndarray, middle: np.ndarray, high: np.ndarray, tol: float
) -> np.ndarray:
    """Maxima between ``low`` and ``high``, all brackets at once; ``middle`` is the best known point of each."""
    m = len(middle)
    x = np.stack([low, middle, high])
    y = score(x.ravel()).reshape(3, m)
    best = y.argmax(axis=0)  # an end of the grid may be higher than its one neighbour
    where, value = x[best, np.arange(m)], y[best, np.arange(m)]
    for _ in range(_STEPS):
        width = x[2] - x[0]
        if (width <= 2 * tol).all():
            break
        trial = _trial(x, y, tol)
        found = score(trial)
        better = found > value
        where, value = np.where(better, trial, where), np.where(better, found, value)
        for k in range(m):
            _narrow(x[:, k], y[:, k], trial[k], found[k])
    return where


def _trial(x: np.ndarray, y: np.ndarray, tol: float) -> np.ndarray:
    """Top of the parabola through the three points; a golden section of the wider side where that is no safe step."""
    a, b, c = x
    p, q = (b - a) * (y[1] - y[2]), (b - c) * (y[1] - y[0])
    with np.errstate(divide="ignore", invalid="ignore"):
        top = b - 0.5 * ((b - a) * p - (b - c) * q) / (p - q)
    left = b - a > c - b
    golden = np.where(left, b - _GOLDEN * (b - a), b + _GOLDEN * (c - b))
    # A parabola's top inside the bracket, at a distance from what is known: else it would stop at its own guess, while
    # the far end of the bracket stays where it is.
    least = np.maximum(tol, 0.02 * (c - a))
    near = np.abs(top - b) < least
    top = np.where(near, b + np.where(left, -least, least), top)
    safe = np.isfinite(top) & (top > a + 0.1 * least) & (top < c - 0.1 * least)
    return np.where(safe, top, golden)


def _narrow(x: np.ndarray, y: np.ndarray, trial: float, found: float) -> None:
    """The smaller bracket about the better one of middle and trial, in place."""
    side = 0 if trial < x[1] else 2
    if found > y[1]:
        x[2 - side], y[2 - side] = x[1], y[1]
        x[1], y[1] = trial, found
    else:
        x[side], y[side] = trial, found
