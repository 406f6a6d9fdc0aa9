"""Penalties rho(s) per projection: value and two derivatives, smoothed where they have a kink.

``penalty(s, smoothing)`` replaces |x| by sqrt(x^2 + smoothing unit^2) (x the distance from the kink), or does the like;
the unit is the scale on which the penalty changes, so that smoothing is a pure number. Smooth penalties ignore it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from adaptive.checks import positive
from adaptive.potentials.grouped import GroupedPotential

if TYPE_CHECKING:
    from adaptive.potentials import Potential
    from adaptive.types import ArrayLike, Number

__all__ = ["FromPotential", "Logarithmic", "Penalty", "Power", "Quadratic", "Zero"]


class Penalty:
    """Base class: a penalty is a function of the projections and a smoothing.

    Attributes
    ----------
    kinked : bool
        The second derivative is not finite everywhere; solvers then lower the smoothing step by step.
    """

    kinked = False

    def __call__(self, s: np.ndarray, smoothing: float = 0.0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Value, first and second derivative, each of the shape of s."""
        raise TypeError(f"{type(self).__name__} must define __call__(s, smoothing).")

    def __repr__(self) -> str:
        shown = ", ".join(f"{name}={value}" for name, value in vars(self).items() if np.ndim(value) == 0)
        return f"{type(self).__name__}({shown})"


