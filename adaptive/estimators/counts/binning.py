"""Events in time or space as counts in bins of equal size."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from adaptive import checks

if TYPE_CHECKING:
    from adaptive.types import ArrayLike

__all__ = ["binned"]

BINS_OF_TIME, BINS_OF_AN_AXIS = 100, 16


def binned(
    events: ArrayLike, window: ArrayLike, n_bins: int | tuple[int, ...] | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Return the centres (n, d) of bins of equal size, and how many of the events (k,) or (k, d) lie in each (n,)."""
    places = checks.finite("events", events)
    places = places[:, None] if places.ndim == 1 else places
    if places.ndim != 2:
        raise ValueError(f"events must be times (k,) or places (k, d), got shape {np.shape(events)}.")
    d = places.shape[1]
    ends = np.atleast_2d(checks.finite("window", window))
    checks.shape("window", ends, (d, 2))
    if not (ends[:, 0] < ends[:, 1]).all():
        raise ValueError(f"window must hold a start below an end for every axis, got {ends.tolist()}.")
    default = BINS_OF_TIME if d == 1 else BINS_OF_AN_AXIS
    wanted = np.broadcast_to(default if n_bins is None else n_bins, (d,))
    sizes = [checks.integer("n_bins", int(size), minimum=1) for size in wanted]
    outside = (places < ends[:, 0]) | (places > ends[:, 1])
    if outside.any():
        k = int(np.flatnonzero(outside.any(axis=1))[0])
        raise ValueError(f"events must lie in the window {ends.tolist()}, but number {k} is {places[k].tolist()}.")
    edges = [np.linspace(low, high, size + 1) for (low, high), size in zip(ends, sizes, strict=True)]
    counts, _ = np.histogramdd(places, edges)
    centres = np.meshgrid(*(0.5 * (edge[1:] + edge[:-1]) for edge in edges), indexing="ij")
    return np.stack([axis.ravel() for axis in centres], axis=1), counts.ravel()
