"""Rows of an orthonormal transform as filters, none of them written out before it is taken."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from adaptive.operators import Operator
from designs.pool import LazyPool

if TYPE_CHECKING:
    from adaptive.types import ArrayLike, DType

__all__ = ["TransformRows"]


class TransformRows(LazyPool):
    """A pool of filters: chosen rows of a transform, in a given order.

    Parameters
    ----------
    transform : Operator
        Orthonormal: from images to as many coefficients.
    index : array (m,) of int
        Which coefficient each filter measures, in the flat order of the transform's output.

    Attributes
    ----------
    transform, index : as given
    shape : tuple of int
        Number of filters, number of pixels.

    Notes
    -----
    ``pool[3]``, ``pool.take([0, 3])`` and slices are plain rows; ``np.asarray(pool)`` all of them.

    Examples
    --------
    >>> from adaptive.operators import Wavelet
    >>> pool = TransformRows(Wavelet((2, 2), "haar"), [0, 3])
    >>> len(pool), pool[1], pool.labels([1])
    (2, array([ 0.5, -0.5, -0.5,  0.5]), [3])
    """

    def __init__(self, transform: Operator, index: ArrayLike):
        self.transform, self.index = transform, np.asarray(index, dtype=np.intp)
        self._length = len(self.index)
        self.shape = (self._length, transform.shape[1])

    def __getitem__(self, position: int | slice | ArrayLike) -> np.ndarray:
        if isinstance(position, (int, np.integer)):
            return super().__getitem__(int(position))
        if isinstance(position, slice):
            return self._entries(np.arange(self._length)[position])
        return self.take(position)

    def __array__(self, dtype: DType | None = None, copy: bool | None = None) -> np.ndarray:
        return self._entries(np.arange(self._length)).astype(float if dtype is None else dtype, copy=False)

    def _entries(self, positions: np.ndarray) -> np.ndarray:
        units = np.zeros((len(positions), self.transform.shape[0]))
        units[np.arange(len(positions)), self.index[positions]] = 1.0
        rows = self.transform.adjoint(units.reshape(-1, *self.transform.output_shape))
        return rows.reshape(len(positions), self.shape[1])

    def labels(self, positions: ArrayLike) -> list[int]:
        """Coefficients that the filters at ``positions`` measure."""
        return self.index[np.asarray(positions, dtype=np.intp)].tolist()

    def measure(self, image: ArrayLike) -> np.ndarray:
        """Measurements of all filters on ``image`` (..., *image shape) without noise, (..., m): one fast transform."""
        coefficients = self.transform.forward(image)
        axes = len(self.transform.output_shape)
        return coefficients.reshape(*coefficients.shape[:-axes], -1)[..., self.index]

    def _parts(self) -> list[Any]:
        described = {key: str(value) for key, value in vars(self.transform).items() if not key.startswith("_")}
        return [repr(self.transform), sorted(described.items()), self.index]
