"""Maximum of the evidence:  t* = argmax  ln Z(t) + ln p(t),  climbed by its slopes.

Hyper-parameters t are mostly logarithms of scales. Every evaluation is a fit, started from the last one, and fits are
what an iteration must spare: one parameter is climbed by Newton's method, several by L-BFGS.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import minimize
from sklearn.exceptions import ConvergenceWarning

__all__ = ["LBFGS", "Evaluation", "LogNormal", "Maximum", "Newton", "maximise"]


_STRIDE, _FAR = 0.2, 2.0  # steps that show how a slope falls; distance from which on a bound is worth a look
_GENTLE = 0.5  # nats per unit: where slopes fall like exp(-t), the most that there is to gain


class Evaluation(NamedTuple):
    """A fit at one t: the log evidence, its slope, and a guess of the (negative) curvature for Newton's method."""

    posterior: Any
    value: float
    slope: Any
    curvature: float = 0.0


class Maximum(NamedTuple):
    """End of a search: t, evidence times prior there (logarithm), and the last fit."""

    point: Any
    value: float
    posterior: Any


@dataclass(frozen=True)
class LogNormal:
    """The prior t ~ N(centre, width^2) of a logarithm.

    Attributes
    ----------
    centre : float
    width : float, default 1.5
        95% of the prior within a factor of 19 either way.
    """

    centre: float
    width: float = 1.5

    def log_density(self, t: float) -> float:
        """ln p(t)."""
        return -0.5 * ((t - self.centre) / self.width) ** 2 - float(np.log(self.width * np.sqrt(2.0 * np.pi)))

    def slope(self, t: float) -> float:
        """d ln p / dt."""
        return -(t - self.centre) / self.width**2

    @property
    def curvature(self) -> float:
        """-d^2 ln p / dt^2."""
        return self.width**-2


Evaluate = Callable[[Any, Any, bool], Evaluation]  # (t, warm_start, rough) -> Evaluation
Iteration = Callable[[Evaluate, Any, Any, LogNormal | None, Any], Maximum]


def maximise(
    evaluate: Evaluate,
    start: Any,
    bounds: Any = None,
    prior: LogNormal | None = None,
    *,
    iteration: Iteration,
    restarts: Sequence[Any] = (),
    warm_start: Any = None,
) -> Maximum:
    """Return the highest of the maxima that the iteration climbs to.

    Parameters
    ----------
    evaluate : callable (t, warm_start, rough) -> Evaluation
        Fits at t; a ``rough`` fit is good enough to see where to go.
    start : float or (p,) array
        Where the search begins.
    bounds : (p, 2) array or sequence of pairs, optional
    prior : LogNormal, optional
        Of a single t.
    iteration : Newton, LBFGS, or callable (evaluate, start, bounds, prior, warm_start) -> Maximum
    restarts : sequence of further starts
    warm_start : posterior, optional
        What the first fit starts from.
    """
    best = iteration(evaluate, start, bounds, prior, warm_start)
    for further in restarts:
        found = iteration(evaluate, further, bounds, prior, warm_start)
        if found.value > best.value:
            best = found
    return best


@dataclass(frozen=True)
class Newton:
    """One parameter by Newton's method, its curvature guessed or by secants, between the slopes of both signs.

    Attributes
    ----------
    tol : float
        Stops when a step promises less than this many nats.
    max_iter : int
        At most so many fits.
    longest : float
        Longest step: a warm start from further away is no help.
    """

    tol: float = 1e-2
    max_iter: int = 25
    longest: float = 1.0

    def __call__(
        self, evaluate: Evaluate, start: float, bounds: Any, prior: LogNormal | None, warm_start: Any
    ) -> Maximum:
        t, previous = start, None
        rough = warm_start is None  # from a good start the first fit is mostly the last one, too
        lower, upper = (-np.inf, np.inf) if bounds is None else bounds[0]
        for _ in range(self.max_iter):
            evaluation = evaluate(t, warm_start, rough)
            slope, curvature = evaluation.slope, evaluation.curvature
            if prior is not None:
                slope, curvature = slope + prior.slope(t), curvature + prior.curvature
            if previous is not None and abs(t - previous[0]) > 1e-8:
                secant = -(slope - previous[1]) / (t - previous[0])
                if secant > 0.1 * curvature:  # a negative or tiny secant would send the step anywhere
                    curvature = secant
            if slope > 0:
                lower = max(lower, t)
            else:
                upper = min(upper, t)
            if 0.5 * slope**2 / curvature < self.tol:
                break
            previous, warm_start = (t, slope), evaluation.posterior
            proposal = t + float(np.clip(slope / curvature, -self.longest, self.longest))
            if not lower < proposal < upper:
                proposal = 0.5 * (lower + upper)
            t = proposal
        if rough:
            evaluation = evaluate(t, evaluation.posterior, False)
        value = evaluation.value + (0.0 if prior is None else prior.log_density(t))
        return Maximum(t, value, evaluation.posterior)


