"""Archimedean spirals: k = lam phi e^{i (phi + angle)}, lam = N / (4 pi revolutions), from the centre to |k| = N/2.

With the limits off the samples stand at equal distances along the arc,

    s(phi) = lam/2 (phi sqrt(1 + phi^2) + asinh phi).

Under limits v of the speed and a of the acceleration the gradients start from rest and are driven as fast as the slew
rate allows, then along the arc at constant speed:

    phi'' = [-phi phi'^2 + sqrt(phi^2 phi'^4 - (1 + phi^2) ((4 + phi^2) phi'^4 - (a/lam)^2))] / (1 + phi^2),
    phi' <= v / (lam sqrt(1 + phi^2)).

The curvature falls along a spiral, so that once the speed is reached the slew rate suffices for all the rest.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.integrate import solve_ivp
from scipy.interpolate import CubicHermiteSpline

from adaptive.checks import finite, integer, positive
from designs.kspace.angles import rotated
from designs.kspace.limits import GradientLimits

if TYPE_CHECKING:
    from adaptive.types import ArrayLike, Number

__all__ = ["spiral_samples"]

_KNOTS = 20_000  # of the inverse of the arc length: its error is below 1e-9 of a sample's distance


def spiral_samples(
    n: int,
    angles: ArrayLike = 0.0,
    *,
    revolutions: float = 8.0,
    n_samples: int | None = None,
    limits: GradientLimits | None = None,
) -> np.ndarray:
    """Samples of Archimedean interleaves, in radians per pixel.

    Parameters
    ----------
    n : int
        Pixels along the longest side of the image; the last sample is at |k| = n/2 periods over it.
    angles : float or array (m,), default 0
        Angle of each interleave in radians, from axis 0 towards axis 1.
    revolutions : float, default 8
        Turns of an interleave. Those of one are n / (2 revolutions) apart: so many equispaced interleaves reach the
        Nyquist rate, 16 at n = 256.
    n_samples : int, optional
        Samples of an interleave, at equal distances along its arc, both ends included. None: without limits about one
        per 1/F of the arc, floor(pi n^2 / (8 revolutions)) (3216 at n = 256); under limits one per dwell time.
    limits : GradientLimits, optional
        Gradient, slew rate and dwell time that samples one per dwell time keep to. They change places along the curve,
        not the curve.

    Returns
    -------
    array (m, n_samples, 2)
        (n_samples, 2) of a single angle. All are in [-pi, pi).

    References
    ----------
    Nickisch (2010), section 6.5; limits after Bernstein, King and Zhou (2004).

    Examples
    --------
    >>> spiral_samples(256).shape, spiral_samples(256, limits=GradientLimits()).shape
    ((3216, 2), (3336, 2))
    """
    n, turns = integer("n", n, minimum=2), float(positive("revolutions", revolutions))
    end = 2 * np.pi * turns
    lam = n / (2 * end)
    if n_samples is None and limits is not None:
        phi = _phase_in_time(lam, end, limits)
    else:
        count = int(np.pi * n**2 / (8 * turns)) if n_samples is None else n_samples
        phi = _phase_of_arc(np.linspace(0, 1, integer("n_samples", count, minimum=2)) * _arc(end, lam), end, lam)
    k = (lam * 2 * np.pi / n) * phi[:, None] * np.stack([np.cos(phi), np.sin(phi)], axis=1)
    turned = rotated(k, finite("angles", angles))
    turned = np.where(turned >= np.pi, -np.pi, np.maximum(turned, -np.pi))  # pi is -pi on a grid, and rounding is not
    return turned if np.ndim(angles) else turned[0]


def _arc(phi: Number, lam: float) -> Any:
    """Length of the arc up to phi."""
    return lam / 2 * (phi * np.sqrt(1 + phi**2) + np.arcsinh(phi))


def _phase_of_arc(length: np.ndarray, end: float, lam: float) -> np.ndarray:
    """The phi at which the arc has these lengths."""
    phi = np.linspace(0, end, _KNOTS)
    inverse = CubicHermiteSpline(_arc(phi, lam), phi, 1 / (lam * np.sqrt(1 + phi**2)))
    return np.clip(inverse(length), 0, end)


def _phase_in_time(lam: float, end: float, limits: GradientLimits) -> np.ndarray:
    """The phi at multiples of the dwell time."""
    v, a, dwell = limits.speed, limits.acceleration, limits.dwell * 1e-6

    def motion(_: float, state: np.ndarray) -> list[float]:
        phi, rate = state
        one = 1 + phi**2
        inside = phi**2 * rate**4 - one * ((4 + phi**2) * rate**4 - (a / lam) ** 2)
        return [rate, (-phi * rate**2 + np.sqrt(max(inside, 0.0))) / one]

    def full_speed(_: float, state: np.ndarray) -> float:
        return lam * np.sqrt(1 + state[0] ** 2) * state[1] / v - 1

    def finished(_: float, state: np.ndarray) -> float:
        return state[0] / end - 1

    full_speed.terminal = finished.terminal = True  # type: ignore[attr-defined]
    start = solve_ivp(
        motion, (0.0, np.inf), (0.0, 0.0), events=(full_speed, finished), rtol=1e-9, atol=1e-12, dense_output=True
    )
    ramp, phi = start.t[-1], start.y[0, -1]
    total = ramp + max(_arc(end, lam) - _arc(phi, lam), 0.0) / v
    times = np.arange(int(total / dwell) + 1) * dwell
    constant = _phase_of_arc(_arc(phi, lam) + v * np.maximum(times - ramp, 0.0), end, lam)
    return np.where(times <= ramp, start.sol(np.minimum(times, ramp))[0], constant)
