"""A box of inputs as a pool: points that fill it, and the best of them moved uphill to where the score is largest.

What to ask next is then continuous: at every call a scrambled Sobol grid is scored, and from its best points Newton
steps climb the score, its slope and curvature by differences, inside the box.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.stats import qmc

from adaptive import checks, scorers
from adaptive.scorers import record_of
from adaptive.selection.scoring import View, undecided

if TYPE_CHECKING:
    from adaptive.types import ArrayLike, Estimator, Pool, RandomState, Scorer

__all__ = ["Box", "box", "corners"]

_STEP = 1e-3  # of the box's sides, between the points of a difference
_LENGTHS = 2.0 ** np.array([1, 0, -1, -2, -4, -6])  # of Newton steps that are tried
_STRIDES = 4.0 ** -np.arange(1, 7)  # of steps along the slope, in sides of the box
_SAME = 1e-4  # sides of the box within which two optima are one
_CHUNK = 2**14  # points scored at once


def box(
    lower: float | Sequence[float] | np.ndarray,
    upper: float | Sequence[float] | np.ndarray,
    *,
    points: int = 256,
    scorer: Scorer = "information_gain",
    target: Pool | None = None,
    cost: Callable[[np.ndarray], ArrayLike] | None = None,
    allowed: Callable[[np.ndarray], ArrayLike] | None = None,
    refine: int = 8,
    iterations: int = 20,
    random_state: RandomState = None,
) -> Box:
    """A box of inputs as a callable pool ``estimator -> (m, d) array``, for ``select`` and `SequentialDesign`.

    Parameters
    ----------
    lower, upper : (d,) array-like
        Corners of the box, both included.
    points : int, default 256
        Of the scrambled Sobol grid; powers of two fill the box evenly.
    scorer, target
        As in ``select``: what the best points are refined for. The scorer must score candidates one by one.
    cost : callable(candidates) -> (m,), optional
        As in ``select``; the score is divided by it.
    allowed : callable(candidates) -> (m,) of bool, optional
        What the instrument allows: no other point is in the pool, and none climbs out of there.
    refine : int, default 8
        How many of the grid's best points climb; 0: the grid alone.
    iterations : int, default 20
        Newton steps at most; each scores the differences of all climbing points in one predictive, and their trial
        steps in another.
    random_state : None, int, Generator or RandomState
        Of the grid and of scorers that draw. The grid is the same at every call.

    Returns
    -------
    Box
        Called with an estimator it returns the refined points, best first, above the grid.

    Raises
    ------
    ValueError
        If the scorer looks at the whole pool, ``cost`` cannot be called, or a number is no integer in range.

    Examples
    --------
    >>> from sklearn.gaussian_process.kernels import RBF
    >>> from adaptive import GaussianProcessRegressor
    >>> model = GaussianProcessRegressor(RBF(0.3), alpha=0.1, optimizer=None).fit([[0.0], [1.0]], [0.0, 0.0])
    >>> inputs = box([0.0], [1.0], random_state=0)
    >>> pool = inputs(model)
    >>> pool.shape[1], round(float(pool[model.select(pool)[0], 0]), 6)   # half-way, to all digits
    (1, 0.5)
    """
    low, high = corners(lower, upper)
    score = scorers.get(scorer)
    if record_of(score).whole_pool:
        raise ValueError(f"scorer must score candidates one by one, got {scorer!r}, which looks at the whole pool.")
    if cost is not None and not callable(cost):
        raise ValueError(f"cost must be a callable(candidates) -> (m,), got {type(cost).__name__}.")
    if allowed is not None and not callable(allowed):
        raise ValueError(f"allowed must be a callable(candidates) -> (m,) of bool, got {type(allowed).__name__}.")
    return Box(
        low,
        high,
        checks.integer("points", points, minimum=1),
        score,
        target,
        cost,
        allowed,
        checks.integer("refine", refine, minimum=0),
        checks.integer("iterations", iterations, minimum=0),
        int(checks.generator(random_state).integers(2**62)),
    )


@dataclass(frozen=True)
class Box:
    """Pool that `box` makes."""

    lower: np.ndarray
    upper: np.ndarray
    points: int
    scorer: Callable[..., ArrayLike]
    target: Pool | None
    cost: Callable[[np.ndarray], ArrayLike] | None
    allowed: Callable[[np.ndarray], ArrayLike] | None
    refine: int
    iterations: int
    seed: int

    def __call__(self, estimator: Estimator) -> np.ndarray:
        """The pool as the estimator sees it now."""
        unit = self.grid()
        unit = unit[self._allowed(unit)]
        if not len(unit):
            raise ValueError(f"allowed must allow some of the box, but allows none of the {self.points} grid points.")
        grid = self._inside(unit)
        if self.refine == 0 or undecided(self._view(estimator, grid[:1]).outlook(grid[:1])):
            return grid
        values = self._scores(estimator, unit)
        best = np.argsort(-values, kind="stable")[: self.refine]
        refined = self._local_maxima(estimator, unit[best], values[best])
        return np.concatenate([self._inside(refined), grid])

    def grid(self) -> np.ndarray:
        """The scrambled Sobol grid in the unit cube, (points, d)."""
        sobol = qmc.Sobol(len(self.lower), scramble=True, seed=np.random.default_rng(self.seed))
        power = int(np.ceil(np.log2(self.points)))
        return sobol.random_base2(power)[: self.points]

    def _inside(self, unit: np.ndarray) -> np.ndarray:
        """Points of the unit cube as points of the box, its faces exactly."""
        moved = self.lower + unit * (self.upper - self.lower)
        return np.where(unit >= 1.0, self.upper, np.minimum(moved, self.upper))

    def _allowed(self, unit: np.ndarray) -> np.ndarray:
        """Mask of the points of the unit cube that the instrument allows, (n,)."""
        if self.allowed is None:
            return np.ones(len(unit), dtype=bool)
        found = np.asarray(self.allowed(self._inside(unit)))
        if found.dtype != bool or found.shape != (len(unit),):
            raise ValueError(
                f"allowed must return {len(unit)} booleans, one per point, got {found.dtype} of shape {found.shape}."
            )
        return found

    def _view(self, estimator: Estimator, points: np.ndarray) -> View:
        rng = np.random.default_rng(self.seed)
        return View(estimator, points, None, None, self.target, self.scorer, rng)

    def _scores(self, estimator: Estimator, unit: np.ndarray) -> np.ndarray:
        points = self._inside(unit)
        parts = [points[start : start + _CHUNK] for start in range(0, len(points), _CHUNK)]
        scores = np.concatenate([self._view(estimator, part).scores()[0] for part in parts])
        return scores if self.cost is None else scores / np.asarray(self.cost(points), dtype=float)

    # ------------------------------------------------------------------ uphill, in the unit cube
    def _local_maxima(self, estimator: Estimator, x: np.ndarray, values: np.ndarray) -> np.ndarray:
        """Find where the score is largest around each of the points x (k, d); best first, without repetitions."""
        x, values = x.copy(), values.copy()
        moving = np.ones(len(x), dtype=bool)
        for _ in range(self.iterations):
            trials = self._trials(estimator, x[moving])
            points = trials.reshape(-1, x.shape[1])
            found = np.where(self._allowed(points), self._scores(estimator, points), -np.inf).reshape(trials.shape[:2])
            best = np.argmax(found, axis=1)
            gained = found[np.arange(len(best)), best] - values[moving]
            better = gained > 0
            at = np.flatnonzero(moving)
            x[at[better]] = trials[np.arange(len(best)), best][better]
            values[at[better]] += gained[better]
            moving[at] = gained > 1e-12 * (1.0 + np.abs(values[at]))
            if not moving.any():
                break
        kept: list[int] = []
        for k in np.argsort(-values, kind="stable").tolist():
            if all(np.abs(x[k] - x[other]).max() > _SAME for other in kept):
                kept.append(k)
        return x[kept]

    def _trials(self, estimator: Estimator, x: np.ndarray) -> np.ndarray:
        """Points to look at next, (k, trials, d): along Newton's step and along the slope, cut off at the faces."""
        slope, curvature = self._derivatives(estimator, x)
        free = ~(((x <= 0.0) & (slope < 0)) | ((x >= 1.0) & (slope > 0))) & (self.upper > self.lower)
        slope = np.where(free, slope, 0.0)
        curvature = curvature * (free[:, :, None] & free[:, None, :])
        values, vectors = np.linalg.eigh(curvature)
        size = np.maximum(np.abs(values), 1e-10 * (1e-10 + np.abs(values).max(axis=1, keepdims=True)))
        along = np.einsum("kij,ki->kj", vectors, slope) / size  # uphill also where the curvature is positive
        newton = np.where(free, np.einsum("kij,kj->ki", vectors, along), 0.0)
        norm = np.maximum(np.abs(slope).max(axis=1, keepdims=True), np.finfo(float).tiny)
        steps = np.concatenate(
            [_LENGTHS[:, None] * newton[:, None], _STRIDES[:, None] * (slope / norm)[:, None]], axis=1
        )
        return np.clip(x[:, None] + steps, 0.0, 1.0)

    def _derivatives(self, estimator: Estimator, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Slope (k, d) and curvature (k, d, d) by central differences, from a stencil that stays inside."""
        k, d = x.shape
        centre = np.clip(x, _STEP, 1.0 - _STEP)
        pairs = list(itertools.combinations(range(d), 2))
        offsets = [np.zeros(d)]
        for i in range(d):
            offsets += [side * np.eye(d)[i] for side in (1, -1)]
        for i, j in pairs:
            offsets += [a * np.eye(d)[i] + b * np.eye(d)[j] for a in (1, -1) for b in (1, -1)]
        stencil = centre[:, None] + _STEP * np.array(offsets)
        f = self._scores(estimator, stencil.reshape(-1, d)).reshape(k, -1)
        up, down = f[:, 1 : 2 * d + 1 : 2], f[:, 2 : 2 * d + 1 : 2]
        curvature = np.zeros((k, d, d))
        curvature[:, np.arange(d), np.arange(d)] = (up + down - 2.0 * f[:, :1]) / _STEP**2
        for p, (i, j) in enumerate(pairs):
            four = f[:, 2 * d + 1 + 4 * p : 2 * d + 5 + 4 * p]
            curvature[:, i, j] = curvature[:, j, i] = four @ np.array([1, -1, -1, 1]) / (4.0 * _STEP**2)
        slope = (up - down) / (2.0 * _STEP)
        return slope + np.einsum("kij,kj->ki", curvature, x - centre), curvature


def corners(
    lower: float | Sequence[float] | np.ndarray, upper: float | Sequence[float] | np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """The corners of a box as arrays (d,); one clear sentence where they are none."""
    low, high = np.atleast_1d(np.asarray(lower, float)), np.atleast_1d(np.asarray(upper, float))
    if low.ndim != 1 or low.shape != high.shape or not np.isfinite([low, high]).all() or (low > high).any():
        raise ValueError(
            f"lower and upper must be the finite corners of a box, lower <= upper, got {lower} and {upper}."
        )
    return low, high
