"""The posterior's samples as images that coils see, their control variates, and what both have in common.

    images  s_c u,  control  s_c M^-1 g,      E F(s_c u) conj F(s_c M^-1 g) = F diag(s_c) M^-1 diag(s_c)^H F^H,

where M^-1 is circulant with the kernel t: at a frequency k that is (1/n) sum_d t_d a_c(d) exp(-i k.d), a_c the
autocorrelation of s_c. Computed once for a posterior, whatever is scored with it.
"""

from __future__ import annotations

import hashlib
from functools import cached_property

import numpy as np
import scipy.fft

from adaptive.inference import LargePosterior
from adaptive.operators import NonuniformFourier

__all__ = ["SeenImages", "seen_images"]


class SeenImages:
    """Images of posterior samples as the coils see them.

    Parameters
    ----------
    posterior : LargePosterior
        Over an image, or its real and imaginary part.
    shape : tuple of int
    sensitivity : array (*shape), (coils, *shape) or None
        What the unknown is multiplied with; one coil where it has no axis for them.
    """

    def __init__(self, posterior: LargePosterior, shape: tuple[int, ...], sensitivity: np.ndarray | None):
        # parts of the posterior, and not the posterior, which keeps this object: a circle would outlive its use
        self._samples, self._control, self._inverse = posterior.samples, posterior.control, posterior.inverse_circulant
        self.shape = shape
        self.complex = len(posterior.system.input_shape) > len(shape)
        given = np.ones(shape) if sensitivity is None else sensitivity
        self.sensitivity = given.reshape(-1, *shape)
        self._axes = tuple(range(-len(shape), 0))

    @property
    def n_coils(self) -> int:
        return len(self.sensitivity)

    @property
    def n_samples(self) -> int:
        return len(self._samples)

    @property
    def controlled(self) -> bool:
        """Presence of control variates."""
        return self._control is not None

    def samples(self, coil: int) -> np.ndarray:
        """Complex images (n_samples, *shape) that a coil sees."""
        return self._seen(self._samples, coil)

    def control(self, coil: int) -> np.ndarray | None:
        """The same of M^-1 g; None without a circulant M."""
        return None if self._control is None else self._seen(self._control, coil)

    def _seen(self, u: np.ndarray, coil: int) -> np.ndarray:
        whole = u[:, 0] + 1j * u[:, 1] if self.complex else u
        return np.asarray(whole * self.sensitivity[coil], np.result_type(u, np.complex64))

    @cached_property
    def power_on_grid(self) -> np.ndarray:
        """Covariance of samples and controls at the frequencies of the centred grid, (coils, *shape)."""
        kernel, power = scipy.fft.ifftn(self._spectrum), np.empty(self.sensitivity.shape)
        for c, one in enumerate(self.sensitivity):  # one after the other: they are in double precision
            lags = kernel * scipy.fft.ifftn(np.abs(scipy.fft.fftn(one)) ** 2)
            power[c] = scipy.fft.fftshift(scipy.fft.fftn(lags, norm="forward").real)
        return power

    def power_at(self, points: np.ndarray) -> np.ndarray:
        """The same at frequencies (m, d) anywhere, (coils, m): one transform of twice the size."""
        doubled = tuple(2 * side for side in self.shape)
        values = NonuniformFourier(doubled, points).forward(self._lags)
        return values.real * np.sqrt(np.prod(doubled)) / np.prod(self.shape)

    @cached_property
    def _lags(self) -> np.ndarray:
        """t_d a(d) for the lags -N <= d < N along every axis; none at -N."""
        doubled = tuple(2 * side for side in self.shape)
        power = np.abs(scipy.fft.fftn(self.sensitivity, doubled, axes=self._axes)) ** 2
        lags = scipy.fft.fftshift(scipy.fft.ifftn(power, axes=self._axes), self._axes)
        kernel = scipy.fft.ifftn(self._spectrum)
        for axis, side in enumerate(self.shape):
            kernel = np.take(kernel, np.arange(-side, side) % side, axis=axis)
            np.moveaxis(lags, 1 + axis, 0)[0] = 0
        return (kernel * lags).astype(np.result_type(self._samples, np.complex64))

    @property
    def _spectrum(self) -> np.ndarray:
        """Spectrum of M^-1 on the complex images, frequency zero first."""
        assert self._inverse is not None
        return scipy.fft.ifftshift(self._inverse.spectrum())


def seen_images(posterior: LargePosterior, shape: tuple[int, ...], sensitivity: np.ndarray | None) -> SeenImages:
    """`SeenImages`, one object for a posterior and a sensitivity, however often it is asked for."""
    content = None if sensitivity is None else hashlib.blake2b(sensitivity.tobytes(), digest_size=16).digest()
    return posterior.remember(("seen", content), lambda: SeenImages(posterior, shape, sensitivity))
