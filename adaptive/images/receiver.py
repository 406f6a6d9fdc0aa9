"""The noise of the receiver, from the best evidence that a scan holds, with a sentence that says which.

noise scan          cov = mean of n n^H / 2                    samples without excitation
repeated samples    cov = mean of (y - mean y)(y - mean y)^H / (2 (repeats - 1) / repeats)
outer samples       the highest frequencies, where an image has little: `estimate_noise`
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from adaptive.checks import finite
from adaptive.images.noise import estimate_noise, noise_covariance

if TYPE_CHECKING:
    from adaptive.types import ArrayLike

__all__ = ["CoilCovariance", "coil_covariance"]


class CoilCovariance(NamedTuple):
    """Result of `coil_covariance`.

    Attributes
    ----------
    matrix : ndarray (coils, coils), complex128
        Hermitian, per real component.
    method : {"noise scan", "repeats", "outer samples"}
        What it was read from.
    sentence : str
        The same for people.

    Examples
    --------
    >>> CoilCovariance(np.diag([1.0, 3.0]), "noise scan", "noise of 2 coils").variance
    2.0
    """

    matrix: np.ndarray
    method: str
    sentence: str

    @property
    def variance(self) -> float:
        """Mean over the coils, per real component: the ``noise_variance`` of `ImageReconstructor`."""
        return float(np.trace(self.matrix).real / len(self.matrix))


def coil_covariance(
    kspace: ArrayLike | None = None,
    mask: ArrayLike | None = None,
    *,
    noise: ArrayLike | None = None,
    repeats: ArrayLike | None = None,
) -> CoilCovariance:
    """Covariance of the noise between coils: from a noise scan, else from repeated samples, else from outer ones.

    Parameters
    ----------
    kspace : array (coils, *shape), complex, optional
        Centred orthonormal samples.
    mask : array of bool (*shape), optional
        Where samples were measured; default: where any is not zero.
    noise : array (coils, ...), complex, optional
        Samples without excitation, at the bandwidth of ``kspace``.
    repeats : array (repeats, coils, ...), complex, optional
        The same samples - a centre, a navigator - measured two times or more.

    Returns
    -------
    CoilCovariance

    Raises
    ------
    ValueError
        If nothing is given, there are too few samples, or they are not finite.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> noise = rng.standard_normal((2, 4000)) + 1j * rng.standard_normal((2, 4000))
    >>> found = coil_covariance(noise=noise)
    >>> found.matrix.real.round(1) + 0.0, found.sentence
    (array([[1., 0.],
           [0., 1.]]), 'noise of 2 coils from 4000 samples of a noise scan')
    """
    if noise is not None:
        matrix = noise_covariance(noise)
        n_samples = np.asarray(noise)[0].size
        return CoilCovariance(
            matrix, "noise scan", f"noise of {_coils(matrix)} from {n_samples} samples of a noise scan"
        )
    if repeats is not None:
        matrix, n_samples = _of_repeats(finite("repeats", repeats, dtype=complex))
        said = f"noise of {_coils(matrix)} from {n_samples} samples that were measured {len(np.asarray(repeats))} times"
        return CoilCovariance(matrix, "repeats", said)
    if kspace is None:
        raise ValueError("the noise is read from noise=, repeats= or kspace=: give one of them.")
    matrix = estimate_noise(kspace, mask)
    return CoilCovariance(matrix, "outer samples", f"noise of {_coils(matrix)} from the outer samples of k-space")


def _coils(matrix: np.ndarray) -> str:
    return "one coil" if len(matrix) == 1 else f"{len(matrix)} coils"


def _of_repeats(repeats: np.ndarray) -> tuple[np.ndarray, int]:
    if repeats.ndim < 3 or len(repeats) < 2:
        raise ValueError(f"repeats must have shape (two or more, coils, samples), got {repeats.shape}.")
    flat = repeats.reshape(len(repeats), repeats.shape[1], -1)
    off = flat - flat.mean(axis=0)
    coils, n_samples = flat.shape[1:]
    if (len(flat) - 1) * n_samples < 2 * coils:
        raise ValueError(f"repeats must hold at least {2 * coils} samples for {coils} coils, got {n_samples}.")
    total = np.einsum("rcn,rdn->cd", off, off.conj())
    return total / (2 * (len(flat) - 1) * n_samples), n_samples
