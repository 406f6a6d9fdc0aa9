"""The phase of an image: simulated as a smooth polynomial, estimated from the centre of k-space, and taken out.

A magnetic resonance image is u exp(i phase) with u nearly real and a phase that varies slowly (field, coil, motion).
Slowly means that the lines around DC show it. With ``X Phase(phase)`` in the place of X the unknown is nearly real.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from adaptive.checks import choice, finite, generator, integer, positive
from adaptive.operators import FourierLines

if TYPE_CHECKING:
    from adaptive.types import ArrayLike, RandomState

__all__ = ["estimate_phase", "low_resolution", "polynomial_phase"]


def polynomial_phase(
    shape: Sequence[int], order: int = 2, largest: float = np.pi, random_state: RandomState = None
) -> np.ndarray:
    """A random polynomial of the coordinates, scaled to a largest absolute value.

        phase(x, y) = sum over i + j <= order of a_ij x^i y^j,      x, y in [-1, 1],  a_ij standard normal

    and with z in a volume.

    Parameters
    ----------
    shape : tuple of two or three int
    order : int, default 2
        Total degree.
    largest : float, default pi
        Largest absolute value over the image, in radians.
    random_state : None, int or NumPy generator

    Returns
    -------
    ndarray of ``shape``
        Radians.

    Examples
    --------
    >>> phase = polynomial_phase((16, 12), random_state=0)
    >>> phase.shape, bool(np.isclose(np.abs(phase).max(), np.pi))
    ((16, 12), True)
    """
    order, largest = integer("order", order, minimum=0), float(positive("largest", largest, or_zero=True))
    rng = generator(random_state)
    axes = np.meshgrid(*(np.linspace(-1, 1, side) for side in shape), indexing="ij")
    phase = np.zeros(axes[0].shape)
    for powers in itertools.product(range(order + 1), repeat=len(axes)):
        if sum(powers) <= order:
            phase += math.prod((x**k for x, k in zip(axes, powers, strict=True)), start=rng.standard_normal())
    return largest * phase / np.abs(phase).max()


def estimate_phase(kspace: ArrayLike, n_central: int, axis: int | None = 0, *, window: bool = False) -> np.ndarray:
    """Phase of the low-resolution image that the centre of k-space shows.

    Parameters
    ----------
    kspace : array (h, w), complex
        Centred orthonormal samples; only the central ones are looked at.
    n_central : int
        Number of central lines, or side of the central block.
    axis : 0, 1 or None, default 0
        Axis of the phase encodes: whole lines are used. None uses an ``n_central`` x ``n_central`` block.
    window : bool, default False
        Let the samples fade out towards the edge of the centre (Hamming), against ringing.

    Returns
    -------
    ndarray (h, w)
        Radians in [-pi, pi].

    Raises
    ------
    ValueError
        If the centre was not measured (all zeros), or the samples are not finite.

    References
    ----------
    Nickisch (2010), section 6.3: phase mapping.

    Examples
    --------
    >>> from adaptive.operators import FourierLines
    >>> phase = polynomial_phase((32, 32), order=1, largest=1.0, random_state=0)
    >>> kspace = FourierLines((32, 32), range(32)).forward(np.exp(1j * phase))
    >>> bool(np.abs(estimate_phase(kspace, 32) - phase).max() < 1e-12)
    True
    """
    return np.angle(low_resolution(kspace, n_central, axis, window=window))


def low_resolution(kspace: ArrayLike, n_central: int, axis: int | None = 0, *, window: bool = False) -> np.ndarray:
    """The image that the centre of k-space shows; of a volume as well.

    Parameters
    ----------
    kspace : array (h, w) or (d, h, w), complex
        Centred orthonormal samples.
    n_central, axis, window
        As in `estimate_phase`.

    Returns
    -------
    ndarray of the shape of ``kspace``, complex

    Raises
    ------
    ValueError
        If k-space has neither two nor three axes, its centre is all zero, or ``n_central`` is beyond its size.

    Examples
    --------
    >>> low_resolution(np.ones((4, 4)), 1, None).real  # DC alone
    array([[0.25, 0.25, 0.25, 0.25],
           [0.25, 0.25, 0.25, 0.25],
           [0.25, 0.25, 0.25, 0.25],
           [0.25, 0.25, 0.25, 0.25]])
    """
    kspace = finite("kspace", kspace, dtype=complex)
    if kspace.ndim not in (2, 3):
        raise ValueError(f"kspace must be two- or three-dimensional, got shape {kspace.shape}.")
    choice("axis", str(axis), (*map(str, range(kspace.ndim)), "None"))
    weights = np.ones(kspace.shape)
    for k in range(kspace.ndim) if axis is None else (axis,):
        n = kspace.shape[k]
        if not 1 <= integer("n_central", n_central) <= n:
            raise ValueError(f"n_central must be between 1 and {n}, the size of axis {k}, got {n_central}.")
        start = n // 2 - n_central // 2
        along = np.zeros(n)
        along[start : start + n_central] = np.hamming(n_central + 2)[1:-1] if window else 1.0
        weights = weights * along.reshape(np.where(np.arange(kspace.ndim) == k, n, 1))
    centre = weights * kspace
    if not np.any(centre):
        raise ValueError(
            f"the {n_central} central lines of kspace are all zero: measure them first, the phase is read from them."
        )
    return FourierLines(kspace.shape, range(len(kspace))).adjoint(centre)
