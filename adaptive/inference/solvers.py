"""Penalised least squares by products only:

    min_u  |X u - y|^2 / (2 noise) + (u - mu)' S^-1 (u - mu) / 2 + sum_j rho(b_j . u).

Truncated Newton, limited-memory BFGS and nonlinear conjugate gradients behind one interface. A point carries X u and
B u along, so that a line search needs no product: one product (all operators forward and adjoint) per gradient, and per
step of the inner conjugate gradients of Newton's method.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.linalg
import scipy.optimize

from .model import GLM
from .penalties import Penalty

__all__ = ["SOLVERS", "Objective", "Point", "Solution"]


@dataclass
class Point:
    """u with its images under the operators: X u, B u and S^-1 u, all linear in u."""

    u: np.ndarray
    measured: np.ndarray
    projected: np.ndarray
    weighted: np.ndarray

    def moved(self, length: float, step: Point) -> Point:
        """The point u + length * step."""
        return Point(
            self.u + length * step.u,
            self.measured + length * step.measured,
            self.projected + length * step.projected,
            self.weighted + length * step.weighted,
        )


@dataclass
class Solution:
    """Where a solver stopped."""

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

    @cached_property
    def _prior_factor(self) -> Any:
        return scipy.linalg.cho_factor(self.model.prior_covariance, lower=True)

    def _prior_precision_times(self, u: np.ndarray) -> np.ndarray:
        covariance = self.model.prior_covariance
        if covariance is None:
            return np.zeros_like(u)
        return scipy.linalg.cho_solve(self._prior_factor, u) if np.ndim(covariance) == 2 else u / covariance

    def point(self, u: np.ndarray) -> Point:
        """Apply all operators to u."""
        self.products += 0.5
        measured = np.empty(0) if self.model.X is None else self.model.measure(u)
        return Point(u, measured, self.model.project(u), self._prior_precision_times(u))

    def value(self, at: Point) -> float:
        """The objective; no product."""
        total = float(np.sum(self.penalty(at.projected, self.smoothing)[0]))
        if self.model.y is not None:
            total += float(np.sum(np.abs(at.measured - self.model.y) ** 2)) / (2 * self.model.noise_variance)
        gap = at.u - self.model.prior_mean
        return total + 0.5 * float(gap @ (at.weighted - self._weighted_prior_mean))

    @cached_property
    def _weighted_prior_mean(self) -> np.ndarray:
        return self._prior_precision_times(self.model.prior_mean)

    def gradient(self, at: Point) -> tuple[np.ndarray, float]:
        """The gradient, and its size relative to that of its parts (which cancel at the minimum)."""
        parts = self._back(at.measured - self.model.y if self.model.y is not None else None, self._slope(at))
        parts.append(at.weighted - self._weighted_prior_mean)
        total = np.sum(parts, axis=0)
        size = sum(float(np.linalg.norm(part)) for part in parts)
        return total, float(np.linalg.norm(total)) / size if size > 0 else 0.0

    def _slope(self, at: Point) -> np.ndarray:
        return self.penalty(at.projected, self.smoothing)[1]

    def curvature(self, at: Point) -> np.ndarray:
        """Second derivatives of the penalty, those of a part that is not convex replaced by zero."""
        return np.maximum(self.penalty(at.projected, self.smoothing)[2], 0.0)

    def curvature_times(self, curvature: np.ndarray, step: Point) -> np.ndarray:
        """The Hessian times a step."""
        parts = self._back(step.measured if self.model.y is not None else None, curvature * step.projected)
        return np.sum([*parts, step.weighted], axis=0)

    def _back(self, measured: np.ndarray | None, projected: np.ndarray) -> list[np.ndarray]:
        self.products += 0.5
        parts = [self.model.back_project(projected)]
        if measured is not None:
            parts.append(self.model.back_measure(measured) / self.model.noise_variance)
        return parts


def _backtrack(objective: Objective, at: Point, value: float, step: Point, slope: float) -> tuple[Point, float] | None:
    """The first of 1, 1/2, 1/4, ... that lowers the objective enough (Armijo); None if there is none but rounding."""
    length = 1.0
    for _ in range(40):
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
        step = objective.point(direction)
        moved = _backtrack(objective, at, value, step, float(gradient @ direction))
        if moved is None:
            return Solution(at, trace, relative <= max(tol, 1e-7))
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
        image = objective.curvature_times(curvature, objective.point(search))
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
    """Nonlinear conjugate gradients (Polak and Ribiere, restarted), first length by a Newton step along the line."""
    at, value = start, objective.value(start)
    gradient, relative = objective.gradient(at)
    direction = -gradient
    trace: list[float] = []
    for _ in range(max_iter):
        if relative <= tol:
            return Solution(at, trace, True)
        slope = float(gradient @ direction)
        if slope >= 0:
            direction, slope = -gradient, -float(gradient @ gradient)
        step = objective.point(direction)
        length = _line_minimum(objective, at, step, slope)
        scaled = Point(length * step.u, length * step.measured, length * step.projected, length * step.weighted)
        moved = _backtrack(objective, at, value, scaled, length * slope)
        if moved is None:
            return Solution(at, trace, relative <= max(tol, 1e-7))
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
    fixed = float(step.u @ step.weighted)
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

    def function(u: np.ndarray) -> tuple[float, np.ndarray]:
        at = objective.point(u)
        value = objective.value(at)
        gradient, relative = objective.gradient(at)
        last.update(u=u.copy(), relative=relative)
        return value, gradient

    def note(intermediate_result: Any) -> None:
        trace.append(float(intermediate_result.fun))
        if last["relative"] <= tol and np.array_equal(last["u"], intermediate_result.x):
            raise StopIteration

    options = {"maxiter": max_iter, "maxfun": 20 * max_iter, "maxcor": 20, "ftol": 0.0, "gtol": 0.0}
    result = scipy.optimize.minimize(function, start.u, jac=True, method="L-BFGS-B", callback=note, options=options)
    at = objective.point(np.asarray(result.x, dtype=float))
    relative = objective.gradient(at)[1]
    return Solution(at, trace, relative <= max(tol, 1e-7 if result.nit < max_iter else tol))


SOLVERS: dict[str, Callable[[Objective, Point, int, float], Solution]] = {
    "newton": newton,
    "lbfgs": limited_memory_bfgs,
    "cg": conjugate_gradients,
}
