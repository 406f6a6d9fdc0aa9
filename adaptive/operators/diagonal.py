"""A diagonal matrix: (A u)_i = d_i u_i."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from adaptive.checks import finite
from adaptive.operators.base import Operator
from adaptive.operators.toeplitz import closest_circulant

if TYPE_CHECKING:
    from adaptive.types import ArrayLike

__all__ = ["Diagonal"]


class Diagonal(Operator):
    """Multiplication entry by entry.

    Parameters
    ----------
    entries : array
        Real or complex; its shape is that of the inputs and outputs.

    Raises
    ------
    ValueError
        If the entries are no array.

    Examples
    --------
    >>> Diagonal([1.0, 2.0]).forward([5.0, 5.0])
    array([ 5., 10.])
    """

    def __init__(self, entries: ArrayLike):
        entries = finite("entries", entries, dtype=None)
        if entries.ndim == 0 or entries.size == 0 or entries.dtype.kind not in "biufc":
            raise ValueError(
                f"entries must be an array of one or more numbers, got {entries!r}; use Scaled for a number."
            )
        if entries.dtype.char not in "fdFD":
            entries = entries.astype(complex if entries.dtype.kind == "c" else float)
        super().__init__(entries.shape, entries.shape, entries.dtype)
        self.entries = entries

    def _forward(self, u: np.ndarray) -> np.ndarray:
        return u * self.entries

    def _adjoint(self, v: np.ndarray) -> np.ndarray:
        return v * self.entries.conj()

    def _pulled_back(self, spectrum: np.ndarray) -> np.ndarray:
        return closest_circulant(spectrum, self.entries)

    def _spectrum_behind(self, first: Operator, weights: ArrayLike | None) -> np.ndarray | None:
        spectrum = first._embedding(weights)
        return None if spectrum is None else closest_circulant(spectrum, self.entries)

    def normal_spectrum(self, weights: ArrayLike | None = None) -> np.ndarray:
        power = self._weights(1.0 if weights is None else weights, float) * np.abs(self.entries) ** 2
        return np.full(self.input_shape, power.mean())  # the closest circulant matrix is a multiple of the identity