@dataclass(frozen=True)
class LBFGS:
    """Several parameters by L-BFGS-B; the objective is divided by its first slope: the first step is one unit long.

    The evidence of labels that a plane almost separates rises with a kernel's height h up to its bound, by less and
    less: its slope in t = ln h falls like exp(-t), and Newton's steps are one unit long however far the bound is. Where
    two steps in turn have shown that, ``leaps`` looks at the bound itself, and goes on from there if it is higher.

    Attributes
    ----------
    max_iter : int
    ftol, gtol : float
        Change in nats, and slope, at which it stops.
    relative : bool
        Whether the objective is taken less its first value, so that ``ftol`` is of the change alone.
    warns : bool
        Whether ending at ``max_iter`` is worth a ConvergenceWarning.
    leaps : bool
        Whether to look at a bound from afar.
    """

    max_iter: int
    ftol: float
    gtol: float
    relative: bool = False
    warns: bool = True
    leaps: bool = False

    def __call__(
        self, evaluate: Evaluate, start: np.ndarray, bounds: Any, prior: LogNormal | None, warm_start: Any
    ) -> Maximum:
        if prior is not None:
            raise ValueError("a prior is climbed by Newton's method only.")
        last = warm_start

        def descend(point: np.ndarray) -> tuple[float, np.ndarray]:
            nonlocal last
            evaluation = evaluate(point, last, True)
            last = evaluation.posterior
            return -evaluation.value, -evaluation.slope

        first, slope = descend(start)
        origin, unit = first if self.relative else 0.0, max(1.0, float(np.linalg.norm(slope)))

        known = (np.array(start), first, slope)  # the search begins by asking for it once more

        def scaled(point: np.ndarray) -> tuple[float, np.ndarray]:
            nonlocal known
            if not np.array_equal(point, known[0]):
                known = (point.copy(), *descend(point))
            return (known[1] - origin) / unit, known[2] / unit

        watch = _Ascent(start, slope, bounds) if self.leaps and bounds is not None else None

        def accepted(point: np.ndarray) -> None:
            if watch is not None and np.array_equal(point, known[0]) and watch.sees_bound(point, known[2]):
                raise StopIteration

        while True:
            options = {"maxiter": self.max_iter, "ftol": self.ftol / unit, "gtol": self.gtol / unit}
            found: Any = minimize(
                scaled, known[0], jac=True, method="L-BFGS-B", bounds=bounds, options=options, callback=accepted
            )
            if watch is None or watch.target is None:
                break
            here, unit = known, watch.bend
            known = (watch.target, *descend(watch.target))
            if not known[1] < here[1]:
                known = here
            watch.begin(known[0], known[2])
        if self.warns and found.status == 1:
            warnings.warn(
                f"the search for hyper-parameters stopped after {self.max_iter} iterations; start it nearer.",
                ConvergenceWarning,
                stacklevel=6,
            )
        return Maximum(found.x, -(float(found.fun) * unit + origin), last)


class _Ascent:
    """The steps of a search so far, and whether a parameter runs to its bound."""

    def __init__(self, start: np.ndarray, slope: np.ndarray, bounds: Any):
        self.bounds = np.asarray(bounds, dtype=float)
        self.tried = np.zeros(len(start), dtype=bool)  # one leap of each parameter
        self.bend = 1.0  # the objective's curvature along the last step, at least 1: the unit of the next search
        self.begin(start, slope)

    def begin(self, point: np.ndarray, slope: np.ndarray) -> None:
        """Begin again at a point, slopes there those of the objective that falls."""
        self.point, self.slope = np.array(point), np.array(slope)
        self.signs = np.zeros(len(self.point), dtype=int)  # steps in turn that looked like a run to the bound
        self.target: np.ndarray | None = None  # where to look: with that parameter at its bound

    def sees_bound(self, point: np.ndarray, slope: np.ndarray) -> bool:
        """Return whether after this step there is a ``target`` to look at."""
        step, change = point - self.point, slope - self.slope
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = slope / self.slope
        towards = np.where(slope < 0, self.bounds[:, 1], self.bounds[:, 0])
        runs = (step * slope < 0) & (np.abs(step) > _STRIDE) & (np.abs(slope) < _GENTLE)
        runs &= (ratio > 0.9 * np.exp(-np.abs(step))) & (ratio < 2.0) & np.isfinite(towards)
        runs &= (np.abs(towards - point) > _FAR) & ~self.tried
        self.signs = np.where(runs, self.signs + 1, 0)
        self.bend = max(float(step @ change) / max(float(step @ step), 1e-300), 1.0)
        self.point, self.slope = point.copy(), slope.copy()
        if self.signs.max() < 2:
            return False
        which = int(np.argmax(self.signs))
        self.tried[which] = True
        self.target = np.where(np.arange(len(point)) == which, towards, point)
        return True
