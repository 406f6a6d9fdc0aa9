"""Basis pursuit: min |B u|_1 subject to X u = y, by the alternating direction method of multipliers.

In coefficients c = B u the constraint is Q c = z with orthonormal rows Q, so that a step projects by two products and
soft-thresholds. These steps soon come near the minimum and take long to arrive: from near it, the exact minimum is
found by exchanging coefficients, or by solving for the nonzeros where they are few, and proven by its multipliers.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve
from sklearn.exceptions import ConvergenceWarning

from adaptive.checks import integer, positive
from adaptive.inference.classic.measured_rows import MeasuredRows, PointEstimate, earlier_work
from adaptive.inference.classic.vertex_exchange import best_vertex
from adaptive.linalg.row_basis import RowBasis

if TYPE_CHECKING:
    from adaptive.types import ArrayLike, RandomState, Rows

__all__ = ["basis_pursuit"]

_RELAXATION = 1.7
_ADAPT_EVERY, _ADAPT_UNTIL = 10, 1000
_FIRST_TRY, _NEXT_TRY = 100, 20  # iterations (warm start: fewer) until exchanges are tried, then twice as many, ...
_PROVEN = 1e-9  # relative duality gap at which a vertex is the minimum


def basis_pursuit(
    X: Rows | ArrayLike,
    y: ArrayLike,
    *,
    B: Rows | ArrayLike | None = None,
    max_iter: int = 5000,
    tol: float = 1e-6,
    random_state: RandomState = None,
    warm_start: PointEstimate | None = None,
) -> PointEstimate:
    """The fewest absolute coefficients that explain the measurements exactly.

    With noise in ``y`` the noise is explained, too: `laplace_mode` weighs it.

    Parameters
    ----------
    X : array, sparse matrix or real Operator (m, n)
        Rows of zeros, repeated rows and more rows than unknowns are allowed; where rows contradict each other y is
        replaced by the nearest values that do not.
    y : array (m,)
    B : array, sparse matrix or Operator (n, n), optional
        Orthonormal transform in which u is sparse; default the identity.
    max_iter : int, default 5000
        Iterations, two products with an (m, n) matrix each.
    tol : float, default 1e-6
        Stop where an iteration moves the coefficients, and their two copies differ, by less, relative to their length.
    random_state : ignored
        Every engine takes it.
    warm_start : result of this function, optional
        Starts from its coefficients and multipliers; if X begins with its rows (and B is the same object), only the
        others are transformed and orthogonalised.

    Returns
    -------
    PointEstimate
        ``certificates``: "infeasibility" |X u - y| / |y|, and "duality_gap", how far |B u|_1 is at most from its
        minimum, relative.

    Warns
    -----
    ConvergenceWarning
        If ``max_iter`` was reached first.

    References
    ----------
    Chen, Donoho and Saunders (1998), Atomic decomposition by basis pursuit; Boyd et al. (2011), Distributed
    optimization and statistical learning via the alternating direction method of multipliers, section 6.2.

    Examples
    --------
    >>> X = np.random.default_rng(0).standard_normal((20, 40))
    >>> u = np.zeros(40)
    >>> u[[3, 17, 30]] = 1.0, -2.0, 0.5
    >>> result = basis_pursuit(X, X @ u)
    >>> bool(np.abs(result.mean - u).max() < 1e-9), result.certificates["duality_gap"] < 1e-9
    (True, True)
    """
    max_iter, tol = integer("max_iter", max_iter, minimum=0), float(positive("tol", tol))
    earlier, basis, start = earlier_work(warm_start, "basis_pursuit") or (None, None, None)
    data = MeasuredRows(X, y, B, earlier=earlier)
    basis = (basis if basis is not None and data.known else RowBasis(data.n)).appended(data.coefficients[data.known :])
    problem = _Pursuit(data, basis)
    state = problem.start(start)
    c, n_iter, converged = problem.iterate(state, max_iter, tol)
    gap = problem.gap(c, state)
    if not converged:
        warnings.warn(
            f"basis_pursuit has not converged after {n_iter} iterations (relative duality gap {gap:.1e}); raise "
            "max_iter or tol.",
            ConvergenceWarning,
            stacklevel=2,
        )
    scale = float(np.linalg.norm(data.y)) or 1.0
    missed = float(np.linalg.norm(data.coefficients @ c - data.y)) / scale
    return PointEstimate(
        data.synthesised(c),
        {"infeasibility": missed, "duality_gap": gap},
        (data, basis, state),
        objective_trace=[float(np.abs(c).sum())],
        n_iter=n_iter,
        n_products=n_iter,
        converged=converged,
        engine="basis_pursuit",
    )


@dataclass
class _State:
    """The thresholded copy of the coefficients, scaled multipliers, and the weight of their difference."""

    copy: np.ndarray
    scaled: np.ndarray
    weight: float
    proof: np.ndarray | None = None  # multipliers that may bound the norm better


class _Pursuit:
    """min |c|_1 subject to Q c = z."""

    def __init__(self, data: MeasuredRows, basis: RowBasis):
        self.Q, self.z, self.n = basis.Q, basis.coordinates(data.y), data.n

    def start(self, earlier: _State | None) -> _State:
        """At the least-squares solution, or where an earlier problem ended."""
        if earlier is not None and len(earlier.copy) == self.n:
            return replace(earlier)
        c = self.z @ self.Q
        weight = 1.0 / (float(np.abs(c).max()) or 1.0)
        return _State(c, np.zeros(self.n), weight)

    def iterate(self, state: _State, max_iter: int, tol: float) -> tuple[np.ndarray, int, bool]:
        """Coefficients that are exactly feasible, iterations, and whether these were enough; changes the state."""
        Q, z = self.Q, self.z
        nonzeros: np.ndarray = np.empty(0, dtype=bool)
        tried, next_try = nonzeros, _FIRST_TRY if state.proof is None else _NEXT_TRY
        for n_iter in range(1, max_iter + 1):
            v = state.copy - state.scaled
            c = v - (Q @ v - z) @ Q
            t = _RELAXATION * c + (1.0 - _RELAXATION) * state.copy + state.scaled
            copy = np.sign(t) * np.maximum(np.abs(t) - 1.0 / state.weight, 0.0)
            state.scaled = t - copy
            moved, apart = float(np.linalg.norm(copy - state.copy)), float(np.linalg.norm(c - copy))
            state.copy = copy
            size = float(np.linalg.norm(c))
            if size == 0:
                return c, n_iter, True
            standing = max(moved, apart) <= tol * size
            if n_iter % _ADAPT_EVERY == 0 or standing:
                before, nonzeros = nonzeros, copy != 0
                if standing or (np.array_equal(nonzeros, before) and not np.array_equal(nonzeros, tried)):
                    tried = nonzeros
                    if (found := self.sparse(state)) is not None:
                        return found, n_iter, True
                if standing or n_iter >= next_try:
                    next_try *= 2
                    if (found := self.vertex(state)) is not None:
                        return found, n_iter, True
                if standing:
                    return c, n_iter, True
                if n_iter <= _ADAPT_UNTIL:
                    _balance(state, apart / size, moved / (float(np.linalg.norm(state.scaled)) or 1.0))
        return state.copy - (Q @ state.copy - z) @ Q, max_iter, False

    def sparse(self, state: _State) -> np.ndarray | None:
        """The feasible point on the copy's nonzeros, where there is one and multipliers prove it the minimum."""
        on = np.flatnonzero(state.copy)
        if not 0 < len(on) <= len(self.z):
            return None
        active = self.Q[:, on]
        try:
            factor = cho_factor(active.T @ active)
        except LinAlgError:
            return None
        c = np.zeros(self.n)
        c[on] = cho_solve(factor, active.T @ self.z)
        c[on] += cho_solve(factor, active.T @ (self.z - active @ c[on]))  # refined once
        multipliers = self.Q @ state.scaled * state.weight
        multipliers += active @ cho_solve(factor, np.sign(c[on]) - active.T @ multipliers)
        return self._proven(c, multipliers, state)

    def vertex(self, state: _State) -> np.ndarray | None:
        """The minimum by exchanges that begin near the copy."""
        found = best_vertex(self.Q, self.z, state.copy, self.Q @ state.scaled * state.weight, 100 + 2 * len(self.z))
        return None if found is None else self._proven(*found, state)

    def _proven(self, c: np.ndarray, multipliers: np.ndarray, state: _State) -> np.ndarray | None:
        if np.linalg.norm(self.Q @ c - self.z) > 1e-10 * np.linalg.norm(self.z):
            return None
        state.proof = multipliers
        if self.gap(c, state) > _PROVEN:
            return None
        state.copy, state.scaled = c, multipliers @ self.Q / state.weight
        return c

    def gap(self, c: np.ndarray, state: _State) -> float:
        """(|c|_1 - its lower bound) / |c|_1; the bound is z.l for multipliers l with |Q'l| <= 1."""
        norm = float(np.abs(c).sum())
        candidates = [self.Q @ state.scaled * state.weight]
        if state.proof is not None and len(state.proof) == len(self.z):
            candidates.append(state.proof)
        bounds = [float(self.z @ one) / max(1.0, float(np.abs(one @ self.Q).max())) for one in candidates]
        return max(norm - max(0.0, *bounds), 0.0) / norm if norm > 0 else 0.0


def _balance(state: _State, primal: float, dual: float) -> None:
    """Move the weight so that the two residuals fall together."""
    factor = 2.0 if primal > 10 * dual else 0.5 if dual > 10 * primal else 1.0
    state.weight *= factor
    state.scaled = state.scaled / factor
