"""MAP of large images by reweighted least squares, with smoothing that is taken away in steps.

    min_u  |X u - y|^2 / (2 noise) + prior + sum_j -ln T_j(sqrt(s_j^2 + smoothing unit_j^2))

is the inner loop of the double loop with all marginal variances equal to smoothing unit^2; at smoothing 0 it is MAP.
"""

from __future__ import annotations

import math
import warnings
from typing import TYPE_CHECKING

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from adaptive.inference.matrix_free.reweighted_least_squares import Reweighted
from adaptive.inference.model import GLM
from adaptive.inference.posterior import Posterior
from adaptive.potentials.grouped import GroupedPotential

if TYPE_CHECKING:
    from adaptive.potentials import Potential
    from adaptive.types import DType

__all__ = ["reweighted_map"]

_REDUCTION = 0.1
_ROWS = 2**15  # of sites at a time


def reweighted_map(
    model: GLM,
    *,
    smoothing: float = 1e-4,
    max_iter: int = 20,
    tol: float = 1e-3,
    start: np.ndarray | None = None,
    dtype: DType = float,
) -> Posterior:
    """The mode of a model with super-Gaussian potentials, by products with its operators only.

    Parameters
    ----------
    model : GLM
    smoothing : float, default 1e-4
        See above; approached from 1e-1 in factors of ten.
    max_iter : int, default 20
        Least-squares problems at each smoothing.
    tol : float, default 1e-3
        Stop when a step is this much shorter than the image.
    start : array (n,), optional
        Default the prior mean.
    dtype : {float32, float64}, default float64

    Returns
    -------
    Posterior
        A point estimate.
    """
    potential = model.potential
    for _, group in model.groups:
        if group.bound != "width":
            raise ValueError(f'solver="reweighted" needs super-Gaussian potentials, got {group.name}; use "newton".')
    problem = Reweighted(model, dtype)
    parts = _parts(potential, model.projection_rows)  # one after the other: whole arrays of sites take memory
    shifted = any(bool(np.any(p.tilt) or np.any(p.location)) for p, _ in parts)
    level, weights = 1.0, np.empty(model.projection_rows, problem.dtype)

    def sites(s: np.ndarray) -> tuple[np.ndarray, np.ndarray | None]:
        precision = weights  # those that were are done with
        shift = np.empty(len(s)) if shifted else None
        for p, rows in parts:
            z = level * np.square(np.asarray(getattr(p, "spread", 1.0), dtype=float))
            if shift is None:
                precision[rows] = 1.0 / p.inner_minimum(s[rows], 0.0, z, 0.0)[1]
            else:
                _, first, _, width = p.inner(s[rows], 0.0, z, 0.0)
                precision[rows], shift[rows] = 1.0 / width, s[rows] / width - (first - p.tilt)
        return precision, shift

    def penalty(s: np.ndarray) -> float:
        total = 0.0
        for p, rows in parts:
            z = level * np.square(np.asarray(getattr(p, "spread", 1.0), dtype=float))
            total += float(np.sum(p.inner_minimum(s[rows], 0.0, z, 0.0)[0] - p.tilt * (s[rows] - p.location)))
        return total

    u = np.asarray(model.prior_mean if start is None else start).reshape(1, *problem.system.input_shape)
    u, s, n_iter, change = u.astype(problem.dtype), None, 0, np.inf
    trace: list[float] = []
    count = max(0, math.ceil(-1 - math.log10(smoothing)))
    levels = [*(10.0 ** -(1 + k) for k in range(count)), smoothing]
    for level in levels:
        last = level == levels[-1]
        problem.circulant = None  # the weights grow with every level
        u, s, change, steps = problem.descend(
            u, sites, steps=max_iter if last else min(max_iter, 3), reduction=_REDUCTION, tol=tol, s=s
        )
        n_iter += steps
        trace.append(penalty(s) + problem.energy(u))
    converged = change <= tol
    if not converged:
        warnings.warn(
            f"map_estimate has not converged after {n_iter} least-squares problems (last step {change:.1e} of the "
            f"image, tol {tol:.1e}); raise max_iter or tol.",
            ConvergenceWarning,
            stacklevel=3,
        )
    precision, shift = sites(s) if s is not None else (np.empty(0), None)
    return Posterior(
        None,
        mean=u.astype(float).ravel(),
        sites=(precision, np.zeros_like(precision) if shift is None else shift),
        group_lengths=model.group_lengths,
        objective_trace=trace,
        n_iter=n_iter,
        n_products=problem.system.n_products,
        converged=converged,
        engine="map_estimate",
    )


def _parts(potential: Potential | None, size: int) -> list[tuple[Potential, slice]]:
    """Potentials with their rows, so few at a time that they stay in the cache."""
    if potential is None:
        return []
    groups = potential.parts() if isinstance(potential, GroupedPotential) else [(potential, slice(0, size))]
    found = []
    for group, rows in groups:
        for first in range(rows.start, rows.stop, _ROWS):
            few = slice(first, min(first + _ROWS, rows.stop))
            found.append((group[few.start - rows.start : few.stop - rows.start], few))
    return found
