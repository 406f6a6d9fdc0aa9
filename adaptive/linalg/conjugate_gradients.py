"""Preconditioned conjugate gradients for many right-hand sides at once: A x_c = b_c, A symmetric positive definite.

    alpha = r.z / p.Ap,   x += alpha p,   r -= alpha Ap,   z = M^-1 r,   p = z + (r.z / r_old.z_old) p

Every column c has its own step lengths and stops on its own, when |r_c| <= tol |b_c|; only columns still running are
multiplied. With M close to A, sqrt(r.M^-1 r) is the error in the norm of A, which treats all directions alike: the norm
to ask for when variances are wanted, at one more preconditioning per column.

Columns are stored in the precision of the right-hand sides, inner products are summed in double precision (Re <., .>
for complex columns, which is the inner product of the real-stacked system). A tolerance below the square root of the
machine precision is not left to the recurrence for r: the residual is computed once more from x, and the iteration is
restarted from it where it fell short.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from adaptive.checks import choice, integer, positive

if TYPE_CHECKING:
    from adaptive.types import ArrayLike

__all__ = ["Solution", "conjugate_gradients"]

CHUNK_BYTES = 2**21  # of one array of columns: the five arrays of an iteration stay in the cache
RESTARTS = 3
COUNTS = ("n_products", "n_preconditionings")


@dataclass(frozen=True)
class Solution:
    """Result of `conjugate_gradients`.

    Attributes
    ----------
    x : array (b, *shape)
        The solutions.
    residuals : array (b,)
        |A x - b| / |b| in the norm that was asked for, zero for a zero right-hand side.
    n_iter : integer array (b,)
        Iterations of each column.
    n_products, n_preconditionings : int
        Products with A and with M^-1, one for every column they were applied to.
    converged : boolean array (b,)
        Whether the tolerance was reached.

    Examples
    --------
    >>> from adaptive.linalg import conjugate_gradients
    >>> found = conjugate_gradients(lambda x: 2.0 * x, np.array([[2.0, 4.0]]))
    >>> found.x, found.n_iter, found.converged
    (array([[1., 2.]]), array([1]), array([ True]))
    """

    x: np.ndarray
    residuals: np.ndarray
    n_iter: np.ndarray
    n_products: int
    n_preconditionings: int
    converged: np.ndarray


def conjugate_gradients(
    apply: Callable[[np.ndarray], np.ndarray],
    right_hand_sides: ArrayLike,
    *,
    start: ArrayLike | None = None,
    preconditioner: Callable[[np.ndarray], np.ndarray] | None = None,
    preconditioned: np.ndarray | None = None,
    norm: str = "residual",
    tol: ArrayLike = 1e-6,
    max_iter: int = 750,
) -> Solution:
    """Solve A x = b for every right-hand side, batch axis first.

    Parameters
    ----------
    apply : callable
        Maps (k, *shape) to A times each of the k columns, A symmetric positive definite.
    right_hand_sides : array (b, *shape)
        Real or complex, single or double precision; the solution has the same dtype.
    start : array (b, *shape), optional
        Where to start, default zero. A good start (the solution of a similar system) saves iterations.
    preconditioner : callable, optional
        Maps (k, *shape) to M^-1 times each column, M symmetric positive definite and close to A.
    preconditioned : array (b, *shape), optional
        M^-1 times the right-hand sides, where it is known already.
    norm : {"residual", "preconditioned"}, default "residual"
        What is compared: |r| with |b|, or sqrt(r.M^-1 r) with sqrt(b.M^-1 b).
    tol : float or array (b,), default 1e-6
        Relative residual at which a column stops.
    max_iter : int, default 750
        Iterations of a column, restarts included.

    Returns
    -------
    Solution

    Raises
    ------
    ValueError
        If a right-hand side, a start or a product is not finite, or shapes differ.

    Warns
    -----
    ConvergenceWarning
        If a column did not reach its tolerance; its last iterate is returned.

    References
    ----------
    Hestenes and Stiefel (1952), Methods of conjugate gradients for solving linear systems.

    Examples
    --------
    >>> A = np.diag([1.0, 2.0, 4.0])
    >>> solution = conjugate_gradients(lambda u: u @ A, [[1.0, 2.0, 4.0], [0.0, 2.0, 0.0]])
    >>> solution.x.round(6) + 0.0
    array([[1., 1., 1.],
           [0., 1., 0.]])
    >>> solution.n_iter
    array([3, 1])
    """
    b = np.ascontiguousarray(right_hand_sides)
    if b.dtype.char not in "fdFD":
        b = b.astype(complex if b.dtype.kind == "c" else float)
    if b.ndim < 2:
        raise ValueError(f"right_hand_sides must have a batch axis first and at least one more, got shape {b.shape}.")
    columns = len(b)
    x = np.zeros_like(b) if start is None else np.array(start, dtype=b.dtype, order="C")
    if x.shape != b.shape:
        raise ValueError(f"start must have the shape {b.shape} of right_hand_sides, got {x.shape}.")
    if preconditioned is not None and np.shape(preconditioned) != b.shape:
        raise ValueError(f"preconditioned must have the shape {b.shape} of right_hand_sides.")
    energy = choice("norm", norm, ["residual", "preconditioned"]) == "preconditioned" and preconditioner is not None
    tol = np.broadcast_to(positive("tol", tol, or_zero=True), (columns,))
    max_iter = integer("max_iter", max_iter, minimum=0)

    size = max(1, CHUNK_BYTES // max(1, b[0].nbytes)) if columns else 1
    parts = [slice(first, first + size) for first in range(0, columns, size)]
    blocks = [_Block(apply, preconditioner, b[part], x[part], tol[part], max_iter, energy) for part in parts]
    for block, part in zip(blocks, parts, strict=True):
        block.solve(start is not None, None if preconditioned is None else preconditioned[part])
    residuals = np.concatenate([block.residuals for block in blocks]) if blocks else np.zeros(0)
    n_iter = np.concatenate([block.n_iter for block in blocks]) if blocks else np.zeros(0, int)
    converged = residuals <= tol
    if not converged.all():
        warnings.warn(
            f"Conjugate gradients: {np.count_nonzero(~converged)} of {columns} systems stopped after at most "
            f"{n_iter.max()} iterations at a relative residual up to {residuals[~converged].max():.1e} "
            f"(tol {tol[~converged].min():.1e}).",
            ConvergenceWarning,
            stacklevel=2,
        )
    n_products, n_preconditionings = (sum(getattr(block, name) for block in blocks) for name in COUNTS)
    return Solution(x, residuals, n_iter, n_products, n_preconditionings, converged)


class _Block:
    """Columns that fit into the cache together."""

    def __init__(
        self,
        apply: Callable[[np.ndarray], np.ndarray],
        preconditioner: Callable[[np.ndarray], np.ndarray] | None,
        b: np.ndarray,
        x: np.ndarray,
        tol: np.ndarray,
        max_iter: int,
        energy: bool,
    ):
        self.apply, self.preconditioner = apply, preconditioner
        self.b, self.x, self.tol, self.max_iter, self.energy = b, x, tol, max_iter, energy
        norms = _norms(b)
        _all_finite(norms, "right_hand_sides")
        self.scale = np.where(norms > 0, norms, 1.0)
        self.nonzero = np.flatnonzero(norms > 0)
        x[norms == 0] = 0
        self.strict = np.flatnonzero(tol < np.sqrt(np.finfo(b.dtype).eps))
        self.residuals, self.n_iter = np.zeros(len(b)), np.zeros(len(b), dtype=int)
        self.n_products = self.n_preconditionings = 0

    def solve(self, started: bool, preconditioned: np.ndarray | None) -> None:
        """Run the recurrence; where its residual cannot be trusted, compute it and go on from there."""
        todo, r = self.nonzero, self.b[self.nonzero]
        z = None if preconditioned is None else _columns(preconditioned, self.b)[todo]
        if self.energy:
            z = self._preconditioned(r) if z is None else z
            self.scale[todo] = _energies(r, z)
        if started:
            r, z = r - self._product(self.x[todo]), None
        z = self._measure(todo, r, z)
        for _ in range(RESTARTS + 1):
            self._iterate(todo, r, z)
            todo = np.intersect1d(todo, self.strict)
            if len(todo) == 0:
                return
            r = self.b[todo] - self._product(self.x[todo])
            z = self._measure(todo, r, None)
            further = (self.residuals[todo] > self.tol[todo]) & (self.n_iter[todo] < self.max_iter)
            todo, r, z = todo[further], r[further], None if z is None else z[further]

    def _measure(self, columns: np.ndarray, r: np.ndarray, z: np.ndarray | None) -> np.ndarray | None:
        """Write down the relative residuals of these columns; returns z = M^-1 r if it was needed or known."""
        if self.energy:
            z = self._preconditioned(r) if z is None else z
            size = _energies(r, z)
        else:
            size = _norms(r)
        _all_finite(size, "the product A x")
        self.residuals[columns] = size / self.scale[columns]
        return z

    def _iterate(self, active: np.ndarray, r: np.ndarray, z: np.ndarray | None) -> None:
        """The recurrence for the columns ``active`` with residuals r (overwritten); columns leave as they finish."""
        from adaptive.linalg import compiled

        p = np.zeros_like(r)
        rz_old = np.full(len(r), np.inf)  # no old direction: the first ratio is zero
        while True:
            stay = (self.residuals[active] > self.tol[active]) & (self.n_iter[active] < self.max_iter) & (rz_old > 0)
            if not stay.all():
                active, r, p, rz_old = active[stay], r[stay], p[stay], rz_old[stay]
                z = None if z is None else z[stay]
            if len(active) == 0:
                return
            z = self._preconditioned(r) if z is None else z
            rz = compiled.dots(_flat(r), _flat(z))
            compiled.turn(_flat(p), _flat(z), rz / rz_old)
            product = self._product(p)
            curvature = compiled.dots(_flat(p), _flat(product))
            _all_finite(curvature, "the product A p")
            # A direction without curvature (rounding, or a matrix that is not positive definite) ends its column.
            good = (curvature > 0) & (rz > 0)
            length = np.where(good, rz / np.where(good, curvature, 1.0), 0.0)
            squares = compiled.step(_flat(self.x), active, _flat(p), _flat(r), _flat(product), length)
            self.n_iter[active] += 1
            rz_old = np.where(good, rz, 0.0)
            if self.energy:
                z = self._measure(active, r, None)
            else:
                z = None
                self.residuals[active] = np.sqrt(squares) / self.scale[active]

    def _product(self, p: np.ndarray) -> np.ndarray:
        self.n_products += len(p)
        return _columns(self.apply(p), p)

    def _preconditioned(self, r: np.ndarray) -> np.ndarray:
        if self.preconditioner is None:
            return r
        self.n_preconditionings += len(r)
        return _columns(self.preconditioner(r), r)


def _columns(result: ArrayLike, like: np.ndarray) -> np.ndarray:
    """Return a callable's result as contiguous columns of our own dtype."""
    result = np.ascontiguousarray(result, dtype=like.dtype)
    if result.shape != like.shape:
        raise ValueError(f"a product of columns of shape {like.shape} came back with shape {result.shape}.")
    return result


def _flat(columns: np.ndarray) -> np.ndarray:
    """Columns as rows of a real matrix; complex numbers become pairs."""
    return columns.reshape(len(columns), columns[:1].size if len(columns) else 0).view(columns.real.dtype)


def _norms(columns: np.ndarray) -> np.ndarray:
    from adaptive.linalg import compiled  # imported where used, with numba

    flat = _flat(columns)
    return np.sqrt(compiled.dots(flat, flat))


def _energies(r: np.ndarray, z: np.ndarray) -> np.ndarray:
    from adaptive.linalg import compiled

    return np.sqrt(np.maximum(compiled.dots(_flat(r), _flat(z)), np.finfo(float).tiny))


def _all_finite(sums: np.ndarray, name: str) -> None:
    if not np.isfinite(sums).all():
        raise ValueError(f"{name} must be finite, got NaN or infinity in column {int(np.argmin(np.isfinite(sums)))}.")
