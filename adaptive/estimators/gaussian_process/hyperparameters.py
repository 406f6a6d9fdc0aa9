"""Hyper-parameters where the evidence is largest, and places about them that are averaged over.

The search: L-BFGS-B within bounds, from the given parameters and from random ones; as in scikit-learn, whose
``optimizer`` may be given in its place. The places theta_k, and how much of the integral each stands for:

    int f(theta) d theta  ~  sum_k volume_k f(theta_k),      f = evidence x prior,    theta_i ~ N(start_i, unit_i^2)

One parameter has 9 nodes about the start, two have 3 x 5. More, and those whose f is narrower than this grid, have a
central composite design about the highest f (`adaptive.estimators.places`). A unit is 1 in ln length; a variance, whose
logarithm is twice that of a height, has 2.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn import clone, config_context
from sklearn.exceptions import ConvergenceWarning

from adaptive import checks
from adaptive.estimators.gaussian_process.evidence import Evidence
from adaptive.estimators.places import Places, about_the_top, log_prior
from adaptive.inference.evidence.maximise import LBFGS, Evaluate, Evaluation, Iteration, LogNormal, Maximum, maximise

if TYPE_CHECKING:
    from sklearn.gaussian_process.kernels import Kernel

    from adaptive.estimators.gaussian_process.evidence import Evidence
    from adaptive.types import Options, RandomState

__all__ = ["FOLLOW", "ROUGH", "highest_places", "optimised", "places_about", "units_of"]


_CLIMB = LBFGS(max_iter=200, ftol=1e-8, gtol=1e-4, leaps=True)
ROUGH = LBFGS(max_iter=200, ftol=1e-2, gtol=1e-1)  # to compare starts: to a hundredth of a nat
FOLLOW = LBFGS(max_iter=100, ftol=1e-3, gtol=2e-2, relative=True, warns=False)  # from a top of fewer rows
_COARSE = 1e-3  # tolerance of the inference while the search is far from its end
_SHARE = 3e-3  # of the last slope, in nats: what an inference that is not the last may leave
_WORST = 1e25  # where there is no posterior


def optimised(
    evidence: Evidence,
    optimizer: str | Callable[..., Any] | None,
    n_restarts: int,
    bounds: np.ndarray,
    random_state: RandomState,
    climb: LBFGS = _CLIMB,
    *,
    tells_bounds: bool = True,
) -> Evidence:
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
    climb : LBFGS
        Of "fmin_l_bfgs_b". No inference on its way is more exact than needed to tell values ``ftol`` apart.
    tells_bounds : bool, default True
        Warn of parameters that end at a bound; not, where the bounds are none of the user's.

    Returns
    -------
    Evidence
        At the parameters found.

    Raises
    ------
    ValueError
        If there are restarts and a parameter has no finite bounds, or ``random_state`` is neither seed nor generator.

    Examples
    --------
    >>> from sklearn.gaussian_process.kernels import RBF
    >>> from adaptive.estimators.gaussian_process import Evidence
    >>> from adaptive.inference import expectation_propagation
    >>> from adaptive.means import Zero
    >>> from adaptive.potentials import BernoulliProbit
    >>> X, y = np.linspace(0.0, 3.0, 8)[:, None], np.repeat([-1, 1], 4)
    >>> start = Evidence(RBF(0.3), Zero(), X, [lambda scale: BernoulliProbit(y)], expectation_propagation)
    >>> best = optimised(start, "fmin_l_bfgs_b", 0, np.log([[0.1, 10.0]]), 0)
    >>> best.value() > start.value()
    True
    """
    if optimizer is None or not len(evidence.theta):
        return evidence
    start = np.clip(evidence.theta, bounds[:, 0], bounds[:, 1])
    rng = checks.generator(random_state)
    if n_restarts > 0 and not np.isfinite(bounds).all():
        raise ValueError("n_restarts_optimizer > 0 needs finite bounds of all parameters.")

    at = replace(evidence, kernel=clone(evidence.kernel))  # moved to where the search looks
    finest: dict[str, Any] = getattr(evidence.engine, "search", {})
    coarse = max(_COARSE, climb.ftol)
    steepest = np.inf  # slope of the last evaluation, as far as the bounds let it be followed

    def evaluate(theta: np.ndarray, warm: Any, rough: bool, gradient: bool = True) -> Evaluation:
        nonlocal steepest
        settings = dict(finest)
        if "tol" in settings and gradient:
            settings["tol"] = float(np.clip(_SHARE * steepest, settings["tol"], max(coarse, settings["tol"])))
        with config_context(assume_finite=True):  # the last fit is checked
            found = searched(theta, warm, gradient, settings)
        if gradient:
            blocked = np.where(found.slope > 0, theta >= bounds[:, 1], theta <= bounds[:, 0])
            steepest = float(np.abs(np.where(blocked, 0.0, found.slope)).max())
        return found

    def searched(theta: np.ndarray, warm: Any, gradient: bool, settings: Options) -> Evaluation:
        """From the last posterior that converged, or from scratch; nowhere better than where there is no posterior."""
        for begin in (warm, None):
            at.warm, slope = begin, np.zeros(len(theta))
            try:
                at.move(theta)
                if gradient:
                    value, slope = at.value_and_gradient(quiet=True, **settings)
                else:
                    value = at.value(quiet=True, **settings)
            except (ValueError, np.linalg.LinAlgError):  # no posterior there: look elsewhere
                continue
            if np.isfinite(value) and all(posterior.converged for posterior in at.warm):
                return Evaluation(at.warm, value, slope)
            if begin is None:
                break
        return Evaluation(warm, -_WORST, np.zeros(len(theta)))

    iteration: Iteration = _of_user(optimizer) if callable(optimizer) else climb
    restarts = [rng.uniform(bounds[:, 0], bounds[:, 1]) for _ in range(n_restarts)]
    found = maximise(evaluate, start, bounds, iteration=iteration, restarts=restarts, warm_start=evidence.warm)
    best = replace(evidence.at(found.point), warm=found.posterior)
    if tells_bounds:
        _warn_at_bounds(best, bounds)
    return best


