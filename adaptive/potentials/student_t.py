"""Student t density with df degrees of freedom: super-Gaussian, but not log-concave."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.special import gammaln, psi, wofz

from adaptive import checks
from adaptive.potentials.location_family import LocationDensity

if TYPE_CHECKING:
    from adaptive.types import ArrayLike, Number

__all__ = ["StudentT"]

_FAR = (
    8.0  # from which |z| on the series of the Faddeeva function has all figures, and 1 + i sqrt(pi) z w(z) loses some
)
_TERMS = 12
_STEPS = (0.5, 0.25, 0.125)  # of the trapezoidal rule, in standard deviations
_POLE = 5.0  # steps from the line of integration to the nearest pole, from which on the rule has all figures
_LARGE = 1e100  # means in units of the tails' scale, of which squares would overflow
_REACH = 9.5  # standard deviations: the Gaussian mass beyond is 2e-21


class StudentT(LocationDensity):
    """T(s) proportional to (1 + x^2 / (df scale^2))^(-(df + 1)/2), x = s - location; normalised.

    The height splits into h = (df + 1) log g + const (concave, its slope is `concave_height_slope`) plus a convex rest.

    Parameters
    ----------
    df : float or array (q,)
        Degrees of freedom, > 0.
    scale : float or array (q,)
        Scale, > 0; the variance is scale^2 df / (df - 2) for df > 2.
    location : float or array (q,), default 0
        Centre; as a likelihood, the outcome.

    Raises
    ------
    ValueError
        If ``df`` or ``scale`` is not positive, or ``location`` not finite.

    References
    ----------
    Nickisch (2010), table 3.1 and algorithm 3.1.

    Examples
    --------
    >>> from adaptive.potentials import StudentT
    >>> float(StudentT(1.0, 1.0).log_density(0.0).round(6))  # the Cauchy density: 1/pi
    -1.14473
    """

    df: Number
    scale: Number
    log_concave = False
    super_gaussian = True

    def __init__(self, df: ArrayLike, scale: ArrayLike, location: ArrayLike = 0.0):
        self._set(
            df=checks.positive("df", df),
            scale=checks.positive("scale", scale),
            location=checks.finite("location", location),
        )

    @property
    def spread(self) -> Number:
        return self.scale

    @property
    def tail(self) -> float:  # type: ignore[override]
        return float(np.max(np.minimum(40.0 / np.asarray(self.df), 300.0))) + 8.0

    @property
    def _log_constant(self) -> Number:
        df = self.df
        return gammaln((df + 1) / 2) - gammaln(df / 2) - 0.5 * np.log(np.pi * df) - np.log(self.scale)

    def _log_density(self, x: np.ndarray) -> np.ndarray:
        z = x / (self.scale * np.sqrt(self.df))
        with np.errstate(over="ignore"):
            log_term = np.where(np.abs(z) < 1e100, np.log1p(z * z), 2 * np.log(np.maximum(np.abs(z), 1.0)))
        return self._log_constant - 0.5 * (self.df + 1) * log_term

    def _derivatives(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        square = self.df * np.square(self.scale)
        total = square + x * x
        return -(self.df + 1) * x / total, -(self.df + 1) * (square - x * x) / total / total

    def _third_derivative(self, x: np.ndarray) -> np.ndarray:
        square = self.df * np.square(self.scale)
        total = square + x * x
        return 2 * (self.df + 1) * ((3 * square - x * x) / total) * (x / total / total)

    def _log_ratio(self, x: np.ndarray, step: np.ndarray) -> np.ndarray:
        square = self.df * np.square(self.scale)
        total, moved = square + x * x, x + step
        near = np.abs(step) < 0.5 * np.abs(x)
        growth = np.where(near, np.log1p(step * (2 * x + step) / total), np.log((square + moved * moved) / total))
        return -0.5 * (self.df + 1) * growth

    def _expectation_derivatives(
        self, mean: np.ndarray, variance: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The slopes are closed: E x/(x^2 + a^2), a^2 = df scale^2, and its slope in the mean are a Voigt profile's."""
        centre, sd = mean - self.location, np.sqrt(variance)
        first, second = self._derivatives(centre)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            z = (1j * self.scale * np.sqrt(self.df) - centre) / (np.sqrt(2.0) * sd)
            ratio, slope = _resolvent(z)
            first = np.where(sd > 0, -(self.df + 1) * ratio / sd, first)
            second = np.where(sd > 0, -(self.df + 1) * slope / variance, second)
        return self._expectation(mean, variance), first, 0.5 * second

    def _expectation(self, mean: np.ndarray, variance: np.ndarray) -> np.ndarray:
        """E log T(s) by the trapezoidal rule, whose error is exp(-2 pi d / step) where log T has its poles d away.

        They lie sqrt(df) scale / sd standard deviations off the line; where that is near, the panels are adaptive.
        """
        if np.ndim(mean) == 0:
            return self._expectation(mean[None], variance[None])[0]
        size, sd = np.broadcast_to(self.scale * np.sqrt(self.df), mean.shape), np.sqrt(variance)
        with np.errstate(divide="ignore", over="ignore"):
            pole = np.where((sd > 0) & (np.abs(mean) < _LARGE * size), size / sd, 0.0)
        left, total = np.ones(mean.shape, dtype=bool), np.empty(mean.shape)
        for step in _STEPS:
            at = np.nonzero(left & (pole >= _POLE * step))
            left[at] = False
            if len(at[0]):
                total[at] = _averaged((mean - self.location)[at] / size[at], sd[at] / size[at], step)
        value = self._log_constant - 0.5 * (self.df + 1) * total
        if left.any():
            at = np.nonzero(left)
            rows = self if self.size is None else self[np.broadcast_to(np.arange(self.size), mean.shape)[at]]
            value[at] = super(StudentT, rows)._expectation(mean[at], variance[at])
        return value

    def tilted_modes(self, c: np.ndarray, v: np.ndarray, fraction: float) -> tuple[np.ndarray, np.ndarray]:
        """Places (k, m) about which T^fraction N(c, v) has structure, with the scale of it: T's centre and the modes.

        The modes solve (x - c)(a + x^2) + k x = 0 with a = df scale^2, k = fraction v (df + 1).
        """
        square = self.df * np.square(self.scale)
        modes = _cubic_roots(-c, square + fraction * v * (self.df + 1), -c * square)
        modes = np.clip(modes, np.minimum(c, 0.0), np.maximum(c, 0.0))
        _, second = self._derivatives(modes)
        scales = 1 / np.sqrt(np.maximum(np.abs(1 / v - fraction * second), 1 / v))
        centre = np.broadcast_to(np.sqrt(square), c.shape)[None]
        return np.concatenate([np.zeros_like(centre), modes]), np.concatenate([centre, scales])

    def entropy(self) -> Number:
        df = self.df
        return 0.5 * (df + 1) * (psi((df + 1) / 2) - psi(df / 2)) - self._log_constant

    def _draw(self, rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
        return self.scale * rng.standard_t(np.broadcast_to(self.df, shape), size=shape)

    # ------------------------------------------------------------------------------------------ super-Gaussian bound
    @property
    def _threshold(self) -> Number:
        """Smallest tight width: below it the height is constant."""
        return self.df * np.square(self.scale) / (self.df + 1)

    def tight_width(self, s: ArrayLike) -> np.ndarray:
        x = np.asarray(s, dtype=float) - self.location
        return self._threshold + x * x / (self.df + 1)

    def height(self, width: ArrayLike) -> np.ndarray:
        width = np.asarray(width, dtype=float)
        wide = np.maximum(width, self._threshold)
        rise = (self.df + 1) * (np.log(wide / self._threshold) - 1 + self._threshold / wide)
        return rise - 2 * self._log_constant

    def height_derivatives(self, width: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
        width = np.asarray(width, dtype=float)
        wide = np.maximum(width, self._threshold)
        lower = self._threshold / wide
        first = (self.df + 1) / wide * (1 - lower)
        second = (self.df + 1) / (wide * wide) * (2 * lower - 1)
        above = width > self._threshold
        return np.where(above, first, 0.0), np.where(above, second, 0.0)

    def concave_height_slope(self, width: ArrayLike) -> np.ndarray:
        return (self.df + 1) / np.asarray(width, dtype=float)

    def convex_height(self, width: ArrayLike) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """h(g) - (df + 1) log g: -(df + 1) log g below the threshold, (df scale^2)/g + const above."""
        width = np.asarray(width, dtype=float)
        value = self.height(width) - (self.df + 1) * np.log(width)
        capped = np.minimum(self._threshold / width, 1.0)
        first = -(self.df + 1) / width * capped
        second = (self.df + 1) / (width * width) * np.where(width > self._threshold, 2 * capped, 1.0)
        return value, first, second


def _averaged(mean: np.ndarray, sd: np.ndarray, step: float) -> np.ndarray:
    """E log(1 + x^2), x ~ N(mean, sd^2), (m,), by the trapezoidal rule with this step."""
    points = step * np.arange(-round(_REACH / step), round(_REACH / step) + 1)
    weights = step * np.exp(-0.5 * points**2) / np.sqrt(2 * np.pi)
    squares = np.square(mean + points[:, None] * sd)
    squares += 1.0
    return weights @ np.log(squares, out=squares)


def _resolvent(z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """E x/(x^2 + a^2) times sd, and its slope in m times sd^2, for x ~ N(m, sd^2) and z = (i a - m)/(sqrt(2) sd).

    With the Faddeeva function w:  -sqrt(pi/2) Im w(z)  and  Re(1 + i sqrt(pi) z w(z));  far from 0 their series
    sum_k (2k - 1)!! / (2 z^2)^k, whose first term is cancelled in the second.
    """
    near = np.abs(z) < _FAR
    w = wofz(np.where(near, z, 1j))
    inverse, series = 0.5 / np.square(z), np.zeros_like(z)
    for k in range(_TERMS, 0, -1):
        series = (2 * k - 1) * inverse * (1.0 + series)
    ratio = np.where(near, -np.sqrt(0.5 * np.pi) * w.imag, -np.sqrt(0.5) * ((1.0 + series) / z).real)
    return ratio, np.where(near, 1.0 - np.sqrt(np.pi) * (z * w).imag, -series.real)


def _cubic_roots(b: np.ndarray, c: np.ndarray, d: np.ndarray) -> np.ndarray:
    """Real roots (3, m) of x^3 + b x^2 + c x + d; a single root is repeated. Good to a few digits below 1e-10."""
    b, c, d = np.broadcast_arrays(b, c, d)
    shift = b / 3
    p = c - b * shift
    q = d + shift * (2 * shift * shift - c)
    with np.errstate(all="ignore"):
        size = np.sqrt(np.maximum(-p / 3, 0.0))
        angle = np.arccos(np.clip(-0.5 * q / size**3, -1, 1)) / 3
        three = np.stack([2 * size * np.cos(angle - 2 * np.pi * k / 3) for k in range(3)])
        root = np.sqrt(np.maximum(0.25 * q * q + (p / 3) ** 3, 0.0))
        u = np.cbrt(np.where(q > 0, -0.5 * q - root, -0.5 * q + root))
        one = u - p / (3 * u)
        discriminant = 0.25 * q * q + (p / 3) ** 3
        x = np.where(discriminant <= 0, three, np.where(u == 0, 0.0, one)) - shift
        for _ in range(3):  # polish
            step = (((x + b) * x + c) * x + d) / ((3 * x + 2 * b) * x + c)
            x = np.where(np.isfinite(step), x - step, x)
    return np.where(np.isfinite(x), x, 0.0)
