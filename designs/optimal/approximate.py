"""Approximate designs: weights w on the candidates, M = n sum_i w_i x_i x_i^T + P, and the bound they set for others.

The criteria are convex in M, so that every M bounds the best one: with g_i = x_i^T V x_i (D), x_i^T V W V x_i (A, I, V)

    D     ln|M*| <= ln|M| + n max_i g_i - trace(V (M - P))
    else  trace(W V*) >= trace(W V) - n max_i g_i + trace(V W V (M - P))

and weights multiplied by g_i (D) or by its root (else) until the two sides meet are the best approximate design.
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from adaptive.checks import finite, integer
from designs.optimal.problem import Model

if TYPE_CHECKING:
    from adaptive.types import ArrayLike

__all__ = ["approximate_design", "efficiency_bound"]


def approximate_design(
    candidates: ArrayLike,
    criterion: str | float = "D",
    *,
    n_runs: int | None = None,
    prior_precision: ArrayLike | None = None,
    points: ArrayLike | None = None,
    tol: float = 1e-3,
    max_iter: int = 2000,
    warn: bool = True,
) -> tuple[np.ndarray, float, float]:
    """Optimal shares of the candidates in a large experiment.

    Parameters
    ----------
    candidates : array-like (N, d)
        Model rows.
    criterion : {"D", "A", "I", "V"}, 0 or 1, default "D"
        As in ``optimal_design``.
    n_runs : int, optional
        Size of the experiment that the value refers to (and against which a prior counts); default d.
    prior_precision, points
        As in ``optimal_design``.
    tol : float, default 1e-3
        Relative distance to the bound at which to stop.
    max_iter : int, default 2000
        Most iterations.
    warn : bool, default True
        Whether to warn if they do not suffice; the bound holds either way.

    Returns
    -------
    weights : array (N,)
        Non-negative, sum one.
    value : float
        The criterion at ``n_runs`` runs in these proportions.
    bound : float
        No design of that size has a smaller value.

    Raises
    ------
    ValueError
        If the candidates are no table or do not span all unknowns without a prior, or the criterion is unknown.

    References
    ----------
    Kiefer and Wolfowitz (1960), The equivalence of two extremum problems. Silvey, Titterington and Torsney (1978), An
    algorithm for optimal designs on a finite design space.

    Examples
    --------
    >>> x = np.linspace(-1, 1, 5)
    >>> weights, value, bound = approximate_design(np.column_stack([np.ones(5), x, x**2]), tol=1e-6)
    >>> weights.round(3)
    array([0.333, 0.   , 0.333, 0.   , 0.333])
    """
    rows = finite("candidates", candidates)
    if rows.ndim != 2 or not rows.size:
        raise ValueError(f"candidates must be a table of model rows (N, d), got shape {rows.shape}.")
    if criterion not in ("D", "A", "I", "V", 0, 1):
        raise ValueError(f"criterion must be one of 'D', 'A', 'I', 'V', 0 or 1, got {criterion!r}.")
    d = rows.shape[1]
    n = d if n_runs is None else integer("n_runs", n_runs, minimum=1)
    model = Model(d, max(n, d), prior_precision, None, constant=True)
    measure, _ = model.criterion(criterion, rows, points)
    weight = getattr(measure, "weight", None)
    if not model.has_prior and np.linalg.matrix_rank(rows) < d:
        raise ValueError(
            f"candidates must span all {d} unknowns (they span {np.linalg.matrix_rank(rows)}) without a prior."
        )
    w = np.full(len(rows), 1 / len(rows))
    bound, value, converged = 0.0, np.inf, False
    for _ in range(max_iter):
        information = n * (rows.T * w) @ rows + model.prior
        covariance = np.linalg.inv(information)
        value = measure.value(information)
        spread = covariance if weight is None else covariance @ weight @ covariance
        gradient = np.einsum("ni,ni->n", rows @ spread, rows)
        gap = n * (gradient.max() - w @ gradient)
        bound = max(bound, value * float(np.exp(-gap / d)) if weight is None else value - gap)
        converged = value - bound <= tol * value
        if converged:
            break
        w = w * (gradient if weight is None else np.sqrt(gradient))
        w /= w.sum()
    if not converged and warn:
        message = f"the approximate design is {value / bound - 1:.2g} above its bound after {max_iter} iterations."
        warnings.warn(message, ConvergenceWarning, stacklevel=2)
    return w, float(value), float(bound)


def efficiency_bound(
    rows: np.ndarray, model: Model, name: str | float, points: ArrayLike | None, value: float
) -> float | None:
    """Efficiency that a value has at least, relative to every design of that size; None where no design is regular."""
    if name in ("D", 0):
        easier: str | float = "D"
    elif name in ("I", "V"):
        easier = "V"  # over given points, which for "I" are all candidates, also those that may not be run
    else:
        easier = (
            "A" if name in ("A", "E") or float(name) >= 1 else "D"
        )  # phi_p grows with p: phi_1 bounds what is beyond
    if not model.has_prior and np.linalg.matrix_rank(rows) < model.d:
        return None
    prior = model.prior[model.part, model.part] if model.has_prior else None
    where = points if easier == "V" else None
    _, _, bound = approximate_design(
        rows, easier, n_runs=model.n_runs, prior_precision=prior, points=where, max_iter=300, warn=False
    )
    return float(min(bound / value, 1.0)) if np.isfinite(value) else None
