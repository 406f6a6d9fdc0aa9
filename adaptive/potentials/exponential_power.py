"""Exponential power density T(s) proportional to exp(-|(s - location) / scale|^power)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import gammaln

from adaptive import checks
from adaptive.potentials.gaussian import Gaussian
from adaptive.potentials.laplace import Laplace
from adaptive.potentials.location_family import LocationDensity

if TYPE_CHECKING:
    from adaptive.types import ArrayLike, Number

__all__ = ["ExponentialPower"]


class ExponentialPower(LocationDensity):
    """T(s) = exp(-|x / scale|^power) power / (2 scale Gamma(1/power)), x = s - location.

    Power 1 is the Laplace density, 2 the Gaussian of variance scale^2/2; log-concave from 1 on, super-Gaussian to 2.

    Parameters
    ----------
    power : float or array (q,)
        Exponent, > 0.
    scale : float or array (q,)
        Scale, > 0.
    location : float or array (q,), default 0
        Centre; as a likelihood, the outcome.

    Raises
    ------
    ValueError
        If ``power`` or ``scale`` is not positive, or ``location`` not finite.

    References
    ----------
    Box and Tiao (1973), Bayesian inference in statistical analysis, section 3.2.

    Examples
    --------
    >>> from adaptive.potentials import ExponentialPower, Laplace
    >>> bool(ExponentialPower(1.0, 2.0).log_density(3.0) == Laplace(2.0).log_density(3.0))
    True
    """

    power: Number
    scale: Number
    kinks = (0.0,)

    def __init__(self, power: ArrayLike, scale: ArrayLike, location: ArrayLike = 0.0):
        self._set(
            power=checks.positive("power", power),
            scale=checks.positive("scale", scale),
            location=checks.finite("location", location),
        )

    @property
    def log_concave(self) -> bool:  # type: ignore[override]
        return bool(np.all(np.asarray(self.power) >= 1))

    @property
    def super_gaussian(self) -> bool:  # type: ignore[override]
        return bool(np.all(np.asarray(self.power) <= 2))

    @property
    def smooth(self) -> bool:  # type: ignore[override]
        return bool(np.all(np.asarray(self.power) >= 2))

    @property
    def singular(self) -> bool:  # type: ignore[override]
        return bool(np.any(np.asarray(self.power) % 1 != 0))

    @property
    def spread(self) -> Number:
        return self.scale

    @property
    def tail(self) -> float:  # type: ignore[override]
        return 8.0 + float(np.max(4.0 / np.asarray(self.power)))

    @property
    def _log_constant(self) -> Number:
        return np.log(self.power) - np.log(2 * self.scale) - gammaln(1 / self.power)

    def _log_density(self, x: np.ndarray) -> np.ndarray:
        with np.errstate(over="ignore"):
            return self._log_constant - np.abs(x / self.scale) ** self.power

    def _derivatives(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        z, p = np.abs(x) / self.scale, self.power
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            first = np.where(z > 0, -p * z ** (p - 1.0) * np.sign(x), 0.0) / self.scale
            bend = np.where((p == 1.0) & (z > 0), 0.0, -p * np.where(p == 1.0, 1.0, p - 1.0) * z ** (p - 2.0))
        # at 0: -infinity for power < 2 (the cusp of power < 1 is a peak too), by the limit for the others
        return first, np.where((z == 0) & (p < 2), -np.inf, bend) / np.square(self.scale)

    def _third_derivative(self, x: np.ndarray) -> np.ndarray:
        z, p = np.abs(x) / self.scale, self.power
        factor = p * (p - 1.0) * (p - 2.0)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            third = -factor * z ** (p - 3.0) * np.sign(x) / self.scale**3
        return np.where((factor == 0) | (x == 0), 0.0, third)

    def _log_ratio(self, x: np.ndarray, step: np.ndarray) -> np.ndarray:
        p = self.power
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            if (np.abs(x / self.scale) ** p < 1e3).all():  # nothing to lose in the plain difference
                return np.abs(x / self.scale) ** p - np.abs((x + step) / self.scale) ** p
            near = np.abs(step) < 0.5 * np.abs(x)
            relative = np.where(near, step / x, 0.0)
            close = np.abs(x / self.scale) ** p * np.expm1(p * np.log1p(relative))
            far = np.abs((x + step) / self.scale) ** p - np.abs(x / self.scale) ** p
        return -np.where(near, close, far)

    def gaussian_moments(self) -> tuple[Number, Number] | None:
        return self._special(2.0).gaussian_moments() if np.all(np.asarray(self.power) == 2) else None

    def _expectation(self, mean: np.ndarray, variance: np.ndarray) -> np.ndarray:
        return self._by_power("_expectation", (mean, variance))

    def _expectation_derivatives(
        self, mean: np.ndarray, variance: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        return self._by_power("_expectation_derivatives", (mean, variance))

    def _tilted_moments(
        self, mean: np.ndarray, variance: np.ndarray, fraction: float
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        return self._by_power("_tilted_moments", (mean, variance), fraction)

    def _outcome_entropy(self, variance: np.ndarray) -> np.ndarray:
        return self._by_power("_outcome_entropy", (variance,))

    def _by_power(self, method: str, arrays: tuple[np.ndarray, ...], *options: float) -> Any:
        """Call ``method`` of the Laplace rows (power 1), the Gaussian rows (power 2) and the others."""
        power = np.asarray(self.power)
        if power.ndim == 0:
            return getattr(self._special(float(power)), method)(*arrays, *options)
        kind = np.select([power == 1, power == 2, power < 1], [1, 2, 0], 3)
        result: Any = None
        for k in np.unique(kind):
            rows = np.flatnonzero(kind == k)
            part = self[rows]._special(float(k) if k in (1, 2) else np.nan)
            value = getattr(part, method)(*(a[..., rows] for a in arrays), *options)
            value = value if isinstance(value, tuple) else (value,)
            if result is None:
                result = tuple(np.empty(arrays[0].shape) for _ in value)
            for whole, piece in zip(result, value, strict=True):
                whole[..., rows] = piece
        return result if len(result) > 1 else result[0]

    def _special(self, power: float) -> LocationDensity:
        """The Laplace or Gaussian density this is at power 1 or 2; else the same density, computed by quadrature."""
        if power == 1:
            return Laplace(self.scale, self.location)
        if power == 2:
            return Gaussian(0.5 * np.square(self.scale), self.location)
        return _ByQuadrature(self.power, self.scale, self.location)

    def tilted_modes(self, c: np.ndarray, v: np.ndarray, fraction: float) -> tuple[np.ndarray, np.ndarray]:
        """The cusp at zero and, for power < 1, the far mode beside the cavity mean where there is one."""
        p, weight = self.power, fraction * v * self.power / self.scale**self.power
        x = np.abs(c)
        # x - |c| + weight x^(p-1) is convex: Newton from the right meets the largest root, or runs to zero
        for _ in range(60):
            with np.errstate(all="ignore"):
                step = (x - np.abs(c) + weight * x ** (p - 1)) / (1 + weight * (p - 1) * x ** (p - 2))
            x = np.where(np.isfinite(step) & (step > 0) & (step < x), x - step, x)
        zero = np.zeros_like(c)
        width = np.broadcast_to(self.scale * (0.01 / fraction) ** (1 / p), c.shape)
        return np.stack([zero, np.sign(c) * x]), np.stack([np.minimum(width, np.sqrt(v)), np.sqrt(v)])

    def entropy(self) -> Number:
        return 1 / self.power - self._log_constant

    def _draw(self, rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
        power = np.broadcast_to(self.power, shape)
        return self.scale * rng.standard_gamma(1 / power) ** (1 / power) * rng.choice([-1.0, 1.0], size=shape)

    # ------------------------------------------------------------------------------------------ super-Gaussian bound
    # h(g) = k g^e - 2 log(constant), e = power/(2 - power): linear at power 1, convex above, concave below.
    def tight_width(self, s: ArrayLike) -> np.ndarray:
        x = np.abs(np.asarray(s, dtype=float) - self._bounded().location)
        with np.errstate(divide="ignore"):
            return np.square(self.scale) / self.power * (x / self.scale) ** (2 - np.asarray(self.power))

    def _height(self, width: ArrayLike) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        p = np.asarray(self._bounded().power)
        quadratic = p >= 2
        p = np.where(quadratic, 1.0, p)
        exponent = p / (2 - p)
        unit = np.square(self.scale)
        width = np.asarray(width, dtype=float)
        with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
            rise = (2 - p) / p * p ** (2 / (2 - p)) * (width / unit) ** exponent
            first = exponent * rise / width
            second = (exponent - 1) * first / width
        beyond = np.where(width <= 0.5 * unit * (1 + 1e-15), 0.0, np.inf)
        return tuple(np.where(quadratic, beyond, part) for part in (rise, first, second))  # type: ignore[return-value]

    def height(self, width: ArrayLike) -> np.ndarray:
        return self._height(width)[0] - 2 * self._log_constant

    def height_derivatives(self, width: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
        return self._height(width)[1:]

    def concave_height_slope(self, width: ArrayLike) -> np.ndarray:
        return np.where(np.asarray(self.power) < 1, self._height(width)[1], 0.0)

    def convex_height(self, width: ArrayLike) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        value, first, second = (np.where(np.asarray(self.power) < 1, 0.0, part) for part in self._height(width))
        return value - 2 * self._log_constant, first, second

    def inner(
        self, s: ArrayLike, z1: ArrayLike = 0.0, z2: ArrayLike = 0.0, z3: ArrayLike = 0.0
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        quadratic = np.asarray(self.power) == 2
        if not quadratic.any():
            return super().inner(s, z1, z2, z3)
        gaussian = Gaussian(0.5 * np.square(self.scale), self.location).inner(s, z1, z2, z3)
        if quadratic.all():
            return gaussian
        other = ExponentialPower(np.where(quadratic, 1.0, self.power), self.scale, self.location).inner(s, z1, z2, z3)
        return tuple(np.where(quadratic, a, b) for a, b in zip(gaussian, other, strict=True))  # type: ignore[return-value]


class _ByQuadrature(ExponentialPower):
    """The same density with the quadrature defaults."""

    _expectation = LocationDensity._expectation
    _expectation_derivatives = LocationDensity._expectation_derivatives
    _tilted_moments = LocationDensity._tilted_moments
    _outcome_entropy = LocationDensity._outcome_entropy
