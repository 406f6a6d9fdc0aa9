"""Learn one prior scale by evidence: maximise  ln p(y | scale) + ln p(scale)  over t = ln scale.

``p(scale)`` is a broad log-normal.  Few labels are separable more often than not, and the evidence alone then drives
the scale to infinity, where every class probability is 0 or 1 and no score tells candidates apart.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

__all__ = ["WIDTH", "Evaluation", "maximise"]

WIDTH = 1.5  # standard deviation of ln scale: 95% of the prior within a factor of 19 either way
STEP = 1.0  # longest step in ln scale: a warm start from further away is no help


class Evaluation(NamedTuple):
    """A fitted posterior at one scale: its evidence, the slope in ln scale, and a guess of the (negative) curvature."""

    posterior: Any
    value: float
    slope: float
    curvature: float


def maximise(
    evaluate: Callable[[float, Any, bool], Evaluation],
    start: float,
    centre: float,
    *,
    warm_start: Any = None,
    tol: float = 1e-2,
    max_iter: int = 25,
) -> tuple[float, Evaluation]:
    """Return ``(t, evaluation)`` at the maximum of evidence times prior.

    Parameters
    ----------
    evaluate : callable (t, warm_start, rough) -> Evaluation
        Fits at scale exp(t); a rough fit is good enough to see where to go.
    start, centre : float
        Where the search begins, and the mean of the prior of t.
    warm_start : posterior, optional
    tol : float, default 1e-2
        Stops when a Newton step promises less than this many nats.
    max_iter : int, default 25
        At most so many fits.
    """
    t, previous, rough = start, None, warm_start is None  # from a good start the first fit is mostly the last one, too
    lower, upper = -np.inf, np.inf
    for _ in range(max_iter):
        evaluation = evaluate(t, warm_start, rough)
        slope = evaluation.slope - (t - centre) / WIDTH**2
        curvature = evaluation.curvature + WIDTH**-2
        if previous is not None and abs(t - previous[0]) > 1e-8:
            secant = -(slope - previous[1]) / (t - previous[0])
            if secant > 0.1 * curvature:  # a negative or tiny secant would send the step anywhere
                curvature = secant
        if slope > 0:
            lower = max(lower, t)
        else:
            upper = min(upper, t)
        if 0.5 * slope**2 / curvature < tol:
            break
        previous, warm_start = (t, slope), evaluation.posterior
        proposal = t + float(np.clip(slope / curvature, -STEP, STEP))
        if not lower < proposal < upper:
            proposal = 0.5 * (lower + upper)
        t = proposal
    return t, evaluate(t, evaluation.posterior, False) if rough else evaluation
