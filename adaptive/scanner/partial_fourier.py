"""Partial Fourier: an image of a bit more than half of k-space, whose other half follows from a smooth phase.

    zero-filled   |F^H samples|
    homodyne      max(0, Re(exp(-i phase) F^H (weights samples))),   weights 0, a ramp over the centre, 2
    pocs          alternately: the phase is the smooth one; the measured samples are the measured ones
    model         u real with sparse differences and wavelets, samples = F exp(i phase) u + noise: `ImageReconstructor`

The phase is that of the central band, which both halves share. Of several coils the first three give the root of the
sum of squares.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from adaptive.checks import choice, finite, integer
from adaptive.images.phase import low_resolution
from adaptive.operators import FourierLines

if TYPE_CHECKING:
    from adaptive.types import ArrayLike

__all__ = ["partial_fourier"]

_METHODS = ("zero-filled", "homodyne", "pocs", "model")


def partial_fourier(
    kspace: ArrayLike,
    method: str = "model",
    *,
    mask: ArrayLike | None = None,
    axis: int = 0,
    n_iter: int = 10,
    **settings: Any,
) -> np.ndarray:
    """Reconstruct an image from one side of k-space and a band around its centre.

    Parameters
    ----------
    kspace : array (*shape) or (coils, *shape) with ``coils`` given, complex
        Centred orthonormal samples of an image (h, w), zero where nothing was measured. Three axes are (coils, h, w).
    method : {"model", "zero-filled", "homodyne", "pocs"}, default "model"
    mask : array of bool (h, w), optional
        Where samples were measured; default: where any is not zero.
    axis : int, default 0
        Of the phase encodes, 0 or 1.
    n_iter : int, default 10
        Iterations of "pocs".
    **settings
        Of "model": those of `ImageReconstructor`, such as noise_variance or coils (default with several: "estimate").

    Returns
    -------
    ndarray (h, w)
        Magnitudes.

    Raises
    ------
    ValueError
        If samples are not finite, no symmetric band around DC was measured completely, or homodyne or pocs are asked
        for where the measured lines are not one contiguous side.

    References
    ----------
    Noll, Nishimura and Macovski (1991), Homodyne detection in magnetic resonance imaging; Haacke, Lindskog and Lin
    (1991), A fast, iterative, partial-Fourier technique capable of local phase recovery.

    Examples
    --------
    >>> from adaptive.images import head_scan, psnr, simulate_scan
    >>> scan = simulate_scan(head_scan()[12].image, snr=50, random_state=0)
    >>> kspace = scan.kspace.copy()
    >>> kspace[80:] = 0  # 16 of the 64 lines beyond DC were measured
    >>> quality = [psnr(scan.image, partial_fourier(kspace, how)) for how in ("zero-filled", "homodyne", "pocs")]
    >>> [bool(one > quality[0]) for one in quality[1:]]
    [True, True]
    """
    choice("method", method, _METHODS)
    array = finite("kspace", kspace, dtype=complex)
    if array.ndim not in (2, 3):
        raise ValueError(f"kspace must have shape (h, w) or (coils, h, w), got {array.shape}.")
    choice("axis", str(axis), ("0", "1"))
    stack = array if array.ndim == 3 else array[None]
    taken = np.any(stack != 0, axis=0) if mask is None else np.asarray(mask, bool)
    if taken.shape != stack.shape[1:]:
        raise ValueError(f"mask must have shape {stack.shape[1:]}, got {taken.shape}.")
    lines = np.flatnonzero(taken.any(axis=1 - axis))
    band = _band(lines, stack.shape[1 + axis])
    if method == "model":
        return _by_model(array, lines, axis, settings)
    if settings:
        raise ValueError(f"{', '.join(settings)} are settings of method='model', not of {method!r}.")
    if method == "zero-filled":
        return _rss([_image(one * taken) for one in stack])
    if len(lines) != lines[-1] - lines[0] + 1 or (lines[0] > 0 and lines[-1] < stack.shape[1 + axis] - 1):
        raise ValueError(
            f"{method} takes one contiguous side of k-space with a band around its centre, and lines {lines[0]} to "
            f"{lines[-1]}, {len(lines)} of them, were measured."
        )
    if method == "homodyne":
        return _rss([_homodyne(one, lines, band, axis) for one in stack])
    n_iter = integer("n_iter", n_iter, minimum=1)
    return _rss([_pocs(one * taken, taken, band, axis, n_iter) for one in stack])


def _band(lines: np.ndarray, n: int) -> int:
    """Number of central lines, as `low_resolution` counts them, that were all measured."""
    there = np.zeros(n, bool)
    there[lines] = True
    largest = 0
    for n_central in range(1, n + 1):
        start = n // 2 - n_central // 2
        if not there[start : start + n_central].all():
            break
        largest = n_central
    if largest < 2:
        raise ValueError("kspace must hold a band of lines around DC: the phase is read from it.")
    return largest


def _image(kspace: np.ndarray) -> np.ndarray:
    return FourierLines(kspace.shape, range(len(kspace))).adjoint(kspace)


def _rss(images: list[np.ndarray]) -> np.ndarray:
    return np.abs(images[0]) if len(images) == 1 else np.sqrt(sum(np.abs(one) ** 2 for one in images))


def _turn(kspace: np.ndarray, band: int, axis: int) -> np.ndarray:
    """exp(i phase) of the image that the central band shows."""
    symmetric = band - 1 + band % 2  # every frequency with its mirror: one without would bend the phase
    return np.exp(1j * np.angle(low_resolution(kspace, symmetric, axis, window=True)))


def _homodyne(kspace: np.ndarray, lines: np.ndarray, band: int, axis: int) -> np.ndarray:
    n = kspace.shape[axis]
    frequency = np.arange(n) - n // 2
    reach = max(1, (band - 1) // 2)  # frequencies that were measured on both sides
    # weights of opposite frequencies add up to 2: nothing where one is absent, a ramp where both are there
    side = 1 if lines[-1] == n - 1 else -1
    weights = np.clip(1 + side * frequency / (reach + 1), 0.0, 2.0)
    if len(lines) == n:
        weights = np.ones(n)
    weighted = kspace * weights.reshape((-1, 1) if axis == 0 else (1, -1))
    real = (_image(weighted) * _turn(kspace, band, axis).conj()).real
    return np.maximum(real, 0.0)


def _pocs(kspace: np.ndarray, taken: np.ndarray, band: int, axis: int, n_iter: int) -> np.ndarray:
    turn, filled = _turn(kspace, band, axis), kspace
    forward = FourierLines(kspace.shape, range(len(kspace))).forward
    for _ in range(n_iter):
        image = np.maximum((_image(filled) * turn.conj()).real, 0.0) * turn
        filled = np.where(taken, kspace, forward(image))
    return _image(filled)


def _by_model(kspace: np.ndarray, lines: np.ndarray, axis: int, settings: dict[str, Any]) -> np.ndarray:
    from adaptive.estimators import ImageReconstructor  # house: the last method is the library's own model

    block = FourierLines(kspace.shape[-2:], lines, axis)
    given = {"coils": "estimate"} if kspace.ndim == 3 and len(kspace) > 1 else {}
    along = axis - 2
    samples = np.moveaxis(np.take(kspace, lines, along), along, kspace.ndim - 2)
    if kspace.ndim == 3 and len(kspace) == 1:
        samples = samples[0]
    return ImageReconstructor(kspace.shape[-2:], **{**given, **settings}).fit([block], [samples]).image_