def _warn_at_bounds(evidence: Evidence, bounds: np.ndarray) -> None:
    """Say which learnt parameters ended at a bound: there the evidence is highest because the search stops."""
    for name, value, (low, high) in zip(_names(evidence), evidence.theta, bounds, strict=True):
        for end, bound in (("lower", low), ("upper", high)):
            if np.isclose(value, bound, rtol=0.0, atol=1e-6):
                warnings.warn(
                    f"the learnt {name} ends at its {end} bound {np.exp(bound):.4g}: the answers may want a value "
                    "beyond it, or say nothing about it; widen the bounds, or fix the value.",
                    ConvergenceWarning,
                    stacklevel=2,
                )


def _names(evidence: Evidence) -> list[str]:
    """Names of the entries of theta; means have no bounds to end at."""
    names = [
        h.name if h.n_elements == 1 else f"{h.name}[{k}]"
        for h in evidence.kernel.hyperparameters
        if not h.fixed
        for k in range(h.n_elements)
    ]
    names += ["parameter of the mean"] * len(evidence.mean.theta)
    return names if evidence.log_scale is None else [*names, "scale of the likelihood"]


def _of_user(optimizer: Callable[..., Any]) -> Iteration:
    """An optimizer with scikit-learn's signature as an iteration."""

    def iterate(
        evaluate: Evaluate, start: np.ndarray, bounds: np.ndarray, prior: LogNormal | None, warm_start: Any
    ) -> Maximum:
        last = warm_start

        def objective(theta: np.ndarray, eval_gradient: bool = True) -> float | tuple[float, np.ndarray]:
            nonlocal last
            evaluation = evaluate(theta, last, True, eval_gradient)  # type: ignore[call-arg]
            last = evaluation.posterior
            return (-evaluation.value, -evaluation.slope) if eval_gradient else -evaluation.value

        theta, value = optimizer(objective, start, bounds=bounds)
        return Maximum(np.asarray(theta, dtype=float), -float(value), last)

    return iterate


