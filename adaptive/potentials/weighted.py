"""Potentials to a power, one per row:  T_j(s)^w_j, which counts the row w_j times.

A Gaussian bound of T^w is w times one of T in the exponent: its width is that of T over w, its height w h(w g).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from operator import attrgetter
from typing import TYPE_CHECKING, Any

import numpy as np

from adaptive.checks import positive
from adaptive.potentials.base import Potential
from adaptive.potentials.sharing import MEMBERS

if TYPE_CHECKING:
    from adaptive.types import ArrayLike, Index, Number

__all__ = ["Weighted"]


class Weighted(Potential):
    """Log-concave potentials with weights; what is not written here is as :mod:`adaptive.potentials.sharing` says.

    Parameters
    ----------
    potential : Potential
        Of q rows, or a scalar one.
    weights : array (q,), > 0

    Examples
    --------
    >>> from adaptive.potentials import BernoulliLogit
    >>> twice = Weighted(BernoulliLogit([1.0, -1.0]), [2.0, 0.5])
    >>> bool(np.allclose(twice.log_density([0.0, 0.0]), np.log([0.25, 0.5**0.5])))
    True
    """

    size: int
    weights: np.ndarray

    def __init__(self, potential: Potential, weights: ArrayLike) -> None:
        weights = positive("weights", np.atleast_1d(weights))
        if not np.all(potential.log_concave):
            raise ValueError(f"weights go with log-concave potentials, got {potential.name}.")
        self.potential, self.weights = potential.expand(len(weights)), weights
        self.size = len(weights)

    @property
    def name(self) -> str:
        return f"weighted {self.potential.name}"

    @property
    def parameters(self) -> dict[str, Any]:
        return self.potential.parameters | {"weights": self.weights}

    @property
    def tilt(self) -> np.ndarray:  # type: ignore[override]
        return self.weights * self.potential.tilt

    def __getitem__(self, rows: Index) -> Weighted:
        return Weighted(self.potential[rows], self.weights[rows])

    def expand(self, size: int) -> Weighted:
        return Weighted(self.potential.expand(size), self.weights)

    def gaussian_moments(self) -> tuple[Number, Number] | None:
        moments = self.potential.gaussian_moments()
        return None if moments is None else (moments[0], moments[1] / self.weights)

    def log_density(self, s: ArrayLike, y: ArrayLike | None = None) -> np.ndarray:
        return self.weights * self.potential.log_density(s, y)

    def derivatives(self, s: ArrayLike, y: ArrayLike | None = None) -> tuple[np.ndarray, np.ndarray]:
        first, second = self.potential.derivatives(s, y)
        return self.weights * first, self.weights * second

    def tilted_moments(
        self, mean: ArrayLike, variance: ArrayLike, fraction: Number = 1.0
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the moments of T_j(s)^(fraction w_j) N(s | mean, variance); ``fraction`` may differ between rows."""
        q = len(self.weights)
        powers = np.broadcast_to(np.round(np.multiply(fraction, self.weights), 12), (q,))
        mean, variance = (np.broadcast_to(np.asarray(a, dtype=float), (q,)) for a in (mean, variance))
        found = np.empty((3, q))
        for power in np.unique(powers):
            rows = np.flatnonzero(powers == power)
            found[:, rows] = self.potential[rows]._tilted_moments(mean[rows], variance[rows], float(power))
        return found[0], found[1], found[2]

    # ----------------------------------------------------------------------------------------------- the Gaussian bound
    def tight_width(self, s: ArrayLike) -> np.ndarray:
        return self.potential.tight_width(s) / self.weights

    def height(self, width: ArrayLike) -> np.ndarray:
        return self.weights * self.potential.height(np.multiply(self.weights, width))

    def height_derivatives(self, width: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
        first, second = self.potential.height_derivatives(np.multiply(self.weights, width))
        return self.weights**2 * first, self.weights**3 * second

    def inner(
        self, s: ArrayLike, z1: ArrayLike = 0.0, z2: ArrayLike = 0.0, z3: ArrayLike = 0.0
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        w = self.weights
        value, first, second, width = self.potential.inner(s, np.divide(z1, w**2), z2, np.divide(z3, w))  # in G = w g
        return w * value + np.multiply(0.5, z3) * np.log(w), w * first, w * second, width / w


# ---------------------------------------------------------------------------------------- what the list of members says
def _times(name: str) -> Callable[..., Any]:
    @wraps(getattr(Potential, name))
    def method(self: Weighted, *arguments: ArrayLike, **named: ArrayLike) -> Any:
        found = getattr(self.potential, name)(*arguments, **named)
        return tuple(self.weights * part for part in found) if isinstance(found, tuple) else self.weights * found

    return method


for _name, _member in MEMBERS.items():
    if _member.weighted == "same":
        setattr(Weighted, _name, property(attrgetter(f"potential.{_name}")))
    elif _member.weighted == "times":
        setattr(Weighted, _name, _times(_name))
