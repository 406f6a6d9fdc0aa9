"""Maximum a posteriori, or penalised least squares: a point, by products with the operators only."""

from __future__ import annotations

import math
import warnings
from typing import TYPE_CHECKING

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from adaptive.checks import choice, integer, positive
from adaptive.inference.compatibility import require_compatible
from adaptive.inference.matrix_free.reweighted_map import reweighted_map
from adaptive.inference.matrix_free.solvers import SOLVERS, Objective
from adaptive.inference.model import GLM
from adaptive.inference.penalties import FromPotential, Penalty, Zero
from adaptive.inference.posterior import Posterior

if TYPE_CHECKING:
    from adaptive.types import RandomState

__all__ = ["map_estimate"]


def map_estimate(
    model: GLM,
    *,
    penalty: Penalty | None = None,
    solver: str = "newton",
    smoothing: float = 1e-8,
    max_iter: int = 1000,
    tol: float = 1e-6,
    random_state: RandomState = None,
    warm_start: Posterior | None = None,
) -> Posterior:
    """The mode of the posterior, or the minimiser of |X u - y|^2 / (2 noise) + prior + sum of penalties of B u.

    Parameters
    ----------
    model : GLM
        Any potentials but flat constraints; operators may be matrix-free.
    penalty : Penalty, optional
        Replaces -ln T of the potentials on all projection rows.
    solver : {"newton", "lbfgs", "cg", "reweighted"}
        Truncated Newton, quasi-Newton, nonlinear conjugate gradients; or, for super-Gaussian potentials (without
        ``penalty``), least squares with new weights in each iteration and a circulant preconditioner, the quickest for
        images: there ``tol`` is the length of a step relative to the solution's, and smoothing 1e-4 is plenty.
    smoothing : float, default 1e-8
        A kinked penalty is minimised with |x| replaced by sqrt(x^2 + smoothing unit^2), unit the potential's scale,
        approached from 1e-2 in factors of ten; a coefficient that should be zero is then about 1e-4 units from it.
    max_iter : int, default 1000
        Iterations at each smoothing.
    tol : float, default 1e-6
        Stop when the gradient is this much smaller than it would be if residuals, slopes and prior did not cancel.
    random_state : ignored
        Every engine takes it.
    warm_start : Posterior, optional
        Starts from its mean.

    Returns
    -------
    Posterior
        A point estimate: ``mean`` is the mode, variances are refused, ``evidence_kind`` is "none". ``n_products``
        counts products with the system matrix.

    Raises
    ------
    ValueError
        If ``model`` is no `GLM`, or a penalty is given to a solver that takes it from the potentials.

    References
    ----------
    Nickisch (2012), glm-ie: the generalised linear models inference and estimation toolbox.

    Examples
    --------
    >>> from adaptive.inference import GLM
    >>> from adaptive.potentials import Laplace
    >>> model = GLM([[1.0, 0.0], [0.0, 1.0]], [1.0, 0.2], 0.5, potentials=Laplace(1.0))
    >>> map_estimate(model).mean.round(3)      # soft threshold at noise / scale = 0.5
    array([0.5, 0. ])
    """
    if not isinstance(model, GLM):
        raise ValueError(f"model must be a GLM, got {type(model).__name__}.")
    choice("solver", solver, (*SOLVERS, "reweighted"))
    max_iter, tol = integer("max_iter", max_iter, minimum=0), float(positive("tol", tol, or_zero=True))
    smoothing = float(positive("smoothing", smoothing))
    if solver == "reweighted":
        if penalty is not None:
            raise ValueError('solver="reweighted" takes its penalties from the potentials; penalty must be None.')
        start = None if warm_start is None else _mean_of(warm_start, model)
        return reweighted_map(model, smoothing=smoothing, max_iter=max_iter, tol=tol, start=start)
    if penalty is None:
        require_compatible(model, "map_estimate")
        penalty = Zero() if model.potential is None else FromPotential(model.potential)
    objective = Objective(model, penalty)
    start = model.prior_mean if warm_start is None else _mean_of(warm_start, model)
    at = objective.point(objective.coefficients(start))
    trace: list[float] = []
    converged = True
    levels = _levels(smoothing) if penalty.kinked else [0.0]
    for level in levels:
        objective.smoothing = level
        solution = SOLVERS[solver](objective, at, max_iter, tol if level == levels[-1] else max(tol, 1e-4))
        at, converged = solution.point, solution.converged
        trace += solution.trace
    impossible = not np.isfinite(np.sum(penalty(at.projected)[0]))
    converged = converged and not impossible
    if not converged:
        reason = "the density is zero there, perhaps everywhere" if impossible else "raise max_iter or tol"
        message = f"map_estimate has not converged after {len(trace)} iterations; {reason}."
        warnings.warn(message, ConvergenceWarning, stacklevel=2)
    _, first, second = penalty(at.projected, objective.smoothing)
    curvature = np.maximum(second, 0.0)
    return Posterior(
        None,
        mean=objective.latent(at.w),
        sites=(curvature, curvature * at.projected - first),
        group_lengths=model.group_lengths,
        objective_trace=trace,
        n_iter=len(trace),
        n_products=math.ceil(objective.products),
        converged=converged,
        engine="map_estimate",
    )


def _levels(smoothing: float) -> list[float]:
    """1e-2, 1e-3, ... down to the smoothing."""
    count = max(0, math.ceil(-2 - math.log10(smoothing)))
    return [*(10.0 ** -(2 + k) for k in range(count)), smoothing]


def _mean_of(warm_start: Posterior, model: GLM) -> np.ndarray:
    if not isinstance(warm_start, Posterior) or warm_start.n != model.n:
        raise ValueError(f"warm_start must be a Posterior over {model.n} unknowns, got {warm_start!r}.")
    return warm_start.mean
