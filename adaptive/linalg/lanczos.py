"""Lanczos tridiagonalisation: Q^T A Q = T after k products, and what T and Q say about A^-1 and its variances.

    q_1 = start / |start|,    b_i q_{i+1} = A q_i - a_i q_i - b_{i-1} q_{i-1},    T = tridiag(b, a, b)

With Q kept orthogonal, B Q T^-1 Q^T B^T <= B A^-1 B^T in the Loewner order, and its diagonal grows with every step
(component by component) by the squares of

    w_i = (B q_i - d_{i-1} w_{i-1}) / e_i,    e_i = sqrt(a_i - d_{i-1}^2),    d_i = b_i / e_i

(T = L L^T, L with e on the diagonal and d below).

Without reorthogonalisation a step costs one product only, but directions that have converged come back and the sum is
no longer certain to stay below the truth.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.linalg import eigh_tridiagonal

from adaptive.checks import choice, finite, integer
from adaptive.memory import memory_there

if TYPE_CHECKING:
    from adaptive.types import ArrayLike

__all__ = ["Tridiagonal", "lanczos_variances", "tridiagonalise"]


@dataclass(frozen=True)
class Tridiagonal:
    """The result of k steps from b starting columns, each with its own T.

    Attributes
    ----------
    diagonal : array (b, k)
        a_1 ... a_k of each column; nan after a column has exhausted its Krylov space.
    off_diagonal : array (b, k)
        b_1 ... b_k; the last one is the norm of the remainder, not part of T.
    steps : integer array (b,)
        Steps each column lasted.
    basis : array (b, k, n) or None
        The rows q_1 ... q_k, where they were kept.

    Examples
    --------
    >>> from adaptive.linalg import tridiagonalise
    >>> found = tridiagonalise(lambda x: x * np.array([1.0, 3.0]), np.array([[1.0, 1.0]]), 2)
    >>> found.diagonal, found.steps
    (array([[2., 2.]]), array([2]))
    """

    diagonal: np.ndarray
    off_diagonal: np.ndarray
    steps: np.ndarray
    basis: np.ndarray | None

    def ritz(self, column: int = 0, steps: int | None = None) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Ritz values (ascending), their residuals |A v - theta v|, and the first components of T's eigenvectors."""
        k = int(self.steps[column] if steps is None else min(steps, self.steps[column]))
        values, vectors = eigh_tridiagonal(self.diagonal[column, :k], self.off_diagonal[column, : k - 1])
        return values, self.off_diagonal[column, k - 1] * np.abs(vectors[-1]), vectors[0]

    def converged(self, tol: float = 0.01, column: int = 0, spread: float | None = None) -> np.ndarray:
        """Which Ritz values have settled: residual < tol ``spread``, by default largest minus smallest Ritz value."""
        values, residuals, _ = self.ritz(column)
        return residuals < tol * (values[-1] - values[0] if spread is None else spread)