class Zero(Penalty):
    """rho(s) = 0: least squares.

    Examples
    --------
    >>> Zero()(np.array([1.0]))[0]
    array([0.])
    """

    def __call__(self, s: np.ndarray, smoothing: float = 0.0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        return np.zeros_like(s), np.zeros_like(s), np.zeros_like(s)


class Quadratic(Penalty):
    """rho(s) = weight s^2 / 2: ridge.

    Parameters
    ----------
    weight : float or array (q,), default 1.0

    References
    ----------
    Hoerl and Kennard (1970), Ridge regression: biased estimation for nonorthogonal problems.

    Examples
    --------
    >>> Quadratic(2.0)(np.array([3.0]))[0]
    array([9.])
    """

    def __init__(self, weight: ArrayLike = 1.0):
        self.weight = positive("weight", weight, or_zero=True)[()]

    def __call__(self, s: np.ndarray, smoothing: float = 0.0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        return 0.5 * self.weight * s * s, self.weight * s, np.broadcast_to(self.weight, np.shape(s)).astype(float)


class Power(Penalty):
    """rho(s) = weight |s|^power; kinked below power 2, not convex below 1.

    Parameters
    ----------
    power : float
        > 0.
    weight : float or array (q,), default 1.0

    References
    ----------
    Chartrand (2007), Exact reconstruction of sparse signals via nonconvex minimization.

    Examples
    --------
    >>> Power(1.0, 3.0)(np.array([-2.0]))[0]
    array([6.])
    """

    def __init__(self, power: float, weight: ArrayLike = 1.0):
        self.power = float(positive("power", power))
        self.weight = positive("weight", weight)[()]

    @property
    def kinked(self) -> bool:  # type: ignore[override]
        return self.power < 2

    def __call__(self, s: np.ndarray, smoothing: float = 0.0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        p = self.power
        extra = smoothing * np.asarray(self.weight) ** (-2.0 / p) if self.kinked else 0.0
        square = s * s + extra
        with np.errstate(divide="ignore", invalid="ignore"):
            slope = np.where(square > 0, self.weight * p * square ** (0.5 * p - 1.0), 0.0 if p >= 1 else np.inf)
            bend = np.where(square > 0, slope * ((p - 1.0) * s * s + extra) / square, slope * (p - 1.0))
        first = np.where(s == 0, 0.0, slope * s)
        return self.weight * square ** (0.5 * p), first, bend


class Logarithmic(Penalty):
    """rho(s) = weight log(s^2 + epsilon) / 2: not convex.

    Parameters
    ----------
    epsilon : float, default 1.0
        > 0, in units of s^2.
    weight : float or array (q,), default 1.0

    References
    ----------
    Candes, Wakin and Boyd (2008), Enhancing sparsity by reweighted l1 minimization.

    Examples
    --------
    >>> Logarithmic()(np.array([0.0]))[0]
    array([0.])
    """

    def __init__(self, epsilon: float = 1.0, weight: ArrayLike = 1.0):
        self.epsilon = float(positive("epsilon", epsilon))
        self.weight = positive("weight", weight)[()]

    def __call__(self, s: np.ndarray, smoothing: float = 0.0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        square = s * s + self.epsilon
        first = self.weight * s / square
        return 0.5 * self.weight * np.log(square), first, self.weight * (self.epsilon - s * s) / square**2


class FromPotential(Penalty):
    """rho(s) = -ln T(s): maximum a posteriori.

    Smoothing, where T is not smooth: for super-Gaussian potentials -ln T at sqrt(x^2 + smoothing unit^2) (the double
    loop's inner function for equal marginal variances); for the rectified Poisson a parabola below the edge of the
    support, and a linear slope across a kink.

    Parameters
    ----------
    potential : Potential
        With its outcomes.

    References
    ----------
    H. Nickisch (2010): a point estimate is least squares with -log T as its penalty.

    Examples
    --------
    >>> from adaptive.potentials import Laplace
    >>> FromPotential(Laplace(0.5))(np.array([2.0]))[:2]
    (array([4.]), array([2.]))
    """

    def __init__(self, potential: Potential):
        self.potential = potential

    @property
    def kinked(self) -> bool:  # type: ignore[override]
        return not np.all(self.potential.smooth)

    def __call__(self, s: np.ndarray, smoothing: float = 0.0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        potential = self.potential
        if isinstance(potential, GroupedPotential):  # several groups: each in its own way
            parts = [FromPotential(p)(s[k], smoothing) for p, k in potential.parts()]
            value, first, second = (np.concatenate(column) for column in zip(*parts, strict=True))
            return value, first, second
        if not self.kinked or smoothing == 0.0:
            first, second = potential.derivatives(s)
            return -potential.log_density(s), -first, -second
        unit = np.asarray(getattr(potential, "spread", 1.0), dtype=float)
        if np.all(potential.super_gaussian):
            return self._away_from_zero(s, smoothing * np.square(unit))
        return self._across_edges(s, np.sqrt(smoothing) * unit)

    def _away_from_zero(self, s: np.ndarray, extra: Number) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """-ln T + tilt x is even in x: evaluate it at t = sqrt(x^2 + extra) of the sign of x."""
        potential, tilt = self.potential, self.potential.tilt
        x = s - potential.location
        t = np.where(x < 0, -1.0, 1.0) * np.sqrt(x * x + extra)
        first, second = potential.derivatives(t + potential.location)
        slope = tilt - first
        value = tilt * (t - x) - potential.log_density(t + potential.location)
        return value, slope * (x / t) - tilt, slope / t * (extra / t / t) - second * (x / t) ** 2

    def _across_edges(self, s: np.ndarray, width: Number) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        potential = self.potential
        lower = np.broadcast_to(np.asarray(potential.support[0], dtype=float), s.shape)
        edge = np.where(np.isfinite(lower), lower + width, -np.inf)
        inside = np.maximum(s, edge)
        value = -potential.log_density(inside)
        first, second = (-d for d in potential.derivatives(inside))
        gap = s - inside
        value, first = value + first * gap + 0.5 * second * gap * gap, first + second * gap
        for kink in potential.kinks:
            x = s - kink
            near = (np.abs(x) < width) & ~np.isfinite(lower)
            start = np.where(near, kink - width, s)
            step = x + width
            with np.errstate(invalid="ignore"):  # rows with an edge, which are not asked about
                left = -potential.derivatives(start)[0]
                bend = (-potential.derivatives(np.where(near, kink + width, s))[0] - left) / (2 * width)
                ramp = -potential.log_density(start) + left * step + 0.5 * bend * step * step
            value = np.where(near, ramp, value)
            first, second = np.where(near, left + bend * step, first), np.where(near, bend, second)
        return value, first, second
