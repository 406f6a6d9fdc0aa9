"""Angles of shots - spokes, interleaves of spirals - in radians: equispaced, by the golden ratio, at random.

spoke at an angle        k = (j - n/2) 2 pi/n (cos angle, sin angle)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from adaptive.checks import finite, generator, integer, positive

if TYPE_CHECKING:
    from adaptive.types import ArrayLike, RandomState

__all__ = ["equispaced_angles", "golden_angles", "random_angles", "rotated", "spoke_samples"]


def equispaced_angles(n: int, period: float = 2 * np.pi, start: float = 0.0) -> np.ndarray:
    """``n`` angles at equal distances, ``start + j period / n``; also the usual grid of candidates.

    Parameters
    ----------
    n : int
    period : float, default 2 pi
        In radians. Spokes through the centre come again after pi; interleaves of a spiral after 2 pi, of an image
        without phase in effect after pi.
    start : float, default 0

    Returns
    -------
    array (n,)

    Examples
    --------
    >>> equispaced_angles(4, np.pi).round(3)
    array([0.   , 0.785, 1.571, 2.356])
    """
    n, period, start = _checked(n, period, start)
    return start + period * np.arange(n) / n


def golden_angles(n: int, period: float = np.pi, start: float = 0.0) -> np.ndarray:
    """``n`` angles, each (sqrt(5) - 1)/2 of the period after the one before: nearly even for every number of shots.

    Parameters
    ----------
    n : int
        How many.
    period : float, default pi
        In radians; angles are taken modulo the period.
    start : float, default 0
        The first angle, in radians.

    Returns
    -------
    array (n,)
        In radians.

    References
    ----------
    Winkelmann, Schaeffter, Koehler, Eggers and Doessel (2007), An optimal radial profile order based on the golden
    ratio for time-resolved MRI.

    Examples
    --------
    >>> np.degrees(golden_angles(3)).round(2)
    array([  0.  , 111.25,  42.49])
    """
    n, period, start = _checked(n, period, start)
    return start + np.mod(period * (np.sqrt(5) - 1) / 2 * np.arange(n), period)


def random_angles(
    n: int, candidates: ArrayLike, *, first: float | None = 0.0, random_state: RandomState = None
) -> np.ndarray:
    """``n`` angles: ``first``, and others drawn uniformly from the candidates, none twice.

    Parameters
    ----------
    n : int
    candidates : array-like (m,) of float
        Angles to draw from, in radians.
    first : float or None, default 0
        Angle that every design has; None: all are drawn.
    random_state : None, int or NumPy generator

    Returns
    -------
    array (n,)

    Raises
    ------
    ValueError
        If there are fewer than n different angles.

    Examples
    --------
    >>> angles = random_angles(5, equispaced_angles(16), random_state=0)
    >>> float(angles[0]), len(set(angles.tolist()))
    (0.0, 5)
    """
    n, values = integer("n", n, minimum=1), np.unique(finite("candidates", candidates))
    fixed = [] if first is None else [float(finite("first", first))]
    values = np.setdiff1d(values, fixed)
    if n - len(fixed) > len(values):
        raise ValueError(f"n must be at most {len(values) + len(fixed)}, the number of different angles, got {n}.")
    return np.concatenate([fixed, generator(random_state).choice(values, n - len(fixed), replace=False)])


def rotated(samples: ArrayLike, angles: ArrayLike) -> np.ndarray:
    """A trajectory of two axes turned by angles, from axis 0 towards axis 1.

    Parameters
    ----------
    samples : array (d, 2)
    angles : array (m,)
        Radians.

    Returns
    -------
    array (m, d, 2)

    Examples
    --------
    >>> rotated([[1.0, 0.0]], [np.pi / 2]).round(12) + 0.0
    array([[[0., 1.]]])
    """
    k, turn = finite("samples", samples), np.atleast_1d(finite("angles", angles))[:, None]
    first = np.cos(turn) * k[:, 0] - np.sin(turn) * k[:, 1]
    second = np.sin(turn) * k[:, 0] + np.cos(turn) * k[:, 1]
    return np.stack([first, second], axis=-1)


def spoke_samples(n: int, angles: ArrayLike = 0.0, *, n_samples: int | None = None) -> np.ndarray:
    """Samples of spokes, in radians per pixel.

    Parameters
    ----------
    n : int
        Pixels along the longest side of the image; a spoke goes from -n/2 to n/2 periods over it, the end left out.
    angles : float or array (m,), default 0
        Radians, from axis 0 towards axis 1; a spoke at angle + pi is the same one run backwards, but for its ends.
    n_samples : int, optional
        Samples of a spoke; None: n, the Nyquist rate along it. DC is sample n_samples // 2.

    Returns
    -------
    array (m, n_samples, 2)
        (n_samples, 2) of a single angle. All are in [-pi, pi).

    Examples
    --------
    >>> spoke_samples(4, 0.0)[:, 0].round(3)
    array([-3.142, -1.571,  0.   ,  1.571])
    """
    count = integer("n_samples", integer("n", n, minimum=1) if n_samples is None else n_samples, minimum=1)
    radius = 2 * np.pi * (np.arange(count) - count // 2) / count
    turned = rotated(np.stack([radius, np.zeros(count)], axis=1), finite("angles", angles))
    turned = np.where(turned >= np.pi, -np.pi, turned)  # the end of a spoke at angle pi: pi is -pi on a grid
    return turned if np.ndim(angles) else turned[0]


def _checked(n: int, period: float, start: float) -> tuple[int, float, float]:
    return integer("n", n, minimum=1), float(positive("period", period)), float(finite("start", start))
