"""The bound T(s) >= exp(tilt x - x^2/(2g) - h(g)/2) from log T alone, and the double loop's inner function.

The bound touches T where g = x / (tilt - g'(x)), which grows with |x|; the height follows from the contact point x(g):

    h(g) = -x^2/g - 2 (log T(x) - tilt x),   h'(g) = x^2/g^2.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from adaptive.potentials.base import Potential
    from adaptive.types import ArrayLike, Number

__all__ = [
    "best_width",
    "height",
    "height_derivatives",
    "inner",
    "inverse_x_coth_x",
    "minimise_width",
    "tight_width",
]

_TINY = 1e-150  # a contact point that stands for x = 0 (its square does not underflow)


def tight_width(potential: Potential, s: ArrayLike) -> np.ndarray:
    """Return x / (tilt - first derivative), with its limit at x = 0."""
    x = np.asarray(s, dtype=float) - potential.location
    first, second = potential.derivatives(np.add(x, potential.location))
    slope = potential.tilt - first
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        width = np.where(x == 0, 1.0 / -second, x / slope)
    # where x is so small that slope and x are both rounding noise, the limit 1/curvature is the better answer
    return np.where(np.isfinite(width), width, np.where(x == 0, 0.0, np.inf))


def contact(potential: Potential, width: ArrayLike) -> np.ndarray:
    """Return the x >= 0 whose tight width is ``width`` (0 below the smallest one), by bisection over the exponent."""
    width = np.asarray(width, dtype=float)
    shape = np.broadcast_shapes(width.shape, potential.shape)
    low, high = np.full(shape, np.log(1e-12)), np.full(shape, np.log(1e12))
    high = np.maximum(high, np.log(np.maximum(width, 1e-12)) + 30)
    for _ in range(70):
        middle = 0.5 * (low + high)
        wide = tight_width(potential, np.exp(middle) + potential.location) > width
        low, high = np.where(wide, low, middle), np.where(wide, middle, high)
    return np.where(low <= np.log(1.001e-12), 0.0, np.exp(low))


def height(potential: Potential, width: ArrayLike) -> np.ndarray:
    """Return h(g) from the contact point."""
    x = contact(potential, width)
    return -(x**2) / width - 2 * (potential.log_density(x + potential.location) - potential.tilt * x)


def height_derivatives(potential: Potential, width: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    """Return h'(g) = x^2/g^2 and h''(g) = 2 x x'(g)/g^2 - 2 x^2/g^3, where x(g) inverts the tight width."""
    width = np.asarray(width, dtype=float)
    x = contact(potential, width)
    first, second = potential.derivatives(x + potential.location)
    slope = potential.tilt - first
    with np.errstate(divide="ignore", invalid="ignore"):
        # width = x/slope  =>  d width/dx = (slope + x second) / slope^2
        rate = slope**2 / (slope + x * second)
        curvature = np.where(x > 0, 2 * x * rate / width**2 - 2 * x**2 / width**3, 0.0)
    return x**2 / width**2, curvature


def inner(
    potential: Potential, s: ArrayLike, z1: ArrayLike, z2: ArrayLike, z3: ArrayLike
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Value, first and second derivative and width of 1/2 min_g [h(g) + (x^2 + z2)/g + z1 g - z3 log g]."""
    s, z1, z2, z3 = np.broadcast_arrays(np.asarray(s, dtype=float), *coefficients(z1, z2, z3))
    x = s - potential.location
    if potential.log_concave and not z1.any() and not z3.any():
        return _inner_by_shift(potential, x, z2)
    width = minimise_width(potential.convex_height, x**2 + z2, z1, z3, start=potential.tight_width(s))
    return _inner_at_width(potential, x, z1, z2, z3, width)


