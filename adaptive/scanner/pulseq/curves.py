"""A curve through k-space in time: as fast as gradients, slew rate and sampling allow, from rest to rest.

    v(s) <= min(G, 1 / (F dwell), sqrt(S / curvature)),      |dv/dt|^2 + (curvature v^2)^2 <= S^2

The waveform is that of which the moments at all points of the raster lie on the curve, exactly. Behind its end the
curve goes on straight, until the gradients are at rest.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.interpolate import CubicSpline
from scipy.linalg import solve_banded

__all__ = ["Timed", "timed"]

FINE = 12_000  # points of the curve at least, four between two samples
MARGIN = 0.97  # of the slew rate, for what the raster adds


class Timed(NamedTuple):
    """Gradients along a curve.

    Attributes
    ----------
    waveform : (n, axes) array, Hz/m
        In the middle of the intervals of the raster.
    duration : float
        Seconds until the end of the curve; what follows is the way to rest.
    """

    waveform: np.ndarray
    duration: float


def timed(
    k: np.ndarray, gradient: float, slew: float, speed: float, raster: float, duration: float | None = None
) -> Timed:
    """Gradients that go along a curve.

    Parameters
    ----------
    k : (d, axes) array
        Points of it in their order, 1/m.
    gradient, slew : float
        Largest of both, Hz/m and Hz/m/s, whatever the direction.
    speed : float
        Largest speed that sampling allows, 1/m/s.
    raster : float
        Seconds.
    duration : float, optional
        Seconds until the end, where that is to be later than it could be.
    """
    k = k[np.r_[True, np.linalg.norm(np.diff(k, axis=0), axis=1) > 0]]
    if len(k) < 4:
        raise ValueError(f"a shot must have 4 different samples at least, got {len(k)}.")
    for margin in (MARGIN, 0.9, 0.8, 0.65):
        found = _timed(k, gradient, margin * slew, speed, raster, duration)
        steps = np.diff(np.r_[np.zeros((1, k.shape[1])), found.waveform, np.zeros((1, k.shape[1]))], axis=0) / raster
        steps[[0, -1]] *= 2  # half an interval from the edge
        if np.abs(steps).max() <= slew:
            return found
    raise ValueError("a shot is too angular for the slew rate: its samples do not lie on a smooth curve.")


def _timed(k: np.ndarray, gradient: float, slew: float, speed: float, raster: float, duration: float | None) -> Timed:
    chord = np.r_[0.0, np.cumsum(np.linalg.norm(np.diff(k, axis=0), axis=1))]
    spline = CubicSpline(chord, k)
    p = np.linspace(0.0, chord[-1], max(4 * (len(k) - 1), FINE) + 1)
    first, second = spline(p, 1), spline(p, 2)
    along = np.linalg.norm(first, axis=1)
    s = np.r_[0.0, np.cumsum(0.5 * (along[1:] + along[:-1]) * np.diff(p))]
    across = second - first * (np.sum(first * second, axis=1) / along**2)[:, None]
    curvature = np.linalg.norm(across, axis=1) / along**2
    top = min(gradient, speed)
    limit = np.minimum(top, np.sqrt(slew / np.maximum(curvature, slew / top**2)))
    v = limit.copy()
    v[0] = 0.0
    for j in range(1, len(s)):
        v[j] = min(limit[j], _faster(v[j - 1], s[j] - s[j - 1], curvature[j - 1], slew))
    for j in range(len(s) - 2, -1, -1):
        v[j] = min(v[j], _faster(v[j + 1], s[j + 1] - s[j], curvature[j + 1], slew))
    steps: np.ndarray = 2 * np.diff(s) / (v[1:] + v[:-1])
    t = np.r_[0.0, np.cumsum(steps)]
    if duration is not None:
        slower = max(duration / t[-1], 1.0)
        t, steps, v = t * slower, steps * slower, v / slower
    slowing = v[-1] / slew
    edges = np.arange(int(np.ceil((t[-1] + slowing) / raster - 1e-9)) + 1) * raster
    # between two points the acceleration is constant: s is quadratic in time
    at = np.clip(np.searchsorted(t, edges, side="right") - 1, 0, len(t) - 2)
    into = np.minimum(edges, t[-1]) - t[at]
    travelled = s[at] + v[at] * into + 0.5 * (v[at + 1] - v[at]) / steps[at] * into**2
    places = spline(np.interp(travelled, s, p))
    beyond = np.clip(edges - t[-1], 0.0, slowing)
    places += np.outer(v[-1] * beyond - 0.5 * slew * beyond**2, first[-1] / along[-1])
    return Timed(_waveform(np.diff(places, axis=0) / raster), float(t[-1]))


def _faster(v: float, step: float, curvature: float, slew: float) -> float:
    """The largest speed after a step of the arc."""
    tangential = np.sqrt(max(slew**2 - (curvature * v**2) ** 2, 0.0))
    return float(np.sqrt(v**2 + 2 * step * tangential))


def _waveform(means: np.ndarray) -> np.ndarray:
    """Values in the middle of intervals, linear between, zero at both ends, that have these means over them."""
    n = len(means)
    bands = np.ones((3, n))
    bands[1] = 6.0
    bands[1, [0, -1]] = 5.0
    return np.asarray(solve_banded((1, 1), bands, 8.0 * means))
