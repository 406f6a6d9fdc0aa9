"""Periodic convolution: (K u)_x = sum_t kernel_t u_(x - t), by the fast Fourier transform.

The middle of the kernel (index length // 2 along each axis) is t = 0, as in ``scipy.ndimage.convolve(mode="wrap")``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import scipy.fft

from adaptive.checks import finite
from adaptive.operators.base import Operator
from adaptive.operators.fourier_filter import apply_filter
from adaptive.operators.shapes import image_shape

if TYPE_CHECKING:
    from adaptive.types import ArrayLike

__all__ = ["Convolution"]


class Convolution(Operator):
    """Convolution with a kernel, periodic at the borders.

    Parameters
    ----------
    shape : int or tuple of int
        Shape of an image.
    kernel : array (*shape)
        As many axes as the image, none longer; real or complex.

    Raises
    ------
    ValueError
        If the kernel has another number of axes than the image, or is longer.

    Examples
    --------
    >>> K = Convolution(4, [1.0, 2.0, 0.0])  # twice itself, and the right neighbour
    >>> K.forward([1.0, 0.0, 0.0, 10.0]).round(12)
    array([ 2.,  0., 10., 21.])
    """

    def __init__(self, shape: int | Sequence[int], kernel: ArrayLike):
        shape = image_shape("shape", shape)
        kernel = finite("kernel", kernel, dtype=None)
        fits = kernel.ndim == len(shape) and all(0 < k <= n for k, n in zip(kernel.shape, shape, strict=True))
        if not fits or kernel.dtype.kind not in "biufc":
            raise ValueError(f"kernel must have {len(shape)} axes, none longer than {shape}, got shape {kernel.shape}.")
        kind = np.dtype(complex if kernel.dtype.kind == "c" else float)
        padded = np.zeros(shape, kind)
        padded[tuple(slice(k) for k in kernel.shape)] = kernel
        padded = np.roll(padded, [-(k // 2) for k in kernel.shape], range(len(shape)))
        super().__init__(shape, shape, kind)
        self.kernel = kernel
        spectrum = scipy.fft.fftn(padded)
        self._spectrum: dict[np.dtype, np.ndarray] = {np.dtype(code): spectrum.astype(code) for code in "FD"}

    def _forward(self, u: np.ndarray) -> np.ndarray:
        return self._apply(u, conjugate=False)

    def _adjoint(self, v: np.ndarray) -> np.ndarray:
        return self._apply(v, conjugate=True)

    def _normal(self, u: np.ndarray, weights: np.ndarray | None) -> np.ndarray:
        if weights is not None or (self.dtype.kind == "c" and u.dtype.kind != "c"):
            return super()._normal(u, weights)
        spectrum = self._spectrum[np.result_type(u, np.complex64)]
        return apply_filter(u, spectrum.real**2 + spectrum.imag**2, range(len(self.input_shape)))

    def _pulled_back(self, spectrum: np.ndarray) -> np.ndarray:
        return spectrum * np.abs(self._spectrum[np.dtype("D")]) ** 2

    def normal_spectrum(self, weights: ArrayLike | None = None) -> np.ndarray:
        return self._pulled_back(np.array(1.0 if weights is None else self._weights(weights, float).mean()))

    def _apply(self, u: np.ndarray, conjugate: bool) -> np.ndarray:
        axes = range(1, u.ndim)
        spectrum = self._spectrum[np.result_type(u, np.complex64)]
        spectrum = spectrum.conj() if conjugate else spectrum
        if self.dtype.kind == "c" or u.dtype.kind == "c":
            return scipy.fft.ifftn(scipy.fft.fftn(u, axes=axes) * spectrum, axes=axes)
        half = spectrum[..., : u.shape[-1] // 2 + 1]
        return scipy.fft.irfftn(scipy.fft.rfftn(u, axes=axes) * half, s=u.shape[1:], axes=axes)
