"""A user's own trajectories, from arrays in any of the units that k-space is given in.

    radians per pixel = 2 pi (cycles per pixel) = 2 pi / n (cycles per field of view)

Numbers tell their unit by how far they reach: pi, 1/2 or n/2 where all of k-space is covered.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from adaptive.checks import choice, finite
from adaptive.operators.shapes import image_shape
from designs.kspace.trajectory import TrajectoryPool

__all__ = ["trajectories"]

UNITS = ("radians per pixel", "cycles per pixel", "cycles per field of view")
_NEAR = 0.9  # of the largest frequency in a unit: what reaches so far is taken to be in that unit


def trajectories(
    shape: int | Sequence[int],
    samples: Any,
    names: Sequence[float | str] | None = None,
    *,
    units: str | None = None,
) -> TrajectoryPool:
    """A user's own shots, from an array.

    Parameters
    ----------
    shape : tuple of one to three int
        Of the image.
    samples : array (m, d, axes), array (d, axes) of one shot, or list of arrays (d_k, axes)
        K-space coordinates, one column for every axis of the image.
    names : sequence of numbers or str, optional
        One per shot; default 0 to m - 1.
    units : {"radians per pixel", "cycles per pixel", "cycles per field of view"}, optional
        Of the coordinates. None: radians per pixel, refused where the numbers look like something else.

    Returns
    -------
    TrajectoryPool

    Raises
    ------
    ValueError
        If coordinates lie outside of [-pi, pi) radians per pixel, or look as if they were in other units, or in one
        unit along one axis and in another along the next.

    Examples
    --------
    >>> line = np.stack([np.zeros(8), np.arange(-4, 4)], axis=1)
    >>> trajectories((8, 8), line, units="cycles per field of view").samples[0, 0].round(4)
    array([ 0.    , -3.1416])
    """
    sides = image_shape("shape", shape)
    one = isinstance(samples, np.ndarray) or np.ndim(samples[0] if len(samples) else samples) < 2
    if one and np.ndim(samples) not in (2, 3):
        raise ValueError(f"samples must have shape (shots, samples, axes), got {np.shape(samples)}.")
    shots = [samples] if one and np.ndim(samples) == 2 else list(samples)
    shots = [finite(f"samples[{k}]", shot) for k, shot in enumerate(shots)]
    for k, shot in enumerate(shots):
        if shot.ndim != 2 or shot.shape[1] != len(sides):
            raise ValueError(
                f"samples[{k}] must have shape (samples, {len(sides)}), one column for every axis of an image of "
                f"shape {sides}, got {shot.shape}."
            )
    if units is None:
        _refuse_mixed_units(shots, sides)
        return TrajectoryPool(sides, shots, names)
    factor = {
        "radians per pixel": np.ones(len(sides)),
        "cycles per pixel": np.full(len(sides), 2 * np.pi),
        "cycles per field of view": 2 * np.pi / np.array(sides, float),
    }[choice("units", units, UNITS)]
    return TrajectoryPool(sides, [_within(shot * factor, units) for shot in shots], names)


def _within(shot: np.ndarray, units: str) -> np.ndarray:
    """Both ends of k-space belong to it: the upper one is the lower one, k and k + 2 pi being the same."""
    top = np.abs(shot).max(initial=0)
    if top > np.pi + 1e-6:
        raise ValueError(
            f"samples reach {top / np.pi:.4g} times the largest frequency of the image in {units}: another unit?"
        )
    return np.where(shot >= np.pi - 1e-12, -np.pi, shot)


def _refuse_mixed_units(shots: list[np.ndarray], shape: tuple[int, ...]) -> None:
    """Refuse coordinates whose axes reach as far as two different units would make them reach."""
    if not shots or len(shape) < 2:
        return
    reach = np.max([np.abs(shot).max(axis=0, initial=0) for shot in shots], axis=0)
    full = {"radians per pixel": [np.pi] * len(shape), "cycles per pixel": [0.5] * len(shape),
            "cycles per field of view": [n / 2 for n in shape]}  # fmt: skip
    units = [
        next((name for name, ends in full.items() if _NEAR <= reach[axis] / ends[axis] < 1.02), None)
        for axis in range(len(shape))
    ]
    known = [name for name in units if name is not None]
    if len(set(known)) > 1:
        raise ValueError(
            "samples must be in radians per pixel along every axis, got mixed units: they reach "
            + " and ".join(
                f"{reach[axis]:.4g} along axis {axis} ({name})" for axis, name in enumerate(units) if name is not None
            )
            + "; state units= if this is meant."
        )
