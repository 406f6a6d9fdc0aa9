"""Factor on believed variances, by outcomes that were left out:

    ln gamma = argmax  sum_j ln p(y_j | s ~ N(c_j, gamma v_j)) - (ln gamma)^2 / (2 deviation^2),    gamma >= 1

c_j and v_j are what is believed of outcome j's latent without that outcome: a cavity, or a fit without its fold. A
factor below one would narrow the bands of designed runs, whose outcomes are no random sample, so there is none unless
``least`` allows it.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.optimize import minimize_scalar

from adaptive import checks

if TYPE_CHECKING:
    from adaptive.types import ArrayLike

__all__ = ["ALARM", "VarianceFactor", "possible_factors", "tell_alarm", "variance_factor"]

ALARM = 4.0  # a larger factor says that the model's scales are wrong, not only its widths
LARGEST = 8  # of ln gamma
DEVIATION = 1.5  # of the prior of ln gamma
REACH = 2.5  # standard errors of ln gamma about the likeliest within which a factor may be
CHANGE = 1e-3  # of ln gamma, to which the best is found
STEP = 0.25  # of ln gamma, over which the curvature is taken


class VarianceFactor(NamedTuple):
    """Factor by which latents' variances are too small.

    Attributes
    ----------
    value : float
        gamma >= 1.
    error : float
        Standard error of ln gamma, by the curvature, outcomes taken for independent. Near ``deviation`` or above: what
        was left out says nothing about the widths.
    gain : float
        Nats per outcome over gamma = 1, on what was left out.
    n : int
        Outcomes that were left out.
    """

    value: float
    error: float
    gain: float
    n: int


def variance_factor(
    log_score: Callable[[float], ArrayLike],
    *,
    weights: ArrayLike | None = None,
    deviation: float = DEVIATION,
    least: float = 1.0,
) -> VarianceFactor:
    """Return the factor of all latents' variances that suits what was left out, never below ``least``.

    Parameters
    ----------
    log_score : callable(gamma) -> (n,) array
        Log predictive probabilities (densities) of the outcomes that were left out, nats, with the variances of their
        latents times gamma.
    weights : (n,) array, optional
        How many outcomes each one stands for; default 1.
    deviation : float > 0, default 1.5
        Of the prior of ln gamma, which is centred on 0.
    least : float in (0, 1], default 1.0
        The smallest factor.

    Returns
    -------
    VarianceFactor
        The same for outcomes in another order.

    Raises
    ------
    ValueError
        If the log scores at gamma = 1 are not finite, or ``weights`` are of another number.

    Notes
    -----
    Some 20 evaluations of ``log_score``. The factor never changes means, ranks or what is chosen: it is for intervals.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> y = 3.0 * rng.standard_normal(500)  # said to have variance 1
    >>> found = variance_factor(lambda gamma: -0.5 * (np.log(2 * np.pi * gamma) + y**2 / gamma))
    >>> round(found.value, 1), found.error < 0.1, found.gain > 1
    (9.2, True, True)
    """
    deviation = float(checks.positive("deviation", deviation))
    one = checks.finite("log_score(1.0)", log_score(1.0))
    counts = np.ones(len(one)) if weights is None else checks.finite("weights", weights)
    if counts.shape != one.shape:
        raise ValueError(f"weights must be one per outcome, {len(one)}, got shape {counts.shape}.")
    known: dict[float, float] = {}

    def total(log_factor: float) -> float:
        if log_factor not in known:
            scores = counts * np.asarray(log_score(math.exp(log_factor)), dtype=float)
            known[log_factor] = math.fsum(scores) - 0.5 * (log_factor / deviation) ** 2  # in any order the same
        return known[log_factor]

    lowest = math.log(least)
    start = max(range(math.ceil(lowest), LARGEST + 1), key=lambda u: total(float(u)))
    best = minimize_scalar(
        lambda u: -total(float(u)), bounds=(max(start - 1.0, lowest), start + 1.0), method="bounded",
        options={"xatol": CHANGE},
    )  # fmt: skip
    at = max((float(best.x), float(start), 0.0), key=total)
    curvature = (2 * total(at) - total(at + STEP) - total(at - STEP)) / STEP**2
    error = 1.0 / math.sqrt(curvature) if curvature > 1.0 / deviation**2 else deviation  # flat: what the prior says
    gain = (math.fsum(counts * np.asarray(log_score(math.exp(at)), dtype=float)) - math.fsum(counts * one)) / max(
        math.fsum(counts), 1e-300
    )
    return VarianceFactor(math.exp(at), error, gain, len(one))


def tell_alarm(factor: VarianceFactor | None, left_out: str, then: str, *, stacklevel: int = 3) -> None:
    """Warn where a factor is above 4: what was left out is further off than a wrong width alone would make it.

    Parameters
    ----------
    factor : VarianceFactor or None
    left_out : str
        What was: "counts".
    then : str
        What bands do about it, and what would suit.
    stacklevel : int, default 3
        3: of who calls the caller.
    """
    if factor is not None and factor.value > ALARM:
        warnings.warn(
            f"{left_out} are further off than is believed without them: the function's variances would have to be "
            f"{factor.value:.3g} times as large (variance_factor_). {then}",
            UserWarning,
            stacklevel=stacklevel,
        )


def possible_factors(
    log_score: Callable[[float], ArrayLike], found: VarianceFactor, *, places: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return log weights and ln gamma (``places``,) of factors that may be, gamma >= 1, about the likeliest one.

    Few outcomes do not tell a factor, and a band that takes the likeliest one is then too narrow: it mixes these, whose
    weights are those of the trapezoidal rule for the prior, |N(0, 1.5^2)| of ln gamma, times what was left out.

    Examples
    --------
    >>> y = 3.0 * np.random.default_rng(0).standard_normal(6)
    >>> score = lambda gamma: -0.5 * (np.log(2 * np.pi * gamma) + y**2 / gamma)
    >>> logs, factors = possible_factors(score, variance_factor(score), places=3)
    >>> bool(factors[0] < factors[1] < factors[2]), int(np.argmax(logs))
    (True, 1)
    """
    likeliest = math.log(found.value)
    low, high = max(likeliest - REACH * found.error, 0.0), min(likeliest + REACH * found.error, LARGEST + 1.0)
    log_factors = np.linspace(low, high, places)
    log_weights = np.full(places, math.log((high - low) / (places - 1)))
    log_weights[[0, -1]] -= math.log(2.0)
    log_weights += 0.5 * math.log(2.0 / math.pi) - math.log(DEVIATION)
    log_weights -= 0.5 * (log_factors / DEVIATION) ** 2
    log_weights += [math.fsum(np.asarray(log_score(math.exp(u)), dtype=float)) for u in log_factors]
    return log_weights, log_factors
