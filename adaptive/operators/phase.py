"""A phase map: (A u)_r = exp(i phase_r) u_r, so that an unknown that is nearly real stands for a complex image.

With half of the lines of k-space behind it (partial Fourier) a real unknown is determined: the conjugate symmetry that
an image with a phase does not have, its unknown has.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from adaptive.checks import finite
from adaptive.operators.diagonal import Diagonal

if TYPE_CHECKING:
    from adaptive.types import ArrayLike

__all__ = ["Phase"]


class Phase(Diagonal):
    """Multiplication with exp(i phase).

    Parameters
    ----------
    map : array (*shape) of float
        Radians, one per pixel.

    Attributes
    ----------
    map : array (*shape) of float
    entries : array of complex
        exp(i map).

    Raises
    ------
    ValueError
        If ``map`` is no array.

    Examples
    --------
    >>> Phase([0.0, np.pi / 2]).forward([1.0, 1.0]).round(12)
    array([1.+0.j, 0.+1.j])
    """

    def __init__(self, map: ArrayLike):
        phase = finite("map", map)
        if phase.ndim == 0 or phase.size == 0:
            raise ValueError(f"map must be an array of angles, one per pixel, got {map!r}.")
        super().__init__(np.exp(1j * phase))
        self.map = phase
        self._entries = {np.dtype(code): self.entries.astype(code) for code in "FD"}

    def _forward(self, u: np.ndarray) -> np.ndarray:
        return u * self._entries[np.result_type(u, np.complex64)]

    def _adjoint(self, v: np.ndarray) -> np.ndarray:
        return v * self._entries[np.result_type(v, np.complex64)].conj()

    def _normal(self, u: np.ndarray, weights: np.ndarray | None) -> np.ndarray:
        return u.copy() if weights is None else u * weights
