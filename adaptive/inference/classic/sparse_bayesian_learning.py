"""Sparse Bayesian learning: u = B'w with w_i ~ N(0, 1 / alpha_i), every alpha_i maximising the evidence.

Most alpha_i become infinite: w_i is then zero with certainty, and the posterior has no variance there. As a
reconstruction it is sparse; as a belief that is to say what to measure next it is overconfident (`variational_bounds`
and `expectation_propagation` keep every width positive).
"""

from __future__ import annotations

import warnings
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.linalg
import scipy.sparse.linalg
from sklearn.exceptions import ConvergenceWarning

from adaptive.checks import integer, positive
from adaptive.gaussians.square_root_form import SquareRootForm
from adaptive.inference.classic.measured_rows import MeasuredRows, earlier_work
from adaptive.inference.classic.scale_maximisation import ScaleMaximisation
from adaptive.inference.posterior import Posterior

if TYPE_CHECKING:
    from adaptive.types import ArrayLike, RandomState, Rows

__all__ = ["SparsePosterior", "sparse_bayesian_learning"]

_LEAST_NOISE = 1e-6  # estimated noise variance, as a share of the measurements' mean square, below which it never goes


def sparse_bayesian_learning(
    X: Rows | ArrayLike,
    y: ArrayLike,
    noise_variance: float | None = None,
    *,
    B: Rows | ArrayLike | None = None,
    explore: bool = False,
    max_iter: int | None = None,
    tol: float = 1e-8,
    random_state: RandomState = None,
    warm_start: SparsePosterior | None = None,
) -> SparsePosterior:
    """Scales by greedy maximisation of the evidence: additions, deletions and re-estimates (the inference of BCS).

    Parameters
    ----------
    X : array, sparse matrix or real Operator (m, n)
        Any rows, also more than unknowns; rows of zeros tell nothing.
    y : array (m,)
    noise_variance : float, optional
        None: estimated as well, by the evidence (with far fewer rows than unknowns it is hardly determined; never below
        1e-6 of the mean square of ``y``).
    B : array, sparse matrix or Operator (n, n), optional
        Orthonormal transform in which u is sparse; default the identity.
    explore : bool, default False
        For ``leading_directions`` only, coefficients that are off get the smallest prior variance of those that are on
        (ours, not of the source).
    max_iter : int, optional
        Changes of a scale; default a hundred per unknown.
    tol : float, default 1e-8
        Stop when no change raises the log evidence by more nats.
    random_state : ignored
        Every engine takes it.
    warm_start : result of this function, optional
        Starts from its scales; if X begins with its rows (and B is the same object), products are kept, too.

    Returns
    -------
    SparsePosterior

    Warns
    -----
    ConvergenceWarning
        If ``max_iter`` was reached first.

    References
    ----------
    Tipping and Faul (2003), Fast marginal likelihood maximisation for sparse Bayesian models; Ji, Xue and Carin (2008),
    Bayesian compressive sensing.

    Examples
    --------
    >>> X = np.random.default_rng(0).standard_normal((20, 40))
    >>> u = np.zeros(40)
    >>> u[[3, 17, 30]] = 1.0, -2.0, 0.5
    >>> posterior = sparse_bayesian_learning(X, X @ u, 1e-4)
    >>> sorted(posterior.active.tolist()), bool(np.abs(posterior.mean - u).max() < 0.01)
    ([3, 17, 30], True)
    """
    s2 = None
    if noise_variance is not None:
        s2 = float(positive("noise_variance", noise_variance))
    tol = float(positive("tol", tol, or_zero=True))
    earlier, before = earlier_work(warm_start, "sparse_bayesian_learning") or (None, None)
    data = MeasuredRows(X, y, B, earlier=earlier)
    max_iter = 100 * data.n if max_iter is None else integer("max_iter", max_iter, minimum=0)
    square = float(np.mean(data.y**2)) if data.y.size else 0.0
    estimated = s2 is None
    floor = _LEAST_NOISE * (square or 1.0)
    start = before.noise_variance if before is not None else 0.1 * (square or 1.0)
    problem = _begin(data, max(start, floor) if s2 is None else s2, before)
    trace, n_iter, converged = _maximise_evidence(problem, max_iter, tol, floor if estimated else None)
    if not converged:
        warnings.warn(
            f"sparse_bayesian_learning has not converged after {n_iter} changes; raise max_iter or tol.",
            ConvergenceWarning,
            stacklevel=2,
        )
    return SparsePosterior(data, problem, explore, trace, n_iter, converged)


def _begin(data: MeasuredRows, noise_variance: float, before: ScaleMaximisation | None) -> ScaleMaximisation:
    """With nothing active, or at the scales of an earlier problem, whose products the new rows are added to."""
    A = data.coefficients
    if before is None or before.n != data.n:
        return ScaleMaximisation(A, data.y, noise_variance)
    products = None
    if data.known:
        fresh = A[data.known :]
        products = before.products + fresh.T @ fresh[:, before.active]
    return ScaleMaximisation(A, data.y, noise_variance, before.active, before.precisions, products)


