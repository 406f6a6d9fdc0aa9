"""Many coils as few virtual ones, which keep most of the energy: orthonormal sums, so that white noise stays so.

    virtual = A samples,    A = first n left singular vectors^H of the samples (coils, all of them)

"geometric" does so at every place along the read-out apart, where fewer coils see something, and turns neighbouring A
into each other, so that virtual coils stay smooth.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import scipy.fft

from adaptive.checks import choice, finite, integer

if TYPE_CHECKING:
    from adaptive.types import ArrayLike

__all__ = ["CompressedCoils", "compress_coils"]

_ENERGY = 0.99  # kept, where the number of coils is not given


class CompressedCoils(NamedTuple):
    """Result of `compress_coils`.

    Attributes
    ----------
    samples : ndarray (n, *shape), complex
    matrix : ndarray (n, coils), or (side of the read-out, n, coils) of the geometric ones
        With orthonormal rows; a noise covariance becomes ``matrix @ covariance @ matrix.conj().T``.
    energy : float
        Share of the samples' energy that is kept.

    Examples
    --------
    >>> found = compress_coils([[3.0, 3.0], [4.0, 4.0]])  # two coils that see the same
    >>> found.matrix.shape, round(found.energy, 6)
    ((1, 2), 1.0)
    """

    samples: np.ndarray
    matrix: np.ndarray
    energy: float


def compress_coils(
    samples: ArrayLike, n_coils: int | None = None, *, method: str = "svd", readout: int = -1
) -> CompressedCoils:
    """Compress many coils.

    Parameters
    ----------
    samples : array (coils, *shape), complex
        Centred orthonormal k-space, whitened where the noise depends between coils; zero where it was not measured.
    n_coils : int, optional
        Virtual coils; default: as few as keep 99% of the energy.
    method : {"svd", "geometric"}, default "svd"
    readout : int, default -1
        Axis of ``samples`` that is read out completely, along which the geometric ones change.

    Returns
    -------
    CompressedCoils

    Raises
    ------
    ValueError
        If samples are not finite or all zero, or more virtual coils are asked for than there are coils.

    References
    ----------
    Buehrer et al. (2007), Array compression for MRI with large coil arrays; Zhang, Pauly, Vasanawala and Lustig (2013),
    Coil compression for accelerated imaging with Cartesian sampling.

    Examples
    --------
    >>> from adaptive.images import simulate_coils
    >>> found = compress_coils(simulate_coils((16, 16), 8, random_state=0), 4)
    >>> found.samples.shape, found.energy > 0.9
    ((4, 16, 16), True)
    """
    array = finite("samples", samples, dtype=None)
    choice("method", method, ("svd", "geometric"))
    if array.ndim < 2 or not np.any(array):
        raise ValueError(f"samples must have shape (coils, *shape), not all zero, got shape {array.shape}.")
    coils = len(array)
    if n_coils is not None and not 1 <= integer("n_coils", n_coils) <= coils:
        raise ValueError(f"n_coils must be between 1 and {coils}, the coils that there are, got {n_coils}.")
    values, vectors = _principal(array.reshape(coils, -1))
    if n_coils is None:
        n_coils = 1 + int(np.searchsorted(np.cumsum(values) / values.sum(), _ENERGY))
    if method == "svd":
        matrix = vectors[:, :n_coils].conj().T
        virtual = np.tensordot(matrix.astype(array.dtype), array, 1)
    else:
        axis = readout % array.ndim
        if axis == 0:
            raise ValueError("readout must be an axis of the image; axis 0 of samples is that of the coils.")
        matrix, virtual = _geometric(array, vectors[:, :n_coils], axis)
    kept = np.linalg.norm(virtual) / np.linalg.norm(array)
    return CompressedCoils(virtual, matrix, min(1.0, float(kept) ** 2))


def _principal(flat: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Energies of the principal components of the coils, largest first, and the components as columns."""
    values, vectors = np.linalg.eigh(flat @ flat.conj().T)
    return np.maximum(values[::-1], 0.0), vectors[:, ::-1]


def _geometric(array: np.ndarray, middle: np.ndarray, axis: int) -> tuple[np.ndarray, np.ndarray]:
    """Components at every place along an axis, each turned to be as near as it can to the one before."""
    along = np.fft.ifftshift(array, axis)
    along = np.fft.fftshift(scipy.fft.ifft(along, axis=axis, norm="ortho"), axis)
    places = np.moveaxis(along, axis, 0)  # (side, coils, ...)
    n, (coils, n_coils) = len(places), middle.shape
    matrix = np.empty((n, n_coils, coils), complex)
    for steps in (range(n // 2, n), range(n // 2 - 1, -1, -1)):
        before = middle
        for k in steps:
            vectors = _principal(places[k].reshape(coils, -1))[1][:, :n_coils]
            u, _, vh = np.linalg.svd(vectors.conj().T @ before)
            before = vectors @ (u @ vh)  # the rotation within the components that brings them nearest
            matrix[k] = before.conj().T
            middle = before if k == n // 2 else middle
    virtual = np.stack(
        [np.tensordot(one.astype(array.dtype), place, 1) for one, place in zip(matrix, places, strict=True)]
    )
    virtual = np.fft.ifftshift(np.moveaxis(virtual, 0, axis), axis)
    return matrix, np.fft.fftshift(scipy.fft.fft(virtual, axis=axis, norm="ortho"), axis)
