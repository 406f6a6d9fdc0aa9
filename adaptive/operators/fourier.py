"""Fourier samples: y = S F u, with F_kx = exp(-2 pi i (k - c)(x - c) / N) / sqrt(N), c = N // 2, along every axis.

The transform is centred and orthonormal: line index 0 is frequency -N/2, index N // 2 is frequency zero, and all rows
have unit length. The samples of a mask come in C order; those of lines in the order of the lines, one line after the
other. The normal operator F^H S^T W S F is a periodic convolution, so that shifts cancel: whole lines need a transform
along their own axis only, and a real unknown half of the spectrum of a mask made symmetric.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np
import scipy.fft

from adaptive.checks import integer
from adaptive.operators.base import Operator
from adaptive.operators.fourier_filter import apply_filter, uncentred
from adaptive.operators.shapes import image_shape

if TYPE_CHECKING:
    from adaptive.types import ArrayLike

__all__ = ["FourierLines", "FourierMask"]


class FourierMask(Operator):
    """Samples of the centred orthonormal Fourier transform where a mask is true.

    Parameters
    ----------
    shape : int or tuple of int
        Shape of an image.
    mask : array of bool, of that shape
        Which frequencies are measured.

    Raises
    ------
    ValueError
        If the mask is no array of booleans of this shape, or true nowhere.

    Examples
    --------
    >>> F = FourierMask(4, [False, True, True, False])
    >>> np.abs(F.forward([1.0, 1.0, 1.0, 1.0])).round(12)  # frequency zero is at index 2
    array([0., 2.])
    """

    def __init__(self, shape: int | Sequence[int], mask: ArrayLike):
        shape = image_shape("shape", shape)
        mask = np.asarray(mask)
        if mask.shape != shape or not (
            mask.dtype == bool or (mask.dtype.kind in "iuf" and np.isin(mask, (0, 1)).all())
        ):
            raise ValueError(
                f"mask must be an array of booleans of shape {shape}, got {mask.dtype} of shape {mask.shape}."
            )
        mask = mask.astype(bool)
        if not mask.any():
            raise ValueError("mask must be true somewhere, got no sample at all.")
        self.mask = mask
        self._positions = np.flatnonzero(mask)
        self._kept: dict[np.dtype, np.ndarray] = {}  # spectra of the normal operator without weights
        super().__init__(shape, (len(self._positions),), complex)

    def _forward(self, u: np.ndarray) -> np.ndarray:
        return _transform(u, range(1, u.ndim)).reshape(len(u), -1)[:, self._positions]

    def _adjoint(self, v: np.ndarray) -> np.ndarray:
        spectrum = np.zeros((len(v), self.shape[1]), np.result_type(v, np.complex64))
        spectrum[:, self._positions] = v
        spectrum = spectrum.reshape(len(v), *self.input_shape)
        return _back(spectrum, range(1, spectrum.ndim))

    def _normal(self, u: np.ndarray, weights: np.ndarray | None) -> np.ndarray:
        spectrum = self._kept.get(u.dtype) if weights is None else None
        if spectrum is None:
            centred = np.zeros(self.input_shape, u.real.dtype)
            centred[self.mask] = 1 if weights is None else weights
            spectrum = uncentred(centred, symmetric=u.dtype.kind != "c")
        if weights is None:
            self._kept[u.dtype] = spectrum
        return apply_filter(u, spectrum, range(len(self.input_shape)))

    def normal_spectrum(self, weights: ArrayLike | None = None) -> np.ndarray:
        spectrum = np.zeros(self.input_shape)
        spectrum[self.mask] = 1.0 if weights is None else self._weights(weights, float)
        return scipy.fft.ifftshift(spectrum)


class FourierLines(Operator):
    """Whole lines of the centred orthonormal Fourier transform: what a Cartesian scanner measures.

    Parameters
    ----------
    shape : int or tuple of int
        Shape of an image.
    lines : sequence of int
        Indices along ``axis`` (0 is frequency -N/2, N // 2 is frequency zero), each once, in the order of the samples.
    axis : int, default 0
        The axis along which lines are chosen (phase encodes); the others are read out completely.

    Attributes
    ----------
    lines : array (m,) of int
        The lines, as given.
    mask : array of bool, of shape ``shape``
        True where a frequency is measured.

    Raises
    ------
    ValueError
        If ``axis`` is none of the image's, or a line is none of its frequencies.

    Notes
    -----
    An output has the shape (number of lines, *the other axes).

    Examples
    --------
    >>> F = FourierLines((4, 4), [2])  # the central line: the sums along axis 0, transformed
    >>> np.abs(F.forward(np.ones((4, 4))))
    array([[0., 0., 4., 0.]])
    """

    def __init__(self, shape: int | Sequence[int], lines: ArrayLike, axis: int = 0):
        shape = image_shape("shape", shape)
        axis = integer("axis", axis)
        if not -len(shape) <= axis < len(shape):
            raise ValueError(f"axis must be between 0 and {len(shape) - 1} for an image of shape {shape}, got {axis}.")
        self.axis = axis % len(shape)
        self.lines = _checked_lines(lines, shape[self.axis], self.axis)
        self._kept: dict[np.dtype, np.ndarray] = {}  # spectra of the normal operator without weights
        others = shape[: self.axis] + shape[self.axis + 1 :]
        super().__init__(shape, (len(self.lines), *others), complex)

    @property
    def mask(self) -> np.ndarray:
        mask = np.zeros(self.input_shape, bool)  # made when asked for: pools hold many single lines
        np.moveaxis(mask, self.axis, 0)[self.lines] = True
        return mask

    def _forward(self, u: np.ndarray) -> np.ndarray:
        picked = np.moveaxis(_transform(u, [1 + self.axis]), 1 + self.axis, 1)[:, self.lines]
        return _transform(picked, range(2, picked.ndim))

    def _adjoint(self, v: np.ndarray) -> np.ndarray:
        length = self.input_shape[self.axis]
        spectrum = np.zeros((len(v), length, *v.shape[2:]), np.result_type(v, np.complex64))
        spectrum[:, self.lines] = _back(v, range(2, v.ndim))
        return np.ascontiguousarray(_back(np.moveaxis(spectrum, 1, 1 + self.axis), [1 + self.axis]))

    def _normal(self, u: np.ndarray, weights: np.ndarray | None) -> np.ndarray:
        if weights is None:
            if u.dtype not in self._kept:
                self._kept[u.dtype] = self._spectrum_along(u, np.ones(1, u.real.dtype))
            return apply_filter(u, self._kept[u.dtype], [self.axis])
        if not any(weights.strides[1:]):  # the same weight all along a line: one axis is enough
            return apply_filter(u, self._spectrum_along(u, weights.reshape(len(weights), -1)[:, 0]), [self.axis])
        spectrum = np.zeros(self.input_shape, u.real.dtype)
        np.moveaxis(spectrum, self.axis, 0)[self.lines] = weights
        return apply_filter(u, uncentred(spectrum, symmetric=u.dtype.kind != "c"), range(len(self.input_shape)))

    def _spectrum_along(self, u: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """One weight per line, as a spectrum of shape (1, ..., N, ..., 1)."""
        spectrum = np.zeros(self.input_shape[self.axis], u.real.dtype)
        spectrum[self.lines] = weights
        others = [axis for axis in range(len(self.input_shape)) if axis != self.axis]
        return np.expand_dims(uncentred(spectrum, symmetric=u.dtype.kind != "c"), others)

    def normal_spectrum(self, weights: ArrayLike | None = None) -> np.ndarray:
        spectrum = np.zeros(self.input_shape)
        np.moveaxis(spectrum, self.axis, 0)[self.lines] = 1.0 if weights is None else self._weights(weights, float)
        return scipy.fft.ifftshift(spectrum)


def _checked_lines(lines: ArrayLike, length: int, axis: int) -> np.ndarray:
    array = np.asarray(lines)
    if array.ndim != 1 or array.size == 0 or array.dtype.kind not in "iu":
        raise ValueError(
            f"lines must be a list of one or more integers, got {type(lines).__name__} of shape {array.shape}."
        )
    outside = array[(array < 0) | (array >= length)]
    if outside.size:
        raise ValueError(f"lines must be between 0 and {length - 1} (the length of axis {axis}), got {outside[0]}.")
    values, counts = np.unique(array, return_counts=True)
    if (counts > 1).any():
        raise ValueError(f"lines must be given once each, got line {values[counts > 1][0]} {counts.max()} times.")
    return array.astype(np.intp)


def _transform(u: np.ndarray, axes: Iterable[int]) -> np.ndarray:
    """Centred orthonormal transform along ``axes``."""
    axes = list(axes)
    if not axes:
        return u
    return scipy.fft.fftshift(scipy.fft.fftn(scipy.fft.ifftshift(u, axes), axes=axes, norm="ortho"), axes)


def _back(v: np.ndarray, axes: Iterable[int]) -> np.ndarray:
    """The inverse and adjoint of ``_transform``."""
    axes = list(axes)
    if not axes:
        return v
    return scipy.fft.fftshift(scipy.fft.ifftn(scipy.fft.ifftshift(v, axes), axes=axes, norm="ortho"), axes)
