"""Coil sensitivities: u -> (s_1 u, ..., s_c u), what the coils of a receiver see of one image.

With the same Fourier samples behind every coil the measurement is Product(Repeated(block, c), Coils(maps)), and its
normal operator sum_c S_c^H (X^H W X) S_c.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from adaptive.checks import finite
from adaptive.operators.base import Operator
from adaptive.operators.repeated import Repeated, alike
from adaptive.operators.toeplitz import closest_circulant

if TYPE_CHECKING:
    from collections.abc import Iterator

    from adaptive.types import ArrayLike

__all__ = ["Coils"]

CHUNK_BYTES = 2**22  # of coil images at once: more do not stay in the cache


class Coils(Operator):
    """An image seen through the sensitivity of every coil.

    Parameters
    ----------
    maps : array (c, *shape)
        Sensitivity of each of the c coils, real or complex, not zero everywhere.

    Attributes
    ----------
    maps : array (c, *shape)

    Raises
    ------
    ValueError
        If there is not one map of the image's shape for each coil, or the maps are zero everywhere.

    Notes
    -----
    Maps that are divided by the root of the sum of their squares (`adaptive.images.normalised_maps`) leave the scale
    of an image alone.

    References
    ----------
    Pruessmann, K., Weiger, M., Scheidegger, M., Boesiger, P. (1999), SENSE: sensitivity encoding for fast MRI.

    Examples
    --------
    >>> S = Coils([[1.0, 0.0, 0.5], [0.0, 1j, 0.5]])
    >>> S.forward([2.0, 3.0, 4.0])
    array([[2.+0.j, 0.+0.j, 2.+0.j],
           [0.+0.j, 0.+3.j, 2.+0.j]])
    >>> S.normal([1.0, 1.0, 1.0])
    array([1. , 1. , 0.5])
    """

    def __init__(self, maps: ArrayLike):
        maps = finite("maps", maps, dtype=None)
        if maps.ndim < 2 or maps.size == 0 or maps.dtype.kind not in "biufc":
            raise ValueError(
                f"maps must have shape (coils, *shape of the image), one map per coil, got {maps.dtype} of shape "
                f"{maps.shape}."
            )
        if maps.dtype.char not in "fdFD":
            maps = maps.astype(complex if maps.dtype.kind == "c" else float)
        if not maps.any():
            raise ValueError("maps are zero everywhere: no coil sees anything of the image.")
        super().__init__(maps.shape[1:], maps.shape, maps.dtype)
        self._maps: dict[np.dtype, np.ndarray] = {maps.dtype: maps}
        self.maps = maps

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_maps": {self.maps.dtype: self.maps}}

    def _maps_for(self, array: np.ndarray) -> np.ndarray:
        """The maps, real or complex as they are, in the precision of an array where theirs is higher."""
        if self.maps.real.dtype.itemsize <= array.real.dtype.itemsize:
            return self.maps  # products with the array are in its precision: no copy is kept for them
        kind = np.dtype(array.real.dtype.char.upper() if self.dtype.kind == "c" else array.real.dtype)
        if kind not in self._maps:
            self._maps[kind] = self.maps.astype(kind)
        return self._maps[kind]

    def _forward(self, u: np.ndarray) -> np.ndarray:
        return u[:, None] * self._maps_for(u)

    def _adjoint(self, v: np.ndarray) -> np.ndarray:
        return _combined(self._maps_for(v), v)

    def _normal(self, u: np.ndarray, weights: np.ndarray | None) -> np.ndarray:
        power = np.abs(self._maps_for(u)).astype(u.real.dtype, copy=False) ** 2
        return u * (power if weights is None else weights * power).sum(axis=0, dtype=power.dtype)

    # Behind the same operator for every coil: a few coils at a time, whose images stay in the cache.
    def _forward_behind(self, first: Operator, u: np.ndarray) -> np.ndarray:
        if not isinstance(first, Repeated):
            return super()._forward_behind(first, u)
        maps = self._maps_for(u)
        return np.concatenate([few._forward(u[:, None] * maps[rows]) for few, rows in self._coils(first, u)], axis=1)

    def _adjoint_behind(self, first: Operator, v: np.ndarray) -> np.ndarray:
        if not isinstance(first, Repeated):
            return super()._adjoint_behind(first, v)
        maps, result = self._maps_for(v), None
        for few, rows in self._coils(first, v[:, 0]):
            result = _combined(maps[rows], few._adjoint(v[:, rows]), result)
        return np.asarray(result)

    def _normal_behind(self, first: Operator, u: np.ndarray, weights: np.ndarray | None) -> np.ndarray:
        if not isinstance(first, Repeated):
            return super()._normal_behind(first, u, weights)
        maps, step = self._maps_for(u), max(1, CHUNK_BYTES // max(1, len(self.maps) * u[:1].nbytes))
        parts = []
        for part in (u[start : start + step] for start in range(0, len(u), step)):
            result = None
            for few, rows in self._coils(first, part):
                behind = few._normal(part[:, None] * maps[rows], None if weights is None else weights[rows])
                result = _combined(maps[rows], behind, result)
            parts.append(np.asarray(result))
        return np.concatenate(parts)

    def _coils(self, first: Repeated, images: np.ndarray) -> Iterator[tuple[Operator, slice]]:
        """The operator of a few coils, and which they are; ``images``: of one coil."""
        n = len(self.maps)
        step = n if n * images.nbytes < CHUNK_BYTES else max(1, CHUNK_BYTES // (4 * images.nbytes))
        for start in range(0, n, step):
            rows = slice(start, min(start + step, n))
            yield first if step >= n else Repeated(first.operator, rows.stop - rows.start), rows

    def normal_spectrum(self, weights: ArrayLike | None = None) -> np.ndarray:
        power = self._weights(1.0 if weights is None else weights, float) * np.abs(self.maps) ** 2
        return np.full(self.input_shape, power.sum(axis=0).mean())

    def _pulled_back(self, spectrum: np.ndarray) -> np.ndarray:
        # C acts on all coils together; the sum over its lags along their axis is what frequency zero there shows
        return len(self.maps) * closest_circulant(spectrum, self.maps)[0]

    def _spectrum_behind(self, first: Operator, weights: ArrayLike | None) -> np.ndarray | None:
        if not isinstance(first, Repeated):
            return super()._spectrum_behind(first, weights)
        spectra = first.spectra(weights)
        if spectra is None:
            return None
        if alike(spectra):
            return closest_circulant(spectra[0], self.maps)
        return np.sum([closest_circulant(one, s) for one, s in zip(spectra, self.maps, strict=True)], axis=0)


def _combined(maps: np.ndarray, v: np.ndarray, result: np.ndarray | None = None) -> np.ndarray:
    """sum_c conj(s_c) v_c, added to a result, which is overwritten."""
    for c, one in enumerate(maps):
        part = one.conj() * v[:, c]
        result = part if result is None else np.add(result, part, out=result)
    return np.asarray(result)
