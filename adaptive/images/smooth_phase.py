"""A smooth phase with its uncertainty, fitted to an image of low resolution by few coefficients.

    phase(x) = sum_k c_k prod_a cos(pi k_a x_a),      c_k ~ N(0, 1 / (strength (floor + (|k| / 4)^4)))

Where the image is dark, or its low resolution rings, the angle of a pixel says little. So every pixel counts by its
magnitude, and the strength of the prior is the one that explains the image best. What is left of the angle says how
much a pixel is worth, and with it how uncertain the phase is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from adaptive.checks import finite, integer

if TYPE_CHECKING:
    from adaptive.types import ArrayLike

__all__ = ["SmoothPhase", "smooth_phase"]

_COARSE = {2: 32, 3: 16}  # pixels along each axis that are looked at
_SMOOTH, _FLOOR = 4.0, 1e-3  # half-waves from which on coefficients are expected to fall, and what the mean is held by
_STEPS = 8
_LEFT = 1.5  # radians beyond which an angle is no longer taken for an error
_FIRST = 0.1  # strength of the prior of the first guess


class SmoothPhase(NamedTuple):
    """Result of `smooth_phase`.

    Attributes
    ----------
    phase : array (*shape)
        Radians, not wrapped.
    std : array (*shape)
        Its standard deviation in radians, from the scatter of the pixels; what the low resolution itself bends is not
        in it.
    left : float
        Root mean square of the angle that is left, in radians, every pixel weighted by its squared magnitude: where
        this is no small number the phase is not smooth.

    Examples
    --------
    >>> from adaptive.images import smooth_phase
    >>> found = smooth_phase(np.full((16, 16), 1j))
    >>> bool(np.allclose(found.phase, np.pi / 2, atol=1e-3)), found.left < 0.01
    (True, True)
    """

    phase: np.ndarray
    std: np.ndarray
    left: float


def smooth_phase(image: ArrayLike, n_waves: int = 10) -> SmoothPhase:
    """The smooth phase of a complex image, or of a volume.

    Parameters
    ----------
    image : array (h, w) or (d, h, w), complex
        Of low resolution, as `low_resolution` gives it, or of a prescan.
    n_waves : int, default 10
        Half-waves of the cosines, below.

    Returns
    -------
    SmoothPhase

    Raises
    ------
    ValueError
        If the image is not finite, not complex, has another number of axes, or is zero everywhere.

    Examples
    --------
    >>> from adaptive.images import polynomial_phase
    >>> true = polynomial_phase((32, 32), random_state=0)
    >>> found = smooth_phase(np.exp(1j * true))
    >>> bool(np.abs(np.angle(np.exp(1j * (found.phase - true)))).mean() < 0.03)
    True
    """
    image = finite("image", image, dtype=None)
    if image.ndim not in _COARSE or image.dtype.kind != "c":
        raise ValueError(f"image must be complex, of two or three axes, got {image.dtype} of shape {image.shape}.")
    if not np.any(image):
        raise ValueError("image is zero everywhere: it has no phase.")
    n_waves = integer("n_waves", n_waves, minimum=1)
    steps = [max(1, side // _COARSE[image.ndim]) for side in image.shape]
    seen = image[tuple(slice(step // 2, None, step) for step in steps)] / np.abs(image).max()
    waves = [_cosines(side, min(n_waves, side)) for side in image.shape]
    rough = np.sqrt(sum(np.square(axis) for axis in np.ix_(*[np.arange(one.shape[1]) for one in waves])))
    kept = rough < n_waves
    coarse = [one[step // 2 :: step] for one, step in zip(waves, steps, strict=True)]
    A = _products(coarse)[..., kept.ravel()]
    prior = _FLOOR + (rough[kept] / _SMOOTH) ** 4
    c, covariance = _fitted(seen, A, prior)
    coefficients = np.zeros(kept.shape)
    coefficients[kept] = c
    phase = coefficients
    for one in waves:  # the first axis of coefficients becomes the last of the image, axis after axis
        phase = np.tensordot(phase, one, (0, 1))
    variance = np.einsum("...p,pq,...q->...", A, covariance, A, optimize=True)
    for axis, (step, side) in enumerate(zip(steps, image.shape, strict=True)):
        variance = variance.take(np.minimum(np.arange(side) // step, variance.shape[axis] - 1), axis)
    angle, weight = np.angle(image * np.exp(-1j * phase)), np.abs(image) ** 2
    left = float(np.sqrt(np.sum(weight * angle**2) / np.sum(weight)))
    return SmoothPhase(phase, np.sqrt(np.maximum(variance, 0.0)), left)


def _cosines(side: int, n: int) -> np.ndarray:
    """Columns cos(pi k (i + 1/2) / side), of mean square one."""
    columns = np.cos(np.pi * np.outer((np.arange(side) + 0.5) / side, np.arange(n)))
    columns[:, 1:] *= np.sqrt(2)
    return columns


def _products(each: list[np.ndarray]) -> np.ndarray:
    """All products of one column per axis, (*pixels, products)."""
    found = each[0]
    for one in each[1:]:
        found = (found[..., None, :, None] * one[:, None, :]).reshape(*found.shape[:-1], len(one), -1)
    return found


def _fitted(image: np.ndarray, A: np.ndarray, prior: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The coefficients and their covariance: Gauss-Newton on angles, the strength of the prior by evidence."""
    weight, c = np.abs(image), _unwrapped(image, A, prior)
    rows = (A * weight[..., None]).reshape(-1, A.shape[-1])
    gram, strength = rows.T @ rows, 1.0
    covariance = np.eye(len(c))
    for _ in range(_STEPS):
        turned = image * np.exp(-1j * (A @ c))
        angle = np.angle(turned)
        known = np.abs(angle) < _LEFT
        noise = float(np.mean(turned.imag**2)) + 1e-12
        precision = gram / noise + strength * np.diag(prior)
        covariance = np.linalg.inv(precision)
        c = c + covariance @ (rows.T @ np.where(known, weight * angle, 0.0).ravel() / noise - strength * prior * c)
        decided = len(c) - strength * float(np.sum(prior * np.diag(covariance)))
        strength = max(decided, 1e-3) / max(float(np.sum(prior * c**2)), 1e-12)
    return c, covariance


def _unwrapped(image: np.ndarray, A: np.ndarray, prior: np.ndarray) -> np.ndarray:
    """Coefficients whose differences between neighbours are those of the image, which do not wrap."""
    gram, right = np.zeros((A.shape[-1], A.shape[-1])), np.zeros(A.shape[-1])
    for axis in range(image.ndim):
        first, second = np.moveaxis(image, axis, 0)[:-1], np.moveaxis(image, axis, 0)[1:]
        change = np.diff(A, axis=axis)
        rows = np.moveaxis(change, axis, 0).reshape(-1, A.shape[-1])
        weight = np.abs(first * second).ravel()
        gram += rows.T @ (weight[:, None] * rows)
        right += rows.T @ (weight * np.angle(second * first.conj()).ravel())
    scale = max(float(np.trace(gram)) / len(right), 1e-12)
    c = np.linalg.solve(gram / scale + _FIRST * np.diag(prior / prior.max() + 1e-6), right / scale)
    c[0] += np.angle(np.sum(image * np.abs(image) * np.exp(-1j * (A @ c))))
    return c