def _maximise_evidence(
    problem: ScaleMaximisation, max_iter: int, tol: float, floor: float | None
) -> tuple[list[float], int, bool]:
    """Minus the log evidence after each change, their number, and whether nothing is left to gain."""
    trace: list[float] = []
    for n_iter in range(max_iter + 1):
        i, alpha, rise = problem.best_change()
        if not rise > tol:
            problem.refresh()
            i, alpha, rise = problem.best_change()
        if not rise > tol:
            before = problem.log_evidence
            if floor is None or not problem.better_noise(floor) or problem.log_evidence - before <= tol:
                return trace, n_iter, True
            trace.append(-problem.log_evidence)
        elif n_iter < max_iter:
            problem.change(i, alpha, rise)
            trace.append(-problem.log_evidence)
    problem.refresh()
    return trace, max_iter, False


class SparsePosterior(Posterior):
    """Gaussian over the active coefficients; all others are zero with certainty.

    Attributes
    ----------
    active : (k,) int
        Coefficients (rows of B) that are on.
    precisions : (k,)
        alpha of these.
    noise_variance : float
        Given or estimated.
    log_evidence : float
        At the scales found: maximal over them, not averaged. ``objective_trace`` is minus it after each change.
    """

    def __init__(
        self,
        data: MeasuredRows,
        problem: ScaleMaximisation,
        explore: bool,
        trace: list[float],
        n_iter: int,
        converged: bool,
    ):
        none = np.empty(0)
        super().__init__(
            _ActiveForm(data, problem),
            sites=(none, none),
            group_lengths=[],
            log_evidence=problem.log_evidence,
            evidence_kind="exact",
            objective_trace=trace,
            n_iter=n_iter,
            converged=converged,
            engine="sparse_bayesian_learning",
        )
        self.active, self.precisions = problem.active.copy(), problem.precisions.copy()
        self.noise_variance, self.explore = problem.noise_variance, explore
        self.working = (data, problem)

    def state(self) -> dict[str, Any]:
        """Beliefs as of a plain `Posterior`: which coefficients are on is told by their variances."""
        return {**super().state(), "active": None}

    def leading_directions(
        self, k: int, start: ArrayLike | None = None, *, tol: float = 1e-3
    ) -> tuple[np.ndarray, np.ndarray]:
        """Its own design: leading eigenvectors of the posterior covariance, all within the active set.

        Parameters
        ----------
        k : int
            Number of directions. Where fewer coefficients are active, random ones without variance complete them.
        start, tol : ignored
            Every posterior takes them.

        Returns
        -------
        values, directions : arrays (k,), (k, n)
            Variances, and orthonormal rows.
        """
        k = integer("k", k, minimum=1)
        if k > self.n:
            raise ValueError(f"k must be at most the number of unknowns, {self.n}, got {k}.")
        data, problem = self.working
        values, coefficients = self._explored(k) if self.explore else _largest(problem.covariance, k)
        if not self.explore:
            embedded = np.zeros((len(values), self.n))
            embedded[:, self.active] = coefficients
            coefficients = embedded
        if len(values) < k:
            rng = np.random.default_rng(len(data.y))
            full = np.vstack([coefficients, rng.standard_normal((k - len(values), self.n))])
            coefficients = np.linalg.qr(full.T)[0].T
            values = np.append(values, np.zeros(k - len(values)))
        return values, data.synthesised(coefficients)

    def _explored(self, k: int) -> tuple[np.ndarray, np.ndarray]:
        """The same where coefficients that are off have the smallest prior variance of those that are on."""
        data, problem = self.working
        A, s2 = data.coefficients, self.noise_variance
        precision = np.full(self.n, self.precisions.max(initial=0.0) or 1.0)
        precision[self.active] = self.precisions
        scaled = A / precision
        inner = scipy.linalg.cho_factor(s2 * np.eye(len(A)) + scaled @ A.T)

        def times(v: np.ndarray) -> np.ndarray:
            return v.ravel() / precision - scipy.linalg.cho_solve(inner, scaled @ v.ravel()) @ scaled

        if k >= self.n - 1:
            return _largest(np.stack([times(row) for row in np.eye(self.n)]), k)
        operator = scipy.sparse.linalg.LinearOperator((self.n, self.n), matvec=times, dtype=float)
        first = np.random.default_rng(0).standard_normal(self.n)
        values, vectors = scipy.sparse.linalg.eigsh(operator, k, which="LA", v0=first)
        return values[::-1], vectors.T[::-1]


def _largest(covariance: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
    """At most k leading eigenvalues, and eigenvectors as rows."""
    size = len(covariance)
    k = min(k, size)
    if not k:
        return np.zeros(0), np.zeros((0, size))
    values, vectors = scipy.linalg.eigh(covariance, subset_by_index=(size - k, size - 1))
    return values[::-1], vectors.T[::-1]


class _ActiveForm(SquareRootForm):
    """The Gaussian over u: its root is made when first looked at."""

    def __init__(self, data: MeasuredRows, problem: ScaleMaximisation):
        self._data, self._active, self._covariance = data, problem.active.copy(), problem.covariance
        coefficients = np.zeros(data.n)
        coefficients[problem.active] = problem.mean
        self.mean, self.n = data.synthesised(coefficients), data.n

    @cached_property
    def root(self) -> np.ndarray:  # type: ignore[override]
        values, vectors = scipy.linalg.eigh(self._covariance)
        embedded = np.zeros((len(values), self.n))
        embedded[:, self._active] = (vectors * np.sqrt(np.maximum(values, 0.0))).T
        return self._data.synthesised(embedded).T
