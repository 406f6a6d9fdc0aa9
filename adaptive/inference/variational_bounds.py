"""Variational bounds on single potentials, by the double loop.

Every potential is bounded from below by a Gaussian of width gamma_j, T(s) >= exp(tilt x - x^2/(2 gamma) - h(gamma)/2),
x = s - location; what is left is a Gaussian integral, whose logarithm bounds the log evidence. The widths minimise

    -ln Z_VB(gamma) = 1/2 [ sum_j h_j(gamma_j) + min_u R(u, gamma) + ln|A(gamma)| ] + const.

The outer loop replaces ln|A| by a bound that is tight at the present widths: (1) z1' gamma - sum ln gamma, linear in
gamma up to a known function, or (2) z2' (1/gamma), z2 the marginal variances. The inner loop then minimises jointly
over u and gamma, which is penalised least squares with the potentials' ``inner`` as penalties.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from adaptive.checks import choice, integer, positive
from adaptive.inference.dense.newton import NegativeLogDensity, minimise
from adaptive.inference.dense.problem import DenseProblem
from adaptive.inference.matrix_free.double_loop import VARIANCES, matrix_free_bounds
from adaptive.inference.model import GLM
from adaptive.inference.posterior import Posterior
from adaptive.inference.threads import small_on_one_thread

if TYPE_CHECKING:
    from adaptive.gaussians import FactorisedForm
    from adaptive.potentials import Potential
    from adaptive.types import Number, RandomState

__all__ = ["variational_bounds"]

_INNER_STEPS = 30
_NARROWEST = 1e-100  # a width that stands for zero: a kinked potential on a row of zeros
# How marginal variances are found: (gaussian at the present sites) -> (q,) variances of its projections.
_VARIANCES: dict[str, Callable[[FactorisedForm], np.ndarray]] = {"exact": lambda gaussian: gaussian.marginals()[1]}


@small_on_one_thread
def variational_bounds(
    model: GLM,
    *,
    variances: str | Callable[[FactorisedForm], np.ndarray] = "exact",
    logdet_bound: int | None = None,
    max_iter: int | None = None,
    tol: float | None = None,
    random_state: RandomState = None,
    warm_start: Posterior | None = None,
    form: str | None = None,
    **matrix_free: Any,
) -> Posterior:
    """Gaussian approximation from the best Gaussian lower bounds on the potentials (the double loop).

    Parameters
    ----------
    model : GLM
        Potentials must have a Gaussian lower bound: super-Gaussian ones, and Bernoulli probit (a loose one).
    variances : {"exact", "sampled", "lanczos"} or callable, default "exact"
        How the marginal variances of the outer loop are found; a callable takes the Gaussian and returns (q,).
        "sampled" and "lanczos" multiply with the operators only and return a `LargePosterior`.
    logdet_bound : {1, 2}, optional
        Bound on the log determinant. Default 2 (faster), or 1 where a potential is not log-concave.
    max_iter : int, optional
        Outer steps; default 200, matrix-free 20.
    tol : float, optional
        Default 1e-8: stop when an outer step lowers the objective by less than this, relative to 1 + |objective|.
        Matrix-free 1e-2: stop when the logarithms of the widths change by less (root mean square).
    random_state : None, int or Generator
        Draws the samples, or the Lanczos start.
    warm_start : Posterior, optional
        Starts from its widths; matrix-free also from its mean and samples, which keep their random numbers.
    form : {"precision", "covariance"}, optional
        Representation; chosen by size if not given.
    **matrix_free
        Further options of the matrix-free loop (n_samples, dtype, evidence, inner_steps, ...), described in
        `adaptive.inference.matrix_free.double_loop.matrix_free_bounds`.

    Returns
    -------
    Posterior
        ``evidence_kind`` is "lower_bound" with exact variances; ``objective_trace`` is minus that bound and then never
        rises; ``jensen_evidence`` is the higher bound at the same Gaussian, the one to choose hyper-parameters by.

    Raises
    ------
    ValueError
        If an option does not go with ``variances``, or ``logdet_bound`` is none of 1, 2, None.

    References
    ----------
    Nickisch and Seeger (2009), Convex variational Bayesian inference for large scale generalized linear models;
    Nickisch (2010), algorithm 3.1.

    Examples
    --------
    >>> from adaptive.inference import GLM
    >>> from adaptive.potentials import Laplace
    >>> model = GLM([[1.0, 0.5]], [1.0], 0.1, B=None, potentials=Laplace(1.0))
    >>> posterior = variational_bounds(model)
    >>> posterior.mean.round(3), posterior.evidence_kind
    (array([0.719, 0.397]), 'lower_bound')
    """
    if isinstance(variances, str) and variances in VARIANCES:
        matrix_free |= {name: value for name, value in (("max_iter", max_iter), ("tol", tol)) if value is not None}
        return matrix_free_bounds(
            model,
            variances=variances,
            logdet_bound=logdet_bound,
            random_state=random_state,
            warm_start=warm_start,
            **matrix_free,
        )
    if matrix_free:
        names = ", ".join(sorted(matrix_free))
        raise ValueError(f'{names}: these options go with variances="sampled" or "lanczos", not with {variances!r}.')
    max_iter = 200 if max_iter is None else integer("max_iter", max_iter, minimum=0)
    tol = 1e-8 if tol is None else float(positive("tol", tol, or_zero=True))
    if logdet_bound not in (None, 1, 2):
        raise ValueError(f"logdet_bound must be 1, 2 or None, got {logdet_bound!r}.")
    marginal_variances = (
        variances if callable(variances) else _VARIANCES[choice("variances", variances, (*_VARIANCES, *VARIANCES))]
    )
    problem = DenseProblem(model, "variational_bounds", warm_start, form)
    if problem.size == 0:
        return problem.exact()
    if logdet_bound is None:
        logdet_bound = 2 if np.all(problem.potential.log_concave) else 1
    gaussian, bounds = problem.gaussian, _Bounds(problem)
    if not bounds.log_concave:
        warnings.warn(
            "variational_bounds may have several optima where potentials are not log-concave; this is one near a mode.",
            stacklevel=2,
        )

    trace: list[float] = []
    value = bounds.fit()
    converged, n_iter = False, 0
    while n_iter < max_iter and not converged:
        n_iter += 1
        bounds.linearise(logdet_bound, marginal_variances(gaussian))
        s, _, _ = minimise(problem, bounds, _INNER_STEPS, min(1e-9, 1e-2 * tol))
        before = bounds.move_bounds(s)
        previous, value = value, bounds.fit()
        if value > previous and variances == "exact":  # by rounding: the bounds were optimal already
            bounds.width, bounds.contact = before
            value, converged = bounds.fit(), True
        trace.append(value)
        converged = converged or previous - value <= tol * (1.0 + abs(value))
    kind = "lower_bound" if variances == "exact" else "approximation"
    return problem.finish(-value, kind, trace, n_iter=n_iter, converged=converged)


class _Bounds:
    """The Gaussian lower bounds: widths of all potentials, and contact points of those whose width is fixed."""

    def __init__(self, problem: DenseProblem):
        self.problem, self.potential, self.size = problem, problem.potential, problem.size
        groups = [(p, np.full(length, p.bound == "contact")) for p, length in problem.matrices.active_groups()]
        self.log_concave = bool(np.all(self.potential.log_concave))
        weights = self.potential.weights
        self.copies: Number = 1.0 if weights is None else np.maximum(weights, 1.0)  # rows that each row stands for
        self.fixed = np.concatenate([fixed for _, fixed in groups])
        self.tilt = np.broadcast_to(np.asarray(self.potential.tilt, dtype=float), (self.size,))
        self.location = np.broadcast_to(np.asarray(self.potential.location, dtype=float), (self.size,))
        self.contact = np.array(self.location)
        self.width = np.maximum(self.potential.tight_width(self._start()), _NARROWEST)
        if problem.warm_sites is not None:
            pi, nu = problem.warm_sites
            old = ~problem.fresh & (pi > 0)
            self.width = np.where(old & ~self.fixed, 1.0 / np.where(old, pi, 1.0), self.width)

    def _start(self) -> np.ndarray:
        """Return where the first bounds touch: a spread from the centre, or a mode where optima may be several."""
        if self.log_concave or not np.all(self.potential.smooth) or self.problem.warm_sites is not None:
            return self.location + self.problem.spread()
        self.problem.start()
        return minimise(self.problem, NegativeLogDensity(self.potential), _INNER_STEPS, 1e-6)[0]

    def fit(self) -> float:
        """Fit the Gaussian to the bounds; return minus the bound on the log evidence."""
        centre, slope, top = self.location.copy(), self.tilt.copy(), np.empty(self.size)
        free = ~self.fixed
        if free.any():
            top[free] = -0.5 * self._of(free).height(self.width[free])
        if self.fixed.any():  # a parabola of fixed width through the contact point, with the slope there
            part, z = self._of(self.fixed), self.contact[self.fixed]
            centre[self.fixed], slope[self.fixed], top[self.fixed] = z, part.derivatives(z)[0], part.log_density(z)
        pi = 1.0 / self.width
        self.problem.refit(pi, slope + centre * pi)
        x = self.problem.gaussian.projections - centre
        return -float(self.problem.gaussian.log_volume + np.sum(top + slope * x - 0.5 * pi * x * x))

    def _of(self, rows: np.ndarray) -> Potential:
        return self.potential if rows.all() else self.potential[np.flatnonzero(rows)]

    def linearise(self, logdet_bound: int, variance: np.ndarray) -> None:
        """Coefficients of the bounds, on the log determinant and on heights, that are tight at the present widths."""
        self.z1: Number = 0.0
        self.z2: Number = np.maximum(variance, _NARROWEST**2)
        self.z3: Number = 0.0
        if logdet_bound == 1:
            slope = np.maximum(self.copies / self.width - variance / self.width**2, 0.0)
            self.z1, self.z2, self.z3 = slope, 0.0, self.copies
        if not self.log_concave:  # the height's concave part is replaced by its tangent
            slope = np.zeros(self.size)
            free = ~self.fixed
            slope[free] = self._of(free).concave_height_slope(self.width[free])
            self.z1 = self.z1 + slope

    def move_bounds(self, s: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Take the best widths and contact points at the projections s; return the ones before."""
        before = self.width, self.contact
        self.width, self.contact = np.maximum(self.potential.inner(s, self.z1, self.z2, self.z3)[3], _NARROWEST), s
        return before

    # the cost of the inner loop: the penalty less its tilt
    def value(self, s: np.ndarray) -> float:
        penalty = self.potential.inner(s, self.z1, self.z2, self.z3)[0]
        return float(np.sum(penalty - self.tilt * (s - self.location)))

    def derivatives(self, s: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        _, first, second, _ = self.potential.inner(s, self.z1, self.z2, self.z3)
        return first - self.tilt, second

    def majoriser(self, s: np.ndarray) -> np.ndarray:
        return 1.0 / np.maximum(self.potential.inner(s, self.z1, self.z2, self.z3)[3], _NARROWEST)