ALONG_LENGTH, ALONG_HEIGHT, ALONE = 0.8, 1.2, 0.6  # steps of the grid, in units
VARIANCES = ("constant_value", "noise_level", "variance", "weight")
_TOP = LBFGS(max_iter=100, ftol=1e-4, gtol=1e-2, warns=False)


def units_of(kernel: Kernel, n_more: int) -> np.ndarray:
    """Prior standard deviations of a kernel's free parameters, and 1 for each of ``n_more`` others.

    Examples
    --------
    >>> from sklearn.gaussian_process.kernels import RBF
    >>> units_of(2.0 * RBF([1.0, 3.0]), 1)
    array([2., 1., 1., 1.])
    """
    units = [
        2.0 if one.name.endswith(VARIANCES) else 1.0
        for one in kernel.hyperparameters
        if not one.fixed
        for _ in range(one.n_elements)
    ]
    return np.array(units + [1.0] * n_more)


def places_about(first: Evidence, bounds: np.ndarray) -> Places:
    """Return the grid of at most two hyper-parameters, about where the problem has them, as far as it is in bounds."""
    units = units_of(first.kernel, len(first.theta) - len(first.kernel.theta))
    found = _grid(np.clip(first.theta, bounds[:, 0], bounds[:, 1]), units)
    inside = np.all((found.points >= bounds[:, 0]) & (found.points <= bounds[:, 1]), axis=1)
    return Places(found.points[inside], found.log_volumes[inside])


def highest_places(problems: Sequence[Evidence], bounds: np.ndarray, begin: np.ndarray) -> Places:
    """Return the central composite design about the highest f of problems that share their hyper-parameters.

    It is climbed to from ``begin``, a theta; the prior is about where the problems have theirs.
    """
    first = problems[0]
    units = units_of(first.kernel, len(first.theta) - len(first.kernel.theta))
    start = np.clip(first.theta, bounds[:, 0], bounds[:, 1])
    evaluate = _shared(problems, start, units)
    top = maximise(evaluate, np.clip(begin, *bounds.T), bounds, iteration=_TOP)
    return about_the_top(evaluate, top, units, bounds)


def _grid(start: np.ndarray, units: np.ndarray) -> Places:
    """Up to two parameters: the last length, or the only one, is tried at more places than what goes with it."""
    if len(start) == 0:
        return Places(start[None], np.zeros(1))
    lengths = np.flatnonzero(units == 1.0)
    main = int(lengths[-1]) if len(lengths) else len(start) - 1
    steps = np.where(np.arange(len(start)) == main, ALONG_LENGTH, ALONG_HEIGHT) * units
    reach = np.where(np.arange(len(start)) == main, 2, 1).tolist()
    if len(start) == 1:
        steps, reach = ALONE * units, [4]
    points = np.array(list(product(*(step * np.arange(-k, k + 1) for step, k in zip(steps, reach, strict=True)))))
    return Places(start + points, np.full(len(points), float(np.sum(np.log(steps)))))


def _shared(problems: Sequence[Evidence], start: np.ndarray, units: np.ndarray) -> Evaluate:
    """ln f of all problems together, with its slopes."""

    def evaluate(theta: np.ndarray, warm: Any, rough: bool) -> Evaluation:
        value, slope, after = float(log_prior(theta, start, units)), (start - theta) / units**2, []
        for problem, before in zip(problems, warm or [None] * len(problems), strict=True):
            at = replace(problem.at(theta), warm=before)
            try:
                of_one, along = at.value_and_gradient(quiet=True, **getattr(at.engine, "search", {}))
            except (ValueError, np.linalg.LinAlgError):  # no posterior there: look elsewhere
                return Evaluation(warm, -1e25, np.zeros(len(theta)))
            value, slope = value + of_one, slope + along
            after.append(at.warm)
        return Evaluation(after, value, slope)

    return evaluate
