"""Adaptive Gauss-Kronrod quadrature, vectorised over many one-dimensional integrals at once.

Every integral starts from a few panels; a panel is halved while its 10-point and 21-point values differ, or while the
function at its ends is not what the 21 points foretell: structure much finer than a panel sits at a mode, a kink or the
edge of a tail, which are ends of panels, and no interior point would see it. All panels of all integrals share one
NumPy call per level. The default behind `tilted_moments` and `expectation`: it needs nothing but the function.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from adaptive import checks

if TYPE_CHECKING:
    from adaptive.potentials.base import Potential
    from adaptive.types import ArrayLike

__all__ = [
    "checked_fraction",
    "gaussian_arguments",
    "gaussian_average",
    "gaussian_expectation",
    "gaussian_slopes",
    "panels",
    "refine",
]

# Gauss-Kronrod 10-21 points on [-1, 1] (Piessens et al., QUADPACK, 1983): the Gauss points are every second one.
_HALF_NODES = [
    0.995657163025808080735527280689003, 0.973906528517171720077964012084452, 0.930157491355708226001207180059508,
    0.865063366688984510732096688423493, 0.780817726586416897063717578345042, 0.679409568299024406234327365114874,
    0.562757134668604683339000099272694, 0.433395394129247190799265943165784, 0.294392862701460198131126603103866,
    0.148874338981631210884826001129720, 0.0,
]  # fmt: skip
_HALF_WEIGHTS = [
    0.011694638867371874278064396062192, 0.032558162307964727478818972459390, 0.054755896574351996031381300244580,
    0.075039674810919952767043140916190, 0.093125454583697605535065465083366, 0.109387158802297641899210590325805,
    0.123491976262065851077958109585166, 0.134709217311473325928054001771707, 0.142775938577060080797094273138717,
    0.147739104901338491374841515972068, 0.149445554002916905664936468389821,
]  # fmt: skip
_HALF_GAUSS = [
    0.066671344308688137593568809893332, 0.149451349150580593145863396957698, 0.219086362515982043995534934228163,
    0.269266719309996355091226921569469, 0.295524224714752870173815619188769,
]  # fmt: skip


def _rules() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Nodes (23,): the ends and the 21 points; rows (3, 23): integrals of f, t f, t^2 f; rows (5, 23): errors."""
    t = np.concatenate([-np.array(_HALF_NODES), np.array(_HALF_NODES[-2::-1])])
    kronrod = np.concatenate([_HALF_WEIGHTS, _HALF_WEIGHTS[-2::-1]])
    gauss = np.zeros(21)
    gauss[1:10:2] = _HALF_GAUSS
    gauss[11::2] = _HALF_GAUSS[::-1]
    powers = np.stack([np.ones(21), t, t * t])
    # value at an end foretold by the interpolating polynomial; what the ends hide is at most as wide as the first gap
    factors = t[:, None] - t[None, :] + np.eye(21)
    foretold = [np.prod(np.where(np.eye(21) > 0, 1.0, (end - t[None, :]) / factors), axis=1) for end in (-1.0, 1.0)]
    inner = np.concatenate([(kronrod - gauss) * powers, (1 + t[0]) * -np.array(foretold)])
    errors = np.pad(inner, ((0, 0), (1, 1)))
    errors[3, 0] = errors[4, -1] = 1 + t[0]
    return np.concatenate([[-1.0], t, [1.0]]), np.pad(kronrod * powers, ((0, 0), (1, 1))), errors


_NODES, _RULES, _ERRORS = _rules()
_MAX_LEVELS = 60
_MOST_PANELS = 200  # open ones of an integral on average: beyond, digits are missing, which no halving brings back
_REACH = 9.5  # standard deviations: the Gaussian mass beyond is 2e-21


def checked_fraction(fraction: float) -> float:
    """Return the power of a site as a float in (0, 1]."""
    value = float(checks.positive("fraction", fraction))
    if value > 1:
        raise ValueError(f"fraction must be in (0, 1], got {value!r}.")
    return value


