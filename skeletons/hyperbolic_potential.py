"""A potential: the hyperbolic density, quadratic in the middle and linear in the tails - noise with outliers.

    T(s) = exp(-sqrt(1 + z^2)) / (2 K_1(1) scale),   z = (s - location) / scale,   K_1 the modified Bessel function.

To add a potential, write its logarithm and two derivatives. A density about a location (a prior, or noise) is a
``LocationDensity`` and adds its entropy and how to draw from it; a likelihood of another kind subclasses ``Potential``.
Everything else - tilted moments, Gaussian expectations, the super-Gaussian bound - has a default by quadrature or root
finding; override it where there is a closed form.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import k0, k1
from scipy.stats import geninvgauss

from adaptive import checks
from adaptive.potentials import LocationDensity

if TYPE_CHECKING:
    from adaptive.types import ArrayLike

__all__ = ["Hyperbolic"]


class Hyperbolic(LocationDensity):
    """The density proportional to exp(-sqrt(1 + (s - location)^2 / scale^2)).

    Parameters
    ----------
    scale : float or array (q,)
        Width of the quadratic middle, > 0; the tails fall off as exp(-|s| / scale).
    location : float or array (q,), default 0
        Centre; as a likelihood, the outcome.

    References
    ----------
    O. Barndorff-Nielsen (1977), Exponentially decreasing distributions for the logarithm of particle size.

    Examples
    --------
    >>> float(np.exp(Hyperbolic(scale=2.0).log_density(0.0)).round(4))
    0.1528
    """

    log_concave = True  # so that expectation propagation may be used
    super_gaussian = True  # a mixture of Gaussians of different widths, so that variational bounds may be used
    scale: Any
    tail = 8.0  # for entropies: a plain number of widths beyond which an exponential tail is negligible

    def __init__(self, scale: ArrayLike, location: ArrayLike = 0.0):
        self._set(scale=checks.positive("scale", scale), location=checks.finite("location", location))

    @property
    def spread(self) -> Any:
        """A typical deviation, which tells quadrature where to look."""
        return self.scale

    def _log_density(self, x: np.ndarray) -> np.ndarray:
        return -np.hypot(1.0, x / self.scale) - np.log(2 * k1(1.0) * self.scale)

    def _derivatives(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        z = x / self.scale
        root = np.hypot(1.0, z)
        return -z / root / self.scale, -1.0 / root**3 / self.scale**2

    def entropy(self) -> Any:
        """E sqrt(1 + z^2) = 1 + K_0(1)/K_1(1), plus the log normaliser."""
        return 1.0 + k0(1.0) / k1(1.0) + np.log(2 * k1(1.0) * self.scale)

    def _draw(self, rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
        width = np.sqrt(geninvgauss.rvs(1.0, 1.0, size=shape, random_state=rng))  # of the Gaussian in the mixture
        return self.scale * width * rng.standard_normal(shape)
