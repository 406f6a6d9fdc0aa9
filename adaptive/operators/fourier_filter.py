"""Filters in the Fourier domain: F^H diag(spectrum) F u, the circulant matrices.

The normal operators of Fourier samples and of periodic convolutions are of this kind. Where the centre of an image
stands does not matter: shifts cancel.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import scipy.fft

from adaptive.operators.shapes import plain

__all__ = ["apply_filter", "uncentred"]

_COMPLEX = {"f": np.complex64, "d": np.complex128}


def apply_filter(u: np.ndarray, spectrum: np.ndarray, axes: Sequence[int]) -> np.ndarray:
    """F^H diag(spectrum) F u along ``axes``.

    Parameters
    ----------
    u : array (batch, *shape)
        Real or complex, single or double precision.
    spectrum : real array, broadcasting to ``shape``
        Not centred (frequency zero first). For real ``u`` symmetric, spectrum[-k] = spectrum[k], so that the result is
        real.
    axes : sequence of int
        Axes of ``shape`` along which the spectrum varies.

    Examples
    --------
    >>> u = np.array([[1.0, 0.0, 0.0, 0.0]])
    >>> apply_filter(u, np.array([1.0, 0.0, 0.0, 0.0]), [0])  # only the mean stays
    array([[0.25, 0.25, 0.25, 0.25]])
    """
    along = [axis + 1 for axis in axes]
    if u.dtype.kind == "c":
        v = scipy.fft.fftn(u, axes=along)
        v *= spectrum
        return scipy.fft.ifftn(v, axes=along, overwrite_x=True)
    last = u.ndim - 1
    if last not in along and u.shape[last] % 2 == 0:
        # a real filter treats real and imaginary parts alike: neighbours on another axis travel as one complex number
        return apply_filter(plain(u).view(_COMPLEX[u.dtype.char]), spectrum, axes).view(u.dtype)
    half = [slice(None)] * spectrum.ndim
    half[axes[-1]] = slice(u.shape[along[-1]] // 2 + 1)
    v = scipy.fft.rfftn(u, axes=along)
    v *= spectrum[tuple(half)]
    return scipy.fft.irfftn(v, s=[u.shape[axis] for axis in along], axes=along, overwrite_x=True)


def uncentred(spectrum: np.ndarray, symmetric: bool) -> np.ndarray:
    """Frequency zero first; with ``symmetric`` also the symmetric part, (spectrum[k] + spectrum[-k]) / 2.

    The symmetric part is what a spectrum does to a real unknown: Re(F^H diag(spectrum) F).

    Examples
    --------
    >>> uncentred(np.array([4.0, 1.0, 0.0, 3.0]), symmetric=True)  # frequencies -2, -1, 0, 1
    array([0., 2., 4., 2.])
    """
    spectrum = scipy.fft.ifftshift(spectrum)
    if symmetric:
        spectrum = (spectrum + np.roll(np.flip(spectrum), 1, tuple(range(spectrum.ndim)))) / 2
    return spectrum
