"""Coil sensitivities: simulated, and estimated from the fully sampled centre of k-space.

    samples of coil c = F (maps_c image) + noise

A smooth map is, in k-space, a convolution with a small kernel; so all small windows of the centre, over all coils, lie
in a space of few dimensions. Where the maps are s_1, ..., s_C, the projection on that space, seen pixel by pixel, has
the eigenvector (s_1, ..., s_C) with the eigenvalue 1 (ESPIRiT). Where the object is wider than the field of view two
places fall on one pixel, and there are two such eigenvectors: two sets of maps, and an image for each. Maps are known
up to a factor per pixel that all coils share: magnitudes are fixed by a sum of squares of one, phases by a virtual
coil, the first principal component of the samples.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import scipy.fft

from adaptive.checks import finite, generator, integer, positive
from adaptive.memory import require_memory

if TYPE_CHECKING:
    from adaptive.types import ArrayLike, RandomState

__all__ = ["estimate_coils", "fully_sampled_centre", "map_error", "normalised_maps", "simulate_coils"]

LARGEST_CENTRE = 32  # side of the calibration block: maps are smooth, more samples tell little and cost much
SMALLEST_CENTRE = 4
KERNEL = {2: 6, 3: 4}  # side of the windows, by the number of axes
KEPT = 0.02  # of the largest singular value: what is smaller is noise
EXPLAINED = 0.9  # eigenvalue from which on a second place is believed to fall on a pixel


def simulate_coils(
    shape: Sequence[int],
    n_coils: int = 8,
    *,
    width: float = 0.75,
    distance: float = 1.1,
    random_state: RandomState = None,
) -> np.ndarray:
    """Smooth complex maps of coils on a ring around the image, sum of squares one.

        s_c(r) = exp(-|r - p_c|^2 / (2 width^2)) exp(i (phase_c + a_c.r)),      r in [-1, 1] along every axis

    Parameters
    ----------
    shape : tuple of two or three int
        Shape of the image; in a volume the coils stand in rings around the last axis.
    n_coils : int, default 8
    width : float > 0, default 0.75
        Of a coil's sensitivity, in half fields of view.
    distance : float > 0, default 1.1
        Of the coils from the centre, in half fields of view.
    random_state : None, int or NumPy generator
        Draws the phases: one constant and one slope, of up to one radian at the border, per coil.

    Returns
    -------
    ndarray (n_coils, *shape), complex128
        With sum_c |s_c|^2 = 1 in every pixel.

    Raises
    ------
    ValueError
        If ``shape`` has neither two nor three axes.

    Examples
    --------
    >>> maps = simulate_coils((16, 16), 4, random_state=0)
    >>> maps.shape, bool(np.allclose((np.abs(maps) ** 2).sum(axis=0), 1.0))
    ((4, 16, 16), True)
    """
    sides = tuple(integer("shape", side, minimum=1) for side in np.atleast_1d(shape))
    if len(sides) not in (2, 3):
        raise ValueError(f"shape must have two or three axes, got {shape!r}.")
    n_coils = integer("n_coils", n_coils, minimum=1)
    width, distance = float(positive("width", width)), float(positive("distance", distance))
    rng = generator(random_state)
    r = np.stack(np.meshgrid(*[np.linspace(-1, 1, side) for side in sides], indexing="ij"))
    maps = np.empty((n_coils, *sides), complex)
    for c in range(n_coils):
        angle = 2 * np.pi * c / n_coils
        place = [distance * np.cos(angle), distance * np.sin(angle), (c % 2) - 0.5][: len(sides)]
        away = sum((axis - at) ** 2 for axis, at in zip(r, place, strict=True))
        slope = rng.uniform(-1, 1, len(sides))
        turn = rng.uniform(-np.pi, np.pi) + np.tensordot(slope, r, axes=1)
        maps[c] = np.exp(-away / (2 * width**2) + 1j * turn)
    return normalised_maps(maps)


def normalised_maps(maps: ArrayLike) -> np.ndarray:
    """Maps divided by the root of the sum of their squares, pixel by pixel; pixels that no coil sees stay zero.

    Parameters
    ----------
    maps : array (coils, *shape)

    Returns
    -------
    ndarray (coils, *shape)

    Examples
    --------
    >>> normalised_maps(np.array([[[3.0]], [[4.0]]]))[:, 0, 0]
    array([0.6, 0.8])
    """
    maps = finite("maps", maps, dtype=None)
    total = np.sqrt((np.abs(maps) ** 2).sum(axis=0))
    return maps / np.where(total > 0, total, 1.0)


def estimate_coils(kspace: ArrayLike, n_central: int | None = None, *, sets: int = 1) -> np.ndarray:
    """Sensitivities from the fully sampled centre of multi-coil k-space.

    Parameters
    ----------
    kspace : array (coils, *shape), complex
        Centred orthonormal samples of two- or three-dimensional images; only the central ones are looked at.
    n_central : int, optional
        Side of the central block in which every sample was measured; default: as large as it is (zeros were not
        measured). No more than 32 is used.
    sets : int, default 1
        Of maps. Two explain an object that is wider than the field of view: where it wraps around, what the coils see
        is maps[0] times one image plus maps[1] times another (`unfolded` makes one larger image of both).

    Returns
    -------
    ndarray (coils, *shape), or (sets, coils, *shape) of more sets than one, complex128
        Sum of squares one in every pixel, sets orthogonal to each other; where there is no signal the maps mean
        nothing. Sets after the first are zero where their eigenvalue is below .9: nothing else falls there.

    Raises
    ------
    ValueError
        Without a centre of at least 4 samples along every axis, if samples are not finite, if there are more sets than
        coils, or if the maps of a volume do not fit into memory.

    References
    ----------
    Uecker, M., Lai, P., Murphy, M., Virtue, P., Elad, M., Pauly, J., Vasanawala, S., Lustig, M. (2014), ESPIRiT - an
    eigenvalue approach to autocalibrating parallel MRI.

    Examples
    --------
    >>> from adaptive.operators import Coils, FourierMask, Product, Repeated
    >>> maps, head = simulate_coils((32, 32), 4, random_state=0), np.zeros((32, 32))
    >>> head[8:24, 8:24] = 1 + np.random.default_rng(0).random((16, 16))
    >>> scan = Product(Repeated(FourierMask((32, 32), np.ones((32, 32))), 4), Coils(maps))
    >>> kspace = scan.forward(head).reshape(4, 32, 32)
    >>> bool(map_error(maps, estimate_coils(kspace, 16), head > 0) < 0.02)
    True
    >>> estimate_coils(kspace, 16, sets=2).shape
    (2, 4, 32, 32)
    """
    kspace = finite("kspace", kspace, dtype=None if np.asarray(kspace).dtype.kind == "c" else complex)
    if kspace.ndim not in (3, 4):
        raise ValueError(f"kspace must have shape (coils, *shape of the image), got {kspace.shape}.")
    sets = integer("sets", sets, minimum=1)
    if sets > len(kspace):
        raise ValueError(f"sets must be at most {len(kspace)}, the number of coils, got {sets}.")
    if n_central is None:
        sides = fully_sampled_centre(np.any(kspace != 0, axis=0))
    else:
        sides = tuple(min(integer("n_central", n_central, minimum=1), side) for side in kspace.shape[1:])
    sides = tuple(min(side, LARGEST_CENTRE) for side in sides)
    if min(sides) < min(SMALLEST_CENTRE, *kspace.shape[1:]):
        raise ValueError(
            f"coil maps are read from the centre of kspace, of which at least {SMALLEST_CENTRE} samples along every "
            f"axis must be measured, got {' x '.join(map(str, sides))}."
        )
    block = kspace[(slice(None), *_central(kspace.shape[1:], sides))].astype(complex)
    if not np.any(block):
        raise ValueError(f"the central {' x '.join(map(str, sides))} samples of kspace are all zero: measure them.")
    shape = kspace.shape[1:]
    require_memory("the matrix of coils in every pixel of a row", (*shape[1:], len(kspace), len(kspace)), complex, 3)
    lags, window = _lags(block)
    waves = [_waves(side, n) for side, n in zip(window, shape, strict=True)]
    maps = np.empty((sets, *kspace.shape), complex)
    for row, first in enumerate(waves[0]):
        values, vectors = np.linalg.eigh(_projection(lags, [first, *waves[1:]]))
        largest = np.moveaxis(vectors[..., : -sets - 1 : -1], (-1, -2), (0, 1))
        largest[1:] *= np.moveaxis(values[..., -2 : -sets - 1 : -1], -1, 0)[:, None] >= EXPLAINED
        maps[:, :, row] = largest
    samples = block.reshape(len(block), -1)
    virtual = np.linalg.eigh(samples @ samples.conj().T)[1][:, -1]
    seen = np.tensordot(virtual.conj(), maps, axes=(0, 1))
    maps *= np.exp(-1j * np.angle(seen))[:, None]
    return maps if sets > 1 else maps[0]


def fully_sampled_centre(mask: ArrayLike) -> tuple[int, ...]:
    """Sides of the largest central block in which everything was measured, grown along all axes alike.

    Parameters
    ----------
    mask : array of bool, (*shape)

    Returns
    -------
    tuple of int
        Zeros if the sample at DC is missing.

    Examples
    --------
    >>> mask = np.zeros((8, 6), bool)
    >>> mask[2:6] = True
    >>> fully_sampled_centre(mask)
    (4, 6)
    """
    mask = np.asarray(mask, bool)
    sides = (1,) * mask.ndim
    if not mask[_central(mask.shape, sides)].all():
        return (0,) * mask.ndim
    growing = set(range(mask.ndim))
    while growing:
        for axis in sorted(growing):
            trial = tuple(side + (k == axis) for k, side in enumerate(sides))
            if trial[axis] <= mask.shape[axis] and mask[_central(mask.shape, trial)].all():
                sides = trial
            else:
                growing.discard(axis)
    return sides


def map_error(truth: ArrayLike, estimate: ArrayLike, inside: np.ndarray) -> float:
    """Relative error of maps inside a region, blind to what no samples tell: a factor per pixel that all coils share.

        sqrt( sum over inside of  min over f of  |truth - f estimate|^2  /  sum over inside of |truth|^2 )

    Parameters
    ----------
    truth, estimate : array (coils, *shape)
    inside : array of bool, (*shape)

    Returns
    -------
    float

    Raises
    ------
    ValueError
        If the arrays do not belong together, or nothing is inside.

    Examples
    --------
    >>> truth = np.ones((2, 4, 4))
    >>> map_error(truth, 3j * truth, np.ones((4, 4), bool))  # a factor that all coils share is no error
    0.0
    """
    truth, estimate = finite("truth", truth, dtype=complex), finite("estimate", estimate, dtype=complex)
    if truth.shape != estimate.shape or np.shape(inside) != truth.shape[1:] or not np.any(inside):
        raise ValueError(
            f"truth, estimate and inside must belong together, inside true somewhere, got shapes {truth.shape}, "
            f"{estimate.shape}, {np.shape(inside)}."
        )
    a, b = truth[:, inside], estimate[:, inside]
    power = (np.abs(b) ** 2).sum(axis=0)
    fitted = b * ((b.conj() * a).sum(axis=0) / np.where(power > 0, power, 1.0))
    return float(np.linalg.norm(a - fitted) / np.linalg.norm(a))


def _central(shape: tuple[int, ...], sides: Sequence[int]) -> tuple[slice, ...]:
    """The block of these sides whose middle, index side // 2, is at DC."""
    return tuple(slice(n // 2 - side // 2, n // 2 - side // 2 + side) for n, side in zip(shape, sides, strict=True))


def _lags(block: np.ndarray) -> tuple[np.ndarray, tuple[int, ...]]:
    """The projection on the space of the windows, averaged over places, by coil, coil and lag; sides of the windows."""
    coils = len(block)
    window = tuple(min(KERNEL[block.ndim - 1], max(2, side // 2)) if side > 1 else 1 for side in block.shape[1:])
    views = np.lib.stride_tricks.sliding_window_view(block, window, axis=tuple(range(1, block.ndim)))
    rows = np.moveaxis(views, 0, len(window)).reshape(-1, coils * int(np.prod(window)))
    values, vectors = np.linalg.eigh(rows.T @ rows.conj())  # the windows' own space: columns of rows.T
    kept = vectors[:, values > KEPT**2 * values[-1]].reshape(coils, *window, -1)
    # lag by lag: P_cc'(l) = sum_k sum_t v_c(t + l) conj(v_c'(t)), by a transform without wrapping
    doubled = [2 * side for side in window]
    axes = tuple(range(1, 1 + len(window)))
    spectra = scipy.fft.fftn(kept, doubled, axes=axes)
    products = np.einsum("a...k,b...k->ab...", spectra, spectra.conj())
    lags = scipy.fft.ifftn(products, axes=tuple(range(2, 2 + len(window))))
    where = [np.arange(-(side - 1), side) % (2 * side) for side in window]
    return lags[np.ix_(np.arange(coils), np.arange(coils), *where)] / np.prod(window), window


def _waves(side: int, n: int) -> np.ndarray:
    """Every lag of windows of a side at every pixel, (n, lags)."""
    return np.exp(2j * np.pi / n * np.outer(np.arange(n) - n // 2, np.arange(-(side - 1), side)))


def _projection(lags: np.ndarray, waves: Sequence[np.ndarray]) -> np.ndarray:
    """The projection, pixel by pixel of one row: a convolution with conj(map) in k-space is a product in the image."""
    seen = np.tensordot(lags, waves[0], (2, 0))
    for wave in waves[1:]:  # the first axis of lags that is left becomes the last of the image
        seen = np.tensordot(seen, wave, (2, 1))
    return np.moveaxis(seen, (0, 1), (-2, -1))
