"""The mode of a model whose potentials are Laplace, min_u |X u - y|^2 / 2 + sum_j lam_j |b_j . u|, lam = noise / scale.

By the alternating direction method of multipliers, s = B u split off:

    u = (X'X + rho B'B)^-1 (X'y + rho B'(z - d)),   t = 1.7 B u - 0.7 z + d,   z = soft(t, lam / rho),   d = t - z.

With B the differences and a wavelet transform it is the reconstruction called L1 + TV. The multipliers nu = rho d prove
it: |nu| <= lam everywhere, and X'(X u - y) + B' nu = 0.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from adaptive.checks import integer, positive
from adaptive.inference.classic.measured_rows import PointEstimate, earlier_work
from adaptive.inference.classic.normal_system import NormalSystem
from adaptive.inference.model import GLM
from adaptive.potentials import Laplace

if TYPE_CHECKING:
    from adaptive.types import RandomState

__all__ = ["laplace_mode"]

_RELAXATION = 1.7
_ADAPT_EVERY, _ADAPT_UNTIL = 10, 1000
_NEARLY_ZERO = (
    1e-3  # projections as small beside the largest met on the way are compared with these: they may all vanish
)


def laplace_mode(
    model: GLM,
    *,
    max_iter: int = 5000,
    tol: float = 1e-5,
    random_state: RandomState = None,
    warm_start: PointEstimate | None = None,
) -> PointEstimate:
    """L1 and total variation: the point that `map_estimate` approaches by smoothing, without smoothing.

    Parameters
    ----------
    model : GLM
        Measurements, and Laplace potentials only; no Gaussian prior.
    max_iter : int, default 5000
        Iterations: each two products with an (m, n) matrix and three with the operators B.
    tol : float, default 1e-5
        Stop where projections and their copies differ by less, relative to their length, and likewise the gradient.
    random_state : ignored
        Every engine takes it.
    warm_start : result of this function, optional
        Starts from it. If the operators B are the same objects and X begins with its rows, factors are kept, too.

    Returns
    -------
    PointEstimate
        ``certificates``: "dual_excess", by which multipliers exceed lam, relative, and "gradient", the length of
        X'(X u - y) + B' nu relative to that of X'y. ``objective_trace`` is the objective at the end, over the noise
        variance.

    Raises
    ------
    ValueError
        If ``model`` is no `GLM`.

    Warns
    -----
    ConvergenceWarning
        If ``max_iter`` was reached first.

    See Also
    --------
    adaptive.inference.map_estimate : Any potentials, by products only.

    References
    ----------
    Boyd et al. (2011), Distributed optimization and statistical learning via the alternating direction method of
    multipliers, sections 3.4 and 6.4; Nickisch (2010), section 5.3.

    Examples
    --------
    >>> from adaptive.inference import GLM
    >>> from adaptive.potentials import Laplace
    >>> model = GLM([[1.0, 0.0], [0.0, 1.0]], [1.0, 0.2], 0.5, potentials=Laplace(1.0))
    >>> laplace_mode(model).mean.round(4) + 0.0      # soft threshold at noise / scale = 0.5
    array([0.5, 0. ])
    """
    if not isinstance(model, GLM):
        raise ValueError(f"model must be a GLM, got {type(model).__name__}.")
    max_iter, tol = integer("max_iter", max_iter, minimum=0), float(positive("tol", tol))
    system, state = earlier_work(warm_start, "laplace_mode") or (None, None)
    problem = _Mode(model, system)
    state = problem.start(state)
    n_iter, converged = problem.iterate(state, max_iter, tol)
    certificates = problem.certificates(state)
    if not converged:
        warnings.warn(
            f"laplace_mode has not converged after {n_iter} iterations (relative gradient "
            f"{certificates['gradient']:.1e}); raise max_iter or tol.",
            ConvergenceWarning,
            stacklevel=2,
        )
    return PointEstimate(
        state.u,
        certificates,
        (problem.system, state),
        sites=(np.zeros(problem.q), -state.weight * state.scaled / model.noise_variance),
        group_lengths=model.group_lengths,
        objective_trace=[problem.objective(state.u)],
        n_iter=n_iter,
        n_products=n_iter,
        converged=converged,
        engine="laplace_mode",
    )


@dataclass
class _State:
    """The point, the thresholded copy of its projections, scaled multipliers, and the weight rho."""

    u: np.ndarray
    copy: np.ndarray
    scaled: np.ndarray
    weight: float


class _Mode:
    """The problem in units of the noise variance."""

    def __init__(self, model: GLM, earlier: NormalSystem | None):
        refused = next((p.name for _, p in model.groups if not isinstance(p, Laplace)), None)
        if model.y is None or not model.groups or model.has_prior or refused:
            found = refused or ("a Gaussian prior" if model.has_prior else "no measurements or no potentials")
            raise ValueError(f"laplace_mode needs measurements and Laplace potentials only, got {found}.")
        self.model, self.q = model, model.projection_rows

        def rows(name: str) -> np.ndarray:
            parts = [np.broadcast_to(getattr(p, name), (b.shape[0],)) for b, p in model.groups]
            return np.concatenate(parts).astype(float)

        self.limits, self.location = model.noise_variance / rows("scale"), rows("location")
        self.system = NormalSystem(model, earlier)
        self.y = model.measurement_rows()[1]
        self.force = self.y @ self.system.X

    def start(self, earlier: _State | None) -> _State:
        """At zero with a weight in which steps are of the size of the thresholds, or where an earlier one ended."""
        if earlier is not None and len(earlier.u) == self.model.n and len(earlier.copy) == self.q:
            return _State(earlier.u, earlier.copy, earlier.scaled, earlier.weight)
        weight = 10.0 * float(self.limits.mean())
        return _State(np.zeros(self.model.n), np.zeros(self.q), np.zeros(self.q), weight)

    def iterate(self, state: _State, max_iter: int, tol: float) -> tuple[int, bool]:
        """Iterations, and whether these were enough; changes the state."""
        model, back = self.model, self.model.back_project
        from_copy, from_scaled = back(state.copy + self.location), back(state.scaled)
        largest = 0.0
        for n_iter in range(1, max_iter + 1):
            state.u = self.system.solve(self.force + state.weight * (from_copy - from_scaled), state.weight)
            s = model.project(state.u) - self.location
            t = _RELAXATION * s + (1.0 - _RELAXATION) * state.copy + state.scaled
            state.copy = np.sign(t) * np.maximum(np.abs(t) - self.limits / state.weight, 0.0)
            state.scaled = t - state.copy
            before, from_copy = from_copy, back(state.copy + self.location)
            from_scaled = back(state.scaled)
            apart, moved = float(np.linalg.norm(s - state.copy)), float(np.linalg.norm(from_copy - before))
            size = max(_NEARLY_ZERO * largest, float(np.linalg.norm(s)), float(np.linalg.norm(state.copy)))
            largest = max(largest, size)
            primal = apart / (size or 1.0)
            dual = moved / (float(np.linalg.norm(from_scaled)) or 1.0)
            if primal < tol and dual < tol:
                return n_iter, True
            if n_iter % _ADAPT_EVERY == 0 and n_iter <= _ADAPT_UNTIL:
                factor = 2.0 if primal > 10 * dual else 0.5 if dual > 10 * primal else 1.0
                state.weight *= factor
                state.scaled, from_scaled = state.scaled / factor, from_scaled / factor
        return max_iter, False

    def certificates(self, state: _State) -> dict[str, float]:
        """Return the distance of the multipliers from proving the point."""
        multipliers = state.weight * state.scaled
        gradient = (self.system.X @ state.u - self.y) @ self.system.X + self.model.back_project(multipliers)
        excess = float(np.max(np.abs(multipliers) / self.limits)) - 1.0
        scale = float(np.linalg.norm(self.force)) or 1.0
        return {"dual_excess": max(excess, 0.0), "gradient": float(np.linalg.norm(gradient)) / scale}

    def objective(self, u: np.ndarray) -> float:
        """|X u - y|^2 / (2 noise) + sum |s - location| / scale."""
        gap = self.system.X @ u - self.y
        penalty = float(self.limits @ np.abs(self.model.project(u) - self.location))
        return (0.5 * float(gap @ gap) + penalty) / self.model.noise_variance
