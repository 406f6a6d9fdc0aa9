"""Log density of y = s + noise for Gaussian s, by one spline: log p(y | v) + log u = f(v / scale^2, |y| / u).

With u^2 = v + scale^2 the function u p(y | v) depends on two ratios only. It is tabulated once for a kind of noise (of
Student's t for each number of degrees of freedom), over 43 ratios of scales and 97 distances, and interpolated by
cubics: to 1e-3 nats where there is mass, which is enough for entropies of mixtures, and 1,000 times as fast as tilted
moments.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.interpolate import RectBivariateSpline

if TYPE_CHECKING:
    from adaptive.potentials.location_family import LocationDensity

__all__ = ["convolved_log_density"]

_RATIOS = np.linspace(np.log(1e-3), np.log(1e3), 43)  # log (deviation of s / scale); beyond, one of both does not count
_NODES = np.linspace(0.0, 1.0, 97) ** 1.5  # of arsinh(|y| / u), in units of the tail
_LEAST = -700.0  # nats, below which exp is zero


def convolved_log_density(potential: LocationDensity, y: np.ndarray, variance: np.ndarray) -> np.ndarray:
    """Return log p(y) of y = s + noise, s ~ N(0, variance), arrays that broadcast, for one density at location 0."""
    scale = float(potential.spread)
    shape = tuple((name, float(v)) for name, v in potential.parameters.items() if name not in ("location", "scale"))
    sd = np.sqrt(variance)
    unit = np.hypot(sd, scale)
    with np.errstate(divide="ignore"):
        ratio = np.clip(np.log(sd / scale), _RATIOS[0], _RATIOS[-1])
    distance = np.minimum(np.arcsinh(np.abs(y) / unit), potential.tail)
    return np.asarray(_spline(type(potential), shape).ev(*np.broadcast_arrays(ratio, distance)) - np.log(unit))


@lru_cache(maxsize=16)
def _spline(kind: type, shape: tuple[tuple[str, float], ...]) -> RectBivariateSpline:
    """Tabulate log (u p) for the density of scale 1."""
    potential: Any = kind(**dict(shape), scale=1.0)
    nodes = potential.tail * _NODES
    sd = np.exp(_RATIOS)[:, None]
    unit = np.hypot(sd, 1.0)
    y = unit * np.sinh(nodes)
    variance = np.broadcast_to(sd**2, y.shape)
    far = y > 1e4 * (sd + 1.0)  # there the noise alone counts, and its curvature
    first, second = potential.derivatives(y)
    log_p = potential.log_density(y) + np.log1p(np.where(far, 0.5 * variance * (second + first**2), 0.0))
    log_p[~far] = potential.tilted_moments(y[~far], variance[~far])[0]
    return RectBivariateSpline(_RATIOS, nodes, np.maximum(log_p, _LEAST) + np.log(unit))