def coefficients(z1: ArrayLike, z2: ArrayLike, z3: ArrayLike) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Check the coefficients of the inner function: arrays of numbers >= 0."""
    z1, z2, z3 = (np.asarray(z, dtype=float) for z in (z1, z2, z3))
    for name, z in (("z1", z1), ("z2", z2), ("z3", z3)):
        if not (z >= 0).all():
            raise ValueError(f"{name} of the inner function must be >= 0, got {float(z[~(z >= 0)].flat[0]):g}.")
    return z1, z2, z3


def _inner_by_shift(
    potential: Potential, x: np.ndarray, z2: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """z1 = z3 = 0 and a log-concave T: evaluate the MAP penalty at t = sign(x) sqrt(x^2 + z2) (appendix E.5)."""
    t = np.where(x < 0, -1.0, 1.0) * np.sqrt(x**2 + z2)
    log_density = potential.log_density(t + potential.location)
    first, second = potential.derivatives(t + potential.location)
    slope, at_zero = potential.tilt - first, t == 0
    value = potential.tilt * t - log_density
    safe = np.where(at_zero, 1.0, t)
    with np.errstate(invalid="ignore"):  # infinite curvature (a kink) times zero
        bend = np.where(x == 0, 0.0, -second * (x / safe) ** 2)
    gradient = np.where(at_zero, 0.0, slope * x / safe)
    curvature = np.where(at_zero, -second, slope / safe * (z2 / safe / safe) + bend)
    return value, gradient, curvature, potential.tight_width(t + potential.location)


def _inner_at_width(
    potential: Potential, x: np.ndarray, z1: np.ndarray, z2: np.ndarray, z3: np.ndarray, width: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Appendix E.4: kappa = z2/g + g^2 h''/2 + z3/2; second derivative kappa / (x^2 + g kappa)."""
    top, _, bend = potential.convex_height(width)
    safe = np.where(width > 0, width, 1.0)
    value = 0.5 * (top + np.where(width > 0, (x**2 + z2) / safe - z3 * np.log(safe), 0.0) + z1 * width)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        kappa = z2 / safe + 0.5 * width**2 * bend + 0.5 * z3
        # divided by g, so that neither an infinite bend (a fixed width) nor a vanishing width gives 0/0
        curvature = np.where(np.isinf(kappa), 1.0 / safe, kappa / (x**2 + safe * kappa))
    return value, np.where(width > 0, x / safe, 0.0), np.where(width > 0, curvature, np.inf), width


