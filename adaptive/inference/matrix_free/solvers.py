"""Penalised least squares by products only:

    min_u  |X u - y|^2 / (2 noise) + (u - mu)' S^-1 (u - mu) / 2 + sum_j rho(b_j . u).

Truncated Newton, limited-memory BFGS and nonlinear conjugate gradients behind one interface. Under a Gaussian prior the
unknown is w, u = mu + R w with S = R R', which preconditions and never inverts S. A point carries X u and B u along, so
that a line search needs no product: one product (all operators forward and adjoint) per gradient, and per step of the
inner conjugate gradients of Newton's method.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.optimize

from adaptive.inference.model import GLM
from adaptive.inference.penalties import Penalty
from adaptive.linalg.matrices import covariance_root

if TYPE_CHECKING:
    from adaptive.types import Number

__all__ = ["SOLVERS", "Objective", "Point", "Solution"]


@dataclass
class Point:
    """w with X u and B u; or a step in w with its images, in which case these are linear in it."""

    w: np.ndarray
    measured: np.ndarray
    projected: np.ndarray

    def moved(self, length: float, step: Point) -> Point:
        """The point w + length * step."""
        return Point(
            self.w + length * step.w,
            self.measured + length * step.measured,
            self.projected + length * step.projected,
        )


@dataclass
class Solution:
    """End point of a solver."""

    point: Point
    trace: list[float]
    converged: bool


class Objective:
    """The objective of penalised least squares, its gradient and curvature; counts products.

    Parameters
    ----------
    model : GLM
        Its potentials are ignored: the penalty speaks for them.
    penalty : Penalty
    smoothing : float, default 0
        Passed to the penalty.

    Attributes
    ----------
    products : float
        A forward application of all operators counts one half, an adjoint one half.
    """

    def __init__(self, model: GLM, penalty: Penalty, smoothing: float = 0.0):
        self.model, self.penalty, self.smoothing = model, penalty, smoothing
        self.products = 0.0
        covariance = model.prior_covariance
        self._root: Number = 1.0
        if covariance is not None:
            self._root = covariance_root(np.asarray(covariance)) if np.ndim(covariance) == 2 else np.sqrt(covariance)

    def latent(self, w: np.ndarray) -> np.ndarray:
        """u = mu + R w."""
        return self.model.prior_mean + self._root_times(w)

    def coefficients(self, u: np.ndarray) -> np.ndarray:
        """w with mu + R w = u."""
        gap = u - self.model.prior_mean
        return np.linalg.lstsq(self._root, gap, rcond=None)[0] if np.ndim(self._root) == 2 else gap / self._root

    def _root_times(self, w: np.ndarray) -> np.ndarray:
        return self._root @ w if np.ndim(self._root) == 2 else self._root * w

    def point(self, w: np.ndarray) -> Point:
        """Apply all operators to mu + R w."""
        return Point(w, *self._images(self.latent(w)))

    def step(self, w: np.ndarray) -> Point:
        """Apply all operators to R w."""
        return Point(w, *self._images(self._root_times(w)))

    def _images(self, u: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        self.products += 0.5
        return np.empty(0) if self.model.X is None else self.model.measure(u), self.model.project(u)

    def value(self, at: Point) -> float:
        """The objective; no product."""
        total = float(np.sum(self.penalty(at.projected, self.smoothing)[0]))
        if self.model.y is not None:
            total += float(np.sum(np.abs(at.measured - self.model.y) ** 2)) / (2 * self.model.noise_variance)
        return total + (0.5 * float(at.w @ at.w) if self.model.has_prior else 0.0)

    def gradient(self, at: Point) -> tuple[np.ndarray, float]:
        """The gradient in w, and its size relative to what it would be if nothing in it cancelled.

        That is LSQR's criterion |A' r| / (|A| |r|), extended to the penalty and the prior.
        """
        slope = self.penalty(at.projected, self.smoothing)[1]
        size = self._gains[1] * float(np.linalg.norm(slope))
        residual = None
        if self.model.y is not None:
            residual = at.measured - self.model.y
            size += self._gains[0] * float(np.linalg.norm(residual)) / self.model.noise_variance
        if self.model.has_prior:
            size += float(np.linalg.norm(at.w))
        total = self._back(residual, slope, at.w)
        return total, float(np.linalg.norm(total)) / size if size > 0 else 0.0

    @cached_property
    def _gains(self) -> tuple[float, float]:
        """Factor by which X' and B' lengthen a vector without structure."""
        rng, gains, model = np.random.default_rng(0), [], self.model
        for back, size in (
            (model.back_measure, model.X.shape[0] if model.X else 0),
            (model.back_project, model.projection_rows),
        ):
            noise = rng.choice([-1.0, 1.0], size)
            gains.append(float(np.linalg.norm(self._root_back(back(noise)))) / np.sqrt(size) if size else 0.0)
        self.products += 0.5
        return gains[0], gains[1]

    def curvature(self, at: Point) -> np.ndarray:
        """Second derivatives of the penalty, those of a part that is not convex replaced by zero."""
        return np.maximum(self.penalty(at.projected, self.smoothing)[2], 0.0)

    def curvature_times(self, curvature: np.ndarray, step: Point) -> np.ndarray:
        """The Hessian times a step."""
        return self._back(None if self.model.y is None else step.measured, curvature * step.projected, step.w)

    def _back(self, measured: np.ndarray | None, projected: np.ndarray, w: np.ndarray) -> np.ndarray:
        self.products += 0.5
        total = self.model.back_project(projected)
        if measured is not None:
            total = total + self.model.back_measure(measured) / self.model.noise_variance
        total = self._root_back(total)
        return total + w if self.model.has_prior else total

    def _root_back(self, u: np.ndarray) -> np.ndarray:
        return np.transpose(self._root) @ u if np.ndim(self._root) == 2 else self._root * u


def _line_search(
    objective: Objective, at: Point, value: float, direction: np.ndarray, slope: float
) -> tuple[Point, float] | None:
    """The minimum along the direction, shortened by halves until it lowers the objective enough (Armijo).

    One forward application; None if only rounding is left to gain.
    """
    step = objective.step(direction)
    length = _line_minimum(objective, at, step, slope)
    while -0.5 * length * slope > 1e-15 * (1.0 + abs(value)):
        trial = at.moved(length, step)
        new = objective.value(trial)
        if new <= value + 1e-4 * length * slope:
            return trial, new
        length *= 0.5
    return None


def newton(objective: Objective, start: Point, max_iter: int, tol: float) -> Solution:
    """Truncated Newton: the Newton system by conjugate gradients, the more exactly the nearer the minimum."""
    at, value = start, objective.value(start)
    trace: list[float] = []
    for _ in range(max_iter):
        gradient, relative = objective.gradient(at)
        if relative <= tol:
            return Solution(at, trace, True)
        direction = _newton_direction(objective, at, gradient, min(0.1, np.sqrt(relative)))
        moved = _line_search(objective, at, value, direction, float(gradient @ direction))
        if moved is None:
            return Solution(at, trace, True)
        at, value = moved
        trace.append(value)
    return Solution(at, trace, objective.gradient(at)[1] <= tol)


def _newton_direction(objective: Objective, at: Point, gradient: np.ndarray, accuracy: float) -> np.ndarray:
    """Conjugate gradients on H d = -gradient to a relative residual, stopping at directions without curvature."""
    curvature = objective.curvature(at)
    solution, residual = np.zeros_like(gradient), -gradient
    search, square = residual.copy(), float(residual @ residual)
    target = accuracy**2 * square
    for _ in range(min(10 * len(gradient), 750)):
        image = objective.curvature_times(curvature, objective.step(search))
        bend = float(search @ image)
        if bend <= 1e-14 * float(search @ search):
            return solution if solution.any() else search
        length = square / bend
        solution, residual = solution + length * search, residual - length * image
        previous, square = square, float(residual @ residual)
        if square <= target:
            break
        search = residual + (square / previous) * search
    return solution


def conjugate_gradients(objective: Objective, start: Point, max_iter: int, tol: float) -> Solution:
    """Nonlinear conjugate gradients (Polak and Ribiere), restarted where they do not descend."""
    at, value = start, objective.value(start)
    gradient, relative = objective.gradient(at)
    direction = -gradient
    trace: list[float] = []
    while relative > tol and len(trace) < max_iter:
        slope = float(gradient @ direction)
        moved = _line_search(objective, at, value, direction, slope) if slope < 0 else None
        if moved is None:
            direction = -gradient
            moved = _line_search(objective, at, value, direction, -float(gradient @ gradient))
        if moved is None:
            return Solution(at, trace, True)
        at, value = moved
        trace.append(value)
        previous = gradient
        gradient, relative = objective.gradient(at)
        mixing = max(0.0, float(gradient @ (gradient - previous)) / float(previous @ previous))
        direction = -gradient + mixing * direction
    return Solution(at, trace, relative <= tol)


def _line_minimum(objective: Objective, at: Point, step: Point, slope: float) -> float:
    """Length at which the slope along the step vanishes, by Newton's method in one dimension; no product."""
    model, length = objective.model, 0.0
    fixed = float(step.w @ step.w) if model.has_prior else 0.0
    if model.y is not None:
        fixed += float(np.sum(np.abs(step.measured) ** 2)) / model.noise_variance
    first = objective.penalty(at.projected, objective.smoothing)[1]
    base = slope - float(first @ step.projected)  # slope of all that is quadratic
    low, high = 0.0, np.inf
    for _ in range(20):
        _, first, second = objective.penalty(at.projected + length * step.projected, objective.smoothing)
        now = base + length * fixed + float(first @ step.projected)
        low, high = (length, high) if now < 0 else (low, length)
        bend = fixed + float(np.maximum(second, 0.0) @ step.projected**2)
        new = length - now / bend if bend > 0 else 2 * length + 1.0
        if not low < new < high:
            new = 0.5 * (low + high) if np.isfinite(high) else 2 * length + 1e-3
        if abs(new - length) <= 1e-3 * new:
            return new
        length = new
    return length if length > 0 else 1.0