def tridiagonalise(
    apply: Callable[[np.ndarray], np.ndarray],
    start: ArrayLike,
    n_steps: int,
    *,
    reorthogonalise: str = "full",
    keep_basis: bool | None = None,
    on_step: Callable[[int, np.ndarray, np.ndarray, np.ndarray], None] | None = None,
    tol: float = 1e-12,
) -> Tridiagonal:
    """Run the Lanczos recurrence from every starting column.

    Parameters
    ----------
    apply : callable
        Maps (b, *shape) to A times each column, A symmetric.
    start : array (b, *shape)
        Starting columns, with mass in every direction wanted (random, as a rule).
    n_steps : int
        Number of steps k; n at most are done.
    reorthogonalise : {"full", "none"}, default "full"
        "full" projects every new vector twice against all former ones: memory b k n, time O(b n k^2).
    keep_basis : bool, optional
        Whether to return the basis; default where it exists anyway.
    on_step : callable, optional
        Called as ``on_step(i, q, a, b)`` after step i with the columns q_i and their a_i, b_i.
    tol : float, default 1e-12
        A column ends when b_i < tol times the largest |a| + b it has seen: its Krylov space is invariant.

    Returns
    -------
    Tridiagonal

    Raises
    ------
    ValueError
        If ``start`` has no batch axis or a column of zeros, or a product with A is not finite.

    References
    ----------
    Nickisch (2010), Bayesian Inference and Experimental Design for Large Generalised Linear Models, algorithm 3.2.

    Examples
    --------
    >>> T = tridiagonalise(lambda u: u * [1.0, 2.0, 5.0], [[1.0, 1.0, 1.0]], 3)
    >>> T.ritz()[0].round(9)
    array([1., 2., 5.])
    """
    q = np.array(finite("start", start), order="C")
    if q.ndim < 2:
        raise ValueError(f"start must have a batch axis first and at least one more, got shape {q.shape}.")
    full = choice("reorthogonalise", reorthogonalise, ["full", "none"]) == "full"
    shape, b, n = q.shape, len(q), int(np.prod(q.shape[1:]))
    k = min(integer("n_steps", n_steps, minimum=1), n)
    q = q.reshape(b, n)
    norms = np.linalg.norm(q, axis=1, keepdims=True)
    if (norms == 0).any():
        raise ValueError("start must have no zero columns.")
    q /= norms
    keep = full if keep_basis is None else keep_basis
    if full or keep:
        _fits(8 * b * k * n, f"{k} Lanczos vectors of {b * n} numbers")
    basis = np.zeros((b, k if full or keep else 0, n))
    diagonal, off_diagonal = np.full((b, k), np.nan), np.full((b, k), np.nan)
    steps = np.zeros(b, dtype=int)
    scale = np.zeros(b)
    running = np.ones(b, dtype=bool)
    old, beta = np.zeros_like(q), np.zeros(b)
    for i in range(k):
        if full or keep:
            basis[:, i] = q
        r = np.array(apply(q.reshape(shape)), dtype=float).reshape(b, n)
        r -= beta[:, None] * old
        alpha = np.einsum("bn,bn->b", q, r)
        r -= alpha[:, None] * q
        if full:
            former = basis[:, : i + 1]
            for _ in range(2):  # twice is enough (Kahan, Parlett)
                r -= np.matmul(np.matmul(former, r[:, :, None])[:, :, 0][:, None], former)[:, 0]
        beta = np.linalg.norm(r, axis=1)
        if not np.isfinite(beta[running]).all():
            raise ValueError(f"the product A q must be finite, got NaN or infinity in step {i + 1}.")
        diagonal[running, i], off_diagonal[running, i] = alpha[running], beta[running]
        steps[running] += 1
        if on_step is not None:
            on_step(i, q.reshape(shape), alpha, beta)
        scale = np.maximum(scale, np.abs(alpha) + beta)
        running &= beta > tol * scale
        if not running.any():
            break
        old = q
        q = r / np.where(running, beta, 1.0)[:, None]
        q[~running], beta[~running] = 0.0, 0.0
    k = int(steps.max())
    return Tridiagonal(diagonal[:, :k], off_diagonal[:, :k], steps, basis[:, :k] if keep else None)


def lanczos_variances(
    apply: Callable[[np.ndarray], np.ndarray],
    project: Callable[[np.ndarray], np.ndarray],
    start: ArrayLike,
    n_steps: int,
    *,
    reorthogonalise: str = "full",
    trace: Callable[[int, np.ndarray], None] | None = None,
) -> tuple[np.ndarray, Tridiagonal]:
    """diag(B Q T^-1 Q^T B^T), by the recurrence: it grows with every step and stays below diag(B A^-1 B^T).

    Parameters
    ----------
    apply, project : callables
        A u and B u of one column (1, *shape); A symmetric positive definite.
    start : array (1, *shape)
        Starting column.
    n_steps : int
        Number of products.
    reorthogonalise : {"full", "none"}, default "full"
        As in `tridiagonalise`.
    trace : callable, optional
        Called as ``trace(i, variances)`` after step i.

    Returns
    -------
    variances : array (q,)
        Lower bounds of the variances (with full reorthogonalisation).
    tridiagonal : Tridiagonal
        The run they came from.

    Raises
    ------
    ValueError
        If the matrix is not positive definite.

    References
    ----------
    Nickisch (2010), algorithm 3.2.

    Examples
    --------
    >>> apply, start = (lambda u: u * [1.0, 2.0, 5.0]), [[1.0, 1.0, 1.0]]
    >>> lanczos_variances(apply, lambda u: u, start, 3)[0].round(9)
    array([1. , 0.5, 0.2])
    """
    state: dict[str, Any] = {"d": 0.0, "w": 0.0, "sum": 0.0}

    def add(i: int, q: np.ndarray, a: np.ndarray, b: np.ndarray) -> None:
        pivot = a[0] - state["d"] ** 2
        if pivot <= 0:
            raise ValueError("Lanczos variances need a positive definite matrix; a pivot was not positive.")
        root = np.sqrt(pivot)
        state["w"] = (np.asarray(project(q))[0].ravel() - state["d"] * state["w"]) / root
        state["sum"] = state["sum"] + np.abs(state["w"]) ** 2
        state["d"] = b[0] / root
        if trace is not None:
            trace(i, state["sum"])

    run = tridiagonalise(apply, start, n_steps, reorthogonalise=reorthogonalise, keep_basis=False, on_step=add)
    return state["sum"], run


def _fits(n_bytes: int, what: str) -> None:
    """Refuse what the machine cannot hold, before it tries."""
    memory = memory_there()
    if n_bytes > memory:
        raise ValueError(f"{what} need {n_bytes / 1e9:.1f} GB of {memory / 1e9:.1f} GB: take fewer steps.")
