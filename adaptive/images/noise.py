"""Noise of k-space samples: its variance and its covariance between coils, per real component, and whitening.

    cov(n) = E[n n^H] / 2        for complex samples n of all coils whose real and imaginary parts are alike

The highest frequencies alone make an image that is noise wherever there is no edge. Such pixels are told from the
others by their energy e = x^H cov^-1 x / 2, which is Gamma(number of coils) distributed: the share of pixels of lowest
energy is kept, and what keeping only those takes from their covariance is known and given back.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import scipy.linalg
from scipy import stats

from adaptive.checks import finite
from adaptive.operators import FourierLines

if TYPE_CHECKING:
    from adaptive.types import ArrayLike

__all__ = ["estimate_noise", "noise_covariance", "whitened"]

SHARE = 0.25  # of the pixels are taken for pure noise
HIGH = 0.4  # cycles per pixel, along any axis: from there on frequencies are high
STEPS = 50
SETTLED = 1e-4
TOGETHER = 2**13  # pixels whose energies are computed at a time


def noise_covariance(noise: ArrayLike) -> np.ndarray:
    """Covariance between coils from samples of nothing but noise.

    Parameters
    ----------
    noise : array (coils, ...), complex
        Samples taken without excitation, as many as there are, at least twice the number of coils.

    Returns
    -------
    ndarray (coils, coils), complex128
        Hermitian; per real component, so that the mean of its diagonal is what is called the noise variance here.

    Raises
    ------
    ValueError
        If there are fewer than twice as many samples as coils.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> noise = rng.standard_normal((2, 5000)) + 1j * rng.standard_normal((2, 5000))
    >>> noise_covariance(noise * [[1.0], [2.0]]).real.round() + 0.0
    array([[1., 0.],
           [0., 4.]])
    """
    noise = finite("noise", noise, dtype=complex)
    if noise.ndim < 2 or noise[0].size < 2 * len(noise):
        raise ValueError(
            f"noise must have shape (coils, samples), at least twice as many samples as coils, got {noise.shape}."
        )
    flat = noise.reshape(len(noise), -1)
    return flat @ flat.conj().T / (2 * flat.shape[1])


def estimate_noise(kspace: ArrayLike, mask: ArrayLike | None = None) -> np.ndarray:
    """Covariance of the noise between coils, from the highest frequencies of a scan.

    Parameters
    ----------
    kspace : array (coils, *shape), complex
        Centred orthonormal samples; for one coil ``kspace[None]``.
    mask : array of bool (*shape), optional
        Where samples were measured; default: where any is not zero.

    Returns
    -------
    ndarray (coils, coils), complex128
        Per real component.

    Raises
    ------
    ValueError
        If no high frequency was measured.

    Notes
    -----
    Edges make the estimate too large; in photographs, which have edges everywhere, more than in heads.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> kspace = rng.standard_normal((1, 64, 64)) + 1j * rng.standard_normal((1, 64, 64))
    >>> print(abs(estimate_noise(3 * kspace)[0, 0].real - 9) < 1)
    True
    """
    kspace = finite("kspace", kspace, dtype=None if np.asarray(kspace).dtype.kind == "c" else complex)
    if kspace.ndim < 2:
        raise ValueError(f"kspace must have shape (coils, *shape of the image), got {kspace.shape}.")
    shape = kspace.shape[1:]
    mask = np.any(kspace != 0, axis=0) if mask is None else np.asarray(mask, bool)
    if mask.shape != shape:
        raise ValueError(f"mask must have the shape {shape} of one coil's samples, got {mask.shape}.")
    high = mask & (_height(shape) >= min(HIGH, np.quantile(_height(shape)[mask], 0.8) if mask.any() else HIGH))
    if high.sum() < 2 * len(kspace):
        raise ValueError(
            f"the noise is read from the high frequencies of kspace, of which {int(high.sum())} samples were measured, "
            f"at least {2 * len(kspace)} are needed for {len(kspace)} coils."
        )
    image = np.empty((len(kspace), high.size), np.result_type(kspace, np.complex64))
    transform = FourierLines(shape, range(shape[0])).adjoint
    for pixels, samples in zip(image, kspace, strict=True):  # coil by coil: samples of many coils are large
        pixels[:] = transform((samples * high).astype(image.dtype, copy=False)).ravel()
    return _of_the_quietest(image) * high.size / high.sum()


def whitened(array: ArrayLike, covariance: ArrayLike) -> np.ndarray:
    """Samples, or coil maps, of virtual coils whose noise is independent and of variance one: L^-1 array.

    Parameters
    ----------
    array : array (coils, ...)
    covariance : array (coils, coils)
        Of the noise, per real component, = L L^H.

    Returns
    -------
    ndarray (coils, ...), complex128

    Raises
    ------
    ValueError
        If the covariance is of another shape or not positive definite.

    Examples
    --------
    >>> whitened(np.array([[2.0], [6.0]]), np.diag([4.0, 9.0]))
    array([[1.+0.j],
           [2.+0.j]])
    """
    array, covariance = finite("array", array, dtype=complex), finite("covariance", covariance, dtype=complex)
    if array.ndim < 1 or covariance.shape != (len(array), len(array)):
        raise ValueError(f"covariance must have shape ({len(array)}, {len(array)}), got {covariance.shape}.")
    try:
        root = np.linalg.cholesky(covariance)
    except np.linalg.LinAlgError:
        raise ValueError("covariance must be positive definite, the given one is not.") from None
    flat = scipy.linalg.solve_triangular(root, array.reshape(len(array), -1), lower=True)
    return flat.reshape(array.shape)


def _height(shape: tuple[int, ...]) -> np.ndarray:
    """Largest frequency of a sample along any axis, cycles per pixel."""
    along = np.meshgrid(*[(np.arange(side) - side // 2) / side for side in shape], indexing="ij")
    return np.max(np.abs(along), axis=0)


def _of_the_quietest(pixels: np.ndarray) -> np.ndarray:
    """Covariance per real component of the pixels (coils, n) that are noise, by repeated choice of the quietest."""
    coils = len(pixels)
    # among noise alone, the mean energy of the pixels below the quantile, per coil
    quantile = stats.gamma.ppf(SHARE, coils)
    taken = stats.gamma.cdf(quantile, coils + 1) / SHARE
    total = sum((np.abs(row) ** 2 for row in pixels), start=np.zeros(pixels.shape[1]))
    covariance = np.cov(pixels[:, total <= np.quantile(total, SHARE)]) / 2
    covariance = np.atleast_2d(covariance) + 1e-12 * np.mean(total) * np.eye(coils)
    for _ in range(STEPS):
        energy = _energy(pixels, covariance)
        chosen = pixels[:, energy <= np.quantile(energy, SHARE)].astype(complex, copy=False)
        before, covariance = covariance, chosen @ chosen.conj().T / (2 * chosen.shape[1] * taken)
        covariance += 1e-15 * np.mean(total) * np.eye(coils)
        if np.abs(covariance - before).max() <= SETTLED * np.abs(covariance).max():
            break
    return covariance


def _energy(pixels: np.ndarray, covariance: np.ndarray) -> np.ndarray:
    """x^H cov^-1 x of every pixel, some at a time."""
    parts = np.array_split(pixels, max(1, pixels.shape[1] // TOGETHER), axis=1)
    each = [np.einsum("cn,cn->n", part.conj(), np.linalg.solve(covariance, part)).real for part in parts]
    return np.concatenate(each)