def minimise_width(
    convex_height: Callable[[np.ndarray], tuple[np.ndarray, ...]],
    weight: np.ndarray,
    z1: np.ndarray,
    z3: np.ndarray,
    start: np.ndarray,
) -> np.ndarray:
    """Return argmin over g > 0 of h(g) + weight/g + z1 g - z3 log g by safeguarded Newton steps in log g.

    g times the derivative of that function, g h' - weight/g + z1 g - z3, increases with g for every height used here.
    Zero is returned where the minimum lies at g = 0 (no weight, no z3).

    Raises
    ------
    ValueError
        If the minimum lies at infinity, which happens when z1 = 0 and the height is bounded.
    """
    shape = np.broadcast_shapes(np.shape(weight), np.shape(start))
    weight, z1, z3 = (np.broadcast_to(a, shape) for a in (weight, z1, z3))
    at_zero = (weight <= 0) & (z3 <= 0)
    weight = np.where(at_zero, 1.0, weight)
    log_width = np.log(np.clip(np.broadcast_to(start, shape), 1e-100, 1e100))

    def slope_and_rate(log_width: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        with np.errstate(over="ignore", invalid="ignore", divide="ignore", under="ignore"):
            width = np.exp(np.clip(log_width, -700.0, 700.0))
            _, first, second = convex_height(width)
            slope = width * first - weight / width + z1 * width - z3
            rate = width * first + width**2 * second + weight / width + z1 * width
        return slope, rate

    low, high = (_walk(lambda at: slope_and_rate(at)[0], log_width, sign) for sign in (-1.0, 1.0))
    previous = np.full(shape, np.inf)
    for _ in range(200):
        slope, rate = slope_and_rate(log_width)
        low, high = np.where(slope < 0, log_width, low), np.where(slope < 0, high, log_width)
        with np.errstate(divide="ignore", invalid="ignore"):
            newton = log_width - slope / rate
        settled = (slope == 0) | (np.abs(newton - log_width) <= 1e-14 * np.maximum(np.abs(log_width), 1.0))
        # far out Newton's method creeps along an exponential: there the bracket is halved instead
        quick = (newton > low) & (newton < high) & (np.abs(slope) < 0.1 * previous)
        previous = np.abs(slope)
        log_width = np.where(settled, log_width, np.where(quick, newton, 0.5 * (low + high)))
        if settled.all():
            break
    return np.where(at_zero, 0.0, np.exp(log_width))


def _walk(slope: Callable[[np.ndarray], np.ndarray], start: np.ndarray, sign: float) -> np.ndarray:
    """A point beside the start, to the right (sign 1) or left (-1), at which an increasing function has that sign."""
    point, step = start + sign, 1.0
    for _ in range(12):
        short = sign * slope(point) < 0
        if not short.any():
            return point
        point, step = np.where(short, point + sign * step, point), 2 * step
    raise ValueError("the inner function has no finite minimising width: this potential needs z1 > 0.")


def best_width(potential: Potential, mean: np.ndarray, variance: np.ndarray) -> np.ndarray:
    """Return the width of the bound whose integral over N(mean, variance) is largest.

    It is tight at sqrt(E x^2), where x has the mean (m + v tilt) / k, k = 1 + v / g, and the variance v / k of this g.
    The right side grows with g, from the width tight at 0 to the one where k = 1: the root is bracketed, and found in
    log g by the Illinois variant of the secant method.
    """

    def excess(log_width: np.ndarray) -> np.ndarray:
        shrink = 1.0 + variance / np.exp(log_width)
        second_moment = (pulled / shrink) ** 2 + variance / shrink
        return np.log(potential.tight_width(potential.location + np.sqrt(second_moment))) - log_width

    pulled = mean - potential.location + variance * potential.tilt
    high = potential.tight_width(potential.location + np.sqrt(pulled**2 + variance))
    low = potential.tight_width(np.broadcast_to(potential.location, mean.shape))  # 0 where there is a kink
    low, high = np.log(np.maximum(low, 1e-20 * high)), np.log(high)
    at_low, at_high = excess(low), excess(high)
    moved = np.zeros(np.shape(at_low))  # the end that moved last: -1 the lower, 1 the upper
    for _ in range(100):
        gap = at_low - at_high
        middle = np.where(gap > 0, (low * -at_high + high * at_low) / np.where(gap > 0, gap, 1.0), low)
        value = excess(middle)
        if np.all(np.abs(value) <= 1e-13):
            break
        left = value > 0  # the root lies above: move the lower end, and halve the value kept twice at the other
        at_high = np.where(left, np.where(moved < 0, 0.5, 1.0) * at_high, value)
        at_low = np.where(left, value, np.where(moved > 0, 0.5, 1.0) * at_low)
        moved = np.where(left, -1.0, 1.0)
        low, high = np.where(left, middle, low), np.where(left, high, middle)
    return np.exp(middle)


def inverse_x_coth_x(t: ArrayLike) -> np.ndarray:
    """Return x >= 0 with x coth x = t (0 for t <= 1), by Newton's method on a convex function from its right.

    Examples
    --------
    >>> x = inverse_x_coth_x([0.5, 1.0, 2.0])
    >>> float(x[2] / np.tanh(x[2]))
    2.0...
    """
    t = np.asarray(t, dtype=float)
    excess = np.maximum(t - 1.0, 0.0)
    # x coth x - 1 = x^2/3 - x^4/45 + ...: at a small excess the square root, corrected once, has all digits
    x = np.where(excess < 1.0, np.sqrt(3.0 * excess * (1.0 + excess / 5.0)), np.maximum(t, 1.0))
    for _ in range(6):
        safe = np.maximum(x, 1e-3)
        decay = np.exp(-2 * safe)
        coth = (1 + decay) / -np.expm1(-2 * safe)
        rate = coth - 4 * safe * decay / np.expm1(-2 * safe) ** 2
        x = np.where(x > 1e-3, np.maximum(safe - (safe * coth - t) / rate, 0.0), x)
    return x


def inner_of_capped_width(
    x: np.ndarray, z1: ArrayLike, z2: ArrayLike, z3: ArrayLike, cap: Number, constant: Number
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Inner function of a height that is constant up to ``cap`` and infinite beyond (a Gaussian)."""
    z1, z2, z3 = coefficients(z1, z2, z3)
    weight = x * x + z2
    # free minimiser of weight/g + z1 g - z3 log g; the form below has no 0/0 at z1 = 0
    root = np.sqrt(z3 * z3 + 4 * z1 * weight)
    with np.errstate(divide="ignore", invalid="ignore"):
        free = np.where(z1 > 0, 0.5 * (z3 + root) / z1, np.inf)
    width = np.minimum(free, cap)
    capped = free >= cap
    safe = np.where(width > 0, width, 1.0)
    value = 0.5 * (constant + np.where(width > 0, weight / safe - z3 * np.log(safe), 0.0) + z1 * width)
    kappa = z2 / safe + 0.5 * z3
    with np.errstate(divide="ignore", invalid="ignore"):
        moving = np.where(kappa > 0, kappa / (x * x + safe * kappa), np.where(x == 0, 1.0 / safe, 0.0))
    second = np.where(capped, 1.0 / safe, moving)
    return value, x / safe, second, width
