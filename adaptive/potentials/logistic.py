"""Logistic density T(s) = sech^2((s - location) / (2 scale)) / (4 scale): a smooth Laplace."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from adaptive import checks
from adaptive.potentials.bounds import inverse_x_coth_x
from adaptive.potentials.location_family import LocationDensity

if TYPE_CHECKING:
    from adaptive.types import ArrayLike, Number

__all__ = ["Logistic"]


class Logistic(LocationDensity):
    """T(s) = cosh(x / (2 scale))^-2 / (4 scale), x = s - location.

    Parameters
    ----------
    scale : float or array (q,)
        Scale, > 0; the standard deviation is pi scale / sqrt(3).
    location : float or array (q,), default 0
        Centre; as a likelihood, the outcome.

    Raises
    ------
    ValueError
        If ``scale`` is not positive, or ``location`` not finite.

    References
    ----------
    Nickisch (2010), table 3.1 (tau = 1 / (2 scale)).

    Examples
    --------
    >>> from adaptive.potentials import Logistic
    >>> float(Logistic(0.25).log_density(0.0))
    0.0
    """

    scale: Number
    super_gaussian = True
    tail = 8.0

    def __init__(self, scale: ArrayLike, location: ArrayLike = 0.0):
        self._set(scale=checks.positive("scale", scale), location=checks.finite("location", location))

    @property
    def spread(self) -> Number:
        return self.scale

    def _log_density(self, x: np.ndarray) -> np.ndarray:
        z = np.abs(x) / self.scale
        return -z - 2 * np.log1p(np.exp(-z)) - np.log(self.scale)

    def _derivatives(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        tanh = np.tanh(0.5 * x / self.scale)
        return -tanh / self.scale, -0.5 * self._sech2(x) / np.square(self.scale)

    def _third_derivative(self, x: np.ndarray) -> np.ndarray:
        return 0.5 * np.tanh(0.5 * x / self.scale) * self._sech2(x) / self.scale**3

    def _sech2(self, x: np.ndarray) -> np.ndarray:
        decay = np.exp(-np.abs(x) / self.scale)
        return 4 * decay / (1 + decay) ** 2

    def _log_ratio(self, x: np.ndarray, step: np.ndarray) -> np.ndarray:
        moved = x + step
        same = np.where(x >= 0, -step, step)
        linear = np.where((x >= 0) == (moved >= 0), same, np.abs(x) - np.abs(moved)) / self.scale
        before, after = (np.log1p(np.exp(-np.abs(a) / self.scale)) for a in (x, moved))
        return linear - 2 * (after - before)

    def entropy(self) -> Number:
        return 2.0 + np.log(self.scale)

    def _draw(self, rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
        return self.scale * rng.logistic(size=shape)

    # ------------------------------------------------------------------------------------------ super-Gaussian bound
    def tight_width(self, s: ArrayLike) -> np.ndarray:
        z = 0.5 * (np.asarray(s, dtype=float) - self.location) / self.scale
        safe = np.where(np.abs(z) < 1e-8, 1e-8, z)
        return 2 * np.square(self.scale) * safe / np.tanh(safe)

    def height(self, width: ArrayLike) -> np.ndarray:
        r = inverse_x_coth_x(np.asarray(width, dtype=float) / (2 * np.square(self.scale)))
        log_cosh = r + np.log1p(np.exp(-2 * r)) - np.log(2.0)
        return 4 * log_cosh - 2 * r * np.tanh(r) + 2 * np.log(4 * self.scale)

    def height_derivatives(self, width: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
        width = np.asarray(width, dtype=float)
        return height_derivatives_of_cosh(width, 2 * np.square(self.scale), 2.0)


def height_derivatives_of_cosh(width: np.ndarray, unit: Number, power: float) -> tuple[np.ndarray, np.ndarray]:
    """Derivatives of h(g) = 2 power log cosh r - power r tanh r, r coth r = g / unit, for T = cosh^-power.

    Along the curve dh/dr = power (tanh r - r sech^2 r) and dg/dr = unit (coth r - r / sinh^2 r)
    = unit (tanh r - r sech^2 r) coth^2 r, hence h' = (power / unit) tanh^2 r.
    """
    r = inverse_x_coth_x(width / unit)
    tanh = np.tanh(r)
    decay = np.exp(-2 * np.minimum(r, 300.0))
    sech2 = 4 * decay / (1 + decay) ** 2
    safe = np.maximum(r, 1e-4)
    # tanh r - r sech^2 r = 2 r^3/3 + ...: by series where it cancels
    spread = np.where(r < 1e-2, r**3 * (2 / 3 - 8 / 15 * r * r), tanh - r * sech2)
    rate = np.where(r < 1e-2, safe * (2 / 3 - 4 / 45 * safe**2), spread / np.maximum(tanh, 1e-4) ** 2)
    second = np.where(r > 0, 2 * tanh * sech2 * (power / unit) / (unit * rate), 0.0)
    # just above the threshold tanh/rate -> 3/2: the second derivative jumps there
    return power / unit * tanh**2, np.where((r > 0) & (r < 1e-4), 3 * power / np.square(unit), second)