def limited_memory_bfgs(objective: Objective, start: Point, max_iter: int, tol: float) -> Solution:
    """SciPy's L-BFGS-B, stopped by the relative gradient."""
    trace: list[float] = []
    if objective.gradient(start)[1] <= tol:
        return Solution(start, trace, True)
    last: dict[str, Any] = {}

    def function(w: np.ndarray) -> tuple[float, np.ndarray]:
        at = objective.point(w)
        value = objective.value(at)
        gradient, relative = objective.gradient(at)
        last.update(w=w.copy(), relative=relative)
        return value, gradient

    def note(intermediate_result: scipy.optimize.OptimizeResult) -> None:
        trace.append(float(intermediate_result.fun))
        if last["relative"] <= tol and np.array_equal(last["w"], intermediate_result.x):
            raise StopIteration

    options = {"maxiter": max_iter, "maxfun": 20 * max_iter, "maxcor": 20, "ftol": 0.0, "gtol": 0.0}
    result = scipy.optimize.minimize(function, start.w, jac=True, method="L-BFGS-B", callback=note, options=options)
    at = objective.point(np.asarray(result.x, dtype=float))
    relative = objective.gradient(at)[1]
    # status 0 and 2: the objective, or the line search, sees nothing but rounding
    rounding = result.status == 0 or (result.status == 2 and relative <= 1e-5)
    return Solution(at, trace, relative <= tol or rounding)


SOLVERS: dict[str, Callable[[Objective, Point, int, float], Solution]] = {
    "newton": newton,
    "lbfgs": limited_memory_bfgs,
    "cg": conjugate_gradients,
}
