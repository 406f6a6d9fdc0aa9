"""Orthonormal wavelets: W u in d dimensions, W W^T = W^T W = I, periodic at the borders.

Each level splits every axis of the low-pass corner into a low and a high half; the coefficients keep the shape of the
image, packed as ``pywt.coeffs_to_array`` packs ``pywt.wavedecn(u, name, mode="periodization", level=level)``: the
coarsest approximation in the first corner. The adjoint is the inverse.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

import numpy as np
import pywt

from adaptive.checks import choice, integer
from adaptive.operators.base import Operator
from adaptive.operators.shapes import image_shape, plain

__all__ = ["Wavelet"]

CHUNK = 2**19  # bytes of images transformed together: what stays in a core's cache


class Wavelet(Operator):
    """Orthonormal wavelet transform, any number of dimensions, periodic.

    Parameters
    ----------
    shape : int or tuple of int
        Shape of an image; every axis must be divisible by ``2**level``.
    name : str, default "db2"
        An orthonormal wavelet of PyWavelets ("haar", "db4", "sym8", "coif2", ...). "db2" has four taps.
    level : int, optional
        Number of levels; default: as many as the divisibility of the axes allows while every split axis is at least as
        long as the filter.

    Raises
    ------
    ValueError
        For an axis that cannot be halved ``level`` times, and for wavelets that are unknown or not orthonormal.

    References
    ----------
    Mallat, S. (2009). A Wavelet Tour of Signal Processing, 3rd edition, section 7.3.

    Examples
    --------
    >>> W = Wavelet((4, 4), "haar", level=2)
    >>> W.forward(np.ones((4, 4))).round(12) + 0.0
    array([[4., 0., 0., 0.],
           [0., 0., 0., 0.],
           [0., 0., 0., 0.],
           [0., 0., 0., 0.]])
    """

    def __init__(self, shape: int | Sequence[int], name: str = "db2", level: int | None = None):
        shape = image_shape("shape", shape)
        self.name = choice("name", name, pywt.wavelist(kind="discrete"))
        wavelet = pywt.Wavelet(name)
        low, high = np.array(wavelet.dec_lo[::-1]), np.array(wavelet.dec_hi[::-1])
        if not _orthonormal(low, high):
            raise ValueError(f"name must be an orthonormal wavelet ('haar', 'db4', 'sym8', ...), {name!r} is not.")
        self.level = _depth(shape, name, len(low)) if level is None else integer("level", level, minimum=1)
        for axis, length in enumerate(shape):
            if length % 2**self.level:
                wanted = f"divisible by 2^{self.level} for {self.level} levels"
                raise ValueError(f"shape must have axes {wanted}, got {length} on axis {axis} of {shape}.")
        super().__init__(shape, shape)
        self._shapes = [tuple(length // 2**depth for length in shape) for depth in range(self.level + 1)]
        self._corners = [_corner(one) for one in self._shapes]
        self._filters = {np.dtype(code): (low.astype(code), high.astype(code)) for code in "fd"}

    def _forward(self, u: np.ndarray) -> np.ndarray:
        return self._by_chunks(u, self._analyse)

    def _adjoint(self, v: np.ndarray) -> np.ndarray:
        return self._by_chunks(v, self._synthesise)

    def _normal(self, u: np.ndarray, weights: np.ndarray | None) -> np.ndarray:
        if weights is None:
            return u.copy()

        def fused(image: np.ndarray, out: np.ndarray) -> None:
            coefficients = np.empty_like(image)
            self._analyse(image, coefficients)
            coefficients *= weights
            self._synthesise(coefficients, out)

        return self._by_chunks(u, fused)

    def _by_chunks(self, array: np.ndarray, task: Callable[[np.ndarray, np.ndarray], None]) -> np.ndarray:
        """A few images at a time, all levels of them while they are in the cache."""
        array = plain(array)
        out = np.empty_like(array)
        step = max(1, CHUNK // (self.shape[1] * array.itemsize))
        for start in range(0, len(array), step):
            task(array[start : start + step], out[start : start + step])
        return out

    def _analyse(self, u: np.ndarray, out: np.ndarray) -> None:
        from adaptive.operators.compiled_wavelet import split  # here, since compiling begins with the import of numba

        block, out = _numbers(u), _numbers(out)
        filters, last = self._filters[block.dtype], len(self.input_shape) - 1
        for depth in range(self.level):
            for axis, (n, inner) in enumerate(self._strides(depth, block)):
                target = out if depth == 0 and axis == last else np.empty_like(block)
                split(block.reshape(-1), target.reshape(-1), n, inner, *filters)
                block = target
            if depth > 0:
                out[self._corners[depth]] = block
            block = np.ascontiguousarray(out[self._corners[depth + 1]])

    def _synthesise(self, v: np.ndarray, out: np.ndarray) -> None:
        from adaptive.operators.compiled_wavelet import merge

        v, out = _numbers(v), _numbers(out)
        filters = self._filters[v.dtype]
        block: Any = None
        for depth in range(self.level - 1, -1, -1):
            coefficients = v[self._corners[depth]].copy()
            if block is not None:  # what the coarser levels gave takes the place of their coefficients
                coefficients[self._corners[depth + 1]] = block
            block = coefficients
            strides = self._strides(depth, block)
            for axis in range(len(strides) - 1, -1, -1):
                target = out if depth == 0 and axis == 0 else np.empty_like(block)
                merge(block.reshape(-1), target.reshape(-1), *strides[axis], *filters)
                block = target

    def _strides(self, depth: int, block: np.ndarray) -> list[tuple[int, int]]:
        """Return every axis' length at a depth, and the number of entries between neighbours."""
        shape, numbers = self._shapes[depth], block.shape[-1]
        return [(n, numbers * math.prod(shape[axis + 1 :])) for axis, n in enumerate(shape)]

    def bands(self) -> list[tuple[Any, np.ndarray]]:
        return self._bands

    @cached_property
    def _bands(self) -> list[tuple[Any, np.ndarray]]:
        # Coarse to fine: the low-pass corner, then every level's mixtures of low and high halves.
        corner = [length // 2**self.level for length in self.input_shape]
        indices = [tuple(slice(0, length) for length in corner)]
        for level in range(self.level, 0, -1):
            half = [length // 2**level for length in self.input_shape]
            mixtures = [high for high in itertools.product([0, 1], repeat=len(half)) if any(high)]
            indices += [tuple(slice(h * m, (h + 1) * m) for h, m in zip(high, half, strict=True)) for high in mixtures]
        return self._bands_at(indices)


def _numbers(images: np.ndarray) -> np.ndarray:
    """Contiguous images as real numbers along a new last axis: one, or the two parts of a complex one."""
    return images.view(images.real.dtype).reshape(*images.shape, -1)


def _corner(shape: tuple[int, ...]) -> tuple[slice, ...]:
    """Index of the first corner of this shape, of every image of a batch."""
    return (slice(None), *[slice(length) for length in shape])


def _orthonormal(low: np.ndarray, high: np.ndarray) -> bool:
    """Are the filters and their even shifts orthonormal, to the accuracy of tabulated coefficients?"""
    taps = len(low)
    if taps % 2 or len(high) != taps:
        return False
    unit = np.zeros(taps)
    unit[0] = 1
    for p, q, wanted in ((low, low, unit), (high, high, unit), (low, high, 0 * unit)):
        # full correlation, lags 0, 2, 4, ... to both sides
        if np.abs(np.correlate(p, q, "full")[taps - 1 :: 2] - wanted[: (taps + 1) // 2]).max() > 1e-7:
            return False
    return True


def _depth(shape: tuple[int, ...], name: str, taps: int) -> int:
    """Return the number of times that all axes can be halved while each is at least as long as the filter."""
    for axis, length in enumerate(shape):
        if length % 2 or length < taps:
            wanted = f"even axes of at least {taps} for the wavelet {name!r}"
            raise ValueError(f"shape must have {wanted} (or give level), got {length} on axis {axis} of {shape}.")
    level = 0
    while all(length % 2 ** (level + 1) == 0 and length // 2**level >= taps for length in shape):
        level += 1
    return level
