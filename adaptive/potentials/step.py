"""Step constraint T(s) = 1 where s > offset, else 0: an ordering such as "the first is larger than the second"."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from adaptive import checks
from adaptive.potentials.base import Potential
from adaptive.potentials.truncated_gaussian import truncated_moments

if TYPE_CHECKING:
    from adaptive.types import ArrayLike, Number

__all__ = ["Step"]


class Step(Potential):
    """T(s) = 1{s > offset}.

    Parameters
    ----------
    offset : float or array (q,), default 0
        Where the step is.

    Raises
    ------
    ValueError
        If ``offset`` is not finite.

    References
    ----------
    Hennig (2010), appendix B: rank-one EP for polyhedral probabilities.

    Examples
    --------
    >>> from adaptive.potentials import Step
    >>> float(np.exp(Step().tilted_moments(0.0, 1.0)[0]).round(12))
    0.5
    """

    offset: Number
    smooth = False

    def __init__(self, offset: ArrayLike = 0.0):
        self._set(offset=checks.finite("offset", offset))

    @property
    def support(self) -> tuple[Number, Number]:  # type: ignore[override]
        return self.offset, np.inf

    def log_density(self, s: ArrayLike, y: ArrayLike | None = None) -> np.ndarray:
        return np.where(np.asarray(s, dtype=float) > self.offset, 0.0, -np.inf)

    def derivatives(self, s: ArrayLike, y: ArrayLike | None = None) -> tuple[np.ndarray, np.ndarray]:
        inside = np.asarray(s, dtype=float) > self.offset
        return np.where(inside, 0.0, np.inf), np.where(inside, 0.0, -np.inf)

    def third_derivative(self, s: ArrayLike, y: ArrayLike | None = None) -> np.ndarray:
        return np.zeros(np.broadcast_shapes(np.shape(s), np.shape(self.offset)))

    def _expectation(self, mean: np.ndarray, variance: np.ndarray) -> np.ndarray:
        return np.where((variance == 0) & (mean > self.offset), 0.0, -np.inf)

    def _tilted_moments(
        self, mean: np.ndarray, variance: np.ndarray, fraction: float
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        log_mass, centre, spread = truncated_moments(mean - self.offset, variance)
        return log_mass, centre + self.offset, spread
