"""Evidence maximisation: L-BFGS-B within bounds, from the given parameters and from random ones, as in scikit-learn."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any

import numpy as np
from scipy.optimize import minimize
from sklearn.exceptions import ConvergenceWarning

from adaptive import checks
from adaptive.estimators.gaussian_process.evidence import Evidence

__all__ = ["optimised"]

_MAX_ITER = 200
_WORST = 1e25  # where there is no posterior


def optimised(evidence: Evidence, optimizer: Any, n_restarts: int, bounds: np.ndarray, random_state: Any) -> Evidence:
    """The evidence at its largest.

    Parameters
    ----------
    evidence : Evidence
        Where the search starts.
    optimizer : "fmin_l_bfgs_b", callable (objective, initial_theta, bounds) -> (theta, value), or None
        The objective is ``(theta, eval_gradient=True) -> minus the log evidence`` (and its gradient).
    n_restarts : int
        Further searches, from parameters drawn uniformly within the bounds.
    bounds : (p, 2) array
    random_state : None, int, Generator or RandomState
    """
    if optimizer is None or not len(evidence.theta):
        return evidence
    best: tuple[float, np.ndarray] | None = None
    start = np.clip(evidence.theta, bounds[:, 0], bounds[:, 1])
    rng = checks.generator(random_state)
    if n_restarts > 0 and not np.isfinite(bounds).all():
        raise ValueError("n_restarts_optimizer > 0 needs finite bounds of all parameters.")
    starts = [start, *(rng.uniform(bounds[:, 0], bounds[:, 1]) for _ in range(n_restarts))]
    for initial in starts:
        climb = _Climb(evidence)
        if callable(optimizer):
            theta, value = optimizer(climb, initial, bounds=bounds)
        else:
            theta, value = _lbfgs(climb, initial, bounds)
        if best is None or value < best[0]:
            best = float(value), np.asarray(theta, dtype=float)
    assert best is not None
    return evidence.at(best[1])


class _Climb:
    """Minus the log evidence and its gradient, every posterior started from the last one that converged."""

    def __init__(self, evidence: Evidence) -> None:
        self.evidence = evidence
        self.settings: dict[str, Any] = getattr(evidence.engine, "search", {})

    def __call__(self, theta: np.ndarray, eval_gradient: bool = True) -> Any:
        nowhere = (_WORST, np.zeros(len(theta))) if eval_gradient else _WORST
        for warm in (self.evidence.warm, None):
            at = replace(self.evidence.at(theta), warm=warm)
            gradient = np.zeros(len(theta))
            try:
                if eval_gradient:
                    value, gradient = at.value_and_gradient(quiet=True, **self.settings)
                else:
                    value = at.value(quiet=True, **self.settings)
            except (ValueError, np.linalg.LinAlgError):  # no posterior there: look elsewhere
                continue
            if np.isfinite(value) and all(posterior.converged for posterior in at.warm):
                self.evidence = at
                return (-value, -gradient) if eval_gradient else -value
            if warm is None:
                break
        return nowhere


def _lbfgs(climb: _Climb, initial: np.ndarray, bounds: np.ndarray) -> tuple[np.ndarray, float]:
    """The minimum; the objective is divided by its first slope, so that the first step is one unit long."""
    _, slope = climb(initial)
    unit = max(1.0, float(np.linalg.norm(slope)))
    result: Any = minimize(
        lambda theta: tuple(part / unit for part in climb(theta)),
        initial,
        method="L-BFGS-B",
        jac=True,
        bounds=bounds,
        options={"maxiter": _MAX_ITER, "ftol": 1e-8 / unit, "gtol": 1e-4 / unit},
    )
    if result.status == 1:
        warnings.warn(
            f"the search for hyper-parameters stopped after {_MAX_ITER} iterations; start it nearer.",
            ConvergenceWarning,
            stacklevel=5,
        )
    return result.x, float(result.fun) * unit
