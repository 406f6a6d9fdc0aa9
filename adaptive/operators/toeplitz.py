"""Toeplitz matrices on images: (T u)_r = sum_r' t_(r - r') u_r', by a transform of twice the length along every axis.

The normal operator X^H W X of Fourier samples anywhere in k-space is of this kind, with the point-spread function
t_d = sum_j w_j exp(i k_j.d) / n. Zero-padded to twice its length an image meets no copy of itself, so that a Toeplitz
matrix is a corner of a circulant one. Half of every padded array is zero, going in, or thrown away, coming out: the
axes are transformed one after the other, and what is known to be zero or not wanted is left out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.fft

from adaptive.operators.base import Operator
from adaptive.operators.shapes import image_shape

if TYPE_CHECKING:
    from adaptive.types import ArrayLike

__all__ = ["Toeplitz", "closest_circulant"]

CHUNK_BYTES = 2**22  # of padded images transformed at once: more do not stay in the cache


class Toeplitz(Operator):
    """A Hermitian Toeplitz matrix on images.

    Parameters
    ----------
    kernel : array, every axis of even length 2 N
        t_d for the lags d = 0, ..., N - 1, -N, ..., -1 along every axis (the order of ``numpy.fft``), with
        t_(-d) = conj(t_d). What stands at a lag of -N is not used.

    Attributes
    ----------
    spectrum : array, of the shape of the kernel
        Its transform, real: eigenvalues of the circulant matrix in which this one is a corner.

    Raises
    ------
    ValueError
        If the kernel is not of even length along every axis.

    Notes
    -----
    A real array is a real unknown, as in `Operator.normal`: the real part of the matrix is applied.

    References
    ----------
    Wajer, F. and Pruessmann, K. (2001), Major speedup of reconstruction for sensitivity encoding with arbitrary
    trajectories.

    Examples
    --------
    >>> T = Toeplitz([2.0, 1.0, 0.0, 0.0, 0.0, 1.0])  # lags 0, 1, 2, -3, -2, -1
    >>> T.to_dense()
    array([[2., 1., 0.],
           [1., 2., 1.],
           [0., 1., 2.]])
    """

    def __init__(self, kernel: ArrayLike):
        kernel = np.array(kernel)
        doubled = image_shape("shape of the kernel", kernel.shape)
        if any(length % 2 for length in doubled):
            raise ValueError(f"kernel must have an even length 2 N along every axis, got shape {doubled}.")
        shape = tuple(length // 2 for length in doubled)
        for axis, length in enumerate(shape):
            np.moveaxis(kernel, axis, 0)[length] = 0  # lag -N has no partner +N: without it the spectrum is real
        self.spectrum = scipy.fft.fftn(kernel).real
        self._spectra: dict[np.dtype, np.ndarray] = {}
        super().__init__(shape, shape, complex if kernel.dtype.kind == "c" else float)

    def _forward(self, u: np.ndarray) -> np.ndarray:
        if u.dtype.kind != "c" and self.dtype.kind == "c":
            u = u.astype(np.result_type(u, np.complex64))
        return self.apply(u)

    def _adjoint(self, v: np.ndarray) -> np.ndarray:
        return self._forward(v)

    def apply(self, u: np.ndarray) -> np.ndarray:
        """T u for ``u`` of shape (batch, *input_shape); Re(T) u where ``u`` is real."""
        real = u.dtype.kind != "c"
        spectrum = self._spectrum_for(u.dtype)
        result = np.empty(u.shape, u.dtype)
        step = max(1, CHUNK_BYTES // (2**self.spectrum.ndim * u[:1].nbytes)) if u.size else 1
        for first in range(0, len(u), step):
            part = slice(first, first + step)
            result[part] = self._filtered(u[part], spectrum, real)
        return result

    def _filtered(self, u: np.ndarray, spectrum: np.ndarray, real: bool) -> np.ndarray:
        last, doubled = u.ndim - 1, (1, *self.spectrum.shape)
        v = (scipy.fft.rfft if real else scipy.fft.fft)(u, doubled[last], axis=last)
        for axis in range(last - 1, 0, -1):
            v = scipy.fft.fft(v, doubled[axis], axis=axis)
        v *= spectrum
        for axis in range(1, last):
            v = scipy.fft.ifft(v, axis=axis, overwrite_x=True)
            v = v[(slice(None),) * axis + (slice(self.input_shape[axis - 1]),)]
        v = (scipy.fft.irfft if real else scipy.fft.ifft)(v, doubled[last], axis=last)
        return v[..., : self.input_shape[-1]]

    def _spectrum_for(self, dtype: np.dtype) -> np.ndarray:
        """In the precision of the unknown; for a real one the even part, on the frequencies of ``rfftn``."""
        if dtype not in self._spectra:
            spectrum = self.spectrum
            if dtype.kind != "c":
                spectrum = (spectrum + np.roll(np.flip(spectrum), 1, tuple(range(spectrum.ndim)))) / 2
                spectrum = spectrum[..., : self.input_shape[-1] + 1]
            self._spectra[dtype] = np.ascontiguousarray(spectrum, dtype.type(0).real.dtype)
        return self._spectra[dtype]

    def circulant_between(self, entries: np.ndarray) -> np.ndarray:
        """diag(F D^H T D F^H) for D = diag(entries), in the order of ``numpy.fft``."""
        return closest_circulant(self.spectrum, entries)

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_spectra": {}}


def closest_circulant(spectrum: np.ndarray, entries: np.ndarray) -> np.ndarray:
    """diag(F D^H C D F^H) for D = diag(entries) and a circulant C, or the Toeplitz matrix in a corner of it.

    Parameters
    ----------
    spectrum : real array
        Eigenvalues of C in the order of ``numpy.fft``; of the shape of ``entries``, or twice as long along every axis:
        then the Toeplitz matrix on the first half of every axis is meant.
    entries : array (..., *shape)
        Sums over the leading axes (coils) are taken.

    Returns
    -------
    array (*shape)

    References
    ----------
    Chan (1988), An optimal circulant preconditioner for Toeplitz systems.
    """
    shape = entries.shape[-spectrum.ndim :]
    power: Any = 0.0
    for each in entries.reshape(-1, *shape):  # coil after coil: their spectra need no memory together
        power = power + np.abs(scipy.fft.fftn(each, spectrum.shape)) ** 2
    # t_d times the autocorrelation of the entries at that lag; lags that are equal modulo the length are added up
    lags = scipy.fft.ifftn(spectrum) * scipy.fft.ifftn(power).conj() / np.prod(shape)
    folds = [count for length, whole in zip(shape, spectrum.shape, strict=True) for count in (whole // length, length)]
    return scipy.fft.fftn(lags.reshape(folds).sum(axis=tuple(range(0, 2 * len(shape), 2)))).real