def gaussian_arguments(
    potential: Potential | None, mean: ArrayLike, variance: ArrayLike, *, allow_zero: bool = False
) -> tuple[np.ndarray, np.ndarray]:
    """Check mean and variance and broadcast them against each other and the potential's rows (None: no rows)."""
    mean = checks.finite("mean", mean)
    variance = checks.positive("variance", variance, or_zero=allow_zero)
    rows = () if potential is None else potential.shape
    try:
        shape = np.broadcast_shapes(mean.shape, variance.shape, rows)
    except ValueError:
        against = f" against the {rows[0]} potentials" if rows else ""
        raise ValueError(f"mean {mean.shape} and variance {variance.shape} do not broadcast{against}.") from None
    return np.broadcast_to(mean, shape), np.broadcast_to(variance, shape)


def rows_of(potential: Potential, shape: tuple[int, ...]) -> Potential:
    """The potential with one row per entry of a flattened array of the given shape."""
    if potential.size is None:
        return potential
    return potential[np.broadcast_to(np.arange(potential.size), shape).ravel()]


def panels(edges: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Turn edges (e, m) of m integrals into panels (left, right, owner), leaving out the empty ones."""
    edges = np.sort(edges, axis=0)
    left, right = edges[:-1].ravel(), edges[1:].ravel()
    owner = np.broadcast_to(np.arange(edges.shape[1]), (len(edges) - 1, edges.shape[1])).ravel()
    kept = right > left
    return left[kept], right[kept], owner[kept]


def refine(
    integrand: Callable[[np.ndarray, np.ndarray], np.ndarray],
    left: np.ndarray,
    right: np.ndarray,
    owner: np.ndarray,
    count: int,
    tolerance: float = 1e-11,
    spread: bool = False,
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Integrate over the panels of ``count`` integrals, halving a panel until its error is small.

    Parameters
    ----------
    integrand : callable
        ``integrand(points (23, p), owner (p,)) -> values (23, p)``.
    left, right, owner : ndarray (p,)
        Ends of the panels and the integral each belongs to.
    tolerance : float
        Error per panel, relative to the sum of the absolute values of its integral.
    spread : bool
        Hold the variance of a positive integrand to the same tolerance: errors far out count more.

    Returns
    -------
    owner, middle, moments : ndarray (r,), (r,), (3, r)
        The accepted panels: moments of order 0, 1, 2 about the middle of each.
    total : ndarray (count,)
        Sum of the absolute panel values.
    """
    owners, middles, moments = [], [], []
    settled = np.zeros((3, count))
    for level in range(_MAX_LEVELS + 1):
        middle, half = 0.5 * (left + right), 0.5 * (right - left)
        values = integrand(middle + half * _NODES[:, None], owner)
        kronrod = (_RULES @ values) * np.stack([half, half**2, half**3])
        errors = np.abs(_ERRORS @ values).max(axis=0) * half
        size = np.stack([np.abs(kronrod[0]), *_about_zero(kronrod, middle)[1:]])
        sums = settled + np.stack([np.bincount(owner, part, count) for part in size])
        total = sums[0]
        if spread:
            with np.errstate(divide="ignore", invalid="ignore"):
                centre = sums[1] / total
                variance = np.maximum(sums[2] / total - centre**2, 1e-30)
                errors = errors * (1 + ((middle - centre[owner]) ** 2 + half**2) / variance[owner])
        good = ~(errors > tolerance * total[owner])
        crowded = level < _MAX_LEVELS and np.count_nonzero(~good) > _MOST_PANELS * max(count, 100)
        if crowded:
            warnings.warn(
                "integrals of a potential have not converged: halving their panels does not make errors smaller. Its "
                "log density may have a pole, or lose digits far out, where `_log_ratio` would keep them.",
                ConvergenceWarning,
                stacklevel=2,
            )
        if level == _MAX_LEVELS or crowded:
            good[:] = True
        owners.append(owner[good])
        middles.append(middle[good])
        moments.append(kronrod[:, good])
        if good.all():
            break
        settled += np.stack([np.bincount(owner[good], part[good], count) for part in size])
        bad = ~good
        left, middle, right, owner = left[bad], middle[bad], right[bad], owner[bad]
        left, right, owner = (
            np.concatenate([left, middle]),
            np.concatenate([middle, right]),
            np.concatenate([owner, owner]),
        )
    return np.concatenate(owners), np.concatenate(middles), np.concatenate(moments, axis=1), total


def _about_zero(moments: np.ndarray, middle: np.ndarray) -> np.ndarray:
    """Moments about zero of panels whose moments (3, p) are about their middles."""
    zero, one, two = moments
    return np.stack([zero, one + middle * zero, two + middle * (2 * one + middle * zero)])


def gaussian_average(
    function: Callable[[np.ndarray, np.ndarray], np.ndarray],
    mean: np.ndarray,
    variance: np.ndarray,
    kinks: tuple[float, ...] = (),
) -> np.ndarray:
    """Return E f(s), s ~ N(mean, variance), to 1e-12 of E |f(s)|; f(mean) where the variance is zero.

    Parameters
    ----------
    function : callable
        ``function(s (23, p), owner (p,)) -> values (23, p)``, owner = position in the flattened mean.
    mean, variance : ndarray of one shape
    kinks : tuple of float or array
        Where f is not smooth.
    """
    centre, sd = mean.ravel(), np.sqrt(variance).ravel()
    if len(centre) == 0:
        return np.zeros(mean.shape)
    safe = np.where(sd > 0, sd, 1.0)
    grid = np.broadcast_to(np.linspace(-_REACH, _REACH, 9)[:, None], (9, len(centre)))
    inside = [np.clip((kink - centre) / safe, -_REACH, _REACH)[None] for kink in kinks]

    def integrand(x: np.ndarray, owner: np.ndarray) -> np.ndarray:
        values = function(centre[owner] + sd[owner] * x, owner)
        return np.maximum(values, -1e300) * np.exp(-0.5 * x**2) / np.sqrt(2 * np.pi)

    owner, _, moments, _ = refine(integrand, *panels(np.concatenate([grid, *inside])), len(centre), tolerance=1e-12)
    value = np.bincount(owner, moments[0], len(centre))
    certain = sd == 0
    if certain.any():
        value[certain] = function(centre[None, certain], np.flatnonzero(certain))[0]
    return value.reshape(mean.shape)


def gaussian_expectation(potential: Potential, mean: np.ndarray, variance: np.ndarray) -> np.ndarray:
    """Return E log T(s), s ~ N(mean, variance); -inf where the Gaussian reaches outside the support of T."""
    rows = rows_of(potential, mean.shape)

    def log_density(s: np.ndarray, owner: np.ndarray) -> np.ndarray:
        return (rows if rows.size is None else rows[owner]).log_density(s)

    value = gaussian_average(log_density, mean, variance, potential.kinks)
    lower, upper = (np.asarray(end) for end in potential.support)
    return np.where(((lower > -np.inf) | (upper < np.inf)) & (variance > 0), -np.inf, value)


def gaussian_slopes(potential: Potential, mean: np.ndarray, variance: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the derivatives of E log T(s), s ~ N(mean, variance), in the mean and in the variance."""
    rows = rows_of(potential, mean.shape)
    centre, sd = mean.ravel(), np.sqrt(variance).ravel()
    certain = sd == 0

    def slope(s: np.ndarray, owner: np.ndarray) -> np.ndarray:
        return (rows if rows.size is None else rows[owner]).derivatives(s)[0]

    def bend(s: np.ndarray, owner: np.ndarray) -> np.ndarray:
        return (s - centre[owner]) * slope(s, owner)

    first = gaussian_average(slope, mean, variance, potential.kinks)
    second = gaussian_average(bend, mean, variance, potential.kinks).ravel() / np.where(certain, 1.0, sd**2)
    if certain.any():
        at = np.flatnonzero(certain)
        second[at] = (rows if rows.size is None else rows[at]).derivatives(centre[at])[1]
    return first, 0.5 * second.reshape(mean.shape)
