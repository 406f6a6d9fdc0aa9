"""Path from the unknown to the samples of a block: the phase of the image, and the coils that receive it.

    y_c = X diag(maps_c exp(i phase)) u + noise_c,      cov(noise) = noise variance * coil covariance

Correlated noise of coils is made white once, at the door: with covariance = L L^H samples and maps are multiplied with
L^-1. Only the shape of a coil covariance counts; it is scaled to a mean diagonal of one, so that the noise variance is
the mean over the coils.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from adaptive.checks import complex_numbers, finite
from adaptive.images import whitened
from adaptive.operators import Coils, Diagonal, Operator, Product, RealStacked, Repeated

if TYPE_CHECKING:
    from adaptive.types import ArrayLike

__all__ = ["checked_maps", "made_white", "on_unknown", "whitening"]


def on_unknown(block: Operator, sensitivity: np.ndarray | None, complex_unknown: bool) -> Operator:
    """The block on what is unknown.

    Parameters
    ----------
    block : Operator
        On complex images; what each coil measures.
    sensitivity : array (*shape), (coils, *shape) or None
        Factor of the image before it is measured: exp(i phase), times the maps of the coils.
    complex_unknown : bool
        Whether the unknown has a real and an imaginary part, side by side, or is real.
    """
    operator = block
    if sensitivity is not None and sensitivity.ndim == len(block.input_shape):
        operator = Product(block, Diagonal(sensitivity))
    elif sensitivity is not None:
        operator = Product(Repeated(block, len(sensitivity)), Coils(sensitivity))
    return RealStacked(operator, "complex") if complex_unknown else operator


def checked_maps(coils: ArrayLike, shape: tuple[int, ...]) -> np.ndarray:
    """Coil maps (coils, *shape), complex.

    Raises
    ------
    ValueError
        If they are of another shape, not finite, or zero everywhere.
    """
    maps = complex_numbers("coils", coils)
    if maps.ndim != len(shape) + 1 or maps.shape[1:] != shape:
        raise ValueError(
            f"coils must be maps of shape (number of coils, {', '.join(map(str, shape))}) or 'estimate', "
            f"got an array of shape {maps.shape}."
        )
    if not np.any(maps):
        raise ValueError("coils must not be zero everywhere: such coils receive nothing.")
    return maps


def whitening(covariance: ArrayLike, n_coils: int | None = None) -> np.ndarray:
    """L^-1 of the scaled covariance.

    Parameters
    ----------
    covariance : array (coils, coils)
        Hermitian, positive definite.
    n_coils : int, optional
        How many coils there must be.

    Examples
    --------
    >>> whitening([[1.0, 0.0], [0.0, 3.0]]).round(4) + 0.0
    array([[1.4142+0.j, 0.    +0.j],
           [0.    +0.j, 0.8165+0.j]])
    """
    matrix = finite("coil_covariance", covariance, dtype=complex)
    wanted = len(matrix) if n_coils is None and matrix.ndim else n_coils
    if matrix.shape != (wanted, wanted):
        raise ValueError(f"coil_covariance must have shape ({wanted}, {wanted}), got {matrix.shape}.")
    if not np.allclose(matrix, matrix.conj().T, rtol=1e-6, atol=1e-12 * np.abs(matrix).max()):
        raise ValueError("coil_covariance must be Hermitian, equal to its conjugate transpose.")
    scale = max(np.trace(matrix).real / len(matrix), np.finfo(float).tiny)
    try:
        return whitened(np.eye(len(matrix)), matrix / scale)
    except ValueError:
        raise ValueError("coil_covariance must be positive definite.") from None


def made_white(whitening: np.ndarray | None, values: np.ndarray) -> np.ndarray:
    """L^-1 values, coils first."""
    return values if whitening is None else np.tensordot(whitening, values, 1)
