"""Newton's method with backtracking for min_u energy(u) + sum_j cost_j(s_j), s = B u, on a dense Gaussian with sites.

Newton's iterate is the mean of the Gaussian whose sites are (W, W s - cost'), W = cost'', whichever representation it
has; in the covariance form that is the alpha-form of Rasmussen and Williams (2006), algorithm 3.1.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import numpy as np

from adaptive.inference.dense.problem import DenseProblem

if TYPE_CHECKING:
    from adaptive.potentials import Potential

__all__ = ["Cost", "NegativeLogDensity", "minimise"]


class Cost(Protocol):
    """A cost per projection."""

    def value(self, s: np.ndarray) -> float:
        """The sum of the costs; may be infinite."""

    def derivatives(self, s: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """First and second derivatives, (q,) each."""

    def majoriser(self, s: np.ndarray) -> np.ndarray:
        """Curvatures >= 0 for a step where the true ones do not make a Gaussian."""


class NegativeLogDensity:
    """The cost -ln T: the mode of the posterior."""

    def __init__(self, potential: Potential):
        self.potential = potential

    def value(self, s: np.ndarray) -> float:
        return -float(self.potential.log_density(s).sum())

    def derivatives(self, s: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        first, second = self.potential.derivatives(s)
        return -first, -second

    def majoriser(self, s: np.ndarray) -> np.ndarray:
        """The curvature of the Gaussian bound that touches at s, where there is one."""
        if np.all(self.potential.super_gaussian):
            return 1.0 / self.potential.tight_width(s)
        return np.maximum(-self.potential.derivatives(s)[1], 0.0)


def minimise(problem: DenseProblem, cost: Cost, max_iter: int, tol: float) -> tuple[np.ndarray, list[float], bool]:
    """Minimise from the Gaussian's present mean.

    Parameters
    ----------
    problem : DenseProblem
        Its Gaussian is refitted in every step and left at the last one.
    cost : Cost
    max_iter : int
    tol : float
        Stop after the step that promises to lower the objective by less than tol (1 + |objective|).

    Returns
    -------
    s : (q,)
        Projections at the minimum.
    trace : list of float
        Objective after each step.
    converged : bool
    """
    gaussian = problem.gaussian
    point, s = gaussian.coefficients, gaussian.projections
    energy = gaussian.energy(point)
    value = energy + cost.value(s)
    if not np.isfinite(value):
        raise ValueError(f"{problem.engine} cannot start: the density at the starting point is zero.")
    trace: list[float] = []
    for _ in range(max_iter):
        first, second = cost.derivatives(s)
        try:
            gaussian.refit(second, second * s - first)
        except np.linalg.LinAlgError:
            curvature = cost.majoriser(s)
            problem.refit(curvature, curvature * s - first)
        step, ds = gaussian.coefficients - point, gaussian.projections - s
        full = gaussian.energy(point + step)
        # the energy is a parabola along the step: its slope from three values, that of the costs from their derivative
        slope = 4 * gaussian.energy(point + 0.5 * step) - full - 3 * energy + float(first @ ds)
        converged = -0.5 * slope <= tol * (1.0 + abs(value))
        rounding = 1e-13 * (1.0 + abs(value)) if converged else 0.0
        length = 1.0
        for _ in range(50):
            trial, s_trial = point + length * step, s + length * ds
            new_energy = full if length == 1.0 else gaussian.energy(trial)
            new = new_energy + cost.value(s_trial)
            if new <= value + 1e-4 * length * min(slope, 0.0) + rounding:
                break
            length *= 0.5
        else:  # no descent but by rounding
            return s, [*trace, value], bool(converged)
        point, s, energy, value = trial, s_trial, new_energy, new
        trace.append(value)
        if converged:
            return s, trace, True
    return s, trace, False
